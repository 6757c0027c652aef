//! The mode of a session, and who is told of it.
//!
//! Owns the way from a mode to the desk, to the CLI and to the journal. Invariants: the desk is in the mode at once; the CLI
//! knows only whether it plans; the journal says with a note which mode is in force, since every reader of it must say the same.

use countersign_client::options::Version;
use countersign_client::{Handle, PermissionMode};

use super::agent::Agent;
use super::{Actor, agent};
use crate::control::{Mode, now};
use crate::desk::Desk;
use crate::session::Input;

/// The first version that says when a call has changed its mode.
const FIRST_TO_TELL_MODES: Version = Version::new(2, 1, 62);

impl Actor {
    /// When hands-off ends by itself: by the desk where that knows, since a clock that was set back prolongs nothing there.
    pub(super) fn hands_off_until(&self) -> Option<u64> {
        let Mode::HandsOff { until } = self.row.mode else {
            return None;
        };
        let at = now();
        let left = self.desk.as_ref().and_then(|it| it.hands_off_left(at));
        let by_desk = left.map(|left| at.saturating_add(left.as_micros() as u64));
        Some(by_desk.map_or(until, |by_desk| by_desk.min(until)))
    }

    /// Hands-off whose time is over is shown as what it is.
    pub(super) fn end_hands_off(&mut self) {
        if self.hands_off_until().is_some_and(|until| until <= now()) {
            self.row.mode = self.row.mode.for_next_agent();
            self.unsaved.changed = true;
            if let Some(desk) = &mut self.desk {
                Desk::set_mode(desk, self.row.mode, now());
            }
            self.note_mode(None);
            if let Some(agent) = self.agent.as_ref().filter(|it| !is_planning(it)) {
                let (handle, mode) = (agent.handle.clone(), self.row.mode.of_cli());
                // What comes of it does not matter: the CLI is in this mode already.
                tokio::spawn(async move { handle.set_permission_mode(mode).await });
            }
        }
    }

    /// Has the journal say with the next line which mode is in force, and who chose it: most modes are ours, and the CLI
    /// knows nothing of them.
    pub(super) fn note_mode(&self, by: Option<&str>) {
        let Some(agent) = &self.agent else {
            return;
        };
        let mut note = serde_json::Map::new();
        note.insert("mode".to_owned(), self.row.mode.name().into());
        if let Some(by) = by {
            note.insert("by".to_owned(), by.into());
        }
        agent.attachment.note_next(note);
    }

    /// A mode that the agent has to be told, or knows. One that cannot be reached now is told when it can.
    pub(super) fn owing_mode(&self, mode: Mode) -> Input {
        let knows = self.agent.is_some() && !self.must_be_told(mode);
        Input::ModeChosen {
            owed: (!knows).then(|| mode.of_cli().to_string()),
        }
    }

    /// The mode of the desk at once, that of the CLI by a request. It is verified by what the CLI says next.
    pub(super) async fn set_cli_mode(&mut self, mode: Mode, by: Option<&str>) {
        let must_be_told = self.must_be_told(mode);
        let handle = self.set_desk_mode(mode);
        self.note_mode(by);
        if !must_be_told {
            let knows = self.owing_mode(mode);
            self.step(knows);
        }
        // It is asked for even where the CLI is in it: the line carries the note.
        let Some(handle) = handle else {
            return;
        };
        let (inner, id) = (self.inner.clone(), self.id);
        agent::say(async move {
            if let Err(error) = handle.set_permission_mode(mode.of_cli()).await {
                inner.trouble(id, format!("the mode was not taken: {error}"));
            }
        })
        .await;
    }

    /// The same, done when it returns, and only where the CLI has to be told.
    pub(super) async fn put_into(&mut self, mode: Mode) {
        let must_be_told = self.must_be_told(mode);
        let handle = self.set_desk_mode(mode).filter(|_| must_be_told);
        self.note_mode(None);
        if let Some(handle) = handle
            && let Err(error) = handle.set_permission_mode(mode.of_cli()).await
        {
            let text = format!("the mode was not taken: {error}");
            self.inner.trouble(self.id, text);
        }
    }

    /// The mode of the desk. Gives the agent, if there is one.
    fn set_desk_mode(&mut self, mode: Mode) -> Option<Handle> {
        if let Some(desk) = &mut self.desk {
            Desk::set_mode(desk, mode, now());
        }
        if self.must_be_told(mode)
            && let Some(desk) = &mut self.desk
        {
            desk.planning(plans(mode));
        }
        Some(self.agent.as_ref()?.handle.clone())
    }

    /// Whether there is an agent whose mode would not do.
    fn must_be_told(&self, mode: Mode) -> bool {
        let Some(agent) = &self.agent else {
            return false;
        };
        // An older one does not say that it has entered or left plan mode.
        let tells = self.version().is_some_and(|it| it >= FIRST_TO_TELL_MODES);
        !tells || is_planning(agent) != plans(mode)
    }
}

fn plans(mode: Mode) -> bool {
    mode.of_cli() == PermissionMode::Plan
}

fn is_planning(agent: &Agent) -> bool {
    agent.handle.permission_mode().as_deref() == Some("plan")
}
