//! `countersign stop`: the agent ends. The session stays, and can be resumed.

use clap::Args;

use crate::Outcome;
use crate::remote::{self, Reach, names};

/// What stands behind `stop`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The session: some letters of the end or the beginning of its id
    id: String,
    /// Whatever it takes: what runs in the agent is killed
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    reach: Reach,
}

pub(crate) fn run(arguments: Arguments) -> anyhow::Result<Outcome> {
    let Arguments { id, force, reach } = arguments;
    remote::with(reach, |remote| async move {
        let session = names::session(&remote.client, &id).await?.id;
        let receipt = match force {
            true => remote.client.force_end(session).await?,
            false => remote.client.stop(session).await?,
        };
        remote.receipt(&receipt, format!("{}: ending", names::short(session)))
    })
}
