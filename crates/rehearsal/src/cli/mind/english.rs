//! The English in which the examples of the SDKs ask for tools: "Use the Write tool to …", "Call the mcp__x__y tool with …",
//! "Use the Agent tool with subagent_type 'a', prompt 'b'", "Think about …".
//!
//! Pure. Puts a request into the words that the other rules know, or reads the arguments of a call from it.

use serde_json::{Map, Value, json};

use super::phrase::{self, after, cut, end_of_sentence};
use super::{Deed, Scene, call, fit, plain, plain_value, quote, recognise};
use crate::cli::scenario::{Amend, Delegation, Step};

/// Tools whose requests other rules know by their verbs.
const BY_VERB: &str = "Bash|Edit|Glob|Grep|Read|Write";

/// Beginnings of sentences that ask for no deed of their own.
const ASIDES: &str = ". do not |. don't |. do these |. do this |. use no ";

/// "use the Write tool to create FILE containing TEXT. Do not use any other tool."
pub(super) fn by_verb(text: &str, scene: &Scene<'_>) -> Option<Vec<Deed>> {
    let rest = after(without_asides(text), "use the|using the")?;
    let tool = BY_VERB
        .split('|')
        .find(|tool| after(rest, tool).is_some())?;
    let rest = after(after(rest, tool)?, "tool to")?;
    recognise(rest, scene)
}

/// "call the mcp__x__y tool with a=1", "use the greet tool to greet 'Alice'": a tool of an MCP server.
pub(super) fn mcp_call(text: &str, scene: &Scene<'_>) -> Option<Vec<Deed>> {
    let rest = after(without_asides(text), "call|use|invoke")?;
    let mut deeds = Vec::new();
    for one in several(rest) {
        let one = after(one, "the").unwrap_or(one);
        let end = one.find(char::is_whitespace).unwrap_or(one.len());
        let (named, rest) = one.split_at(end);
        let tool = mcp_tool(named.trim_end_matches(['.', ',', ':']), scene)?;
        let rest = after(rest, "tool").unwrap_or(rest).trim_start();
        let schema = (scene.request.inputs.iter())
            .find(|(name, _)| *name == tool)
            .map_or(Value::Null, |(_, schema)| schema.clone());
        deeds.push(Deed::Call(call(
            &tool,
            plain_value(&arguments(rest, &schema)),
        )));
    }
    Some(deeds)
}

/// The calls of "mcp__a__x with … and mcp__a__y with …".
fn several(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((one, more)) = cut(rest, " and mcp__") {
        parts.push(one);
        rest = &rest[rest.len() - more.len() - "mcp__".len()..];
    }
    parts.push(rest);
    parts
}

/// The tool on offer that is called so, in full or by its last part. One that is named in full need not be on offer: what
/// happens then is worth seeing.
fn mcp_tool(named: &str, scene: &Scene<'_>) -> Option<String> {
    let is_meant = |tool: &&String| {
        let last = tool
            .strip_prefix("mcp__")
            .and_then(|tool| tool.rsplit("__").next());
        tool.as_str() == named || last == Some(named)
    };
    let known = scene.request.inputs.iter().map(|(tool, _)| tool);
    let found = scene.request.tools.iter().chain(known).find(is_meant);
    found
        .cloned()
        .or_else(|| named.starts_with("mcp__").then(|| named.to_owned()))
}

/// What is said to go into a call: JSON, `name='value'` pairs, quoted words for the texts it wants, or whatever fits.
fn arguments(text: &str, schema: &Value) -> Value {
    let with = after(text, "with the input|with input|with arguments|with|on|:").unwrap_or(text);
    if let Some(Ok((input @ Value::Object(_), _))) = quote::leading_json(with) {
        return input;
    }
    let pairs = pairs(with);
    if !pairs.is_empty() {
        return Value::Object(pairs);
    }
    if schema.is_null() {
        return json!({});
    }
    let mut input = fit::fitting(schema, text);
    let mut said = quoted(text).into_iter();
    let wanted = schema["required"].as_array().into_iter().flatten();
    for name in wanted.filter_map(Value::as_str) {
        if schema["properties"][name]["type"] == "string"
            && let Some(word) = said.next()
        {
            input[name] = word.into();
        }
    }
    input
}

/// `a='x' and b=2`, `a 'x', b set to false`: names and values.
fn pairs(text: &str) -> Map<String, Value> {
    let mut found = Map::new();
    let mut rest = text;
    while let Some(part) = next_part(&mut rest) {
        let part = after(part, "and|with").unwrap_or(part);
        let end = part
            .find(|c: char| !(c.is_alphanumeric() || c == '_'))
            .unwrap_or(part.len());
        let (name, value) = part.split_at(end);
        let value = after(value, "set to")
            .unwrap_or_else(|| value.trim_start().trim_start_matches(['=', ':']));
        let is_name = !name.is_empty()
            && (value.starts_with(['\'', '"', '`'])
                || value.trim_start() != value
                || part.contains('='));
        if let (true, Some(value)) = (is_name, literal(value)) {
            found.insert(name.to_owned(), value);
        }
    }
    found
}

/// Takes the text up to the next comma or "and" outside of quotes.
fn next_part<'a>(rest: &mut &'a str) -> Option<&'a str> {
    if rest.trim().is_empty() {
        return None;
    }
    let (part, more) = cut(rest, ", | and ").unwrap_or((rest, ""));
    *rest = more;
    Some(part)
}

fn literal(text: &str) -> Option<Value> {
    let text = text.trim();
    if let Some((inner, _)) = quote::leading(text) {
        return Some(inner.into());
    }
    let word = end_of_sentence(text);
    let value: Value = serde_json::from_str(word).ok()?;
    (value.is_number() || value.is_boolean()).then_some(value)
}

fn quoted(text: &str) -> Vec<&str> {
    let spans = quote::spans(text).into_iter();
    spans
        .filter_map(|span| quote::leading(&text[span]).map(|(inner, _)| inner))
        .collect()
}

/// "use the Agent tool once with subagent_type 'greeter', prompt 'say hi', and run_in_background set to false".
pub(super) fn agent_call(text: &str, scene: &Scene<'_>) -> Option<Vec<Deed>> {
    let rest = after(without_asides(text), "use the agent tool|use the task tool")?;
    let rest = after(rest, "exactly once|once").unwrap_or(rest);
    let given = pairs(after(rest, "with")?);
    let said = |name: &str| given.get(name).and_then(Value::as_str);
    let (named, prompt) = (said("subagent_type")?, said("prompt")?);
    let kinds = scene.request.agents.iter();
    let kind = kinds.clone().find(|kind| kind.eq_ignore_ascii_case(named));
    let title = said("description").map_or_else(|| phrase::short(prompt, 5, 40), str::to_owned);
    Some(vec![Deed::Call(Step::Agent(Delegation {
        kind: kind.map_or(named, String::as_str).to_owned(),
        more: json!({"description": plain(&title)}),
        prompt: plain(prompt),
        background: given.get("run_in_background") == Some(&Value::Bool(true)),
        steps: None,
    }))])
}

/// "think of three jokes, then tell one", "think step by step about X".
pub(super) fn thought(text: &str, _: &Scene<'_>) -> Option<Vec<Deed>> {
    let about = after(
        text,
        "think step by step about|think about|think of|think through",
    )?;
    let about = plain(end_of_sentence(about));
    Some(vec![Deed::Talk(vec![
        Step::Think(format!("I think about it: {about}."), Amend::default()),
        super::say(format!("I have thought about it: {about}.")),
    ])])
}

/// The text without the sentences behind it that say how to go about it.
fn without_asides(text: &str) -> &str {
    cut(text, ASIDES).map_or(text, |(request, _)| request)
}
