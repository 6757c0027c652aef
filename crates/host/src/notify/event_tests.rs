//! Which changes of a session are told, and in which words.

use super::*;
use crate::control::Mode;
use crate::control::session::Pause;

/// A session as the tests of this module tell about it.
pub(crate) fn view(number: u128, state: State, reason: &str) -> SessionView {
    SessionView {
        id: SessionId::new(7_000, number),
        name: format!("session {number}"),
        cwd: "/p".into(),
        state,
        reason: reason.to_owned(),
        since: 9_000_000,
        cut_off: false,
        mode: Mode::Ask,
        model: None,
        version: None,
        conversation: None,
        generation: 1,
        open_approvals: 0,
        queued: 0,
        queue_held: false,
        last_line: None,
        context_percent: None,
        cost_usd: 0.25,
        budget_usd: None,
        created: 7_000,
        last_activity: 9_000_000,
        parent: None,
        origin: None,
        archived: false,
        trashed: None,
        branch: None,
        repository: None,
    }
}

fn idle() -> State {
    State::Idle {
        asleep: false,
        background: 0,
    }
}

#[test]
fn a_session_that_worked_and_is_idle_has_finished() {
    let now = view(1, idle(), "the turn ended");
    let event = Event::turned(&State::Running, &now).unwrap();
    assert_eq!(event.kind, Kind::Finished);
    assert_eq!(event.text, "session 1 has finished");
    assert_eq!(event.at, 9_000_000);
    // One that was not at work has not.
    for was in [State::Stopped, idle(), State::Queued] {
        assert_eq!(Event::turned(&was, &now), None, "{was:?}");
    }
}

#[test]
fn a_session_with_messages_to_send_has_not_finished_unless_they_are_held() {
    let mut now = view(1, idle(), "");
    now.queued = 1;
    assert_eq!(Event::turned(&State::Running, &now), None);
    now.queue_held = true;
    assert!(Event::turned(&State::Running, &now).is_some());
}

#[test]
fn each_bad_end_is_told_once_with_its_reason() {
    let failed = State::Failed {
        stderr: "the whole of stderr".to_owned(),
    };
    let now = view(1, failed.clone(), "exit code 1");
    let event = Event::turned(&State::Running, &now).unwrap();
    assert_eq!(event.text, "session 1 has failed: exit code 1");
    assert_eq!(Event::turned(&failed, &now), None);
    let fix = "run `claude` and sign in".to_owned();
    for (state, kind) in [
        (
            State::Paused {
                why: Pause::UsageLimit { until: None },
            },
            Kind::Paused,
        ),
        (State::Stalled { since: 5 }, Kind::Stalled),
        (State::NotSignedIn { fix }, Kind::NotSignedIn),
        (State::Stopped, Kind::Stopped),
    ] {
        let event = Event::turned(&State::Running, &view(1, state, "")).unwrap();
        assert_eq!(event.kind, kind);
    }
    for quiet in [
        State::Running,
        State::Starting,
        State::Ending,
        State::NeedsYou { open: 1 },
    ] {
        assert_eq!(Event::turned(&State::Queued, &view(1, quiet, "")), None);
    }
}

#[test]
fn the_same_event_has_the_same_id_and_another_has_another() {
    let now = view(1, State::Stopped, "");
    let event = Event::turned(&State::Running, &now).unwrap();
    assert_eq!(
        event.id(),
        Event::turned(&State::Starting, &now).unwrap().id()
    );
    let mut ids = vec![event.id()];
    let mut later = now.clone();
    later.since += 1;
    ids.push(Event::turned(&State::Running, &later).unwrap().id());
    ids.push(
        Event::turned(&State::Running, &view(2, State::Stopped, ""))
            .unwrap()
            .id(),
    );
    ids.push(Event::trouble("one", 9_000_000).id());
    ids.push(Event::trouble("two", 9_000_000).id());
    ids.push(Event::test(9_000_000).id());
    let count = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), count);
}

#[test]
fn names_and_reasons_are_masked() {
    let token = concat!("ghp_", "0123456789abcdefghijABCDEFGHIJ012345");
    let mut now = view(1, State::Stopped, &format!("said {token}"));
    now.name = format!("fix {token}\nnow");
    let event = Event::turned(&State::Running, &now).unwrap();
    let told = format!("{event:?}");
    assert!(
        !told.contains(&token[4..]) && !told.contains('\n'),
        "{told}"
    );
}
