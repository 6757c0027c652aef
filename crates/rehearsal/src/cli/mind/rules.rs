//! What a single request comes to: its opening words and the form of the rest, rule by rule.
//!
//! A narrow rule stands above a wide one: the first that knows a request counts. A rule is an expression for what follows
//! one of its openings; `FILE`, `WITH` and `QUOTED` in it stand for a file's name,
//! the words before its content, and a quotation.

use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde_json::{Value, json};

use super::deeds::{
    agent, agent_call, ask, asked_about, bash, counted, edited, failed, mcp_calls, number,
    numbered, plan, read, run, searched, talk, thought, tool, waited, without_asides, written,
};
use super::masked::{Quotes, end_of_sentence};
use super::{Deed, Request, absolute, call, plain, say, say_plain};

/// Lines of a long story.
const STORY: u64 = 200;

/// What stands around a request: who asks, its quotations, and the file that was named last.
#[derive(Clone, Copy)]
pub(super) struct Scene<'a> {
    pub(super) request: &'a Request<'a>,
    pub(super) quotes: &'a Quotes,
    pub(super) file: Option<&'a str>,
}

/// The parts of a request that an expression found.
pub(super) struct Found<'a>(Captures<'a>);

impl<'a> Found<'a> {
    pub(super) fn text(&self, name: &str) -> &'a str {
        self.0.name(name).map_or("", |part| part.as_str().trim())
    }

    pub(super) fn has(&self, name: &str) -> bool {
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
        r"(?:Bash|Edit|Read|Write) tool to (?P<rest>.+)",
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
        |_, scene| Some(vec![bash(scene, "ls", false)]),
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
pub(super) const QUOTED: &str = r"[\x{F0000}-\x{FFFF0}]";
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
    pub(super) fn offers(&self, tool: &str) -> bool {
        self.request.tools.iter().any(|offered| offered == tool)
    }

    /// A call of a tool by its rule's own name, or a word on why not.
    pub(super) fn use_tool(&self, name: &str, input: Value) -> Deed {
        match self.offers(name) {
            true => Deed::Call(call(name, input)),
            false => Deed::Talk(vec![say(format!(
                "I cannot do that: there is no tool {name} here."
            ))]),
        }
    }

    /// The file that a request names, as a whole path. With `sure` in the form it must look like one.
    pub(super) fn file_of(&self, found: &Found<'_>) -> Option<String> {
        let masked = found.text("file");
        let name = self.quotes.name(masked);
        let looks = self.quotes.leading(masked).is_some()
            || name.contains(['.', '/'])
            || name.starts_with(|c: char| c.is_ascii_uppercase());
        let taken = !name.is_empty() && (looks || !found.has("sure"));
        taken.then(|| absolute(self.request.cwd, &name))
    }
}
