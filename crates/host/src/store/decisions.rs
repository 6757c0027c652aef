//! The record of decisions: approvals that somebody, or a rule, has decided.
//!
//! Owns the pages of it, newest decision first, and which of them are meant. Reads, changes nothing. Words of a person are
//! words: nothing in them is taken for a pattern.

use rusqlite::{Connection, ToSql};
use serde::{Deserialize, Serialize};

use super::approvals::{ApprovalRow, some};
use super::insights::{BY, IS_SENT_BACK};
use super::value::Json;
use super::{StoreError, page};
use crate::control::{ApprovalId, DecisionFilter, DecisionView, Page};
use crate::notify::Mask;

/// A place in the list: when it was decided, which.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Place(u64, ApprovalId);

/// When a decision was made, as the index has it.
const AT: &str = "json_extract(decided, '$.at')";

/// By somebody: neither by a rule nor by a setting.
const BY_PEOPLE: &str = "json_extract(decided, '$.by') NOT IN ('rule', 'expired', 'budget')";

/// What can become of a decision.
const OUTCOMES: [&str; 6] = ["ran", "failed", "refused", "unused", "unknown", "withdrawn"];

/// Where words are looked for. The input is kept as JSON, so they are, too.
const HOLDS: &str = "(instr(lower(input), ?) OR instr(lower(json_extract(decided, '$.decision.updated_input')), ?) OR instr(lower(tool), ?)
    OR instr(lower(json_extract(decided, '$.why')), ?)
    OR session IN (SELECT id FROM sessions WHERE instr(lower(name), ?)))";

/// A page of decided approvals.
///
/// # Errors
/// When `after` is no place in this list, or `outcome` no word for one.
pub fn list(
    connection: &Connection,
    filter: &DecisionFilter,
) -> Result<Page<ApprovalRow>, StoreError> {
    let size = page::size(filter.most);
    let after: Option<Place> = page::place(filter.after.as_deref())?;
    let mut which = "decided IS NOT NULL".to_owned();
    if filter.people {
        which += &format!(" AND {BY_PEOPLE}");
    }
    let mut values: Vec<Box<dyn ToSql>> = Vec::new();
    let mut also = |text: &str, value: Box<dyn ToSql>| {
        which += " AND ";
        which += text;
        values.push(value);
    };
    if let Some(session) = filter.session {
        also("session = ?", Box::new(session));
    }
    if let Some(by) = &filter.by {
        also(&format!("{BY} = ?"), Box::new(by.clone()));
    }
    if let Some(rule) = &filter.rule {
        let is = "json_extract(decided, '$.decision.rule') = ?";
        also(is, Box::new(rule.clone()));
    }
    if let Some(effect) = filter.effect {
        let quoted = "json_quote(json_extract(decided, '$.effect')) = ?";
        // The wire says no to a plan that is to be made better; nobody denied it.
        let is = format!("({quoted} AND NOT {IS_SENT_BACK})");
        also(&is, Box::new(Json(effect)));
    }
    if let Some(tool) = &filter.tool {
        also("tool = ?", Box::new(tool.clone()));
    }
    if let Some(outcome) = &filter.outcome {
        let outcome = known(outcome)?;
        let is = "coalesce(json_extract(life, '$.outcome'), life_name) = ?";
        also(is, Box::new(outcome.to_owned()));
    }
    if let Some(since) = filter.since {
        also(&format!("{AT} >= ?"), Box::new(since));
    }
    if let Some(until) = filter.until {
        also(&format!("{AT} < ?"), Box::new(until));
    }
    if let Some(Place(at, id)) = after {
        also(&format!("({AT}, id) < (?, ?)"), Box::new(at));
        values.push(Box::new(id));
    }
    if let Some(text) = filter.text.as_deref().filter(|text| !text.is_empty()) {
        let plain = text.to_ascii_lowercase();
        which += " AND ";
        which += HOLDS;
        values.push(Box::new(quoted(&plain)));
        values.push(Box::new(quoted(&plain)));
        for _ in 0..3 {
            values.push(Box::new(plain.clone()));
        }
    }
    which += &format!(" ORDER BY {AT} DESC, id DESC LIMIT {}", size + 1);
    let rows = some(connection, &which, rusqlite::params_from_iter(values))?;
    let at = |row: &ApprovalRow| row.decided.as_ref().map_or(0, |decided| decided.at);
    Ok(page::page(rows, size, |row| Place(at(row), row.id)))
}

fn known(outcome: &str) -> Result<&str, StoreError> {
    if OUTCOMES.contains(&outcome) {
        return Ok(outcome);
    }
    let why = format!("`{outcome}` is no outcome: {}", OUTCOMES.join(", "));
    Err(StoreError::Invalid(why))
}

/// Words as they stand inside a text of JSON.
fn quoted(text: &str) -> String {
    let whole = serde_json::to_string(text).unwrap_or_default();
    whole.trim_matches('"').to_owned()
}

/// Whether a decision still holds these words when what is secret is left out.
pub(crate) fn still_holds(one: &DecisionView, text: &str, mask: &Mask) -> bool {
    let plain = text.to_ascii_lowercase();
    let holds = |whole: &str, words: &str| mask.of(whole).to_ascii_lowercase().contains(words);
    let rest = [&one.tool, &one.decided.why, &one.session_name];
    let inputs = [Some(&one.input), one.edited_input.as_ref()];
    let mut inputs = inputs.into_iter().flatten();
    inputs.any(|input| holds(&input.to_string(), &quoted(&plain)))
        || rest.iter().any(|it| holds(it, &plain))
}
