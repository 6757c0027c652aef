//! The closing summary of a run: a table of suites, the reasons behind skips and failures, seconds
//! against the budget, and the plain last line. Renders only; decides nothing.

use std::fmt::Write as _;

use serde::Serialize;

use crate::budget::Budget;
use crate::report::{Report, Strictness, Totals, Verdict};

/// The row of the budget table that fetching counts under.
const FETCH_PART: &str = "build";

/// A finished run.
#[derive(Debug)]
pub(crate) struct Summary<'a> {
    /// Fetching has a line but no tests: what is missing shows in the suites that wanted it.
    pub(crate) fetch_seconds: f64,
    pub(crate) reports: &'a [Report],
    pub(crate) budget: &'a Budget,
    pub(crate) strictness: Strictness,
}

impl Summary<'_> {
    pub(crate) fn totals(&self) -> Totals {
        Totals::of(self.reports, self.strictness)
    }

    pub(crate) fn text(&self) -> String {
        let mut text = self.table();
        self.push_reasons(&mut text);
        self.push_parts(&mut text);
        let _ = write!(text, "\n{}", self.totals());
        text
    }

    fn table(&self) -> String {
        let names = self.reports.iter().map(|report| report.suite.len());
        let width = names.max().unwrap_or(0).max("suite".len());
        let mut text = format!("{:width$}  result   tests  seconds  budget\n", "suite");
        let budget = self.budget.seconds(FETCH_PART).unwrap_or(0);
        let _ = writeln!(
            text,
            "{:width$}  {:<7}  {:>5}  {:>7.1}  {budget:>6} ({FETCH_PART})",
            "fetch", "done", "-", self.fetch_seconds
        );
        for report in self.reports {
            let tests = report.passed + report.failed.len() as u32;
            let late = report.seconds > 0.0 && self.over_budget(&report.part);
            let mark = if late { "  OVER BUDGET" } else { "" };
            let budget = self.budget.seconds(&report.part).unwrap_or(0);
            let _ = writeln!(
                text,
                "{:width$}  {:<7}  {tests:>5}  {:>7.1}  {budget:>6} ({}){mark}",
                report.suite,
                word(report.verdict(self.strictness)),
                report.seconds,
                report.part,
            );
        }
        text
    }

    fn push_reasons(&self, text: &mut String) {
        for report in self.reports {
            for name in &report.failed {
                let _ = writeln!(text, "failed: {}: {name}", report.suite);
            }
            for skip in &report.skipped {
                let place = if skip.what == report.suite {
                    String::new()
                } else {
                    format!("{}: ", report.suite)
                };
                let word = if skip.fails(self.strictness) {
                    "failed, since --strict allows no skip"
                } else if self.strictness == Strictness::Strict {
                    "SKIPPED (exempt from --strict)"
                } else {
                    "SKIPPED"
                };
                let _ = writeln!(text, "{word}: {place}{}: {}", skip.what, skip.reason);
            }
        }
    }

    fn push_parts(&self, text: &mut String) {
        let parts = self.budget.parts.iter().filter_map(|part| {
            let used = self.seconds_of(&part.name)?;
            Some(format!("{} {used:.0} of {}", part.name, part.minutes * 60))
        });
        let parts: Vec<String> = parts.collect();
        let _ = writeln!(text, "seconds by part: {}", parts.join(" · "));
    }

    /// `None` if no suite of that part ran.
    fn seconds_of(&self, part: &str) -> Option<f64> {
        let mut of_part = self
            .reports
            .iter()
            .filter(|report| report.part == part)
            .peekable();
        of_part.peek()?;
        let fetching = if part == FETCH_PART {
            self.fetch_seconds
        } else {
            0.0
        };
        Some(of_part.map(|report| report.seconds).sum::<f64>() + fetching)
    }

    fn over_budget(&self, part: &str) -> bool {
        let allowed = self.budget.seconds(part).unwrap_or(0);
        self.seconds_of(part)
            .is_some_and(|used| used > f64::from(allowed))
    }

    pub(crate) fn json(&self) -> impl Serialize {
        let suites = self.reports.iter().map(|report| SuiteJson {
            result: report.verdict(self.strictness),
            budget_seconds: self.budget.seconds(&report.part),
            over_budget: self.over_budget(&report.part),
            report: report.clone(),
        });
        RunJson {
            fetch_seconds: self.fetch_seconds,
            suites: suites.collect(),
            totals: self.totals(),
        }
    }
}

#[derive(Debug, Serialize)]
struct RunJson {
    fetch_seconds: f64,
    suites: Vec<SuiteJson>,
    totals: Totals,
}

#[derive(Debug, Serialize)]
struct SuiteJson {
    result: Verdict,
    budget_seconds: Option<u32>,
    over_budget: bool,
    #[serde(flatten)]
    report: Report,
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Passed => "passed",
        Verdict::Failed => "FAILED",
        Verdict::Skipped => "SKIPPED",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget() -> Budget {
        let table = "| Part | Minutes |\n|---|---|\n| build | 12 |\n| real CLI | 6 |\n| browser | 6 |\n| rest | 7 |\n";
        Budget::parse(table).unwrap()
    }

    fn report(suite: &str, part: &str, passed: u32, seconds: f64) -> Report {
        Report {
            suite: suite.into(),
            part: part.into(),
            passed,
            seconds,
            ..Report::default()
        }
    }

    fn run() -> Vec<Report> {
        let mut unit = report("unit", "rest", 41, 12.34);
        unit.failed.push("wire framing::splits_lines".into());
        unit.skip_exempt("advisories", "the database cannot be reached");
        let mut skipped = report("real-cli 2.1.62", "real CLI", 0, 0.0);
        skipped.skip("real-cli 2.1.62", "npm is not in PATH");
        vec![
            report("build", "build", 1, 100.0),
            unit,
            report("real-cli 2.1.200", "real CLI", 24, 400.0),
            skipped,
        ]
    }

    #[test]
    fn the_summary_names_results_reasons_and_seconds() {
        let (reports, budget) = (run(), budget());
        let summary = Summary {
            fetch_seconds: 20.5,
            reports: &reports,
            budget: &budget,
            strictness: Strictness::Lenient,
        };
        insta::assert_snapshot!(summary.text(), @r"
        suite             result   tests  seconds  budget
        fetch             done         -     20.5     720 (build)
        build             passed       1    100.0     720 (build)
        unit              FAILED      42     12.3     420 (rest)
        real-cli 2.1.200  passed      24    400.0     360 (real CLI)  OVER BUDGET
        real-cli 2.1.62   SKIPPED      0      0.0     360 (real CLI)
        failed: unit: wire framing::splits_lines
        SKIPPED: unit: advisories: the database cannot be reached
        SKIPPED: real-cli 2.1.62: npm is not in PATH
        seconds by part: build 120 of 720 · real CLI 400 of 360 · rest 12 of 420

        66 passed, 1 failed, 2 skipped
        ");
    }

    #[test]
    fn a_strict_summary_counts_the_skip_as_a_failure() {
        let (reports, budget) = (run(), budget());
        let summary = Summary {
            fetch_seconds: 20.5,
            reports: &reports,
            budget: &budget,
            strictness: Strictness::Strict,
        };
        let text = summary.text();
        let last = text.lines().last().unwrap();
        assert_eq!(last, "66 passed, 2 failed, 1 skipped");
        assert!(
            text.contains("failed, since --strict allows no skip: real-cli 2.1.62: npm"),
            "{text}"
        );
    }

    #[test]
    fn the_json_holds_the_same_verdicts() {
        let (reports, budget) = (run(), budget());
        let summary = Summary {
            fetch_seconds: 20.5,
            reports: &reports,
            budget: &budget,
            strictness: Strictness::Lenient,
        };
        let json = serde_json::to_value(summary.json()).unwrap();
        assert_eq!(json["suites"][2]["suite"], "real-cli 2.1.200");
        assert_eq!(json["suites"][2]["over_budget"], true);
        assert_eq!(json["suites"][3]["result"], "skipped");
        assert_eq!(json["totals"]["failed"], 1);
    }
}
