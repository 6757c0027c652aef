//! `countersign deny`: a call does not run, a question is not answered.

use clap::Args;
use countersign_api::control::Decide;

use crate::Outcome;
use crate::remote::{self, Reach, ask, decide};

/// What stands behind `deny`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The question: some letters of the end or the beginning of its id, as `countersign inbox` shows it
    id: String,
    /// What the model reads, or `-` for stdin
    message: Option<String>,
    /// End the turn, too
    #[arg(long)]
    interrupt: bool,
    /// All open questions of the same session about the same tool
    #[arg(long)]
    alike: bool,
    #[command(flatten)]
    reach: Reach,
}

pub(crate) fn run(arguments: Arguments) -> anyhow::Result<Outcome> {
    let Arguments {
        id,
        message,
        interrupt,
        alike,
        reach,
    } = arguments;
    remote::with(reach, |remote| async move {
        let message = message.map(ask::text).transpose()?;
        // A no is safe: nobody is asked again.
        let view = decide::open(&remote, &id, None).await?;
        let deny = Decide::Deny { message, interrupt };
        match alike {
            true => {
                let others = decide::others(&remote, &view).await?;
                decide::send_alike(&remote, &view, &others, false, deny, "denied").await
            }
            false => decide::send(&remote, &view, deny, "denied").await,
        }
    })
}
