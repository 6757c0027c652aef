//! Raw lines of `countersign-bench-journal`, their medians, and the goals they are held against.
//!
//! Owns what a goal is. Invariant: a figure that was not measured has no verdict.

use std::collections::BTreeMap;

use anyhow::Context as _;
use serde::{Deserialize, Serialize};

/// One measurement.
#[derive(Debug, Clone, Deserialize)]
struct Raw {
    part: String,
    case: String,
    side: String,
    #[serde(flatten)]
    figures: BTreeMap<String, f64>,
}

/// What was measured several times under one name.
#[derive(Debug, Clone, PartialEq)]
struct Row {
    part: String,
    case: String,
    side: String,
    figures: BTreeMap<String, Vec<f64>>,
}

/// The medians of one row.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Median<'a> {
    part: &'a str,
    case: &'a str,
    side: &'a str,
    rounds: usize,
    #[serde(flatten)]
    figures: BTreeMap<&'a str, f64>,
}

impl Row {
    fn median(&self) -> Median<'_> {
        let figures = self.figures.iter();
        Median {
            part: &self.part,
            case: &self.case,
            side: &self.side,
            rounds: self
                .figures
                .values()
                .map(Vec::len)
                .max()
                .unwrap_or_default(),
            figures: figures
                .filter_map(|(name, all)| Some((name.as_str(), median(all)?)))
                .collect(),
        }
    }
}

/// Everything one run measured, in its order.
#[derive(Debug, Default)]
pub(super) struct Figures {
    rows: Vec<Row>,
}

/// What was wanted, and what was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Goal {
    pub(super) what: String,
    pub(super) unit: &'static str,
    pub(super) wanted: f64,
    /// Whether less than `wanted` is a miss; otherwise more is.
    pub(super) is_least: bool,
    pub(super) found: Option<f64>,
}

impl Goal {
    pub(super) fn is_met(&self) -> Option<bool> {
        let found = self.found?;
        Some(match self.is_least {
            true => found >= self.wanted,
            false => found <= self.wanted,
        })
    }
}

impl Figures {
    pub(super) fn read(text: &str) -> anyhow::Result<Self> {
        let mut figures = Self::default();
        for line in text.lines().filter(|line| !line.is_empty()) {
            let raw =
                serde_json::from_str(line).with_context(|| format!("no measurement: {line}"))?;
            figures.add(raw);
        }
        Ok(figures)
    }

    fn add(&mut self, raw: Raw) {
        let is_same =
            |row: &&mut Row| row.part == raw.part && row.case == raw.case && row.side == raw.side;
        let row = match self.rows.iter_mut().find(is_same) {
            Some(row) => row,
            None => {
                self.rows.push(Row {
                    part: raw.part,
                    case: raw.case,
                    side: raw.side,
                    figures: BTreeMap::new(),
                });
                let last = self.rows.len() - 1;
                &mut self.rows[last]
            }
        };
        for (name, figure) in raw.figures {
            row.figures.entry(name).or_default().push(figure);
        }
    }

    /// The cases of a part, each once.
    pub(super) fn cases(&self, part: &str) -> Vec<&str> {
        let mut cases: Vec<&str> = Vec::new();
        for row in self.rows.iter().filter(|row| row.part == part) {
            if !cases.contains(&row.case.as_str()) {
                cases.push(&row.case);
            }
        }
        cases
    }

    /// The median of a figure.
    pub(super) fn get(&self, part: &str, case: &str, side: &str, name: &str) -> Option<f64> {
        let is_it = |row: &&Row| row.part == part && row.case == case && row.side == side;
        let row = self.rows.iter().find(is_it)?;
        median(row.figures.get(name)?)
    }

    /// Records a second.
    pub(super) fn rate(&self, part: &str, case: &str, side: &str) -> Option<f64> {
        let records = self.get(part, case, side, "records")?;
        Some(records / self.get(part, case, side, "seconds")?)
    }

    /// Megabytes a second.
    pub(super) fn megabytes(&self, part: &str, case: &str, side: &str) -> Option<f64> {
        let bytes = self.get(part, case, side, "bytes")?;
        Some(bytes / 1e6 / self.get(part, case, side, "seconds")?)
    }

    /// How fast a side is, in hundredths of another: by time on a processor where that is known, which does not depend
    /// on what else the machine does.
    pub(super) fn share(&self, part: &str, case: &str, side: &str, of: &str) -> Option<f64> {
        let cost = |side| {
            let cpu = self.get(part, case, side, "cpu_seconds");
            let time = cpu.or_else(|| self.get(part, case, side, "seconds"))?;
            Some(time / self.get(part, case, side, "records")?)
        };
        Some(100.0 * cost(of)? / cost(side)?)
    }

    pub(super) fn medians(&self) -> Vec<Median<'_>> {
        self.rows.iter().map(Row::median).collect()
    }

    /// What was wanted of journal and keeper.
    pub(super) fn goals(&self) -> Vec<Goal> {
        let mut goals: Vec<Goal> = self
            .cases("append")
            .into_iter()
            .map(|case| Goal {
                what: format!("append against a bare write, {case}"),
                unit: "%",
                wanted: 50.0,
                is_least: true,
                found: self.share("append", case, "journal", "bare"),
            })
            .collect();
        let at_most = |what: &str, unit, wanted, found| Goal {
            what: what.to_owned(),
            unit,
            wanted,
            is_least: false,
            found,
        };
        let rest = |case| self.keeper_mib(case, "rss_kib");
        let peak = self.keeper_mib("at rest behind it", "keeper_peak_kib");
        let latency = |name: &str| self.get("latency", "300 B", "keeper", name);
        goals.extend([
            at_most(
                "keeper and guard at rest behind the records, RSS",
                "MiB",
                6.0,
                rest("at rest behind them"),
            ),
            at_most(
                "keeper and guard at rest behind a line of 20 MB, RSS",
                "MiB",
                6.0,
                rest("at rest behind it"),
            ),
            // The line and what it takes at rest.
            at_most("keeper's peak, with a line of 20 MB", "MiB", 25.0, peak),
            at_most(
                "memory of a follower, long journal against short",
                "KiB more",
                1.0,
                self.growth(),
            ),
            at_most(
                "agent's write to follower's read, p50",
                "µs",
                60.0,
                latency("p50_us"),
            ),
            at_most(
                "agent's write to follower's read, p99",
                "µs",
                1000.0,
                latency("p99_us"),
            ),
        ]);
        goals
    }

    /// Memory of the binary's own keeper.
    fn keeper_mib(&self, case: &str, name: &str) -> Option<f64> {
        let kib = self.get("memory", case, "countersign keeper", name)?;
        Some(kib / 1024.0)
    }

    /// How much more memory a follower of the longest journal takes than one of the shortest.
    fn growth(&self) -> Option<f64> {
        let cases = self.cases("readers");
        let of = |case: &str| self.get("readers", case, "one more", "own_kib");
        Some(of(cases.last()?)? - of(cases.first()?)?)
    }
}

fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in super::super) const RAW: &str = r#"{"part":"append","case":"300 B","side":"bare","records":100.0,"bytes":30000.0,"seconds":0.1}
{"part":"append","case":"300 B","side":"journal","records":100.0,"bytes":30000.0,"seconds":0.4}
{"part":"append","case":"300 B","side":"journal","records":100.0,"bytes":30000.0,"seconds":0.1}
{"part":"append","case":"300 B","side":"journal","records":100.0,"bytes":30000.0,"seconds":0.2}
{"part":"latency","case":"300 B","side":"keeper","p50_us":61.0,"p99_us":300.0}
{"part":"readers","case":"short","side":"one more","own_kib":80.0}
{"part":"readers","case":"long","side":"one more","own_kib":80.5}"#;

    #[test]
    fn medians_are_compared_and_each_goal_has_its_verdict() {
        let figures = Figures::read(RAW).unwrap();
        assert_eq!(figures.rate("append", "300 B", "journal"), Some(500.0));
        assert_eq!(figures.megabytes("append", "300 B", "bare"), Some(0.3));
        let goals = figures.goals();
        let verdicts: Vec<_> = goals.iter().map(Goal::is_met).collect();
        let known = [
            Some(true),
            None,
            None,
            None,
            Some(true),
            Some(false),
            Some(true),
        ];
        assert_eq!(verdicts, known);
        assert_eq!(goals[0].found, Some(50.0));
        assert_eq!(figures.medians().len(), 5);
    }

    #[test]
    fn a_line_that_is_no_measurement_is_an_error() {
        assert!(Figures::read("warming up\n").is_err());
    }
}
