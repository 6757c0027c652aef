//! What a person reads: the differences of a twin, and a line for each of all twins. Pure.

use std::fmt::Write as _;

use super::compare::{Difference, Side};

/// What became of one twin.
#[derive(Debug)]
pub(crate) struct Twin {
    pub scenario: String,
    /// How many lines each has.
    pub lines: (usize, usize),
    pub differences: Vec<Difference>,
    /// Why the scripted CLI did not play to the end.
    pub halted: Option<String>,
}

impl Twin {
    /// Whether the two agree.
    pub(crate) fn agrees(&self) -> bool {
        self.differences.is_empty() && self.halted.is_none()
    }

    /// All differences, line by line.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        let (real, scripted) = self.lines;
        let count = self.differences.len();
        let _ = writeln!(
            text,
            "== {}: {count} differences ({real} lines real, {scripted} scripted)",
            self.scenario
        );
        if let Some(halted) = &self.halted {
            let _ = writeln!(text, "   HALTED: {halted}");
        }
        for difference in &self.differences {
            let _ = writeln!(text, "   {}", shown(difference));
        }
        text
    }
}

fn shown(difference: &Difference) -> String {
    let Difference {
        number,
        word,
        path,
        real,
        scripted,
    } = difference;
    let line = format!("line {number:>3}  {word}");
    match (path.0.is_empty(), real, scripted) {
        (true, Side::Nothing, _) => format!("{line}  + only the scripted CLI says this"),
        (true, _, _) => format!("{line}  - only the real CLI says this"),
        (false, _, Side::Nothing) => format!("{line}  - {path}: {real}"),
        (false, Side::Nothing, _) => format!("{line}  + {path}: {scripted}"),
        (false, _, _) => format!("{line}  ~ {path}: {real} | {scripted}"),
    }
}

/// One row a twin.
pub(crate) fn summary(twins: &[Twin]) -> String {
    let mut text = String::new();
    for twin in twins {
        let (real, scripted) = twin.lines;
        let verdict = match twin.agrees() {
            true => "agrees".to_owned(),
            false => format!("{} differences", twin.differences.len()),
        };
        let _ = writeln!(
            text,
            "{:<28} {real:>5} {scripted:>5} {verdict}",
            twin.scenario
        );
    }
    let agreeing = twins.iter().filter(|twin| twin.agrees()).count();
    let _ = writeln!(text, "{agreeing} of {} agree", twins.len());
    text
}
