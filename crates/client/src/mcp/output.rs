//! What a tool gives back, and what becomes of it on the wire.
//!
//! Owns [`IntoToolOutput`], the values it is there for and [`ToolError`]. Pure. Invariant: a failure is a result with
//! `isError`, which the model reads, never a JSON-RPC error.

use std::fmt;

use rmcp::model::{CallToolResult, ContentBlock};
use serde::Serialize;

/// What the function behind a tool may return.
pub trait IntoToolOutput {
    /// The result as MCP has it.
    fn into_tool_output(self) -> CallToolResult;
}

/// Why a tool failed. The model reads the text.
///
/// Anything that can be displayed becomes one, so `?` works on every error in a tool, and `Err("not there".into())` too.
/// It is not displayable itself, as that would make the conversion ambiguous; read [`ToolError::message`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolError {
    message: String,
}

impl ToolError {
    /// What the model is told.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl<E: fmt::Display> From<E> for ToolError {
    fn from(error: E) -> Self {
        Self {
            message: error.to_string(),
        }
    }
}

/// A value that is given back as structured content, and as JSON text for whoever reads only that.
///
/// Structured content must be a JSON object. Any other value is given back as text alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Structured<T>(pub T);

/// An image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// Its bytes in base64.
    pub data: String,
    /// Its media type, such as `image/png`.
    pub mime_type: String,
}

/// A result that tells the model what went wrong.
pub(super) fn failure(text: impl Into<String>) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(text)])
}

fn text(text: impl Into<String>) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(text)])
}

impl IntoToolOutput for CallToolResult {
    fn into_tool_output(self) -> CallToolResult {
        self
    }
}

/// Nothing to say.
impl IntoToolOutput for () {
    fn into_tool_output(self) -> CallToolResult {
        CallToolResult::success(Vec::new())
    }
}

impl IntoToolOutput for Vec<ContentBlock> {
    fn into_tool_output(self) -> CallToolResult {
        CallToolResult::success(self)
    }
}

impl IntoToolOutput for ContentBlock {
    fn into_tool_output(self) -> CallToolResult {
        vec![self].into_tool_output()
    }
}

impl From<Image> for ContentBlock {
    fn from(image: Image) -> Self {
        Self::image(image.data, image.mime_type)
    }
}

impl IntoToolOutput for Image {
    fn into_tool_output(self) -> CallToolResult {
        ContentBlock::from(self).into_tool_output()
    }
}

impl<T: Serialize> IntoToolOutput for Structured<T> {
    fn into_tool_output(self) -> CallToolResult {
        match serde_json::to_value(self.0) {
            Ok(value) if value.is_object() => CallToolResult::structured(value),
            Ok(value) => text(value.to_string()),
            Err(error) => failure(format!("the result has no JSON form: {error}")),
        }
    }
}

impl<T: IntoToolOutput> IntoToolOutput for Result<T, ToolError> {
    fn into_tool_output(self) -> CallToolResult {
        match self {
            Ok(output) => output.into_tool_output(),
            Err(error) => failure(error.message),
        }
    }
}

macro_rules! displayed {
    ($($type:ty),*) => {$(
        impl IntoToolOutput for $type {
            fn into_tool_output(self) -> CallToolResult {
                text(self.to_string())
            }
        }
    )*};
}

displayed!(
    &str, bool, char, f32, f64, i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize
);

impl IntoToolOutput for String {
    fn into_tool_output(self) -> CallToolResult {
        text(self)
    }
}
