//! The table as text, and its place in the documentation.
//!
//! Owns the form of the page and the two markers between which it stands. Invariant: what stands outside of the markers is
//! never touched.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, bail};

use super::runs::{Results, Step};
use super::speed::{Goal, Row, Verdict};

const END: &str = "<!-- end -->";

pub(super) fn render(rows: &[Row], results: &Results, plan: &[Step], machine: &str) -> String {
    let rounds = plan.first().map_or(0, |step| step.rounds);
    let mut text = format!(
        "{machine}; {rounds} rounds, interleaved. Where there are three figures they are for host and CLI on one core, on one \
         core each, and not pinned; the worst counts. Those of others are for the first of them.\n\n"
    );
    text.push_str(
        "| | goal | stretch | ours | rounds | | TypeScript SDK | best Rust crate | Python SDK | floor |\n\
         |---|--:|--:|--:|--:|---|--:|--:|--:|--:|\n",
    );
    for row in rows {
        let _ = writeln!(text, "{}", line(row));
    }
    let lost = results.losses().len();
    let _ = write!(text, "\nRuns of ours that failed or lost an event: {lost}.");
    let failures = results.failures_of_peers();
    if !failures.is_empty() {
        text.push_str(" Others that did not get through:\n\n");
        for failure in failures {
            let _ = writeln!(text, "- {failure}");
        }
    }
    text.trim_end().to_owned()
}

fn line(row: &Row) -> String {
    let ours: Vec<String> = row.ours.iter().map(|(_, figure)| number(*figure)).collect();
    let ours = match ours.is_empty() {
        true => "–".to_owned(),
        false => format!("**{}**", ours.join(" / ")),
    };
    let spread = row.spread.map_or(String::new(), |(least, most)| {
        format!("{}–{}", number(least), number(most))
    });
    let verdict = match row.verdict() {
        Verdict::Stretch => "met, stretch too",
        Verdict::Met => "met",
        Verdict::Missed => "missed",
        Verdict::Shown => "",
        Verdict::Unknown => "not measured",
    };
    let cell = |figure: Option<f64>| figure.map_or("–".to_owned(), number);
    format!(
        "| {} ({}) | {} | {} | {ours} | {spread} | {verdict} | {} | {} | {} | {} |",
        row.what,
        row.unit,
        row.goal.map_or(String::new(), goal),
        row.stretch.map_or(String::new(), goal),
        cell(row.typescript),
        cell(row.rust),
        cell(row.python),
        cell(row.floor),
    )
}

fn goal(goal: Goal) -> String {
    match goal {
        Goal::AtMost(most) => format!("≤ {}", number(most)),
        Goal::AtLeast(least) => format!("≥ {}", number(least)),
    }
}

/// Three digits that count, no more.
pub(super) fn number(figure: f64) -> String {
    match figure.abs() {
        0.0 => "0".to_owned(),
        size if size < 10.0 => {
            let text = format!("{figure:.2}");
            let short = text.trim_end_matches('0').trim_end_matches('.');
            short.to_owned()
        }
        size if size < 100.0 => format!("{figure:.1}").trim_end_matches(".0").to_owned(),
        _ => format!("{figure:.0}"),
    }
}

/// Puts the table of a benchmark between its markers on the page.
pub(super) fn write(file: &Path, bench: &str, table: &str) -> anyhow::Result<()> {
    let page =
        std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    std::fs::write(file, between(&page, bench, table)?)?;
    Ok(())
}

fn between(page: &str, bench: &str, table: &str) -> anyhow::Result<String> {
    let begin = format!("<!-- written by `cargo xtask bench {bench}` -->");
    let parts = page
        .split_once(&begin)
        .and_then(|(before, rest)| Some((before, rest.split_once(END)?.1)));
    let Some((before, after)) = parts else {
        bail!("the page has no place for it: add the lines `{begin}` and `{END}`");
    };
    Ok(format!("{before}{begin}\n\n{table}\n\n{END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_stands_between_the_markers_is_replaced() {
        let begin = |bench: &str| format!("<!-- written by `cargo xtask bench {bench}` -->");
        let (one, two) = (begin("one"), begin("two"));
        let page = format!("# A\n\n{one}\nold\n{END}\n\n{two}\nold\n{END}\n\nafter\n");
        let once = between(&page, "two", "new").unwrap();
        let wanted = format!("# A\n\n{one}\nold\n{END}\n\n{two}\n\nnew\n\n{END}\n\nafter\n");
        assert_eq!(once, wanted);
        assert_eq!(between(&once, "two", "new").unwrap(), once);
        assert!(between(&page, "three", "new").is_err());
    }

    #[test]
    fn figures_have_as_many_digits_as_they_deserve() {
        let shown = [0.0, 0.234, 9.5, 11.74, 45.0, 372.4].map(number);
        assert_eq!(shown, ["0", "0.23", "9.5", "11.7", "45", "372"]);
    }
}
