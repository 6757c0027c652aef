//! `countersign interrupt`: the turn ends, the agent stays.

use clap::Args;

use crate::Outcome;
use crate::remote::{self, Reach, names};

/// What stands behind `interrupt`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The session: some letters of the end or the beginning of its id
    id: String,
    #[command(flatten)]
    reach: Reach,
}

pub(crate) fn run(arguments: Arguments) -> anyhow::Result<Outcome> {
    let Arguments { id, reach } = arguments;
    remote::with(reach, |remote| async move {
        let session = names::session(&remote.client, &id).await?.id;
        let receipt = remote.client.interrupt(session).await?;
        remote.receipt(&receipt, format!("{}: interrupted", names::short(session)))
    })
}
