//! A folder with a database in it, and what every suite puts into it.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use countersign_host::control::approval::{Kind, Life};
use countersign_host::control::session::Setup;
use countersign_host::control::{ApprovalId, Digest, Message, MessageId, SessionId};
use countersign_host::store::approvals::ApprovalRow;
use countersign_host::store::sessions::SessionRow;
use countersign_host::store::{Connection, Durability, Store, StoreError, sessions, settings};
use serde_json::json;

/// How long a test waits for something that must come.
pub(crate) const DEADLINE: Duration = Duration::from_secs(30);

/// A folder that goes with the test.
pub(crate) struct Stage {
    folder: tempfile::TempDir,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { folder }
    }

    pub(crate) fn dir(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.folder.path().join("host.db")
    }

    pub(crate) fn store(&self) -> Store {
        Store::open(&self.file()).unwrap()
    }
}

/// Waits until it is so.
pub(crate) fn until(what: &str, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + DEADLINE;
    while !is_so() {
        assert!(Instant::now() < deadline, "never came: {what}");
        std::thread::yield_now();
    }
}

/// Does something in one job.
pub(crate) fn write<T: Send + 'static>(
    store: &Store,
    job: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
) -> T {
    store.write_blocking(Durability::Full, job).unwrap()
}

/// Does something that must be refused.
pub(crate) fn refused<T: Send + std::fmt::Debug + 'static>(
    store: &Store,
    job: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
) -> StoreError {
    store.write_blocking(Durability::Full, job).unwrap_err()
}

/// Asks.
pub(crate) fn read<T>(
    store: &Store,
    question: impl FnOnce(&Connection) -> Result<T, StoreError>,
) -> T {
    store.read_blocking(question).unwrap()
}

/// Sets a setting, as the smallest write there is.
pub(crate) fn set(key: &str) -> impl FnOnce(&Connection) -> Result<(), StoreError> + use<> {
    let key = key.to_owned();
    move |connection| settings::set(connection, &key, &true)
}

/// Whether it is set.
pub(crate) fn is_set(store: &Store, key: &str) -> bool {
    read(store, |connection| settings::get::<bool>(connection, key)).is_some()
}

pub(crate) fn session_id(number: u64) -> SessionId {
    SessionId::new(number * 1000, 0)
}

pub(crate) fn message(number: u64) -> Message {
    Message {
        id: MessageId::new(number * 1000, 0),
        text: format!("message {number}"),
        blocks: Vec::new(),
    }
}

/// A session of this number, active at that moment.
pub(crate) fn session_row(number: u64) -> SessionRow {
    let setup = Setup {
        name: Some(format!("session {number}")),
        ..Setup::default()
    };
    SessionRow::new(session_id(number), "/project".into(), setup, number)
}

/// Stores sessions of these numbers.
pub(crate) fn with_sessions(store: &Store, numbers: impl IntoIterator<Item = u64>) {
    let rows: Vec<SessionRow> = numbers.into_iter().map(session_row).collect();
    write(store, move |connection| {
        rows.iter()
            .try_for_each(|row| sessions::insert(connection, row))
    });
}

/// The question in this record of a session, asked at that moment.
pub(crate) fn approval_row(session: SessionId, seq: u64) -> ApprovalRow {
    let input = json!({"command": format!("make {seq}")});
    ApprovalRow {
        id: ApprovalId::of(session, 1, seq, seq),
        session,
        generation: 1,
        seq,
        request_id: format!("request-{seq}"),
        subtype: "can_use_tool".to_owned(),
        kind: Kind::Tool,
        tool: "Bash".to_owned(),
        tool_use_id: Some(format!("call-{seq}")),
        digest: Digest::of(input.to_string().as_bytes()),
        input,
        path: Vec::new(),
        reason: "no rule decides it".to_owned(),
        remark: None,
        offers: Vec::new(),
        life: Life::Open,
        asked: seq,
        expires: None,
        decided: None,
        answer: None,
        file: None,
    }
}
