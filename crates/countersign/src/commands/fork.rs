//! `countersign fork`: another session goes on from a conversation.

use clap::Args;
use countersign_api::bodies::{ForkBody, MessageBody};
use countersign_api::control::{Did, ForkWorktree, SessionId};

use crate::Outcome;
use crate::remote::{self, Reach, ask, names};

/// What stands behind `fork`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The session: some letters of the end or the beginning of its id
    id: String,
    /// What the new agent is told first, or `-` for stdin
    text: Option<String>,
    /// Work in the same worktree, beside the other agent, instead of in one of its own
    #[arg(long)]
    same_worktree: bool,
    #[command(flatten)]
    reach: Reach,
}

pub(crate) fn run(arguments: Arguments) -> anyhow::Result<Outcome> {
    let Arguments {
        id,
        text,
        same_worktree,
        reach,
    } = arguments;
    remote::with(reach, |remote| async move {
        let text = text.map(ask::text).transpose()?;
        let session = names::session(&remote.client, &id).await?.id;
        let body = ForkBody {
            id: Some(SessionId::fresh()),
            message: text.map(|text| MessageBody {
                text,
                ..MessageBody::default()
            }),
            worktree: match same_worktree {
                true => ForkWorktree::Shared,
                false => ForkWorktree::Own,
            },
        };
        let receipt = remote.client.fork(session, &body).await?;
        let words = match &receipt.did {
            Did::Session { session: new } => {
                let branch = remote.client.session(*new).await?.branch;
                let (new, old) = (names::short(new), names::short(session));
                match branch {
                    Some(branch) => format!("{new} goes on from {old}, on the branch {branch}"),
                    None => format!("{new} goes on from {old}"),
                }
            }
            _ => format!("{}: forked", names::short(session)),
        };
        remote.receipt(&receipt, words)
    })
}
