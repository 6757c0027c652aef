//! What policy would say about a call, without anything being asked or run.
//!
//! Owns the way from a session, or a folder, to the same desk that its agent's questions are laid on. Invariant: it says
//! what a question at this moment would come to, or would come to if some rules were kept; those are kept nowhere.

use std::sync::Arc;

use countersign_policy::{Call, Effect, Explanation, Verdict};

use super::kept_rules;
use crate::control::approval::{Remember, Scope};
use crate::control::session::Setup;
use crate::control::{ControlError, Explain, Explained, Mode, Part, Result, SessionId, now};
use crate::desk::{Desk, Grounds, KeptRule};
use crate::host::Inner;
use crate::store::sessions::SessionRow;
use crate::store::{rules, sessions};

/// Explains a call.
pub(crate) async fn explain(inner: &Arc<Inner>, what: Explain) -> Result<Explained> {
    let row = match (what.session, what.cwd) {
        (Some(id), None) => inner.store.read(move |it| sessions::get(it, id)).await?,
        (None, Some(cwd)) => SessionRow::new(SessionId::fresh(), cwd, Setup::default(), now()),
        _ => {
            return Err(ControlError::invalid(
                "name a `session`, or a `cwd` for one that is not there yet",
            ));
        }
    };
    if !what.input.is_object() {
        return Err(ControlError::invalid("`input` is an object"));
    }
    let mode = what.mode.unwrap_or(row.mode);
    let copy_of = inner.copy_of(&row);
    let host = &inner.settings.agents;
    let grounds = Grounds::of(&row.setup, &row.cwd, copy_of.as_deref(), host)?;
    let grounds = grounds.with_uploads(inner.upload_folders(&row).await?);
    let repository = grounds.repository();
    let (session, name, at) = (row.id, repository.to_str().map(str::to_owned), now());
    let rows = inner
        .store
        .read(move |it| rules::holding(it, session, name.as_deref(), at))
        .await?;
    let mut kept = kept_rules(rows, &repository);
    let tried = Remember {
        rules: what.as_if,
        scope: Scope::Session,
        expires: None,
        also_cli: false,
    };
    kept.extend(KeptRule::remember(&tried, &repository, at)?);
    let mut call = Call::new(what.tool, what.input);
    call.in_plan_mode = mode == Mode::Plan;
    // Settings files and links are read.
    let look = tokio::task::spawn_blocking(move || {
        let mut desk = Desk::open(grounds, kept, mode, at);
        let explanation = desk.explain(&call, at);
        told(&desk, explanation, at)
    });
    look.await.map_err(|error| ControlError::Unknown {
        why: error.to_string(),
    })
}

fn told(desk: &Desk, explanation: Explanation, at: u64) -> Explained {
    let Explanation {
        verdict,
        steps,
        changes,
    } = explanation;
    let unreadable = desk.closed().map(str::to_owned);
    let mut effect = verdict.effect;
    let mut reason = verdict.reason.text.clone();
    if let (Some(why), Effect::Allow) = (&unreadable, effect) {
        (effect, reason) = (Effect::Ask, why.clone());
    }
    if effect == Effect::Ask && desk.asks_nobody(at) {
        effect = Effect::Deny;
        reason = format!("Nobody is asked in this mode. {reason}");
    }
    let rule = verdict.reason.rule.as_ref();
    Explained {
        effect: effect.into(),
        why: verdict.reason.why.to_string(),
        reason,
        rule: rule.map(ToString::to_string),
        origin: rule.map(|rule| rule.origin.to_string()),
        parts: steps
            .into_iter()
            .map(|step| {
                let Verdict { effect, reason, .. } = step.verdict;
                Part {
                    part: step.part,
                    kind: step.kind.to_owned(),
                    through: step.through,
                    effect: effect.into(),
                    reason: reason.text,
                }
            })
            .collect(),
        changes,
        unreadable,
    }
}
