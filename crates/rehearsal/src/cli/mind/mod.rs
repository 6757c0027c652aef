//! What the model says without a scenario: plain requests, followed by rules.
//!
//! Owns the way from a prompt to steps: `masked` puts quotations aside, `rules` knows a request by its form, `deeds`
//! says what it comes to. Pure; plays nothing. Invariant: the user's own words are never read as a variable of the scenario, and calls are followed by what the last one reported or that it was refused.

mod deeds;
mod masked;
mod rules;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::Arc;

use masked::Quotes;
use regex::Regex;
use rules::Scene;
use serde_json::Value;

use super::paths::tidy;
use super::scenario::{Amend, Calling, Condition, Step};
use crate::model::fit::fitting;

/// What the model is told and what it can see.
#[derive(Debug, Clone, Copy)]
pub(in crate::cli) struct Request<'a> {
    pub(in crate::cli) prompt: &'a str,
    /// The prompt that began the conversation.
    pub(in crate::cli) first_prompt: &'a str,
    pub(in crate::cli) mode: &'a str,
    pub(in crate::cli) model: &'a str,
    pub(in crate::cli) cwd: &'a str,
    pub(in crate::cli) plan_file: Option<&'a str>,
    /// `--json-schema`, in the main conversation only.
    pub(in crate::cli) schema: Option<&'a Value>,
    /// The tools on offer, `mcp__server__tool` among them.
    pub(in crate::cli) tools: &'a [String],
    /// The tools of MCP servers with the schemas of their inputs.
    pub(in crate::cli) inputs: &'a [(String, Value)],
    pub(in crate::cli) agents: &'a [String],
}

/// What one request comes to.
#[derive(Debug, Clone)]
enum Deed {
    /// Steps that only talk.
    Talk(Vec<Step>),
    /// A call; what comes after it is done in any case.
    Call(Step),
    /// A call without which the rest makes no sense.
    Gate(Step),
}

/// As far as a prompt is read for requests.
const READ: usize = 64 * 1024;
/// What joins two requests on a line.
const JOINTS: &str = r"(?i)(?:[,;.]|, and) then |\. after that(?: completes)?, ";
/// A line whose text may be the lines below.
const OPEN_ENDED: &str = r"(?i)^\W*(?:please )?(?:write|create|save|plan:).*:\s*$";

/// The steps that a prompt asks for.
pub(in crate::cli) fn follow(request: &Request<'_>) -> Vec<Step> {
    let mut end = request.prompt.len().min(READ);
    while !request.prompt.is_char_boundary(end) {
        end -= 1;
    }
    let (quotes, masked) = Quotes::mask(&request.prompt[..end]);
    let scene = Scene {
        request,
        quotes: &quotes,
        // Whether something is a request does not depend on which file it means.
        file: Some("it"),
    };
    let mut deeds = Vec::new();
    let mut file: Option<String> = None;
    for piece in pieces(&masked, &scene) {
        let file_now = file.as_deref();
        let found = rules::recognise(
            piece,
            &Scene {
                file: file_now,
                ..scene
            },
        );
        let found = found.unwrap_or_default();
        file = found.iter().rev().find_map(file_of).or(file);
        deeds.extend(found);
    }
    if deeds.is_empty() && request.schema.is_none() {
        deeds.push(deeds::at_a_loss());
    }
    let mut steps = assemble(&deeds);
    if let Some(schema) = request.schema {
        steps.extend(answer(schema, request.prompt));
    }
    steps
}

/// The requests of a prompt, in order: one a line, or several joined by "then". Some may turn out to be none; a "then" that
/// no request follows is part of the text.
fn pieces<'a>(masked: &'a str, scene: &Scene<'_>) -> Vec<&'a str> {
    let (Ok(joints), Ok(open_ended)) = (Regex::new(JOINTS), Regex::new(OPEN_ENDED)) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let mut rest = masked;
    while !rest.trim().is_empty() {
        let (line, below) = rest.split_once('\n').unwrap_or((rest, ""));
        if open_ended.is_match(line) {
            found.push(rest);
            break;
        }
        let mut start = 0;
        let ends: Vec<(usize, usize)> = (joints.find_iter(line))
            .map(|joint| (joint.start(), joint.end()))
            .collect();
        for (index, (at, end)) in ends.iter().enumerate() {
            let next = ends.get(index + 1).map_or(line.len(), |(next, _)| *next);
            if rules::recognise(&line[*end..next], scene).is_some() {
                found.push(&line[start..*at]);
                start = *end;
            }
        }
        found.push(&line[start..]);
        rest = below;
    }
    found
}

/// The call that gives the answer. An answer that the prompt spells out comes first, whether it fits or not.
fn answer(schema: &Value, prompt: &str) -> Vec<Step> {
    let structured = |value: &Value| call("StructuredOutput", plain_value(value));
    let fitting = structured(&fitting(schema, prompt));
    let Some(spelled) = spelled_out(prompt) else {
        return vec![fitting];
    };
    let again = Step::If {
        condition: Condition::Refused,
        then: [fitting].into(),
        otherwise: [].into(),
    };
    vec![structured(&spelled), again]
}

/// The object after "answer with" or "answer:".
fn spelled_out(prompt: &str) -> Option<Value> {
    let (quotes, masked) = Quotes::mask(prompt);
    let lower = masked.to_ascii_lowercase();
    ["answer with", "answer:"].iter().find_map(|opening| {
        let at = lower.find(opening)? + opening.len();
        match quotes.json(masked.get(at..)?)? {
            Ok(value @ Value::Object(_)) => Some(value),
            _ => None,
        }
    })
}

/// The calls in their order, and one text at the end: what the last one reported, unless something else is said.
fn assemble(deeds: &[Deed]) -> Vec<Step> {
    let mut steps = Vec::new();
    for (index, deed) in deeds.iter().enumerate() {
        let rest = &deeds[index + 1..];
        match deed {
            Deed::Talk(said) => steps.extend(said.iter().cloned()),
            Deed::Call(call) | Deed::Gate(call) => steps.push(call.clone()),
        }
        match deed {
            Deed::Gate(_) if !rest.is_empty() => {
                steps.push(unless_refused(assemble(rest)));
                return steps;
            }
            Deed::Call(_) | Deed::Gate(_) if rest.is_empty() => {
                steps.push(unless_refused(vec![say("${result}".to_owned())]));
            }
            _ => {}
        }
    }
    steps
}

fn unless_refused(otherwise: Vec<Step>) -> Step {
    Step::If {
        condition: Condition::Refused,
        then: Arc::new([say("It was refused: ${result}".to_owned())]),
        otherwise: otherwise.into(),
    }
}

/// A text, which may name variables.
fn say(text: String) -> Step {
    Step::Say(text, Amend::default())
}

/// A text with the user's own words in it.
fn say_plain(text: &str) -> Step {
    say(plain(text))
}

fn call(name: &str, input: Value) -> Step {
    Step::Tool(Calling {
        name: name.to_owned(),
        input,
        gives: None,
        nowait: false,
    })
}

/// The user's words, so that nothing in them is filled in.
fn plain(text: &str) -> String {
    text.replace("${", "$${")
}

fn plain_value(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(plain(text)),
        Value::Array(items) => items.iter().map(plain_value).collect(),
        Value::Object(fields) => fields
            .iter()
            .map(|(key, field)| (key.clone(), plain_value(field)))
            .collect(),
        other => other.clone(),
    }
}

/// The absolute path that a file's name means in a folder.
fn absolute(cwd: &str, file: &str) -> String {
    match file.strip_prefix("~/") {
        Some(rest) => format!("${{home}}/{}", plain(rest)),
        None => plain(&tidy(&Path::new(cwd).join(file)).to_string_lossy()),
    }
}

fn file_of(deed: &Deed) -> Option<String> {
    let (Deed::Call(Step::Tool(calling)) | Deed::Gate(Step::Tool(calling))) = deed else {
        return None;
    };
    calling.input["file_path"].as_str().map(str::to_owned)
}

/// The first words, for a title.
fn short(text: &str, words: usize, letters: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().take(words).collect();
    let line: String = words.join(" ").chars().take(letters).collect();
    line.trim_end().to_owned()
}
