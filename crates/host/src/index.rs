//! What is derived from journals beside the state: words to search, sums, what was spent by day.
//!
//! Owns the fold that feeds them. It goes on from a checkpoint, so a turn costs the records of that turn. Invariants:
//! everything here can be thrown away and made again (`reindex`), by an unreadable checkpoint just as well; a dollar is counted
//! once.

use countersign_journal::{ReadError, Reader, Step, Tail};
use countersign_transcript::body::Ask;
use countersign_transcript::{Body, Change, Checkpoint, Entry, Fold, Life, Totals};
use serde::{Deserialize, Serialize};

use crate::control::{ControlError, Result, SessionId, Spent};
use crate::folders::Folders;
use crate::money;
use crate::store::search::Indexed;
use crate::store::{Connection, Durability, Store, StoreError, indexed, search, usage};

/// So often a journal is read again because somebody else has indexed it meanwhile.
const TRIES: usize = 3;

/// So many records are indexed at once: what they lead to is held in memory and stored in one transaction.
const AT_ONCE: usize = 8192;

/// So much of one entry is searched.
const LONGEST: usize = 64 << 10;

/// How far a session is indexed.
#[derive(Serialize, Deserialize)]
struct Indexer {
    checkpoint: Checkpoint,
}

/// What one look at the journal gave.
struct Found {
    /// It begins at the first record: whatever is stored is replaced by it, and not added to.
    is_anew: bool,
    /// There is no more.
    is_end: bool,
    checkpoint: Checkpoint,
    spent: Vec<Spent>,
    totals: Totals,
    entries: Vec<Indexed>,
}

/// Indexes what a journal has more, up to the tail. Gives the sums.
pub(crate) async fn catch_up(
    store: &Store,
    folders: &Folders,
    session: SessionId,
    tail: Option<Tail>,
) -> Result<Totals> {
    let (store, folders) = (store.clone(), folders.clone());
    let work = move || catch_up_to(&store, &folders, session, tail);
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(unavailable(error.to_string())))
}

/// As [`catch_up`], from a thread that may wait, while no host runs.
pub(crate) fn catch_up_blocking(
    store: &Store,
    folders: &Folders,
    session: SessionId,
) -> Result<Totals> {
    catch_up_to(store, folders, session, None)
}

fn catch_up_to(
    store: &Store,
    folders: &Folders,
    session: SessionId,
    tail: Option<Tail>,
) -> Result<Totals> {
    let dir = folders.session(session);
    let mut left = TRIES;
    while left > 0 {
        let stored = store.read_blocking(|it| indexed::get(it, session))?;
        if !dir.join("journal").exists() {
            // There is nothing to make the sums of again: those that are there stay.
            return Ok(store.read_blocking(|it| usage::totals(it, session))?);
        }
        let found = read(&dir, stored.as_deref(), tail).map_err(unavailable)?;
        let (totals, is_end) = (found.totals.clone(), found.is_end);
        let job = move |it: &Connection| found.store(it, session, stored.as_deref());
        match (store.write_blocking(Durability::Normal, job)?, is_end) {
            (true, true) => return Ok(totals),
            (true, false) => {}
            (false, _) => left -= 1,
        }
    }
    Err(unavailable(
        "the session is indexed by somebody else".to_owned(),
    ))
}

fn unavailable(why: String) -> ControlError {
    ControlError::Unavailable {
        why,
        retry_ms: 1_000,
    }
}

/// Goes on from the checkpoint that is stored; from the first record if there is none that this build can read.
fn read(
    dir: &std::path::Path,
    stored: Option<&[u8]>,
    tail: Option<Tail>,
) -> std::result::Result<Found, String> {
    let indexer = stored.and_then(|it| serde_json::from_slice::<Indexer>(it).ok());
    let fold = indexer.and_then(|indexer| Fold::resume(indexer.checkpoint).ok());
    if let Some(fold) = fold {
        let read = read_on(dir, fold, tail).map_err(|error| error.to_string())?;
        if let Some(found) = read {
            return Ok(found);
        }
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
    let mut before = fold.totals().clone();
    let (mut entries, mut spent) = (Vec::new(), Vec::new());
    let (mut records, mut is_end) = (0, true);
    if dir.join("journal").exists() {
        let mut reader = Reader::open(dir)?;
        reader.seek(fold.cursor())?;
        reader.set_limit(tail);
        loop {
            if records == AT_ONCE {
                is_end = false;
                break;
            }
            let (generation, step) = reader.next_of()?;
            match step {
                Step::Record(record) => {
                    records += 1;
                    let changes = fold.step(generation, &record);
                    entries.extend(changes.entries.iter().filter_map(indexed));
                    // Record by record, so that a day has the same however often the journal is read.
                    if changes.totals && money::has_risen(&before, fold.totals()) {
                        spent.extend(money::rows(&before, fold.totals(), record.at));
                        before = fold.totals().clone();
                    }
                }
                Step::Rewound { .. } => return Ok(None),
                Step::End => break,
                _ => {}
            }
        }
    }
    Ok(Some(Found {
        is_anew: false,
        is_end,
        spent,
        totals: fold.totals().clone(),
        checkpoint: fold.checkpoint(),
        entries,
    }))
}

impl Found {
    /// Stores it, if the checkpoint that it goes on from is the one that is stored. Whether it is.
    fn store(
        self,
        it: &Connection,
        session: SessionId,
        from: Option<&[u8]>,
    ) -> std::result::Result<bool, StoreError> {
        if indexed::get(it, session)?.as_deref() != from {
            return Ok(false);
        }
        if self.is_anew {
            indexed::forget(it, session)?;
        }
        for entry in &self.entries {
            search::put(it, session, entry)?;
        }
        for spent in &self.spent {
            usage::add(it, session, spent)?;
        }
        usage::set_totals(it, session, &self.totals)?;
        let indexer = Indexer {
            checkpoint: self.checkpoint,
        };
        let value = serde_json::to_vec(&indexer).unwrap_or_default();
        indexed::put(it, session, &value)?;
        Ok(true)
    }
}

/// What is searched of an entry that is final.
pub(crate) fn indexed(change: &Change) -> Option<Indexed> {
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
            let mut words = tool.name.clone();
            for input in tool.edited_input().into_iter().chain(&tool.input) {
                words.push(' ');
                words.push_str(input.json.as_str());
            }
            words
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

    /// Lines of a call that a person edited before allowing it.
    const EDITED: [(Kind, &str); 4] = [
        (
            Kind::Agent,
            r#"{"type":"assistant","uuid":"u","session_id":"s","parent_tool_use_id":null,"message":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"a","name":"Bash","input":{"command":"touch asked"}}]}}"#,
        ),
        (
            Kind::Agent,
            r#"{"type":"control_request","request_id":"q","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"touch asked"},"tool_use_id":"a"}}"#,
        ),
        (
            Kind::Host,
            r#"{"type":"control_response","response":{"subtype":"success","request_id":"q","response":{"behavior":"allow","updatedInput":{"command":"touch sent"}}}}"#,
        ),
        (
            Kind::Agent,
            r#"{"type":"user","uuid":"r","session_id":"s","parent_tool_use_id":null,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"ok"}]}}"#,
        ),
    ];

    #[test]
    fn a_call_that_was_edited_is_found_by_what_was_sent_and_by_what_was_asked() {
        let place = tempfile::tempdir().unwrap();
        journal_of(place.path(), &EDITED);
        let found = read(place.path(), None, None).unwrap();
        let mut texts = found.entries.iter().map(|entry| entry.text.as_str());
        let text = texts.rfind(|text| text.starts_with("Bash")).unwrap();
        assert!(
            text.contains("touch sent") && text.contains("touch asked"),
            "{text}"
        );
    }

    #[test]
    fn what_two_have_read_behind_one_checkpoint_is_counted_once() {
        let place = tempfile::tempdir().unwrap();
        let result = |id: &str, cost: &str| {
            format!(
                r#"{{"type":"result","subtype":"success","is_error":false,"session_id":"s","uuid":"{id}","total_cost_usd":{cost}}}"#
            )
        };
        let lines = [result("a", "0.25"), result("b", "0.75")];
        let lines = lines.each_ref().map(|line| (Kind::Agent, line.as_str()));
        let (before, after) = (place.path().join("before"), place.path().join("after"));
        journal_of(&before, &lines[..1]);
        journal_of(&after, &lines);
        let store = Store::open(&place.path().join("host.db")).unwrap();
        let id = SessionId::new(1, 1);
        let row = crate::reindex::adopted_row(id, place.path());
        let made = move |it: &Connection| crate::store::sessions::insert(it, &row);
        store.write_blocking(Durability::Full, made).unwrap();
        let put = |found: Found, from: Option<Vec<u8>>| {
            let job = move |it: &Connection| found.store(it, id, from.as_deref());
            store.write_blocking(Durability::Full, job).unwrap()
        };
        assert!(put(read(&before, None, None).unwrap(), None));

        let from = store.read_blocking(|it| indexed::get(it, id)).unwrap();
        let looks = [(); 2].map(|()| read(&after, from.as_deref(), None).unwrap());
        let stored = looks.map(|found| put(found, from.clone()));
        assert_eq!(stored, [true, false]);
        let spent = store.read_blocking(|it| {
            let sql = "SELECT sum(cost_usd) FROM usage";
            Ok(it.query_row(sql, (), |row| row.get::<_, f64>(0))?)
        });
        assert_eq!(spent.unwrap(), 0.75);
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
        let found = read(&place.path().join("after"), Some(&shelved), None).unwrap();
        assert!(found.is_anew);
        assert_eq!(reached(&found), Cursor::new(1, 1));
        // One that reaches as far is gone on with.
        let found = read(&place.path().join("before"), Some(&shelved), None).unwrap();
        assert!(!found.is_anew);
        assert_eq!(reached(&found), Cursor::new(1, 3));
    }
}
