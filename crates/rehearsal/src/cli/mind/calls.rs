//! Requests for calls: a command, a tool or an agent by its name, a search, a plan.

use serde_json::{Value, json};

use super::phrase::{self, after, content, cut, cut_last, end_of_sentence, name, short};
use super::{Deed, Scene, call, path, plain, plain_value, quote, say, say_plain};
use crate::cli::scenario::{Delegation, Step};

const BACKGROUND: &str = " in the background";

/// "run `COMMAND`", "run this command: COMMAND", with "in the background" behind it.
pub(super) fn run(text: &str, scene: &Scene<'_>) -> Option<Vec<Deed>> {
    const FORMS: &str = "run this command:|run this command|run the command:|run the command|\
        run this bash command:|run the bash command:|run command|run:|run|execute:|execute|use bash to run|\
        use the bash tool to run";
    let rest = after(text, FORMS)?;
    if let Some((inner, follows)) = quote::leading(rest)
        && !continues(follows)
    {
        let background = after(follows, BACKGROUND.trim()).is_some();
        return Some(vec![bash(scene, inner.trim(), background)]);
    }
    let (command, background) = match cut_last(rest, BACKGROUND) {
        Some((command, end)) if phrase::is_ending(end) => (command, true),
        _ => (end_of_sentence(rest), false),
    };
    let prose = after(command, "the|a|an|my|your|all|it|this|that");
    if command.is_empty() || prose.is_some() {
        return None;
    }
    Some(vec![bash(scene, command, background)])
}

/// A quoted word with more of the command behind it: `"my program" --flag`.
fn continues(follows: &str) -> bool {
    let about = after(follows.trim_start(), "in the background|for me|please");
    !phrase::is_ending(follows) && about.is_none()
}

fn bash(scene: &Scene<'_>, command: &str, background: bool) -> Deed {
    let title = short(command, 8, 60);
    let mut input =
        json!({"command": plain(command), "description": plain(&format!("Run {title}"))});
    if background {
        input["run_in_background"] = Value::Bool(true);
    }
    scene.use_tool("Bash", input)
}

/// "use the tool NAME with {JSON}".
pub(super) fn tool(text: &str, scene: &Scene<'_>) -> Option<Vec<Deed>> {
    let (named, rest) = by_name(text, "tool|mcp tool")?;
    let rest = after(rest, "with the input|with input|with arguments|with|on|:").unwrap_or(rest);
    let input = match quote::leading_json(rest) {
        Some(Ok((input @ Value::Object(_), _))) => plain_value(&input),
        Some(Ok(_)) => return Some(vec![unclear("it is no object")]),
        Some(Err(error)) => return Some(vec![unclear(&error.to_string())]),
        None if phrase::is_ending(rest) => json!({}),
        None => return None,
    };
    // Also one that is not on offer: what happens then is worth seeing.
    let offered = scene
        .request
        .tools
        .iter()
        .find(|tool| tool.eq_ignore_ascii_case(named));
    Some(vec![Deed::Call(call(
        offered.map_or(named, String::as_str),
        input,
    ))])
}

fn unclear(reason: &str) -> Deed {
    Deed::Talk(vec![say_plain(&format!(
        "I cannot read the input of that tool as JSON: {reason}."
    ))])
}

/// "use the agent NAME to PROMPT", "in the background" before or after the prompt.
pub(super) fn agent(text: &str, scene: &Scene<'_>) -> Option<Vec<Deed>> {
    let (named, rest) = by_name(text, "agent|sub-agent|subagent")?;
    let early = after(rest, "in the background");
    let prompt = after(early.unwrap_or(rest), "to|:")?;
    let (prompt, background) = match cut_last(prompt, BACKGROUND) {
        Some((prompt, end)) if early.is_none() && phrase::is_ending(end) => (prompt, true),
        _ => (prompt, early.is_some()),
    };
    let prompt = content(prompt);
    if prompt.is_empty() {
        return None;
    }
    let known = scene
        .request
        .agents
        .iter()
        .find(|agent| agent.eq_ignore_ascii_case(named));
    Some(vec![Deed::Call(Step::Agent(Delegation {
        kind: known.map_or(named, String::as_str).to_owned(),
        more: json!({"description": plain(&short(&prompt, 5, 40))}),
        prompt: plain(&prompt),
        background,
        steps: None,
    }))])
}

/// "use the tool NAME …" and "use the NAME tool …": the name and what follows.
fn by_name<'a>(text: &'a str, kinds: &str) -> Option<(&'a str, &'a str)> {
    let rest = after(text, "use|call|ask|start|invoke")?;
    let the = after(rest, "the|an|a");
    if let Some(rest) = after(the.unwrap_or(rest), kinds) {
        return word(after(rest, "called|named").unwrap_or(rest));
    }
    let (named, rest) = word(the?)?;
    after(rest, kinds).map(|rest| (named, rest))
}

fn word(text: &str) -> Option<(&str, &str)> {
    let (word, rest) = match quote::leading(text) {
        Some((inner, rest)) => (inner.trim(), rest),
        None => text.split_at(text.find(char::is_whitespace).unwrap_or(text.len())),
    };
    let word = word.trim_end_matches([':', ',', '.']);
    let is_name = |c: char| c.is_alphanumeric() || "_-.:/@".contains(c);
    let whole = !word.is_empty() && word.chars().all(is_name);
    whole.then(|| (word, rest.trim_start()))
}

/// "search for X", "search for X in PATH".
pub(super) fn searched(text: &str, scene: &Scene<'_>) -> Option<Vec<Deed>> {
    let rest = after(text, "search for|search|grep for|grep")?;
    let (pattern, place) = match cut(rest, " in ") {
        Some((pattern, place)) => (pattern, Some(name(place)).filter(|place| !is_here(place))),
        None => (rest, None),
    };
    let pattern = name(pattern);
    if pattern.is_empty() {
        return None;
    }
    if scene.offers("Grep") {
        let mut input = json!({"pattern": plain(pattern), "output_mode": "content"});
        if let Some(place) = place {
            input["path"] = path::absolute(scene.request.cwd, place).into();
        }
        return Some(vec![scene.use_tool("Grep", input)]);
    }
    let place = quoted_for_shell(place.unwrap_or("."));
    let command = format!("grep -rn -- {} {place}", quoted_for_shell(pattern));
    Some(vec![bash(scene, &command, false)])
}

fn is_here(place: &str) -> bool {
    let here = "here|this folder|this directory|the project|the files|all files";
    phrase::is_one_of(place, here)
}

fn quoted_for_shell(text: &str) -> String {
    let safe = |c: char| c.is_ascii_alphanumeric() || "._-/".contains(c);
    if text.chars().all(safe) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// "list files".
pub(super) fn listed(text: &str, scene: &Scene<'_>) -> Option<Vec<Deed>> {
    let rest = after(
        text,
        "list the files|list all files|list files|list all the files|show the files|show files|\
            what files are there|which files are there|what files are",
    )?;
    let here = "here|in here|in this folder|in this directory|in the current directory";
    if !phrase::is_ending(rest) && !phrase::is_one_of(rest, here) {
        return None;
    }
    let deed = if scene.offers("Glob") {
        scene.use_tool("Glob", json!({"pattern": "**/*"}))
    } else {
        bash(scene, "ls", false)
    };
    Some(vec![deed])
}

/// "plan: TEXT": the plan file is written and the plan put before the user; the rest waits for their word.
pub(super) fn plan(text: &str, scene: &Scene<'_>) -> Option<Vec<Deed>> {
    let said = after(
        text,
        "plan:|make a plan:|make a plan to|make a plan for|plan how to",
    )?;
    let said = content(said);
    if said.is_empty() {
        return None;
    }
    if !scene.offers("ExitPlanMode") {
        let text = "I cannot put a plan before you: nobody can approve one here.";
        return Some(vec![Deed::Talk(vec![say(text.to_owned())])]);
    }
    let mut deeds = Vec::new();
    if scene.request.mode != "plan" {
        deeds.push(Deed::Gate(call("EnterPlanMode", json!({}))));
    }
    // Outside of plan mode the file has its name only once the mode is entered.
    let file = scene
        .request
        .plan_file
        .map_or_else(|| "${plan_file}".to_owned(), plain);
    let input = json!({"file_path": file, "content": plain(&said)});
    deeds.push(Deed::Gate(call("Write", input)));
    deeds.push(Deed::Gate(call("ExitPlanMode", json!({}))));
    Some(deeds)
}
