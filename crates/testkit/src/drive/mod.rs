//! Plays a scenario: a CLI in a sandbox, a scripted model, and the host's steps.
//!
//! Owns the order of things and nothing of their content: steps come from [`crate::scenario`], lines from
//! `answers`, the process from [`crate::sandbox`]. Every wait has a deadline, and a failed step shows the
//! last lines seen. Whatever happens, the CLI and all it started are ended before the play returns.

mod answers;
mod error;
mod log;
mod mcp;
mod player;
mod vars;

use std::time::Duration;

use countersign_rehearsal::model;

pub use error::{DriveError, Why};

use crate::fetch::Installed;
use crate::json::Json;
use crate::recording::{Entry, Recording, normalise};
use crate::sandbox::{DUMMY_KEY, RunAs, Sandbox, SandboxError};
use crate::scenario::Scenario;

/// How long a step waits for its line, and how long the CLI may take to end.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// Nobody listens there: for a program that reads its model's script itself.
const NOBODY: &str = "http://127.0.0.1:9";

/// What crossed the wire of one play, as it was.
#[derive(Debug)]
pub struct Played {
    /// In order.
    pub entries: Vec<Entry>,
    /// What the run had to itself.
    pub places: normalise::Places,
    cli: &'static str,
    scenario: String,
}

impl Played {
    /// The play as it is stored: normalised.
    pub fn recording(&self) -> Recording {
        Recording {
            cli: self.cli.to_owned(),
            scenario: self.scenario.clone(),
            entries: normalise::normalise(&self.entries, &self.places),
        }
    }
}

/// Where the program gets what its model says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelFrom {
    /// Served over HTTP, as to a real CLI.
    Server,
    /// From a file with the scenario's `[model]` part: `COUNTERSIGN_MODEL_SCRIPT` names it, and
    /// `COUNTERSIGN_MODEL_VARS` holds its variables as JSON. For a program that plays the CLI.
    File,
}

/// Who plays, and how.
#[derive(Debug, Clone)]
pub struct Stage<'a> {
    /// A real CLI, or a program in its place.
    pub program: &'a Installed,
    /// Who runs it.
    pub run_as: RunAs,
    /// Where it gets what its model says.
    pub model: ModelFrom,
    /// How long a step waits unless it says otherwise.
    pub patience: Duration,
}

/// A play that may have come to a halt.
#[derive(Debug)]
pub struct Attempt {
    /// As far as it came.
    pub played: Played,
    /// Why it went no further, or was not what the scenario says.
    pub failed: Option<DriveError>,
}

/// Plays a scenario on a CLI. Fails if a step does, or if the model's script is not used up.
pub async fn play(
    scenario: &Scenario,
    installed: &Installed,
    run_as: RunAs,
) -> Result<Played, DriveError> {
    let stage = Stage {
        run_as,
        ..Stage::real(installed)
    };
    let attempt = stage.attempt(scenario).await?;
    attempt.failed.map_or(Ok(attempt.played), Err)
}

impl<'a> Stage<'a> {
    /// A real CLI, by the caller, with a model that is served.
    pub fn real(installed: &'a Installed) -> Self {
        Stage {
            program: installed,
            run_as: RunAs::Caller,
            model: ModelFrom::Server,
            patience: PATIENCE,
        }
    }

    /// Plays as far as it goes. Fails only if there was nothing to play with.
    pub async fn attempt(&self, scenario: &Scenario) -> Result<Attempt, DriveError> {
        let before = |why| DriveError::before(scenario, why);
        let sandbox = Sandbox::create(self.run_as).map_err(|error| before(error.into()))?;
        prepare(&sandbox, scenario).map_err(before)?;
        let (server, props) = match self.model {
            ModelFrom::Server => {
                let server = serve_model(scenario, &sandbox).await.map_err(before)?;
                let props = Props {
                    base_url: server.base_url(),
                    env: Vec::new(),
                };
                (Some(server), props)
            }
            ModelFrom::File => (None, write_model(scenario, &sandbox).map_err(before)?),
        };
        let mut player = player::Player::new(scenario, self, &sandbox, props);
        let mut failed = player.play().await.err();
        let entries = player.finish().await;
        if let Some(server) = server {
            let report = server.shutdown().await;
            if failed.is_none() && !report.is_clean() {
                let why = Why::Model(unused(&report));
                failed = Some(DriveError::after(scenario, why, &entries));
            }
        }
        let played = Played {
            entries,
            places: self.places(&sandbox),
            cli: self.program.pinned.version,
            scenario: scenario.name.clone(),
        };
        Ok(Attempt { played, failed })
    }

    fn places(&self, sandbox: &Sandbox) -> normalise::Places {
        normalise::Places {
            project: sandbox.project(),
            home: sandbox.home(),
            tmp: sandbox.tmp(),
            cli: self.program.dir.clone(),
            key: DUMMY_KEY.to_owned(),
        }
    }
}

/// What a start takes beside the program and its flags.
struct Props {
    base_url: String,
    env: Vec<(String, String)>,
}

fn prepare(sandbox: &Sandbox, scenario: &Scenario) -> Result<(), Why> {
    for (path, content) in &scenario.header.files {
        sandbox.write(path, content)?;
    }
    if scenario.header.git {
        sandbox.git_init()?;
    }
    Ok(())
}

async fn serve_model(scenario: &Scenario, sandbox: &Sandbox) -> Result<model::Server, Why> {
    let script = model::Script::parse(&scenario.model)?;
    let vars = variables(sandbox);
    let options = model::Options {
        vars: vars.map(|(name, value)| (name.to_owned(), value)).into(),
        ..model::Options::default()
    };
    Ok(model::Server::start(script, options).await?)
}

/// Beside the folders that the program looks into.
fn write_model(scenario: &Scenario, sandbox: &Sandbox) -> Result<Props, Why> {
    let file = sandbox.root().join("script.model");
    std::fs::write(&file, &scenario.model).map_err(|source| SandboxError::Io {
        doing: "write",
        path: file.clone(),
        source,
    })?;
    let [cwd, home] = variables(sandbox).map(|(name, value)| (name, Json::String(value)));
    let env = [
        (
            "COUNTERSIGN_MODEL_SCRIPT",
            file.to_string_lossy().into_owned(),
        ),
        (
            "COUNTERSIGN_MODEL_STATE",
            (sandbox.root().join("script.state").to_string_lossy()).into_owned(),
        ),
        (
            "COUNTERSIGN_MODEL_VARS",
            Json::object([cwd, home]).to_string(),
        ),
    ];
    Ok(Props {
        base_url: NOBODY.to_owned(),
        env: env.map(|(name, value)| (name.to_owned(), value)).into(),
    })
}

/// What `${…}` in a model's script may name.
fn variables(sandbox: &Sandbox) -> [(&'static str, String); 2] {
    let text = |path: std::path::PathBuf| path.to_string_lossy().into_owned();
    [
        ("cwd", text(sandbox.project())),
        ("home", text(sandbox.home())),
    ]
}

/// What the script and the requests did not have in common, in words.
fn unused(report: &model::Report) -> String {
    let left = report
        .replies
        .iter()
        .filter(|reply| reply.left.is_some_and(|left| left > 0));
    let left =
        left.map(|reply| format!("the reply on line {} of [model] was not used", reply.line));
    let unexpected = report.unexpected.iter();
    let unexpected =
        unexpected.map(|request| format!("request {}: {}", request.number, request.why));
    left.chain(unexpected)
        .map(|line| format!("\n    {line}"))
        .collect()
}
