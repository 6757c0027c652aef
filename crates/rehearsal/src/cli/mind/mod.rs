//! What the model says without a scenario: plain requests, followed by rules.
//!
//! Owns the way from a prompt to steps: `split` finds the requests in it, one file each holds the rules about files,
//! calls and talk, `fit` makes the value a JSON schema asks for. Pure; plays nothing. Invariant: the user's own words are
//! never read as a variable of the scenario, and calls are followed by what the last one reported or that it was refused.

mod ask;
mod calls;
mod english;
mod files;
mod fit;
mod path;
mod phrase;
mod quote;
mod split;
mod talk;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use serde_json::Value;

use super::scenario::{Amend, Calling, Condition, Step};

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

/// The request and what the ones before it in the same prompt were about.
#[derive(Clone, Copy)]
struct Scene<'a> {
    request: &'a Request<'a>,
    /// The last file that was named: "read it back".
    file: Option<&'a str>,
}

type Rule = fn(&str, &Scene<'_>) -> Option<Vec<Deed>>;

/// The first rule that knows a request counts, so narrow ones stand above wide ones.
const RULES: &[Rule] = &[
    talk::lines,
    talk::asked_about,
    talk::shown,
    talk::broken,
    english::by_verb,
    english::agent_call,
    english::mcp_call,
    english::thought,
    files::written,
    files::created,
    files::edited,
    files::replaced,
    calls::listed,
    calls::searched,
    files::read,
    calls::run,
    calls::tool,
    calls::agent,
    calls::plan,
    ask::ask,
    talk::said,
];

/// The steps that a prompt asks for.
pub(in crate::cli) fn follow(request: &Request<'_>) -> Vec<Step> {
    let mut deeds = Vec::new();
    let mut file: Option<String> = None;
    for piece in split::pieces(request) {
        let scene = Scene {
            request,
            file: file.as_deref(),
        };
        let found = recognise(piece, &scene).unwrap_or_default();
        file = found.iter().rev().find_map(file_of).or(file);
        deeds.extend(found);
    }
    if deeds.is_empty() && request.schema.is_none() {
        deeds.push(talk::at_a_loss());
    }
    let mut steps = assemble(&deeds);
    if let Some(schema) = request.schema {
        steps.extend(fit::answer(schema, request.prompt));
    }
    steps
}

/// What a single request comes to, or None if no rule knows it.
fn recognise(piece: &str, scene: &Scene<'_>) -> Option<Vec<Deed>> {
    let words = phrase::without_courtesy(piece);
    if words.is_empty() {
        return None;
    }
    RULES.iter().find_map(|rule| rule(words, scene))
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

fn file_of(deed: &Deed) -> Option<String> {
    let (Deed::Call(Step::Tool(calling)) | Deed::Gate(Step::Tool(calling))) = deed else {
        return None;
    };
    calling.input["file_path"].as_str().map(str::to_owned)
}

impl Scene<'_> {
    fn offers(&self, tool: &str) -> bool {
        self.request.tools.iter().any(|offered| offered == tool)
    }

    /// A call of a tool by its rule's own name, or a word on why not.
    fn use_tool(&self, name: &str, input: Value) -> Deed {
        if self.offers(name) {
            Deed::Call(call(name, input))
        } else {
            Deed::Talk(vec![say(format!(
                "I cannot do that: there is no tool {name} here."
            ))])
        }
    }
}
