//! The goals of the client and how far it is from each: figures in, rows out.
//!
//! Owns what is asked for and which figures answer it. Pure. Invariant: a row without a figure of ours has no verdict.

use super::runs::{OURS, OURS_THREADS, OURS_TYPED, Placement, RUST_CRATES, Results};

const TYPESCRIPT: &str = "ts-sdk";
const PYTHON: &str = "py-sdk";
const FLOOR: &str = "floor-memchr";

/// Which way is better, and from where on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Goal {
    AtMost(f64),
    AtLeast(f64),
}

impl Goal {
    fn is_met(self, figure: f64) -> bool {
        match self {
            Self::AtMost(most) => figure <= most,
            Self::AtLeast(least) => figure >= least,
        }
    }
}

/// One line of the table.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) what: &'static str,
    pub(super) unit: &'static str,
    /// None where the row only shows something.
    pub(super) goal: Option<Goal>,
    pub(super) stretch: Option<Goal>,
    /// Ours, in each placement that counts.
    pub(super) ours: Vec<(Placement, f64)>,
    /// The least and the most of a round, where a single round says something.
    pub(super) spread: Option<(f64, f64)>,
    pub(super) typescript: Option<f64>,
    pub(super) python: Option<f64>,
    pub(super) rust: Option<f64>,
    pub(super) floor: Option<f64>,
}

/// What came of a goal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Stretch,
    Met,
    Missed,
    /// There is no goal.
    Shown,
    /// There is no figure.
    Unknown,
}

impl Row {
    fn new(what: &'static str, unit: &'static str, goal: Goal, stretch: Option<Goal>) -> Self {
        Self {
            what,
            unit,
            goal: Some(goal),
            stretch,
            ours: Vec::new(),
            spread: None,
            typescript: None,
            python: None,
            rust: None,
            floor: None,
        }
    }

    /// The worst placement counts.
    pub(super) fn verdict(&self) -> Verdict {
        let meets = |goal: Goal| self.ours.iter().all(|(_, figure)| goal.is_met(*figure));
        match self.goal {
            _ if self.ours.is_empty() => Verdict::Unknown,
            None => Verdict::Shown,
            Some(goal) if !meets(goal) => Verdict::Missed,
            Some(_) if self.stretch.is_some_and(meets) => Verdict::Stretch,
            Some(_) => Verdict::Met,
        }
    }

    /// Fills in a figure for ours in each of `placements`, and for the others in the first of them.
    fn filled(
        mut self,
        placements: &[Placement],
        ours: &str,
        figure: impl Fn(Placement, &str) -> Option<f64>,
    ) -> Self {
        let here = placements.iter();
        self.ours = here
            .filter_map(|at| Some((*at, figure(*at, ours)?)))
            .collect();
        if let Some((at, _)) = self.ours.first().copied() {
            self.typescript = figure(at, TYPESCRIPT);
            self.python = figure(at, PYTHON);
            self.rust = least(RUST_CRATES.iter().filter_map(|name| figure(at, name)));
            self.floor = figure(at, FLOOR);
        }
        self
    }
}

fn least(figures: impl Iterator<Item = f64>) -> Option<f64> {
    figures.min_by(f64::total_cmp)
}

/// The table, in the order of the goals.
pub(super) fn table(results: &Results) -> Vec<Row> {
    let mut rows = stream(results, OURS);
    rows.extend(stream(results, OURS_TYPED));
    rows.push(freedom(results));
    rows.push(threads(results));
    rows.extend(big(results));
    rows.extend(approvals(results));
    rows.push(paced(results));
    rows.extend(at_rest(results));
    rows
}

fn stream(results: &Results, ours: &str) -> Vec<Row> {
    use Goal::{AtLeast, AtMost};
    let cpu = |at, peer: &str| results.cpu(at, "stream", peer);
    let times_typescript = |at, peer: &str| Some(cpu(at, TYPESCRIPT)? / cpu(at, peer)?);
    let times_rust = |at, peer: &str| {
        let best = least(RUST_CRATES.iter().filter_map(|name| cpu(at, name)))?;
        Some(best / cpu(at, peer)?)
    };
    let all = &Placement::ALL;
    let (rows, goal, stretch, factor) = match ours == OURS {
        true => (
            [
                "stream, CPU per event, kind and ids read",
                "the same, times better than the TypeScript SDK",
            ],
            AtMost(0.30),
            AtMost(0.20),
            AtLeast(11.0),
        ),
        false => (
            [
                "stream, CPU per event, every event typed",
                "the same, times better than the TypeScript SDK",
            ],
            AtMost(0.6),
            AtMost(0.45),
            AtLeast(5.0),
        ),
    };
    let mut first = Row::new(rows[0], "µs", goal, Some(stretch)).filled(all, ours, cpu);
    let same = results.cpu_spread(Placement::Same, "stream", ours);
    first.spread = same.or_else(|| results.cpu_spread(Placement::Free, "stream", ours));
    let mut found = vec![
        first,
        Row::new(rows[1], "×", factor, None).filled(all, ours, times_typescript),
    ];
    if ours == OURS {
        let what = "the same, times better than the best Rust crate";
        found.push(Row::new(what, "×", AtLeast(9.0), None).filled(all, ours, times_rust));
    }
    found
}

/// What it costs that the system places host and CLI: against one core each, where the CLI has the same room.
fn freedom(results: &Results) -> Row {
    let what = "stream, CPU not pinned against one core each";
    let ratio = |_, peer: &str| {
        let pinned = results.cpu(Placement::Split, "stream", peer)?;
        Some(results.cpu(Placement::Free, "stream", peer)? / pinned)
    };
    Row::new(what, "×", Goal::AtMost(1.1), None).filled(&[Placement::Free], OURS, ratio)
}

/// The same host where every batch hops to another thread. No goal: who wants threads pays for them.
fn threads(results: &Results) -> Row {
    let what = "the same on a runtime of several threads";
    let ratio = |_, peer: &str| {
        let pinned = results.cpu(Placement::Split, "stream", peer)?;
        Some(results.cpu(Placement::Free, "stream", peer)? / pinned)
    };
    let mut row = Row::new(what, "×", Goal::AtMost(1.1), None);
    row.goal = None;
    row.filled(&[Placement::Free], OURS_THREADS, ratio)
}

fn big(results: &Results) -> Vec<Row> {
    let one_core = &[Placement::Same];
    let turn = |at, peer: &str| results.turn_ms(at, "big", peer);
    let times_typescript = |at, peer: &str| Some(turn(at, TYPESCRIPT)? / turn(at, peer)?);
    let peak = |at, peer: &str| results.peak_mb(at, "big", peer);
    let floor = times_typescript(Placement::Same, FLOOR).map(Goal::AtLeast);
    let what = "1 MB and 20 MB lines, times faster than the TypeScript SDK";
    let mut speed = Row::new(what, "×", Goal::AtLeast(8.0), floor);
    speed = speed.filled(one_core, OURS, times_typescript);
    // Of the crates the fastest, not the slowest.
    let crates = RUST_CRATES.iter();
    speed.rust = crates
        .filter_map(|name| times_typescript(Placement::Same, name))
        .max_by(f64::total_cmp);
    let what = "1 MB and 20 MB lines, peak memory";
    let memory = Row::new(what, "MB", Goal::AtMost(45.0), Some(Goal::AtMost(25.0)));
    vec![speed, memory.filled(one_core, OURS, peak)]
}

fn approvals(results: &Results) -> Vec<Row> {
    let one_core = &[Placement::Same];
    let half = |at, peer: &str| results.p50_us(at, "approvals", peer);
    let most = |at, peer: &str| results.p99_us(at, "approvals", peer);
    let p50 = Row::new(
        "approval round trip on one core, median",
        "µs",
        Goal::AtMost(10.0),
        Some(Goal::AtMost(8.0)),
    );
    let p99 = Row::new(
        "approval round trip on one core, 99 of 100",
        "µs",
        Goal::AtMost(22.0),
        None,
    );
    vec![
        p50.filled(one_core, OURS, half),
        p99.filled(one_core, OURS, most),
    ]
}

fn paced(results: &Results) -> Row {
    // On one core: from one core to another the system's own wake-up is most of it, for every host.
    let what = "one event each 300 µs on one core, CPU per event";
    let cpu = |at, peer: &str| results.cpu(at, "paced", peer);
    let mut row = Row::new(what, "µs", Goal::AtMost(6.2), Some(Goal::AtMost(4.5)));
    row = row.filled(&[Placement::Same], OURS, cpu);
    row.spread = results.cpu_spread(Placement::Same, "paced", OURS);
    row
}

fn at_rest(results: &Results) -> Vec<Row> {
    let start = |at, peer: &str| results.start_ms(at, peer);
    let memory = |_, peer: &str| results.idle_kb(peer);
    let more = |_, peer: &str| results.idle_threads(peer).map(|(one, many)| many - one);
    let free = &[Placement::Free];
    let started = Row::new(
        "start of the host to its first result",
        "ms",
        Goal::AtMost(2.2),
        Some(Goal::AtMost(1.9)),
    );
    let idle = Row::new(
        "memory of one more idle session",
        "KB",
        Goal::AtMost(12.0),
        Some(Goal::AtMost(8.0)),
    );
    let threads = Row::new(
        "threads of 49 more idle sessions",
        "more",
        Goal::AtMost(0.0),
        None,
    );
    vec![
        started.filled(free, OURS, start),
        idle.filled(free, OURS, memory),
        threads.filled(free, OURS, more),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::runs::read;
    use super::*;

    fn row(ours: &[f64]) -> Row {
        let mut row = Row::new("x", "µs", Goal::AtMost(6.2), Some(Goal::AtMost(4.5)));
        let places = Placement::ALL.iter().copied();
        row.ours = places.zip(ours.iter().copied()).collect();
        row
    }

    #[test]
    fn the_worst_placement_decides() {
        assert_eq!(row(&[4.0, 4.5]).verdict(), Verdict::Stretch);
        assert_eq!(row(&[4.0, 4.6]).verdict(), Verdict::Met);
        assert_eq!(row(&[4.0, 6.3]).verdict(), Verdict::Missed);
        assert_eq!(row(&[]).verdict(), Verdict::Unknown);
    }

    #[test]
    fn figures_come_from_the_raw_results() {
        let raw = r#"{"peer":"countersign","mode":"startup","fail":null,"events":4,"expected":4,"cpu_ms":5.0,"start_ms":2.0}
{"peer":"ts-sdk","mode":"startup","fail":null,"events":4,"expected":4,"cpu_ms":100.0,"start_ms":130.0}
{"peer":"countersign","mode":"stream","fail":null,"events":200000,"expected":200000,"cpu_ms":55.0}
{"peer":"ts-sdk","mode":"stream","fail":null,"events":200000,"expected":200000,"cpu_ms":800.0}"#;
        let mut results = Results::default();
        results.add(Placement::Same, read(raw).unwrap());
        let rows = table(&results);
        assert_eq!(rows[0].ours, [(Placement::Same, 0.25)]);
        assert_eq!(rows[0].typescript, Some(3.5));
        assert_eq!(rows[0].verdict(), Verdict::Met);
        assert_eq!(rows[1].ours, [(Placement::Same, 14.0)]);
        let approvals = rows.iter().find(|row| row.what.starts_with("approval"));
        assert_eq!(approvals.unwrap().verdict(), Verdict::Unknown);
    }
}
