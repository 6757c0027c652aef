//! A new agent under a keeper, from the options of a client to its session.
//!
//! Owns the order of the steps: prepare, start, connect, attach. Each may fail without an agent that nobody knows of: what
//! was started is found again by its folder.

use std::path::PathBuf;
use std::time::Duration;

use countersign_client::{Claude, Prepared};

use super::connection::Credentials;
use super::{AttachError, Kept, Outbox, attach, connect};
use crate::protocol::{Role, Standing};
use crate::{Arg, Graces, KeeperCommand, Order};

/// Where values that are too long or too secret for a command line are written, within the session folder: a folder for
/// each generation, gone with the start of the next one.
const FILES: &str = "files";

/// How long the socket of a keeper that has said it is ready may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// One generation of a session that is to be started.
#[derive(Debug, Clone)]
pub struct Launch {
    /// The session.
    pub session: String,
    /// Which start of its agent this is, from 1.
    pub generation: u32,
    /// The folder of the session. It is made if it is not there.
    pub dir: PathBuf,
    /// The folder for sockets.
    pub run: PathBuf,
    /// The secret of the session: whoever attaches later needs it. Keep it.
    pub token: String,
    /// The number of this host, higher than that of every host before.
    pub epoch: u64,
    /// How long each step of the agent's end is given.
    pub graces: Graces,
    /// Hooks of this host may refuse calls: a CLI that lets them pass when stdin closes is killed at once.
    pub has_hooks: bool,
}

/// Starts an agent under a keeper and builds the session on it.
///
/// # Errors
/// When there is no CLI, the options contradict each other, the keeper cannot start it, or it ends before it is greeted.
pub async fn launch(
    claude: Claude,
    keeper: KeeperCommand,
    launch: &Launch,
    outbox: impl Fn(&Standing) -> Box<dyn Outbox>,
) -> Result<Kept, AttachError> {
    let files = Files::of(launch);
    make_private(&files.folder)?;
    let prepared = claude.prepare(&files.folder).await?;
    let order = order(launch, &prepared);
    let starting = tokio::task::spawn_blocking(move || crate::start(&keeper, &order));
    match starting.await {
        Ok(Ok(_)) => files.remove_older(),
        // Whether an agent runs is not known: it may need them.
        Ok(Err(error @ crate::StartError::Silent(_))) => return Err(error.into()),
        Ok(Err(error)) => {
            // Only those: an agent of this generation may run, and have files of its own.
            for file in &prepared.files {
                let _ = std::fs::remove_file(file);
            }
            return Err(error.into());
        }
        Err(error) => return Err(AttachError::Journal(error.to_string())),
    }
    let who = Credentials {
        epoch: launch.epoch,
        token: launch.token.clone(),
        role: Role::Own,
    };
    let attachment = connect(&launch.dir, &who, PATIENCE, outbox).await?;
    attach(claude, &launch.dir, attachment, Some(prepared)).await
}

/// The files of one generation.
struct Files {
    all: PathBuf,
    folder: PathBuf,
    generation: u32,
}

impl Files {
    fn of(launch: &Launch) -> Self {
        let all = launch.dir.join(FILES);
        Self {
            folder: all.join(launch.generation.to_string()),
            all,
            generation: launch.generation,
        }
    }

    /// Those of agents that are gone: there is one generation at a time.
    fn remove_older(&self) {
        let Ok(folders) = std::fs::read_dir(&self.all) else {
            return;
        };
        for folder in folders.flatten() {
            let name = folder.file_name();
            let number: Option<u32> = name.to_str().and_then(|name| name.parse().ok());
            if number.is_some_and(|number| number < self.generation) {
                let _ = std::fs::remove_dir_all(folder.path());
            }
        }
    }
}

fn make_private(folder: &std::path::Path) -> Result<(), AttachError> {
    use std::os::unix::fs::DirBuilderExt as _;
    let made = std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder);
    made.map_err(|source| AttachError::File {
        what: "the folder for the agent's files".to_owned(),
        source,
    })
}

fn order(launch: &Launch, prepared: &Prepared) -> Order {
    let arg = |(at, arg): (usize, &std::ffi::OsString)| match prepared.secret.contains(&at) {
        true => Arg::Secret(arg.clone()),
        false => Arg::Plain(arg.clone()),
    };
    Order {
        session: launch.session.clone(),
        generation: launch.generation,
        dir: launch.dir.clone(),
        run: launch.run.clone(),
        program: prepared.program.clone().into(),
        args: prepared.args.iter().enumerate().map(arg).collect(),
        cwd: prepared.cwd.clone(),
        env: prepared.env.clone(),
        token: launch.token.clone(),
        marker: prepared.marker.clone(),
        graces: launch.graces,
        kill_first: prepared.is_killed_first(launch.has_hooks),
    }
}
