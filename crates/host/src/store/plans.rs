//! Versions of plans.
//!
//! Owns their numbers, and which approvals presented which. Invariants: the versions of a session count from 1 without a
//! gap; the same text twice in a row is one version, with an approval for each time it was presented.

use rusqlite::{Connection, OptionalExtension as _, Row};

use super::StoreError;
use crate::control::{ApprovalId, SessionId};

/// A version as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanRow {
    /// From 1.
    pub number: u32,
    /// The approval it was presented with first.
    pub approval: Option<ApprovalId>,
    /// When.
    pub at: u64,
    /// Who wrote it: `agent`, or a person.
    pub by: String,
    /// The text.
    pub text: String,
}

impl PlanRow {
    fn of(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            number: row.get("number")?,
            approval: row.get("approval")?,
            at: row.get("at")?,
            by: row.get("by")?,
            text: row.get("text")?,
        })
    }
}

/// Keeps a version, and gives its number: that of the last one, if it says the same.
///
/// # Errors
/// When its session is not there.
pub fn add(
    connection: &Connection,
    session: SessionId,
    approval: Option<ApprovalId>,
    at: u64,
    by: &str,
    text: &str,
) -> Result<u32, StoreError> {
    if let Some(approval) = approval
        && let Some(known) = of_approval(connection, session, approval)?
        && known.by == by
    {
        return Ok(known.number);
    }
    let last = newest(connection, session)?;
    if let Some(last) = &last
        && last.text == text
        && last.by == by
    {
        present(connection, session, approval, last.number, at)?;
        return Ok(last.number);
    }
    let number = last.map_or(0, |last| last.number) + 1;
    let sql = "INSERT INTO plans (session, number, approval, at, by, text) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let mut insert = connection.prepare_cached(sql)?;
    insert.execute((session, number, approval, at, by, text))?;
    present(connection, session, approval, number, at)?;
    Ok(number)
}

/// An approval presents the version that it came with first, whatever a person makes of it.
fn present(
    connection: &Connection,
    session: SessionId,
    approval: Option<ApprovalId>,
    number: u32,
    at: u64,
) -> Result<(), StoreError> {
    let Some(approval) = approval else {
        return Ok(());
    };
    let sql = "INSERT INTO presented (session, approval, number, at) VALUES (?1, ?2, ?3, ?4)
               ON CONFLICT (session, approval) DO NOTHING";
    let mut insert = connection.prepare_cached(sql)?;
    insert.execute((session, approval, number, at))?;
    Ok(())
}

fn one(
    connection: &Connection,
    which: &str,
    values: impl rusqlite::Params,
) -> Result<Option<PlanRow>, StoreError> {
    let sql = format!("SELECT * FROM plans WHERE {which}");
    let mut plans = connection.prepare_cached(&sql)?;
    Ok(plans.query_row(values, PlanRow::of).optional()?)
}

/// The newest version.
///
/// # Errors
/// When the database fails.
pub fn newest(connection: &Connection, session: SessionId) -> Result<Option<PlanRow>, StoreError> {
    let which = "session = ?1 ORDER BY number DESC LIMIT 1";
    one(connection, which, [session])
}

/// The version that was presented with an approval.
///
/// # Errors
/// When the database fails.
pub fn of_approval(
    connection: &Connection,
    session: SessionId,
    approval: ApprovalId,
) -> Result<Option<PlanRow>, StoreError> {
    let which = "session = ?1 AND number = (SELECT number FROM presented WHERE session = ?1 AND approval = ?2)";
    one(connection, which, (session, approval))
}

/// Which approvals presented which version, oldest first.
///
/// # Errors
/// When the database fails.
pub fn presented(
    connection: &Connection,
    session: SessionId,
) -> Result<Vec<(u32, ApprovalId)>, StoreError> {
    let sql = "SELECT number, approval FROM presented WHERE session = ?1 ORDER BY rowid";
    let mut presented = connection.prepare_cached(sql)?;
    let rows = presented.query_map([session], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// All versions, oldest first.
///
/// # Errors
/// When the database fails.
pub fn list(connection: &Connection, session: SessionId) -> Result<Vec<PlanRow>, StoreError> {
    let sql = "SELECT * FROM plans WHERE session = ?1 ORDER BY number";
    let mut plans = connection.prepare_cached(sql)?;
    let rows = plans.query_map([session], PlanRow::of)?;
    Ok(rows.collect::<Result<_, _>>()?)
}
