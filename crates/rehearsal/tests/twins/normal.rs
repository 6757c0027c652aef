//! A log as lines of named fields: what the table lets pass is taken out, and ids are told from the words around them. Pure.

use std::collections::{BTreeMap, BTreeSet};

use countersign_testkit::recording::{Dir, Entry};
use regex::Regex;
use serde_json::{Value, json};

use super::table::{How, lookup};
use super::word::Words;

/// One line of a log.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Line {
    /// Its place in the log, from 1.
    pub number: usize,
    pub word: String,
    /// Its values by their place: `message.content[0].id`.
    pub fields: BTreeMap<String, Leaf>,
}

impl Line {
    pub(crate) fn id(&self, place: &str) -> Option<&str> {
        match self.fields.get(place) {
            Some(Leaf::Id { id, .. }) => Some(id),
            _ => None,
        }
    }
}

/// What is left of a value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Leaf {
    /// As it is.
    Plain(Value),
    /// An id and its form.
    Id {
        form: String,
        id: String,
    },
    Figure,
    Prose,
    /// A text, and the ids in it.
    Text(Vec<Piece>),
}

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    Words(String),
    Id(String),
}

/// The lines of a log. Stderr is read beside stdout, so its lines go to the end of their run.
pub(crate) fn normal(entries: &[Entry]) -> Vec<Line> {
    let normaliser = Normaliser::of(entries);
    let mut lines: Vec<Line> = Vec::new();
    let mut stderr: Vec<Line> = Vec::new();
    for (entry, number) in entries.iter().zip(1..) {
        let line = normaliser.line(number, entry);
        if entry.dir == Dir::End {
            lines.append(&mut stderr);
        }
        match entry.dir {
            Dir::Err => stderr.push(line),
            _ => lines.push(line),
        }
    }
    lines.append(&mut stderr);
    lines
}

/// What is to be known of a whole log before a line of it can be normalised.
pub(crate) struct Normaliser {
    words: Words,
    ids: Regex,
}

/// Longer than any text that tells an id.
const LONGEST: usize = 20_000;
const UUID: &str = "[[:xdigit:]]{8}(?:-[[:xdigit:]]{4}){3}-[[:xdigit:]]{12}";

impl Normaliser {
    pub(crate) fn of(entries: &[Entry]) -> Self {
        let lines = entries.iter().map(|entry| (entry.dir, parsed(entry)));
        let lines: Vec<(Dir, Option<Value>)> = lines.collect();
        let mut words = Words::default();
        for (_, line) in &lines {
            line.iter().for_each(|line| words.learn(line));
        }
        let mut ids = BTreeSet::new();
        for (dir, line) in &lines {
            let word = words.of(*dir, line.as_ref());
            for (place, value) in line.iter().flat_map(fields) {
                let text = value.as_str().unwrap_or_default();
                let is_id = lookup(&word, &generic(&place)) == Some(How::Id);
                // Something shorter, or the host's own, would be found inside of ordinary words.
                if is_id && text.len() >= 8 && !text.starts_with("host-") {
                    ids.insert(regex::escape(text));
                }
            }
        }
        // Of several that begin alike, the longest.
        let known: Vec<String> = ids.into_iter().rev().chain([UUID.to_owned()]).collect();
        let ids = Regex::new(&known.join("|")).unwrap();
        Normaliser { words, ids }
    }

    pub(crate) fn line(&self, number: usize, entry: &Entry) -> Line {
        let parsed = parsed(entry);
        let word = self.words.of(entry.dir, parsed.as_ref());
        let text = || json!({"text": String::from_utf8_lossy(&entry.bytes)});
        let mut json = parsed.unwrap_or_else(text);
        if let ("system/init", Some(Value::Array(tools))) = (&*word, json.get_mut("tools")) {
            tools.retain(|tool| !is_not_run(tool));
        }
        let fields = fields(&json).into_iter().map(|(place, value)| {
            let how = lookup(&word, &generic(&place));
            let place = place.trim_start_matches('.').to_owned();
            (place, self.leaf(how, value))
        });
        let fields = fields.collect();
        Line {
            number,
            word,
            fields,
        }
    }

    fn leaf(&self, how: Option<How>, value: &Value) -> Leaf {
        match (how, value) {
            (Some(How::Id), Value::String(id)) => Leaf::Id {
                form: format!("{}…{}", kind(id), id.len()),
                id: id.clone(),
            },
            (Some(How::Figure), Value::Number(_)) => Leaf::Figure,
            (Some(How::Prose), Value::String(text)) if !text.is_empty() => Leaf::Prose,
            (_, Value::String(text)) => Leaf::Text(self.pieces(text)),
            (_, value) => Leaf::Plain(value.clone()),
        }
    }

    /// The text, cut at the ids in it: those that are known, and every UUID.
    fn pieces(&self, text: &str) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let mut end = 0;
        let ids = self.ids.find_iter(text);
        for id in ids.filter(|_| text.len() <= LONGEST) {
            pieces.push(Piece::Words(text[end..id.start()].to_owned()));
            pieces.push(Piece::Id(id.as_str().to_owned()));
            end = id.end();
        }
        pieces.push(Piece::Words(text[end..].to_owned()));
        pieces
    }
}

pub(crate) fn parsed(entry: &Entry) -> Option<Value> {
    let is_line = matches!(entry.dir, Dir::In | Dir::Out);
    let line = serde_json::from_slice(&entry.bytes).ok();
    line.filter(|line: &Value| is_line && line.is_object())
}

/// The values of a line that hold no other, by their place.
fn fields(line: &Value) -> Vec<(String, &Value)> {
    let below: Vec<(String, &Value)> = match line {
        Value::Object(fields) => (fields.iter())
            .map(|(key, value)| (format!(".{key}"), value))
            .collect(),
        Value::Array(items) => (items.iter().enumerate())
            .map(|(index, item)| (format!("[{index}]"), item))
            .collect(),
        _ => Vec::new(),
    };
    if below.is_empty() {
        return vec![(String::new(), line)];
    }
    let deeper = |(step, value)| {
        let fields = fields(value).into_iter();
        fields.map(move |(place, value)| (format!("{step}{place}"), value))
    };
    below.into_iter().flat_map(deeper).collect()
}

/// A place as the table writes it: without the dot in front, and with `[]` for every place in a list.
pub(crate) fn generic(place: &str) -> String {
    let parts = place.split('[').enumerate();
    let parts = parts.map(|(index, part)| match part.split_once(']') {
        Some((_, rest)) if index > 0 => format!("[]{rest}"),
        _ => part.to_owned(),
    });
    let written: String = parts.collect();
    written.trim_start_matches('.').to_owned()
}

/// Whether it is a tool that the scripted CLI cannot run, and does not list.
fn is_not_run(tool: &Value) -> bool {
    const NOT_RUN: &str = "CronCreate CronDelete CronList EnterWorktree ExitWorktree ListAgents Monitor ReportFindings \
                           ScheduleWakeup SendMessage Skill ToolSearch Workflow TaskCreate TaskGet TaskList TaskUpdate \
                           NotebookEdit Glob Grep";
    NOT_RUN.split(' ').any(|name| tool == name)
}

/// What an id begins with that says of which kind it is. A recording numbers most ids and keeps that.
fn kind(id: &str) -> &str {
    match (id.rfind('_'), id.split_at_checked(1)) {
        (Some(end), _) => &id[..end],
        (None, Some((letter, rest))) if rest.bytes().all(|byte| byte.is_ascii_digit()) => letter,
        _ => "",
    }
}
