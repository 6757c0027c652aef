//! `countersign disk`: what the daemon keeps on the disk.

use clap::Args;
use countersign_api::control::{DiskUse, DiskView};

use crate::Outcome;
use crate::remote::{self, Reach, names};
use crate::show::text;
use crate::term::style::{Line, Tone};

/// What stands behind `disk`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Show this many sessions, largest first
    #[arg(short = 'n', default_value_t = 20, value_name = "N")]
    most: usize,
    #[command(flatten)]
    reach: Reach,
}

pub(crate) fn run(arguments: Arguments) -> anyhow::Result<Outcome> {
    let Arguments { most, reach } = arguments;
    remote::with(reach, |remote| async move {
        let view = remote.client.disk().await?;
        remote.tell(&view, &lines(&view, most))?;
        Ok(Outcome::Fine)
    })
}

/// Bytes in words.
fn size(bytes: u64) -> String {
    text::size(usize::try_from(bytes).unwrap_or(usize::MAX))
}

fn lines(view: &DiskView, most: usize) -> Vec<Line> {
    let mut lines = vec![Line::of(
        format!("{} in all", size(view.total)),
        Tone::Strong,
    )];
    lines.extend(view.sessions.iter().take(most).map(of_session));
    if view.sessions.len() > most {
        let more = view.sessions.len() - most;
        lines.push(Line::of(format!("… {more} more: -n shows them"), Tone::Dim));
    }
    if view.nobody > 0 {
        let words = format!("{:>10}  of no session", size(view.nobody));
        lines.push(Line::plain(words));
    }
    if view.unread > 0 {
        let words = format!(
            "{} files could not be read and are not counted",
            view.unread
        );
        lines.push(Line::of(words, Tone::Warn));
    }
    if !view.trash.is_empty() {
        let words = format!("{} things are in the trash", view.trash.len());
        lines.push(Line::of(words, Tone::Dim));
    }
    if !view.proposed.is_empty() {
        let bytes = view.proposed.iter().map(|one| one.bytes).sum();
        let words = format!(
            "{} ended sessions with {} could go to the trash: `countersign rm ID`",
            view.proposed.len(),
            size(bytes)
        );
        lines.push(Line::of(words, Tone::Dim));
    }
    lines
}

fn of_session(one: &DiskUse) -> Line {
    let parts = [
        ("worktree", one.worktree),
        ("uploads", one.uploads),
        ("in the trash", one.trash),
    ];
    let all = one.journal + parts.iter().map(|(_, bytes)| bytes).sum::<u64>();
    let mut said = vec![format!("journal {}", size(one.journal))];
    let parts = parts.iter().filter(|(_, bytes)| *bytes > 0);
    said.extend(parts.map(|(name, bytes)| format!("{name} {}", size(*bytes))));
    Line::plain(format!("{:>10}  ", size(all)))
        .add(names::short(one.session), Tone::Accent)
        .add(format!("  {}", said.join(", ")), Tone::Dim)
}
