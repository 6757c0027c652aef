//! Inputs of the tools that reach the web.

use countersign_wire_derive::Wire;

use crate::{Extra, Num};

/// Fetches a page and asks about it.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct WebFetchInput {
    /// Web address.
    pub url: String,
    /// The prompt.
    pub prompt: String,
    /// Where to begin.
    pub offset: Option<Num>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Searches the web.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct WebSearchInput {
    /// What to look for.
    pub query: String,
    /// Only these domains.
    pub allowed_domains: Option<Vec<String>>,
    /// Not these domains.
    pub blocked_domains: Option<Vec<String>>,
    /// Fields this build does not know.
    pub extra: Extra,
}
