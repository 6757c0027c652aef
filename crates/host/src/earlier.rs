//! The conversation that a session goes on from.
//!
//! Owns what was said before there was the session: of a fork the transcript of its parent up to when the fork's first agent took
//! it over, of an imported one the CLI's own file up to the import. Read-only. Invariants: what is shown of it is no part of the session's journal, sums or usage;
//! a conversation that is gone is said to be gone.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use countersign_client::history::{BranchOptions, Entry as Line, SessionUuid, Transcripts};
use countersign_journal::{Cursor, Kind, Reader, Record, Step};
use countersign_transcript::{Change, Entries, Entry, Fold};

use crate::control::{Came, ControlError, Earlier, EarlierPart, Result, SessionId, now};
use crate::host::Inner;
use crate::notify::Mask;
use crate::pages::{self, PagesError};
use crate::store::sessions::SessionRow;
use crate::store::{Connection, Durability, page, search, sessions};

/// So many pages are looked at for words at once. Whoever wants more asks for what stands before the last one.
const LOOKED_AT: usize = 20;

/// The conversation of a session, if it goes on from one.
pub(crate) async fn of(
    inner: &Arc<Inner>,
    id: SessionId,
    part: EarlierPart,
) -> Result<Option<Earlier>> {
    let found = inner.store.read(move |it| {
        let row = sessions::get(it, id)?;
        let parent = match row.parent {
            Some(parent) => sessions::find(it, parent)?,
            None => None,
        };
        Ok((row, parent))
    });
    let (row, parent) = found.await?;
    let mut earlier = Earlier {
        how: Came::Forked,
        session: row.parent,
        name: parent.as_ref().map(|parent| parent.name.clone()),
        conversation: None,
        until: row.created,
        cost_usd: None,
        missing: None,
        items: Vec::new(),
        more: false,
        goes_on: false,
    };
    match row.origin.as_deref() {
        Some("fork") => match parent {
            Some(parent) => {
                earlier.until = taken_over(inner, &row).await?;
                of_parent(inner, parent, earlier, part).await.map(Some)
            }
            None => Ok(Some(missing(
                earlier,
                "The session that it was forked from has been deleted.",
            ))),
        },
        Some("import") => {
            earlier.how = Came::Imported;
            imported(inner, &row, earlier, part).await.map(Some)
        }
        _ => Ok(None),
    }
}

fn missing(earlier: Earlier, why: &str) -> Earlier {
    Earlier {
        missing: Some(why.to_owned()),
        ..earlier
    }
}

/// Returns when the agent of a fork took over its parent's conversation: when it first spoke, else now.
async fn taken_over(inner: &Arc<Inner>, fork: &SessionRow) -> Result<u64> {
    let dir = inner.folders.session(fork.id);
    let first = tokio::task::spawn_blocking(move || first_agent_line(&dir));
    Ok(first.await.map_err(broke_off)?.unwrap_or_else(now))
}

fn first_agent_line(dir: &Path) -> Option<u64> {
    let mut reader = Reader::open(dir).ok()?;
    loop {
        match reader.next().ok()? {
            Step::Record(record) if record.kind == Kind::Agent => return Some(record.at),
            Step::End => return None,
            _ => {}
        }
    }
}

/// What the parent of a fork said. One that was imported and has had no agent since is shown from the CLI's own file.
async fn of_parent(
    inner: &Arc<Inner>,
    parent: SessionRow,
    mut earlier: Earlier,
    part: EarlierPart,
) -> Result<Earlier> {
    let goes_on = matches!(parent.origin.as_deref(), Some("fork" | "import"));
    let has_journal = inner.folders.session(parent.id).join("journal").exists();
    if goes_on && !has_journal {
        return imported(inner, &parent, earlier, part).await;
    }
    earlier.goes_on = goes_on;
    earlier.conversation.clone_from(&parent.conversation);
    forked(inner, parent.id, earlier, part).await
}

/// The parent's transcript up to the fork, and what it had cost by then.
async fn forked(
    inner: &Arc<Inner>,
    parent: SessionId,
    mut earlier: Earlier,
    part: EarlierPart,
) -> Result<Earlier> {
    let dir = inner.folders.session(parent);
    if !dir.join("journal").exists() {
        let why = "The journal of the session that it was forked from is not there.";
        return Ok(missing(earlier, why));
    }
    let mask = inner.settings.mask.clone();
    let turn = inner.pages.take(parent).await;
    let store = inner.store.clone();
    let tail = inner.levels.watch(parent).borrow().tail;
    let read = tokio::task::spawn_blocking(move || {
        let (pages, mut reader) = pages::open(&store, &dir, parent, tail, &turn)?;
        let end = pages.first_later(&mut reader, earlier.until)?;
        let last = end.map_or(pages.cursor(), |end| {
            let first = end.cursor();
            Cursor::new(first.generation, first.seq.saturating_sub(1))
        });
        let spent = pages.fold_behind(&mut reader, last)?;
        earlier.cost_usd = Some(spent.totals().cost_usd);
        let most = page::size(part.most);
        let mut before = part.before.filter(|id| end.is_none_or(|end| *id < end));
        before = before.or(end);
        for _ in 0..LOOKED_AT {
            let page = match before {
                Some(before) => pages.before(&mut reader, before, most)?,
                None => pages.newest(&mut reader, most)?,
            };
            earlier.more = page.older.is_some();
            before = page.older;
            let mut items = page.entries;
            items.retain(|entry| holds(entry, part.words.as_deref(), &mask));
            items.append(&mut earlier.items);
            earlier.items = items;
            if part.words.is_none() || !earlier.more || earlier.items.len() >= most {
                break;
            }
        }
        Ok::<_, PagesError>(earlier)
    });
    let read = read.await.map_err(broke_off)?;
    Ok(read?)
}

/// The CLI's own transcript, up to the import.
async fn imported(
    inner: &Arc<Inner>,
    row: &SessionRow,
    mut earlier: Earlier,
    part: EarlierPart,
) -> Result<Earlier> {
    let (conversation, transcripts) = place(inner, row)?;
    earlier.conversation = conversation.clone();
    let Some(conversation) = conversation else {
        return Ok(missing(earlier, "Its conversation is not known."));
    };
    let until = earlier.until;
    let most = page::size(part.most);
    let read = tokio::task::spawn_blocking(move || {
        let mut entries = Entries::default();
        let mut has_older = false;
        let is_there = each(&transcripts, &conversation, until, |change| {
            if part.before.is_some_and(|before| change.id() >= before) {
                return;
            }
            let Change::Put(entry) = change else { return };
            entries.put(*entry);
            // Beyond the page so many may still change.
            if entries.len() > most + countersign_transcript::bounds::OPEN && part.words.is_none() {
                entries.keep_newest(most + countersign_transcript::bounds::OPEN / 2);
                has_older = true;
            }
        })?;
        Ok::<_, ControlError>((is_there, entries, has_older, part))
    });
    let (is_there, entries, has_older, part) = read.await.map_err(broke_off)??;
    if !is_there {
        let why = "The CLI's file of this conversation is not there any more: it deletes old ones.";
        return Ok(missing(earlier, why));
    }
    let mask = &inner.settings.mask;
    let mut items = entries.into_vec();
    items.retain(|entry| holds(entry, part.words.as_deref(), mask));
    let left = items.len().saturating_sub(most);
    items.drain(..left);
    earlier.more = has_older || left > 0;
    earlier.items = items;
    Ok(earlier)
}

fn broke_off(error: tokio::task::JoinError) -> ControlError {
    ControlError::Unknown {
        why: error.to_string(),
    }
}

fn place(inner: &Arc<Inner>, row: &SessionRow) -> Result<(Option<String>, Transcripts)> {
    let transcripts = match &row.setup.config_dir {
        Some(folder) => Transcripts::at(folder),
        None => inner.transcripts()?,
    };
    Ok((row.conversation.clone(), transcripts))
}

/// Makes an imported conversation searchable, under names that no entry of the session has.
pub(crate) async fn index(inner: &Arc<Inner>, id: SessionId) -> Result<()> {
    let found = inner.store.read(move |it| {
        let row = sessions::get(it, id)?;
        Ok((search::has_earlier(it, id)?, row))
    });
    let (is_indexed, row) = found.await?;
    if is_indexed || row.origin.as_deref() != Some("import") {
        return Ok(());
    }
    let (Some(conversation), transcripts) = place(inner, &row)? else {
        return Ok(());
    };
    let until = row.created;
    let read = tokio::task::spawn_blocking(move || {
        let mut words = BTreeMap::new();
        each(&transcripts, &conversation, until, |change| {
            if let Some(mut found) = crate::index::indexed(&change) {
                found.entry = format!("earlier-{}", found.entry);
                // No call of this session: it counts among no figures.
                found.kind = search::EARLIER.to_owned();
                words.insert(change.id(), found);
            }
        })?;
        Ok::<_, ControlError>(words)
    });
    let words = read.await.map_err(broke_off)??;
    let job = move |it: &Connection| {
        let mut words = words.values();
        words.try_for_each(|found| search::put(it, id, found))
    };
    Ok(inner.store.write(Durability::Normal, job).await?)
}

/// What each line of a conversation changes, as if it had come from an agent. False: there is no such conversation.
fn each(
    transcripts: &Transcripts,
    conversation: &str,
    until: u64,
    mut told: impl FnMut(Change),
) -> Result<bool> {
    let unreadable = |error: countersign_client::history::HistoryError| ControlError::Unavailable {
        why: error.to_string(),
        retry_ms: 1_000,
    };
    let id = SessionUuid::parse(conversation)
        .map_err(|error| ControlError::invalid(error.to_string()))?;
    let Some(transcript) = transcripts.find(&id).map_err(unreadable)? else {
        return Ok(false);
    };
    let branch = transcript.branch(&BranchOptions::default());
    let mut fold = Fold::new();
    let mut last = 0;
    for (line, seq) in branch.map_err(unreadable)?.flatten().zip(1..) {
        let at = line
            .written()
            .and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
        let at = at.map_or(last, |at| at.as_micros() as u64);
        if at > until {
            break;
        }
        last = at;
        let Some((kind, payload)) = as_record(&line) else {
            continue;
        };
        let payload = payload.as_bytes();
        let record = Record {
            seq,
            at,
            kind,
            payload,
        };
        fold.step(1, &record)
            .entries
            .into_iter()
            .for_each(&mut told);
    }
    Ok(true)
}

/// A line as it would have crossed: what a person typed comes from the host's side, the rest from the agent.
fn as_record(line: &Line) -> Option<(Kind, String)> {
    let message = line.message()?;
    let has_result =
        memchr::memmem::find(message.as_str().as_bytes(), b"\"tool_result\"").is_some();
    let kind = match line.kind() {
        "assistant" => Kind::Agent,
        "user" if has_result => Kind::Agent,
        "user" => Kind::Host,
        _ => return None,
    };
    let text = serde_json::json!({
        "type": line.kind(),
        "uuid": line.uuid(),
        "parent_tool_use_id": null,
        "message": serde_json::from_str::<serde_json::Value>(message.as_str()).ok()?,
    });
    Some((kind, text.to_string()))
}

/// Whether an entry holds all of these words, or none are wanted. What is masked cannot be guessed at.
fn holds(entry: &Entry, words: Option<&str>, mask: &Mask) -> bool {
    let Some(words) = words else { return true };
    let text = serde_json::to_string(&entry.body).unwrap_or_default();
    let text = mask.of(&text).to_lowercase();
    words
        .to_lowercase()
        .split_whitespace()
        .all(|word| text.contains(word))
}
