//! Plays a scenario on the real CLI and on the scripted one, each in a sandbox of its own, and lays the logs side by side.

use std::path::{Path, PathBuf};
use std::time::Duration;

use countersign_rehearsal::cli::Version;
use countersign_testkit::demand;
use countersign_testkit::drive::{self, Attempt, ModelFrom, Stage};
use countersign_testkit::fetch::{self, Installed};
use countersign_testkit::recording::{Entry, Recording};
use countersign_testkit::sandbox::RunAs;
use countersign_testkit::scenario::{self, Scenario};

use super::compare::{Difference, compare};
use super::normal::{Line, normal};
use super::order::settled;

/// Returns the version that both are: the newest one that is tested.
pub(crate) fn version() -> &'static str {
    fetch::newest().version
}

/// How long a step on the scripted CLI waits.
const PATIENCE: Duration = Duration::from_secs(20);

/// The scenarios of the recordings, then those of these tests alone.
pub(crate) fn scenarios() -> Vec<PathBuf> {
    let mut files = scenario::all().unwrap();
    let mut more: Vec<PathBuf> = std::fs::read_dir(own_scenarios())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|file| file.extension().is_some_and(|ending| ending == "scenario"))
        .collect();
    more.sort();
    files.extend(more);
    files
}

pub(crate) fn load(name: &str) -> Scenario {
    let file = scenarios()
        .into_iter()
        .find(|file| file.file_stem().unwrap() == name);
    let file = file.unwrap_or_else(|| panic!("no scenario {name}"));
    Scenario::load(&file, version())
        .unwrap_or_else(|error| panic!("{error}"))
        .unwrap_or_else(|| panic!("{name} is not for {}", version()))
}

/// What the real CLI was recorded to say.
pub(crate) fn recorded(name: &str) -> Vec<Line> {
    normal(&recording(name).entries)
}

pub(crate) fn recording(name: &str) -> Recording {
    Recording::read(&recording_file(name)).unwrap_or_else(|error| panic!("{error}"))
}

/// Of a scenario of testkit among the workspace's recordings, of one of these tests beside it.
pub(crate) fn recording_file(name: &str) -> PathBuf {
    let own = own_scenarios().join(format!("{name}.scenario"));
    match own.exists() {
        true => own.with_extension("ndjson"),
        false => Recording::path(&Recording::fixtures(), version(), name),
    }
}

fn own_scenarios() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/twins/scenarios")
}

/// What the real CLI says now.
pub(crate) async fn real(scenario: &Scenario, installed: &Installed) -> Vec<Line> {
    let played = drive::play(scenario, installed, RunAs::Caller).await;
    let played = played.unwrap_or_else(|error| panic!("the real CLI: {error}"));
    keep_log(scenario, "real", &played.entries);
    let mut entries = played.recording().entries;
    for entry in &mut entries {
        as_the_version_played(entry, installed.pinned.version);
    }
    normal(&entries)
}

/// Lets a line speak of the version that the scripted CLI plays: a newer CLI differs in more than its number, or not at all.
fn as_the_version_played(entry: &mut Entry, version: &str) {
    let played = Version::NEWEST.to_string();
    if version != played
        && let Ok(text) = std::str::from_utf8(&entry.bytes)
    {
        entry.bytes = text.replace(version, &played).into_bytes();
    }
}

/// What the scripted CLI says, as far as it comes.
async fn scripted(scenario: &Scenario) -> (Vec<Line>, Option<String>) {
    let program = program();
    let stage = Stage {
        program: &program,
        run_as: RunAs::Caller,
        model: ModelFrom::File,
        patience: PATIENCE,
    };
    let attempt = stage.attempt(scenario).await;
    let Attempt { played, failed } = attempt.unwrap_or_else(|error| panic!("{error}"));
    keep_log(scenario, "scripted", &played.entries);
    let lines = normal(&played.recording().entries);
    (lines, failed.map(|error| first_lines(&error.to_string())))
}

/// The step and the reason; what was last on the wire, the report shows.
fn first_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().take(2).map(str::trim).collect();
    lines.join(": ")
}

/// The log as it was, for whoever looks into a difference: in the folder that `TWIN_LOGS` names.
fn keep_log(scenario: &Scenario, whose: &str, entries: &[Entry]) {
    let Some(folder) = std::env::var_os("TWIN_LOGS") else {
        return;
    };
    std::fs::create_dir_all(&folder).unwrap();
    let mut text = Vec::new();
    for entry in entries {
        text.extend(format!("{:<3} ", entry.dir.name()).into_bytes());
        text.extend(&entry.bytes);
        text.push(b'\n');
    }
    let file = Path::new(&folder).join(format!("{}.{whose}.log", scenario.name));
    std::fs::write(file, text).unwrap();
}

/// The example that `cargo test` builds next to the tests, in the place of an installed CLI.
fn program() -> Installed {
    let program = demand::example("play_scenario");
    Installed {
        pinned: fetch::newest(),
        dir: program.parent().unwrap().to_owned(),
        command: vec![program.into_os_string()],
    }
}

/// What became of one twin.
#[derive(Debug)]
pub(crate) struct Twin {
    scenario: String,
    /// How many lines each has.
    lines: (usize, usize),
    differences: Vec<Difference>,
    /// Why the scripted CLI did not play to the end.
    halted: Option<String>,
}

impl Twin {
    /// Whether the two agree.
    pub(crate) fn agrees(&self) -> bool {
        self.differences.is_empty() && self.halted.is_none()
    }

    /// All differences, line by line.
    pub(crate) fn text(&self) -> String {
        let (real, scripted) = self.lines;
        let (name, count) = (&self.scenario, self.differences.len());
        let mut text =
            format!("== {name}: {count} differences ({real} lines real, {scripted} scripted)\n");
        let halted = self.halted.iter().map(|why| format!("HALTED: {why}"));
        let differences = self.differences.iter().map(Difference::to_string);
        for line in halted.chain(differences) {
            text += &format!("   {line}\n");
        }
        text
    }
}

/// Plays the scripted CLI and lays its log beside the real one's.
pub(crate) async fn twin(scenario: &Scenario, real: &[Line]) -> Twin {
    let (scripted, halted) = scripted(scenario).await;
    laid_beside(&scenario.name, real, &scripted, halted)
}

pub(crate) fn laid_beside(
    scenario: &str,
    real: &[Line],
    scripted: &[Line],
    halted: Option<String>,
) -> Twin {
    Twin {
        scenario: scenario.to_owned(),
        lines: (real.len(), scripted.len()),
        differences: compare(&settled(real), &settled(scripted)),
        halted,
    }
}
