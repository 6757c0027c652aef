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

/// Where values that are too long or too secret for a command line are written, within the session folder.
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
    let files = launch.dir.join(FILES);
    make_private(&files)?;
    let prepared = claude.prepare(&files).await?;
    let order = order(launch, &prepared);
    let starting = tokio::task::spawn_blocking(move || crate::start(&keeper, &order));
    match starting.await {
        Ok(started) => started?,
        Err(error) => return Err(AttachError::Journal(error.to_string())),
    };
    let who = Credentials {
        epoch: launch.epoch,
        token: launch.token.clone(),
        role: Role::Own,
    };
    let attachment = connect(&launch.dir, &who, PATIENCE, outbox).await?;
    attach(claude, &launch.dir, attachment, Some(prepared)).await
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
