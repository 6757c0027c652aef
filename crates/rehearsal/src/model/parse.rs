//! From the text of a script to the script.
//!
//! Owns the directives and their order; `scan` reads the pieces of a line. Pure, and strict: a word it does not
//! know is an error with its place and what may stand there, never skipped.

use serde_json::Value;

use super::scan::{Cursor, Lines};
use super::script::{Matcher, Part, Position, Reply, Script, Stop, Take, Usage};
use super::{api_error_kind, template};

/// Why a script could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{at}: expected {expected}, found {found}")]
pub struct ParseError {
    pub at: Position,
    pub expected: String,
    pub found: String,
    /// The word that was probably meant; scenarios have one.
    pub hint: Option<String>,
}

impl ParseError {
    /// The same error with the word that was probably meant.
    pub(crate) fn meaning(mut self, word: Option<&str>) -> Self {
        self.hint = word.map(str::to_owned);
        self
    }
}

const TOP: &str = "`reply`, or before the first reply `side \"…\"` or `main any`";
const STEP: &str = "`reply` or a step: say, think, tool, block, event, wait, pace, chunk, take, usage, stop, error, cut";
const CHARACTERS: &str = "characters per delta, at least 1";
/// The key that marks a repeated string: `{"$repeat": ["x", 5000000]}`.
const REPEAT: &str = "$repeat";
/// The most a repeat may grow to: enough for any line a test needs, small enough to hold.
const MAX_BYTES: usize = 256 * 1024 * 1024;
const STOPS: [&str; 7] = [
    "end_turn",
    "max_tokens",
    "model_context_window_exceeded",
    "pause_turn",
    "refusal",
    "stop_sequence",
    "tool_use",
];

impl Script {
    /// Reads a script.
    ///
    /// ```
    /// use countersign_rehearsal::model::Script;
    /// let script = Script::parse("reply\n  say \"Hello.\"\n").unwrap();
    /// assert_eq!(script.replies(), 1);
    /// let error = Script::parse("reply\n  shout \"Hello.\"\n").unwrap_err();
    /// assert_eq!((error.at.line, error.at.column), (2, 3));
    /// ```
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let mut lines = Lines::new(text);
        let mut script = Self::default();
        let mut drafts: Vec<Draft> = Vec::new();
        while let Some(mut cursor) = lines.next_directive() {
            if cursor.peek_word() == "reply" {
                drafts.push(opening(&mut script, &mut cursor)?);
            } else if let Some(draft) = drafts.last_mut() {
                draft.line(&mut cursor, &mut lines)?;
            } else {
                header_line(&mut script, &mut cursor, &mut lines)?;
            }
        }
        let replies = drafts.into_iter().map(Draft::finish);
        script.replies = replies.collect::<Result<_, _>>()?;
        Ok(script)
    }
}

fn header_line<'a>(
    script: &mut Script,
    cursor: &mut Cursor<'a>,
    lines: &mut Lines<'a>,
) -> Result<(), ParseError> {
    let before = cursor.clone();
    match cursor.word(TOP)? {
        "side" => script.side = Some(text(cursor, lines, &mut script.names)?),
        "main" => {
            script.main_any = cursor.take_word("any");
            if !script.main_any && !cursor.take_word("tools") {
                return Err(cursor.error("`any` or `tools`"));
            }
            cursor.finish("nothing after the rule")?;
        }
        _ => return Err(before.error(TOP)),
    }
    Ok(())
}

/// `reply [always | N times] [side] [when "…" | in "…"]`
fn opening(script: &mut Script, cursor: &mut Cursor<'_>) -> Result<Draft, ParseError> {
    const EXPECTED: &str =
        "`always`, `3 times`, `side`, `when \"…\"`, `in \"…\"` or the end of the line";
    let at = cursor.position();
    cursor.word("reply")?;
    let mut reply = Reply {
        line: at.line,
        ..Reply::default()
    };
    reply.times = cursor.uses()?;
    reply.side = cursor.take_word("side");
    let kind: Option<fn(String) -> Matcher> = match cursor.peek_word() {
        "when" => Some(Matcher::Newest),
        "in" => Some(Matcher::First),
        _ => None,
    };
    if let Some(kind) = kind {
        cursor.word(EXPECTED)?;
        let before = cursor.clone();
        let wanted = cursor.string("the text to look for, in quotes")?;
        if wanted.is_empty() {
            return Err(before.error("a text that is not empty"));
        }
        let names = template::names(&wanted).into_iter();
        script
            .names
            .extend(names.map(|name| (name, before.position())));
        reply.matcher = Some(kind(wanted));
    }
    cursor.finish(EXPECTED)?;
    Ok(Draft { at, reply })
}

/// A reply whose lines are still coming.
struct Draft {
    at: Position,
    reply: Reply,
}

impl Draft {
    fn line<'a>(
        &mut self,
        cursor: &mut Cursor<'a>,
        lines: &mut Lines<'a>,
    ) -> Result<(), ParseError> {
        let before = cursor.clone();
        let word = cursor.word(STEP)?;
        match word {
            "usage" => return usage(&mut self.reply.usage, cursor),
            "stop" => return stop(cursor).map(|stop| self.reply.stop = Some(stop)),
            "take" => return take(cursor).map(|take| self.reply.takes.push(take)),
            _ => {}
        }
        if self.reply.parts.last().is_some_and(Part::ends_the_reply) {
            return Err(
                before.error("`reply`, `usage` or `stop`: nothing is said after `error` or `cut`")
            );
        }
        let names = &mut self.reply.names;
        let part = match word {
            "say" => Part::Say(text(cursor, lines, names)?),
            "think" => Part::Think(text(cursor, lines, names)?),
            "tool" => Part::Tool {
                name: cursor.word("the tool's name")?.to_owned(),
                input: object(cursor, lines, names)?,
            },
            "block" => {
                let place = cursor.clone();
                let block = object(cursor, lines, names)?;
                if !block["type"].is_string() {
                    return Err(place.error("a content block with a `type`"));
                }
                Part::Block(block)
            }
            "event" => Part::Event {
                name: cursor.word("the event's name")?.to_owned(),
                data: object(cursor, lines, names)?,
            },
            "wait" => Part::Wait(cursor.duration()?),
            "pace" => Part::Pace(cursor.duration()?),
            "chunk" => Part::Chunk(chunk(cursor)?),
            "error" => error(cursor, names)?,
            "cut" => Part::Cut {
                reset: cursor.take_word("reset"),
            },
            _ => return Err(before.error(STEP)),
        };
        if !part.is_said() {
            cursor.finish("the end of the line")?;
        }
        self.reply.parts.push(part);
        Ok(())
    }

    fn finish(self) -> Result<Reply, ParseError> {
        let mut parts = self.reply.parts.iter();
        let says_something =
            self.reply.stop.is_some() || parts.any(|part| part.is_said() || part.ends_the_reply());
        if says_something {
            return Ok(self.reply);
        }
        Err(ParseError {
            at: self.at,
            expected: "a reply that says something (say, think, tool, block, error, cut or stop)"
                .to_owned(),
            found: "none of these before the next reply or the end".to_owned(),
            hint: None,
        })
    }
}

/// Names that need a value, and where they stand.
type Names = Vec<(String, Position)>;

/// `["…" | repeat N "…" | <<END]`
fn text<'a>(
    cursor: &mut Cursor<'a>,
    lines: &mut Lines<'a>,
    names: &mut Names,
) -> Result<String, ParseError> {
    const EXPECTED: &str = "a text in quotes, `repeat N \"…\"` or `<<END`";
    let start = cursor.clone();
    let repeat: usize = match cursor.take_word("repeat") {
        true => cursor.number("how many times")?,
        false => 1,
    };
    let here = cursor.peek_word().starts_with("<<");
    let at = cursor.position();
    let text = cursor.text(lines, EXPECTED)?;
    if !here {
        cursor.finish("the end of the line")?;
    }
    names.extend(template::names(&text).into_iter().map(|name| (name, at)));
    let repeated = repeated(&text, repeat);
    repeated.ok_or_else(|| start.error(format!("a text of at most {MAX_BYTES} bytes")))
}

fn repeated(text: &str, times: usize) -> Option<String> {
    let fits = text.len().saturating_mul(times) <= MAX_BYTES;
    fits.then(|| text.repeat(times))
}

fn object<'a>(
    cursor: &mut Cursor<'a>,
    lines: &mut Lines<'a>,
    names: &mut Names,
) -> Result<Value, ParseError> {
    let before = cursor.clone();
    let here = cursor.peek_word().starts_with("<<");
    if !here && !cursor.peek_word().starts_with('{') {
        return Err(cursor.error("a JSON object or `<<END`"));
    }
    let mut value = cursor.value_or_here(lines)?;
    if !here {
        cursor.finish("the end of the line")?;
    }
    if !value.is_object() {
        return Err(before.error("a JSON object"));
    }
    let at = before.position();
    let found = template::names_in_json(&value).into_iter();
    names.extend(found.map(|name| (name, at)));
    expand_repeats(&mut value).map_err(|expected| before.error(expected))?;
    Ok(value)
}

/// Puts `{"$repeat":["x",5000000]}` out in full; the error says what should stand there.
fn expand_repeats(value: &mut Value) -> Result<(), String> {
    match value {
        Value::Array(items) => items.iter_mut().try_for_each(expand_repeats),
        Value::Object(map) if map.contains_key(REPEAT) => {
            let pair = (map.get(REPEAT).filter(|_| map.len() == 1)).and_then(Value::as_array);
            let (text, times) = match pair.map(Vec::as_slice) {
                Some([Value::String(text), times]) => (text, times.as_u64()),
                _ => (&String::new(), None),
            };
            let times = times.and_then(|times| usize::try_from(times).ok());
            let times = times
                .ok_or_else(|| format!("{{\"{REPEAT}\":[text, count]}} and nothing beside it"))?;
            let repeated = repeated(text, times);
            *value = repeated
                .ok_or_else(|| format!("a repeat of at most {MAX_BYTES} bytes"))?
                .into();
            Ok(())
        }
        Value::Object(map) => map.values_mut().try_for_each(expand_repeats),
        _ => Ok(()),
    }
}

fn chunk(cursor: &mut Cursor<'_>) -> Result<usize, ParseError> {
    let before = cursor.clone();
    match cursor.number(CHARACTERS)? {
        0 => Err(before.error(CHARACTERS)),
        size => Ok(size),
    }
}

fn usage(usage: &mut Usage, cursor: &mut Cursor<'_>) -> Result<(), ParseError> {
    const EXPECTED: &str = "input=N, output=N, cache_read=N or cache_write=N";
    let before = cursor.clone();
    cursor.usage(usage, EXPECTED)?;
    match usage.cost {
        Some(_) => Err(before.error(EXPECTED)),
        None => Ok(()),
    }
}

/// `stop REASON`, and for a refusal `[category=…] [explanation="…"]`
fn stop(cursor: &mut Cursor<'_>) -> Result<Stop, ParseError> {
    const DETAILS: &str = "category=… or explanation=\"…\"";
    let before = cursor.clone();
    let reason = if cursor.peek_word().starts_with('"') {
        cursor.string("a stop reason")?
    } else {
        let known = || format!("one of {}, or any other in quotes", STOPS.join(", "));
        let word = cursor.word(&known())?;
        if !STOPS.contains(&word) {
            return Err(before.error(known()));
        }
        word.to_owned()
    };
    let mut details = Vec::new();
    while reason == "refusal" && !cursor.is_done() {
        let before = cursor.clone();
        match cursor.pair(DETAILS)? {
            (key @ ("category" | "explanation"), value) => details.push((key.to_owned(), value)),
            _ => return Err(before.error(DETAILS)),
        }
    }
    cursor.finish("the end of the line")?;
    Ok(Stop { reason, details })
}

/// `take NAME after "…" until "…"`
fn take(cursor: &mut Cursor<'_>) -> Result<Take, ParseError> {
    let at = cursor.position();
    let before = cursor.clone();
    let name = cursor.word("a variable's name")?.to_owned();
    if !template::is_name(&name) {
        return Err(before.error("a name of letters, digits, `_`, `-` and `.`"));
    }
    let mut bound = |word: &str| {
        if !cursor.take_word(word) {
            return Err(cursor.error(format!("`{word} \"…\"`")));
        }
        let text = cursor.clone();
        match cursor.string("a text in quotes")? {
            empty if empty.is_empty() => Err(text.error("a text that is not empty")),
            found => Ok(found),
        }
    };
    let (after, until) = (bound("after")?, bound("until")?);
    cursor.finish("the end of the line")?;
    Ok(Take {
        name,
        after,
        until,
        at,
    })
}

/// `error STATUS "message" [type=…] [header=value …]`
fn error(cursor: &mut Cursor<'_>, names: &mut Names) -> Result<Part, ParseError> {
    const STATUS: &str = "an HTTP status from 400 to 599";
    let before = cursor.clone();
    let status: u16 = cursor.number(STATUS)?;
    if !(400..=599).contains(&status) {
        return Err(before.error(STATUS));
    }
    let at = cursor.position();
    let text = cursor.string("the error's message, in quotes")?;
    names.extend(template::names(&text).into_iter().map(|name| (name, at)));
    let mut kind = api_error_kind(status).to_owned();
    let mut headers = Vec::new();
    while !cursor.is_done() {
        let before = cursor.clone();
        let (key, value) = cursor.pair("a header such as retry-after=1, or type=…")?;
        if key == "type" {
            kind = value;
            continue;
        }
        let name_ok = axum::http::HeaderName::try_from(key).is_ok();
        if !name_ok || axum::http::HeaderValue::try_from(&value).is_err() {
            return Err(before.error("a valid HTTP header"));
        }
        headers.push((key.to_owned(), value));
    }
    Ok(Part::Error {
        status,
        kind,
        text,
        headers,
    })
}

#[cfg(test)]
mod tests;
