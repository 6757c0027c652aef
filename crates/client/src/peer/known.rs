//! What is known of the agent right now, from what it said.
//!
//! Owns the facts that calls depend on: version, mode, model, session, whether it works, what runs in the background.
//! Pure: lines come in as the fields that were looked up. `init` is "a turn begins, here is the state", and comes again
//! with every turn.

use std::collections::BTreeMap;
use std::time::Duration;

use countersign_wire::control::InitializeReply;
use tokio::time::Instant;

use super::glance::{InitGlance, TaskGlance};
use crate::options::{Capabilities, Version};

/// How long idleness is held back once the last task in the background has ended. The CLI begins a turn of its own then, and says so some two
/// milliseconds later; a machine that is busy may take far longer.
const SETTLES: Duration = Duration::from_millis(500);

/// The facts.
#[derive(Debug, Default)]
pub(crate) struct Known {
    capabilities: Capabilities,
    pub(crate) mode: Option<String>,
    /// A mode that was accepted and is not seen in force yet.
    wanted_mode: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) models: Vec<String>,
    pub(crate) session_id: Option<String>,
    state: Option<String>,
    /// What runs beside the turn, and the call of the sub-agent that it is.
    tasks: BTreeMap<String, Option<String>>,
    /// The CLI gives the whole set of background tasks, so single messages do not count.
    has_task_list: bool,
    /// The last task has just ended: until then a turn may follow.
    settles_at: Option<Instant>,
    is_in_turn: bool,
    /// How many results came.
    results: u64,
    /// What the last result said went wrong.
    errors: Vec<String>,
}

/// A mode that was accepted, and the other one that is in force.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NotTaken {
    pub(crate) wanted: String,
    pub(crate) got: String,
}

impl Known {
    /// What this CLI can take and do, as far as it is known by now.
    pub(crate) fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    /// Starts with what is known before the agent speaks.
    pub(crate) fn start(&mut self, capabilities: Capabilities) {
        self.capabilities = capabilities;
    }

    pub(crate) fn initialized(&mut self, reply: &InitializeReply) {
        self.capabilities.learn_from_reply(reply);
        self.models = reply
            .models
            .iter()
            .flat_map(|model| std::iter::once(&model.value).chain(&model.resolved_model))
            .cloned()
            .collect();
        if let Some(mode) = &reply.current_permission_mode {
            self.mode = Some(mode.as_str().to_owned());
        }
    }

    /// A turn begins.
    pub(crate) fn init(
        &mut self,
        init: InitGlance,
        session_id: Option<String>,
    ) -> Option<NotTaken> {
        let words = init.capabilities.unwrap_or_default();
        let version = init.claude_code_version.as_deref().and_then(Version::find);
        self.capabilities.learn(version, words);
        self.model = init.model.or(self.model.take());
        self.session_id = session_id.or(self.session_id.take());
        self.is_in_turn = true;
        self.mode_seen(init.permission_mode?)
    }

    /// A mode was accepted: it must show.
    pub(crate) fn want_mode(&mut self, mode: &str) {
        self.wanted_mode = (self.mode.as_deref() != Some(mode)).then(|| mode.to_owned());
    }

    /// The CLI says which mode is in force.
    pub(crate) fn mode_seen(&mut self, mode: String) -> Option<NotTaken> {
        let wanted = self.wanted_mode.take().filter(|wanted| *wanted != mode);
        self.mode = Some(mode.clone());
        wanted.map(|wanted| NotTaken { wanted, got: mode })
    }

    pub(crate) fn state(&mut self, state: String) {
        self.is_in_turn = state != "idle";
        self.state = Some(state);
    }

    /// A message was written: a turn is about to begin.
    pub(crate) fn sent(&mut self) {
        self.is_in_turn = true;
    }

    /// No message is open any more, and the last one ended without a result: unless the CLI says otherwise, no turn runs.
    pub(crate) fn nothing_sent(&mut self) {
        self.is_in_turn = self.state.as_deref().is_some_and(|state| state != "idle");
    }

    /// A turn ended.
    pub(crate) fn result(&mut self, session_id: Option<String>, errors: Vec<String>) {
        self.is_in_turn = false;
        self.results += 1;
        self.errors = errors;
        self.session_id = session_id.or(self.session_id.take());
    }

    /// What the last result said went wrong.
    pub(crate) fn take_errors(&mut self) -> Vec<String> {
        std::mem::take(&mut self.errors)
    }

    pub(crate) fn task(&mut self, subtype: &str, task: TaskGlance, now: Instant) {
        let Some(id) = task.task_id.filter(|_| !self.has_task_list) else {
            return;
        };
        let status = task.patch.and_then(|patch| patch.status);
        let has_ended = subtype == "task_notification"
            || matches!(
                status.as_deref(),
                Some("completed" | "killed" | "failed" | "stopped")
            );
        if has_ended {
            let had = self.has_background_work();
            self.tasks.remove(&id);
            self.settle(had, now);
        } else if subtype == "task_started" {
            let is_agent = task.task_type.as_deref() == Some("local_agent");
            self.tasks.insert(id, task.tool_use_id.filter(|_| is_agent));
        }
    }

    /// The report of a sub-agent came: it runs no more. 2.1.62 says nothing else of one that ran in the foreground.
    pub(crate) fn reported(&mut self, call: &str, now: Instant) {
        let had = self.has_background_work();
        self.tasks.retain(|_, agent| agent.as_deref() != Some(call));
        self.settle(had, now);
    }

    /// A task was stopped at our wish.
    pub(crate) fn task_stopped(&mut self, id: &str, now: Instant) {
        let had = self.has_background_work();
        self.tasks.remove(id);
        self.settle(had, now);
    }

    /// The whole set of background tasks.
    pub(crate) fn task_list(&mut self, tasks: Vec<TaskGlance>, now: Instant) {
        let had = self.has_background_work();
        self.has_task_list = true;
        self.tasks = tasks
            .into_iter()
            .filter_map(|task| Some((task.task_id?, None)))
            .collect();
        self.settle(had, now);
    }

    /// Holds idleness back if there was work in the background and there is none any more.
    fn settle(&mut self, had: bool, now: Instant) {
        if had && !self.has_background_work() {
            self.settles_at = Some(now + SETTLES);
        }
    }

    /// Returns when idleness is held back no longer, if it is.
    pub(crate) fn settles_at(&self, now: Instant) -> Option<Instant> {
        self.settles_at.filter(|at| now < *at)
    }

    /// Whether a turn runs, as far as the CLI says.
    pub(crate) fn is_in_turn(&self) -> bool {
        self.is_in_turn
    }

    /// How many results came: what was `is_in_turn` is over when there is one more, even if the next turn runs by then.
    pub(crate) fn results(&self) -> u64 {
        self.results
    }

    /// Whether work goes on beside the turns.
    pub(crate) fn has_background_work(&self) -> bool {
        !self.tasks.is_empty()
    }

    /// Whether nothing is going on: no turn, and nothing in the background that would start one.
    pub(crate) fn is_idle(&self, now: Instant) -> bool {
        let says_so = self.state.as_deref().is_none_or(|state| state == "idle");
        says_so && !self.is_in_turn && self.tasks.is_empty() && self.settles_at(now).is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(id: &str, status: Option<&str>) -> TaskGlance {
        let patch = status.map(|status| super::super::glance::TaskPatch {
            status: Some(status.to_owned()),
        });
        TaskGlance {
            task_id: Some(id.to_owned()),
            patch,
            ..TaskGlance::default()
        }
    }

    fn later() -> Instant {
        Instant::now() + SETTLES
    }

    #[test]
    fn a_mode_that_was_accepted_and_is_not_in_force_is_noticed() {
        let mut known = Known::default();
        known.mode_seen("default".into());
        known.want_mode("bypassPermissions");
        let got = known.mode_seen("default".into());
        assert_eq!(got.unwrap().wanted, "bypassPermissions");
        assert_eq!(known.mode_seen("default".into()), None);
        known.want_mode("plan");
        assert_eq!(known.mode_seen("plan".into()), None);
    }

    #[test]
    fn idle_means_a_result_came_and_nothing_runs_in_the_background() {
        let mut known = Known::default();
        known.sent();
        assert!(!known.is_idle(later()));
        known.task("task_started", task("t", None), Instant::now());
        known.result(None, vec![]);
        assert!(!known.is_idle(later()) && known.has_background_work());
        known.task("task_updated", task("t", Some("completed")), Instant::now());
        assert!(known.is_idle(later()));
    }

    #[test]
    fn where_the_cli_reports_its_state_that_counts() {
        let mut known = Known::default();
        known.state("running".into());
        known.result(None, vec![]);
        assert!(!known.is_idle(later()));
        known.state("idle".into());
        assert!(known.is_idle(later()));
    }

    #[test]
    fn a_list_of_tasks_replaces_what_single_messages_said() {
        let mut known = Known::default();
        known.task("task_started", task("foreground", None), Instant::now());
        known.task_list(vec![task("a", None)], Instant::now());
        known.task("task_started", task("foreground", None), Instant::now());
        assert!(known.has_background_work());
        known.task_list(vec![], Instant::now());
        assert!(known.is_idle(later()));
    }

    #[test]
    fn a_sub_agent_that_reports_is_over_even_if_nothing_else_is_said_of_it() {
        let mut known = Known::default();
        let started = |id: &str, kind: &str, call: &str| TaskGlance {
            task_id: Some(id.to_owned()),
            task_type: Some(kind.to_owned()),
            tool_use_id: Some(call.to_owned()),
            ..TaskGlance::default()
        };
        known.task(
            "task_started",
            started("a", "local_agent", "call-1"),
            Instant::now(),
        );
        known.task(
            "task_started",
            started("b", "local_bash", "call-2"),
            Instant::now(),
        );
        known.reported("call-2", Instant::now());
        assert!(known.has_background_work());
        known.reported("call-1", Instant::now());
        assert!(
            known.has_background_work(),
            "a command in the background reports at once"
        );
        known.task_stopped("b", Instant::now());
        assert!(!known.has_background_work());
    }

    #[test]
    fn idleness_is_held_back_for_the_turn_that_follows_work_in_the_background() {
        let mut known = Known::default();
        let now = Instant::now();
        known.state("idle".into());
        known.task_list(vec![task("a", None)], now);
        known.task_list(vec![], now);
        assert!(!known.is_idle(now + Duration::from_millis(2)));
        // The turn begins in time, and idleness is its end.
        known.state("running".into());
        assert!(!known.is_idle(now + SETTLES));
        known.state("idle".into());
        assert!(known.is_idle(now + SETTLES));
        // An empty list after an empty list is no end of work.
        known.task_list(vec![], now + SETTLES);
        assert!(known.is_idle(now + SETTLES));
    }
}
