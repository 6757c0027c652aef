//! `countersign show`: one session with everything that is known of it, or one question.

use clap::Args;
use countersign_api::control::{
    ApprovalFilter, ApprovalView, Came, Earlier, Queued, SessionView, State,
};
use serde_json::json;

use crate::Outcome;
use crate::remote::entries::Reader;
use crate::remote::{self, Failure, Reach, Remote, decide, names, question, words};
use crate::show::{notice, text};
use crate::term::style::{Line, Tone};

/// So many entries of the conversation that a session goes on from are shown.
const EARLIER: usize = 10;

/// What stands behind `show`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The session, or a question of the inbox: some letters of the end or the beginning of its id
    id: String,
    /// Show the difference of its worktree to its base, as `git diff` writes it
    #[arg(long)]
    diff: bool,
    #[command(flatten)]
    reach: Reach,
}

pub(crate) fn run(arguments: Arguments) -> anyhow::Result<Outcome> {
    let Arguments { id, diff, reach } = arguments;
    remote::with(reach, |remote| async move {
        match names::session(&remote.client, &id).await {
            Ok(view) if diff => {
                let text = remote.client.diff(view.id).await?;
                let lines: Vec<Line> = text.lines().map(coloured).collect();
                remote.tell(&json!({ "diff": text }), &lines)?;
            }
            Ok(view) => session(&remote, view).await?,
            // It may be a question of the inbox.
            Err(none @ Failure::NotFound(_)) => {
                let view = names::approval(&remote.client, &id)
                    .await
                    .map_err(|_| none)?;
                let lines = decide::shown(&remote, &view).await;
                remote.tell(&view, &lines)?;
            }
            Err(failure) => return Err(failure),
        }
        Ok(Outcome::Fine)
    })
}

fn coloured(row: &str) -> Line {
    let tone = match row.as_bytes().first() {
        Some(b'+') => Tone::Good,
        Some(b'-') => Tone::Bad,
        Some(b'@') => Tone::Accent,
        _ => Tone::Plain,
    };
    Line::of(row, tone)
}

async fn session(remote: &Remote, view: SessionView) -> Result<(), Failure> {
    let filter = ApprovalFilter {
        session: Some(view.id),
        life: Some("open".to_owned()),
        ..ApprovalFilter::default()
    };
    let open = remote.client.all_approvals(filter).await?;
    let queue = remote.client.queue(view.id).await?;
    let goes_on = matches!(view.origin.as_deref(), Some("fork" | "import"));
    let earlier = match goes_on {
        true => Some(remote.client.earlier(view.id, EARLIER).await?),
        false => None,
    };
    if remote.json {
        let value =
            json!({ "session": view, "approvals": open, "queue": queue, "earlier": earlier });
        return Ok(remote.paper.value(&value)?);
    }
    let mut lines = about(&view, words::now());
    if let Some(earlier) = earlier {
        lines.extend(before(earlier, remote.paper.width));
    }
    lines.extend(waiting(&queue, view.queue_held));
    lines.extend(questions(&open));
    Ok(remote.paper.print(&lines)?)
}

fn about(view: &SessionView, now: u64) -> Vec<Line> {
    let (state, tone) = words::state(&view.state);
    let head = Line::of(names::short(view.id), Tone::Accent)
        .add("  ", Tone::Plain)
        .add(&view.name, Tone::Strong)
        .add(format!("  {state}"), tone)
        .add(format!(" for {}", words::age(view.since, now)), Tone::Dim);
    let mut lines = vec![head];
    lines.extend(words::reason(view).map(|why| notice::note(text::one_row(why, 400))));
    if view.cut_off {
        let words = "the last turn was cut off: `countersign resume` goes on";
        lines.push(notice::warn(words));
    }
    if let State::Failed { stderr } = &view.state {
        let end = stderr.lines().rev().take(5).collect::<Vec<_>>();
        let rows = end.into_iter().rev();
        lines.extend(rows.map(|row| Line::of(row, Tone::Dim).after("  ", Tone::Plain)));
    }
    if let State::NotSignedIn { fix } = &view.state {
        lines.push(notice::warn(text::one_row(fix, 300)));
    }
    let field = |name: &str, value: String| {
        Line::of(format!("{name:<13}"), Tone::Dim)
            .add(value, Tone::Plain)
            .hanging(13)
    };
    let cost = match view.budget_usd {
        Some(budget) => format!(
            "{} of {}",
            words::dollars(view.cost_usd),
            words::dollars(budget)
        ),
        None => words::dollars(view.cost_usd),
    };
    let optional = [
        ("model", view.model.clone()),
        ("claude", view.version.clone()),
        (
            "context",
            view.context_percent.map(|full| format!("{full} %")),
        ),
        ("branch", view.branch.clone()),
        ("conversation", view.conversation.clone()),
        (
            "from",
            view.parent.map(|from| {
                let how = view.origin.as_deref().unwrap_or("session");
                format!("{} ({how})", names::short(from))
            }),
        ),
        ("said", view.last_line.clone()),
        ("trashed", view.trashed.map(words::when)),
    ];
    lines.push(field("id", view.id.to_string()));
    lines.push(field("folder", view.cwd.display().to_string()));
    lines.push(field("mode", words::mode(view.mode, now)));
    lines.push(field("cost", cost));
    lines.push(field("created", words::when(view.created)));
    lines.push(field("active", words::when(view.last_activity)));
    let given = optional
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)));
    lines.extend(given.map(|(name, value)| field(name, value)));
    lines
}

/// The end of the conversation that a session goes on from.
fn before(earlier: Earlier, width: usize) -> Vec<Line> {
    let from = match (earlier.how, &earlier.name) {
        (Came::Forked, Some(name)) => format!("forked from {}", text::one_row(name, 60)),
        (Came::Forked, None) => "forked".to_owned(),
        (Came::Imported, _) => "from a terminal".to_owned(),
    };
    let until = words::when(earlier.until);
    let mut lines = vec![
        Line::new(),
        Line::of("Earlier conversation", Tone::Strong)
            .add(format!("  {from}, until {until}"), Tone::Dim),
    ];
    if let Some(why) = &earlier.missing {
        lines.push(notice::note(text::one_row(why, 300)));
        return lines;
    }
    let cost = match earlier.cost_usd {
        Some(cost) => format!(
            "It had cost {} by then. That is not part of this session's cost.",
            words::dollars(cost)
        ),
        None => "What it cost is not known. It is not part of this session's cost.".to_owned(),
    };
    lines.push(notice::note(cost));
    if earlier.more {
        lines.push(notice::note(
            "Older entries are left out here; the page shows all of them.",
        ));
    } else if let Some(parent) = earlier.session.filter(|_| earlier.goes_on) {
        lines.push(notice::note(format!(
            "It goes on from a conversation before it: `countersign show {parent}` shows that one."
        )));
    }
    lines.extend(Reader::new(width, false).take(earlier.items));
    lines
}

fn waiting(queue: &[Queued], is_held: bool) -> Vec<Line> {
    if queue.is_empty() {
        return Vec::new();
    }
    let held = if is_held { ", held" } else { "" };
    let head = format!("{} waiting{held}", text::count(queue.len(), "message"));
    let mut lines = vec![Line::new(), Line::of(head, Tone::Strong)];
    lines.extend(queue.iter().map(|one| {
        Line::plain(text::one_row(&one.text, 200))
            .after("› ", Tone::Accent)
            .after("  ", Tone::Plain)
    }));
    lines
}

fn questions(open: &[ApprovalView]) -> Vec<Line> {
    if open.is_empty() {
        return Vec::new();
    }
    let head = format!("{} open", text::count(open.len(), "question"));
    let mut lines = vec![Line::new(), Line::of(head, Tone::Warn)];
    lines.extend(open.iter().map(|one| {
        let id = format!("  {}  ", names::short(one.id));
        question::headline(one).after(&id, Tone::Accent)
    }));
    lines
}
