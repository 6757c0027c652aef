//! A plan that the agent presents, and the ways to answer it.
//!
//! Owns [`Plan`], a view of ExitPlanMode. Invariant: whatever is answered, the input goes back whole.

use std::collections::BTreeMap;
use std::path::Path;

use countersign_wire::Json;
use countersign_wire::tools::{AllowedPrompt, ExitPlanModeInput};
use countersign_wire::vocab::PermissionMode;

use super::Decision;

/// The agent presents its plan and wants to leave plan mode.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    input: ExitPlanModeInput,
    original: Json,
}

impl Plan {
    pub(super) fn new(input: ExitPlanModeInput, original: &Json) -> Self {
        Self {
            input,
            original: original.clone(),
        }
    }

    /// The plan. On 2.1.325 that is what stands in the plan file, and `None` without one, whatever the model passed; on
    /// older versions what the model passed if there is no file.
    pub fn text(&self) -> Option<&str> {
        self.input.plan.as_deref()
    }

    /// The plan file, in the CLI's own folder of plans (2.1.325).
    pub fn file(&self) -> Option<&Path> {
        self.input.plan_file_path.as_deref().map(Path::new)
    }

    /// The kinds of commands that the plan wants permission for.
    pub fn allowed_prompts(&self) -> &[AllowedPrompt] {
        self.input.allowed_prompts.as_deref().unwrap_or_default()
    }

    /// Go ahead. The mode goes back to the one before plan mode on 2.1.325, to `default` on older versions.
    pub fn approve(&self) -> Decision {
        Decision::allow()
    }

    /// Go ahead, in `mode`. It is in force for the very next call. `plan` does not stay plan: it ends in `default`.
    pub fn approve_in_mode(&self, mode: PermissionMode) -> Decision {
        self.approve().with_mode(mode)
    }

    /// Go ahead, and edit files without asking.
    pub fn approve_accepting_edits(&self) -> Decision {
        self.approve_in_mode(PermissionMode::AcceptEdits)
    }

    /// Go ahead with another plan. 2.1.325 writes it to the plan file; older versions do **not**: say it in a message,
    /// or deny with the edited plan as feedback.
    pub fn approve_edited(&self, plan: impl Into<String>) -> Decision {
        let changed = || -> Result<Json, serde_json::Error> {
            let mut fields: BTreeMap<String, Json> = self.original.to()?;
            fields.insert("plan".to_owned(), Json::of(&plan.into())?);
            Json::of(&fields)
        };
        match changed() {
            Ok(input) => self.approve().with_input(input),
            Err(_) => Decision::deny("The edited plan could not be written."),
        }
    }

    /// Not yet: the agent stays in plan mode and reads `feedback`.
    pub fn keep_planning(&self, feedback: impl Into<String>) -> Decision {
        Decision::deny(feedback)
    }
}
