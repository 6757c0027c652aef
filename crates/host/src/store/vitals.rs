//! How a host is doing, counted by the database.
//!
//! Owns the figures that one look at the tables gives. Invariant: every state is named, so that a figure does not vanish when
//! it is 0.

use rusqlite::Connection;

use super::StoreError;
use super::approvals::IN_TRASH;
use crate::control::{State, Vitals};

/// The figures; what no table holds is 0.
///
/// # Errors
/// When the database fails.
pub fn read(connection: &Connection) -> Result<Vitals, StoreError> {
    let mut vitals = Vitals {
        sessions: State::NAMES.map(|name| (name.to_owned(), 0)).into(),
        ..Vitals::default()
    };
    let mut states = connection.prepare_cached(
        "SELECT state_name, count(*), sum(live) FROM sessions WHERE trashed IS NULL GROUP BY state_name",
    )?;
    let rows = states.query_map((), |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    for row in rows {
        let (state, count, live): (String, u64, u64) = row?;
        vitals.sessions.insert(state, count);
        vitals.agents += live;
    }
    let sql = format!(
        "SELECT count(*), min(asked) FROM approvals WHERE life_name = 'open' AND NOT {IN_TRASH}"
    );
    let mut open = connection.prepare_cached(&sql)?;
    (vitals.open_approvals, vitals.oldest_open) =
        open.query_row((), |row| Ok((row.get(0)?, row.get(1)?)))?;
    let mut queued = connection.prepare_cached("SELECT count(*) FROM queue")?;
    vitals.queued = queued.query_row((), |row| row.get(0))?;
    let sql = "SELECT coalesce(sum(cost_usd), 0.0) FROM usage";
    let mut cost = connection.prepare_cached(sql)?;
    vitals.cost_usd = cost.query_row((), |row| row.get(0))?;
    Ok(vitals)
}
