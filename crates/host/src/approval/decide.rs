//! A person's decision about a question → what it comes to.
//!
//! Owns the dispatch by kind of question and everything about plain calls. Plans are [`crate::plan`]'s, forms are beside
//! this file. Invariants: what does not fit the question is an error and decides nothing; *always* is a rule of ours, and
//! carries neither a mode nor a folder; bypass cannot be said here.

use std::path::{Component, Path};

use countersign_client::options::Capabilities;
use countersign_client::{Rule, Update};
use countersign_policy::is_taken_everywhere;
use countersign_wire::Json;
use countersign_wire::permission::{PermissionUpdate, RuleDestination};
use countersign_wire::tools::ToolInput;
use serde_json::Value;

use super::consequence::{Agent, Answer, Consequence, Known, NewRule};
use super::offers::doubt;
use super::{Asked, dialog, forms};
use crate::control::approval::{Effect, Kind, Remember, Scope};
use crate::control::{ControlError, Decide, Mode};
use crate::desk::Desk;
use crate::plan;

/// What the model reads when a person says no without a word.
const NO: &str = "The person said no.";

/// The same, when the turn ends with it.
const NO_AND_STOP: &str = "The person said no and stopped the turn.";

/// What a decision about a question comes to. The desk still has to read [`Consequence::rules`] and to look at
/// [`Consequence::changed`] before anything is stored.
///
/// # Errors
/// When the decision does not fit the question, or the agent has gone and it is no plan.
pub fn decide(asked: &Asked, decide: &Decide, known: &Known) -> Result<Consequence, ControlError> {
    if known.agent == Agent::Gone && asked.kind != Kind::Plan {
        return Err(ControlError::not_now(
            "the agent that asked has ended, and the question with it: resume the session to go on",
        ));
    }
    match asked.kind {
        Kind::Tool => call(asked, decide, known),
        Kind::Plan => plan::decide(asked, decide, known),
        Kind::Questions => forms::questions(asked, decide, known),
        Kind::Elicitation => forms::elicitation(asked, decide),
        Kind::Dialog => dialog::decide(asked, decide),
    }
}

/// What is answered when nobody decided in time, which `lasted` says in microseconds. Delivered like every other answer.
pub fn expired(asked: &Asked, lasted: u64, known: &Known) -> Consequence {
    let message = format!("Nobody answered within {}.", span(lasted));
    if known.agent == Agent::Gone {
        return Consequence::without_answer(Effect::Deny, message);
    }
    let answer = match asked.kind {
        Kind::Elicitation | Kind::Dialog => Answer::Dismiss,
        Kind::Tool | Kind::Plan | Kind::Questions => Answer::Deny {
            message: message.clone(),
            stop: false,
        },
    };
    Consequence::of(answer, message)
}

/// A time in words: seconds up to two minutes, then minutes, then hours where they are whole.
fn span(micros: u64) -> String {
    let seconds = micros.div_ceil(1_000_000).max(1);
    let (count, unit) = match seconds {
        60 => (1, "minute"),
        0..120 => (seconds, "second"),
        _ if seconds.is_multiple_of(3_600) => (seconds / 3_600, "hour"),
        _ => (seconds.div_ceil(60), "minute"),
    };
    match count {
        1 => format!("1 {unit}"),
        count => format!("{count} {unit}s"),
    }
}

fn call(asked: &Asked, decide: &Decide, known: &Known) -> Result<Consequence, ControlError> {
    match decide {
        Decide::Allow {
            updated_input,
            remember,
            mode,
            add_dirs,
        } => {
            let mut come = Consequence::of(allow(asked, updated_input.as_ref())?, "allowed");
            come.changed.clone_from(updated_input);
            if let Some(remember) = remember {
                if mode.is_some() || !add_dirs.is_empty() {
                    return Err(ControlError::invalid(
                        "a rule for good, another mode and more folders are choices of their own: decide one of them, \
                         and set the mode of the session for the other",
                    ));
                }
                always(asked, remember, known, &mut come)?;
            }
            change_mode(asked, *mode, known, &mut come)?;
            add_folders(add_dirs, &mut come)?;
            Ok(come)
        }
        Decide::Deny { message, interrupt } => Ok(deny(message.as_deref(), *interrupt, known)),
        Decide::Plan(_) => Err(ControlError::invalid(
            "this is no plan: decide `allow` or `deny`",
        )),
        Decide::Answer { .. } | Decide::Decline { .. } => Err(ControlError::invalid(
            "nothing is asked but whether the call may run: decide `allow` or `deny`",
        )),
    }
}

fn allow(asked: &Asked, updated_input: Option<&Value>) -> Result<Answer, ControlError> {
    if let Some(input) = updated_input {
        fits(&asked.tool, input)?;
    }
    Ok(Answer::Allow {
        input: updated_input.cloned(),
        updates: Vec::new(),
    })
}

/// Whether a tool can take this input, as far as its form tells. Newer CLIs run the original call for an empty one.
fn fits(tool: &str, input: &Value) -> Result<(), ControlError> {
    if input.as_object().is_none_or(serde_json::Map::is_empty) {
        return Err(ControlError::invalid(
            "an input that is no object, or an empty one, would run the call as it was: nothing was sent",
        ));
    }
    match ToolInput::view(tool, &Json::from(input.clone())) {
        Ok(_) => Ok(()),
        Err(error) => Err(ControlError::invalid(format!(
            "{tool} does not take this input ({error}): nothing was sent"
        ))),
    }
}

/// No, with what the person said about it.
pub(crate) fn deny(message: Option<&str>, stop: bool, known: &Known) -> Consequence {
    let said = message.map(str::trim).filter(|said| !said.is_empty());
    let message = said.unwrap_or(if stop { NO_AND_STOP } else { NO });
    let answer = Answer::Deny {
        message: message.to_owned(),
        stop,
    };
    let mut come = Consequence::of(answer, message);
    if stop && said.is_some() && !Capabilities::of(known.version).deny_and_stop_keeps_message() {
        come.notes.push(
            "This version of the CLI tells the model a text of its own when the turn is stopped: \
             what you said stays in the record only."
                .to_owned(),
        );
    }
    come
}

/// Rules of ours, and the same in the CLI's own settings if that is wanted.
fn always(
    asked: &Asked,
    remember: &Remember,
    known: &Known,
    come: &mut Consequence,
) -> Result<(), ControlError> {
    if let Some(mark) = asked.marks.first() {
        return Err(ControlError::invalid(format!(
            "no rule can allow this call, since {mark}: allow it this once"
        )));
    }
    if remember.rules.is_empty() {
        return Err(ControlError::invalid(
            "`remember` names no rule: name at least one, or leave it out",
        ));
    }
    if remember.expires.is_some_and(|until| until <= known.now) {
        return Err(ControlError::invalid(
            "the rule would have ended already: choose a later moment",
        ));
    }
    let rules: Result<Vec<Rule>, _> = remember.rules.iter().map(|text| text.parse()).collect();
    let rules = rules
        .map_err(|error: countersign_client::RuleError| ControlError::invalid(error.to_string()))?;
    come.rules = rules
        .iter()
        .map(|rule| NewRule {
            text: rule.to_string(),
            scope: remember.scope,
            expires: remember.expires,
        })
        .collect();
    if remember.also_cli {
        if remember.expires.is_some() {
            return Err(ControlError::invalid(
                "a rule in the CLI's own settings does not end by itself: leave out `expires` or `also_cli`",
            ));
        }
        let to = destination(remember.scope);
        let wrong = come
            .rules
            .iter()
            .find(|rule| !is_taken_everywhere(&rule.text));
        if let Some(wrong) = wrong {
            // One rule that a CLI finds wrong makes it drop the whole file, denials included.
            return Err(ControlError::invalid(format!(
                "the CLI's own settings may not take `{}`: leave out `also_cli`",
                wrong.text
            )));
        }
        come.notes
            .extend(doubt(&remember.rules, &to, known.version));
        push(come, Update::allow(rules).kept(to));
    }
    Ok(())
}

/// Where the CLI keeps a rule of this reach. Never in the file that the repository shares.
fn destination(scope: Scope) -> RuleDestination {
    match scope {
        Scope::Session => RuleDestination::Session,
        Scope::Repository => RuleDestination::LocalSettings,
        Scope::Always => RuleDestination::UserSettings,
    }
}

fn change_mode(
    asked: &Asked,
    mode: Option<Mode>,
    known: &Known,
    come: &mut Consequence,
) -> Result<(), ControlError> {
    if let Some(Mode::HandsOff { until }) = mode {
        let longest = Desk::LONGEST_HANDS_OFF.as_micros() as u64;
        if until <= known.now || until - known.now > longest {
            return Err(ControlError::invalid(
                "hands-off must end within a day from now",
            ));
        }
    }
    if let Some(mode) = mode {
        // Only plan mode is one of the CLI; the others are ours, with the CLI in its default mode.
        push(come, Update::mode(mode.of_cli()));
    }
    let entered = asked.enters_plan_mode().then_some(Mode::Plan);
    come.mode = mode.or(entered);
    Ok(())
}

fn add_folders(folders: &[String], come: &mut Consequence) -> Result<(), ControlError> {
    for folder in folders {
        let path = Path::new(folder);
        let climbs = path.components().any(|part| part == Component::ParentDir);
        if !path.is_absolute() || climbs {
            return Err(ControlError::invalid(format!(
                "`{folder}` is no folder that can be added: give its whole path, without `..`"
            )));
        }
    }
    if !folders.is_empty() {
        push(come, Update::add_directories(folders));
        come.add_dirs = folders.to_vec();
    }
    Ok(())
}

/// Has a change go along with the allow.
fn push(come: &mut Consequence, update: Update) {
    if let Some(Answer::Allow { updates, .. }) = &mut come.answer {
        updates.push(PermissionUpdate::from(update));
    }
}
