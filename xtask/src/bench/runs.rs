//! What is run, and the raw results of it.
//!
//! Owns the plan (which modes in which placement, how often) and [`Results`], the medians over rounds. Knows the form of
//! the runner's `raw.jsonl`; judges nothing.

use std::collections::BTreeMap;
use std::fmt;

use anyhow::Context as _;
use serde::Deserialize;

/// Our rows: kind and ids read, everything decoded, and the first on several threads.
pub(super) const OURS: &str = "countersign";
pub(super) const OURS_TYPED: &str = "countersign-typed";
pub(super) const OURS_THREADS: &str = "countersign-threads";

/// The crates that do the same in Rust.
pub(super) const RUST_CRATES: [&str; 4] = [
    "claude-codes",
    "claude-agent-sdk-rs",
    "cc-sdk",
    "anthropic-agent-sdk",
];

/// Where host and CLI run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Placement {
    /// Both on one core.
    Same,
    /// On one core each.
    Split,
    /// As the system likes.
    Free,
}

impl Placement {
    pub(super) const ALL: [Self; 3] = [Self::Same, Self::Split, Self::Free];

    /// What the runner calls it.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Split => "split",
            Self::Free => "none",
        }
    }

    /// The modes that say something there.
    fn modes(self) -> &'static [&'static str] {
        match self {
            Self::Same => &["startup", "stream", "big", "paced", "approvals", "hooks"],
            Self::Split => &["startup", "stream", "big", "approvals"],
            Self::Free => &["startup", "stream"],
        }
    }

    /// Of these, the ones that a goal is judged by.
    fn judged(self) -> &'static [&'static str] {
        match self {
            Self::Same => &["startup", "stream", "big", "paced", "approvals"],
            Self::Split | Self::Free => &["startup", "stream"],
        }
    }
}

/// One call of the runner.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) placement: Placement,
    pub(super) modes: Vec<String>,
    pub(super) rounds: u32,
    /// Which peers, blank between them; empty for all.
    pub(super) peers: &'static str,
    pub(super) sizes: &'static [(&'static str, &'static str)],
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let modes = self.modes.join(", ");
        write!(f, "PIN={}: {modes}", self.placement.word())
    }
}

const QUICK_PEERS: &str =
    "countersign countersign-typed countersign-threads ts-sdk claude-codes floor-memchr";
const QUICK_SIZES: [(&str, &str); 3] = [
    ("BENCH_LINES", "100000"),
    ("BENCH_K", "2000"),
    ("BENCH_PACED_LINES", "1500"),
];

/// The steps of a run. Memory does not depend on the placement, and looking at it takes seconds: once, with fewer rounds.
pub(super) fn plan(
    placements: &[Placement],
    wanted: &[String],
    rounds: Option<u32>,
    is_quick: bool,
) -> Vec<Step> {
    let is_wanted = |mode: &str| {
        mode == "startup" || wanted.is_empty() || wanted.iter().any(|wanted| wanted == mode)
    };
    let step = |placement, modes: &[&str], rounds| Step {
        placement,
        modes: modes
            .iter()
            .filter(|mode| is_wanted(mode))
            .map(|mode| (*mode).to_owned())
            .collect(),
        rounds,
        peers: if is_quick { QUICK_PEERS } else { "" },
        sizes: if is_quick { &QUICK_SIZES } else { &[] },
    };
    let rounds = rounds.unwrap_or(if is_quick { 3 } else { 5 });
    let mut plan: Vec<Step> = placements
        .iter()
        .map(|placement| match is_quick {
            true => step(*placement, placement.judged(), rounds),
            false => step(*placement, placement.modes(), rounds),
        })
        .collect();
    if is_wanted("idle") {
        let last = placements.last().copied().unwrap_or(Placement::Free);
        plan.push(step(last, &["idle"], rounds.div_ceil(3)));
    }
    plan
}

/// One run of one peer, as the runner wrote it down.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Run {
    pub(super) peer: String,
    pub(super) mode: String,
    fail: Option<String>,
    events: Option<f64>,
    expected: Option<f64>,
    cpu_ms: Option<f64>,
    turn_ms: Option<f64>,
    start_ms: Option<f64>,
    ru_maxrss_mb: Option<f64>,
    p50_us: Option<f64>,
    p99_us: Option<f64>,
    idle: Option<Idle>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
struct Idle {
    rss_kb: Option<f64>,
    threads: Option<f64>,
}

/// Reads `raw.jsonl`.
pub(super) fn read(text: &str) -> anyhow::Result<Vec<Run>> {
    text.lines()
        .map(|line| serde_json::from_str(line).context("a raw result is in an unknown form"))
        .collect()
}

/// A figure of one run.
type Figure = fn(&Run) -> Option<f64>;

/// All runs, by placement, mode and peer.
#[derive(Debug, Default)]
pub(super) struct Results {
    runs: BTreeMap<(Placement, String, String), Vec<Run>>,
}

/// How many sessions the runner opens for its two looks at memory.
const SESSIONS: f64 = 50.0;

impl Results {
    pub(super) fn add(&mut self, placement: Placement, runs: Vec<Run>) {
        for run in runs {
            let key = (placement, run.mode.clone(), run.peer.clone());
            self.runs.entry(key).or_default().push(run);
        }
    }

    fn values(&self, at: Placement, mode: &str, peer: &str, figure: Figure) -> Vec<f64> {
        let runs = self.runs.get(&(at, mode.to_owned(), peer.to_owned()));
        let good = runs.into_iter().flatten().filter(|run| run.fail.is_none());
        good.filter_map(figure).collect()
    }

    fn median(&self, at: Placement, mode: &str, peer: &str, figure: Figure) -> Option<f64> {
        median(self.values(at, mode, peer, figure))
    }

    /// CPU time of one event, in µs; what the start costs is taken off.
    pub(super) fn cpu(&self, at: Placement, mode: &str, peer: &str) -> Option<f64> {
        let cpu = self.median(at, mode, peer, |run| run.cpu_ms)?;
        let start = self.median(at, "startup", peer, |run| run.cpu_ms)?;
        let events = self.median(at, mode, peer, |run| run.expected)?;
        Some((cpu - start).max(0.0) * 1e3 / events)
    }

    /// The least and the most that a round gave, for [`Results::cpu`].
    pub(super) fn cpu_spread(&self, at: Placement, mode: &str, peer: &str) -> Option<(f64, f64)> {
        let start = self.median(at, "startup", peer, |run| run.cpu_ms)?;
        let events = self.median(at, mode, peer, |run| run.expected)?;
        let cpus = self.values(at, mode, peer, |run| run.cpu_ms);
        let per_event = cpus.iter().map(|cpu| (cpu - start) * 1e3 / events);
        let least = per_event.clone().min_by(f64::total_cmp)?;
        Some((least, per_event.max_by(f64::total_cmp)?))
    }

    pub(super) fn turn_ms(&self, at: Placement, mode: &str, peer: &str) -> Option<f64> {
        self.median(at, mode, peer, |run| run.turn_ms)
    }

    pub(super) fn start_ms(&self, at: Placement, peer: &str) -> Option<f64> {
        self.median(at, "startup", peer, |run| run.start_ms)
    }

    pub(super) fn peak_mb(&self, at: Placement, mode: &str, peer: &str) -> Option<f64> {
        self.median(at, mode, peer, |run| run.ru_maxrss_mb)
    }

    pub(super) fn p50_us(&self, at: Placement, mode: &str, peer: &str) -> Option<f64> {
        self.median(at, mode, peer, |run| run.p50_us)
    }

    pub(super) fn p99_us(&self, at: Placement, mode: &str, peer: &str) -> Option<f64> {
        self.median(at, mode, peer, |run| run.p99_us)
    }

    /// Memory of one more idle session, in KB.
    pub(super) fn idle_kb(&self, peer: &str) -> Option<f64> {
        let at = self.idle_placement()?;
        let rss: Figure = |run| run.idle.and_then(|idle| idle.rss_kb);
        let one = self.median(at, "idle1", peer, rss)?;
        Some((self.median(at, "idle", peer, rss)? - one) / (SESSIONS - 1.0))
    }

    /// Threads with one session and with many.
    pub(super) fn idle_threads(&self, peer: &str) -> Option<(f64, f64)> {
        let at = self.idle_placement()?;
        let threads: Figure = |run| run.idle.and_then(|idle| idle.threads);
        let one = self.median(at, "idle1", peer, threads)?;
        Some((one, self.median(at, "idle", peer, threads)?))
    }

    fn idle_placement(&self) -> Option<Placement> {
        let mut keys = self.runs.keys();
        keys.find(|(_, mode, _)| mode == "idle").map(|(at, ..)| *at)
    }

    /// Every run of ours that failed or lost an event.
    pub(super) fn losses(&self) -> Vec<String> {
        let mut losses = Vec::new();
        for ((at, mode, peer), runs) in &self.runs {
            if ![OURS, OURS_TYPED, OURS_THREADS].contains(&peer.as_str()) {
                continue;
            }
            for run in runs {
                let is_whole = mode.starts_with("idle") || run.events == run.expected;
                let why = match &run.fail {
                    Some(why) => why.clone(),
                    None if is_whole => continue,
                    None => format!(
                        "{} of {} events",
                        run.events.unwrap_or_default(),
                        run.expected.unwrap_or_default()
                    ),
                };
                losses.push(format!("{peer}, {mode}, PIN={}: {why}", at.word()));
            }
        }
        losses
    }

    /// Modes in which a peer failed, with what it said.
    pub(super) fn failures_of_peers(&self) -> Vec<String> {
        let mut failures = Vec::new();
        for ((at, mode, peer), runs) in &self.runs {
            let failed = runs.iter().filter(|run| run.fail.is_some()).count();
            let said = runs.iter().find_map(|run| run.fail.clone());
            if let Some(said) = said.filter(|_| failed == runs.len()) {
                failures.push(format!("{peer} in {mode} (PIN={}): {said}", at.word()));
            }
        }
        failures
    }
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// How busy the machine is: the average of a minute, where it can be known.
pub(super) fn load() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/loadavg").ok()?;
    text.split(' ').next()?.parse().ok()
}

/// The machine in a few words. `before` is the load when the runs began.
pub(super) fn machine(before: &Option<f64>) -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let kernel = kernel
        .split('-')
        .next()
        .unwrap_or_default()
        .trim()
        .to_owned();
    let mut text = format!("{cores} cores, Linux {kernel}");
    if let (Some(before), Some(after)) = (before, load()) {
        text.push_str(&format!(", load {before:.1} before and {after:.1} after"));
    }
    text
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    fn run(peer: &str, mode: &str, fields: &str) -> Run {
        let line = format!(r#"{{"peer":"{peer}","mode":"{mode}","fail":null,{fields}}}"#);
        serde_json::from_str(&line).unwrap()
    }

    #[test]
    fn the_start_is_taken_off_and_the_median_counts() {
        let mut results = Results::default();
        let cpus = [30.0, 22.0, 12.0];
        let streams = cpus.map(|cpu| {
            let fields = format!(r#""events":100,"expected":100,"cpu_ms":{cpu}"#);
            run(OURS, "stream", &fields)
        });
        results.add(Placement::Same, streams.to_vec());
        assert_eq!(results.cpu(Placement::Same, "stream", OURS), None);
        let start = run(OURS, "startup", r#""events":4,"expected":4,"cpu_ms":2.0"#);
        results.add(Placement::Same, vec![start]);
        assert_eq!(results.cpu(Placement::Same, "stream", OURS), Some(200.0));
        let spread = results.cpu_spread(Placement::Same, "stream", OURS);
        assert_eq!(spread, Some((100.0, 280.0)));
        assert_eq!(results.cpu(Placement::Split, "stream", OURS), None);
    }

    #[test]
    fn a_lost_event_and_a_failed_run_of_ours_are_told_and_those_of_others_are_not() {
        let mut results = Results::default();
        let lost = r#""events":99,"expected":100"#;
        let mut failed = run(OURS_TYPED, "idle", r#""events":null,"expected":4"#);
        failed.fail = Some("exit status 1".to_owned());
        results.add(
            Placement::Free,
            vec![
                run(OURS, "stream", lost),
                run("cc-sdk", "big", lost),
                failed,
            ],
        );
        assert_eq!(
            results.losses(),
            [
                "countersign-typed, idle, PIN=none: exit status 1",
                "countersign, stream, PIN=none: 99 of 100 events",
            ]
        );
    }

    #[test]
    fn memory_is_looked_at_once_and_start_up_always_measured() {
        let plan = plan(&Placement::ALL, &["idle".to_owned()], Some(5), false);
        let modes: Vec<String> = plan.iter().map(|step| step.modes.join(",")).collect();
        assert_eq!(modes, ["startup", "startup", "startup", "idle"]);
        assert_eq!(plan[3].rounds, 2);
    }
}
