//! The result of a comparison, as text for a terminal, as Markdown for `docs/drift/` and as JSON.
//!
//! Pure. Invariant: the three forms say the same, and the same input gives the same bytes.

use std::fmt::{self, Write as _};

use serde::Serialize;

use super::Kind;
use super::compare::{Change, Difference, FieldChanges, NewField};

/// What was compared, and what came of it.
#[derive(Debug, Serialize)]
pub(crate) struct DriftReport {
    /// What the CLI was compared with.
    pub(crate) from: String,
    /// The CLI that was read.
    pub(crate) to: String,
    pub(crate) changes: Vec<Change>,
    /// What the running CLI did that we do not know.
    pub(crate) findings: Vec<Finding>,
    /// Why parts were not looked at.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) skipped: Vec<String>,
}

/// Something the running CLI did.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(crate) struct Finding {
    /// What kind of thing it is: "unknown field", "permission mode".
    pub(crate) what: &'static str,
    pub(crate) detail: String,
    /// Whether this is drift, or only worth knowing.
    pub(crate) is_drift: bool,
}

impl DriftReport {
    /// Returns whether anything is new, gone or changed.
    pub(crate) fn has_drift(&self) -> bool {
        !self.changes.is_empty() || self.findings.iter().any(|finding| finding.is_drift)
    }

    fn count(&self, of: impl Fn(&Difference) -> bool) -> usize {
        self.changes
            .iter()
            .filter(|change| of(&change.difference))
            .count()
    }

    fn summary(&self) -> String {
        format!(
            "{} new, {} gone, {} changed",
            self.count(|one| matches!(one, Difference::New { .. })),
            self.count(|one| matches!(one, Difference::Gone)),
            self.count(|one| matches!(one, Difference::Changed(_))),
        )
    }
}

/// Writes the report for a terminal.
pub(crate) fn text(report: &DriftReport) -> String {
    let mut out = format!("{} → {}: {}\n", report.from, report.to, report.summary());
    for kind in Kind::ALL {
        let changes = report.changes.iter().filter(|change| change.kind == kind);
        for (at, change) in changes.enumerate() {
            if at == 0 {
                let _ = writeln!(out, "\n{}", kind.title());
            }
            let sign = match change.difference {
                Difference::New { .. } => '+',
                Difference::Gone => '-',
                Difference::Changed(_) => '~',
            };
            let offset = change
                .offset
                .map(|offset| format!("  @{offset}"))
                .unwrap_or_default();
            let _ = writeln!(
                out,
                "  {sign} {}{}{offset}",
                change.name,
                Details(&change.difference, "")
            );
        }
    }
    if !report.findings.is_empty() {
        out.push_str("\nSeen in the running CLI\n");
        for finding in &report.findings {
            let sign = match finding.is_drift {
                true => '!',
                false => ' ',
            };
            let _ = writeln!(out, "  {sign} {}: {}", finding.what, finding.detail);
        }
    }
    for skipped in &report.skipped {
        let _ = writeln!(out, "\nnot compared: {skipped}");
    }
    out
}

/// Writes the report as a page of documentation. Offsets are left out: they differ between platforms.
pub(crate) fn markdown(report: &DriftReport) -> String {
    let mut out = format!(
        "## {} → {}\n\n{}.\n",
        report.from,
        report.to,
        report.summary()
    );
    for kind in Kind::ALL {
        let changes: Vec<_> = report
            .changes
            .iter()
            .filter(|change| change.kind == kind)
            .collect();
        if changes.is_empty() {
            continue;
        }
        let _ = write!(
            out,
            "\n### {}\n\n| | Name | Fields |\n| --- | --- | --- |\n",
            kind.title()
        );
        for change in changes {
            let what = match change.difference {
                Difference::New { .. } => "new",
                Difference::Gone => "gone",
                Difference::Changed(_) => "changed",
            };
            let details = Details(&change.difference, "`").to_string();
            let _ = writeln!(
                out,
                "| {what} | `{}` | {} |",
                change.name,
                details.trim_start_matches([':', ' '])
            );
        }
    }
    if !report.findings.is_empty() {
        out.push_str("\n### Seen in the running CLI\n\n");
        for finding in &report.findings {
            let _ = writeln!(out, "- {}: {}", finding.what, finding.detail);
        }
    }
    for skipped in &report.skipped {
        let _ = writeln!(out, "\nNot compared: {skipped}.");
    }
    out
}

/// The fields of a difference, each between `quote`s.
struct Details<'a>(&'a Difference, &'a str);

impl fmt::Display for Details<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(difference, quote) = self;
        let list = |names: &[String]| -> String {
            let names: Vec<_> = names
                .iter()
                .map(|name| format!("{quote}{name}{quote}"))
                .collect();
            names.join(", ")
        };
        match difference {
            Difference::New { fields } if !fields.is_empty() => {
                write!(f, ": {}", list(&names_of(fields)))
            }
            Difference::New { .. } | Difference::Gone => Ok(()),
            Difference::Changed(FieldChanges {
                new_fields,
                gone_fields,
                now_optional,
                now_required,
            }) => {
                let new_fields = names_of(new_fields);
                let parts = [
                    ("new", &new_fields),
                    ("gone", gone_fields),
                    ("now optional", now_optional),
                    ("now required", now_required),
                ];
                let parts = parts.into_iter().filter(|(_, names)| !names.is_empty());
                let parts: Vec<_> = parts
                    .map(|(what, names)| format!("{what} {}", list(names)))
                    .collect();
                write!(f, ": {}", parts.join("; "))
            }
        }
    }
}

fn names_of(fields: &[NewField]) -> Vec<String> {
    fields.iter().map(|field| field.name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(name: &str) -> NewField {
        NewField {
            name: name.to_owned(),
            type_text: None,
            optional: Some(false),
        }
    }

    fn report() -> DriftReport {
        let change = |kind, name: &str, difference, offset| Change {
            kind,
            name: name.to_owned(),
            difference,
            offset,
        };
        DriftReport {
            from: "1".into(),
            to: "2".into(),
            changes: vec![
                change(
                    Kind::Message,
                    "system/new",
                    Difference::New {
                        fields: vec![field("a"), field("b")],
                    },
                    Some(9),
                ),
                change(Kind::Message, "system/old", Difference::Gone, None),
                change(
                    Kind::Tool,
                    "Bash",
                    Difference::Changed(FieldChanges {
                        new_fields: vec![field("c")],
                        now_optional: vec!["d".into()],
                        ..FieldChanges::default()
                    }),
                    None,
                ),
            ],
            findings: vec![Finding {
                what: "permission mode",
                detail: "auto: accepted".into(),
                is_drift: false,
            }],
            skipped: vec!["tools".into()],
        }
    }

    #[test]
    fn the_text_shows_each_change_in_a_line() {
        let expected = "1 → 2: 1 new, 1 gone, 1 changed\n\nMessages\n  + system/new: a, b  @9\n  - system/old\n\nTools\n  ~ Bash: new c; now optional d\n\nSeen in the running CLI\n    permission mode: auto: accepted\n\nnot compared: tools\n";
        assert_eq!(text(&report()), expected);
    }

    #[test]
    fn the_page_has_a_table_for_each_kind_and_no_offsets() {
        let page = markdown(&report());
        assert!(
            page.contains("| new | `system/new` | `a`, `b` |\n| gone | `system/old` |  |"),
            "{page}"
        );
        assert!(
            page.contains("| changed | `Bash` | new `c`; now optional `d` |"),
            "{page}"
        );
        assert!(!page.contains('9'), "{page}");
    }

    #[test]
    fn only_changes_and_findings_that_say_so_are_drift() {
        let mut report = report();
        assert!(report.has_drift());
        report.changes.clear();
        assert!(!report.has_drift());
        report.findings[0].is_drift = true;
        assert!(report.has_drift());
    }
}
