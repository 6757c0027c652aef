//! Plays a scenario: the real CLI in a sandbox, the scripted model, and the host's steps.
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

use countersign_rehearsal::model;

pub use error::{DriveError, Why};

use crate::fetch::Installed;
use crate::recording::{Entry, Recording, normalise};
use crate::sandbox::{DUMMY_KEY, RunAs, Sandbox};
use crate::scenario::Scenario;

/// What crossed the wire of one play, as it was.
#[derive(Debug)]
pub struct Played {
    /// In order.
    pub entries: Vec<Entry>,
    cli: &'static str,
    scenario: String,
    places: normalise::Places,
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

/// Plays a scenario on a CLI. Fails if a step does, or if the model's script is not used up.
pub async fn play(
    scenario: &Scenario,
    installed: &Installed,
    run_as: RunAs,
) -> Result<Played, DriveError> {
    let before = |why| DriveError::before(scenario, why);
    let sandbox = Sandbox::create(run_as).map_err(|error| before(error.into()))?;
    prepare(&sandbox, scenario).map_err(before)?;
    let server = serve_model(scenario, &sandbox).await.map_err(before)?;
    let mut player = player::Player::new(scenario, installed, &sandbox, &server);
    let played = player.play().await;
    let entries = player.finish().await;
    let report = server.shutdown().await;
    played?;
    if !report.is_clean() {
        return Err(DriveError::after(
            scenario,
            Why::Model(unused(&report)),
            &entries,
        ));
    }
    let places = normalise::Places {
        project: sandbox.project(),
        home: sandbox.home(),
        tmp: sandbox.tmp(),
        cli: installed.dir.clone(),
        key: DUMMY_KEY.to_owned(),
    };
    Ok(Played {
        entries,
        cli: installed.pinned.version,
        scenario: scenario.name.clone(),
        places,
    })
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
    let text = |path: std::path::PathBuf| path.to_string_lossy().into_owned();
    let vars = [
        ("cwd", text(sandbox.project())),
        ("home", text(sandbox.home())),
    ];
    let vars = vars.map(|(name, value)| (name.to_owned(), value)).into();
    let options = model::Options {
        vars,
        ..model::Options::default()
    };
    Ok(model::Server::start(script, options).await?)
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
