//! What is derived from journals beside the state: words to search, sums, what was spent by day.
//!
//! Owns the fold that feeds them. It goes on from a checkpoint, so a turn costs the records of that turn. Invariants:
//! everything here can be thrown away and made again (`reindex`); a dollar is counted once.

use countersign_journal::{ReadError, Reader, Step, Tail};
use countersign_transcript::body::Ask;
use countersign_transcript::{Body, Change, Checkpoint, Entry, Fold, Life, Totals};
use serde::{Deserialize, Serialize};

use crate::control::{ControlError, Result, SessionId, now};
use crate::folders::Folders;
use crate::money;
use crate::store::search::Indexed;
use crate::store::shelf::ShelfIn;
use crate::store::{Connection, Durability, Store, StoreError, search, usage};
use countersign_transcript::pages::Shelf as _;

/// The name of the checkpoint on the session's shelf.
const CHECKPOINT: &str = "index";

/// So much of one entry is searched.
const LONGEST: usize = 64 << 10;

/// How far a session is indexed.
#[derive(Serialize, Deserialize)]
struct Indexer {
    checkpoint: Checkpoint,
}

/// What one look at the journal gave.
struct Found {
    /// The journal has less than was indexed: a loss of power took the rest, and everything was read anew.
    is_anew: bool,
    checkpoint: Checkpoint,
    before: Totals,
    totals: Totals,
    entries: Vec<Indexed>,
    at: u64,
}

/// Indexes what a journal has more, up to the tail. Gives the sums.
pub(crate) async fn catch_up(
    store: &Store,
    folders: &Folders,
    session: SessionId,
    tail: Option<Tail>,
) -> Result<Totals> {
    let dir = folders.session(session);
    let shelved = store
        .read(move |it| ShelfIn::new(it, session).get(CHECKPOINT).map_err(shelf))
        .await?;
    let fold = tokio::task::spawn_blocking(move || read(&dir, shelved, tail));
    let found = match fold.await {
        Ok(Ok(found)) => found,
        Ok(Err(why)) => return Err(unavailable(why)),
        Err(error) => return Err(unavailable(error.to_string())),
    };
    let totals = found.totals.clone();
    store
        .write(Durability::Normal, move |it| found.store(it, session))
        .await?;
    Ok(totals)
}

/// As [`catch_up`], from a thread that may wait, while no host runs.
pub(crate) fn catch_up_blocking(
    store: &Store,
    folders: &Folders,
    session: SessionId,
) -> Result<Totals> {
    let shelved =
        store.read_blocking(|it| ShelfIn::new(it, session).get(CHECKPOINT).map_err(shelf))?;
    let found = read(&folders.session(session), shelved, None).map_err(unavailable)?;
    let totals = found.totals.clone();
    store.write_blocking(Durability::Normal, move |it| found.store(it, session))?;
    Ok(totals)
}

fn unavailable(why: String) -> ControlError {
    ControlError::Unavailable {
        why,
        retry_ms: 1_000,
    }
}

fn read(
    dir: &std::path::Path,
    shelved: Option<Vec<u8>>,
    tail: Option<Tail>,
) -> std::result::Result<Found, String> {
    let indexer: Option<Indexer> = shelved.and_then(|it| serde_json::from_slice(&it).ok());
    let fold = indexer.and_then(|indexer| Fold::resume(indexer.checkpoint).ok());
    let fold = fold.unwrap_or_default();
    let read = read_on(dir, fold, tail).map_err(|error| error.to_string())?;
    if let Some(found) = read {
        return Ok(found);
    }
    let anew = read_on(dir, Fold::default(), tail).map_err(|error| error.to_string())?;
    let anew = anew.ok_or("the journal changes while it is read: try again")?;
    Ok(Found {
        is_anew: true,
        ..anew
    })
}

/// Goes on from where a fold stands. None: the journal does not reach that far.
fn read_on(
    dir: &std::path::Path,
    mut fold: Fold,
    tail: Option<Tail>,
) -> std::result::Result<Option<Found>, ReadError> {
    let before = fold.totals().clone();
    let mut entries = Vec::new();
    let mut at = now();
    if dir.join("journal").exists() {
        let mut reader = Reader::open(dir)?;
        reader.seek(fold.cursor())?;
        reader.set_limit(tail);
        loop {
            let (generation, step) = reader.next_of()?;
            match step {
                Step::Record(record) => {
                    at = record.at;
                    let changes = fold.step(generation, &record);
                    entries.extend(changes.entries.iter().filter_map(indexed));
                }
                Step::Rewound { .. } => return Ok(None),
                Step::End => break,
                _ => {}
            }
        }
    }
    Ok(Some(Found {
        is_anew: false,
        before,
        totals: fold.totals().clone(),
        checkpoint: fold.checkpoint(),
        entries,
        at,
    }))
}

impl Found {
    fn store(self, it: &Connection, session: SessionId) -> std::result::Result<(), StoreError> {
        if self.is_anew {
            search::remove(it, session)?;
            usage::clear(it, session)?;
        }
        for entry in &self.entries {
            search::put(it, session, entry)?;
        }
        for spent in money::rows(&self.before, &self.totals, self.at) {
            usage::add(it, session, &spent)?;
        }
        usage::set_totals(it, session, &self.totals)?;
        let indexer = Indexer {
            checkpoint: self.checkpoint,
        };
        let value = serde_json::to_vec(&indexer).unwrap_or_default();
        ShelfIn::new(it, session)
            .put(CHECKPOINT, &value)
            .map_err(shelf)
    }
}

fn shelf(error: countersign_transcript::pages::ShelfError) -> StoreError {
    StoreError::Invalid(error.to_string())
}

/// What is searched of an entry that is final.
fn indexed(change: &Change) -> Option<Indexed> {
    let Change::Put(entry) = change else {
        return None;
    };
    if entry.life == Life::Open {
        return None;
    }
    let text = words(entry)?;
    Some(Indexed {
        entry: entry.id.to_string(),
        kind: entry.body.name().to_owned(),
        at: entry.at,
        text,
    })
}

fn words(entry: &Entry) -> Option<String> {
    let mut text = match &entry.body {
        Body::Prompt(prompt) => prompt.text.text.clone(),
        Body::Text(said) => said.text.text.clone(),
        // The names in it stay: whoever masks an excerpt knows a secret by them.
        Body::Tool(tool) => {
            let input = tool.input.as_ref().map(|input| input.json.as_str());
            format!("{} {}", tool.name, input.unwrap_or_default())
        }
        Body::Ask(ask) => asked(ask),
        _ => return None,
    };
    if text.len() > LONGEST {
        let mut end = LONGEST;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
    }
    (!text.trim().is_empty()).then_some(text)
}

/// What a question says, without what is kept beside it.
fn asked(ask: &Ask) -> String {
    let words = [
        ask.approval.title.as_deref(),
        ask.approval.description.as_deref(),
        ask.message.as_ref().map(|message| message.text.as_str()),
        ask.url.as_deref(),
        ask.form.as_ref().map(|form| form.json.as_str()),
    ];
    let words: Vec<&str> = words.into_iter().flatten().collect();
    format!("{} {}", ask.from, words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_journal::{Cursor, Kind, Limits, Writer};

    fn prompt(text: &str) -> String {
        format!(
            r#"{{"type":"user","uuid":"{text}","message":{{"role":"user","content":"{text}"}}}}"#
        )
    }

    fn journal(dir: &std::path::Path, texts: &[&str]) {
        let lines: Vec<String> = texts.iter().map(|text| prompt(text)).collect();
        let lines: Vec<(Kind, &str)> = lines.iter().map(|it| (Kind::Host, it.as_str())).collect();
        journal_of(dir, &lines);
    }

    /// A journal with these lines.
    fn journal_of(dir: &std::path::Path, lines: &[(Kind, &str)]) {
        let limits = Limits::default();
        let (mut writer, _) = Writer::open(&dir.join("journal"), "s", 1, limits).unwrap();
        for (kind, line) in lines {
            writer.push(1, *kind, line.as_bytes());
        }
        writer.commit().unwrap();
    }

    #[test]
    fn of_a_call_and_a_question_their_own_words_are_searched() {
        let place = tempfile::tempdir().unwrap();
        let long = "herons ".repeat(40_000);
        let call = |id: &str, command: &str| {
            format!(
                r#"{{"type":"assistant","uuid":"u-{id}","session_id":"s","parent_tool_use_id":null,"message":{{"id":"m-{id}","role":"assistant","content":[{{"type":"tool_use","id":"{id}","name":"Bash","input":{{"command":"{command}"}}}}]}}}}"#
            )
        };
        let result = |id: &str| {
            format!(
                r#"{{"type":"user","uuid":"r-{id}","session_id":"s","parent_tool_use_id":null,"message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{id}","content":"ok"}}]}}}}"#
            )
        };
        let form = r#"{"type":"control_request","request_id":"q","request":{"subtype":"elicitation","mcp_server_name":"tracker","message":"Which pond?"}}"#;
        let answer = r#"{"type":"control_response","response":{"subtype":"success","request_id":"q","response":{"action":"decline"}}}"#;
        let over =
            r#"{"type":"result","subtype":"success","is_error":false,"session_id":"s","uuid":"o"}"#;
        let lines = [
            (Kind::Agent, call("a", "touch one")),
            (Kind::Agent, result("a")),
            (Kind::Agent, call("b", &long)),
            (Kind::Agent, result("b")),
            (Kind::Agent, form.to_owned()),
            (Kind::Host, answer.to_owned()),
            (Kind::Agent, over.to_owned()),
        ];
        let lines: Vec<(Kind, &str)> = lines
            .iter()
            .map(|(it, line)| (*it, line.as_str()))
            .collect();
        journal_of(place.path(), &lines);
        let found = read(place.path(), None, None).unwrap();
        let words = |start: &str| {
            let mut texts = found.entries.iter().map(|entry| entry.text.as_str());
            let text = texts.rfind(|text| text.starts_with(start));
            text.unwrap_or_else(|| panic!("nothing begins with {start}"))
                .to_owned()
        };
        assert_eq!(
            words(r#"Bash {"command":"touch"#),
            r#"Bash {"command":"touch one"}"#
        );
        let cut = words(r#"Bash {"command":"herons"#);
        assert!(
            !cut.contains("json") && !cut.contains("length"),
            "{cut:.200}"
        );
        assert_eq!(words("tracker"), "tracker Which pond?");
    }

    #[test]
    fn what_a_loss_of_power_took_is_not_counted_and_what_follows_is() {
        let place = tempfile::tempdir().unwrap();
        journal(&place.path().join("before"), &["one", "two", "three"]);
        journal(&place.path().join("after"), &["one"]);
        let reached = |found: &Found| {
            let fold = Fold::resume(found.checkpoint.clone());
            fold.unwrap().cursor()
        };
        let found = read(&place.path().join("before"), None, None).unwrap();
        assert_eq!(reached(&found), Cursor::new(1, 3));
        let indexer = Indexer {
            checkpoint: found.checkpoint,
        };
        let shelved = serde_json::to_vec(&indexer).unwrap();
        let found = read(&place.path().join("after"), Some(shelved.clone()), None).unwrap();
        assert!(found.is_anew);
        assert_eq!(reached(&found), Cursor::new(1, 1));
        // One that reaches as far is gone on with.
        let found = read(&place.path().join("before"), Some(shelved), None).unwrap();
        assert!(!found.is_anew);
        assert_eq!(reached(&found), Cursor::new(1, 3));
    }
}
