//! A decision: what was shown, what is said, what came of it.
//!
//! Owns the way of every decision of the terminal. Invariants: the digest that is sent is that of what was shown; a yes is
//! asked for unless the person has said so beforehand, and a second one for what cannot be undone; where nobody can say yes,
//! nothing is decided.

use countersign_api::bodies::{DecideAlikeBody, DecideBody};
use countersign_api::control::approval::Life;
use countersign_api::control::{ApprovalFilter, ApprovalView, Decide, Did, Digest};

use super::{Done, Failure, Remote, ask, names, question, words};
use crate::show::text;
use crate::term::style::Line;

/// The question that is meant, as it stands now, and only if it is still to be decided.
pub(crate) async fn open(
    remote: &Remote,
    name: &str,
    saw: Option<&str>,
) -> Result<ApprovalView, Failure> {
    let mut view = names::approval(&remote.client, name).await?;
    if let Some(saw) = saw {
        // The server compares it with what is asked.
        view.digest = Digest::named(saw);
    }
    Ok(view)
}

/// Shows the question, if a person looks.
pub(crate) async fn show(remote: &Remote, view: &ApprovalView) -> Result<(), Failure> {
    if remote.json {
        return Ok(());
    }
    let lines = shown(remote, view).await;
    Ok(remote.paper.print(&lines)?)
}

/// Returns everything a person needs to decide, with the folder that the agent works in.
pub(crate) async fn shown(remote: &Remote, view: &ApprovalView) -> Vec<Line> {
    let mut lines = question::full(view, words::now(), remote.paper.width);
    // A session that cannot be asked for is no reason to keep the question back.
    if let Ok(session) = remote.client.session(view.session).await {
        lines.insert(1.min(lines.len()), question::place(&session));
    }
    lines
}

/// Asks for a yes, unless it was said.
pub(crate) fn confirm(remote: &Remote, words: &str, is_said: bool) -> Result<(), Failure> {
    if is_said {
        return Ok(());
    }
    if remote.json || !ask::is_somebody_there() {
        let why = "nobody is there to ask, so nothing was decided: add --yes";
        return Err(Failure::NotSaid(why.to_owned()));
    }
    match ask::yes(words)? {
        true => Ok(()),
        false => Err(Failure::NotSaid("nothing was decided".to_owned())),
    }
}

/// Asks a second time where what is allowed cannot be undone, unless it was said beforehand.
pub(crate) fn confirm_harm(view: &ApprovalView, is_said: bool) -> Result<(), Failure> {
    let Some(does) = view.destroys().filter(|_| !is_said) else {
        return Ok(());
    };
    let does = text::one_row(does, 300);
    match ask::whole_yes(&format!("It {does}, which cannot be undone."))? {
        true => Ok(()),
        false => Err(Failure::NotSaid("nothing was decided".to_owned())),
    }
}

/// Whether somebody has decided already; then the server says who.
pub(crate) fn is_open(view: &ApprovalView) -> bool {
    view.life == Life::Open
}

/// Other open questions of the same session about the same tool.
pub(crate) async fn others(
    remote: &Remote,
    view: &ApprovalView,
) -> Result<Vec<ApprovalView>, Failure> {
    let filter = ApprovalFilter {
        session: Some(view.session),
        life: Some("open".to_owned()),
        ..ApprovalFilter::default()
    };
    let open = remote.client.all_approvals(filter).await?;
    let alike = |one: &ApprovalView| one.kind == view.kind && one.tool == view.tool;
    let others = open
        .into_iter()
        .filter(|one| one.id != view.id && alike(one));
    Ok(others.collect())
}

/// Sends a decision on one.
pub(crate) async fn send(remote: &Remote, view: &ApprovalView, decide: Decide, said: &str) -> Done {
    let body = DecideBody {
        saw: view.digest.clone(),
        decide,
    };
    let receipt = remote.client.decide(view.id, &body).await?;
    let mut lines = vec![Line::plain(format!("{}: {said}", names::short(view.id)))];
    if let Did::Decided {
        session: Some(session),
        ..
    } = &receipt.did
    {
        let words = format!("{} goes on with the plan", names::short(session));
        lines.push(Line::plain(words));
    }
    remote.tell(&receipt, &lines)?;
    Ok(crate::Outcome::Fine)
}

/// Sends a decision on several.
pub(crate) async fn send_alike(
    remote: &Remote,
    view: &ApprovalView,
    others: &[ApprovalView],
    is_shown: bool,
    decide: Decide,
    said: &str,
) -> Done {
    let all = std::iter::once(view).chain(others);
    let body = DecideAlikeBody {
        saw: view.digest.clone(),
        others: others.iter().map(|one| one.digest.clone()).collect(),
        // Who is not shown them has seen the end of none.
        whole: all
            .filter(|_| is_shown)
            .map(|one| one.digest.clone())
            .collect(),
        decide,
    };
    let receipt = remote.client.decide_alike(view.id, &body).await?;
    let count = match &receipt.did {
        Did::Decided { approvals, .. } => approvals.len(),
        _ => 1,
    };
    remote.receipt(&receipt, format!("{count} {said}"))
}
