//! `countersign resume`: an agent takes a conversation up again.

use clap::Args;
use countersign_api::bodies::{MessageBody, ResumeBody};

use crate::Outcome;
use crate::remote::{self, Reach, ask, names};

/// What stands behind `resume`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The session: some letters of the end or the beginning of its id
    id: String,
    /// What the agent is told, or `-` for stdin
    text: Option<String>,
    #[command(flatten)]
    reach: Reach,
}

pub(crate) fn run(arguments: Arguments) -> anyhow::Result<Outcome> {
    let Arguments { id, text, reach } = arguments;
    remote::with(reach, |remote| async move {
        let text = text.map(ask::text).transpose()?;
        let session = names::session(&remote.client, &id).await?.id;
        let message = text.map(|text| MessageBody {
            text,
            ..MessageBody::default()
        });
        let receipt = remote
            .client
            .resume(session, &ResumeBody { message })
            .await?;
        remote.receipt(&receipt, format!("{}: resumed", names::short(session)))
    })
}
