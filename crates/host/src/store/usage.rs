//! What was spent, and the sums of sessions.
//!
//! Owns the counts by day and model, kept for each session, so that they can be made again from its journal. What was
//! spent stays when a session goes. Invariant: putting the same journal again after [`clear`] gives the same sums.

use countersign_transcript::Totals;
use rusqlite::{Connection, OptionalExtension as _, Row};

use super::StoreError;
use super::value::Json;
use crate::control::{SessionId, Spent, Usage};

fn spent(row: &Row<'_>) -> rusqlite::Result<Spent> {
    Ok(Spent {
        day: row.get("day")?,
        model: row.get("model")?,
        cost_usd: row.get("cost_usd")?,
        turns: row.get("turns")?,
        input_tokens: row.get("input_tokens")?,
        output_tokens: row.get("output_tokens")?,
        cache_read_tokens: row.get("cache_read_tokens")?,
        cache_creation_tokens: row.get("cache_creation_tokens")?,
    })
}

/// Adds to what a session has spent on a day with a model.
///
/// # Errors
/// When the database fails.
pub fn add(connection: &Connection, session: SessionId, more: &Spent) -> Result<(), StoreError> {
    let sql = "INSERT INTO usage (session, day, model, cost_usd, turns, input_tokens, output_tokens, cache_read_tokens,
               cache_creation_tokens) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
               ON CONFLICT (session, day, model) DO UPDATE SET
               cost_usd = cost_usd + excluded.cost_usd, turns = turns + excluded.turns,
               input_tokens = input_tokens + excluded.input_tokens,
               output_tokens = output_tokens + excluded.output_tokens,
               cache_read_tokens = cache_read_tokens + excluded.cache_read_tokens,
               cache_creation_tokens = cache_creation_tokens + excluded.cache_creation_tokens";
    let mut add = connection.prepare_cached(sql)?;
    add.execute((
        session,
        &more.day,
        &more.model,
        more.cost_usd,
        more.turns,
        more.input_tokens,
        more.output_tokens,
        more.cache_read_tokens,
        more.cache_creation_tokens,
    ))?;
    Ok(())
}

const SUMS: &str =
    "day, model, sum(cost_usd) AS cost_usd, sum(turns) AS turns, sum(input_tokens) AS input_tokens,
    sum(output_tokens) AS output_tokens, sum(cache_read_tokens) AS cache_read_tokens,
    sum(cache_creation_tokens) AS cache_creation_tokens";

fn some(
    connection: &Connection,
    which: &str,
    values: impl rusqlite::Params,
) -> Result<Usage, StoreError> {
    let sql =
        format!("SELECT {SUMS} FROM usage WHERE {which} GROUP BY day, model ORDER BY day, model");
    let mut usage = connection.prepare_cached(&sql)?;
    let rows = usage.query_map(values, spent)?;
    let days = rows.collect::<Result<Vec<Spent>, _>>()?;
    Ok(Usage {
        // A sum of floats begins at minus zero.
        cost_usd: days.iter().fold(0.0, |sum, spent| sum + spent.cost_usd),
        days,
    })
}

/// What all sessions have spent since a day (`2026-01-31`, in UTC), that day counted.
///
/// # Errors
/// When the database fails.
pub fn since(connection: &Connection, day: &str) -> Result<Usage, StoreError> {
    some(connection, "day >= ?1", [day])
}

/// What one session has spent.
///
/// # Errors
/// When the database fails.
pub fn of_session(connection: &Connection, session: SessionId) -> Result<Usage, StoreError> {
    some(connection, "session = ?1", [session])
}

/// Forgets what a session has spent and its sums, to make them again from its journal.
///
/// # Errors
/// When the database fails.
pub fn clear(connection: &Connection, session: SessionId) -> Result<(), StoreError> {
    for sql in [
        "DELETE FROM usage WHERE session = ?1",
        "DELETE FROM totals WHERE session = ?1",
    ] {
        connection.prepare_cached(sql)?.execute([session])?;
    }
    Ok(())
}

/// Stores the sums of a session.
///
/// # Errors
/// When its session is not there.
pub fn set_totals(
    connection: &Connection,
    session: SessionId,
    totals: &Totals,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO totals (session, totals) VALUES (?1, ?2)
               ON CONFLICT (session) DO UPDATE SET totals = excluded.totals";
    let mut set = connection.prepare_cached(sql)?;
    set.execute((session, Json(totals)))?;
    Ok(())
}

/// The sums of a session; none before its first record.
///
/// # Errors
/// When the database fails.
pub fn totals(connection: &Connection, session: SessionId) -> Result<Totals, StoreError> {
    let sql = "SELECT totals FROM totals WHERE session = ?1";
    let mut totals = connection.prepare_cached(sql)?;
    let found: Option<Json<Totals>> = totals.query_row([session], |row| row.get(0)).optional()?;
    Ok(found.map(|totals| totals.0).unwrap_or_default())
}
