//! Which version a command runs, asked once.
//!
//! Owns the memory of what CLIs said to `--version`. Invariants: a CLI that was replaced is asked again; many agents that
//! start at once wait for one answer; a command whose program is not the CLI itself (`npx …`) is asked every time.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use countersign_client::options::{ChildEnv, Cli, Located, ProbeError, Surroundings, Version};
use tokio::sync::OnceCell;

use super::error::DeskError;

/// How long `--version` may take. A cold start of the slowest takes two seconds.
const PATIENCE: Duration = Duration::from_secs(20);

/// So many commands are remembered; beyond it all are asked again.
const MOST: usize = 64;

type Answer = Arc<OnceCell<Version>>;

/// The versions of the CLIs that were asked. Cheap to clone; all clones share what they know.
#[derive(Debug, Clone, Default)]
pub struct Versions {
    known: Arc<Mutex<HashMap<Vec<Part>, Answer>>>,
}

/// A word of a command, and the file it names as it was when it was asked.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Part {
    word: OsString,
    file: Option<(u64, Option<SystemTime>)>,
}

impl Versions {
    /// The version of this command in this environment; `None` if it does not tell.
    ///
    /// # Errors
    /// When there is no such CLI.
    pub(super) async fn of(
        &self,
        command: &[String],
        env: Vec<(OsString, OsString)>,
    ) -> Result<Option<Version>, DeskError> {
        let cli = cli(command);
        let located = cli.locate(&Surroundings::of_this_process())?;
        let env = ChildEnv::from_iter(env);
        let asked = match self.answer(&located) {
            Some(answer) => {
                let asking =
                    || countersign_client::options::probe_version(&located, &env, PATIENCE);
                answer.get_or_try_init(asking).await.copied()
            }
            None => countersign_client::options::probe_version(&located, &env, PATIENCE).await,
        };
        Ok(asked
            .inspect_err(|error: &ProbeError| tracing::warn!(%error, "no version"))
            .ok())
    }

    /// Where the answer of this command is kept, if it can be.
    fn answer(&self, located: &Located) -> Option<Answer> {
        let parts = parts(located)?;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST && !known.contains_key(&parts) {
            known.clear();
        }
        Some(Arc::clone(known.entry(parts).or_default()))
    }
}

/// The command as the client takes it.
pub(super) fn cli(command: &[String]) -> Cli {
    match command {
        [] => Cli::Search,
        words => Cli::Command(words.iter().map(OsString::from).collect()),
    }
}

/// The command by its words and files. `None` where no file of its arguments would show that the CLI changed.
fn parts(located: &Located) -> Option<Vec<Part>> {
    let part = |word: OsString| Part {
        file: file(Path::new(&word)),
        word,
    };
    let program = part(located.program.clone().into_os_string());
    let args: Vec<Part> = located.args.iter().cloned().map(part).collect();
    let is_certain = args.is_empty() || args.iter().any(|part| part.file.is_some());
    is_certain.then(|| std::iter::once(program).chain(args).collect())
}

fn file(path: &Path) -> Option<(u64, Option<SystemTime>)> {
    let meta = std::fs::metadata(path).ok().filter(|meta| meta.is_file())?;
    Some((meta.len(), meta.modified().ok()))
}
