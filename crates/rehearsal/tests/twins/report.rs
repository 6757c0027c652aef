//! What a person reads: the differences of a twin, and a table of all twins. Pure.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::accepted::Sorted;
use super::compare::{Difference, Side};

/// What became of one twin.
#[derive(Debug)]
pub(crate) struct Twin {
    pub scenario: String,
    /// How many lines each has.
    pub lines: (usize, usize),
    pub sorted: Sorted,
    /// Why the scripted CLI did not play to the end.
    pub halted: Option<String>,
}

impl Twin {
    /// Whether the two agree.
    pub(crate) fn agrees(&self) -> bool {
        self.sorted.open.is_empty() && self.sorted.unused.is_empty() && self.halted.is_none()
    }

    /// All differences, line by line.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        let (real, scripted) = self.lines;
        let open = self.sorted.open.len();
        let _ = writeln!(
            text,
            "== {}: {open} differences ({real} lines real, {scripted} scripted)",
            self.scenario
        );
        if let Some(halted) = &self.halted {
            let _ = writeln!(text, "   HALTED: {halted}");
        }
        for entry in &self.sorted.unused {
            let (word, path) = (entry.word, entry.path);
            let _ = writeln!(text, "   accepted, but does not occur: {word} {path}");
        }
        let mut last = None;
        let mut row = Row::default();
        for difference in &self.sorted.open {
            let line = (difference.number, &difference.word);
            let whole = difference.path.0.is_empty();
            if whole || last != Some(line) {
                text.push_str(&row.end());
                let _ = writeln!(text, "   line {:>3}  {}", line.0, headline(difference));
            }
            last = (!whole).then_some(line);
            if !whole {
                text.push_str(&row.next(difference));
            }
        }
        text.push_str(&row.end());
        text
    }
}

/// Fields that differ in the same place of many items of a list: the first of them are shown, the rest is counted.
#[derive(Default)]
struct Row {
    place: String,
    length: usize,
}

impl Row {
    const SHOWN: usize = 3;

    fn next(&mut self, difference: &Difference) -> String {
        let place = difference.path.generic();
        let mut text = String::new();
        if place != self.place || !place.contains("[]") {
            text = self.end();
            self.place = place;
        }
        self.length += 1;
        if self.length <= Self::SHOWN {
            let _ = writeln!(text, "        {}", field(difference));
        }
        text
    }

    fn end(&mut self) -> String {
        let more = self.length.saturating_sub(Self::SHOWN);
        let text = match more {
            0 => String::new(),
            more => format!("          and {more} more of {}\n", self.place),
        };
        *self = Row::default();
        text
    }
}

fn headline(difference: &Difference) -> String {
    let word = &difference.word;
    if !difference.path.0.is_empty() {
        return word.clone();
    }
    match difference.real {
        Side::Nothing => format!("+ {word}      only the scripted CLI says this (after that line)"),
        _ => format!("- {word}      only the real CLI says this"),
    }
}

fn field(difference: &Difference) -> String {
    let Difference {
        path,
        real,
        scripted,
        ..
    } = difference;
    match (real, scripted) {
        (_, Side::Nothing) => format!("- {path}: {real}"),
        (Side::Nothing, _) => format!("+ {path}: {scripted}"),
        _ => format!("~ {path}: {real} | {scripted}"),
    }
}

/// One row a twin, then the differences by how many twins have them.
pub(crate) fn summary(twins: &[Twin]) -> String {
    let mut text = format!(
        "{:<28} {:>5} {:>8} {:>7} {:>5} {:>6} {:>8}\n",
        "scenario", "real", "scripted", "missing", "extra", "fields", "accepted"
    );
    for twin in twins {
        let count = |wanted: fn(&Difference) -> bool| {
            let open = twin.sorted.open.iter();
            open.filter(|difference| wanted(difference)).count()
        };
        let _ = writeln!(
            text,
            "{:<28} {:>5} {:>8} {:>7} {:>5} {:>6} {:>8} {}",
            twin.scenario,
            twin.lines.0,
            twin.lines.1,
            count(|difference| difference.real == Side::Line),
            count(|difference| difference.scripted == Side::Line),
            count(|difference| !difference.path.0.is_empty()),
            twin.sorted.accepted,
            match (&twin.halted, twin.agrees()) {
                (Some(_), _) => "HALTED",
                (None, true) => "agrees",
                (None, false) => "",
            },
        );
    }
    let agreeing = twins.iter().filter(|twin| twin.agrees()).count();
    let _ = writeln!(text, "{agreeing} of {} agree\n", twins.len());
    text.push_str(&most_common(twins));
    text
}

fn most_common(twins: &[Twin]) -> String {
    let mut by_kind: BTreeMap<(String, String), (Vec<&str>, &Difference)> = BTreeMap::new();
    for twin in twins {
        for difference in &twin.sorted.open {
            let kind = (difference.word.clone(), difference.path.generic());
            let (scenarios, _) = by_kind.entry(kind).or_insert((Vec::new(), difference));
            if scenarios.last() != Some(&&*twin.scenario) {
                scenarios.push(&twin.scenario);
            }
        }
    }
    let mut kinds: Vec<_> = by_kind.into_iter().collect();
    kinds.sort_by_key(|(_, (scenarios, _))| std::cmp::Reverse(scenarios.len()));
    let mut text = "scenarios  line and field (an example)\n".to_owned();
    for ((word, _), (scenarios, difference)) in kinds {
        let what = match difference.path.0.is_empty() {
            true => headline(difference),
            false => format!("{word}  {}", field(difference)),
        };
        let first = scenarios.first().unwrap_or(&"");
        let _ = writeln!(text, "{:>9}  {what}   [{first}]", scenarios.len());
    }
    text
}
