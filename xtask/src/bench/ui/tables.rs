//! The figures of `bench ui` as tables.
//!
//! Owns their form. Invariant: what was not measured is a dash, never a number.

use super::super::page::number;
use super::{Figures, Goal};

pub(super) const BARE: &str = "an empty page";
pub(super) const COLD: &str = "nothing kept";
pub(super) const WARM: &str = "kept";
pub(super) const FIRST: &str = "for the first time";
pub(super) const MILLION: &str = "of a million records";
const LIST: &str = "from the list";

/// Cases by part and name.
type Cases<const N: usize> = [(&'static str, &'static str); N];

pub(super) const OPENING: Cases<5> = [
    ("open", COLD),
    ("open", WARM),
    ("open", LIST),
    ("open", FIRST),
    ("open", MILLION),
];
pub(super) const SCROLLING: Cases<2> = [
    ("scroll", "to the beginning"),
    ("scroll", "back to the end"),
];
pub(super) const SCROLLED: Cases<2> = [
    ("memory", "to the beginning"),
    ("memory", "back to the end"),
];
pub(super) const STREAMING: Cases<3> = [
    ("stream", "a session of work, as fast as it goes"),
    ("stream", "100,000 events at once"),
    ("stream", "2000 words, one each 4 ms"),
];

/// The browser tells of no task that took less.
const SHORTEST: f64 = 50.0;

pub(super) fn render(figures: &Figures, machine: &str) -> String {
    let parts = [
        format!("{machine}; sides take turns, medians of all rounds."),
        goals(&figures.goals()),
        opening(figures),
        scrolling(figures),
        memory(figures),
        streaming(figures),
    ];
    parts.join("\n\n")
}

fn goals(goals: &[Goal]) -> String {
    let rows = goals.iter().map(|goal| {
        let verdict = match goal.found {
            Some(found) if found <= goal.most => "met",
            Some(_) => "**missed**",
            None => "not measured",
        };
        let found = match goal.what.starts_with("longest task") {
            true => task(goal.found),
            false => cell(goal.found),
        };
        vec![
            goal.what.to_owned(),
            format!("≤ {} {}", number(goal.most), goal.unit),
            found,
            verdict.to_owned(),
        ]
    });
    let rows: Vec<_> = rows.collect();
    table("**Goals**", &["goal", "wanted", "found", ""], &rows)
}

fn opening(figures: &Figures) -> String {
    let heads = [
        "from the navigation to the newest entry on the screen (ms)",
        "seen",
        "beyond the empty page",
        "first paint",
        "transcript asked for",
        "answered within",
        "requests up to then",
        "KiB",
        "thread worked",
        "longest task",
        "worst round",
        "by the processor",
    ];
    let names = [BARE, "the plain page", COLD, WARM, LIST, FIRST, MILLION];
    let bare = figures.get("open", BARE, "view_ms");
    let rows = names.map(|case| {
        let get = |name: &str| figures.get("open", case, name);
        let beyond = get("view_ms").zip(bare).map(|(seen, bare)| seen - bare);
        let mut row = vec![case.to_owned(), cell(get("view_ms")), cell(beyond)];
        let others = [
            "first_ms",
            "asked_ms",
            "answered_ms",
            "requests",
            "kib",
            "worked_ms",
        ];
        row.extend(others.map(|name| cell(get(name))));
        row.extend(tasks(figures, "open", case));
        row
    });
    let folded = cell(figures.get("session", "work", "folded_ms"));
    format!(
        "{}\n\nThe first page that anybody asked for was there after {folded} ms.",
        table(&titled(figures, "Opening"), &heads, &rows)
    )
}

fn scrolling(figures: &Figures) -> String {
    let heads = [
        "1000 pixels a frame",
        "rows drawn",
        "seconds",
        "frame, p50 (ms)",
        "p99",
        "most",
        "thread worked (ms)",
        "longest task (ms)",
        "worst round",
        "by the processor",
    ];
    let rows = SCROLLING.map(|(part, case)| {
        let names = [
            "rows",
            "seconds",
            "frame_p50_ms",
            "frame_p99_ms",
            "frame_most_ms",
            "worked_ms",
        ];
        let mut row = vec![case.to_owned()];
        row.extend(names.map(|name| cell(figures.get(part, case, name))));
        row.extend(tasks(figures, part, case));
        row
    });
    table(&titled(figures, "Scrolling through"), &heads, &rows)
}

fn memory(figures: &Figures) -> String {
    let heads = [
        "memory after a collection (MiB)",
        "script's heap",
        "renderer's own, all of it",
        "nodes",
        "listeners",
    ];
    let names = [BARE, "opened", SCROLLED[0].1, SCROLLED[1].1];
    let mut rows: Vec<_> = names.map(|case| held(figures, ("memory", case))).into();
    rows.extend(STREAMING.map(|case| held(figures, case)));
    table("**Memory**", &heads, &rows)
}

fn held(figures: &Figures, (part, case): (&str, &str)) -> Vec<String> {
    let names = ["heap_mib", "renderer_mib", "nodes", "listeners"];
    let mut row = vec![case.to_owned()];
    row.extend(names.map(|name| cell(figures.get(part, case, name))));
    row
}

fn streaming(figures: &Figures) -> String {
    let heads = [
        "the page is at the end of the session",
        "seconds to the turn's end on the page",
        "thread worked (ms)",
        "of it for each event (µs)",
        "longest task (ms)",
        "worst round",
        "by the processor",
    ];
    let rows = STREAMING.map(|(part, case)| {
        let get = |name: &str| figures.get(part, case, name);
        let each = get("worked_ms").zip(get("events"));
        let each = each.map(|(worked, events)| worked * 1000.0 / events);
        let mut row = vec![
            case.to_owned(),
            cell(get("seconds")),
            cell(get("worked_ms")),
            cell(each),
        ];
        row.extend(tasks(figures, part, case));
        row
    });
    table("**While an agent writes**", &heads, &rows)
}

/// The longest task of a round, of the worst one, and by the time it had a processor.
fn tasks(figures: &Figures, part: &str, case: &str) -> [String; 3] {
    let longest = figures.get(part, case, "longest_ms");
    let worst = figures.most(part, case, "longest_ms");
    let worked = figures.get(part, case, "cpu_longest_ms");
    [task(longest), task(worst), cell(worked)]
}

/// A title that names how long the session is.
fn titled(figures: &Figures, what: &str) -> String {
    let records = cell(figures.get("session", "work", "records"));
    format!("**{what}** a session of {records} events")
}

/// A table of Markdown: the first column is words, the others are figures.
fn table(title: &str, heads: &[&str], rows: &[Vec<String>]) -> String {
    let mut lines = vec![
        title.to_owned(),
        String::new(),
        format!("| {} |", heads.join(" | ")),
        format!("|---{}|", "|--:".repeat(heads.len() - 1)),
    ];
    lines.extend(rows.iter().map(|row| format!("| {} |", row.join(" | "))));
    lines.join("\n")
}

fn cell(figure: Option<f64>) -> String {
    figure.map_or("–".to_owned(), number)
}

/// The length of a task, of which those below the browser's threshold are not known.
fn task(figure: Option<f64>) -> String {
    match figure {
        Some(length) if length < SHORTEST => format!("< {}", number(SHORTEST)),
        length => cell(length),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::RAW;
    use super::*;

    #[test]
    fn what_was_measured_is_in_the_tables_and_nothing_else() {
        let figures = Figures::read(RAW).unwrap();
        let text = render(&figures, "2 cores");
        let wanted = [
            "| ≤ 1000 ms | 440 | met |",
            "| ≤ 150 MiB | 14 | met |",
            "| longest task, opening | ≤ 100 ms | – | not measured |",
            "| longest task, scrolling | ≤ 100 ms | 130 | **missed** |",
            "**Opening** a session of 101000 events",
            "was there after 416 ms",
            "| an empty page | 40 | 0 | – | – | – | – | – | – | < 50 | < 50 | – |",
            "| nothing kept | 440 | 400 | – | – | – | 9 | 281 | – | 60 | 120 | 41 |",
            "| for the first time | – | – | – | – | – | – | – | – | – | – | – |",
            "| to the beginning | 5000 | 9 | 16.7 | – | – | – | 130 | 130 | – |",
            "| back to the end | 14 | – | 900 | – |",
            "| 100,000 events at once | – | – | – | – | – | – |",
        ];
        for row in wanted {
            assert!(text.contains(row), "no {row}\n{text}");
        }
    }
}
