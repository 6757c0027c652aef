//! `countersign send`: a message to a session.

use clap::Args;
use countersign_api::bodies::MessageBody;

use crate::Outcome;
use crate::remote::{self, Failure, Reach, ask, names};

/// What stands behind `send`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The session: some letters of the end or the beginning of its id
    id: String,
    /// The message, or `-` for stdin
    text: String,
    #[command(flatten)]
    reach: Reach,
}

pub(crate) fn run(arguments: Arguments) -> anyhow::Result<Outcome> {
    let Arguments { id, text, reach } = arguments;
    remote::with(reach, |remote| async move {
        let text = ask::text(text)?;
        if text.trim().is_empty() {
            return Err(Failure::Misused(
                "the message is empty: write something".into(),
            ));
        }
        let session = names::session(&remote.client, &id).await?.id;
        let body = MessageBody {
            text,
            ..MessageBody::default()
        };
        let receipt = remote.client.send(session, &body).await?;
        remote.receipt(&receipt, format!("{}: sent", names::short(session)))
    })
}
