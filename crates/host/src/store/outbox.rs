//! Lines on their way to keepers, by number.
//!
//! Owns the numbers: within a session they follow each other without a gap, over all its agents, as keepers want them. A
//! line is stored before it goes, and its bytes go when the journal has them. Numbers of an earlier generation that its
//! keeper never took are free again, so only those of the present one count. Invariants: a line has its number before it
//! is handed in, and keeps it; a message leaves the queue in the same transaction.

use rusqlite::{Connection, Row};
use serde::{Deserialize, Serialize};

use super::value::Json;
use super::{StoreError, queue};
use crate::control::{MessageId, SessionId};

#[cfg(unix)]
pub use super::kept::StoredOutbox;

/// What a line is. After a crash each kind has its own rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LineKind {
    /// A message of a person.
    Message,
    /// The first words between the two.
    Initialize,
    /// The turn is to end.
    Interrupt,
    /// Another mode.
    SetMode,
    /// Another model.
    SetModel,
    /// Another request.
    Request,
    /// Something else.
    Other,
}

/// What of a line tells its kind.
#[derive(Deserialize)]
struct Head<'a> {
    #[serde(borrow, rename = "type")]
    kind: std::borrow::Cow<'a, str>,
    #[serde(borrow, default)]
    uuid: Option<std::borrow::Cow<'a, str>>,
    #[serde(borrow, default)]
    request: Option<Request<'a>>,
}

#[derive(Deserialize)]
struct Request<'a> {
    #[serde(borrow)]
    subtype: std::borrow::Cow<'a, str>,
}

/// What a line is, and which message it carries.
fn kind_of(line: &[u8]) -> (LineKind, Option<MessageId>) {
    let Ok(head) = serde_json::from_slice::<Head<'_>>(line) else {
        return (LineKind::Other, None);
    };
    let subtype = head.request.map(|request| request.subtype);
    let kind = match (&*head.kind, subtype.as_deref()) {
        ("user", _) => LineKind::Message,
        ("control_request", Some("initialize")) => LineKind::Initialize,
        ("control_request", Some("interrupt")) => LineKind::Interrupt,
        ("control_request", Some("set_permission_mode")) => LineKind::SetMode,
        ("control_request", Some("set_model")) => LineKind::SetModel,
        ("control_request", _) => LineKind::Request,
        _ => LineKind::Other,
    };
    let message = head.uuid.filter(|_| kind == LineKind::Message);
    (kind, message.and_then(|uuid| MessageId::of_uuid(&uuid)))
}

/// What became of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SettledAs {
    /// The journal has it, and the agent's stdin.
    Written,
    /// The keeper does not take it: the agent ends.
    Refused,
}

/// A line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutboxRow {
    /// Whose.
    pub session: SessionId,
    /// For which agent of it.
    pub generation: u32,
    /// Its number.
    pub n: u64,
    /// What it is.
    pub kind: LineKind,
    /// The message it carries.
    pub message: Option<MessageId>,
    /// Its bytes, without the newline; none once the journal has them.
    pub line: Option<Vec<u8>>,
    /// What became of it, once that is known.
    pub settled: Option<SettledAs>,
}

impl OutboxRow {
    fn of(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            session: row.get("session")?,
            generation: row.get("generation")?,
            n: row.get("n")?,
            kind: row.get::<_, Json<_>>("kind")?.0,
            message: row.get("message")?,
            line: row.get("line")?,
            settled: row.get::<_, Option<Json<_>>>("settled")?.map(|it| it.0),
        })
    }
}

/// Stores a line under the next number: one more than the last of this generation, and than what its keeper has. The
/// message it carries is no longer in the queue then.
///
/// # Errors
/// When its session is not there.
pub fn enter(
    connection: &Connection,
    session: SessionId,
    generation: u32,
    last_n: u64,
    line: &[u8],
) -> Result<u64, StoreError> {
    let sql = "SELECT max(n) FROM outbox WHERE session = ?1 AND generation = ?2";
    let mut newest = connection.prepare_cached(sql)?;
    let newest: Option<u64> = newest.query_row((session, generation), |row| row.get(0))?;
    let n = newest.unwrap_or(0).max(last_n) + 1;
    let (kind, message) = kind_of(line);
    let sql = "INSERT INTO outbox (session, generation, n, kind, message, line) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let mut insert = connection.prepare_cached(sql)?;
    insert.execute((session, generation, n, Json(kind), message, line))?;
    if let Some(message) = message {
        queue::goes(connection, session, message, generation, n)?;
    }
    Ok(n)
}

/// Whether a line that was just entered asks again after a crash.
///
/// # Errors
/// When the database fails.
pub fn asks_again(
    connection: &Connection,
    session: SessionId,
    generation: u32,
    n: u64,
) -> Result<bool, StoreError> {
    let sql = "SELECT EXISTS (SELECT 1 FROM outbox JOIN queue ON queue.id = outbox.message
               WHERE outbox.session = ?1 AND outbox.generation = ?2 AND outbox.n = ?3 AND queue.by = ?4)";
    let mut asked = connection.prepare_cached(sql)?;
    Ok(asked.query_row((session, generation, n, queue::BY_CRASH), |row| row.get(0))?)
}

/// What became of one line. A line that is not there was settled before.
///
/// # Errors
/// When the database fails.
pub fn settle(
    connection: &Connection,
    session: SessionId,
    generation: u32,
    n: u64,
    how: SettledAs,
) -> Result<(), StoreError> {
    let sql = match how {
        SettledAs::Written => {
            "UPDATE outbox SET settled = ?4, line = NULL WHERE session = ?1 AND generation = ?2 AND n = ?3"
        }
        SettledAs::Refused => {
            "UPDATE outbox SET settled = ?4 WHERE session = ?1 AND generation = ?2 AND n = ?3"
        }
    };
    let mut update = connection.prepare_cached(sql)?;
    update.execute((session, generation, n, Json(how)))?;
    if how == SettledAs::Written {
        queue::arrived(connection, session, generation, n)?;
        // Only the newest number is needed to count on from.
        let sql =
            "DELETE FROM outbox WHERE session = ?1 AND generation = ?2 AND n < ?3 AND settled = ?4";
        let mut older = connection.prepare_cached(sql)?;
        older.execute((session, generation, n, Json(how)))?;
    }
    Ok(())
}

/// The keeper of this generation has everything up to this number.
///
/// # Errors
/// When the database fails.
pub fn settle_up_to(
    connection: &Connection,
    session: SessionId,
    generation: u32,
    last_n: u64,
) -> Result<(), StoreError> {
    for row in unsettled(connection, session, generation)? {
        if row.n <= last_n {
            settle(connection, session, generation, row.n, SettledAs::Written)?;
        }
    }
    Ok(())
}

fn some(
    connection: &Connection,
    which: &str,
    values: impl rusqlite::Params,
) -> Result<Vec<OutboxRow>, StoreError> {
    let sql = format!("SELECT * FROM outbox WHERE {which} ORDER BY generation, n");
    let mut outbox = connection.prepare_cached(&sql)?;
    let rows = outbox.query_map(values, OutboxRow::of)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The lines for this agent of which nobody knows what became of them, by number.
///
/// # Errors
/// When the database fails.
pub fn unsettled(
    connection: &Connection,
    session: SessionId,
    generation: u32,
) -> Result<Vec<OutboxRow>, StoreError> {
    let which = "session = ?1 AND generation = ?2 AND settled IS NULL";
    some(connection, which, (session, generation))
}

/// The lines for agents up to this generation that never reached one, by number: those nobody knows of, and those that
/// were refused.
///
/// # Errors
/// When the database fails.
pub fn left_over(
    connection: &Connection,
    session: SessionId,
    generation: u32,
) -> Result<Vec<OutboxRow>, StoreError> {
    let which = "session = ?1 AND generation <= ?2 AND line IS NOT NULL";
    some(connection, which, (session, generation))
}

/// Forgets the lines for agents up to this generation: they are gone, and what was to be done about the lines is done.
///
/// # Errors
/// When the database fails.
pub fn forget(
    connection: &Connection,
    session: SessionId,
    generation: u32,
) -> Result<(), StoreError> {
    let sql = "DELETE FROM outbox WHERE session = ?1 AND generation <= ?2";
    let mut delete = connection.prepare_cached(sql)?;
    delete.execute((session, generation))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_known_by_what_it_says() {
        let id = MessageId::new(5_000, 9);
        let user = format!(r#"{{"type":"user","uuid":"{}","message":{{}}}}"#, id.uuid());
        assert_eq!(kind_of(user.as_bytes()), (LineKind::Message, Some(id)));
        let request = |subtype| {
            let text = format!(
                r#"{{"type":"control_request","request_id":"1","request":{{"subtype":"{subtype}"}}}}"#
            );
            kind_of(text.as_bytes()).0
        };
        assert_eq!(request("interrupt"), LineKind::Interrupt);
        assert_eq!(request("initialize"), LineKind::Initialize);
        assert_eq!(request("set_permission_mode"), LineKind::SetMode);
        assert_eq!(request("set_model"), LineKind::SetModel);
        assert_eq!(request("rewind_files"), LineKind::Request);
        assert_eq!(kind_of(b"[]"), (LineKind::Other, None));
        assert_eq!(kind_of(br#"{"type":"user"}"#), (LineKind::Message, None));
    }
}
