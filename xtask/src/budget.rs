//! The time budget: the Markdown table in CONTRIBUTING.md, read and checked. People edit the table,
//! `cargo xtask test` prints seconds against it; there is no second copy of the figures.

use std::fs;
use std::path::Path;

use anyhow::Context as _;

/// The file that holds the table.
pub(crate) const FILE: &str = "CONTRIBUTING.md";
/// What all parts together may take on two cores.
pub(crate) const LIMIT_MINUTES: u32 = 40;
const HEADER: [&str; 2] = ["part", "minutes"];

/// One row of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) name: String,
    pub(crate) minutes: u32,
}

/// The table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Budget {
    pub(crate) parts: Vec<Part>,
}

impl Budget {
    pub(crate) fn read(root: &Path) -> anyhow::Result<Self> {
        let file = root.join(FILE);
        let text =
            fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        Self::parse(&text)
    }

    /// Finds the table whose first columns are `Part` and `Minutes`; further columns are for people.
    pub(crate) fn parse(markdown: &str) -> anyhow::Result<Self> {
        let mut rows = markdown
            .lines()
            .map(cells)
            .skip_while(|cells| !is_header(cells))
            .skip(2)
            .take_while(|cells| !cells.is_empty());
        let parts = rows.try_fold(Vec::new(), |mut parts, cells| {
            let [name, minutes, ..] = cells.as_slice() else {
                anyhow::bail!("{FILE}: a row of the budget table has fewer than two columns");
            };
            let minutes = minutes.parse().with_context(|| {
                format!("{FILE}: the minutes of {name:?} are {minutes:?}, not a whole number")
            })?;
            parts.push(Part {
                name: (*name).to_owned(),
                minutes,
            });
            Ok(parts)
        })?;
        if parts.is_empty() {
            anyhow::bail!("{FILE} has no table with the columns `Part` and `Minutes`: restore it");
        }
        Ok(Budget { parts })
    }

    pub(crate) fn seconds(&self, part: &str) -> Option<u32> {
        let found = self.parts.iter().find(|row| row.name == part);
        found.map(|row| row.minutes * 60)
    }

    /// What is wrong with the table, given the parts that suites count under.
    pub(crate) fn problems<'a>(&self, used: impl IntoIterator<Item = &'a str>) -> Vec<String> {
        let mut problems = Vec::new();
        let sum: u32 = self.parts.iter().map(|part| part.minutes).sum();
        if sum > LIMIT_MINUTES {
            problems.push(format!(
                "the parts add up to {sum} minutes, the limit is {LIMIT_MINUTES}: make a part faster"
            ));
        }
        for part in &self.parts {
            let same = self.parts.iter().filter(|other| other.name == part.name);
            if same.count() > 1 {
                problems.push(format!(
                    "{:?} stands in the table more than once",
                    part.name
                ));
            }
        }
        for part in used {
            if self.seconds(part).is_none() {
                problems.push(format!("a suite counts under {part:?}, which has no row"));
            }
        }
        problems.sort();
        problems.dedup();
        problems
    }
}

fn cells(line: &str) -> Vec<&str> {
    let line = line.trim();
    let inner = line
        .strip_prefix('|')
        .map(|rest| rest.strip_suffix('|').unwrap_or(rest));
    inner.map_or_else(Vec::new, |inner| inner.split('|').map(str::trim).collect())
}

fn is_header(cells: &[&str]) -> bool {
    cells.len() >= HEADER.len()
        && HEADER
            .iter()
            .zip(cells)
            .all(|(name, cell)| cell.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
# Title\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\ntext\n\n\
| Part | Minutes | What |\n| --- | ---: | --- |\n| build | 12 | all |\n| real CLI | 6 | three versions |\n\nmore | text\n";

    #[test]
    fn the_table_is_found_by_its_header_among_others() {
        let budget = Budget::parse(TABLE).unwrap();
        assert_eq!(budget.seconds("build"), Some(720));
        assert_eq!(budget.seconds("real CLI"), Some(360));
        assert_eq!(budget.seconds("1"), None);
        assert_eq!(budget.parts.len(), 2);
    }

    #[test]
    fn a_missing_table_and_a_figure_that_is_none_are_errors() {
        assert!(Budget::parse("# Title\n").is_err());
        let error = Budget::parse("| Part | Minutes |\n|---|---|\n| build | some |\n").unwrap_err();
        assert!(error.to_string().contains("build"), "{error}");
    }

    #[test]
    fn more_than_forty_minutes_a_row_twice_and_a_part_without_a_row_are_found() {
        let text = "| Part | Minutes |\n|---|---|\n| build | 30 |\n| rest | 6 |\n| rest | 5 |\n";
        let problems = Budget::parse(text).unwrap().problems(["build", "browser"]);
        assert_eq!(problems.len(), 3, "{problems:?}");
        assert!(
            problems
                .iter()
                .any(|problem| problem.contains("41 minutes"))
        );
        assert!(
            problems
                .iter()
                .any(|problem| problem.contains("more than once"))
        );
        assert!(problems.iter().any(|problem| problem.contains("browser")));
        assert!(Budget::parse(TABLE).unwrap().problems(["build"]).is_empty());
    }
}
