//! Approvals: what was asked, what was decided, what is to be delivered.
//!
//! Owns their rows and the pages of them. The question comes from a record of the journal, so it may be put again when the
//! journal is read again. Invariants: an approval is decided once, by whoever saw what is asked; a question that is put
//! again leaves the decision alone.

use rusqlite::{Connection, OptionalExtension as _, Row, ToSql, named_params};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::value::{Columns, Json};
use super::{StoreError, page};
use crate::approval::KeptFile;
use crate::control::approval::{Asker, Decided, Effect, Kind, Life, Offer};
use crate::control::{ApprovalFilter, ApprovalId, Digest, Page, SessionId};

/// An approval as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct ApprovalRow {
    /// Its id.
    pub id: ApprovalId,
    /// Its session.
    pub session: SessionId,
    /// The generation that asked.
    pub generation: u32,
    /// The record of the question.
    pub seq: u64,
    /// Its name on the wire.
    pub request_id: String,
    /// What kind of control request it is.
    pub subtype: String,
    /// What kind of question it is.
    pub kind: Kind,
    /// The tool, or the server.
    pub tool: String,
    /// The call it is about.
    pub tool_use_id: Option<String>,
    /// The input, or the form.
    pub input: Value,
    /// The file that the call would change, as it was.
    pub file: Option<KeptFile>,
    /// What must be named to decide.
    pub digest: Digest,
    /// Who asks, outermost first.
    pub path: Vec<Asker>,
    /// Why policy asks.
    pub reason: String,
    /// What the CLI says about it.
    pub remark: Option<String>,
    /// What may be chosen beside yes and no.
    pub offers: Vec<Offer>,
    /// Where it is in its life.
    pub life: Life,
    /// When it was asked.
    pub asked: u64,
    /// When it is denied by itself.
    pub expires: Option<u64>,
    /// The decision.
    pub decided: Option<Decided>,
    /// The answer that is to be delivered, as JSON.
    pub answer: Option<Value>,
}

impl ApprovalRow {
    /// A question as its record has it, before anybody had a say.
    pub(crate) fn asked(
        session: SessionId,
        generation: u32,
        seq: u64,
        at: u64,
        asked: &crate::approval::Asked,
    ) -> Self {
        Self {
            id: ApprovalId::of(session, generation, seq, at),
            session,
            generation,
            seq,
            request_id: asked.request_id.clone(),
            subtype: asked.subtype.clone(),
            kind: asked.kind,
            tool: asked.tool.clone(),
            tool_use_id: asked.tool_use_id.clone(),
            input: asked.input.clone(),
            file: None,
            digest: crate::approval::digest(asked),
            path: Vec::new(),
            reason: String::new(),
            remark: asked.remark.clone(),
            offers: Vec::new(),
            life: Life::Open,
            asked: at,
            expires: None,
            decided: None,
            answer: None,
        }
    }

    /// A rule has decided it, and the journal does not know yet.
    pub(crate) fn is_decided_by_rule(&self) -> bool {
        self.life == Life::Decided && self.answer.is_none()
    }

    /// The input that the agent is sent, where whoever allowed the call edited it.
    pub(crate) fn edited_input(&self) -> Option<Value> {
        let decided = self.decided.as_ref()?;
        let edited = decided.decision.get("updated_input")?;
        let is_edit = decided.effect == Effect::Allow && !edited.is_null();
        (is_edit && *edited != self.input).then(|| edited.clone())
    }

    fn of(row: &Row<'_>) -> rusqlite::Result<Self> {
        let mut columns = Columns::of(row);
        Ok(Self {
            id: columns.next()?,
            session: columns.next()?,
            generation: columns.next()?,
            seq: columns.next()?,
            request_id: columns.next()?,
            subtype: columns.next()?,
            kind: columns.next_json()?,
            tool: columns.next()?,
            tool_use_id: columns.next()?,
            input: columns.next_json()?,
            digest: columns.next()?,
            path: columns.next_json()?,
            reason: columns.next()?,
            remark: columns.next()?,
            offers: columns.next_json()?,
            life: columns.next_json()?,
            asked: columns.next()?,
            expires: columns.next()?,
            decided: columns.next::<Option<Json<_>>>()?.map(|it| it.0),
            answer: columns.next::<Option<Json<_>>>()?.map(|it| it.0),
            file: columns.next::<Option<Json<_>>>()?.map(|it| it.0),
        })
    }
}

/// The columns of an [`ApprovalRow`], in the order in which they are read.
const COLUMNS: &str = "id, session, generation, seq, request_id, subtype, kind, tool, tool_use_id, input, digest, path, reason,
    remark, offers, life, asked, expires, decided, answer, file";

/// A question that is there already stays as it is, with its life and its decision.
const ADDED: &str = "INSERT INTO approvals (id, session, generation, seq, request_id, subtype, kind, tool,
    tool_use_id, input, digest, path, reason, remark, offers, life, life_name, asked, expires, decided, answer, file)
    VALUES (:id, :session, :generation, :seq, :request_id, :subtype, :kind, :tool, :tool_use_id, :input, :digest, :path,
    :reason, :remark, :offers, :life, :life_name, :asked, :expires, :decided, :answer, :file)
    ON CONFLICT (id) DO NOTHING";

/// Puts a question. True: it is new.
///
/// # Errors
/// When its session is not there.
pub fn insert(connection: &Connection, row: &ApprovalRow) -> Result<bool, StoreError> {
    let mut insert = connection.prepare_cached(ADDED)?;
    let added = insert.execute(named_params! {
        ":id": row.id, ":session": row.session, ":generation": row.generation, ":seq": row.seq,
        ":request_id": row.request_id, ":subtype": row.subtype, ":kind": Json(row.kind), ":tool": row.tool,
        ":tool_use_id": row.tool_use_id, ":input": Json(&row.input), ":digest": row.digest, ":path": Json(&row.path),
        ":reason": row.reason, ":remark": row.remark, ":offers": Json(&row.offers), ":life": Json(&row.life),
        ":life_name": row.life.name(), ":asked": row.asked, ":expires": row.expires,
        ":decided": row.decided.as_ref().map(Json), ":answer": row.answer.as_ref().map(Json),
        ":file": row.file.as_ref().map(Json),
    })?;
    Ok(added > 0)
}

/// One approval, if there is one.
///
/// # Errors
/// When the database fails.
pub fn find(connection: &Connection, id: ApprovalId) -> Result<Option<ApprovalRow>, StoreError> {
    let mut approvals =
        connection.prepare_cached(&format!("SELECT {COLUMNS} FROM approvals WHERE id = ?1"))?;
    Ok(approvals.query_row([id], ApprovalRow::of).optional()?)
}

/// One approval.
///
/// # Errors
/// When there is none.
pub fn get(connection: &Connection, id: ApprovalId) -> Result<ApprovalRow, StoreError> {
    find(connection, id)?.ok_or_else(|| StoreError::not_found("approval", id))
}

/// Decides, once: the first decision holds, and only on what was seen. The answer waits to be delivered.
///
/// # Errors
/// [`StoreError::Stale`], [`StoreError::AlreadyDecided`], [`StoreError::Withdrawn`].
pub fn decide(
    connection: &Connection,
    id: ApprovalId,
    saw: &Digest,
    decided: &Decided,
    answer: Option<&Value>,
) -> Result<ApprovalRow, StoreError> {
    let mut row = get(connection, id)?;
    if let Some(first) = row.decided {
        let first = Box::new(first);
        return Err(StoreError::AlreadyDecided { id, first });
    }
    if row.life != Life::Open {
        return Err(StoreError::Withdrawn(id));
    }
    if row.digest != *saw {
        return Err(StoreError::Stale(row.digest));
    }
    row.life = Life::Decided;
    row.decided = Some(decided.clone());
    row.answer = answer.cloned();
    save(connection, &row)?;
    Ok(row)
}

/// Stores what may change of an approval: its life, its decision and answer, and what policy says about it. What was
/// asked never changes.
///
/// # Errors
/// When there is none.
pub fn save(connection: &Connection, row: &ApprovalRow) -> Result<(), StoreError> {
    let sql = "UPDATE approvals SET life = :life, life_name = :life_name, decided = :decided, answer = :answer,
               expires = :expires, path = :path, reason = :reason, remark = :remark, offers = :offers,
               file = :file WHERE id = :id";
    let changed = connection.prepare_cached(sql)?.execute(named_params! {
        ":id": row.id, ":life": Json(&row.life), ":life_name": row.life.name(),
        ":decided": row.decided.as_ref().map(Json), ":answer": row.answer.as_ref().map(Json),
        ":expires": row.expires, ":path": Json(&row.path), ":reason": row.reason, ":remark": row.remark,
        ":offers": Json(&row.offers), ":file": row.file.as_ref().map(Json),
    })?;
    match changed {
        0 => Err(StoreError::not_found("approval", row.id)),
        _ => Ok(()),
    }
}

/// Stores where an approval is in its life.
///
/// # Errors
/// When there is none.
pub fn set_life(connection: &Connection, id: ApprovalId, life: &Life) -> Result<(), StoreError> {
    let sql = "UPDATE approvals SET life = ?2, life_name = ?3 WHERE id = ?1";
    let changed = connection
        .prepare_cached(sql)?
        .execute((id, Json(life), life.name()))?;
    match changed {
        0 => Err(StoreError::not_found("approval", id)),
        _ => Ok(()),
    }
}

pub(super) fn some(
    connection: &Connection,
    which: &str,
    values: impl rusqlite::Params,
) -> Result<Vec<ApprovalRow>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM approvals WHERE {which}");
    let mut approvals = connection.prepare_cached(&sql)?;
    let rows = approvals.query_map(values, ApprovalRow::of)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The question of this name, in this generation of a session.
///
/// # Errors
/// When the database fails.
pub fn by_request(
    connection: &Connection,
    session: SessionId,
    generation: u32,
    request_id: &str,
) -> Result<Option<ApprovalRow>, StoreError> {
    let which = "session = ?1 AND generation = ?2 AND request_id = ?3 ORDER BY seq DESC LIMIT 1";
    Ok(some(connection, which, (session, generation, request_id))?.pop())
}

/// The newest question about a call.
///
/// # Errors
/// When the database fails.
pub fn by_call(
    connection: &Connection,
    session: SessionId,
    tool_use_id: &str,
) -> Result<Option<ApprovalRow>, StoreError> {
    let which = "session = ?1 AND tool_use_id = ?2 ORDER BY generation DESC, seq DESC LIMIT 1";
    Ok(some(connection, which, (session, tool_use_id))?.pop())
}

/// All approvals of a session that are not at the end of their life: open, decided or written. Oldest first.
///
/// # Errors
/// When the database fails.
pub fn unsettled(
    connection: &Connection,
    session: SessionId,
) -> Result<Vec<ApprovalRow>, StoreError> {
    let which = "session = ?1 AND life_name IN ('open', 'decided', 'written') ORDER BY asked, id";
    some(connection, which, [session])
}

/// The last calls of a session that were let write a file whose path holds this, oldest first.
///
/// # Errors
/// When the database fails.
pub fn writes(
    connection: &Connection,
    session: SessionId,
    part: &str,
) -> Result<Vec<ApprovalRow>, StoreError> {
    let which = "session = ?1 AND tool IN ('Write', 'Edit', 'MultiEdit') AND life_name IN ('written', 'settled')
                 AND instr(input, ?2) > 0 ORDER BY asked DESC, id DESC LIMIT 64";
    let mut rows = some(connection, which, (session, part))?;
    rows.reverse();
    Ok(rows)
}

/// Whether a session has an approval that something follows from by itself: one that is decided and has not reached its
/// agent, or an open one that expires.
///
/// # Errors
/// When the database fails.
pub fn has_business(connection: &Connection, session: SessionId) -> Result<bool, StoreError> {
    let sql = "SELECT EXISTS (SELECT 1 FROM approvals WHERE session = ?1
               AND (life_name = 'decided' OR (life_name = 'open' AND expires IS NOT NULL)))";
    Ok(connection
        .prepare_cached(sql)?
        .query_row([session], |row| row.get(0))?)
}

/// Open approvals that ask the same kind of thing of the same session: same kind, same tool. Oldest first.
///
/// # Errors
/// When there is none of that id.
pub fn alike(connection: &Connection, id: ApprovalId) -> Result<Vec<ApprovalRow>, StoreError> {
    let one = get(connection, id)?;
    let which =
        "session = ?1 AND kind = ?2 AND tool = ?3 AND life_name = 'open' ORDER BY asked, id";
    some(connection, which, (one.session, Json(one.kind), one.tool))
}

/// Takes out the questions of a session behind a record: those that a loss of power took from the journal.
///
/// # Errors
/// When the database fails.
pub fn forget_behind(
    connection: &Connection,
    session: SessionId,
    generation: u32,
    seq: u64,
) -> Result<usize, StoreError> {
    let sql = "DELETE FROM approvals WHERE session = ?1 AND (generation, seq) > (?2, ?3)";
    Ok(connection
        .prepare_cached(sql)?
        .execute((session, generation, seq))?)
}

/// A place in the list: among the open ones or behind them, when it was asked, which.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Place(bool, u64, ApprovalId);

/// Of a session that is in the trash: nobody is asked, and nothing can be decided until it is restored.
pub(super) const IN_TRASH: &str =
    "EXISTS (SELECT 1 FROM sessions WHERE sessions.id = approvals.session AND trashed IS NOT NULL)";

/// A page of approvals: oldest open first, then the others, newest first. Open ones of sessions in the trash are listed for
/// whoever asks for that session.
///
/// # Errors
/// When `after` is no place in this list.
pub fn list(
    connection: &Connection,
    filter: &ApprovalFilter,
) -> Result<Page<ApprovalRow>, StoreError> {
    let size = page::size(filter.most);
    let after: Option<Place> = page::place(filter.after.as_deref())?;
    let wants = |name: &str| filter.life.as_deref().is_none_or(|life| life == name);
    let mut rows = Vec::new();
    if wants("open") && after.is_none_or(|Place(is_open, ..)| is_open) {
        rows = part(connection, filter, true, after, size + 1)?;
    }
    let left = size + 1 - rows.len();
    if left > 0 && filter.life.as_deref() != Some("open") {
        let after = after.filter(|Place(is_open, ..)| !is_open);
        rows.extend(part(connection, filter, false, after, left)?);
    }
    Ok(page::page(rows, size, |row| {
        Place(row.life == Life::Open, row.asked, row.id)
    }))
}

/// Some of the open ones, or of the others.
fn part(
    connection: &Connection,
    filter: &ApprovalFilter,
    is_open: bool,
    after: Option<Place>,
    most: usize,
) -> Result<Vec<ApprovalRow>, StoreError> {
    let (open, behind, order) = match is_open {
        true => ("=", ">", "asked, id"),
        false => ("<>", "<", "asked DESC, id DESC"),
    };
    let mut which = format!("life_name {open} 'open'");
    let mut values: Vec<Box<dyn ToSql>> = Vec::new();
    match filter.session {
        Some(session) => {
            which += " AND session = ?";
            values.push(Box::new(session));
        }
        None if is_open => which += &format!(" AND NOT {IN_TRASH}"),
        None => {}
    }
    if let Some(life) = &filter.life {
        which += " AND life_name = ?";
        values.push(Box::new(life.clone()));
    }
    if let Some(Place(_, asked, id)) = after {
        which += &format!(" AND (asked, id) {behind} (?, ?)");
        values.push(Box::new(asked));
        values.push(Box::new(id));
    }
    which += &format!(" ORDER BY {order} LIMIT {most}");
    some(connection, &which, rusqlite::params_from_iter(values))
}
