//! `countersign rm`: a session goes into the trash, or comes back. Nothing is deleted.

use clap::Args;

use crate::Outcome;
use crate::remote::{self, Reach, names};

/// What stands behind `rm`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The session: some letters of the end or the beginning of its id
    id: String,
    /// Take it out of the trash again
    #[arg(long)]
    restore: bool,
    #[command(flatten)]
    reach: Reach,
}

pub(crate) fn run(arguments: Arguments) -> anyhow::Result<Outcome> {
    let Arguments { id, restore, reach } = arguments;
    remote::with(reach, |remote| async move {
        let session = names::session(&remote.client, &id).await?.id;
        let short = names::short(session);
        match restore {
            true => {
                let receipt = remote.client.restore(session).await?;
                remote.receipt(&receipt, format!("{short}: back"))
            }
            false => {
                let receipt = remote.client.put_away(session).await?;
                let words = format!(
                    "{short}: in the trash. `countersign rm --restore {short}` brings it back."
                );
                remote.receipt(&receipt, words)
            }
        }
    })
}
