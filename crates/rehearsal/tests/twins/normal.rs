//! A log made comparable: each line of a recording as a tree whose leaves are values as they are, or what the table makes of
//! them. Pure.
//!
//! Touches no field that the table does not name. Ids are only marked here: whether two logs use theirs in the same places
//! is for the comparison to say.

use std::collections::BTreeSet;

use countersign_testkit::json::Json;
use countersign_testkit::recording::{Dir, Entry};

use super::path::{Path, Pattern, Step};
use super::table::{How, lookup};
use super::text::{Piece, pieces};
use super::word::Words;

/// One line of a log.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    /// Its place in the log, from 1.
    pub number: usize,
    pub word: String,
    pub node: Node,
}

/// A value of a line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Node {
    Object(Vec<(String, Node)>),
    List(Vec<Node>),
    Leaf(Leaf),
}

impl Node {
    /// The id that stands under these keys.
    pub(crate) fn id(&self, keys: &[&str]) -> Option<&str> {
        match (self, keys.split_first()) {
            (Node::Leaf(Leaf::Id { id, .. }), None) => Some(id),
            (Node::Object(entries), Some((key, rest))) => {
                let (_, below) = entries.iter().find(|(name, _)| name == key)?;
                below.id(rest)
            }
            _ => None,
        }
    }
}

/// What is left of a value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Leaf {
    /// As it is.
    Plain(Json),
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

/// The lines of a log. Stderr is read beside stdout, so its lines go to the end of their run.
pub(crate) fn normal(entries: &[Entry]) -> Vec<Line> {
    let normaliser = Normaliser::of(entries);
    let mut lines: Vec<Line> = Vec::new();
    let mut stderr: Vec<Line> = Vec::new();
    for (entry, number) in entries.iter().zip(1..) {
        let line = normaliser.line(number, entry);
        match entry.dir {
            Dir::Err => stderr.push(line),
            Dir::End => {
                lines.append(&mut stderr);
                lines.push(line);
            }
            _ => lines.push(line),
        }
    }
    lines.append(&mut stderr);
    lines
}

/// What is to be known of a whole log before a line of it can be normalised.
pub(crate) struct Normaliser {
    words: Words,
    ids: BTreeSet<String>,
}

impl Normaliser {
    pub(crate) fn of(entries: &[Entry]) -> Self {
        let mut words = Words::default();
        let lines = entries.iter().map(|entry| (entry.dir, parsed(entry)));
        let lines: Vec<(Dir, Option<Json>)> = lines.collect();
        for (_, line) in &lines {
            line.iter().for_each(|line| words.learn(line));
        }
        let mut ids = BTreeSet::new();
        for (dir, line) in &lines {
            if let Some(line) = line {
                let word = words.of(*dir, Some(line));
                learn(&word, &mut Path::default(), line, &mut ids);
            }
        }
        Normaliser { words, ids }
    }

    pub(crate) fn line(&self, number: usize, entry: &Entry) -> Line {
        let parsed = parsed(entry);
        let word = self.words.of(entry.dir, parsed.as_ref());
        let text = || Json::from(&*String::from_utf8_lossy(&entry.bytes));
        let json = parsed.unwrap_or_else(|| Json::object([("text", text())]));
        let node = self.node(&word, &mut Path::default(), json);
        Line { number, word, node }
    }
}

fn parsed(entry: &Entry) -> Option<Json> {
    match entry.dir {
        Dir::In | Dir::Out => Json::parse_object(&entry.bytes),
        _ => None,
    }
}

/// The ids of a log: they are looked for in texts, too.
fn learn(word: &str, path: &mut Path, json: &Json, ids: &mut BTreeSet<String>) {
    match json {
        Json::Object(entries) => {
            for (key, value) in entries {
                path.below(Step::Key(key.clone()), |path| learn(word, path, value, ids));
            }
        }
        Json::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                path.below(Step::Item(index), |path| learn(word, path, item, ids));
            }
        }
        Json::String(text) => {
            let is_id = lookup(word, path) == Some(How::Id);
            // Something shorter, or the host's own, would be found inside of ordinary words.
            if is_id && text.len() >= 8 && !text.starts_with("host-") {
                ids.insert(text.clone());
            }
        }
        _ => {}
    }
}

impl Normaliser {
    fn node(&self, word: &str, path: &mut Path, json: Json) -> Node {
        match json {
            Json::Object(entries) => {
                let entries = entries.into_iter().map(|(key, value)| {
                    let step = Step::Key(key.clone());
                    let node = path.below(step, |path| self.node(word, path, value));
                    (key, node)
                });
                Node::Object(entries.collect())
            }
            Json::Array(items) => {
                let is_list_of_tools =
                    word == "system/init" && Pattern::parse("tools").matches(path);
                let items = items.into_iter();
                let items = items.filter(|item| !(is_list_of_tools && is_not_run(item)));
                let items = items.enumerate().map(|(index, item)| {
                    path.below(Step::Item(index), |path| self.node(word, path, item))
                });
                Node::List(items.collect())
            }
            plain => Node::Leaf(self.leaf(lookup(word, path), plain)),
        }
    }

    fn leaf(&self, how: Option<How>, json: Json) -> Leaf {
        match (how, json) {
            (Some(How::Id), Json::String(id)) => {
                let form = format!("{}…{}", kind(&id), id.len());
                Leaf::Id { form, id }
            }
            (Some(How::Figure), Json::Number(_)) => Leaf::Figure,
            (Some(How::Prose), Json::String(text)) if !text.is_empty() => Leaf::Prose,
            (_, Json::String(text)) => Leaf::Text(pieces(&text, &self.ids)),
            (_, json) => Leaf::Plain(json),
        }
    }
}

/// Whether it is a tool that the scripted CLI cannot run, and does not list.
fn is_not_run(tool: &Json) -> bool {
    const NOT_RUN: &str = "CronCreate CronDelete CronList EnterWorktree ExitWorktree ListAgents Monitor ReportFindings \
                           ScheduleWakeup SendMessage Skill ToolSearch Workflow TaskCreate TaskGet TaskList TaskUpdate";
    let Json::String(name) = tool else {
        return false;
    };
    NOT_RUN.split(' ').any(|tool| tool == name)
}

/// What an id begins with that says of which kind it is. A recording numbers most ids and keeps that.
fn kind(id: &str) -> &str {
    match (id.rfind('_'), id.split_at_checked(1)) {
        (Some(end), _) => &id[..end],
        (None, Some((letter, rest))) if rest.bytes().all(|byte| byte.is_ascii_digit()) => letter,
        _ => "",
    }
}
