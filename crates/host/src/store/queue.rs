//! Messages that wait for their turn.
//!
//! Owns their order. A message that goes keeps its row until the journal has it, out of sight of the queue, so that it
//! is neither lost nor sent twice when something ends half-way. Invariants: a message is in the queue once; those that
//! stay keep their order, whatever is done to one of them.

use rusqlite::{Connection, OptionalExtension as _, Row};
use serde_json::Value;

use super::StoreError;
use super::value::Json;
use crate::control::{Message, MessageId, Queued, SessionId};

/// Who sends the word to go on after a crash.
pub const BY_CRASH: &str = "countersign, after a crash";

/// A message as it waits.
#[derive(Debug, Clone, PartialEq)]
pub struct QueuedRow {
    /// The message.
    pub message: Message,
    /// To which session.
    pub session: SessionId,
    /// When it was sent.
    pub at: u64,
    /// Who sent it.
    pub by: String,
    /// It is on its way: the generation, and its number in the outbox.
    pub going: Option<(u32, u64)>,
}

impl QueuedRow {
    fn of(row: &Row<'_>) -> rusqlite::Result<Self> {
        let (generation, n) = (row.get("going_generation")?, row.get("going_n")?);
        Ok(Self {
            message: Message {
                id: row.get("id")?,
                text: row.get("text")?,
                blocks: row.get::<_, Json<Vec<Value>>>("blocks")?.0,
            },
            session: row.get("session")?,
            at: row.get("at")?,
            by: row.get("by")?,
            going: Option::zip(generation, n),
        })
    }

    /// As a client sees it.
    pub fn view(&self) -> Queued {
        Queued {
            id: self.message.id,
            text: self.message.text.clone(),
            blocks: self.message.blocks.len(),
            at: self.at,
            by: self.by.clone(),
        }
    }
}

fn place(
    connection: &Connection,
    sql: &str,
    session: SessionId,
) -> Result<Option<i64>, StoreError> {
    Ok(connection
        .prepare_cached(sql)?
        .query_row([session], |row| row.get(0))?)
}

fn last(connection: &Connection, session: SessionId) -> Result<i64, StoreError> {
    let sql = "SELECT max(place) FROM queue WHERE session = ?1";
    Ok(place(connection, sql, session)?.unwrap_or(0))
}

fn first(connection: &Connection, session: SessionId) -> Result<i64, StoreError> {
    let sql = "SELECT min(place) FROM queue WHERE session = ?1";
    Ok(place(connection, sql, session)?.unwrap_or(0))
}

fn put(
    connection: &Connection,
    session: SessionId,
    message: &Message,
    place: i64,
    at: u64,
    by: &str,
) -> Result<bool, StoreError> {
    let sql = "INSERT INTO queue (id, session, place, text, blocks, at, by) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
               ON CONFLICT (id) DO NOTHING";
    let blocks = Json(&message.blocks);
    let added = connection.prepare_cached(sql)?.execute((
        message.id,
        session,
        place,
        &message.text,
        blocks,
        at,
        by,
    ))?;
    if added == 0 {
        // One of another session would be lost without a word.
        get(connection, session, message.id).map_err(|_| taken(message.id))?;
    }
    Ok(added > 0)
}

fn taken(id: MessageId) -> StoreError {
    let (what, id) = ("message", id.to_string());
    StoreError::Taken { what, id }
}

/// Puts a message behind all others, as it was sent. Sent again as it is, it is one message.
///
/// # Errors
/// When its session is not there, or something else was sent under its id.
pub fn send(
    connection: &Connection,
    session: SessionId,
    message: &Message,
    at: u64,
    by: &str,
) -> Result<(), StoreError> {
    let is_new = push(connection, session, message, at, by)?;
    if !is_new && get(connection, session, message.id)?.message != *message {
        return Err(taken(message.id));
    }
    Ok(())
}

/// Puts a message behind all others. False: it is there already.
///
/// # Errors
/// When its session is not there, or another one has a message of that id.
pub fn push(
    connection: &Connection,
    session: SessionId,
    message: &Message,
    at: u64,
    by: &str,
) -> Result<bool, StoreError> {
    let place = last(connection, session)? + 1;
    put(connection, session, message, place, at, by)
}

/// Puts a message in front of all others. False: it is there already.
///
/// # Errors
/// When its session is not there, or another one has a message of that id.
pub fn push_front(
    connection: &Connection,
    session: SessionId,
    message: &Message,
    at: u64,
    by: &str,
) -> Result<bool, StoreError> {
    let place = first(connection, session)? - 1;
    put(connection, session, message, place, at, by)
}

/// Puts a message in front of all others, in the place of one of its id that waits with another text.
///
/// # Errors
/// When its session is not there, or a message of another one has that id.
pub fn put_anew(
    connection: &Connection,
    session: SessionId,
    message: &Message,
    at: u64,
    by: &str,
) -> Result<bool, StoreError> {
    let sql = "DELETE FROM queue WHERE id = ?1 AND session = ?2 AND going_n IS NULL";
    connection
        .prepare_cached(sql)?
        .execute((message.id, session))?;
    push_front(connection, session, message, at, by)
}

fn some(
    connection: &Connection,
    which: &str,
    values: impl rusqlite::Params,
) -> Result<Vec<QueuedRow>, StoreError> {
    let sql = format!("SELECT * FROM queue WHERE {which}");
    let mut queue = connection.prepare_cached(&sql)?;
    let rows = queue.query_map(values, QueuedRow::of)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The messages that wait, first to go first.
///
/// # Errors
/// When the database fails.
pub fn list(connection: &Connection, session: SessionId) -> Result<Vec<QueuedRow>, StoreError> {
    let which = "session = ?1 AND going_n IS NULL ORDER BY place, id";
    some(connection, which, [session])
}

/// Their ids, first to go first.
///
/// # Errors
/// When the database fails.
pub fn ids(connection: &Connection, session: SessionId) -> Result<Vec<MessageId>, StoreError> {
    let sql = "SELECT id FROM queue WHERE session = ?1 AND going_n IS NULL ORDER BY place, id";
    let mut queue = connection.prepare_cached(sql)?;
    let ids = queue.query_map([session], |row| row.get(0))?;
    Ok(ids.collect::<Result<_, _>>()?)
}

/// The messages that are on their way, in the order of their numbers.
///
/// # Errors
/// When the database fails.
pub fn going(connection: &Connection, session: SessionId) -> Result<Vec<QueuedRow>, StoreError> {
    let which = "session = ?1 AND going_n IS NOT NULL ORDER BY going_generation, going_n";
    some(connection, which, [session])
}

/// A message of a session, waiting or on its way.
///
/// # Errors
/// When there is none.
pub fn get(
    connection: &Connection,
    session: SessionId,
    id: MessageId,
) -> Result<QueuedRow, StoreError> {
    let found = some(connection, "id = ?1 AND session = ?2", (id, session))?.pop();
    found.ok_or_else(|| StoreError::not_found("queued message", id))
}

/// A message of a session that waits.
///
/// # Errors
/// When there is none, or it is on its way.
pub fn waiting(
    connection: &Connection,
    session: SessionId,
    id: MessageId,
) -> Result<QueuedRow, StoreError> {
    let row = get(connection, session, id)?;
    match row.going {
        None => Ok(row),
        Some(_) => Err(StoreError::not_found("waiting message", id)),
    }
}

/// What waits can be changed; what is on its way cannot.
fn changed(count: usize, id: MessageId) -> Result<(), StoreError> {
    match count {
        0 => Err(StoreError::not_found("waiting message", id)),
        _ => Ok(()),
    }
}

/// Gives a waiting message another text.
///
/// # Errors
/// When it does not wait.
pub fn edit(
    connection: &Connection,
    session: SessionId,
    id: MessageId,
    text: &str,
) -> Result<(), StoreError> {
    let sql = "UPDATE queue SET text = ?3 WHERE id = ?1 AND session = ?2 AND going_n IS NULL";
    let count = connection
        .prepare_cached(sql)?
        .execute((id, session, text))?;
    changed(count, id)
}

/// Takes a waiting message out, and gives it.
///
/// # Errors
/// When it does not wait.
pub fn remove(
    connection: &Connection,
    session: SessionId,
    id: MessageId,
) -> Result<QueuedRow, StoreError> {
    let sql = "DELETE FROM queue WHERE id = ?1 AND session = ?2 AND going_n IS NULL RETURNING *";
    let mut queue = connection.prepare_cached(sql)?;
    let row = queue.query_row((id, session), QueuedRow::of).optional()?;
    row.ok_or_else(|| StoreError::not_found("waiting message", id))
}

/// Puts a waiting message in front of another one; behind all others without one.
///
/// # Errors
/// When one of them does not wait.
pub fn move_before(
    connection: &Connection,
    session: SessionId,
    id: MessageId,
    before: Option<MessageId>,
) -> Result<(), StoreError> {
    let mut order = ids(connection, session)?;
    let from = order.iter().position(|known| *known == id);
    order.remove(from.ok_or_else(|| StoreError::not_found("waiting message", id))?);
    let to = match before {
        // In front of itself it is where it was.
        Some(before) if before == id => return Ok(()),
        Some(before) => order.iter().position(|known| *known == before),
        None => Some(order.len()),
    };
    let to = to.ok_or_else(|| {
        let id = before.unwrap_or(id);
        StoreError::not_found("waiting message", id)
    })?;
    order.insert(to, id);
    let mut number = connection.prepare_cached("UPDATE queue SET place = ?2 WHERE id = ?1")?;
    for (id, place) in order.iter().zip(1_i64..) {
        number.execute((id, place))?;
    }
    Ok(())
}

/// Puts a waiting message behind another one, if that waits, too.
///
/// # Errors
/// When it does not wait itself.
pub fn move_behind(
    connection: &Connection,
    session: SessionId,
    id: MessageId,
    other: Option<MessageId>,
) -> Result<(), StoreError> {
    let mut order = ids(connection, session)?;
    order.retain(|known| *known != id);
    let place = other.and_then(|other| order.iter().position(|known| *known == other));
    match place {
        Some(place) => move_before(connection, session, id, order.get(place + 1).copied()),
        None => Ok(()),
    }
}

/// A message is on its way under this number. Nothing happens if it never waited.
pub(super) fn goes(
    connection: &Connection,
    session: SessionId,
    id: MessageId,
    generation: u32,
    n: u64,
) -> Result<(), StoreError> {
    let sql = "UPDATE queue SET going_generation = ?3, going_n = ?4 WHERE id = ?1 AND session = ?2";
    let mut queue = connection.prepare_cached(sql)?;
    queue.execute((id, session, generation, n))?;
    Ok(())
}

/// The journal has a message: it is no longer ours to keep.
pub(super) fn arrived(
    connection: &Connection,
    session: SessionId,
    generation: u32,
    n: u64,
) -> Result<(), StoreError> {
    let sql = "DELETE FROM queue WHERE session = ?1 AND going_generation = ?2 AND going_n = ?3";
    let mut queue = connection.prepare_cached(sql)?;
    queue.execute((session, generation, n))?;
    Ok(())
}

/// A message that its agent gave back waits again, in front of the others. A word that it has arrived may still come: it
/// takes nothing away then.
///
/// # Errors
/// When its session is not there, or another one has a message of that id.
pub fn put_back(
    connection: &Connection,
    session: SessionId,
    message: &Message,
    at: u64,
    by: &str,
) -> Result<(), StoreError> {
    if push_front(connection, session, message, at, by)? {
        return Ok(());
    }
    let place = first(connection, session)? - 1;
    let sql = "UPDATE queue SET going_generation = NULL, going_n = NULL, place = ?2
               WHERE id = ?1 AND going_n IS NOT NULL";
    connection
        .prepare_cached(sql)?
        .execute((message.id, place))?;
    Ok(())
}

/// Messages that were on their way to an agent that never got them wait again, in front of the others. Gives how many.
///
/// # Errors
/// When the database fails.
pub fn give_back(
    connection: &Connection,
    session: SessionId,
    generation: u32,
) -> Result<usize, StoreError> {
    let coming = going(connection, session)?;
    let coming = coming.iter().filter(|row| {
        let of = row.going.map(|(of, _)| of);
        of.is_some_and(|of| of <= generation)
    });
    let coming: Vec<MessageId> = coming.map(|row| row.message.id).collect();
    let front = first(connection, session)?;
    let sql = "UPDATE queue SET going_generation = NULL, going_n = NULL, place = ?2 WHERE id = ?1";
    let mut queue = connection.prepare_cached(sql)?;
    for (id, back) in coming.iter().rev().zip(1_i64..) {
        queue.execute((id, front - back))?;
    }
    Ok(coming.len())
}
