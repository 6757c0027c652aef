//! Which permission updates a version can take with an allow.
//!
//! Up to 2.1.62 one update the CLI cannot read makes a denial of the whole answer; later the entry is dropped in
//! silence. Owns the filter that keeps either from happening unseen. Invariant: what is dropped is said.

use std::fmt;

use countersign_wire::permission::{PermissionUpdate, RuleBehavior, RuleDestination};
use countersign_wire::vocab::PermissionMode;

use super::Capabilities;
use super::measured::*;

/// Why an update was not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DropReason {
    /// A type of update that this build does not know.
    UnknownType,
    /// A mode that this version does not have.
    UnknownMode,
    /// A destination that this version does not have.
    UnknownDestination,
    /// A behaviour that this version does not have.
    UnknownBehavior,
    /// The mode is ignored unless the CLI was launched with `--allow-dangerously-skip-permissions`.
    BypassNotLaunched,
}

impl fmt::Display for DropReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::UnknownType => "the CLI may not know this type of update",
            Self::UnknownMode => "this CLI does not have that mode",
            Self::UnknownDestination => "this CLI does not have that destination",
            Self::UnknownBehavior => "this CLI does not have that behaviour",
            Self::BypassNotLaunched => {
                "bypassPermissions needs a launch with --allow-dangerously-skip-permissions"
            }
        })
    }
}

/// An update that was left out of an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct DroppedUpdate {
    /// The update.
    pub update: PermissionUpdate,
    /// Why.
    pub reason: DropReason,
}

impl Capabilities {
    /// Parts updates into those this CLI can take, in order, and those it cannot. `may_bypass` tells whether it was
    /// launched with `--allow-dangerously-skip-permissions` or in that mode.
    ///
    /// Leave `updatedPermissions` out of the answer when none are left.
    pub fn usable_updates(
        &self,
        updates: Vec<PermissionUpdate>,
        may_bypass: bool,
    ) -> (Vec<PermissionUpdate>, Vec<DroppedUpdate>) {
        let (mut usable, mut dropped) = (Vec::new(), Vec::new());
        for update in updates {
            match self.refusal(&update, may_bypass) {
                None => usable.push(update),
                Some(reason) => dropped.push(DroppedUpdate { update, reason }),
            }
        }
        (usable, dropped)
    }

    fn refusal(&self, update: &PermissionUpdate, may_bypass: bool) -> Option<DropReason> {
        match update {
            PermissionUpdate::AddRules(rules)
            | PermissionUpdate::ReplaceRules(rules)
            | PermissionUpdate::RemoveRules(rules) => match rules.behavior {
                RuleBehavior::Allow | RuleBehavior::Deny | RuleBehavior::Ask => {
                    unknown_destination(&rules.destination)
                }
                _ => Some(DropReason::UnknownBehavior),
            },
            PermissionUpdate::AddDirectories(folders)
            | PermissionUpdate::RemoveDirectories(folders) => {
                unknown_destination(&folders.destination)
            }
            PermissionUpdate::SetMode(change) => self
                .mode_refusal(&change.mode, may_bypass)
                .or_else(|| unknown_destination(&change.destination)),
            _ => Some(DropReason::UnknownType),
        }
    }

    fn mode_refusal(&self, mode: &PermissionMode, may_bypass: bool) -> Option<DropReason> {
        match mode {
            PermissionMode::Default
            | PermissionMode::AcceptEdits
            | PermissionMode::Plan
            | PermissionMode::DontAsk => None,
            PermissionMode::Auto if self.knows_auto_mode() => None,
            PermissionMode::BypassPermissions => (self.bypass_update_needs_allow_flag()
                && !may_bypass)
                .then_some(DropReason::BypassNotLaunched),
            _ => Some(DropReason::UnknownMode),
        }
    }

    /// Whether rules given by `--allowedTools` can be removed by `removeRules`. Earlier it has no effect.
    pub fn can_remove_cli_rules(&self) -> bool {
        self.since(V2_1_197)
    }

    /// Whether a call that a rule denies is reported by `system/permission_denied`.
    pub fn reports_denials_by_rule(&self) -> bool {
        self.since(V2_1_325)
    }

    /// Whether a Bash rule also covers the paths in the command. On 2.1.62 the same command is asked for again.
    pub fn bash_rule_covers_paths(&self) -> bool {
        self.since(V2_1_325) || self.version == Some(V2_0_75)
    }
}

fn unknown_destination(destination: &RuleDestination) -> Option<DropReason> {
    matches!(destination, RuleDestination::Other(_)).then_some(DropReason::UnknownDestination)
}
