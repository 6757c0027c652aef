//! The figures of `bench journal` as tables.
//!
//! Owns their form. Invariant: what was not measured is a dash, never a number.

use std::fmt::Write as _;

use super::super::page::number;
use super::figures::{Figures, Goal};

pub(super) fn render(figures: &Figures, goals: &[Goal], machine: &str) -> String {
    let parts = [
        format!("{machine}; sides take turns, medians of all rounds."),
        reached(goals),
        append(figures),
        follow(figures),
        chain(figures),
        latency(figures),
        memory(figures),
        followers(figures),
    ];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("\n\n")
}

fn reached(goals: &[Goal]) -> String {
    let mut table = Table::new(&["goal", "wanted", "found", ""]);
    for goal in goals {
        let sign = if goal.is_least { "≥" } else { "≤" };
        let verdict = match goal.is_met() {
            Some(true) => "met",
            Some(false) => "**missed**",
            None => "not measured",
        };
        table.row([
            goal.what.clone(),
            format!("{sign} {} {}", number(goal.wanted), goal.unit),
            cell(goal.found),
            verdict.to_owned(),
        ]);
    }
    table.text("**Goals**")
}

fn append(figures: &Figures) -> String {
    let mut table = Table::new(&[
        "lines, and how many in a write",
        "bare `write`",
        "journal",
        "of the bare write",
        "SQLite WAL, `NORMAL`",
        "SQLite WAL, `OFF`",
    ]);
    for case in figures.cases("append") {
        let speed = |side| speed(figures, "append", case, side);
        table.row([
            case.to_owned(),
            speed("bare"),
            speed("journal"),
            percent(figures.share("append", case, "journal", "bare")),
            speed("sqlite"),
            speed("sqlite unsynced"),
        ]);
    }
    table.text("**Appending**, records a second and MB/s")
}

fn follow(figures: &Figures) -> String {
    let sides = [
        "behind a writer",
        "the writer alone",
        "catching up",
        "bare read",
    ];
    let heads = [
        "lines",
        "follower behind a writer",
        "that writer",
        "catching up",
        "bare read",
    ];
    let mut table = Table::new(&heads);
    for case in figures.cases("follow") {
        let mut cells = vec![case.to_owned()];
        cells.extend(sides.map(|side| speed(figures, "follow", case, side)));
        table.row(cells);
    }
    table.text("**Following** in another process, records a second and MB/s")
}

fn chain(figures: &Figures) -> String {
    let mut table = Table::new(&[
        "the agent writes",
        "pipe, nothing kept",
        "FIFO and file",
        "keeper and journal",
        "of FIFO and file",
        "keeper's CPU a line (µs)",
    ]);
    for case in figures.cases("chain") {
        let speed = |side| speed(figures, "chain", case, side);
        let cpu = figures.get("chain", case, "keeper", "keeper_cpu_seconds");
        let lines = figures.get("chain", case, "keeper", "records");
        table.row([
            case.to_owned(),
            speed("pipe"),
            speed("fifo"),
            speed("keeper"),
            percent(figures.share("chain", case, "keeper", "fifo")),
            cell(cpu.zip(lines).map(|(cpu, lines)| cpu * 1e6 / lines)),
        ]);
    }
    table.text("**The whole chain**, agent to follower, records a second and MB/s")
}

fn latency(figures: &Figures) -> String {
    let mut table = Table::new(&["", "p50", "p90", "p99", "most", "samples"]);
    for case in figures.cases("latency") {
        for (side, name) in [
            ("pipe", "pipe, nothing kept"),
            ("fifo", "FIFO and file, inotify"),
            ("keeper", "keeper, journal, `tail`"),
        ] {
            let of = |name| cell(figures.get("latency", case, side, name));
            table.row([
                name.to_owned(),
                of("p50_us"),
                of("p90_us"),
                of("p99_us"),
                of("most_us"),
                of("samples"),
            ]);
        }
    }
    table.text("**From the agent's write to the follower's read**, one line at a time (µs)")
}

fn memory(figures: &Figures) -> String {
    let mut table = Table::new(&[
        "guard and keeper",
        "RSS",
        "PSS",
        "own",
        "keeper's peak",
        "keeper alone: RSS",
        "PSS",
        "own",
    ]);
    for case in figures.cases("memory") {
        let of = |side, name| {
            let kib = figures.get("memory", case, side, name);
            cell(kib.map(|kib| kib / 1024.0))
        };
        table.row([
            case.to_owned(),
            of("countersign keeper", "rss_kib"),
            of("countersign keeper", "pss_kib"),
            of("countersign keeper", "own_kib"),
            of("countersign keeper", "keeper_peak_kib"),
            of("keeper alone", "rss_kib"),
            of("keeper alone", "pss_kib"),
            of("keeper alone", "own_kib"),
        ]);
    }
    table.text("**Memory** (MiB)")
}

fn followers(figures: &Figures) -> String {
    let mut readers = Table::new(&["one more follower of", "own (KiB)", "CPU a record (µs)"]);
    for case in figures.cases("readers") {
        let of = |name| cell(figures.get("readers", case, "one more", name));
        readers.row([case.to_owned(), of("own_kib"), of("cpu_us_a_record")]);
    }
    let mut watchers = Table::new(&[
        "followers of one keeper",
        "keeper's CPU a line (µs)",
        "all followers' CPU a line (µs)",
        "keeper's own memory (KiB)",
    ]);
    for case in figures.cases("watchers") {
        let of = |name| cell(figures.get("watchers", case, "keeper", name));
        watchers.row([
            case.to_owned(),
            of("keeper_us_a_line"),
            of("follower_us_a_line"),
            of("keeper_own_kib"),
        ]);
    }
    let parts = [readers.text("**Followers**"), watchers.text("")];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("\n\n")
}

/// A table of Markdown: the first column is words, the others are figures.
struct Table {
    text: String,
    rows: usize,
}

impl Table {
    fn new(heads: &[&str]) -> Self {
        let mut text = format!("| {} |\n|---", heads.join(" | "));
        for _ in 1..heads.len() {
            text.push_str("|--:");
        }
        text.push_str("|\n");
        Self { text, rows: 0 }
    }

    fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let cells: Vec<String> = cells.into_iter().collect();
        let _ = writeln!(self.text, "| {} |", cells.join(" | "));
        self.rows += 1;
    }

    /// Nothing where nothing was measured.
    fn text(&self, title: &str) -> String {
        match (self.rows, title) {
            (0, _) => String::new(),
            (_, "") => self.text.trim_end().to_owned(),
            _ => format!("{title}\n\n{}", self.text.trim_end()),
        }
    }
}

fn cell(figure: Option<f64>) -> String {
    figure.map_or("–".to_owned(), number)
}

fn percent(figure: Option<f64>) -> String {
    figure.map_or("–".to_owned(), |figure| format!("**{figure:.0} %**"))
}

fn speed(figures: &Figures, part: &str, case: &str, side: &str) -> String {
    let rate = figures.rate(part, case, side);
    match rate.zip(figures.megabytes(part, case, side)) {
        Some((rate, megabytes)) => format!("{} · {}", count(rate), number(megabytes)),
        None => "–".to_owned(),
    }
}

/// A count a second in a few characters.
fn count(rate: f64) -> String {
    match rate {
        rate if rate >= 1e6 => format!("{} M", number(rate / 1e6)),
        rate if rate >= 1e4 => format!("{} k", number(rate / 1e3)),
        rate => number(rate),
    }
}

#[cfg(test)]
mod tests {
    use super::super::figures::tests::RAW;
    use super::*;

    #[test]
    fn what_was_measured_is_in_the_tables_and_nothing_else() {
        let figures = Figures::read(RAW).unwrap();
        let text = render(&figures, &figures.goals(), "2 cores");
        assert!(
            text.contains("| 300 B | 1000 · 0.3 | 500 · 0.15 | **50 %** | – | – |"),
            "{text}"
        );
        assert!(text.contains("| long | 80.5 | – |"), "{text}");
        assert!(!text.contains("**Memory**") && !text.contains("followers of one keeper"));
    }

    #[test]
    fn a_rate_is_told_in_a_few_characters() {
        let told = [7_400_000.0, 432_100.0, 9_500.0].map(count);
        assert_eq!(told, ["7.4 M", "432 k", "9500"]);
    }
}
