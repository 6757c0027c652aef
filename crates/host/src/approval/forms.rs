//! Questions to the person, and forms of MCP servers.
//!
//! Owns the checks of what was filled in. Invariants: an answer to something that was not asked is an error, not a loss; a
//! form goes back only if it has what it must have, of the kinds it wants.

use countersign_wire::Json;
use countersign_wire::tools::{AskUserQuestionInput, Question};
use serde_json::{Map, Value};

use super::consequence::{Answer, Consequence, Known};
use super::{Asked, decide};
use crate::control::{ControlError, Decide};

/// What the model reads when the person does not want to answer.
const NOT_NOW: &str = "The person does not want to answer this now.";

/// Questions of the agent itself.
pub(super) fn questions(
    asked: &Asked,
    decide: &Decide,
    known: &Known,
) -> Result<Consequence, ControlError> {
    match decide {
        Decide::Answer { answers } => answered(asked, answers),
        Decide::Decline { message } => {
            let message = message.as_deref().filter(|said| !said.trim().is_empty());
            Ok(decide::deny(message.or(Some(NOT_NOW)), false, known))
        }
        Decide::Deny { message, interrupt } => {
            Ok(decide::deny(message.as_deref(), *interrupt, known))
        }
        Decide::Allow { .. } | Decide::Plan(_) => Err(ControlError::invalid(
            "these are questions: decide `answer` with the answers, or `decline`",
        )),
    }
}

fn answered(asked: &Asked, answers: &Value) -> Result<Consequence, ControlError> {
    let input: AskUserQuestionInput = Json::from(asked.input.clone()).to().map_err(|error| {
        ControlError::invalid(format!(
            "the questions cannot be read ({error}): decline them"
        ))
    })?;
    let given = answers
        .as_object()
        .filter(|given| !given.is_empty())
        .ok_or_else(|| {
            ControlError::invalid(
                "`answers` must be an object with at least one answer, by the text of its question; `decline` says none",
            )
        })?;
    let mut written = Map::new();
    for (text, answer) in given {
        let question = input.questions.iter().find(|asked| asked.question == *text);
        let question = question.ok_or_else(|| {
            ControlError::invalid(format!(
                "`{text}` was not asked: use the text of a question as it stands"
            ))
        })?;
        written.insert(text.clone(), Value::from(one(question, answer)?));
    }
    // The whole input goes back: newer CLIs refuse answers without the questions.
    let mut filled = asked.input.as_object().cloned().unwrap_or_default();
    filled.insert("answers".to_owned(), Value::Object(written));
    let answer = Answer::Allow {
        input: Some(Value::Object(filled)),
        updates: Vec::new(),
    };
    Ok(Consequence::of(answer, "answered"))
}

/// One answer, as the CLI takes it: a label, several joined, or one's own words.
fn one(question: &Question, answer: &Value) -> Result<String, ControlError> {
    let text = &question.question;
    let bad = || {
        ControlError::invalid(format!(
            "the answer to `{text}` must be a text, or a list of options where several may be chosen"
        ))
    };
    let said = match answer {
        Value::String(said) => said.clone(),
        Value::Array(labels) => {
            let labels: Option<Vec<&str>> = labels.iter().map(Value::as_str).collect();
            let labels = labels.ok_or_else(bad)?;
            if labels.len() > 1 && !question.multi_select {
                return Err(ControlError::invalid(format!(
                    "`{text}` takes one answer: choose one"
                )));
            }
            labels.join(", ")
        }
        _ => return Err(bad()),
    };
    match said.trim() {
        "" => Err(bad()),
        _ => Ok(said),
    }
}

/// A form, or a web page, of an MCP server.
pub(super) fn elicitation(asked: &Asked, decide: &Decide) -> Result<Consequence, ControlError> {
    match decide {
        Decide::Answer { answers } => {
            let content = match asked.input.get("mode").and_then(Value::as_str) {
                Some("url") => None,
                _ => Some(filled_in(asked, answers)?),
            };
            Ok(Consequence::of(Answer::Accept { content }, "answered"))
        }
        Decide::Decline { .. }
        | Decide::Deny {
            interrupt: false, ..
        } => Ok(Consequence::of(Answer::Decline, "declined")),
        Decide::Deny {
            interrupt: true, ..
        } => Err(ControlError::invalid(
            "a form cannot end the turn: decline it, and interrupt the session",
        )),
        Decide::Allow { .. } | Decide::Plan(_) => Err(ControlError::invalid(
            "this is a form: decide `answer` with its values, or `decline`",
        )),
    }
}

/// The values, if they are what the form wants.
fn filled_in(asked: &Asked, values: &Value) -> Result<Value, ControlError> {
    let given = values.as_object().ok_or_else(|| {
        ControlError::invalid("`answers` must be an object with the values of the form")
    })?;
    let schema = asked.input.get("requested_schema");
    let fields = schema.and_then(|schema| schema.get("properties"));
    let required = schema.and_then(|schema| schema.get("required"));
    for name in required.and_then(Value::as_array).into_iter().flatten() {
        let name = name.as_str().unwrap_or_default();
        if given.get(name).is_none_or(Value::is_null) {
            return Err(ControlError::invalid(format!("the form wants `{name}`")));
        }
    }
    let Some(fields) = fields.and_then(Value::as_object) else {
        return Ok(values.clone());
    };
    for (name, value) in given {
        let field = fields
            .get(name)
            .ok_or_else(|| ControlError::invalid(format!("the form has no field `{name}`")))?;
        check(name, field, value)?;
    }
    Ok(values.clone())
}

/// Forms are flat: texts, numbers, yes or no, one of a list, some of a list.
fn check(name: &str, field: &Value, value: &Value) -> Result<(), ControlError> {
    let kind = field.get("type").and_then(Value::as_str);
    let fits = match kind {
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("integer") => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        Some("number") => value.is_number(),
        Some("array") => value.is_array(),
        _ => true,
    };
    if !fits {
        let kind = kind.unwrap_or_default();
        return Err(ControlError::invalid(format!("`{name}` must be: {kind}")));
    }
    let listed = field.get("enum").and_then(Value::as_array);
    if listed.is_some_and(|listed| !listed.contains(value)) {
        return Err(ControlError::invalid(format!(
            "`{name}` must be one of those that the form lists"
        )));
    }
    Ok(())
}
