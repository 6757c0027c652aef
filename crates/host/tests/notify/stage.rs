//! What the tests of webhooks and programs share: events, targets, a notifier, waits.
//!
//! Owns the waits: each has a deadline and says what it waited for.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use countersign_host::control::session::State;
use countersign_host::control::{Mode, SessionId, SessionView};
use countersign_host::notify::{
    Event, HttpLimits, Kind, Notifier, Outside, ProgramLimits, Said, Schedule, Secret, Shape,
    Target, Targets, To,
};

/// For whatever must happen soon. Long, since a loaded machine is slow; no test waits for it to pass.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) const SECRET: &str = "a secret of the test, not of anybody";

/// Quick, so that a test need not wait for what a person would.
pub(crate) const QUICK: Schedule = Schedule {
    first: 20_000,
    most: 200_000,
    tries: 4,
};

/// Waits for `future`, at most [`PATIENCE`].
pub(crate) async fn soon<F: Future>(what: &str, future: F) -> F::Output {
    let waited = tokio::time::timeout(PATIENCE, future).await;
    waited.unwrap_or_else(|_| panic!("waited {PATIENCE:?} for {what}"))
}

/// Waits until `holds` does.
pub(crate) async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let polled = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    soon(what, polled).await;
}

/// A session that came to `state` at the moment `at`.
pub(crate) fn event(session: u128, state: State, at: u64) -> Event {
    let view = SessionView {
        id: SessionId::new(7_000, session),
        name: format!("session {session}"),
        cwd: "/p".into(),
        state,
        reason: "because".to_owned(),
        since: at,
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
        last_activity: at,
        parent: None,
        origin: None,
        archived: false,
        trashed: None,
        branch: None,
        repository: None,
    };
    Event::turned(&State::Running, &view).unwrap()
}

/// It failed.
pub(crate) fn failed(session: u128, at: u64) -> Event {
    let stderr = "the whole of stderr".to_owned();
    event(session, State::Failed { stderr }, at)
}

/// It has finished.
pub(crate) fn finished(session: u128, at: u64) -> Event {
    let idle = State::Idle {
        asleep: false,
        background: 0,
    };
    event(session, idle, at)
}

pub(crate) fn webhook(name: &str, url: &str) -> Target {
    Target {
        name: name.to_owned(),
        on: vec![Kind::NeedsYou, Kind::Finished, Kind::Failed],
        to: To::Webhook {
            url: Secret::new(url),
            secret: Some(Secret::new(SECRET)),
            headers: BTreeMap::new(),
            shape: Shape::Full,
        },
    }
}

/// What a notifier is given here: nothing of the caller but the path to programs.
pub(crate) fn outside() -> Outside {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let hidden = ("NOT_FOR_PROGRAMS".into(), "x".into());
    Outside {
        link_base: Some("https://cs.example.com".to_owned()),
        http: HttpLimits {
            connect: PATIENCE,
            whole: PATIENCE,
        },
        program: ProgramLimits { time: PATIENCE },
        env: vec![("PATH".into(), path), hidden],
        roots: Vec::new(),
    }
}

/// A notifier, and what it said.
pub(crate) struct Stage {
    pub(crate) notifier: Notifier,
    said: Arc<Mutex<Vec<Said>>>,
}

impl Stage {
    pub(crate) fn new(targets: Vec<Target>) -> Self {
        Self::with(Targets::new(targets, QUICK).unwrap(), outside())
    }

    pub(crate) fn with(targets: Targets, outside: Outside) -> Self {
        let said = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&said);
        let notifier = Notifier::start(targets, outside, move |said| {
            heard.lock().unwrap().push(said);
        });
        Self { notifier, said }
    }

    pub(crate) fn said(&self) -> Vec<Said> {
        self.said.lock().unwrap().clone()
    }

    /// Why jobs were given up, so far.
    pub(crate) fn given_up(&self) -> Vec<String> {
        let said = self.said();
        let why = said.into_iter().filter_map(|said| match said {
            Said::GaveUp { why, .. } => Some(why),
            Said::Merged { .. } => None,
        });
        why.collect()
    }

    /// Waits until nothing waits and nothing is under way.
    pub(crate) async fn quiet(&self) {
        until("all jobs to end", || self.notifier.open() == 0).await;
    }
}
