//! The figures of `bench fleet` as tables.
//!
//! Owns their form. Invariant: what was not measured is a dash, never a number.

use super::super::page::number;
use super::{Figures, GOAL_KIB};

/// The case that is held against the goal.
pub(super) const AT_REST: &str = "at rest behind it";

/// Moments of a host, in their order.
const MOMENTS: [(&str, &str); 5] = [
    ("no session", "no session"),
    ("up, before any work", "all up"),
    ("streaming and calling, the most", "streaming and calling"),
    (AT_REST, "at rest"),
    ("all streaming", "streaming until interrupted"),
];

const WAITS: [&str; 4] = [
    "read, at rest",
    "read, all streaming",
    "interrupt, its receipt",
    "interrupt, the turn is over",
];

pub(super) fn render(figures: &Figures, machine: &str) -> String {
    let parts = [
        format!("{machine}; a host process of its own for each number of agents."),
        goal(figures),
        memory(figures),
        work(figures),
        waits(figures),
    ];
    parts.join("\n\n")
}

fn goal(figures: &Figures) -> String {
    let found = figures.each();
    let verdict = match found {
        Some(found) if found <= GOAL_KIB => "met",
        Some(_) => "**missed**",
        None => "not measured",
    };
    let row = [
        "a session beyond the first, host's RSS at rest".to_owned(),
        format!("≤ {} KiB", number(GOAL_KIB)),
        cell(found),
        verdict.to_owned(),
    ];
    table(
        "**Goal**",
        &["goal", "wanted", "found", ""],
        &[row.to_vec()],
    )
}

fn memory(figures: &Figures) -> String {
    let mut heads = vec!["agents at once"];
    heads.extend(MOMENTS.map(|(_, name)| name));
    heads.extend([
        "a session beyond the first (KiB)",
        "beyond the row above (KiB)",
        "its keeper and guard, PSS",
        "its agent, PSS",
    ]);
    let sizes = figures.sizes();
    let rows = sizes.iter().enumerate().map(|(index, size)| {
        let mut row = vec![size.to_string()];
        for (case, _) in MOMENTS {
            row.push(mib(figures.get(*size, "memory", case, "rss_kib")));
        }
        row.push(cell(figures.each_beyond(1, *size, AT_REST)));
        let above = index.checked_sub(1).map(|above| sizes[above]);
        let above = above.and_then(|above| figures.each_beyond(above, *size, AT_REST));
        row.push(cell(above));
        for name in ["keepers_pss_kib", "agents_pss_kib"] {
            let all = figures.get(*size, "others", AT_REST, name);
            row.push(mib(all.map(|all| all / f64::from(*size))));
        }
        row
    });
    let rows: Vec<_> = rows.collect();
    table("**Memory of the host**, RSS (MiB)", &heads, &rows)
}

fn work(figures: &Figures) -> String {
    let heads = [
        "agents",
        "at once",
        "records",
        "transactions",
        "of them synced",
        "records a transaction",
        "reads a record",
        "writes a record",
        "wake-ups a record",
        "CPU a record (µs)",
    ];
    let rows = figures.sizes().into_iter().map(|size| {
        let of = |name: &str| figures.get(size, "work", "streaming", name);
        let each = |name: &str| Some(of(name)? / of("records")?);
        let mut row = vec![size.to_string()];
        row.extend(["at_once", "records", "transactions", "synced"].map(|name| cell(of(name))));
        row.push(cell(each("transactions").map(f64::recip)));
        row.extend(["reads", "writes", "sleeps", "cpu_us"].map(|name| cell(each(name))));
        row
    });
    let rows: Vec<_> = rows.collect();
    table(
        "**Work of the host** while all stream and call",
        &heads,
        &rows,
    )
}

fn waits(figures: &Figures) -> String {
    let sizes = figures.sizes();
    let names: Vec<String> = sizes.iter().map(|size| format!("{size} agents")).collect();
    let mut heads = vec!["p50 · p99 · most"];
    heads.extend(names.iter().map(String::as_str));
    let rows = WAITS.map(|case| {
        let mut row = vec![case.to_owned()];
        row.extend(sizes.iter().map(|size| {
            let of = |name| cell(figures.get(*size, "latency", case, name));
            ["p50_ms", "p99_ms", "most_ms"].map(of).join(" · ")
        }));
        row
    });
    table("**What a client waits for** (ms)", &heads, &rows)
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

fn mib(kib: Option<f64>) -> String {
    cell(kib.map(|kib| kib / 1024.0))
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
            "≤ 300 KiB | 200 | met |",
            "| 1 | – | – | – | 19.5 | – | – | – | – | – |",
            "| 10 | – | – | – | 21.3 | – | 200 | 200 | 4 | 2 |",
            "| 10 | 10 | 4000 | 100 | – | 40 | – | – | – | – |",
            "| read, at rest | – · – · – | 0.13 · 4.2 · 9 |",
        ];
        for row in wanted {
            assert!(text.contains(row), "no {row}\n{text}");
        }
    }

    #[test]
    fn a_missed_goal_is_told() {
        let raw = RAW.replace("21800.0", "31800.0");
        let figures = Figures::read(&raw).unwrap();
        assert!(render(&figures, "2 cores").contains("| **missed** |"));
    }
}
