//! Token counts and costs.
//!
//! `usage` is per message or per turn; [`ModelUsage`] and `total_cost_usd` are cumulative: use the latest, never a sum.

use countersign_wire_derive::Wire;

use crate::open::open_enum;
use crate::{Extra, Json, Nullable, Num};

/// Tokens written to the prompt cache, by lifetime.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct CacheCreation {
    /// Written with a lifetime of an hour.
    pub ephemeral_1h_input_tokens: Option<Num>,
    /// Written with a lifetime of five minutes.
    pub ephemeral_5m_input_tokens: Option<Num>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Calls of tools that the API ran itself.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ServerToolCounts {
    /// Web searches.
    pub web_search_requests: Option<Num>,
    /// Web fetches.
    pub web_fetch_requests: Option<Num>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// What the output tokens were spent on.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct OutputTokensDetails {
    /// Tokens spent on thinking.
    pub thinking_tokens: Option<Num>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Token counts of one API message or one turn.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct Usage {
    /// Tokens sent, without those from the cache.
    pub input_tokens: Option<Num>,
    /// Tokens the model wrote.
    pub output_tokens: Option<Num>,
    /// Tokens written to the prompt cache.
    pub cache_creation_input_tokens: Nullable<Num>,
    /// Tokens read from the prompt cache.
    pub cache_read_input_tokens: Nullable<Num>,
    /// Cache writes by lifetime.
    pub cache_creation: Nullable<CacheCreation>,
    /// Calls of tools that the API ran itself.
    pub server_tool_use: Nullable<ServerToolCounts>,
    /// Service tier that answered.
    pub service_tier: Nullable<String>,
    /// Where the model ran.
    pub inference_geo: Nullable<String>,
    /// Speed class that answered.
    pub speed: Nullable<String>,
    /// How often it was tried.
    pub iterations: Option<Json>,
    /// What the output tokens were spent on.
    pub output_tokens_details: Nullable<OutputTokensDetails>,
    /// Credit for a refused first attempt.
    pub fallback_credit: Option<Json>,
    /// Fields this build does not know.
    pub extra: Extra,
}

open_enum! {
    /// Which price list a cost was computed from.
    pub enum CostBasis {
        List = "list",
        Managed = "managed",
        Unknown = "unknown",
    }
}

/// Totals of one model over the whole session.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ModelUsage {
    /// Tokens sent, without those from the cache.
    #[wire(rename = "inputTokens")]
    pub input_tokens: Option<Num>,
    /// Tokens the model wrote.
    #[wire(rename = "outputTokens")]
    pub output_tokens: Option<Num>,
    /// Tokens spent on thinking.
    #[wire(rename = "thinkingTokens")]
    pub thinking_tokens: Option<Num>,
    /// Tokens read from the prompt cache.
    #[wire(rename = "cacheReadInputTokens")]
    pub cache_read_input_tokens: Num,
    /// Tokens written to the prompt cache.
    #[wire(rename = "cacheCreationInputTokens")]
    pub cache_creation_input_tokens: Num,
    /// Cache writes that live five minutes.
    #[wire(rename = "cacheCreationEphemeral5mInputTokens")]
    pub cache_creation_ephemeral5m_input_tokens: Option<Num>,
    /// Cache writes that live an hour.
    #[wire(rename = "cacheCreationEphemeral1hInputTokens")]
    pub cache_creation_ephemeral1h_input_tokens: Option<Num>,
    /// Web searches.
    #[wire(rename = "webSearchRequests")]
    pub web_search_requests: Num,
    /// Estimated cost in US dollars.
    #[wire(rename = "costUSD")]
    pub cost_usd: Num,
    /// Size of the context window in tokens.
    #[wire(rename = "contextWindow")]
    pub context_window: Num,
    /// Most tokens of one answer; absent on 2.0.75.
    #[wire(rename = "maxOutputTokens")]
    pub max_output_tokens: Option<Num>,
    /// The model's full name.
    #[wire(rename = "canonicalModel")]
    pub canonical_model: Option<String>,
    /// Whose API answered.
    pub provider: Option<String>,
    /// Which price list the cost rests on.
    #[wire(rename = "costBasis")]
    pub cost_basis: Option<CostBasis>,
    /// Fields this build does not know.
    pub extra: Extra,
}
