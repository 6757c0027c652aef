//! A host's side of a kept agent: attach, go on, let go.
//!
//! Owns the way from a session folder to a [`countersign_client::Session`] and back. What the agent says is read from
//! its journal, woken by the keeper; what the host says goes over the socket. Invariants: attaching answers nothing and
//! repeats nothing; letting go, by drop, panic or exit, writes no byte to the agent.

mod connection;
mod error;
mod launch;
mod lines;
mod masking;
mod outbox;
mod past;
mod queue;
mod road;
mod state;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use countersign_client::kept::{Earlier, KeptAgent};
use countersign_client::{Claude, Prepared, Session};
use countersign_journal::{Cursor, Reader};
use tokio::time::Instant;

pub use connection::{Attachment, Credentials};
pub use error::AttachError;
pub use launch::{Launch, launch};
pub use outbox::{Counting, Outbox, PutOutcome};
pub use state::Over;

use crate::KeeperJson;
use lines::{Ending, Lines};
use past::Past;
use road::ByKeeper;

/// How often a socket that does not answer is tried again.
const TRY_AGAIN: Duration = Duration::from_millis(50);

/// A session with a kept agent.
#[derive(Debug)]
#[non_exhaustive]
pub struct Kept {
    /// The session. Questions that were open come first.
    pub session: Session,
    /// Requests of earlier hosts whose reply may still come.
    pub earlier: Vec<Earlier>,
    /// The connection below, for what a session has no word for.
    pub attachment: Arc<Attachment>,
}

/// Attaches to the keeper of the session in `dir`, trying for at most `patience`: a keeper whose socket was taken away
/// binds a new one within ten seconds.
///
/// # Errors
/// When no keeper answers, or it turns us away.
pub async fn connect(
    dir: &Path,
    who: &Credentials,
    patience: Duration,
    outbox: impl Fn(&crate::protocol::Standing) -> Box<dyn Outbox>,
) -> Result<Attachment, AttachError> {
    let deadline = Instant::now() + patience;
    loop {
        // Not there while a keeper is about to begin.
        let connected = match KeeperJson::read(dir) {
            Ok(keeper) => Attachment::connect(&keeper.socket, who, &outbox).await,
            Err(error) => Err(AttachError::Socket(error)),
        };
        match connected {
            Err(AttachError::Socket(error)) => {
                let session = dir.to_owned();
                let looked = tokio::task::spawn_blocking(move || nobody_there(&session)).await;
                if let Ok(Some(reason)) = looked {
                    return Err(reason);
                }
                if Instant::now() >= deadline {
                    return Err(AttachError::Socket(error));
                }
                tracing::debug!(%error, "the keeper does not answer yet");
                tokio::time::sleep(TRY_AGAIN).await;
            }
            done => return done,
        }
    }
}

/// Why waiting for a keeper is in vain, if it is.
fn nobody_there(dir: &Path) -> Option<AttachError> {
    match crate::look(dir).ok()? {
        crate::Found::Ended { exit, .. } => Some(AttachError::Ended {
            exit: Box::new(exit),
            stderr: lines::last_words(dir).unwrap_or_default(),
        }),
        crate::Found::Lost { .. } => Some(AttachError::Lost),
        crate::Found::Never => Some(AttachError::File {
            what: format!("{} has no agent: start one", dir.display()),
            source: std::io::ErrorKind::NotFound.into(),
        }),
        crate::Found::Live(_) | crate::Found::Unreachable(_) => None,
    }
}

/// Builds the session. `prepared` is what the agent was started from, if this host started it.
///
/// # Errors
/// When the journal cannot be read, or the agent ends before it is greeted.
pub async fn attach(
    claude: Claude,
    dir: &Path,
    attachment: Attachment,
    prepared: Option<Prepared>,
) -> Result<Kept, AttachError> {
    let attachment = Arc::new(attachment);
    let standing = attachment.standing();
    let (generation, tail) = (standing.generation, standing.tail.seq);
    let ending = Arc::new(Ending::default());
    let open = standing.open.clone();
    let heard = Arc::clone(&ending);
    let behind = read_behind(dir.to_owned(), generation, tail, open, heard).await?;
    let live = Lines::new(
        behind.reader,
        generation,
        Arc::clone(&attachment.state),
        Arc::clone(&ending),
    );
    let agent = KeptAgent {
        past: Box::new(behind.lines),
        open: behind.questions,
        unanswered: behind.past.unanswered,
        greeted: behind.past.greeted,
        live: Box::new(live),
        road: Arc::new(ByKeeper {
            attachment: Arc::clone(&attachment),
            ending,
        }),
        pid: standing.agent.map(|agent| agent.pid),
        // A host may come again with its epoch; then the connection is another. Keepers that do not count them grow the
        // journal by its coming.
        id_prefix: format!(
            "cs-{generation}-{}-{tail}-{}-",
            attachment.epoch(),
            standing.connection
        ),
        may_bypass: behind.past.may_bypass,
    };
    let attached = claude.attach_kept(agent, prepared).await?;
    Ok(Kept {
        session: attached.session,
        earlier: attached.earlier,
        attachment,
    })
}

/// What lies behind, and a reader that stands at its end.
struct Behind {
    past: Past,
    questions: Vec<Vec<u8>>,
    lines: past::PastLines,
    reader: Reader,
}

/// Reads on a thread that may wait for the disk.
async fn read_behind(
    dir: PathBuf,
    generation: u32,
    tail: u64,
    open: Vec<countersign_journal::OpenQuestion>,
    ending: Arc<Ending>,
) -> Result<Behind, AttachError> {
    let read = move || {
        let mut reader =
            Reader::open(&dir).map_err(|error| AttachError::Journal(error.to_string()))?;
        reader
            .seek(Cursor::new(generation, tail))
            .map_err(|error| AttachError::Journal(error.to_string()))?;
        Ok(Behind {
            past: Past::read(&dir, generation, tail, &ending)?,
            questions: past::questions(&dir, generation, &open)?,
            lines: past::PastLines::open(dir, generation, tail)?,
            reader,
        })
    };
    match tokio::task::spawn_blocking(read).await {
        Ok(behind) => behind,
        Err(error) => Err(AttachError::Journal(error.to_string())),
    }
}
