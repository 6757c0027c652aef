//! The fields of lines that a transcript shows, read leniently.
//!
//! Owns what is looked up where. Invariant: a field that is missing or not of the expected type costs that field, never
//! the line; what is not listed here is never built.

mod control;
mod message;
mod stream;
mod system;

use std::borrow::Cow;

use countersign_wire::{CliMessage, Json, decode, write};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

pub(crate) use control::{AnswerBody, AskGlance, AskLine, RequestLine, ResponseBody, ResponseLine};
pub(crate) use message::{
    Block, Content, MessageGlance, MetaGlance, ModelGlance, ResultGlance, StructuredGlance,
};
pub(crate) use stream::StreamGlance;
pub(crate) use system::{
    CompactGlance, InitGlance, LifecycleGlance, LimitGlance, NoticeGlance, ResetGlance,
    RetryGlance, StatusGlance, SystemHookGlance, TaskGlance, TasksGlance,
};

/// Reads a value if it is what is expected, and nothing otherwise.
pub(crate) fn lenient<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned,
{
    let raw = <&RawValue>::deserialize(deserializer)?;
    Ok(read(raw.get()))
}

/// The same for a JSON text. Half a surrogate pair is read as U+FFFD.
pub(crate) fn read<T: DeserializeOwned>(text: &str) -> Option<T> {
    match serde_json::from_str(text) {
        Ok(value) => Some(value),
        Err(_) if text.contains("\\u") => text.parse::<Json>().ok()?.to().ok(),
        Err(_) => None,
    }
}

/// Reads a line of the agent or the host.
pub(crate) fn line<T: DeserializeOwned>(payload: &[u8]) -> Option<T> {
    let text = std::str::from_utf8(payload).ok()?;
    serde_json::from_str(text).ok()
}

/// The line without halves of surrogate pairs, if it has any and is otherwise sound.
pub(crate) fn mended(payload: &[u8]) -> Option<Vec<u8>> {
    let text: Cow<'_, str> = String::from_utf8_lossy(payload);
    if !text.contains("\\u") {
        return None;
    }
    let message: CliMessage = decode::decode(payload).ok()?;
    write::to_ascii(&message).ok()
}
