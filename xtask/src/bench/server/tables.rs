//! The figures of `bench server` as tables.
//!
//! Owns their form. Invariant: what was not measured is a dash, never a number.

use super::super::page::number;
use super::{Figures, Goal};

pub(super) const READER: &str = "an SSE reader";
pub(super) const BY_RULE: &str = "by rule";

/// Ways of a record, the shortest first.
const WAYS: [&str; 4] = [
    "pipe and memchr",
    "loopback, there and back",
    "a follower in the host's process",
    READER,
];

const APPROVALS: [&str; 6] = [
    "a block of 4 KiB, synced",
    BY_RULE,
    "by rule, on a disk that is memory",
    "by a client over HTTP",
    "of it: the client looks",
    "of it: the client's decision is stored",
];

const PAGES: [&str; 2] = ["the usual page", "the largest page"];

pub(super) fn render(figures: &Figures, machine: &str) -> String {
    let parts = [
        format!("{machine}; sides take turns, medians of all rounds."),
        goals(&figures.goals()),
        ways(figures),
        flood(figures),
        approvals(figures),
        list(figures),
    ];
    parts.join("\n\n")
}

fn goals(goals: &[Goal]) -> String {
    let rows = goals.iter().map(|goal| {
        let verdict = match goal.found_us {
            Some(found) if found <= goal.most_us => "met",
            Some(_) => "**missed**",
            None => "not measured",
        };
        vec![
            goal.what.to_owned(),
            format!("≤ {} µs", number(goal.most_us)),
            cell(goal.found_us),
            verdict.to_owned(),
        ]
    });
    let rows: Vec<_> = rows.collect();
    table("**Goals**", &["goal", "wanted", "found", ""], &rows)
}

/// What a case did for each of something, and how long it took.
fn counts(figures: &Figures, part: &str, case: &str, of: &str) -> Vec<String> {
    let each = |name: &str| cell(figures.each(part, case, name, of));
    [
        "server_sleeps",
        "keeper_sleeps",
        "server_reads",
        "server_writes",
        "keeper_reads",
        "keeper_writes",
        "server_cpu_us",
        "keeper_cpu_us",
    ]
    .map(each)
    .to_vec()
}

const COUNTS: [&str; 8] = [
    "wake-ups, server",
    "keeper",
    "reads, server",
    "writes",
    "reads, keeper",
    "writes",
    "CPU, server (µs)",
    "keeper",
];

const TIMES: [&str; 3] = ["p50_us", "p90_us", "p99_us"];

fn ways(figures: &Figures) -> String {
    let mut heads = vec!["one line of 300 B each ms"];
    heads.extend(COUNTS);
    heads.extend(["p50 (µs)", "p90", "p99"]);
    let rows = WAYS.map(|case| {
        let mut row = vec![case.to_owned()];
        row.extend(counts(figures, "alone", case, "records"));
        row.extend(TIMES.map(|name| cell(figures.get("alone", case, name))));
        row
    });
    table(
        "**From the agent's write to the read**: work for each record, and how long",
        &heads,
        &rows,
    )
}

fn flood(figures: &Figures) -> String {
    let mut heads = vec!["lines of 300 B as fast as they go", "records in a piece"];
    heads.extend(COUNTS);
    heads.extend(["records a second", "MB/s"]);
    let cases = WAYS
        .into_iter()
        .filter(|case| !case.starts_with("loopback"));
    let rows = cases.map(|case| {
        let mut row = vec![case.to_owned()];
        row.push(cell(figures.each("flood", case, "records", "pieces")));
        match case {
            "pipe and memchr" => row.extend(COUNTS.map(|_| "–".to_owned())),
            _ => row.extend(counts(figures, "flood", case, "records")),
        }
        let rate = figures
            .each("flood", case, "seconds", "records")
            .map(f64::recip);
        row.push(rate.map_or("–".to_owned(), thousands));
        row.push(cell(rate.map(|rate| rate * 300.0 / 1e6)));
        row
    });
    let rows: Vec<_> = rows.collect();
    table(
        "**A flood**: work for each record, and how many",
        &heads,
        &rows,
    )
}

fn approvals(figures: &Figures) -> String {
    let mut heads = vec!["from the question to the answer"];
    heads.extend(COUNTS);
    heads.extend(["transactions", "of them synced", "p50 (µs)", "p90", "p99"]);
    let rows = APPROVALS.map(|case| {
        let mut row = vec![case.to_owned()];
        row.extend(counts(figures, "approval", case, "asked"));
        let each = |name: &str| cell(figures.each("approval", case, name, "asked"));
        row.extend(["transactions", "synced"].map(each));
        row.extend(TIMES.map(|name| cell(figures.get("approval", case, name))));
        row
    });
    table("**Approvals**: work for each, and how long", &heads, &rows)
}

fn list(figures: &Figures) -> String {
    let heads = [
        "`GET /api/v1/sessions`",
        "clients",
        "bytes",
        "wake-ups",
        "reads",
        "writes",
        "CPU (µs)",
        "requests a second",
        "p50 (µs)",
        "p99",
    ];
    let mut rows = Vec::new();
    for page in PAGES {
        let cases = [
            (page.to_owned(), 1.0),
            (format!("{page}, the client has it"), 1.0),
            (page.to_owned(), 4.0),
            (format!("{page}, the client has it"), 4.0),
            (format!("{page}, as many bytes over loopback"), 1.0),
        ];
        rows.extend(cases.map(|(case, clients)| listed(figures, case, clients)));
    }
    let sessions = figures.get("list", PAGES[0], "sessions");
    let title = format!(
        "**A list of {} sessions**: work for each request",
        cell(sessions)
    );
    table(&title, &heads, &rows)
}

/// A figure by its name, where it was measured.
type Named<'a> = &'a dyn Fn(&str) -> Option<f64>;

fn listed(figures: &Figures, case: String, clients: f64) -> Vec<String> {
    let of = |figure: &dyn Fn(Named<'_>) -> Option<f64>| {
        figures.median("list", &case, |all| {
            let named = |name: &str| all.get(name).copied();
            (named("clients") == Some(clients))
                .then(|| figure(&named))
                .flatten()
        })
    };
    let each = |name: &str| cell(of(&|named| Some(named(name)? / named("requests")?)));
    let plain = |name: &str| cell(of(&|named| named(name)));
    let bytes = of(&|named| named("bytes")).map_or("–".to_owned(), thousands);
    let rate = of(&|named| Some(named("seconds")? / named("requests")?));
    let rate = rate.map_or("–".to_owned(), |each| thousands(each.recip()));
    let mut row = vec![case.clone(), number(clients), bytes];
    row.extend(
        [
            "server_sleeps",
            "server_reads",
            "server_writes",
            "server_cpu_us",
        ]
        .map(each),
    );
    row.push(rate);
    row.extend(["p50_us", "p99_us"].map(plain));
    row
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

/// Large numbers in short.
fn thousands(figure: f64) -> String {
    match figure {
        _ if figure >= 1e6 => format!("{} M", number(figure / 1e6)),
        _ if figure >= 1e4 => format!("{} k", number(figure / 1e3)),
        _ => number(figure),
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
            "| ≤ 300 µs | 240 | met |",
            "| ≤ 250 µs | 400 | **missed** |",
            "| an SSE reader | 4.5 | – | – | – | – | – | – | – | 240 | – | 800 |",
            "| an SSE reader | 100 | – | – | – | – | – | – | – | – | 200 k | 60 |",
            "| by rule | – | – | – | – | – | – | – | – | – | 0.5 | 400 | – | 700 |",
            "**A list of 1000 sessions**",
            "| the usual page | 1 | 20.5 k | – | – | – | – | 1000 | – | – |",
            "| the usual page | 4 | 20.5 k | – | – | – | – | 2000 | – | – |",
            "| the largest page | 1 | – | – | – | – | – | – | – | – |",
        ];
        for row in wanted {
            assert!(text.contains(row), "no {row}\n{text}");
        }
    }

    #[test]
    fn large_numbers_are_short() {
        let shown = [999.0, 20_480.0, 7_400_000.0].map(thousands);
        assert_eq!(shown, ["999", "20.5 k", "7.4 M"]);
    }
}
