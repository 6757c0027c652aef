//! Rows as clients see them.
//!
//! Owns the two ways from a row to a view. Reads, changes nothing.

use std::path::PathBuf;

use crate::approval::{self, Agent, Asked, Facts, Marks};
use crate::control::approval::{Card, Harm, Kind, Life};
use crate::control::{ApprovalView, SessionView};
use crate::live::Context;
use crate::store::sessions::{Listed, SessionRow};
use crate::store::{Connection, StoreError, approvals, plans, sessions};

/// A session as a client sees it.
pub(super) fn view(listed: Listed) -> SessionView {
    let context_percent = listed.context.as_deref().and_then(Context::percent_of);
    let found = listed.view.repository.clone();
    let repository = found.or_else(|| crate::worktree::folder_of(&listed.view.cwd));
    SessionView {
        context_percent,
        repository,
        ..listed.view
    }
}

/// An approval as a client sees it.
pub(super) fn approval_view(
    it: &Connection,
    row: approvals::ApprovalRow,
) -> std::result::Result<ApprovalView, StoreError> {
    let session = sessions::get(it, row.session)?;
    let is_live = session.live && session.generation == row.generation;
    let plan = card(it, &row, &session, is_live)?;
    let harm = harm(&row, &session);
    let edited_input = row.edited_input();
    let is_open = row.life == Life::Open;
    let file = row.file.map(|kept| kept.shown(is_open));
    Ok(ApprovalView {
        id: row.id,
        session: row.session,
        session_name: session.name,
        kind: row.kind,
        needs_restart: !is_live && row.life == Life::Open,
        life: row.life,
        asked: row.asked,
        record: countersign_journal::Cursor::new(row.generation, row.seq).to_string(),
        request_id: row.request_id,
        tool_use_id: row.tool_use_id,
        tool: row.tool,
        input: row.input,
        edited_input,
        file,
        digest: row.digest,
        path: row.path,
        reason: row.reason,
        remark: row.remark,
        harm,
        offers: row.offers,
        expires: row.expires,
        decided: row.decided,
        plan,
    })
}

/// What a call would destroy, until the answer is with the agent.
fn harm(row: &approvals::ApprovalRow, session: &SessionRow) -> Option<Harm> {
    if row.kind != Kind::Tool || !matches!(row.life, Life::Open | Life::Decided) {
        return None;
    }
    let home = session.setup.env.get("HOME").map(PathBuf::from);
    let home = home.or_else(|| std::env::var_os("HOME").map(PathBuf::from));
    approval::harm(&Facts {
        tool: &row.tool,
        input: &row.input,
        reason: &row.reason,
        remark: row.remark.as_deref(),
        cwd: &session.cwd,
        add_dirs: &session.setup.add_dirs,
        home: home.as_deref(),
    })
}

/// What is shown of a plan that waits.
fn card(
    it: &Connection,
    row: &approvals::ApprovalRow,
    session: &SessionRow,
    is_live: bool,
) -> std::result::Result<Option<Card>, StoreError> {
    if row.kind != Kind::Plan || row.life != Life::Open {
        return Ok(None);
    }
    let captured = plans::of_approval(it, row.session, row.id)?;
    let asked = Asked {
        request_id: row.request_id.clone(),
        subtype: row.subtype.clone(),
        kind: row.kind,
        tool: row.tool.clone(),
        tool_use_id: row.tool_use_id.clone(),
        agent_id: None,
        input: row.input.clone(),
        suggestions: Vec::new(),
        marks: Marks::default(),
        blocked_path: None,
        remark: None,
        plan: captured.map(|plan| plan.text),
    };
    let agent = match is_live {
        true => Agent::Waits,
        false => Agent::Gone,
    };
    let version = session.version.as_ref().and_then(|it| it.parse().ok());
    let context = Context::percent_in(&session.core).map(f64::from);
    let mut card = crate::plan::card(&asked, version, agent, context);
    for wish in &mut card.wishes {
        wish.offers = crate::plan::offers(wish, card.text.as_deref(), &session.cwd);
    }
    Ok(Some(card))
}
