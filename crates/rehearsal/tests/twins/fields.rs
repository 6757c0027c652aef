//! Every field of a log, one by one, and the line with that field changed: what the tests of the comparison and of the table
//! work with. Pure.

use std::rc::Rc;

use countersign_testkit::json::Json;
use countersign_testkit::recording::{Dir, Entry};

use super::path::{Path, Step};
use super::word::Words;

/// One field of one line.
#[derive(Debug, Clone)]
pub(crate) struct Field {
    /// The entry of the log that it stands in.
    pub entry: usize,
    pub word: String,
    pub path: Path,
    pub value: Json,
    line: Rc<Json>,
}

/// All fields of a log: objects, lists and what is in them; not the lines themselves.
pub(crate) fn of(entries: &[Entry]) -> Vec<Field> {
    let mut words = Words::default();
    for line in entries
        .iter()
        .filter_map(|entry| Json::parse_object(&entry.bytes))
    {
        words.learn(&line);
    }
    let mut fields = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        let is_line = matches!(entry.dir, Dir::In | Dir::Out);
        let parsed = Json::parse_object(&entry.bytes).filter(|_| is_line);
        let word = words.of(entry.dir, parsed.as_ref());
        if let Some(line) = parsed.map(Rc::new) {
            let mut visit = |path: &Path, value: &Json| {
                fields.push(Field {
                    entry: index,
                    word: word.clone(),
                    path: path.clone(),
                    value: value.clone(),
                    line: Rc::clone(&line),
                });
            };
            walk(&mut Path::default(), &line, &mut visit);
        }
    }
    fields
}

fn walk(path: &mut Path, value: &Json, visit: &mut impl FnMut(&Path, &Json)) {
    match value {
        Json::Object(entries) => {
            for (key, value) in entries {
                path.below(Step::Key(key.clone()), |path| {
                    visit(path, value);
                    walk(path, value, visit);
                });
            }
        }
        Json::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                path.below(Step::Item(index), |path| {
                    visit(path, item);
                    walk(path, item, visit);
                });
            }
        }
        _ => {}
    }
}

impl Field {
    /// The line with another value there.
    pub(crate) fn with(&self, value: Json) -> Json {
        replaced(&self.line, &self.path.0, &mut |_| Some(value.clone()))
    }

    /// The line without it; `None` for an item of a list.
    pub(crate) fn without(&self) -> Option<Json> {
        match self.path.0.last() {
            Some(Step::Key(_)) => Some(replaced(&self.line, &self.path.0, &mut |_| None)),
            _ => None,
        }
    }
}

fn replaced(json: &Json, path: &[Step], change: &mut impl FnMut(&Json) -> Option<Json>) -> Json {
    let Some((step, rest)) = path.split_first() else {
        return json.clone();
    };
    let mut next = |value: &Json| match rest {
        [] => change(value),
        rest => Some(replaced(value, rest, change)),
    };
    match (json, step) {
        (Json::Object(entries), Step::Key(key)) => {
            let entries = entries
                .iter()
                .filter_map(|(name, value)| match name == key {
                    true => next(value).map(|value| (name.clone(), value)),
                    false => Some((name.clone(), value.clone())),
                });
            Json::Object(entries.collect())
        }
        (Json::Array(items), Step::Item(index)) => {
            let items = items.iter().enumerate();
            let items = items.filter_map(|(place, item)| match place == *index {
                true => next(item),
                false => Some(item.clone()),
            });
            Json::Array(items.collect())
        }
        _ => json.clone(),
    }
}
