//! Templates of sessions, and comments on plans that are not sent yet.
//!
//! Owns their rows. Invariant: the drafts of a plan go with its approval.

use rusqlite::{Connection, OptionalExtension as _};

use super::StoreError;
use super::value::Json;
use crate::control::approval::Comment;
use crate::control::{ApprovalId, Drafts, Template, TemplateView};

/// All templates, by name.
///
/// # Errors
/// When the database fails.
pub fn templates(connection: &Connection) -> Result<Vec<TemplateView>, StoreError> {
    let sql = "SELECT name, at, by, value FROM templates ORDER BY name";
    let mut templates = connection.prepare_cached(sql)?;
    let rows = templates.query_map([], |row| {
        Ok(TemplateView {
            name: row.get(0)?,
            at: row.get(1)?,
            by: row.get(2)?,
            template: row.get::<_, Json<_>>(3)?.0,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Puts a template in place of the one of its name.
///
/// # Errors
/// When the database fails.
pub fn put_template(
    connection: &Connection,
    name: &str,
    at: u64,
    by: &str,
    template: &Template,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO templates (name, at, by, value) VALUES (?1, ?2, ?3, ?4)
               ON CONFLICT (name) DO UPDATE SET at = excluded.at, by = excluded.by, value = excluded.value";
    let mut insert = connection.prepare_cached(sql)?;
    insert.execute((name, at, by, Json(template)))?;
    Ok(())
}

/// Takes a template away.
///
/// # Errors
/// When there is none.
pub fn remove_template(connection: &Connection, name: &str) -> Result<(), StoreError> {
    let mut delete = connection.prepare_cached("DELETE FROM templates WHERE name = ?1")?;
    match delete.execute([name])? {
        0 => Err(StoreError::not_found("template", name)),
        _ => Ok(()),
    }
}

/// The comments on a plan that are not sent yet.
///
/// # Errors
/// When the database fails.
pub fn drafts(connection: &Connection, approval: ApprovalId) -> Result<Drafts, StoreError> {
    let sql = "SELECT at, by, value FROM drafts WHERE approval = ?1";
    let mut drafts = connection.prepare_cached(sql)?;
    let found = drafts.query_row([approval], |row| {
        Ok(Drafts {
            at: row.get(0)?,
            by: row.get(1)?,
            comments: row.get::<_, Json<_>>(2)?.0,
        })
    });
    Ok(found.optional()?.unwrap_or_default())
}

/// The comments on a plan are these; none of them takes them away.
///
/// # Errors
/// When there is no such approval.
pub fn put_drafts(
    connection: &Connection,
    approval: ApprovalId,
    at: u64,
    by: &str,
    comments: &[Comment],
) -> Result<(), StoreError> {
    if comments.is_empty() {
        let mut delete = connection.prepare_cached("DELETE FROM drafts WHERE approval = ?1")?;
        delete.execute([approval])?;
        return Ok(());
    }
    let sql = "INSERT INTO drafts (approval, at, by, value) VALUES (?1, ?2, ?3, ?4)
               ON CONFLICT (approval) DO UPDATE SET at = excluded.at, by = excluded.by, value = excluded.value";
    let mut insert = connection.prepare_cached(sql)?;
    insert.execute((approval, at, by, Json(comments)))?;
    Ok(())
}
