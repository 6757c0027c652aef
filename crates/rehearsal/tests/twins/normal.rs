//! A log made comparable: each line as a tree whose leaves are values as they are, or what the table makes of them. Pure.
//!
//! Touches no field that the table does not name. Ids are only marked here: whether two logs use theirs in the same places
//! is for the comparison to say.

use std::collections::BTreeSet;
use std::path::Path as Folder;

use countersign_testkit::json::Json;
use countersign_testkit::recording::normalise::Places;
use countersign_testkit::recording::{Dir, Entry};

use super::path::{Path, Step};
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
    /// A point in time: as a text, in seconds, in milliseconds.
    Time(&'static str),
    Figure,
    Prose,
    /// The first words of a long text, up to an id.
    Long(String),
    /// A text with ids in it.
    Text(Vec<Piece>),
}

/// Texts that are longer than this are the vendor's own words, where the table says `Report`, and so many of them count.
/// A recording has kept no more than that.
const LONGEST: usize = 100;
const FIRST: usize = 8;

/// The lines of a log. Stderr is read beside stdout, so its lines go to the end of their run.
pub(crate) fn normal(entries: &[Entry], places: &Places) -> Vec<Line> {
    let normaliser = Normaliser::of(entries, places);
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
    folders: Folders,
    ids: BTreeSet<String>,
}

impl Normaliser {
    pub(crate) fn of(entries: &[Entry], places: &Places) -> Self {
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
        let folders = Folders::new(places);
        Normaliser {
            words,
            folders,
            ids,
        }
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
            let is_id = matches!(lookup(word, path), Some(How::Id | How::LetteredId));
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
                let items = items.into_iter().enumerate().map(|(index, item)| {
                    path.below(Step::Item(index), |path| self.node(word, path, item))
                });
                Node::List(items.collect())
            }
            plain => Node::Leaf(match lookup(word, path) {
                Some(how) => self.leaf(how, plain),
                None => Leaf::Plain(plain),
            }),
        }
    }

    fn leaf(&self, how: How, json: Json) -> Leaf {
        match (how, json) {
            (How::Id, Json::String(id)) => Leaf::Id {
                form: form(&id, false),
                id,
            },
            (How::LetteredId, Json::String(id)) => Leaf::Id {
                form: form(&id, true),
                id,
            },
            (How::Time, Json::String(text)) if has_shape(&text, "0000-00-00T00:00:00.") => {
                Leaf::Time("text")
            }
            (How::Time, Json::Number(number)) => {
                Leaf::Time(match number.as_f64().is_some_and(|number| number > 1e11) {
                    true => "ms",
                    false => "s",
                })
            }
            (How::Figure, Json::Number(_)) => Leaf::Figure,
            (How::Cost, Json::Number(cost)) => Leaf::Plain(Json::Number(rounded(cost))),
            (How::Prose, Json::String(text)) if !text.is_empty() => Leaf::Prose,
            (How::Place, Json::String(text)) => self.text(text),
            (How::Report, Json::String(text)) => {
                let text = self.folders.replace(text);
                match text.chars().count() > LONGEST {
                    true => self.long(&text),
                    false => self.text(text),
                }
            }
            // Of another kind than the table expects: it counts as it is.
            (_, json) => Leaf::Plain(json),
        }
    }

    fn text(&self, text: String) -> Leaf {
        match text.strip_suffix('…') {
            Some(start) => self.long(start),
            None => Leaf::Text(pieces(&self.folders.replace(text), &self.ids)),
        }
    }

    fn long(&self, text: &str) -> Leaf {
        let text = text.trim_end_matches('…');
        let words: Vec<&str> = text.split_whitespace().take(FIRST).collect();
        let words: String = words.join(" ").chars().take(LONGEST).collect();
        // An id may have been cut itself.
        match pieces(&words, &self.ids).first() {
            Some(Piece::Words(words)) => Leaf::Long(words.clone()),
            _ => Leaf::Long(String::new()),
        }
    }
}

/// What two ids of one kind have in common.
fn form(id: &str, lettered: bool) -> String {
    let length = id.len();
    if super::text::uuid_at(id, 0) && length == 36 {
        return "uuid".to_owned();
    }
    match (id.rfind('_'), lettered) {
        (Some(end), _) => format!("{}…{length}", &id[..=end]),
        (None, true) => format!("{}…{length}", id.chars().next().unwrap_or_default()),
        (None, false) => format!("…{length}"),
    }
}

fn rounded(cost: serde_json::Number) -> serde_json::Number {
    let nano = cost.as_f64().map(|cost| (cost * 1e9).round() / 1e9);
    match nano.and_then(serde_json::Number::from_f64) {
        Some(rounded) if cost.is_f64() => rounded,
        _ => cost,
    }
}

/// The folders of a run and what stands for them.
struct Folders(Vec<(String, String)>);

impl Folders {
    fn new(places: &Places) -> Self {
        let mut pairs = Vec::new();
        for (folder, fixed) in [
            (&places.project, "/project"),
            (&places.home, "/home/user"),
            (&places.tmp, "/tmp"),
            (&places.cli, "/opt/claude"),
        ] {
            pairs.push((folder.to_string_lossy().into_owned(), fixed.to_owned()));
            // The CLI names folders after folders: every character but letters and digits is a dash.
            pairs.push((dashed(folder), dashed(Folder::new(fixed))));
        }
        pairs.sort_by_key(|(from, _)| std::cmp::Reverse(from.len()));
        pairs.retain(|(from, to)| from != to);
        Folders(pairs)
    }

    fn replace(&self, text: String) -> String {
        let text = self.0.iter().fold(text, |text, (from, to)| {
            if text.contains(from) {
                text.replace(from, to)
            } else {
                text
            }
        });
        let text = dated(plan_file(text));
        let text = number_after(text, "127.0.0.1:", "8080");
        let text = number_after(text, "/cc-socks/", "4242");
        number_after(text, "/tmp/claude-", "1000")
    }
}

fn dashed(path: &Folder) -> String {
    path.to_string_lossy()
        .replace(|c: char| !c.is_ascii_alphanumeric(), "-")
}

/// Replaces the digits that follow a text: a process id, a user's number.
fn number_after(text: String, before: &str, fixed: &str) -> String {
    let Some(start) = text.find(before).map(|found| found + before.len()) else {
        return text;
    };
    let rest = text[start..].trim_start_matches(|c: char| c.is_ascii_digit());
    match rest.len() == text.len() - start {
        true => text,
        false => format!("{}{fixed}{rest}", &text[..start]),
    }
}

/// A file that is named after the moment: `2026-01-02-030405-…`.
fn dated(text: String) -> String {
    match text.split_at_checked("0000-00-00-000000-".len()) {
        Some((date, rest)) if has_shape(date, "0000-00-00-000000-") => {
            format!("2026-01-01-000000-{rest}")
        }
        _ => text,
    }
}

/// Whether a text begins like another one in which every digit is a nought.
fn has_shape(text: &str, shape: &str) -> bool {
    let mut bytes = text.bytes().zip(shape.bytes());
    text.len() >= shape.len()
        && bytes.all(|(byte, shape)| byte == shape || shape == b'0' && byte.is_ascii_digit())
}

/// Plan files are named by chance.
fn plan_file(text: String) -> String {
    const FOLDER: &str = "/.claude/plans/";
    let Some(start) = text.find(FOLDER).map(|found| found + FOLDER.len()) else {
        return text;
    };
    match text[start..].find(".md") {
        Some(length) if !text[start..start + length].contains(['/', ' ', '\n']) => format!(
            "{}the-plan{}",
            &text[..start],
            plan_file(text[start + length..].to_owned())
        ),
        _ => text,
    }
}
