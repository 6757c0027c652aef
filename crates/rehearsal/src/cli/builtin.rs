//! The scenarios that come with the program.
//!
//! Owns their names and texts; the texts lie in `scenarios/`, and the first line of each is its summary.

const ALL: [(&str, &str); 8] = [
    ("tour", include_str!("../../scenarios/tour.scenario")),
    ("plan", include_str!("../../scenarios/plan.scenario")),
    (
        "approvals",
        include_str!("../../scenarios/approvals.scenario"),
    ),
    (
        "questions",
        include_str!("../../scenarios/questions.scenario"),
    ),
    (
        "subagents",
        include_str!("../../scenarios/subagents.scenario"),
    ),
    ("long", include_str!("../../scenarios/long.scenario")),
    ("slow", include_str!("../../scenarios/slow.scenario")),
    ("flood", include_str!("../../scenarios/flood.scenario")),
];

/// Every scenario: its name and a line on what it shows.
pub fn names() -> impl Iterator<Item = (&'static str, &'static str)> {
    ALL.into_iter().map(|(name, text)| (name, summary(text)))
}

/// The text of a scenario by its name.
pub fn get(name: &str) -> Option<&'static str> {
    let found = ALL.into_iter().find(|(known, _)| *known == name);
    found.map(|(_, text)| text)
}

fn summary(text: &'static str) -> &'static str {
    let first = text.lines().next().unwrap_or_default();
    first.trim_start_matches(['#', ' '])
}
