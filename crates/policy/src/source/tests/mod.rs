//! Texts and files of rules, as people write them and as they break them.

mod load;
mod settings;
mod toml;

use super::{Problem, Read};

/// The rules with their lines, for whole comparisons.
fn rules(read: &Read) -> Vec<String> {
    read.rules
        .iter()
        .map(|rule| format!("{rule} @{}", rule.origin))
        .collect()
}

fn problems(problems: &[Problem]) -> Vec<String> {
    let shown = |problem: &Problem| {
        let stops = if problem.stops { "stops " } else { "" };
        format!("{stops}{problem}")
    };
    problems.iter().map(shown).collect()
}
