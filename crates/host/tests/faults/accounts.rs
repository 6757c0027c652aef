//! What the host tells, held against what lies on the disk: approvals, messages, receipts, the state.
//!
//! Owns the judgement, as pure functions. Nothing here knows which fault there was: a round says only whether agents
//! died ([`Died`]). The same functions judge hosts that do something wrong on purpose, and must find it there.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use countersign_host::control::Command;
use serde_json::Value;

use crate::checks::Case;
use crate::orders::Ordered;
use crate::questions::{Asked, asked};

/// Who died in a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Died {
    /// Hosts alone: everything was done, once.
    Hosts,
    /// Agents, too: what was under way went with them.
    Agents,
}

/// A promise that was not kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wrong {
    pub(crate) promise: String,
    what: String,
}

impl Wrong {
    pub(crate) fn of(promise: impl Into<String>, what: impl Into<String>) -> Self {
        Self {
            promise: promise.into(),
            what: what.into(),
        }
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.promise, self.what)
    }
}

/// What a client knows: what it wanted, what it was told, and how everything stands in the end.
#[derive(Debug, Clone, Default)]
pub(crate) struct Account {
    pub(crate) commands: Vec<Ordered>,
    /// By key, from all hosts.
    pub(crate) receipts: Vec<(String, Value)>,
    pub(crate) report: Value,
}

/// A message that was ordered.
pub(crate) struct Wanted {
    pub(crate) uuid: String,
    /// As the queue has it.
    id: String,
    text: String,
    key: String,
    in_order: bool,
}

/// The messages among these commands.
pub(crate) fn wanted(commands: &[Ordered]) -> impl Iterator<Item = Wanted> {
    let of = |ordered: &Ordered| {
        let (message, in_order) = match &ordered.command {
            Command::Start(new) => (new.prompt.clone()?, true),
            Command::Send { message, .. } => (message.clone(), true),
            // It goes in front of what waits.
            Command::Resume { message, .. } => (message.clone()?, false),
            _ => return None,
        };
        Some(Wanted {
            uuid: message.id.uuid(),
            id: message.id.to_string(),
            text: message.text,
            key: ordered.key.clone(),
            in_order,
        })
    };
    commands.iter().filter_map(of)
}

impl Account {
    /// Everything that is wrong.
    pub(crate) fn wrong(&self, case: &Case, died: Died) -> Vec<Wrong> {
        let mut wrong = self.same_receipts();
        wrong.extend(self.messages(case, died));
        wrong.extend(self.order(case));
        wrong.extend(self.rows(case));
        wrong.extend(self.rules());
        wrong.extend(self.rest());
        if died == Died::Hosts {
            wrong.extend(self.marks(case));
        }
        wrong
    }

    /// The same key gave the same receipt, whichever host was asked.
    fn same_receipts(&self) -> Vec<Wrong> {
        let mut first: BTreeMap<&str, &Value> = BTreeMap::new();
        let mut wrong = Vec::new();
        for (key, receipt) in &self.receipts {
            let known = first.entry(key).or_insert(receipt);
            if *known != receipt {
                let what = format!("{key}: first {known}, then {receipt}");
                wrong.push(Wrong::of("Receipts", what));
            }
        }
        wrong
    }

    /// What was acknowledged was read by an agent, or waits: written once while its agent lived, and under one name.
    fn messages(&self, case: &Case, died: Died) -> Vec<Wrong> {
        let mut wrong = Vec::new();
        let written = written(case);
        let waiting = self.report["queue"].as_array().into_iter().flatten();
        let waiting: Vec<&str> = waiting.filter_map(|it| it["id"].as_str()).collect();
        let taken = taken(case);
        for wanted in wanted(&self.commands) {
            let times = written.iter().filter(|it| it.uuid == wanted.uuid).count();
            let is_known = self.receipts.iter().any(|(key, _)| *key == wanted.key);
            let waits = waiting.contains(&wanted.id.as_str());
            if is_known && !waits && !taken.contains(&wanted.uuid) {
                let what = format!("no agent has read {}, written {times} times", wanted.key);
                wrong.push(Wrong::of("Acknowledged", what));
            }
            let of_text = written.iter().filter(|it| it.text == wanted.text);
            let names: BTreeSet<&str> = of_text.map(|it| it.uuid.as_str()).collect();
            if names.len() > 1 && wanted.in_order {
                let what = format!("{} was written under {} names", wanted.key, names.len());
                wrong.push(Wrong::of("OneName", what));
            }
            if died == Died::Hosts && times > 1 {
                let what = format!("{} was written {times} times", wanted.key);
                wrong.push(Wrong::of("WrittenOnce", what));
            }
        }
        wrong
    }

    /// Messages reached the agent in the order in which they were taken.
    fn order(&self, case: &Case) -> Vec<Wrong> {
        let wanted: Vec<Wanted> = wanted(&self.commands).collect();
        let place = |uuid: &str| wanted.iter().position(|it| it.in_order && it.uuid == uuid);
        let mut seen = BTreeSet::new();
        let firsts = written(case)
            .into_iter()
            .filter(|it| seen.insert(it.uuid.clone()));
        let places: Vec<usize> = firsts.filter_map(|it| place(&it.uuid)).collect();
        match places.is_sorted() {
            true => Vec::new(),
            false => vec![Wrong::of("QueueOrder", format!("they went as {places:?}"))],
        }
    }

    /// Every question has its row, and what the row says follows from the journal.
    pub(crate) fn rows(&self, case: &Case) -> Vec<Wrong> {
        let rows = self.report["approvals"].as_array().into_iter().flatten();
        let mut rows: BTreeMap<String, &Value> = rows
            .map(|row| (row["record"].as_str().unwrap_or_default().to_owned(), row))
            .collect();
        let mut wrong = Vec::new();
        for (record, asked) in asked(case) {
            let Some(row) = rows.remove(&record) else {
                wrong.push(Wrong::of(
                    "Rows",
                    format!("the question {record} has no row"),
                ));
                continue;
            };
            if row["request_id"] != asked.id {
                let what = format!("{record} is about {}, not {}", row["request_id"], asked.id);
                wrong.push(Wrong::of("Rows", what));
            }
            let life = life_of(row);
            if !asked.lives().contains(&life.as_str()) {
                let what = format!(
                    "{record} ({}) is {life}, should be {:?}",
                    asked.mark,
                    asked.lives()
                );
                wrong.push(Wrong::of("Lives", what));
            }
            let by = row["decided"]["by"].as_str();
            if asked.by.is_some() && by != asked.by.as_deref() {
                let what = format!("{record}: by {by:?}, the journal says {:?}", asked.by);
                wrong.push(Wrong::of("Lives", what));
            }
        }
        let strange = rows.into_keys();
        wrong.extend(strange.map(|it| Wrong::of("Rows", format!("nobody asked {it}"))));
        wrong
    }

    /// What a person allowed from now on is decided by rule from then on, whichever host there is.
    fn rules(&self) -> Vec<Wrong> {
        let rows = self.report["approvals"].as_array().into_iter().flatten();
        let of_program = |row: &&Value| {
            let command = row["input"]["command"].as_str().unwrap_or_default();
            command.starts_with("./echo ") && !row["decided"].is_null()
        };
        let mut rows: Vec<&Value> = rows.filter(of_program).collect();
        rows.sort_by_key(|row| row["asked"].as_u64());
        let by_hand = rows
            .iter()
            .skip(1)
            .filter(|row| row["decided"]["by"] != "rule");
        let wrong = by_hand.map(|row| format!("{} was asked again", row["record"]));
        wrong.map(|what| Wrong::of("Rules", what)).collect()
    }

    /// The session is idle and nothing waits.
    fn rest(&self) -> Vec<Wrong> {
        let session = &self.report["session"];
        let is_at_rest = session["state"] == "idle"
            && session["queued"] == 0
            && session["open_approvals"] == 0
            && session["cut_off"] == false;
        match is_at_rest {
            true => Vec::new(),
            false => vec![Wrong::of("Rest", session.to_string())],
        }
    }

    /// Where only hosts died, each message did what it does, once.
    fn marks(&self, case: &Case) -> Vec<Wrong> {
        let questions: Vec<Asked> = asked(case).into_values().collect();
        let mut due: Vec<String> = Vec::new();
        for wanted in wanted(&self.commands).filter(|it| it.in_order) {
            let name = wanted
                .text
                .trim_start_matches("This is ")
                .trim_end_matches('.');
            let marks = questions.iter().map(|asked| asked.mark.clone());
            let marks: BTreeSet<String> = marks
                .filter(|mark| mark.split('-').next() == Some(name) && !mark.ends_with("-no"))
                .collect();
            if marks.is_empty() {
                return vec![Wrong::of("Marks", format!("{} did not run", wanted.key))];
            }
            due.extend(marks);
        }
        let mut ran = case.ran.clone();
        due.sort();
        ran.sort();
        match due == ran {
            true => Vec::new(),
            false => vec![Wrong::of("Marks", format!("ran {ran:?}, due {due:?}"))],
        }
    }
}

/// The messages of which an agent said that it has begun with them.
fn taken(case: &Case) -> BTreeSet<String> {
    let said = case.journal.said();
    let begun = said.filter_map(|(_, line)| match line["type"].as_str()? {
        "command_lifecycle" if line["state"] == "started" => {
            line["command_uuid"].as_str().map(str::to_owned)
        }
        "user" if line["isReplay"] == true => line["uuid"].as_str().map(str::to_owned),
        _ => None,
    });
    begun.collect()
}

/// A message that reached an agent.
struct Written {
    uuid: String,
    text: String,
}

fn written(case: &Case) -> Vec<Written> {
    let lines = case.witnesses.values().flat_map(|it| it.lines_heard());
    let messages = lines.filter(|line| line["type"] == "user");
    let one = |line: Value| {
        let content = &line["message"]["content"];
        let text = content.as_str().or_else(|| content[0]["text"].as_str());
        Some(Written {
            uuid: line["uuid"].as_str()?.to_owned(),
            text: text.unwrap_or_default().to_owned(),
        })
    };
    messages.filter_map(one).collect()
}

/// Where an approval is, in two words.
pub(crate) fn life_of(row: &Value) -> String {
    let life = row["life"].as_str().unwrap_or_default();
    let more = row["outcome"].as_str().or_else(|| row["why"].as_str());
    match more {
        Some(more) => format!("{life} {more}"),
        None => life.to_owned(),
    }
}
