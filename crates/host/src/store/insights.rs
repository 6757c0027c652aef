//! The questions of a period, for their sums.
//!
//! Owns the look at the tables; what the rows mean is `crate::insights`. Rows go by one by one, so that a long period costs
//! no more memory than its sums.

use rusqlite::{Connection, Row};

use super::StoreError;
use super::value::Json;
use crate::control::approval::Effect;
use crate::control::{Insights, Period};
use crate::insights::{Asked, Sums, Verdict};

/// The widest rule that the question offered, where somebody had to answer it: they go from narrow to wide.
const RULE: &str = "(SELECT json_extract(value, '$.rules[0]') FROM json_each(offers)
    WHERE json_extract(value, '$.kind') = 'always' ORDER BY key DESC LIMIT 1)";

/// Who decided. What no rule is named for is the mode's: its profile allowed it, or it lets nobody be asked.
pub(super) const BY: &str = "CASE WHEN json_extract(decided, '$.by') = 'rule'
    AND json_extract(decided, '$.decision.rule') IS NULL THEN 'mode' ELSE json_extract(decided, '$.by') END";

/// Whether it is a plan that was sent back to be made better. What was decided before the way was kept has the choice alone.
pub(super) const IS_SENT_BACK: &str = "COALESCE(json_extract(decided, '$.way'),
    json_extract(decided, '$.decision.choice')) IS 'keep-planning'";

/// The sums of a period.
///
/// # Errors
/// When the database fails.
pub fn read(connection: &Connection, period: Period, now: u64) -> Result<Insights, StoreError> {
    let until = period.until.unwrap_or(now).min(i64::MAX as u64);
    let since = period.since.min(until);
    let mut sums = Sums::new(now, period.offset);
    let sql = format!(
        "SELECT session, kind, tool, tool_use_id IS NOT NULL AS is_call, life_name, asked,
         {BY} AS by, json_extract(decided, '$.at') AS at,
         json_quote(json_extract(decided, '$.effect')) AS effect,
         {IS_SENT_BACK} AS is_sent_back,
         CASE WHEN json_extract(decided, '$.by') IS 'rule' THEN NULL ELSE {RULE} END AS rule
         FROM approvals WHERE asked >= ?1 AND asked < ?2 ORDER BY asked, id"
    );
    let mut rows = connection.prepare_cached(&sql)?;
    for row in rows.query_map((since, until), asked)? {
        sums.add(row?);
    }
    // An id is a moment here, so this is a walk over the period alone.
    let calls = "SELECT count(*) FROM search WHERE id >= ?1 AND id < ?2 AND kind = 'tool'";
    let mut calls = connection.prepare_cached(calls)?;
    let calls: u64 = calls.query_row((since, until), |row| row.get(0))?;
    let mut names = connection.prepare_cached("SELECT name FROM sessions WHERE id = ?1")?;
    Ok(sums.told(calls, |session| {
        let name = names.query_row([session], |row| row.get(0));
        name.unwrap_or_default()
    }))
}

fn asked(row: &Row<'_>) -> rusqlite::Result<Asked> {
    let life: String = row.get("life_name")?;
    let is_call: bool = row.get("is_call")?;
    let by: Option<String> = row.get("by")?;
    let decided = match by {
        Some(by) => Some(Verdict {
            by,
            effect: row.get::<_, Json<Effect>>("effect")?.0,
            at: row.get("at")?,
            is_sent_back: row.get("is_sent_back")?,
        }),
        None => None,
    };
    Ok(Asked {
        session: row.get("session")?,
        kind: row.get::<_, Json<_>>("kind")?.0,
        tool: row.get("tool")?,
        rule: row.get("rule")?,
        is_call_over: is_call && (life == "settled" || life == "withdrawn"),
        is_open: life == "open",
        at: row.get("asked")?,
        decided,
    })
}
