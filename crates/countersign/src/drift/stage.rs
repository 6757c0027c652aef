//! Where a CLI is asked: folders of its own, the scripted model, and the CLI with an environment built from nothing.
//!
//! Owns [`Agent`] (which CLI) and [`Stage`] (one run of it). Invariants: what the CLI sees is what
//! `rehearsal::real` says, and nothing of the caller; when a stage is dropped its folders are gone.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use countersign_client::options::{Cli, LocateError, Surroundings};
use countersign_rehearsal::model::{Options, ParseError, Script, Server, StartError, Vars};
use countersign_rehearsal::real::{self, EnvironmentError, Places};
use tempfile::TempDir;

/// Why there is no CLI to run, or no place to run it in.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StageError {
    #[error(transparent)]
    Cli(#[from] LocateError),
    #[error("cannot write to the temporary folder: {0}; set TMPDIR to one that can be written")]
    Folder(#[from] std::io::Error),
    #[error("the script of the model: {0}")]
    Script(#[from] ParseError),
    #[error(transparent)]
    Model(#[from] StartError),
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
}

/// A CLI to ask.
#[derive(Debug, Clone)]
pub(crate) struct Agent {
    pub(crate) command: Vec<OsString>,
    /// Where node is, for a CLI that wants one.
    node: Option<PathBuf>,
}

impl Agent {
    /// The file that holds the CLI's program: the last word of its command.
    pub(crate) fn program(&self) -> &Path {
        self.command.last().map(Path::new).unwrap_or(Path::new(""))
    }

    /// The CLI that `asked` names: a file, or a command line; the installed one if nothing is named.
    pub(crate) fn find(asked: Option<&str>) -> Result<Self, StageError> {
        let around = Surroundings::of_this_process();
        let cli = match asked {
            None => Cli::Search,
            Some(path) if Path::new(path).is_file() => Cli::Path(path.into()),
            Some(line) => Cli::Line(line.to_owned()),
        };
        let found = cli.locate(&around)?;
        // It is started in another folder.
        let program = std::path::absolute(&found.program)?;
        let mut command = vec![program.into_os_string()];
        command.extend(found.args);
        let node = Cli::Command(vec!["node".into()]).locate(&around).ok();
        Ok(Self {
            command,
            node: node.and_then(|node| node.program.parent().map(Path::to_owned)),
        })
    }
}

/// The place of one run.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) places: Places,
    model: Server,
    /// Gone with everything in it when dropped.
    _root: TempDir,
}

impl Stage {
    /// Makes the folders, puts `files` into the project and starts a model that follows `script`.
    pub(crate) async fn set(script: &str, files: &[(&str, &str)]) -> Result<Self, StageError> {
        let root = tempfile::Builder::new().prefix("countersign-").tempdir()?;
        let places = Places::below(real_path(root.path())?);
        for dir in places.all() {
            std::fs::create_dir(dir)?;
        }
        for (name, text) in files {
            std::fs::write(places.project().join(name), text)?;
        }
        std::fs::write(script_file(&places), script)?;
        let options = Options {
            vars: vars(&places),
            ..Options::default()
        };
        let model = Server::start(Script::parse(script)?, options).await?;
        Ok(Self {
            places,
            model,
            _root: root,
        })
    }

    /// The whole environment of a CLI that runs in here, with `more` added.
    pub(crate) fn environment(
        &self,
        agent: &Agent,
        more: &[(&str, &str)],
    ) -> Result<Vec<(OsString, OsString)>, StageError> {
        let mut added = real::scripted(&script_file(&self.places), &vars(&self.places)).to_vec();
        let more = more
            .iter()
            .map(|&(name, value)| (name.into(), value.into()));
        added.extend(more);
        let path = real::search_path(&agent.command, agent.node.as_slice());
        Ok(real::environment(
            &self.places,
            path,
            &self.model.base_url(),
            &added,
        )?)
    }

    /// Returns the command that starts the CLI in here with these arguments, for a caller that speaks to it itself.
    pub(crate) fn command(
        &self,
        agent: &Agent,
        arguments: &[&str],
    ) -> Result<tokio::process::Command, StageError> {
        let mut words = agent.command.iter();
        let mut command = tokio::process::Command::new(words.next().cloned().unwrap_or_default());
        command
            .args(words)
            .args(arguments)
            .env_clear()
            .envs(self.environment(agent, &[])?)
            .current_dir(self.places.project())
            .kill_on_drop(true);
        Ok(command)
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.places.clear_strays();
    }
}

/// Without links, since a CLI may say a path as it really is.
fn real_path(path: &Path) -> std::io::Result<PathBuf> {
    match cfg!(unix) {
        true => path.canonicalize(),
        false => Ok(path.to_owned()),
    }
}

/// Beside the folders that the CLI looks into.
fn script_file(places: &Places) -> PathBuf {
    places.root().join("script.model")
}

/// What `${…}` in a script may name.
fn vars(places: &Places) -> Vars {
    let text = |path: PathBuf| path.to_string_lossy().into_owned();
    Vars::from([
        ("cwd".to_owned(), text(places.project())),
        ("home".to_owned(), text(places.home())),
    ])
}
