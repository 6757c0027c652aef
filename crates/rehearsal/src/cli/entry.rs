//! The scripted CLI as a program: where its scenario comes from and what it leaves behind for a test to look at.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use super::engine::Launch;
use super::flags::Flags;
use super::parse::ScenarioError;
use super::scenario::Scenario;
use super::stdio::run_stdio;

const FILE: &str = "COUNTERSIGN_SCENARIO";
const TEXT: &str = "COUNTERSIGN_SCENARIO_TEXT";
const LOG: &str = "COUNTERSIGN_SCENARIO_LOG";
const ARGV: &str = "COUNTERSIGN_SCENARIO_ARGV";

/// Why the scripted CLI did not start.
#[derive(Debug, thiserror::Error)]
pub enum EntryError {
    /// The scenario's file.
    #[error("cannot read the scenario {path}: {source}; {FILE} names a file, {TEXT} holds the text itself", path = path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// The scenario's text.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// Pipes, signals, the files a test asked for.
    #[error("the scripted CLI cannot go on: {0}")]
    Io(#[from] std::io::Error),
}

/// The whole program: the scenario from the environment, the flags from the command line.
///
/// `COUNTERSIGN_SCENARIO` names a scenario file, or `COUNTERSIGN_SCENARIO_TEXT` holds one; without both, the CLI does what
/// it does by itself. `COUNTERSIGN_SCENARIO_LOG` names a file for every line read from stdin, `COUNTERSIGN_SCENARIO_ARGV`
/// one for arguments, environment, working directory and process id, as JSON.
pub fn main_from_env() -> ExitCode {
    match run() {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "{error}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<u8, EntryError> {
    let scenario = scenario()?;
    let arguments: Vec<String> = std::env::args_os()
        .skip(1)
        .map(|argument| argument.to_string_lossy().into_owned())
        .collect();
    if Flags::read(arguments.iter().map(String::as_str)).version {
        writeln!(std::io::stdout(), "{} (Claude Code)", scenario.version())?;
        return Ok(0);
    }
    let cwd = std::env::current_dir()?.to_string_lossy().into_owned();
    if let Some(path) = std::env::var_os(ARGV) {
        leave_note(Path::new(&path), &cwd)?;
    }
    let pid = std::process::id();
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let seed = now.unwrap_or_default().as_nanos() as u64 ^ (u64::from(pid) << 40);
    let launch = Launch {
        arguments,
        cwd,
        pid,
        seed,
    };
    let log = std::env::var_os(LOG).map(PathBuf::from);
    Ok(run_stdio(scenario, launch, log.as_deref())?)
}

fn scenario() -> Result<Scenario, EntryError> {
    if let Some(text) = std::env::var_os(TEXT) {
        return Ok(Scenario::parse(&text.to_string_lossy(), TEXT)?);
    }
    let Some(path) = std::env::var_os(FILE).map(PathBuf::from) else {
        return Ok(Scenario::empty("none"));
    };
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(Scenario::parse(&text, &path.to_string_lossy())?),
        Err(source) => Err(EntryError::Read { path, source }),
    }
}

/// How this process was started, for the test that started it. Written whole: a reader never sees half of it.
fn leave_note(path: &Path, cwd: &str) -> std::io::Result<()> {
    let text = |value: std::ffi::OsString| value.to_string_lossy().into_owned();
    let argv: Vec<String> = std::env::args_os().map(text).collect();
    let env: std::collections::BTreeMap<String, String> = std::env::vars_os()
        .map(|(name, value)| (text(name), text(value)))
        .collect();
    let note = serde_json::json!({
        "argv": argv, "env": env, "cwd": cwd, "pid": std::process::id(),
    });
    let draft = path.with_extension(format!("{}.draft", std::process::id()));
    std::fs::write(&draft, note.to_string())?;
    std::fs::rename(draft, path)
}
