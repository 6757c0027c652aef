//! Who is told: those of the start of the host, and those that people added.
//!
//! Owns how both become one list. Invariant: a name that was given at the start is not taken by another.

use std::collections::BTreeSet;

use crate::control::{ControlError, PutWebhook, Result, WebhookView};
use crate::notify::{Delivery, Target, To};

/// Under this name they are stored.
pub(crate) const WEBHOOKS: &str = "webhooks";

/// So many can be added.
const MOST: usize = 64;

/// Everybody who is told. What was stored and is not sound any more is left out, and said.
pub(crate) fn all(fixed: &[Target], stored: Vec<Target>) -> Vec<Target> {
    let mut names: BTreeSet<String> = fixed.iter().map(|one| one.name.clone()).collect();
    let sound = stored.into_iter().filter(|one| {
        let checked = one.check();
        if let Err(error) = &checked {
            tracing::warn!(%error, "somebody who was to be told is not");
        }
        checked.is_ok() && names.insert(one.name.clone())
    });
    let sound: Vec<Target> = sound.collect();
    fixed.iter().cloned().chain(sound).collect()
}

/// Puts one among those that are stored, in place of the one of its name.
pub(crate) fn put(
    fixed: &[Target],
    stored: &mut Vec<Target>,
    name: &str,
    webhook: PutWebhook,
) -> Result<()> {
    not_fixed(fixed, name)?;
    let place = stored.iter().position(|one| one.name == name);
    let before = place.map(|place| &stored[place]);
    let to = webhook.to.or_else(|| before.map(|one| one.to.clone()));
    let to = to.ok_or_else(|| ControlError::invalid("say how it is reached: `to`"))?;
    let on = webhook.on.or_else(|| before.map(|one| one.on.clone()));
    let target = Target {
        name: name.to_owned(),
        on: on.unwrap_or_else(Target::usual),
        to,
    };
    let invalid = |error: crate::notify::BadTarget| ControlError::invalid(error.to_string());
    target.check().map_err(invalid)?;
    match place {
        Some(place) => stored[place] = target,
        None if stored.len() >= MOST => {
            return Err(ControlError::invalid(format!(
                "there are {MOST} already: remove one first"
            )));
        }
        None => stored.push(target),
    }
    Ok(())
}

/// Whether it may be changed here.
pub(crate) fn not_fixed(fixed: &[Target], name: &str) -> Result<()> {
    match fixed.iter().any(|one| one.name == name) {
        true => Err(ControlError::not_now(format!(
            "`{name}` was given when the host was started: change it there"
        ))),
        false => Ok(()),
    }
}

/// One as a client sees it.
pub(crate) fn view(target: &Target, is_fixed: bool, last: Option<Delivery>) -> WebhookView {
    let (kind, is_signed, headers, shape) = match &target.to {
        To::Webhook {
            secret,
            headers,
            shape,
            ..
        } => {
            let names = headers.keys().cloned().collect();
            ("webhook", secret.is_some(), names, Some(*shape))
        }
        To::Program { .. } => ("program", false, Vec::new(), None),
    };
    WebhookView {
        name: target.name.clone(),
        on: target.on.clone(),
        kind: kind.to_owned(),
        place: target.place(),
        is_signed,
        headers,
        shape,
        is_fixed,
        last,
    }
}
