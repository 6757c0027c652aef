//! How versions differ in what they do: modes, hooks, turns, sessions, endings.
//!
//! Owns the version table. One method a row; each says what a host has to do otherwise.

use countersign_wire::vocab::PermissionMode;

use super::Capabilities;
use super::measured::*;

/// What tells that nothing more will come by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum IdleSignal {
    /// The result: there is no background work that could start a turn.
    Result,
    /// A result, and every `task_started` has had its `task_notification`.
    TaskMessages,
    /// `session_state_changed` says `idle` (asked for in the environment), or `background_tasks_changed` lists none.
    SessionState,
}

impl Capabilities {
    /// How many replies `set_permission_mode` gets. Up to 2.1.30 it is two; the first one counts.
    pub fn mode_replies(&self) -> usize {
        if self.since(V2_1_45) { 1 } else { 2 }
    }

    /// Whether `set_permission_mode` refuses a mode it does not know. Earlier it reports success and does nothing.
    pub fn refuses_unknown_mode(&self) -> bool {
        self.since(V2_1_325)
    }

    /// Whether a mode is known not to exist here, although `set_permission_mode` would accept it: up to 2.1.197 any
    /// word is accepted and shown, and an unknown one changes nothing.
    pub fn lacks_mode(&self, mode: &PermissionMode) -> bool {
        let last_without = match mode {
            PermissionMode::Auto => V2_1_62,
            PermissionMode::Other(_) => V2_1_197,
            _ => return false,
        };
        self.version.is_some_and(|version| version <= last_without)
    }

    /// Whether switching to `bypassPermissions` by request needs a launch with
    /// `--allow-dangerously-skip-permissions`. True for 1.0.128, which lacks the flag, and from 2.1.197.
    pub fn bypass_needs_allow_flag(&self) -> bool {
        self.after(V2_1_62) || !self.since(V2_0_75)
    }

    /// Whether `setMode bypassPermissions` in an answer is ignored in silence without that flag.
    pub fn bypass_update_needs_allow_flag(&self) -> bool {
        self.after(V2_1_62)
    }

    /// Whether `setMode auto` is a mode at all; before, the answer that carries it is a denial.
    pub fn knows_auto_mode(&self) -> bool {
        self.since(V2_1_325)
    }

    /// Whether every change of mode is announced by `system/status`. On 2.1.62 only those inside a turn are.
    pub fn status_on_mode_change(&self) -> bool {
        self.since(V2_1_197)
    }

    /// Whether a change of mode made inside a turn (an update, a plan tool) is announced by `system/status`.
    pub fn status_on_mode_change_in_turn(&self) -> bool {
        self.since(V2_1_62)
    }

    /// Whether the reply to `initialize` tells the mode, which is the only way to learn it before a turn.
    pub fn reply_tells_mode(&self) -> bool {
        self.since(V2_1_325)
    }

    /// Whether a rule stored in the local settings is honoured in an untrusted workspace. 2.1.197 ignores it.
    pub fn honours_local_rules_untrusted(&self) -> bool {
        self.since(V2_1_325) || !self.after(V2_1_62)
    }

    /// Whether a rule stored in the project's settings is honoured in an untrusted workspace. From 2.1.197 it is not,
    /// and the CLI asks again.
    pub fn honours_project_rules_untrusted(&self) -> bool {
        !self.after(V2_1_62)
    }

    /// Whether the text that had come when a turn was interrupted is delivered.
    pub fn keeps_partial_text(&self) -> bool {
        self.since(V2_1_197)
    }

    /// Whether tools start, and ask, while the message that calls them is still streaming.
    pub fn tools_start_while_streaming(&self) -> bool {
        self.after(V2_1_62)
    }

    /// Whether a tool **runs** when stdin is closed while a PreToolUse callback is open. So on every version before
    /// 2.1.325: interrupt before closing stdin.
    pub fn hook_fails_open_on_stdin_close(&self) -> bool {
        !self.since(V2_1_325)
    }

    /// Whether a PreToolUse callback that runs out of time refuses the tool. Earlier the host is asked instead.
    pub fn hook_timeout_refuses(&self) -> bool {
        self.since(V2_1_197)
    }

    /// Whether a matcher's `onFailure` is honoured. The reply to `initialize` says so.
    pub fn hook_on_failure(&self) -> bool {
        self.hook_on_failure.unwrap_or_else(|| self.since(V2_1_325))
    }

    /// Whether `updatedInput` of a PreToolUse callback counts without a decision. 2.0.75 ignores it.
    pub fn hook_input_without_decision(&self) -> bool {
        self.since(V2_1_62)
    }

    /// Whether a hook may answer `defer`.
    pub fn hook_may_defer(&self) -> bool {
        self.since(V2_1_325)
    }

    /// Whether the conversation that a fork begins can be given its id: 2.0.72 ends with exit code 1.
    pub fn takes_id_of_fork(&self) -> bool {
        self.since(V2_0_73)
    }

    /// Whether the PermissionRequest hook exists.
    pub fn permission_request_hook(&self) -> bool {
        self.since(V2_1_62)
    }

    /// Whether EnterPlanMode asks. Later versions enter plan mode unasked and announce it.
    pub fn enter_plan_mode_asks(&self) -> bool {
        !self.since(V2_1_62)
    }

    /// Whether Bash that writes goes to the CLI's own classifier in plan mode rather than to the host, unless
    /// `useAutoModeDuringPlan` is off.
    pub fn plan_mode_hides_bash(&self) -> bool {
        self.after(V2_1_197)
    }

    /// Whether elicitations of MCP servers reach the host.
    pub fn elicitation_reaches_host(&self) -> bool {
        self.since(V2_1_325)
    }

    /// Whether a message with a uuid is followed by `command_lifecycle`.
    pub fn lifecycle_events(&self) -> bool {
        self.says("msg_lifecycle_v1") || self.since(V2_1_325)
    }

    /// Whether the reply to `interrupt` lists what is still queued.
    pub fn interrupt_receipt(&self) -> bool {
        self.says("interrupt_receipt_v1") || self.since(V2_1_325)
    }

    /// Whether `interrupt` can also drop queued messages.
    pub fn interrupt_cancels_queued(&self) -> bool {
        self.says("interrupt_cancel_queued_v1") || self.since(V2_1_325)
    }

    /// Whether `rewind_files` knows a dry run. 2.0.75 passes over the field and rewinds.
    pub fn rewinds_dry(&self) -> bool {
        self.since(V2_1_62)
    }

    /// Whether replayed lines carry `isReplay`. On 1.0.128 they do not and are told by their uuid.
    pub fn marks_replays(&self) -> bool {
        self.since(V2_0_75)
    }

    /// Whether there are `task_*` messages, and turns that the CLI starts when background work ends.
    pub fn self_started_turns(&self) -> bool {
        self.since(V2_1_62)
    }

    /// Whether a sub-agent in the background can ask for permission, also after the result.
    pub fn background_agent_asks(&self) -> bool {
        self.after(V2_1_62)
    }

    /// What tells that the session is idle.
    pub fn idle_signal(&self) -> IdleSignal {
        if self.since(V2_1_325) {
            IdleSignal::SessionState
        } else if self.since(V2_1_62) {
            IdleSignal::TaskMessages
        } else {
            IdleSignal::Result
        }
    }

    /// Whether after EOF the CLI waits for Bash in the background and runs one more turn. Careful when not known:
    /// waiting too long costs time, waiting too short costs work.
    pub fn eof_waits_for_background(&self) -> bool {
        self.after(V2_0_75)
    }

    /// Whether SIGINT ends the turn with a result and the Bash child with it.
    pub fn sigint_ends_bash(&self) -> bool {
        self.since(V2_1_197)
    }

    /// Whether SIGTERM ends the Bash child. Where not, the host has to.
    pub fn sigterm_ends_bash(&self) -> bool {
        self.since(V2_1_325)
    }

    /// Whether a session is found from another working directory.
    pub fn resume_from_other_cwd(&self) -> bool {
        self.since(V2_1_325)
    }

    /// Whether resuming an unknown session prints a result. 2.0.75 writes to stderr alone.
    pub fn unknown_resume_gives_result(&self) -> bool {
        self.since(V2_1_62)
    }

    /// Whether a second `initialize` succeeds.
    pub fn second_initialize_ok(&self) -> bool {
        self.since(V2_1_197)
    }

    /// Whether a run with a schema ends when the model never gives the structured output. Older CLIs nudge it for
    /// ever: put a limit on the turns.
    pub fn structured_output_gives_up(&self) -> bool {
        self.since(V2_1_325)
    }
}
