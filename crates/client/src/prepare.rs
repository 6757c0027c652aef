//! Agents that somebody else starts and keeps: what it takes to start one, and the session on one that runs.
//!
//! Owns [`Prepared`] and the two ways of [`Claude`] that go with it. Starts no process. Invariant: an agent is greeted
//! once in its life, whoever attaches to it.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use countersign_process::Marker;
use countersign_wire::control::{Initialize, Request as _};

use crate::claude::{Claude, Terms};
use crate::error::{Error, Result};
use crate::kept::{Attached, Earlier, Greeted, KeptAgent};
use crate::options::{Capabilities, Draft};
use crate::peer::{Shared, driver};
use crate::session::{Session, came_down};
use crate::transport::{Peer, Unread};

/// What it takes to start an agent, for whoever starts it.
#[non_exhaustive]
pub struct Prepared {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// The places of arguments that may hold secrets and are not to be shown.
    pub secret: Vec<usize>,
    /// Its whole environment: nothing else is inherited.
    pub env: Vec<(OsString, OsString)>,
    /// Its working directory.
    pub cwd: PathBuf,
    /// What its descendants are known by; it is in the environment.
    pub marker: Marker,
    /// Files that arguments name. They are kept: remove them when the agent has gone.
    pub files: Vec<PathBuf>,
    terms: Terms,
    initialize: Initialize,
}

impl Prepared {
    /// Whether closing stdin in the middle of a turn could let calls pass that a hook denies: such an agent is killed.
    pub fn is_killed_first(&self, has_hooks: bool) -> bool {
        has_hooks && self.terms.capabilities.hook_fails_open_on_stdin_close()
    }
}

impl fmt::Debug for Prepared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |(at, arg): (usize, &OsString)| match self.secret.contains(&at) {
            true => OsString::from("…"),
            false => arg.clone(),
        };
        let args: Vec<_> = self.args.iter().enumerate().map(shown).collect();
        f.debug_struct("Prepared")
            .field("program", &self.program)
            .field("args", &args)
            .field("cwd", &self.cwd)
            .finish_non_exhaustive()
    }
}

impl Claude {
    /// What it takes to start an agent with these options. Large and secret values are written to files in `folder`, for
    /// this user alone; they stay there.
    ///
    /// # Errors
    /// When there is no CLI, the options contradict each other, or a file cannot be written.
    pub async fn prepare(&self, folder: &Path) -> Result<Prepared> {
        let marker = Marker::of(uuid::Uuid::new_v4().as_u128());
        let plan = self.plan(&marker, Some(folder)).await?;
        let cwd = match plan.cwd {
            Some(cwd) => cwd,
            None => std::env::current_dir().unwrap_or_else(|_| ".".into()),
        };
        let mut files = Vec::new();
        for file in plan.files {
            let kept = file.keep();
            let kept = kept.map_err(|error| crate::options::OptionError::TempFile {
                flag: error.path.to_string_lossy().into_owned(),
                source: error.error,
            })?;
            files.push(kept);
        }
        Ok(Prepared {
            program: plan.program,
            args: plan.args,
            secret: plan.masked,
            env: plan.env.into_pairs().collect(),
            cwd,
            marker,
            files,
            terms: Terms {
                capabilities: plan.capabilities,
                may_bypass: plan.may_bypass,
                warnings: plan.warnings,
                files: Vec::new(),
            },
            initialize: plan.initialize,
        })
    }

    /// Builds the session on an agent that another process keeps. It is greeted if nobody has done so; `prepared` is what
    /// it was started from, if this host started it.
    ///
    /// Questions that are open come back, to the callback or as values. Letting go of the session writes nothing to the
    /// agent and does not end it; [`crate::Handle::close`] has its keeper end it.
    ///
    /// # Errors
    /// When the past cannot be read, or the agent ends or refuses before it answers the greeting.
    pub async fn attach_kept(
        self,
        agent: KeptAgent,
        prepared: Option<Prepared>,
    ) -> Result<Attached> {
        let (terms, initialize) = match prepared {
            Some(prepared) => (prepared.terms, prepared.initialize),
            None => {
                let needs = self.needs(None);
                let draft = Draft::of(self.options(), &needs, &Capabilities::of(None))?;
                let terms = Terms {
                    may_bypass: agent.may_bypass,
                    ..Terms::default()
                };
                (terms, draft.initialize)
            }
        };
        let timeout = self.bounds.initialize_timeout;
        let (mut setup, initialize) = self.setup(terms, initialize);
        setup.config.refuses_dropped = false;
        setup.config.id_prefix = agent.id_prefix;
        let unread = Peer::kept(agent.live, agent.road, agent.pid).prepare(setup);
        catch_up(unread.shared.clone(), agent.past).await?;
        let mut earlier = expected(&unread, agent.unanswered);
        for line in agent.open {
            driver::ask_again(&unread.shared, line);
        }
        let greeting = unread.read();
        let session: Session = match agent.greeted {
            Greeted::Never => greeting.greet(initialize, timeout).await?,
            Greeted::Replied(line) => {
                greeting.greeted_before(crate::peer::outcome(&line, Initialize::SUBTYPE)?)
            }
            Greeted::Asked(id) => {
                let place = earlier.iter().position(|known| known.request_id() == id);
                let Some(place) = place else {
                    return Err(came_down(greeting.shared.ended().await));
                };
                match earlier.remove(place).reply(timeout).await {
                    Err(Error::Closed(closed)) => return Err(came_down(closed)),
                    outcome => greeting.greeted_before(outcome?),
                }
            }
        };
        Ok(Attached { session, earlier })
    }
}

/// Reads the past on a thread that may wait for the disk.
async fn catch_up(
    shared: Arc<Shared>,
    past: Box<dyn Iterator<Item = std::io::Result<crate::kept::PastLine>> + Send>,
) -> Result<()> {
    let read = tokio::task::spawn_blocking(move || driver::remember(&shared, past));
    let broken = |error: String| {
        Error::Closed(Arc::new(crate::Closed {
            transport: Some(format!(
                "what the agent said before cannot be read: {error}"
            )),
            ..crate::Closed::default()
        }))
    };
    match read.await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(broken(error.to_string())),
        Err(error) => Err(broken(error.to_string())),
    }
}

/// Replies that may still come, each with somebody who waits for it.
fn expected(unread: &Unread, unanswered: Vec<crate::kept::Unanswered>) -> Vec<Earlier> {
    let expect = |request: crate::kept::Unanswered| {
        Some(Earlier {
            reply: unread.shared.expect(&request.request_id)?,
            shared: unread.shared.clone(),
            request,
        })
    };
    unanswered.into_iter().filter_map(expect).collect()
}
