//! What the tests of the wire share.
#![allow(
    dead_code,
    clippy::unwrap_used,
    reason = "each test binary uses its part, and fails by panicking"
)]

pub(crate) mod entries;
pub(crate) mod grammar;

use countersign_wire::Json;
use countersign_wire::control::*;
use countersign_wire::inspect::{At, Inspect, Novelty};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// What in a value is new to this build.
pub(crate) fn novelties(value: &impl Inspect) -> Vec<String> {
    let mut found = Vec::new();
    value.inspect(&At::ROOT, &mut |at, novelty| {
        if matches!(
            novelty,
            Novelty::Value(grammar::TEXT) | Novelty::Carried(_) | Novelty::Kept(_)
        ) {
            return;
        }
        found.push(match novelty {
            Novelty::Field(name) => format!("unknown field `{name}` at `{at}`"),
            Novelty::Variant { tag, name } => format!("unknown {tag} `{name}` at `{at}`"),
            Novelty::Value(word) => format!("unknown word `{word}` at `{at}`"),
            _ => "unknown novelty".to_owned(),
        });
    });
    found
}

/// Reads `json` as `T`: what is broken, new or lost.
pub(crate) fn value_findings<T: DeserializeOwned + Serialize + Inspect>(
    json: &Json,
) -> Vec<String> {
    match json.to::<T>() {
        Ok(value) => {
            let mut found = novelties(&value);
            if serde_json::to_value(&value).unwrap() != json.to_value().unwrap() {
                found.push("not lossless".to_owned());
            }
            found
        }
        Err(error) => vec![format!("broken: {error}")],
    }
}

/// Reads the reply to a request of this subtype.
pub(crate) fn reply_findings(subtype: &str, reply: &Json) -> Vec<String> {
    macro_rules! by_subtype {
        ($($request:ty),* $(,)?) => {
            match subtype {
                $( <$request as Request>::SUBTYPE => value_findings::<<$request as Request>::Reply>(reply), )*
                _ => Vec::new(),
            }
        };
    }
    by_subtype!(
        CanUseTool,
        HookCallback,
        Elicitation,
        RequestUserDialog,
        Interrupt,
        Initialize,
        SetPermissionMode,
        SetModel,
        SetMaxThinkingTokens,
        RenameSession,
        SetColor,
        McpStatus,
        GetContextUsage,
        GetSessionCost,
        ListModels,
        GetUsage,
        GetBinaryVersion,
        McpCall,
        FileSuggestions,
        RewindFiles,
        CancelAsyncMessage,
        ReadFile,
        SeedReadState,
        McpSetServers,
        RegisterRepoRoot,
        ReloadPlugins,
        ReloadSkills,
        ReloadOutputStyles,
        McpReconnect,
        McpToggle,
        SetHasSubscribers,
        StopTask,
        BackgroundTasks,
        GetTaskOutput,
        ApplyFlagSettings,
        GetSettings,
        GetHooksListing,
        UpdateSettings,
        ListPermissionRules,
        McpReadResource,
        SetMessageWaiting,
        PromptDraftActivity,
        ReloadConnectors,
        UpdateCloudSession,
        ComparisonFork,
    )
}
