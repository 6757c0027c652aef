//! Sessions.
//!
//! Owns the rows that stand for sessions. State, reason and cursor follow from the journal; name, setup and mode are a
//! person's. Invariants: a row is changed whole, inside of one job; no two live sessions share a conversation.

use std::borrow::Cow;
use std::path::PathBuf;

use countersign_journal::Cursor;
use rusqlite::{Connection, OptionalExtension as _, Row, ToSql, named_params};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::value::{Columns, Json, Text, path_text};
use super::{StoreError, indexed, page, shelf};
use crate::control::session::Setup;
use crate::control::{Mode, Page, SessionFilter, SessionId, SessionView, State};

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
    /// The secret of its keeper, where an earlier build drew one. What this one starts has one made from `host.key`.
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
        let mut columns = Columns::of(row);
        Ok(Self {
            id: columns.next()?,
            name: columns.next()?,
            cwd: columns.next::<String>()?.into(),
            setup: columns.next_json()?,
            mode: columns.next_json()?,
            core: columns.next_json()?,
            state: columns.next_json()?,
            reason: columns.next()?,
            since: columns.next()?,
            cut_off: columns.next()?,
            queue_held: columns.next()?,
            live: columns.next()?,
            conversation: columns.next()?,
            version: columns.next()?,
            model: columns.next()?,
            generation: columns.next()?,
            token: columns.next()?,
            cursor: columns.next::<Text<_>>()?.0,
            cost_usd: columns.next()?,
            created: columns.next()?,
            last_activity: columns.next()?,
            parent: columns.next()?,
            origin: columns.next()?,
            archived: columns.next()?,
            trashed: columns.next()?,
            worktree: columns.next::<Option<Json<_>>>()?.map(|it| it.0),
        })
    }
}

/// The columns of a [`SessionRow`], in the order in which they are read.
const COLUMNS: &str = "id, name, cwd, setup, mode, core, state, reason, since, cut_off, queue_held, live, conversation,
    version, model, generation, token, cursor, cost_usd, created, last_activity, parent, origin, archived, trashed,
    worktree";

/// The columns of a session in a list, in the order in which they are read, and what belongs to it, counted.
const LISTED: &str = "SELECT id, name, cwd, state, reason, since, cut_off, mode, model, version, conversation, generation,
    (SELECT count(*) FROM approvals WHERE session = sessions.id AND life_name = 'open'),
    (SELECT count(*) FROM queue WHERE session = sessions.id AND going_n IS NULL),
    queue_held, core, cost_usd, setup, created, last_activity, parent, origin, archived, trashed, worktree
    FROM sessions";

/// What a list tells of a session's core. The rest of it is passed over, not read.
#[derive(Deserialize)]
struct Glance<'a> {
    #[serde(default, borrow)]
    last: Option<Cow<'a, str>>,
    #[serde(default, borrow)]
    context: Option<&'a RawValue>,
}

/// The same of a setup.
#[derive(Deserialize)]
struct Allowance {
    #[serde(default)]
    budget_usd: Option<f64>,
}

/// The same of a worktree.
#[derive(Deserialize)]
struct Branch {
    #[serde(default)]
    branch: Option<String>,
    #[serde(default)]
    repo: Option<RepoFolder>,
}

/// The folder of the repository of a worktree.
#[derive(Deserialize)]
struct RepoFolder(#[serde(with = "crate::trash::path_text")] PathBuf);

/// A session as clients see it, but for what its context has to say.
#[derive(Debug, Clone, PartialEq)]
pub struct Listed {
    /// Without `context_percent`.
    pub view: SessionView,
    /// What is kept of its context, as JSON.
    pub context: Option<String>,
}

impl Listed {
    fn of(row: &Row<'_>) -> rusqlite::Result<Self> {
        let mut columns = Columns::of(row);
        let mut view = SessionView {
            id: columns.next()?,
            name: columns.next()?,
            cwd: columns.next::<String>()?.into(),
            state: columns.next_json()?,
            reason: columns.next()?,
            since: columns.next()?,
            cut_off: columns.next()?,
            mode: columns.next_json()?,
            model: columns.next()?,
            version: columns.next()?,
            conversation: columns.next()?,
            generation: columns.next()?,
            open_approvals: columns.next()?,
            queued: columns.next()?,
            queue_held: columns.next()?,
            last_line: None,
            context_percent: None,
            cost_usd: 0.0,
            budget_usd: None,
            created: 0,
            last_activity: 0,
            parent: None,
            origin: None,
            archived: false,
            trashed: None,
            branch: None,
            repository: None,
        };
        let glance = columns.next_borrowed::<Option<Glance<'_>>>()?;
        let (last, context) = glance.map_or((None, None), |it| (it.last, it.context));
        view.last_line = last.map(Cow::into_owned);
        view.cost_usd = columns.next()?;
        view.budget_usd = columns.next_json::<Allowance>()?.budget_usd;
        view.created = columns.next()?;
        view.last_activity = columns.next()?;
        view.parent = columns.next()?;
        view.origin = columns.next()?;
        view.archived = columns.next()?;
        view.trashed = columns.next()?;
        let worktree = columns.next::<Option<Json<Branch>>>()?;
        if let Some(Json(worktree)) = worktree {
            view.branch = worktree.branch;
            // A client gets text: a name that is none is left out.
            view.repository = worktree.repo.map(|it| it.0);
            view.repository.take_if(|it| it.to_str().is_none());
        }
        let context = context.map(|it| it.get().to_owned());
        Ok(Self { view, context })
    }
}

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
    let mut sessions =
        connection.prepare_cached(&format!("SELECT {COLUMNS} FROM sessions WHERE id = ?1"))?;
    Ok(sessions.query_row([id], SessionRow::of).optional()?)
}

/// One session.
///
/// # Errors
/// When there is none.
pub fn get(connection: &Connection, id: SessionId) -> Result<SessionRow, StoreError> {
    find(connection, id)?.ok_or_else(|| StoreError::not_found("session", id))
}

/// One session as clients see it.
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
    let mut sessions =
        connection.prepare_cached(&format!("SELECT {COLUMNS} FROM sessions ORDER BY id"))?;
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
    let sql = format!("SELECT {COLUMNS} FROM sessions WHERE conversation = ?1 ORDER BY id");
    let mut sessions = connection.prepare_cached(&sql)?;
    let rows = sessions.query_map([conversation], SessionRow::of)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// A page of sessions as clients see them, newest activity first.
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
    let mut sessions = connection.prepare_cached(&sql)?;
    let rows = sessions.query_map(rusqlite::params_from_iter(values), Listed::of)?;
    let listed = rows.collect::<Result<Vec<_>, _>>()?;
    Ok(page::page(listed, size, |listed| {
        (listed.view.last_activity, listed.view.id)
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
    indexed::forget(connection, id)?;
    shelf::clear(connection, id)?;
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
