//! Sessions.
//!
//! Owns the rows that stand for sessions. State, reason and cursor follow from the journal; name, setup and mode are a
//! person's. Invariants: a row is changed whole, inside of one job; no two live sessions share a conversation.

use std::path::PathBuf;

use countersign_journal::Cursor;
use rusqlite::{Connection, OptionalExtension as _, Row, ToSql, named_params};
use serde_json::Value;

use super::value::{Json, Text, path_text};
use super::{StoreError, page, search, shelf, usage};
use crate::control::session::Setup;
use crate::control::{Mode, Page, SessionFilter, SessionId, State};

/// A session as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionRow {
    /// Its id.
    pub id: SessionId,
    /// Its name.
    pub name: String,
    /// The folder it works in.
    pub cwd: PathBuf,
    /// How its agents are started.
    pub setup: Setup,
    /// The mode it is in.
    pub mode: Mode,
    /// The state of its core, as JSON.
    pub core: Value,
    /// How it stands.
    pub state: State,
    /// Why, in a sentence.
    pub reason: String,
    /// When it came to that.
    pub since: u64,
    /// The last turn was cut off.
    pub cut_off: bool,
    /// The queue waits for a person's word.
    pub queue_held: bool,
    /// An agent of it may run. Set before one is started, cleared when it is proved gone.
    pub live: bool,
    /// The id of the conversation in the CLI.
    pub conversation: Option<String>,
    /// The version of the CLI.
    pub version: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// Which start of its agent it is at; 0 before the first.
    pub generation: u32,
    /// The secret by which a host attaches to its keeper.
    pub token: String,
    /// So far the journal is in the database.
    pub cursor: Cursor,
    /// What it has cost, in US dollars.
    pub cost_usd: f64,
    /// When it was made.
    pub created: u64,
    /// When anything last happened.
    pub last_activity: u64,
    /// The session it came from.
    pub parent: Option<SessionId>,
    /// How it came from there.
    pub origin: Option<String>,
    /// Out of sight.
    pub archived: bool,
    /// In the trash since then.
    pub trashed: Option<u64>,
    /// Its worktree, as JSON.
    pub worktree: Option<Value>,
}

impl SessionRow {
    /// A session that nothing has happened in yet.
    pub fn new(id: SessionId, cwd: PathBuf, setup: Setup, now: u64) -> Self {
        Self {
            id,
            name: setup.name.clone().unwrap_or_default(),
            cwd,
            mode: setup.mode,
            model: setup.model.clone(),
            setup,
            core: Value::Null,
            state: State::Queued,
            reason: "It is about to be started.".to_owned(),
            since: now,
            cut_off: false,
            queue_held: false,
            live: false,
            conversation: None,
            version: None,
            generation: 0,
            token: String::new(),
            cursor: Cursor::START,
            cost_usd: 0.0,
            created: now,
            last_activity: now,
            parent: None,
            origin: None,
            archived: false,
            trashed: None,
            worktree: None,
        }
    }

    /// The mode while no agent is there. Hands-off that was chosen at the start waits for the first one; what was given to
    /// one that has gone is over.
    pub(crate) fn resting_mode(&self) -> Mode {
        match self.generation {
            0 => self.mode,
            _ => self.mode.for_next_agent(),
        }
    }

    fn of(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            id: row.get("id")?,
            name: row.get("name")?,
            cwd: row.get::<_, String>("cwd")?.into(),
            setup: row.get::<_, Json<_>>("setup")?.0,
            mode: row.get::<_, Json<_>>("mode")?.0,
            core: row.get::<_, Json<_>>("core")?.0,
            state: row.get::<_, Json<_>>("state")?.0,
            reason: row.get("reason")?,
            since: row.get("since")?,
            cut_off: row.get("cut_off")?,
            queue_held: row.get("queue_held")?,
            live: row.get("live")?,
            conversation: row.get("conversation")?,
            version: row.get("version")?,
            model: row.get("model")?,
            generation: row.get("generation")?,
            token: row.get("token")?,
            cursor: row.get::<_, Text<_>>("cursor")?.0,
            cost_usd: row.get("cost_usd")?,
            created: row.get("created")?,
            last_activity: row.get("last_activity")?,
            parent: row.get("parent")?,
            origin: row.get("origin")?,
            archived: row.get("archived")?,
            trashed: row.get("trashed")?,
            worktree: row
                .get::<_, Option<Json<_>>>("worktree")?
                .map(|worktree| worktree.0),
        })
    }
}

/// A session with what belongs to it, counted.
#[derive(Debug, Clone, PartialEq)]
pub struct Listed {
    /// The session.
    pub row: SessionRow,
    /// Open approvals.
    pub open_approvals: u32,
    /// Messages that wait.
    pub queued: u32,
}

impl Listed {
    fn of(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            row: SessionRow::of(row)?,
            open_approvals: row.get("open_approvals")?,
            queued: row.get("queued")?,
        })
    }
}

/// A session and what belongs to it.
const LISTED: &str = "SELECT sessions.*,
    (SELECT count(*) FROM approvals WHERE session = sessions.id AND life_name = 'open') AS open_approvals,
    (SELECT count(*) FROM queue WHERE session = sessions.id AND going_n IS NULL) AS queued
    FROM sessions";

const ADDED: &str = "INSERT INTO sessions (id, name, cwd, setup, mode, core, state, state_name, reason, since, cut_off,
    queue_held, live, conversation, version, model, generation, token, cursor, cost_usd, created, last_activity, parent,
    origin, archived, trashed, worktree) VALUES (:id, :name, :cwd, :setup, :mode, :core, :state, :state_name, :reason,
    :since, :cut_off, :queue_held, :live, :conversation, :version, :model, :generation, :token, :cursor, :cost_usd,
    :created, :last_activity, :parent, :origin, :archived, :trashed, :worktree)";

const CHANGED: &str = "UPDATE sessions SET (name, cwd, setup, mode, core, state, state_name, reason, since,
    cut_off, queue_held, live, conversation, version, model, generation, token, cursor, cost_usd, created, last_activity,
    parent, origin, archived, trashed, worktree) = (:name, :cwd, :setup, :mode, :core, :state, :state_name, :reason,
    :since, :cut_off, :queue_held, :live, :conversation, :version, :model, :generation, :token, :cursor, :cost_usd,
    :created, :last_activity, :parent, :origin, :archived, :trashed, :worktree) WHERE id = :id";

fn put(connection: &Connection, sql: &str, row: &SessionRow) -> Result<usize, StoreError> {
    let cwd = path_text(&row.cwd)?;
    let done = connection.prepare_cached(sql)?.execute(named_params! {
        ":id": row.id, ":name": row.name, ":cwd": cwd, ":setup": Json(&row.setup), ":mode": Json(&row.mode),
        ":core": Json(&row.core), ":state": Json(&row.state), ":state_name": row.state.name(), ":reason": row.reason,
        ":since": row.since, ":cut_off": row.cut_off, ":queue_held": row.queue_held, ":live": row.live,
        ":conversation": row.conversation, ":version": row.version, ":model": row.model,
        ":generation": row.generation, ":token": row.token, ":cursor": Text(row.cursor), ":cost_usd": row.cost_usd,
        ":created": row.created, ":last_activity": row.last_activity, ":parent": row.parent, ":origin": row.origin,
        ":archived": row.archived, ":trashed": row.trashed, ":worktree": row.worktree.as_ref().map(Json),
    });
    done.map_err(|error| match StoreError::from(error) {
        StoreError::Sqlite { message, .. } if message.contains("sessions.conversation") => {
            StoreError::ConversationLive(row.conversation.clone().unwrap_or_default())
        }
        StoreError::Sqlite { message, .. } if message.contains("sessions.id") => {
            let (what, id) = ("session", row.id.to_string());
            StoreError::Taken { what, id }
        }
        error => error,
    })
}

/// A new session.
///
/// # Errors
/// When there is one of that id, or its conversation runs in another one.
pub fn insert(connection: &Connection, row: &SessionRow) -> Result<(), StoreError> {
    put(connection, ADDED, row).map(drop)
}

/// Puts the whole row in place of the one of its id.
///
/// # Errors
/// When there is none, or its conversation runs in another session.
pub fn save(connection: &Connection, row: &SessionRow) -> Result<(), StoreError> {
    match put(connection, CHANGED, row)? {
        0 => Err(StoreError::not_found("session", row.id)),
        _ => Ok(()),
    }
}

/// Changes a row, and gives it as it is then.
///
/// # Errors
/// When there is none, or the change is refused.
pub fn change(
    connection: &Connection,
    id: SessionId,
    change: impl FnOnce(&mut SessionRow),
) -> Result<SessionRow, StoreError> {
    let mut row = get(connection, id)?;
    change(&mut row);
    row.id = id;
    save(connection, &row)?;
    Ok(row)
}

/// One session, if there is one.
///
/// # Errors
/// When the database fails.
pub fn find(connection: &Connection, id: SessionId) -> Result<Option<SessionRow>, StoreError> {
    let mut sessions = connection.prepare_cached("SELECT * FROM sessions WHERE id = ?1")?;
    Ok(sessions.query_row([id], SessionRow::of).optional()?)
}

/// One session.
///
/// # Errors
/// When there is none.
pub fn get(connection: &Connection, id: SessionId) -> Result<SessionRow, StoreError> {
    find(connection, id)?.ok_or_else(|| StoreError::not_found("session", id))
}

/// One session with what belongs to it, counted.
///
/// # Errors
/// When there is none.
pub fn listed(connection: &Connection, id: SessionId) -> Result<Listed, StoreError> {
    let sql = format!("{LISTED} WHERE id = ?1");
    let mut sessions = connection.prepare_cached(&sql)?;
    let listed = sessions.query_row([id], Listed::of).optional()?;
    listed.ok_or_else(|| StoreError::not_found("session", id))
}

/// The sessions whose agents do nothing, for longest first. Whether one can be put to sleep it knows itself.
///
/// # Errors
/// When the database fails.
pub fn idle(connection: &Connection) -> Result<Vec<SessionId>, StoreError> {
    let sql = "SELECT id FROM sessions WHERE live = 1
               AND state_name IN ('idle', 'failed', 'not_signed_in', 'paused') ORDER BY last_activity, id";
    let mut sessions = connection.prepare_cached(sql)?;
    let ids = sessions.query_map([], |row| row.get(0))?;
    Ok(ids.collect::<Result<_, _>>()?)
}

/// All sessions, oldest first; those in the trash, too.
///
/// # Errors
/// When the database fails.
pub fn all(connection: &Connection) -> Result<Vec<SessionRow>, StoreError> {
    let mut sessions = connection.prepare_cached("SELECT * FROM sessions ORDER BY id")?;
    let rows = sessions.query_map([], SessionRow::of)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The sessions that have had this conversation, oldest first. At most one of them is live.
///
/// # Errors
/// When the database fails.
pub fn by_conversation(
    connection: &Connection,
    conversation: &str,
) -> Result<Vec<SessionRow>, StoreError> {
    let sql = "SELECT * FROM sessions WHERE conversation = ?1 ORDER BY id";
    let mut sessions = connection.prepare_cached(sql)?;
    let rows = sessions.query_map([conversation], SessionRow::of)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// A page of sessions, newest activity first.
///
/// # Errors
/// When `after` is no place in this list.
pub fn list(connection: &Connection, filter: &SessionFilter) -> Result<Page<Listed>, StoreError> {
    let size = page::size(filter.most);
    let after: Option<(u64, SessionId)> = page::place(filter.after.as_deref())?;
    let mut sql = format!(
        "{LISTED} WHERE trashed IS {}NULL",
        match filter.trashed {
            true => "NOT ",
            false => "",
        }
    );
    let mut values: Vec<Box<dyn ToSql>> = Vec::new();
    if !filter.archived && !filter.trashed {
        sql += " AND archived = 0";
    }
    if !filter.states.is_empty() {
        let marks = vec!["?"; filter.states.len()].join(", ");
        sql += &format!(" AND state_name IN ({marks})");
        for state in &filter.states {
            values.push(Box::new(state.clone()));
        }
    }
    if let Some((at, id)) = after {
        sql += " AND (last_activity, id) < (?, ?)";
        values.push(Box::new(at));
        values.push(Box::new(id));
    }
    sql += &format!(" ORDER BY last_activity DESC, id DESC LIMIT {}", size + 1);
    let mut sessions = connection.prepare(&sql)?;
    let rows = sessions.query_map(rusqlite::params_from_iter(values), Listed::of)?;
    let listed = rows.collect::<Result<Vec<_>, _>>()?;
    Ok(page::page(listed, size, |listed| {
        (listed.row.last_activity, listed.row.id)
    }))
}

/// So far the journal is in the database. To be set in the job that put it there.
///
/// # Errors
/// When there is no such session.
pub fn set_cursor(connection: &Connection, id: SessionId, to: Cursor) -> Result<(), StoreError> {
    let mut change = connection.prepare_cached("UPDATE sessions SET cursor = ?2 WHERE id = ?1")?;
    match change.execute((id, Text(to)))? {
        0 => Err(StoreError::not_found("session", id)),
        _ => Ok(()),
    }
}

/// Throws away what the journal of a session can give again, and begins before its first record. Approvals and plans
/// stay: they are put again as they are.
///
/// # Errors
/// When there is no such session.
pub fn forget_derived(connection: &Connection, id: SessionId) -> Result<(), StoreError> {
    usage::clear(connection, id)?;
    shelf::clear(connection, id)?;
    search::remove(connection, id)?;
    set_cursor(connection, id, Cursor::START)
}

/// Takes a session and everything that hangs on it out of the database. What it has cost stays.
///
/// # Errors
/// When the database fails.
pub fn delete(connection: &Connection, id: SessionId) -> Result<(), StoreError> {
    connection
        .prepare_cached("DELETE FROM sessions WHERE id = ?1")?
        .execute([id])?;
    Ok(())
}
