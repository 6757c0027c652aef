//! The scripted CLI as a program: where its scenario comes from and what it leaves behind for a test to look at.

use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use super::args::{self, Flags, InputFormat, OutputFormat, Printer, Prompt, Refusal, World};
use super::disk::{self, Places, ResumeError};
use super::engine::{Launch, ModelScript};
use super::ground::{self, Ground, GroundError};
use super::ids::{Ids, is_uuid};
use super::parse::ScenarioError;
use super::scenario::Scenario;
use super::stdio::{Voice, run_stdio};
use super::version::Version;
use crate::model::{ParseError, Script, UnknownVariable, Vars};

const FILE: &str = "COUNTERSIGN_SCENARIO";
const TEXT: &str = "COUNTERSIGN_SCENARIO_TEXT";
const LOG: &str = "COUNTERSIGN_SCENARIO_LOG";
const ARGV: &str = "COUNTERSIGN_SCENARIO_ARGV";
/// A model script, in place of a scenario, and the values of its variables as JSON.
pub(crate) const MODEL: &str = "COUNTERSIGN_MODEL_SCRIPT";
pub(crate) const VARS: &str = "COUNTERSIGN_MODEL_VARS";
/// Where a process leaves how far it came with the script, for the next one.
const STATE: &str = "COUNTERSIGN_MODEL_STATE";

/// Flags that say how a process speaks.
const HOW: [&str; 4] = ["-p", "--print", "--input-format", "--output-format"];
/// How it speaks if none of them is given.
const LINES: [&str; 5] = [
    "--input-format",
    "stream-json",
    "--output-format",
    "stream-json",
    "--verbose",
];

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
    /// The model script's text.
    #[error("the model script: {0}")]
    Script(#[from] ParseError),
    /// A variable of the model script.
    #[error("the model script: {0}")]
    Variable(#[from] UnknownVariable),
    /// The values of its variables.
    #[error("{VARS} is no JSON object of texts: {0}")]
    Vars(String),
    /// Pipes, signals, the files a test asked for.
    #[error("the scripted CLI cannot go on: {0}")]
    Io(#[from] std::io::Error),
}

/// What is played, and by whom it is spoken.
#[derive(Debug)]
pub struct Setup {
    /// The scenario; an empty one leaves it to the model.
    pub scenario: Scenario,
    /// What the model says where the scenario has no turns; rules without it.
    pub model: Option<ModelScript>,
}

impl Setup {
    /// What the environment names: a scenario, a model script, neither.
    ///
    /// # Errors
    /// When a file cannot be read or its text has a mistake.
    pub fn from_env() -> Result<Self, EntryError> {
        let model = match std::env::var_os(MODEL) {
            None => None,
            Some(path) => {
                let vars = match variable(VARS) {
                    Some(text) => serde_json::from_str(&text)
                        .map_err(|error| EntryError::Vars(error.to_string()))?,
                    None => Vars::new(),
                };
                Some(model_script(Path::new(&path), vars)?)
            }
        };
        Ok(Self {
            scenario: scenario()?,
            model,
        })
    }

    /// A scenario from its text; `name` stands in what is said about it.
    ///
    /// # Errors
    /// When the text has a mistake.
    pub fn from_text(text: &str, name: &str) -> Result<Self, EntryError> {
        Ok(Self {
            scenario: Scenario::parse(text, name)?,
            model: None,
        })
    }

    /// Nothing but a model that follows a script.
    ///
    /// # Errors
    /// When the script cannot be read, has a mistake, or needs a value that is not given.
    pub fn from_model_script(path: &Path, vars: Vars) -> Result<Self, EntryError> {
        Ok(Self {
            scenario: Scenario::empty("none"),
            model: Some(model_script(path, vars)?),
        })
    }

    /// Plays this version, whatever the scenario says.
    #[must_use]
    pub fn with_version(mut self, version: Version) -> Self {
        self.scenario.header.version = version;
        self
    }
}

/// The whole program: the scenario from the environment, the flags from the command line.
///
/// `COUNTERSIGN_SCENARIO` names a scenario file, or `COUNTERSIGN_SCENARIO_TEXT` holds one; `COUNTERSIGN_MODEL_SCRIPT` names
/// a model script, `COUNTERSIGN_MODEL_VARS` holds its values as JSON. Without all of them, the CLI follows plain requests.
/// `COUNTERSIGN_SCENARIO_LOG` names a file for every line read from stdin, `COUNTERSIGN_SCENARIO_ARGV` one for arguments,
/// environment, working directory and process id, as JSON. Unless the command line says how it is to speak (`-p`,
/// `--input-format`, `--output-format`), it speaks stream-json.
pub fn main_from_env() -> ExitCode {
    let mut arguments: Vec<String> = std::env::args_os().skip(1).map(text).collect();
    let says_how = |word: &String| HOW.iter().any(|flag| word.split('=').next() == Some(*flag));
    if !arguments.iter().any(says_how) {
        arguments.extend(LINES.map(str::to_owned));
    }
    ended(Setup::from_env().and_then(|setup| run(setup, arguments)))
}

/// The same with a setup and arguments of one's own.
pub fn main_with(setup: Setup, arguments: Vec<String>) -> ExitCode {
    ended(run(setup, arguments))
}

fn ended(outcome: Result<u8, EntryError>) -> ExitCode {
    match outcome {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "{error}");
            ExitCode::from(2)
        }
    }
}

fn run(setup: Setup, arguments: Vec<String>) -> Result<u8, EntryError> {
    let Setup { scenario, model } = setup;
    let cwd = std::env::current_dir()?.to_string_lossy().into_owned();
    if let Some(path) = std::env::var_os(ARGV) {
        leave_note(Path::new(&path), &arguments, &cwd)?;
    }
    let pid = std::process::id();
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.unwrap_or_default();
    let launch = Launch {
        arguments,
        cwd,
        pid,
        uid: rustix::process::getuid().as_raw(),
        seed: now.as_nanos() as u64 ^ (u64::from(pid) << 40),
        home: variable("HOME").unwrap_or_default(),
        wall: now,
        env: std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect(),
        model,
        ground: None,
    };
    let flags = match flags(&scenario, &launch) {
        Ok(flags) => flags,
        Err(refusal) => return Ok(tell(&refusal)),
    };
    let launch = match look_around(launch, &flags, scenario.version()) {
        Ok(launch) => launch,
        Err(error) => return Ok(tell(&not_begun(&flags, &error))),
    };
    if flags.has("--init-only") {
        return Ok(0);
    }
    let prompt = match prompt(&flags, &launch) {
        Ok(prompt) => prompt,
        Err(refusal) => return Ok(tell(&refusal)),
    };
    let voice = Voice {
        input: prompt.as_deref().map(args::user_line),
        printer: Printer::new(&flags),
    };
    let log = std::env::var_os(LOG).map(PathBuf::from);
    Ok(run_stdio(scenario, launch, log.as_deref(), voice)?)
}

/// What the command line asks for, checked as the CLI checks it.
fn flags(scenario: &Scenario, launch: &Launch) -> Result<Flags, Refusal> {
    let mut arguments = scenario.header.flags.clone();
    arguments.extend(launch.arguments.iter().cloned());
    let variable = |name: &str| launch.env.get(name).map(std::ffi::OsString::from);
    let places = Places::of_environment(variable, &launch.cwd).ok();
    let world = World {
        cwd: Path::new(&launch.cwd),
        root: launch.uid == 0,
        terminal: std::io::stdout().is_terminal(),
        env: &|name| launch.env.get(name).cloned(),
        session_in_use: &|id| {
            (places.as_ref()).is_some_and(|places| disk::free(places, id).is_err())
        },
    };
    Flags::parse(&arguments, scenario.version())?.checked(&world)
}

/// The prompt of a session that reads text; None for one that reads lines.
fn prompt(flags: &Flags, launch: &Launch) -> Result<Option<String>, Refusal> {
    let reads_text = flags.input_format == InputFormat::Text;
    let mut piped = String::new();
    if reads_text && !std::io::stdin().is_terminal() {
        match args::read_piped(std::io::stdin()) {
            Some(text) => piped = text,
            None => {
                let _ = writeln!(std::io::stderr(), "{}", args::NO_DATA);
            }
        }
    }
    let prompt = args::join_prompt(flags.prompt.as_deref(), &piped);
    let resumed = launch
        .ground
        .as_ref()
        .is_some_and(|ground| ground.past.is_some());
    // Whoever reads lines without a home goes on with whatever it is told.
    let must_be_there = reads_text || flags.resume.is_none();
    if !resumed
        && must_be_there
        && let Some(refusal) = flags.nothing_to_resume()
    {
        return Err(lost(flags, refusal));
    }
    flags.check_prompt(&prompt, resumed)?;
    Ok(match prompt {
        Prompt::Given(text) if reads_text => Some(text),
        _ => None,
    })
}

fn not_begun(flags: &Flags, error: &GroundError) -> Refusal {
    let refusal = Refusal::saying(error.to_string());
    match error {
        GroundError::Resume(ResumeError::Taken(_)) => refusal,
        GroundError::Resume(_) => lost(flags, refusal),
        _ => refusal,
    }
}

/// A session that cannot be resumed has a result, too, for whoever reads lines.
fn lost(flags: &Flags, mut refusal: Refusal) -> Refusal {
    if flags.output_format == OutputFormat::StreamJson {
        let mut ids = Ids::new(u64::from(std::process::id()));
        let wanted = flags.resume.clone().filter(|id| is_uuid(id));
        let session = wanted.unwrap_or_else(|| ids.uuid());
        let line = ground::lost(&session, &ids.uuid(), refusal.stderr.trim_end());
        refusal.stdout = format!("{line}\n");
    }
    refusal
}

/// How long a refusal waits for the first line of the host.
const PATIENCE: std::time::Duration = std::time::Duration::from_millis(250);

/// Hosts write at once. To one that finds nobody there a refusal would look like a crash.
fn hear_first_line() {
    let (heard, first) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut line = String::new();
        let _ = std::io::stdin().read_line(&mut line);
        let _ = heard.send(());
    });
    let _ = first.recv_timeout(PATIENCE);
}

/// Says why nothing is played; gives the exit code.
fn tell(refusal: &Refusal) -> u8 {
    hear_first_line();
    let _ = std::io::stdout().write_all(refusal.stdout.as_bytes());
    let _ = std::io::stderr().write_all(refusal.stderr.as_bytes());
    refusal.code
}

/// Looks around before the start. Without a home there is nothing to find, and nothing is kept.
fn look_around(mut launch: Launch, flags: &Flags, version: Version) -> Result<Launch, GroundError> {
    launch.ground = match Ground::find(flags, &launch.env, &launch.cwd, version) {
        Ok(ground) => Some(ground),
        Err(GroundError::NoHome(_)) => None,
        Err(other) => return Err(other),
    };
    Ok(launch)
}

fn text(value: std::ffi::OsString) -> String {
    value.to_string_lossy().into_owned()
}

fn variable(name: &str) -> Option<String> {
    std::env::var_os(name).map(text)
}

fn model_script(path: &Path, vars: Vars) -> Result<ModelScript, EntryError> {
    let script = std::fs::read_to_string(path).map_err(|source| EntryError::Read {
        path: path.to_owned(),
        source,
    })?;
    let script = Script::parse(&script)?;
    script.check(&vars)?;
    let state_file = std::env::var_os(STATE).map(PathBuf::from);
    let state = state_file
        .as_ref()
        .and_then(|path| std::fs::read_to_string(path).ok());
    let state = state.and_then(|text| serde_json::from_str(&text).ok());
    Ok(ModelScript {
        script,
        vars,
        state_file,
        state: state.unwrap_or_default(),
    })
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
fn leave_note(path: &Path, arguments: &[String], cwd: &str) -> std::io::Result<()> {
    let program = std::env::args_os().next().map(text);
    let argv: Vec<&String> = program.iter().chain(arguments).collect();
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
