//! Pieces of a message that is being written.
//!
//! By far the most lines are these, so nothing is copied without need. They are read strictly: one that does not fit is
//! shown as such.

use std::borrow::Cow;

use serde::Deserialize;

#[derive(Debug, Deserialize)]
pub(crate) struct StreamGlance<'a> {
    #[serde(borrow)]
    pub(crate) event: EventGlance<'a>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct EventGlance<'a> {
    #[serde(rename = "type", borrow)]
    pub(crate) kind: Cow<'a, str>,
    #[serde(default)]
    pub(crate) index: u32,
    #[serde(default, borrow)]
    pub(crate) delta: DeltaGlance<'a>,
    #[serde(default)]
    pub(crate) content_block: StartGlance,
    #[serde(default)]
    pub(crate) message: MessageStartGlance,
}

#[derive(Debug, Default, Deserialize)]
pub(crate) struct DeltaGlance<'a> {
    #[serde(default, borrow)]
    pub(crate) text: Cow<'a, str>,
    #[serde(default, borrow)]
    pub(crate) thinking: Cow<'a, str>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct StartGlance {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) id: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) server_name: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct MessageStartGlance {
    pub(crate) id: Option<String>,
    pub(crate) model: Option<String>,
}
