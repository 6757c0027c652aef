//! What a single request comes to: its opening words and the form of the rest, rule by rule.
//!
//! A narrow rule stands above a wide one: the first that knows a request counts. A rule is an expression for what follows
//! one of its openings; `FILE`, `WITH` and `QUOTED` in it stand for a file's name,
//! the words before its content, and a quotation.

use std::sync::LazyLock;
use std::time::Duration;

use regex::{Captures, Regex};
use serde_json::{Map, Value, json};

use super::masked::{Quotes, end_of_sentence, is_ending};
use super::{Deed, Request, call, fit, path, plain, plain_value, say, say_plain, short};
use crate::cli::scenario::{Amend, Delegation, Step};

/// Time between two pieces of what is counted slowly.
const SLOWLY: Duration = Duration::from_millis(50);
/// Nobody waits for more lines or numbers, or longer.
const MOST: u64 = 100_000;
const LONGEST_WAIT: Duration = Duration::from_secs(600);
const STORY: u64 = 200;

/// What stands around a request: who asks, its quotations, and the file that was named last.
#[derive(Clone, Copy)]
pub(super) struct Scene<'a> {
    pub(super) request: &'a Request<'a>,
    pub(super) quotes: &'a Quotes,
    pub(super) file: Option<&'a str>,
}

/// The parts of a request that an expression found.
struct Found<'a>(Captures<'a>);

impl<'a> Found<'a> {
    fn text(&self, name: &str) -> &'a str {
        self.0.name(name).map_or("", |part| part.as_str().trim())
    }

    fn has(&self, name: &str) -> bool {
        self.0.name(name).is_some()
    }
}

type Handler = fn(&Found<'_>, &Scene<'_>) -> Option<Vec<Deed>>;

/// Openings with `|` between them, the form of what follows, and what it comes to.
const RULES: &[(&str, &str, Handler)] = &[
    (
        "tell me a story|tell me a long story|write a long text|write a long story",
        "$",
        |_, _| talk(numbered(STORY)),
    ),
    (
        "write|say|give me|print",
        r"(?P<n>\d+) lines?$",
        |found, _| talk(numbered(number(found)?)),
    ),
    ("what|which|where|list", ".*", asked_about),
    (
        "remember the word|remember that|remember",
        ".+",
        |found, scene| {
            let memory = scene.quotes.name(found.text("all"));
            talk(format!("I will remember: {}", plain(&memory)))
        },
    ),
    (
        "think hard about|think about|think step by step about|think of|think through|think",
        ".+",
        thought,
    ),
    (
        "count to|count up to|count from 1 to",
        r"(?P<n>\d+)(?P<slowly>(?: very)? slowly)?$",
        counted,
    ),
    (
        "wait for|wait|sleep for|sleep",
        r"(?P<n>\d+) ?(?P<unit>[a-z]*)$",
        waited,
    ),
    (
        "fail with status|fail with|fail",
        r"(?P<n>\d+)[:,]?(?P<reason>.*)",
        failed,
    ),
    (
        "use the|using the",
        r"(?:Bash|Edit|Glob|Grep|Read|Write) tool to (?P<rest>.+)",
        |found, scene| recognise(without_asides(found.text("rest")), scene),
    ),
    (
        "use the agent tool|use the task tool",
        r"(?:exactly )?(?:once )?with (?P<rest>.+)",
        agent_call,
    ),
    ("call the|call|use the|use|invoke", ".+", mcp_calls),
    (
        "write|save|put",
        r"(?P<content>QUOTED) (?:to|into|in) FILE$",
        written,
    ),
    (
        "write|save|put|create|make|add",
        r"FILE: ?(?P<content>.*)",
        written,
    ),
    ("create", r"FILE WITH (?P<content>.+)", written),
    (
        "write|save|put|make|add",
        r"FILE WITH (?P<sure>)(?P<content>.+)",
        written,
    ),
    ("create|make|add", r"FILE(?P<sure>)(?P<content>)$", written),
    (
        "write|save|put",
        r"(?P<content>.+) (?:to|into) FILE(?P<sure>)$",
        written,
    ),
    (
        "edit|change|update|in",
        r"FILE[:,]? (?:replace|change) (?P<each>all |every |each )?(?P<old>.+?) (?:with|by|to) (?P<new>.+?)(?P<everywhere> everywhere)?$",
        edited,
    ),
    (
        "replace",
        r"(?P<each>all |every |each )?(?P<old>.+?) (?:with|by|to) (?P<new>.+) in FILE$",
        edited,
    ),
    (
        "list the files|list all files|list files|show the files|show files",
        r"(?:here|in here|in this folder|in this directory|in the current directory)?$",
        |_, scene| {
            Some(vec![match scene.offers("Glob") {
                true => scene.use_tool("Glob", json!({"pattern": "**/*"})),
                false => bash(scene, "ls", false),
            }])
        },
    ),
    (
        "search for|search|grep for|grep",
        r"(?P<what>.+?)(?: in (?P<place>.+))?$",
        searched,
    ),
    (
        "read|show me|show|open|print|what is in|what's in",
        r"(?:it|the file|that file)(?: back| again)?$",
        |_, scene| {
            Some(vec![
                scene.use_tool("Read", json!({"file_path": scene.file?})),
            ])
        },
    ),
    ("read", "FILE$", read),
    (
        "show me|show|open|print|what is in|what's in",
        "FILE(?P<sure>)$",
        read,
    ),
    (
        "run this bash command|run the bash command|run this command|run the command|run command|run|execute|\
         use bash to run|use the bash tool to run",
        ".+",
        run,
    ),
    (
        "use|call|invoke|start",
        r"(?:the |an? )?(?:(?:mcp )?tool (?:called |named )?(?P<after>\S+)|(?P<before>\S+) (?:mcp )?tool)(?: with(?: the input| input| arguments)?| on|:)?(?P<input>.*)$",
        tool,
    ),
    (
        "use|call|ask|start",
        r"(?:the |an? )?(?:(?:sub-?)?agent (?:called |named )?(?P<after>\S+)|(?P<before>\S+) (?:sub-?)?agent)(?P<early> in the background)?(?: to|:) (?P<prompt>.+?)(?P<late> in the background\.?)?$",
        agent,
    ),
    (
        "plan:|make a plan:|make a plan to|make a plan for|plan how to",
        ".+",
        plan,
    ),
    ("ask me|ask the user", ".+", ask),
    ("reply with the single word", ".+", |found, scene| {
        let word = end_of_sentence(found.text("all"));
        talk(plain(&scene.quotes.content(word)))
    }),
    (
        "say|repeat after me|reply with|reply|answer:|echo",
        ".+",
        |found, scene| {
            Some(vec![Deed::Talk(vec![say_plain(
                &scene.quotes.content(found.text("all")),
            )])])
        },
    ),
];

/// A file's name and the words in front of it.
const FILE: &str = r"(?:to )?(?:(?:a new|the contents? of the|the contents? of|the|this|that|a) )?(?:file )?(?:called |named )?(?P<file>QUOTED|[^\s:,]+?)";
const WITH: &str = r"(?:with the contents?:?|with contents?:?|with the text|containing exactly the text|containing the text|containing|that says|saying|with)";
/// The letters that stand for quotations.
const QUOTED: &str = r"[\x{F0000}-\x{FFFF0}]";
const ENDING: &str = r"(?:,? please)?[.!?]?\s*$";
/// Words in front of a request that nobody means.
const COURTESY: &str = r"(?i)^(?:[-*] |\d+[.)] |(?:please|kindly|now|first|then|next|finally|and|also|can you|could you|would you|will you|i want you to|i would like you to|let's|just)\b[,:]?)\s*";

static COURTEOUS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(COURTESY).ok());

/// What a single request comes to, or None if no rule knows it.
pub(super) fn recognise(piece: &str, scene: &Scene<'_>) -> Option<Vec<Deed>> {
    let mut words = piece.trim();
    while let Some(found) = COURTEOUS.as_ref()?.find(words) {
        words = &words[found.end()..];
    }
    RULES.iter().find_map(|(openings, form, handler)| {
        let rest = openings
            .split('|')
            .find_map(|opening| after(words, opening))?;
        let form = form
            .replace("FILE", FILE)
            .replace("WITH", WITH)
            .replace("QUOTED", QUOTED);
        let form = match form.strip_suffix('$') {
            Some(form) => format!("{form}{ENDING}"),
            None => form,
        };
        let form = Regex::new(&format!("(?is)^(?P<all>{form})")).ok()?;
        handler(&Found(form.captures(rest)?), scene)
    })
}

/// What follows an opening, if the text begins with it.
fn after<'a>(text: &'a str, opening: &str) -> Option<&'a str> {
    let start = text.get(..opening.len())?;
    let rest = &text[opening.len()..];
    let inner = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    let ends = opening.ends_with(':') || !rest.starts_with(inner);
    let rest = rest.strip_prefix(':').unwrap_or(rest);
    (start.eq_ignore_ascii_case(opening) && ends).then(|| rest.trim_start())
}

impl Scene<'_> {
    fn offers(&self, tool: &str) -> bool {
        self.request.tools.iter().any(|offered| offered == tool)
    }

    /// A call of a tool by its rule's own name, or a word on why not.
    fn use_tool(&self, name: &str, input: Value) -> Deed {
        match self.offers(name) {
            true => Deed::Call(call(name, input)),
            false => Deed::Talk(vec![say(format!(
                "I cannot do that: there is no tool {name} here."
            ))]),
        }
    }

    /// The file that a request names, as a whole path. With `sure` in the form it must look like one.
    fn file_of(&self, found: &Found<'_>) -> Option<String> {
        let masked = found.text("file");
        let name = self.quotes.name(masked);
        let looks = self.quotes.leading(masked).is_some()
            || name.contains(['.', '/'])
            || name.starts_with(|c: char| c.is_ascii_uppercase());
        let taken = !name.is_empty() && (looks || !found.has("sure"));
        taken.then(|| path::absolute(self.request.cwd, &name))
    }
}

fn talk(text: String) -> Option<Vec<Deed>> {
    Some(vec![Deed::Talk(vec![say(text)])])
}

/// What is said to a request that no rule knows.
pub(super) fn at_a_loss() -> Deed {
    let text = "Hello! I follow plain requests: try \"run `ls`\", \"write hello.txt: Hello\", \"read hello.txt\", \
        \"ask me which colour: red or blue\" or \"plan: tidy up\". I can also edit a file, use a tool or an agent by its name, \
        and search; put several requests on lines of their own.";
    Deed::Talk(vec![say(text.to_owned())])
}

fn number(found: &Found<'_>) -> Option<u64> {
    let number: u64 = found.text("n").parse().ok()?;
    Some(number.min(MOST))
}

fn numbered(count: u64) -> String {
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
fn asked_about(found: &Found<'_>, scene: &Scene<'_>) -> Option<Vec<Deed>> {
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

fn thought(found: &Found<'_>, scene: &Scene<'_>) -> Option<Vec<Deed>> {
    let about = scene.quotes.raw(end_of_sentence(found.text("all")));
    let about = plain(&about);
    let thought = format!("They want me to think about {about}. What speaks for it, what against?");
    Some(vec![Deed::Talk(vec![
        Step::Think(thought, Amend::default()),
        say(format!("I thought about {about}.")),
    ])])
}

fn counted(found: &Found<'_>, _: &Scene<'_>) -> Option<Vec<Deed>> {
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
fn waited(found: &Found<'_>, _: &Scene<'_>) -> Option<Vec<Deed>> {
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

fn failed(found: &Found<'_>, scene: &Scene<'_>) -> Option<Vec<Deed>> {
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

fn written(found: &Found<'_>, scene: &Scene<'_>) -> Option<Vec<Deed>> {
    let content = plain(&scene.quotes.content(found.text("content")));
    let input = json!({"file_path": scene.file_of(found)?, "content": content});
    Some(vec![scene.use_tool("Write", input)])
}

/// Reads first, as the tool demands, and changes only what could be read.
fn edited(found: &Found<'_>, scene: &Scene<'_>) -> Option<Vec<Deed>> {
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

fn read(found: &Found<'_>, scene: &Scene<'_>) -> Option<Vec<Deed>> {
    let input = json!({"file_path": scene.file_of(found)?});
    Some(vec![scene.use_tool("Read", input)])
}

fn searched(found: &Found<'_>, scene: &Scene<'_>) -> Option<Vec<Deed>> {
    let pattern = scene.quotes.name(found.text("what"));
    let place = found
        .has("place")
        .then(|| scene.quotes.name(found.text("place")));
    let place =
        place.filter(|place| !matches!(place.as_str(), "here" | "this folder" | "the project"));
    if scene.offers("Grep") {
        let mut input = json!({"pattern": plain(&pattern), "output_mode": "content"});
        if let Some(place) = place {
            input["path"] = path::absolute(scene.request.cwd, &place).into();
        }
        return Some(vec![scene.use_tool("Grep", input)]);
    }
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
fn run(found: &Found<'_>, scene: &Scene<'_>) -> Option<Vec<Deed>> {
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

fn bash(scene: &Scene<'_>, command: &str, background: bool) -> Deed {
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
fn tool(found: &Found<'_>, scene: &Scene<'_>) -> Option<Vec<Deed>> {
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
fn agent(found: &Found<'_>, scene: &Scene<'_>) -> Option<Vec<Deed>> {
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
fn agent_call(found: &Found<'_>, scene: &Scene<'_>) -> Option<Vec<Deed>> {
    let given = pairs(without_asides(found.text("rest")), scene.quotes);
    let said = |name: &str| given.get(name).and_then(Value::as_str);
    let kind = known(scene.request.agents, said("subagent_type")?);
    let prompt = said("prompt")?;
    let title = said("description").map_or_else(|| short(prompt, 5, 40), str::to_owned);
    let background = given.get("run_in_background") == Some(&Value::Bool(true));
    Some(vec![delegation(kind, prompt, &title, background)])
}

/// "call the mcp__x__y tool with a=1 and mcp__x__z with b=2", "use the greet tool to greet 'Alice'".
fn mcp_calls(found: &Found<'_>, scene: &Scene<'_>) -> Option<Vec<Deed>> {
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
    let mut input = fit::fitting(schema, &quotes.raw(text));
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
fn without_asides(text: &str) -> &str {
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
fn plan(found: &Found<'_>, scene: &Scene<'_>) -> Option<Vec<Deed>> {
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
fn ask(found: &Found<'_>, scene: &Scene<'_>) -> Option<Vec<Deed>> {
    let text = end_of_sentence(found.text("all"));
    let bare = text.strip_suffix("(several)");
    let (text, several) = (bare.unwrap_or(text).trim_end(), bare.is_some());
    let (question, options) = text
        .rsplit_once(": ")
        .or_else(|| text.rsplit_once("? "))
        .unwrap_or((text, "Yes or No"));
    let question = scene.quotes.content(question);
    let question = question.trim_end_matches(['?', '.', ':', ',']);
    let capitalised = |text: &str| {
        let mut letters = text.chars();
        let first = letters.next().into_iter().flat_map(char::to_uppercase);
        first.chain(letters).collect::<String>()
    };
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
