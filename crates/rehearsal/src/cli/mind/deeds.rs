//! What requests come to once a rule has found their parts: calls, talk, questions, plans.

use std::time::Duration;

use regex::Regex;
use serde_json::{Map, Value, json};

use super::masked::{Quotes, end_of_sentence, is_ending};
use super::rules::{Found, QUOTED, Scene};
use super::{Deed, call, plain, plain_value, say, say_plain, short};
use crate::cli::scenario::{Amend, Delegation, Step};
use crate::cli::words::capitalised;
use crate::model::fit::fitting;

/// Time between two pieces of what is counted slowly.
const SLOWLY: Duration = Duration::from_millis(50);
/// Nobody waits for more lines or numbers, or longer.
const MOST: u64 = 100_000;
const LONGEST_WAIT: Duration = Duration::from_secs(600);

pub(super) fn talk(text: String) -> Option<Vec<Deed>> {
    Some(vec![Deed::Talk(vec![say(text)])])
}

/// What is said to a request that no rule knows.
pub(super) fn at_a_loss() -> Deed {
    let text = "Hello! I follow plain requests: try \"run `ls`\", \"write hello.txt: Hello\", \"read hello.txt\", \
        \"ask me which colour: red or blue\" or \"plan: tidy up\". I can also edit a file, use a tool or an agent by its name, \
        and search; put several requests on lines of their own.";
    Deed::Talk(vec![say(text.to_owned())])
}

pub(super) fn number(found: &Found<'_>) -> Option<u64> {
    let number: u64 = found.text("n").parse().ok()?;
    Some(number.min(MOST))
}

pub(super) fn numbered(count: u64) -> String {
    const LINES: [&str; 4] = [
        "A small tool was given a large task.",
        "It asked before it touched anything, and wrote down what it was told.",
        "Some things were allowed and some were not, and both were worth knowing.",
        "In the end the task was done and everyone could see how.",
    ];
    let line = |number: u64| format!("{number}. {}", LINES[(number % 4) as usize]);
    (1..=count).map(line).collect::<Vec<_>>().join("\n")
}

/// "what did I say first?", "which model?" and others.
pub(super) fn asked_about(found: &Found<'_>, scene: &Scene<'_>) -> Option<Vec<Deed>> {
    let request = scene.request;
    let question = found
        .text("all")
        .trim_end_matches(['?', '.', '!'])
        .to_lowercase();
    talk(match question.as_str() {
        "did i say first" | "did i say" | "was my first message" => plain(request.first_prompt),
        "did i ask you to remember"
        | "did i tell you to remember"
        | "do you remember"
        | "word"
        | "is the word"
        | "was the word" => plain(&remembered(request.first_prompt)),
        "your tools" | "tools" | "tools do you have" => plain(&request.tools.join("\n")),
        "your agents" | "agents" | "agents do you have" => plain(&request.agents.join("\n")),
        "model" | "model are you" => plain(request.model),
        // A request before this one may have changed it.
        "mode" | "permission mode" => "${mode}".to_owned(),
        "are you" | "folder" | "directory" => plain(request.cwd),
        _ => return None,
    })
}

/// The word that the first prompt asked to remember.
fn remembered(first_prompt: &str) -> String {
    let (quotes, masked) = Quotes::mask(first_prompt);
    let openings = [
        "remember the word ",
        "remember that ",
        "remember: ",
        "remember ",
    ];
    let lower = masked.to_ascii_lowercase();
    let found = openings.iter().find_map(|opening| {
        let at = lower.find(opening)?;
        masked.get(at + opening.len()..)
    });
    found.map_or_else(|| first_prompt.to_owned(), |word| quotes.name(word))
}

pub(super) fn thought(found: &Found<'_>, scene: &Scene<'_>) -> Option<Vec<Deed>> {
    let about = scene.quotes.raw(end_of_sentence(found.text("all")));
    let about = plain(&about);
    let thought = format!("They want me to think about {about}. What speaks for it, what against?");
    Some(vec![Deed::Talk(vec![
        Step::Think(thought, Amend::default()),
        say(format!("I thought about {about}.")),
    ])])
}

pub(super) fn counted(found: &Found<'_>, _: &Scene<'_>) -> Option<Vec<Deed>> {
    let numbers: Vec<String> = (1..=number(found)?)
        .map(|number| number.to_string())
        .collect();
    let text = say(numbers.join(" "));
    Some(vec![Deed::Talk(match found.has("slowly") {
        true => vec![Step::Pace(SLOWLY), text, Step::Pace(Duration::ZERO)],
        false => vec![text],
    })])
}

/// `2s`, `200ms`, `2 seconds`, `1 minute`.
pub(super) fn waited(found: &Found<'_>, _: &Scene<'_>) -> Option<Vec<Deed>> {
    let amount = number(found)?;
    let pause = match found.text("unit").to_ascii_lowercase().as_str() {
        "ms" | "milliseconds" => Duration::from_millis(amount),
        "s" | "second" | "seconds" | "" => Duration::from_secs(amount),
        "m" | "minute" | "minutes" => Duration::from_secs(amount * 60),
        _ => return None,
    };
    Some(vec![Deed::Talk(vec![
        Step::Pause(pause.min(LONGEST_WAIT)),
        say("I waited.".to_owned()),
    ])])
}

pub(super) fn failed(found: &Found<'_>, scene: &Scene<'_>) -> Option<Vec<Deed>> {
    let status = found.text("n").parse().ok()?;
    let reason = found.text("reason");
    let usual = match status {
        400 => "The request is not valid",
        401 => "The key is not valid",
        429 => "Too many requests",
        529 => "Overloaded",
        _ => "Internal server error",
    };
    let text = match is_ending(reason) {
        true => usual.to_owned(),
        false => plain(&scene.quotes.content(reason)),
    };
    Some(vec![Deed::Talk(vec![Step::Fail { status, text }])])
}

pub(super) fn written(found: &Found<'_>, scene: &Scene<'_>) -> Option<Vec<Deed>> {
    let content = plain(&scene.quotes.content(found.text("content")));
    let input = json!({"file_path": scene.file_of(found)?, "content": content});
    Some(vec![scene.use_tool("Write", input)])
}

/// Reads first, as the tool demands, and changes only what could be read.
pub(super) fn edited(found: &Found<'_>, scene: &Scene<'_>) -> Option<Vec<Deed>> {
    let file = scene.file_of(found)?;
    let text = |name| plain(&scene.quotes.content(found.text(name)));
    let mut input = json!({
        "file_path": file, "old_string": text("old"), "new_string": text("new"),
    });
    if found.has("everywhere") || found.has("each") {
        input["replace_all"] = Value::Bool(true);
    }
    let mut deeds = Vec::new();
    if let Deed::Call(read) = scene.use_tool("Read", json!({"file_path": file})) {
        deeds.push(Deed::Gate(read));
    }
    deeds.push(scene.use_tool("Edit", input));
    Some(deeds)
}

pub(super) fn read(found: &Found<'_>, scene: &Scene<'_>) -> Option<Vec<Deed>> {
    let input = json!({"file_path": scene.file_of(found)?});
    Some(vec![scene.use_tool("Read", input)])
}

pub(super) fn searched(found: &Found<'_>, scene: &Scene<'_>) -> Option<Vec<Deed>> {
    let pattern = scene.quotes.name(found.text("what"));
    let place = found
        .has("place")
        .then(|| scene.quotes.name(found.text("place")));
    let place =
        place.filter(|place| !matches!(place.as_str(), "here" | "this folder" | "the project"));
    let quoted = |text: &str| {
        let safe = |c: char| c.is_ascii_alphanumeric() || "._-/".contains(c);
        match text.chars().all(safe) {
            true => text.to_owned(),
            false => format!("'{}'", text.replace('\'', "'\\''")),
        }
    };
    let place = quoted(place.as_deref().unwrap_or("."));
    let command = format!("grep -rn -- {} {place}", quoted(&pattern));
    Some(vec![bash(scene, &command, false)])
}

/// "run `COMMAND`", with "in the background" behind it.
pub(super) fn run(found: &Found<'_>, scene: &Scene<'_>) -> Option<Vec<Deed>> {
    const BACKGROUND: &str = " in the background";
    let text = end_of_sentence(found.text("all"));
    let cut = text.len().saturating_sub(BACKGROUND.len());
    let is_background = |end: &str| end.eq_ignore_ascii_case(BACKGROUND);
    let background = text.get(cut..).is_some_and(is_background);
    let text = if background { &text[..cut] } else { text };
    let command = match scene.quotes.leading(text) {
        Some((inner, rest)) if is_ending(rest) || rest.trim() == "for me" => {
            inner.trim().to_owned()
        }
        _ => scene.quotes.raw(text),
    };
    let first = text.split_whitespace().next()?.to_ascii_lowercase();
    let is_prose = "the a an my your all it this that"
        .split(' ')
        .any(|word| word == first);
    (!is_prose).then(|| vec![bash(scene, &command, background)])
}

pub(super) fn bash(scene: &Scene<'_>, command: &str, background: bool) -> Deed {
    let title = short(command, 8, 60);
    let mut input =
        json!({"command": plain(command), "description": plain(&format!("Run {title}"))});
    if background {
        input["run_in_background"] = Value::Bool(true);
    }
    scene.use_tool("Bash", input)
}

/// The name that stands before or after the word for what it names.
fn named(found: &Found<'_>, scene: &Scene<'_>) -> Option<String> {
    let masked = format!("{}{}", found.text("before"), found.text("after"));
    let name = scene.quotes.name(&masked);
    let name = name.trim_end_matches([':', ',', '.']);
    let is_name = |c: char| c.is_alphanumeric() || "_-.:/@".contains(c);
    (!name.is_empty() && name.chars().all(is_name)).then(|| name.to_owned())
}

/// The one of the names that is meant, whatever its case; the word itself if it is none of them.
fn known(names: &[String], word: &str) -> String {
    let found = names.iter().find(|name| name.eq_ignore_ascii_case(word));
    found.map_or(word, String::as_str).to_owned()
}

/// "use the tool NAME with {JSON}". Also one that is not on offer: what happens then is worth seeing.
pub(super) fn tool(found: &Found<'_>, scene: &Scene<'_>) -> Option<Vec<Deed>> {
    let name = known(scene.request.tools, &named(found, scene)?);
    let unclear = |reason: &str| {
        Some(vec![Deed::Talk(vec![say_plain(&format!(
            "I cannot read the input of that tool as JSON: {reason}."
        ))])])
    };
    let input = match scene.quotes.json(found.text("input")) {
        Some(Ok(input @ Value::Object(_))) => plain_value(&input),
        Some(Ok(_)) => return unclear("it is no object"),
        Some(Err(error)) => return unclear(&error.to_string()),
        None if is_ending(found.text("input")) => json!({}),
        None => return None,
    };
    Some(vec![Deed::Call(call(&name, input))])
}

/// "use the agent NAME to PROMPT", "in the background" before or after the prompt.
pub(super) fn agent(found: &Found<'_>, scene: &Scene<'_>) -> Option<Vec<Deed>> {
    let kind = known(scene.request.agents, &named(found, scene)?);
    let prompt = scene.quotes.content(found.text("prompt"));
    let background = found.has("early") || found.has("late");
    Some(vec![delegation(
        kind,
        &prompt,
        &short(&prompt, 5, 40),
        background,
    )])
}

fn delegation(kind: String, prompt: &str, title: &str, background: bool) -> Deed {
    Deed::Call(Step::Agent(Delegation {
        kind,
        more: json!({"description": plain(title)}),
        prompt: plain(prompt),
        background,
        steps: None,
    }))
}

/// "use the Agent tool once with subagent_type 'greeter', prompt 'say hi', and run_in_background set to false".
pub(super) fn agent_call(found: &Found<'_>, scene: &Scene<'_>) -> Option<Vec<Deed>> {
    let given = pairs(without_asides(found.text("rest")), scene.quotes);
    let said = |name: &str| given.get(name).and_then(Value::as_str);
    let kind = known(scene.request.agents, said("subagent_type")?);
    let prompt = said("prompt")?;
    let title = said("description").map_or_else(|| short(prompt, 5, 40), str::to_owned);
    let background = given.get("run_in_background") == Some(&Value::Bool(true));
    Some(vec![delegation(kind, prompt, &title, background)])
}

/// "call the mcp__x__y tool with a=1 and mcp__x__z with b=2", "use the greet tool to greet 'Alice'".
pub(super) fn mcp_calls(found: &Found<'_>, scene: &Scene<'_>) -> Option<Vec<Deed>> {
    let text = without_asides(found.text("all"));
    let mut deeds = Vec::new();
    for one in text.replace(" and mcp__", "\u{0}mcp__").split('\u{0}') {
        let (named, rest) = one.split_once(char::is_whitespace).unwrap_or((one, ""));
        let named = named.trim_end_matches(['.', ',', ':']);
        let inputs = scene.request.inputs.iter();
        let is_meant = |tool: &str| {
            let last = tool
                .strip_prefix("mcp__")
                .and_then(|tool| tool.rsplit("__").next());
            tool == named || last == Some(named)
        };
        let mut tools = scene
            .request
            .tools
            .iter()
            .chain(inputs.clone().map(|(tool, _)| tool));
        let tool = match tools.find(|tool| is_meant(tool)) {
            Some(tool) => tool.clone(),
            // Also one that is not on offer: what happens then is worth seeing.
            None => Some(named.to_owned()).filter(|named| named.starts_with("mcp__"))?,
        };
        let schema = inputs.clone().find(|(name, _)| *name == tool);
        let input = arguments(rest, schema.map(|(_, schema)| schema), scene.quotes);
        deeds.push(Deed::Call(call(&tool, plain_value(&input))));
    }
    Some(deeds)
}

/// What is said to go into a call: JSON, `name='value'` pairs, quoted words for the texts it wants, or whatever fits.
fn arguments(text: &str, schema: Option<&Value>, quotes: &Quotes) -> Value {
    let text = text.trim();
    let text = text.strip_prefix("tool").unwrap_or(text).trim_start();
    let with = [
        "with the input ",
        "with input ",
        "with arguments ",
        "with ",
        "on ",
    ];
    let given = with.iter().find_map(|with| text.strip_prefix(with));
    let given = given.unwrap_or(text);
    if let Some(Ok(input @ Value::Object(_))) = quotes.json(given) {
        return input;
    }
    let pairs = pairs(given, quotes);
    let Some(schema) = schema.filter(|_| pairs.is_empty()) else {
        return Value::Object(pairs);
    };
    let mut input = fitting(schema, &quotes.raw(text));
    let mut said = text
        .char_indices()
        .filter_map(|(at, _)| quotes.leading(&text[at..]));
    let required = schema["required"].as_array().into_iter().flatten();
    for name in required.filter_map(Value::as_str) {
        if schema["properties"][name]["type"] == "string"
            && let Some((word, _)) = said.next()
        {
            input[name] = word.into();
        }
    }
    input
}

/// `a='x' and b=2`, `a 'x', b set to false`: names and values.
fn pairs(text: &str, quotes: &Quotes) -> Map<String, Value> {
    let Ok(pair) = Regex::new(&format!(
        r"(?:^|,\s*|\band\s+|\bwith\s+)(?:and\s+)?(\w+)(?:\s*[=:]\s*| set to |\s+)({QUOTED}|true\b|false\b|-?[0-9]+(?:\.[0-9]+)?\b)"
    )) else {
        return Map::new();
    };
    let found = pair.captures_iter(text);
    let found = found.filter_map(|found| {
        let value = match quotes.leading(&found[2]) {
            Some((inner, _)) => inner.into(),
            None => serde_json::from_str(&found[2]).ok()?,
        };
        Some((found[1].to_owned(), value))
    });
    found.collect()
}

/// The text without the sentences behind it that say how to go about it.
pub(super) fn without_asides(text: &str) -> &str {
    let lower = text.to_ascii_lowercase();
    let asides = [
        ". do not ",
        ". don't ",
        ". do these ",
        ". do this ",
        ". use no ",
    ];
    let cut = asides.iter().filter_map(|aside| lower.find(aside)).min();
    &text[..cut.unwrap_or(text.len())]
}

/// "plan: TEXT": the plan file is written and the plan put before the user; the rest waits for their word.
pub(super) fn plan(found: &Found<'_>, scene: &Scene<'_>) -> Option<Vec<Deed>> {
    if !scene.offers("ExitPlanMode") {
        return talk("I cannot put a plan before you: nobody can approve one here.".to_owned());
    }
    let mut deeds = Vec::new();
    if scene.request.mode != "plan" {
        deeds.push(Deed::Gate(call("EnterPlanMode", json!({}))));
    }
    // Outside of plan mode the file has its name only once the mode is entered.
    let file = scene.request.plan_file;
    let file = file.map_or_else(|| "${plan_file}".to_owned(), plain);
    let content = plain(&scene.quotes.content(found.text("all")));
    let input = json!({"file_path": file, "content": content});
    deeds.push(Deed::Gate(call("Write", input)));
    deeds.push(Deed::Gate(call("ExitPlanMode", json!({}))));
    Some(deeds)
}

/// "ask me QUESTION: A or B": a question with at most four options, and a header of at most twelve letters.
pub(super) fn ask(found: &Found<'_>, scene: &Scene<'_>) -> Option<Vec<Deed>> {
    let text = end_of_sentence(found.text("all"));
    let bare = text.strip_suffix("(several)");
    let (text, several) = (bare.unwrap_or(text).trim_end(), bare.is_some());
    let (question, options) = text
        .rsplit_once(": ")
        .or_else(|| text.rsplit_once("? "))
        .unwrap_or((text, "Yes or No"));
    let question = scene.quotes.content(question);
    let question = question.trim_end_matches(['?', '.', ':', ',']);
    let options = options
        .trim_end_matches('?')
        .replace(", or ", ", ")
        .replace(" or ", ", ");
    let options: Vec<Value> = (options.split(", "))
        .map(|label| scene.quotes.name(label))
        .filter(|label| !label.is_empty())
        .take(4)
        .map(|label| json!({"label": plain(&label), "description": plain(&format!("Choose {label}"))}))
        .collect();
    let words = question.split_whitespace().rev();
    let mut words = words.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    let header = words.find(|word| (3..=12).contains(&word.chars().count()));
    let header = header.map_or_else(|| short(question, 2, 12), capitalised);
    let input = json!({"questions": [{
        "question": plain(&format!("{}?", capitalised(question))),
        "header": plain(&header),
        "options": options,
        "multiSelect": several,
    }]});
    Some(vec![scene.use_tool("AskUserQuestion", input)]).filter(|_| !question.is_empty())
}
