//! What is printed: the seed's tables with our figures beside them, as Markdown, or everything as one JSON object.
//!
//! Pure. Invariant: nothing that changes from run to run is in the Markdown: no times, no ids, no paths.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;
use unicode_width::UnicodeWidthStr as _;

use super::claims::compare;
use super::claims::{Comparison, Table, Verdict};
use super::seen::Seen;
use super::{Letter, Performed};

/// Everything that was found out.
#[derive(Debug, Serialize)]
pub(crate) struct Report<'a> {
    /// The version of the CLI, as it said itself.
    pub(crate) cli: String,
    pub(crate) experiments: Vec<Letter>,
    pub(crate) comparisons: Vec<Comparison>,
    /// By run: `a`, `d-forms`.
    pub(crate) observations: BTreeMap<String, &'a Seen>,
}

impl<'a> Report<'a> {
    /// Holds what the seed says about these experiments against these runs of them.
    pub(crate) fn new(letters: &[Letter], performed: &'a [Performed]) -> Self {
        let seen: BTreeMap<_, _> = performed.iter().map(|run| (run.name, &run.seen)).collect();
        let mut versions = performed
            .iter()
            .filter_map(|run| run.seen.version.as_deref());
        Self {
            cli: versions
                .next()
                .unwrap_or("of an unknown version")
                .to_owned(),
            experiments: letters.to_vec(),
            comparisons: compare(letters, &seen),
            observations: performed
                .iter()
                .map(|run| (run.name.id(), &run.seen))
                .collect(),
        }
    }
}

/// The tables.
pub(crate) fn markdown(report: &Report<'_>) -> String {
    let mut text = format!(
        "## claude {}\n\n{}\n",
        report.cli,
        summary(&report.comparisons)
    );
    for table in Table::ALL {
        let rows: Vec<_> = report
            .comparisons
            .iter()
            .filter(|row| row.table == table)
            .map(cells)
            .collect();
        if !rows.is_empty() {
            let _ = write!(text, "\n### {}\n\n{}", table.title(), lines(&rows));
        }
    }
    text
}

fn summary(comparisons: &[Comparison]) -> String {
    let count = |wanted: fn(&Verdict) -> bool| {
        let found = comparisons.iter().filter(|row| wanted(&row.verdict));
        found.count()
    };
    format!(
        "Of {} figures and claims {} agree, {} differ, {} are not comparable, {} are not measurable here.",
        comparisons.len(),
        count(|verdict| matches!(verdict, Verdict::Agrees)),
        count(|verdict| matches!(verdict, Verdict::Differs { .. })),
        count(|verdict| matches!(verdict, Verdict::NotComparable { .. })),
        count(|verdict| matches!(verdict, Verdict::NotMeasurable { .. })),
    )
}

const COLUMNS: [&str; 5] = ["Experiment", "What", "Seed", "Here", "Verdict"];

fn cells(row: &Comparison) -> [String; 5] {
    let letters: Vec<String> = row.experiments.iter().map(Letter::to_string).collect();
    let here = row
        .here
        .as_ref()
        .map_or_else(|| "–".to_owned(), ToString::to_string);
    [
        letters.join(", "),
        row.what.to_owned(),
        row.seed.to_string(),
        here,
        verdict(&row.verdict),
    ]
    .map(|cell| one_line(&cell))
}

fn verdict(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Agrees => "agrees".to_owned(),
        Verdict::Differs { section, why } => format!("differs (ground-truth {section}): {why}"),
        Verdict::NotComparable { why } => format!("not comparable: {why}"),
        Verdict::NotMeasurable { why } => format!("not measurable {why}"),
    }
}

/// Neither a line end nor a bar may break the table, and no control character reaches a terminal.
fn one_line(text: &str) -> String {
    let words: Vec<&str> = text
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
        .collect();
    words.join(" ").replace('|', "\\|")
}

/// Cells that are wider leave their column, so that one long text does not push all others apart.
const WIDEST: usize = 64;

fn lines(rows: &[[String; 5]]) -> String {
    let mut widths = COLUMNS.map(str::len);
    for row in rows {
        // Nothing stands behind the last column, so it is not padded.
        for (width, cell) in widths.iter_mut().zip(&row[..COLUMNS.len() - 1]) {
            *width = cell.width().min(WIDEST).max(*width);
        }
    }
    let line = |row: &[String; 5]| {
        let cells = row.iter().zip(widths);
        let padded = cells.map(|(cell, width)| {
            let blanks = width.saturating_sub(cell.width());
            format!("{cell}{}", " ".repeat(blanks))
        });
        format!("| {} |\n", padded.collect::<Vec<_>>().join(" | "))
    };
    let rule = widths.map(|width| "-".repeat(width));
    let head = COLUMNS.map(str::to_owned);
    let mut text = line(&head) + &line(&rule);
    text.extend(rows.iter().map(line));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::Figure;

    fn row(verdict: Verdict, here: Option<Figure>) -> Comparison {
        Comparison {
            table: Table::Prompts,
            experiments: vec![Letter::D, Letter::E],
            what: "requests",
            seed: Figure::Count(3),
            here,
            verdict,
        }
    }

    #[test]
    fn a_table_shows_the_seed_what_is_here_and_the_verdict() {
        let differs = Verdict::Differs {
            section: "§7",
            why: "one | only\nnow",
        };
        let report = Report {
            cli: "9.9.9".to_owned(),
            experiments: vec![Letter::D],
            comparisons: vec![
                row(differs, Some(Figure::Count(1))),
                row(
                    Verdict::NotMeasurable {
                        why: "on a scripted model",
                    },
                    None,
                ),
            ],
            observations: BTreeMap::new(),
        };
        insta::assert_snapshot!(markdown(&report), @r"
        ## claude 9.9.9

        Of 2 figures and claims 0 agree, 1 differ, 0 are not comparable, 1 are not measurable here.

        ### Permission prompts

        | Experiment | What     | Seed | Here | Verdict |
        | ---------- | -------- | ---- | ---- | ------- |
        | D, E       | requests | 3    | 1    | differs (ground-truth §7): one \| only now |
        | D, E       | requests | 3    | –    | not measurable on a scripted model |
        ");
    }

    #[test]
    fn nothing_of_an_agent_reaches_the_terminal_but_words() {
        assert_eq!(one_line("a\x1b[2J\r\n  b"), "a [2J b");
    }
}
