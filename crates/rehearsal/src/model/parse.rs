//! From the text of a script to the script.
//!
//! Owns the directives and their order; `scan` reads the pieces of a line. Pure, and strict: a word it does not
//! know is an error with its place and what may stand there, never skipped.

use super::scan::{Cursor, Lines};
use super::script::{
    Audience, Cut, ErrorStep, Header, Json, MainRule, Matcher, Position, Reply, Script, Step, Stop,
    Take, Text, Usage, Uses,
};
use super::template;

/// Why a script could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{at}: expected {expected}, found {found}")]
pub struct ParseError {
    pub at: Position,
    pub expected: String,
    pub found: String,
}

const TOP: &str = "`reply`, or before the first reply `side \"…\"` or `main any`";
const STEP: &str = "`reply` or a step: say, think, tool, block, event, wait, pace, chunk, take, usage, stop, error, cut";
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
        let mut header = Header::default();
        let mut replies: Vec<Draft> = Vec::new();
        while let Some(mut cursor) = lines.next_directive() {
            if cursor.peek_word() == "reply" {
                replies.push(opening(&mut cursor)?);
            } else if let Some(draft) = replies.last_mut() {
                draft.line(&mut cursor, &mut lines)?;
            } else {
                header_line(&mut header, &mut cursor, &mut lines)?;
            }
        }
        let replies = replies
            .into_iter()
            .map(Draft::finish)
            .collect::<Result<_, _>>()?;
        Ok(Self { header, replies })
    }
}

fn header_line<'a>(
    header: &mut Header,
    cursor: &mut Cursor<'a>,
    lines: &mut Lines<'a>,
) -> Result<(), ParseError> {
    let before = cursor.clone();
    match cursor.word(TOP)? {
        "side" => header.side = Some(text(cursor, lines)?),
        "main" => {
            let rule = cursor.clone();
            match cursor.word("`any` or `tools`")? {
                "any" => header.main = MainRule::Any,
                "tools" => header.main = MainRule::WithTools,
                _ => return Err(rule.error("`any` or `tools`")),
            }
            cursor.finish("nothing after the rule")?;
        }
        _ => return Err(before.error(TOP)),
    }
    Ok(())
}

/// `reply [always | N times] [side] [when "…" | in "…"]`
fn opening(cursor: &mut Cursor<'_>) -> Result<Draft, ParseError> {
    const EXPECTED: &str =
        "`always`, `3 times`, `side`, `when \"…\"`, `in \"…\"` or the end of the line";
    let at = cursor.position();
    cursor.word("reply")?;
    let uses = if cursor.take_word("always") {
        Uses::Always
    } else if cursor.peek_word().starts_with(|c: char| c.is_ascii_digit()) {
        let count = cursor.clone();
        let times = cursor.number("a count such as `3 times`")?;
        if times == 0 {
            return Err(count.error("a count of at least 1"));
        }
        let word = cursor.clone();
        if !cursor.take_word("times") {
            return Err(word.error("`times`"));
        }
        Uses::Times(times)
    } else {
        Uses::Times(1)
    };
    let audience = if cursor.take_word("side") {
        Audience::Side
    } else {
        Audience::Main
    };
    let matcher = if cursor.take_word("when") {
        Matcher::Newest(matched_text(cursor)?)
    } else if cursor.take_word("in") {
        Matcher::First(matched_text(cursor)?)
    } else {
        Matcher::Next
    };
    cursor.finish(EXPECTED)?;
    Ok(Draft {
        at,
        reply: Reply {
            line: at.line,
            audience,
            uses,
            matcher,
            takes: Vec::new(),
            steps: Vec::new(),
            usage: Usage::default(),
            stop: None,
        },
    })
}

fn matched_text(cursor: &mut Cursor<'_>) -> Result<Text, ParseError> {
    let before = cursor.clone();
    let template = cursor.string("the text to look for, in quotes")?;
    if template.is_empty() {
        return Err(before.error("a text that is not empty"));
    }
    Ok(Text {
        template,
        repeat: 1,
        at: before.position(),
    })
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
            "stop" => {
                self.reply.stop = Some(stop(cursor)?);
                return Ok(());
            }
            "take" => {
                self.reply.takes.push(take(cursor)?);
                return Ok(());
            }
            _ => {}
        }
        if self.reply.steps.last().is_some_and(Step::ends_the_reply) {
            return Err(
                before.error("`reply`, `usage` or `stop`: nothing is said after `error` or `cut`")
            );
        }
        let step = match word {
            "say" => Step::Say(text(cursor, lines)?),
            "think" => Step::Think(text(cursor, lines)?),
            "tool" => {
                let name = cursor.word("the tool's name")?.to_owned();
                Step::Tool {
                    name,
                    input: object(cursor, lines)?,
                }
            }
            "block" => Step::Block(block(cursor, lines)?),
            "event" => {
                let name = cursor.word("the event's name")?.to_owned();
                Step::Event {
                    name,
                    data: object(cursor, lines)?,
                }
            }
            "wait" => Step::Wait(cursor.duration()?),
            "pace" => Step::Pace(cursor.duration()?),
            "chunk" => Step::Chunk(chunk(cursor)?),
            "error" => Step::Error(error(cursor)?),
            "cut" if cursor.take_word("reset") => Step::Cut(Cut::Reset),
            "cut" => Step::Cut(Cut::Close),
            _ => return Err(before.error(STEP)),
        };
        if !matches!(
            step,
            Step::Say(_) | Step::Think(_) | Step::Tool { .. } | Step::Block(_) | Step::Event { .. }
        ) {
            cursor.finish("the end of the line")?;
        }
        self.reply.steps.push(step);
        Ok(())
    }

    fn finish(self) -> Result<Reply, ParseError> {
        let says_something = self.reply.stop.is_some()
            || self
                .reply
                .steps
                .iter()
                .any(|step| !matches!(step, Step::Wait(_) | Step::Pace(_) | Step::Chunk(_)));
        if says_something {
            return Ok(self.reply);
        }
        Err(ParseError {
            at: self.at,
            expected: "a reply that says something (say, think, tool, block, error, cut or stop)"
                .to_owned(),
            found: "none of these before the next reply or the end".to_owned(),
        })
    }
}

/// `["…" | repeat N "…" | <<END]`
fn text<'a>(cursor: &mut Cursor<'a>, lines: &mut Lines<'a>) -> Result<Text, ParseError> {
    const EXPECTED: &str = "a text in quotes, `repeat N \"…\"` or `<<END`";
    let start = cursor.clone();
    let repeat = if cursor.take_word("repeat") {
        cursor.number("how many times")?
    } else {
        1
    };
    let here = cursor.peek_word().starts_with("<<");
    let at = cursor.position();
    let template = cursor.text(lines, EXPECTED)?;
    if !here {
        cursor.finish("the end of the line")?;
    }
    if template.len().saturating_mul(repeat) > template::MAX_EXPANDED_BYTES {
        return Err(start.error(format!(
            "a text of at most {} bytes",
            template::MAX_EXPANDED_BYTES
        )));
    }
    Ok(Text {
        template,
        repeat,
        at,
    })
}

fn object<'a>(cursor: &mut Cursor<'a>, lines: &mut Lines<'a>) -> Result<Json, ParseError> {
    let before = cursor.clone();
    let here = cursor.peek_word().starts_with("<<");
    if !here && !cursor.peek_word().starts_with('{') {
        return Err(cursor.error("a JSON object or `<<END`"));
    }
    let template = cursor.value_or_here(lines)?;
    if !here {
        cursor.finish("the end of the line")?;
    }
    if !template.is_object() {
        return Err(before.error("a JSON object"));
    }
    if let Some(expected) = template::bad_repeat(&template) {
        return Err(before.error(expected));
    }
    Ok(Json {
        template,
        at: before.position(),
    })
}

fn block<'a>(cursor: &mut Cursor<'a>, lines: &mut Lines<'a>) -> Result<Json, ParseError> {
    let before = cursor.clone();
    let json = object(cursor, lines)?;
    if json
        .template
        .get("type")
        .and_then(serde_json::Value::as_str)
        .is_none()
    {
        return Err(before.error("a content block with a `type`"));
    }
    Ok(json)
}

fn chunk(cursor: &mut Cursor<'_>) -> Result<usize, ParseError> {
    const EXPECTED: &str = "characters per delta, at least 1";
    let before = cursor.clone();
    match cursor.number(EXPECTED)? {
        0 => Err(before.error(EXPECTED)),
        size => Ok(size),
    }
}

fn usage(usage: &mut Usage, cursor: &mut Cursor<'_>) -> Result<(), ParseError> {
    const EXPECTED: &str = "input=N, output=N, cache_read=N or cache_write=N";
    if cursor.is_done() {
        return Err(cursor.error(EXPECTED));
    }
    while !cursor.is_done() {
        let before = cursor.clone();
        let (key, value) = cursor.pair(EXPECTED)?;
        let count = Some(value.parse().map_err(|_| before.error(EXPECTED))?);
        match key {
            "input" => usage.input = count,
            "output" => usage.output = count,
            "cache_read" => usage.cache_read = count,
            "cache_write" => usage.cache_write = count,
            _ => return Err(before.error(EXPECTED)),
        }
    }
    Ok(())
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
fn error(cursor: &mut Cursor<'_>) -> Result<ErrorStep, ParseError> {
    const STATUS: &str = "an HTTP status from 400 to 599";
    let before = cursor.clone();
    let status: u16 = cursor.number(STATUS)?;
    if !(400..=599).contains(&status) {
        return Err(before.error(STATUS));
    }
    let at = cursor.position();
    let message = cursor.string("the error's message, in quotes")?;
    let mut step = ErrorStep {
        status,
        kind: None,
        message: Text {
            template: message,
            repeat: 1,
            at,
        },
        headers: Vec::new(),
    };
    while !cursor.is_done() {
        let before = cursor.clone();
        let (key, value) = cursor.pair("a header such as retry-after=1, or type=…")?;
        if key == "type" {
            step.kind = Some(value);
            continue;
        }
        let name_ok = axum::http::HeaderName::try_from(key).is_ok();
        if !name_ok || axum::http::HeaderValue::try_from(&value).is_err() {
            return Err(before.error("a valid HTTP header"));
        }
        step.headers.push((key.to_owned(), value));
    }
    Ok(step)
}

#[cfg(test)]
mod tests;
