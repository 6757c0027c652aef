//! Rules that people made by a decision.
//!
//! Owns their rows. What a rule means is policy's business; here it is text with an effect and a scope. Invariant: a rule
//! of a session goes with it.

use rusqlite::{Connection, OptionalExtension as _, Row};
use serde::{Deserialize, Serialize};

use super::StoreError;
use super::value::Json;
use crate::control::approval::Scope;
use crate::control::{ApprovalId, RuleEffect, SessionId};

/// A rule that is to be kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewRule {
    /// Where it holds.
    pub scope: Scope,
    /// The session it holds in, for [`Scope::Session`].
    pub session: Option<SessionId>,
    /// The top folder of the repository it holds in, for [`Scope::Repository`].
    pub repository: Option<String>,
    /// What it says.
    pub effect: RuleEffect,
    /// The rule, in Claude Code's language.
    pub rule: String,
    /// Until when: microseconds of Unix time.
    pub expires: Option<u64>,
    /// Who made it.
    pub by: String,
    /// From which client.
    pub client: String,
    /// When.
    pub at: u64,
    /// The approval it was made with.
    pub approval: Option<ApprovalId>,
    /// Why it is there.
    pub note: Option<String>,
}

/// A rule as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleRow {
    /// Its number.
    pub id: u64,
    /// What it is.
    #[serde(flatten)]
    pub rule: NewRule,
}

impl RuleRow {
    fn of(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            id: row.get("id")?,
            rule: NewRule {
                scope: row.get::<_, Json<_>>("scope")?.0,
                session: row.get("session")?,
                repository: row.get("repository")?,
                effect: row.get::<_, Json<_>>("effect")?.0,
                rule: row.get("rule")?,
                expires: row.get("expires")?,
                by: row.get("by")?,
                client: row.get("client")?,
                at: row.get("at")?,
                approval: row.get("approval")?,
                note: row.get("note")?,
            },
        })
    }
}

/// Keeps a rule, and gives its number.
///
/// # Errors
/// When a rule of a session names none, or one of a repository no folder.
pub fn add(connection: &Connection, rule: &NewRule) -> Result<u64, StoreError> {
    let is_placed = match rule.scope {
        Scope::Session => rule.session.is_some(),
        Scope::Repository => rule.repository.is_some(),
        Scope::Always => true,
    };
    if !is_placed {
        return Err(StoreError::Invalid(
            "the rule does not say in which session or repository it holds".to_owned(),
        ));
    }
    let sql = "INSERT INTO rules (scope, session, repository, effect, rule, expires, by, client, at, approval, note)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) RETURNING id";
    let mut insert = connection.prepare_cached(sql)?;
    let values = (
        Json(rule.scope),
        rule.session,
        &rule.repository,
        Json(rule.effect),
        &rule.rule,
        rule.expires,
        &rule.by,
        &rule.client,
        rule.at,
        rule.approval,
        &rule.note,
    );
    Ok(insert.query_row(values, |row| row.get(0))?)
}

/// The rules of a session hold in another one from now on, too.
///
/// # Errors
/// When the database fails.
pub fn inherit(connection: &Connection, from: SessionId, to: SessionId) -> Result<(), StoreError> {
    let sql = "INSERT INTO rules (scope, session, repository, effect, rule, expires, by, client, at, approval, note)
               SELECT scope, ?2, repository, effect, rule, expires, by, client, at, approval, note
               FROM rules WHERE scope = ?3 AND session = ?1 ORDER BY id";
    let mut insert = connection.prepare_cached(sql)?;
    insert.execute((from, to, Json(Scope::Session)))?;
    Ok(())
}

/// The rules that hold for a session in this repository now, oldest first: its own, the repository's, and those that
/// always hold.
///
/// # Errors
/// When the database fails.
pub fn holding(
    connection: &Connection,
    session: SessionId,
    repository: Option<&str>,
    now: u64,
) -> Result<Vec<RuleRow>, StoreError> {
    let sql = "SELECT * FROM rules WHERE (expires IS NULL OR expires > ?3)
               AND ((scope = ?4 AND session = ?1) OR (scope = ?5 AND repository = ?2) OR scope = ?6) ORDER BY id";
    let mut rules = connection.prepare_cached(sql)?;
    let scopes = (
        Json(Scope::Session),
        Json(Scope::Repository),
        Json(Scope::Always),
    );
    let values = (session, repository, now, scopes.0, scopes.1, scopes.2);
    let rows = rules.query_map(values, RuleRow::of)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// All rules, oldest first; those whose time is over, too.
///
/// # Errors
/// When the database fails.
pub fn all(connection: &Connection) -> Result<Vec<RuleRow>, StoreError> {
    let mut rules = connection.prepare_cached("SELECT * FROM rules ORDER BY id")?;
    let rows = rules.query_map([], RuleRow::of)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// One rule.
///
/// # Errors
/// When there is none.
pub fn get(connection: &Connection, id: u64) -> Result<RuleRow, StoreError> {
    let mut rules = connection.prepare_cached("SELECT * FROM rules WHERE id = ?1")?;
    let found = rules.query_row([id], RuleRow::of).optional()?;
    found.ok_or_else(|| StoreError::not_found("rule", id))
}

/// A rule says something else from now on. Where it holds and who made it stays.
///
/// # Errors
/// When there is none.
pub fn change(connection: &Connection, id: u64, rule: &NewRule) -> Result<(), StoreError> {
    let sql = "UPDATE rules SET effect = ?2, rule = ?3, expires = ?4, note = ?5 WHERE id = ?1";
    let values = (id, Json(rule.effect), &rule.rule, rule.expires, &rule.note);
    match connection.prepare_cached(sql)?.execute(values)? {
        0 => Err(StoreError::not_found("rule", id)),
        _ => Ok(()),
    }
}

/// Takes a rule back.
///
/// # Errors
/// When there is none.
pub fn remove(connection: &Connection, id: u64) -> Result<(), StoreError> {
    let mut delete = connection.prepare_cached("DELETE FROM rules WHERE id = ?1")?;
    match delete.execute([id])? {
        0 => Err(StoreError::not_found("rule", id)),
        _ => Ok(()),
    }
}
