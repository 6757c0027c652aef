//! What came of a suite, and what that means for the whole run. Pure: no clock, no I/O.
//! Invariant: a run succeeds only if every suite has something that passed and nothing that failed,
//! or was skipped where skipping is allowed.

use serde::Serialize;

/// Something that was not run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Skip {
    pub(crate) what: String,
    pub(crate) reason: String,
    /// Its data cannot be had everywhere, so `--strict` lets it pass.
    pub(crate) exempt: bool,
}

/// What happened in one suite.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(crate) struct Report {
    pub(crate) suite: String,
    /// The row of the budget table it counts under.
    pub(crate) part: String,
    pub(crate) passed: u32,
    /// What failed, by name.
    pub(crate) failed: Vec<String>,
    pub(crate) skipped: Vec<Skip>,
    pub(crate) seconds: f64,
}

/// Whether a skip is tolerated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strictness {
    /// A skip is shown, no more.
    Lenient,
    /// A skip fails the run, unless it is exempt.
    Strict,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Verdict {
    Passed,
    Failed,
    Skipped,
}

/// The figures of the last line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Totals {
    pub(crate) passed: u32,
    pub(crate) failed: u32,
    pub(crate) skipped: u32,
}

impl Report {
    pub(crate) fn skip(&mut self, what: &str, reason: impl Into<String>) {
        self.push_skip(what, reason.into(), false);
    }

    pub(crate) fn skip_exempt(&mut self, what: &str, reason: impl Into<String>) {
        self.push_skip(what, reason.into(), true);
    }

    fn push_skip(&mut self, what: &str, reason: String, exempt: bool) {
        self.skipped.push(Skip {
            what: what.to_owned(),
            reason,
            exempt,
        });
    }

    pub(crate) fn verdict(&self, strictness: Strictness) -> Verdict {
        let forbidden = self.skipped.iter().any(|skip| skip.fails(strictness));
        if !self.failed.is_empty() || forbidden {
            Verdict::Failed
        } else if self.passed > 0 {
            Verdict::Passed
        } else if self.skipped.is_empty() {
            // Nothing ran and nobody says why: that proves nothing.
            Verdict::Failed
        } else {
            Verdict::Skipped
        }
    }
}

impl Skip {
    pub(crate) fn fails(&self, strictness: Strictness) -> bool {
        strictness == Strictness::Strict && !self.exempt
    }
}

impl Totals {
    pub(crate) fn of(reports: &[Report], strictness: Strictness) -> Self {
        let mut totals = Totals::default();
        for report in reports {
            let forbidden = report.skipped.iter().filter(|skip| skip.fails(strictness));
            let forbidden = forbidden.count() as u32;
            let failed = report.failed.len() as u32 + forbidden;
            let unexplained = failed == 0 && report.verdict(strictness) == Verdict::Failed;
            totals.passed += report.passed;
            totals.failed += failed + u32::from(unexplained);
            totals.skipped += report.skipped.len() as u32 - forbidden;
        }
        totals
    }
}

impl std::fmt::Display for Totals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)?;
        if self.skipped > 0 {
            write!(f, ", {} skipped", self.skipped)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Strictness::{Lenient, Strict};
    use super::*;

    fn report(passed: u32, failed: &[&str]) -> Report {
        Report {
            passed,
            failed: failed.iter().map(|&name| name.to_owned()).collect(),
            ..Report::default()
        }
    }

    #[test]
    fn a_skip_fails_only_a_strict_run_and_only_if_it_is_not_exempt() {
        let mut ordinary = report(0, &[]);
        ordinary.skip("real-cli 2.1.62", "npm is not in PATH");
        assert_eq!(ordinary.verdict(Lenient), Verdict::Skipped);
        assert_eq!(ordinary.verdict(Strict), Verdict::Failed);

        let mut exempt = report(0, &[]);
        exempt.skip_exempt("advisories", "no network");
        assert_eq!(exempt.verdict(Lenient), Verdict::Skipped);
        assert_eq!(exempt.verdict(Strict), Verdict::Skipped);
    }

    #[test]
    fn a_suite_that_passed_in_part_says_so_and_is_not_a_skip() {
        let mut partly = report(4, &[]);
        partly.skip_exempt("advisories", "no network");
        assert_eq!(partly.verdict(Strict), Verdict::Passed);
        partly.skip("cargo-deny", "no network");
        assert_eq!(partly.verdict(Lenient), Verdict::Passed);
        assert_eq!(partly.verdict(Strict), Verdict::Failed);
    }

    #[test]
    fn a_suite_in_which_nothing_ran_has_not_passed() {
        assert_eq!(report(0, &[]).verdict(Lenient), Verdict::Failed);
        assert_eq!(Totals::of(&[report(0, &[])], Lenient).failed, 1);
    }

    #[test]
    fn the_last_line_counts_tests_and_turns_forbidden_skips_into_failures() {
        let mut skipping = report(2, &["a"]);
        skipping.skip("b", "not root");
        skipping.skip_exempt("c", "no nightly");
        let reports = [report(3, &[]), skipping];
        assert_eq!(
            Totals::of(&reports, Lenient).to_string(),
            "5 passed, 1 failed, 2 skipped"
        );
        assert_eq!(
            Totals::of(&reports, Strict).to_string(),
            "5 passed, 2 failed, 1 skipped"
        );
        assert_eq!(
            Totals::of(&reports[..1], Strict).to_string(),
            "3 passed, 0 failed"
        );
    }
}
