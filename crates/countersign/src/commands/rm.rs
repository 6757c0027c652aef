//! `countersign rm`: a session goes into the trash, or comes back. Nothing is deleted.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use clap::Args;
use countersign_api::control::{SessionId, WorktreeView};

use crate::Outcome;
use crate::remote::{self, Done, Reach, Remote, names};
use crate::show::text;

/// What stands behind `rm`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The session: some letters of the end or the beginning of its id
    id: String,
    /// Take it out of the trash again, with its worktree
    #[arg(long)]
    restore: bool,
    /// Remove its worktree, too: refused if there is work in it that is nowhere else
    #[arg(long, conflicts_with_all = ["restore", "keep_worktree"])]
    worktree: bool,
    /// Keep its worktree, and do not ask
    #[arg(long, conflicts_with = "restore")]
    keep_worktree: bool,
    #[command(flatten)]
    reach: Reach,
}

pub(crate) fn run(arguments: Arguments) -> anyhow::Result<Outcome> {
    let Arguments {
        id,
        restore,
        worktree,
        keep_worktree,
        reach,
    } = arguments;
    remote::with(reach, |remote| async move {
        let view = names::session(&remote.client, &id).await?;
        let short = names::short(view.id);
        if restore {
            let receipt = remote.client.restore(view.id).await?;
            return remote.receipt(&receipt, format!("{short}: back"));
        }
        if worktree {
            return remove_both(&remote, view.id).await;
        }
        let tree = match view.branch.is_some() && !keep_worktree {
            true => remote.client.worktree(view.id).await.ok(),
            false => None,
        };
        let may_go = tree.as_ref().filter(|tree| tree.kept_because.is_none());
        if let Some(tree) = may_go
            && !remote.json
            && asks_and_hears_yes(tree)?
        {
            return remove_both(&remote, view.id).await;
        }
        let receipt = remote.client.put_away(view.id).await?;
        let mut words =
            format!("{short}: in the trash. `countersign rm --restore {short}` brings it back.");
        if let Some(tree) = tree {
            let folder = text::one_row(&tree.folder.to_string_lossy(), 400);
            words.push_str(&match tree.kept_because {
                Some(why) => format!(
                    "\nIts worktree {folder} stays: {}.",
                    text::one_row(&why, 400)
                ),
                None => format!(
                    "\nIts worktree {folder} stays: `countersign rm --worktree {short}` removes it."
                ),
            });
        }
        remote.receipt(&receipt, words)
    })
}

async fn remove_both(remote: &Remote, session: SessionId) -> Done {
    let short = names::short(session);
    let receipt = remote.client.put_away_with_worktree(session).await?;
    let words = format!(
        "{short}: in the trash, with its worktree. `countersign rm --restore {short}` brings both back."
    );
    remote.receipt(&receipt, words)
}

/// Asks a person at a terminal. Nobody there means no.
fn asks_and_hears_yes(tree: &WorktreeView) -> io::Result<bool> {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Ok(false);
    }
    let branch = text::one_row(&tree.branch, 200);
    let mut out = io::stderr();
    write!(
        out,
        "Its worktree is clean and merged. Remove it, too, with its branch {branch}? [y/N] "
    )?;
    out.flush()?;
    let mut said = String::new();
    io::stdin().lock().read_line(&mut said)?;
    Ok(matches!(said.trim(), "y" | "Y" | "yes"))
}
