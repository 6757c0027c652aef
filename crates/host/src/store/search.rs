//! Words in transcripts.
//!
//! Owns what is indexed and how a search is read. A person's words are words: whatever stands in them, nothing is taken
//! for the language of the index. Invariants: an entry that is told again replaces what was indexed of it; marks in an
//! excerpt are ours alone; a session in the trash is not found.

use rusqlite::{Connection, Row};
use serde::{Deserialize, Serialize};

use super::{StoreError, page};
use crate::control::{Found, Page, SessionId};
use crate::notify::Mask;

/// Around found words: the marks by which text is set apart from what is around it, which shows nothing by itself.
const MARKS: [char; 2] = ['\u{2068}', '\u{2069}'];

/// The longest text of an entry that is indexed. More than that is a file, not words.
const LONGEST: usize = 64 << 10;

/// The longest excerpt of an entry that holds a secret, in bytes.
const EXCERPT: usize = 200;

/// How many words of a search count.
const WORDS: usize = 16;

/// What of an entry can be found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Indexed {
    /// The entry.
    pub entry: String,
    /// What kind of entry it is.
    pub kind: String,
    /// When.
    pub at: u64,
    /// Its words.
    pub text: String,
}

/// Indexes an entry, in place of what was indexed of it.
///
/// # Errors
/// When its session is not there.
pub fn put(connection: &Connection, session: SessionId, entry: &Indexed) -> Result<(), StoreError> {
    let text = indexable(&entry.text);
    let id = free_id(connection, entry.at)?;
    let sql = "INSERT INTO search (id, session, entry, kind, at, text) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
               ON CONFLICT (session, entry) DO UPDATE SET kind = excluded.kind, at = excluded.at, text = excluded.text";
    let mut put = connection.prepare_cached(sql)?;
    put.execute((id, session, &entry.entry, &entry.kind, entry.at, text))?;
    Ok(())
}

/// This moment as an id, or the next one that nobody has.
fn free_id(connection: &Connection, at: u64) -> Result<u64, StoreError> {
    let sql = "SELECT id FROM search AS one WHERE id >= ?1
               AND NOT EXISTS (SELECT 1 FROM search WHERE id = one.id + 1) ORDER BY id LIMIT 1";
    let is_taken = "SELECT EXISTS (SELECT 1 FROM search WHERE id = ?1)";
    let is_taken: bool = connection
        .prepare_cached(is_taken)?
        .query_row([at], |row| row.get(0))?;
    if !is_taken {
        return Ok(at);
    }
    let last: u64 = connection
        .prepare_cached(sql)?
        .query_row([at], |row| row.get(0))?;
    Ok(last + 1)
}

/// The text without our marks, and not too long.
fn indexable(text: &str) -> String {
    let end = text.floor_char_boundary(LONGEST);
    text[..end].replace(MARKS, "")
}

/// What is indexed of the conversation that a session goes on from. It is not of the session's own journal.
pub const EARLIER: &str = "earlier";

/// Whether anything is indexed of the conversation that a session goes on from.
///
/// # Errors
/// When the database fails.
pub fn has_earlier(connection: &Connection, session: SessionId) -> Result<bool, StoreError> {
    let sql = "SELECT EXISTS (SELECT 1 FROM search WHERE session = ?1 AND kind = ?2)";
    let mut has = connection.prepare_cached(sql)?;
    Ok(has.query_row((session, EARLIER), |row| row.get(0))?)
}

/// Takes everything of a session's journal out of the index.
///
/// # Errors
/// When the database fails.
pub fn remove(connection: &Connection, session: SessionId) -> Result<(), StoreError> {
    let sql = "DELETE FROM search WHERE session = ?1 AND kind <> ?2";
    let mut delete = connection.prepare_cached(sql)?;
    delete.execute((session, EARLIER))?;
    Ok(())
}

/// A place in what was found.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Place(i64);

/// A page of entries that hold all these words, newest first. `"several words"` are looked for as they stand; the last
/// word, and one that ends in `*`, may be the beginning of one.
///
/// # Errors
/// When `after` is no place in this list.
pub fn search(
    connection: &Connection,
    words: &str,
    most: usize,
    after: Option<&str>,
) -> Result<Page<Found>, StoreError> {
    let size = page::size(most);
    let Place(before) = page::place(after)?.unwrap_or(Place(i64::MAX));
    let nothing = Page {
        items: Vec::new(),
        next: None,
    };
    let Some(wanted) = expression(words) else {
        return Ok(nothing);
    };
    // The index goes by id, so it stops when the page is full.
    let sql =
        "SELECT search_fts.rowid FROM search_fts CROSS JOIN search ON search.id = search_fts.rowid
               CROSS JOIN sessions ON sessions.id = search.session
               WHERE search_fts MATCH ?1 AND search_fts.rowid < ?2 AND sessions.trashed IS NULL
               ORDER BY search_fts.rowid DESC LIMIT ?3";
    let mut places = connection.prepare_cached(sql)?;
    let values = (&wanted, before, size as u64 + 1);
    let places = places.query_map(values, |row| Ok(Place(row.get(0)?)))?;
    let places = places.collect::<Result<Vec<Place>, _>>()?;
    let page = page::page(places, size, |place| *place);
    // Excerpts are cut for those of this page only.
    let mut items = Vec::with_capacity(page.items.len());
    for Place(id) in page.items {
        items.push(excerpt(connection, &wanted, id)?);
    }
    Ok(Page {
        items,
        next: page.next,
    })
}

fn excerpt(connection: &Connection, wanted: &str, id: i64) -> Result<Found, StoreError> {
    let sql = "SELECT search.session, sessions.name, search.entry, search.kind, search.at,
               snippet(search_fts, 0, ?3, ?4, '…', 24)
               FROM search_fts JOIN search ON search.id = search_fts.rowid
               JOIN sessions ON sessions.id = search.session
               WHERE search_fts MATCH ?1 AND search_fts.rowid = ?2";
    let mut found = connection.prepare_cached(sql)?;
    let [open, close] = MARKS.map(String::from);
    Ok(found.query_row((wanted, id, open, close), of)?)
}

fn of(row: &Row<'_>) -> rusqlite::Result<Found> {
    Ok(Found {
        session: row.get(0)?,
        session_name: row.get(1)?,
        entry: row.get(2)?,
        kind: row.get(3)?,
        at: row.get(4)?,
        excerpt: row.get(5)?,
    })
}

/// The same places without what is secret: one that is found by its secrets alone is none, since who asks for one letter
/// after the other would find them out; an excerpt is cut from what is left.
///
/// # Errors
/// When the database fails.
pub(crate) fn without_secrets(
    connection: &Connection,
    words: &str,
    found: Vec<Found>,
    mask: &Mask,
) -> Result<Vec<Found>, StoreError> {
    let sql = "SELECT text FROM search WHERE session = ?1 AND entry = ?2";
    let mut whole = connection.prepare_cached(sql)?;
    let words: Vec<String> = words
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let mut left = Vec::with_capacity(found.len());
    for mut one in found {
        let text: String = whole.query_row((one.session, &one.entry), |row| row.get(0))?;
        let masked = mask.of(&text);
        if masked != text {
            let Some(excerpt) = around(&masked, &words) else {
                continue;
            };
            one.excerpt = excerpt;
        }
        left.push(one);
    }
    Ok(left)
}

/// What stands around the first of these words. None if one of them is not there.
fn around(text: &str, words: &[String]) -> Option<String> {
    let small = text.to_lowercase();
    let places: Option<Vec<usize>> = words.iter().map(|word| small.find(word)).collect();
    let first = places?.into_iter().min().unwrap_or_default();
    let from = text.floor_char_boundary(first.saturating_sub(EXCERPT / 4));
    let to = text.floor_char_boundary(from + EXCERPT);
    let before = if from > 0 { "…" } else { "" };
    let behind = if to < text.len() { "…" } else { "" };
    Some(format!("{before}{}{behind}", &text[from..to]))
}

/// What a person typed, in the language of the index: each word in quotation marks, so that none of them is an operator.
/// None: there is no word in it.
fn expression(words: &str) -> Option<String> {
    let mut terms = Vec::new();
    // Between an odd and an even quotation mark stand words that belong together.
    for (place, part) in words.split('"').enumerate() {
        if place % 2 == 1 {
            terms.push((part.to_owned(), false));
        } else {
            let parts = part.split_whitespace();
            terms.extend(parts.map(|word| (word.to_owned(), word.ends_with('*'))));
        }
    }
    if let Some((_, is_beginning)) = terms.last_mut() {
        *is_beginning |= !words.trim_end().ends_with('"');
    }
    terms.retain(|(term, _)| term.chars().any(char::is_alphanumeric));
    terms.truncate(WORDS);
    let terms = terms.iter().map(|(term, is_beginning)| {
        let term = term.replace('\0', " ");
        match is_beginning {
            true => format!("\"{term}\" *"),
            false => format!("\"{term}\""),
        }
    });
    let expression = terms.collect::<Vec<_>>().join(" AND ");
    (!expression.is_empty()).then_some(expression)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_person_types_is_never_an_operator() {
        let is = |words: &str, wanted: Option<&str>| {
            assert_eq!(expression(words).as_deref(), wanted, "{words}");
        };
        is("", None);
        is("  -- () * \"\" ", None);
        is("one", Some(r#""one" *"#));
        is("one two", Some(r#""one" AND "two" *"#));
        is("on* two", Some(r#""on*" * AND "two" *"#));
        is("a OR b", Some(r#""a" AND "OR" AND "b" *"#));
        is(r#""one two" x"#, Some(r#""one two" AND "x" *"#));
        is(r#"x "one two""#, Some(r#""x" AND "one two""#));
        is(r#"x"y"#, Some(r#""x" AND "y" *"#));
        is("text:x", Some(r#""text:x" *"#));
    }
}
