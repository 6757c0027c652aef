//! Single steps: what follows the first word of a line inside a block.

use serde_json::{Value, json};

use crate::cli::Signal;
use crate::cli::expect::{Condition, Pattern};
use crate::cli::scenario;
use crate::cli::scenario::{
    Amend, Asking, Calling, Counts, Delegation, Gives, Habit, How, Ignored, Question, ReplyRule,
    Step, Topic,
};
use crate::cli::words;
use crate::model::ParseError;
use crate::model::scan::{Cursor, Lines};

type Parsed<T> = Result<T, ParseError>;

/// Reads the step that `name` begins.
pub(super) fn step<'a>(name: &str, cursor: &mut Cursor<'a>, lines: &mut Lines<'a>) -> Parsed<Step> {
    Ok(match name {
        "say" => Step::Say(text(cursor, lines)?, amend(cursor)?),
        "think" => Step::Think(text(cursor, lines)?, amend(cursor)?),
        "stream" => Step::Say(text(cursor, lines)?, amend(cursor)?),
        "block" => Step::Block(object(cursor, lines)?, amend(cursor)?),
        "emit" => Step::Emit(object(cursor, lines)?),
        "ask" | "hook" | "mcp" | "elicit" | "dialog" | "control" => {
            let mut question = question(name, cursor, lines)?;
            let asking = asking(cursor, &mut question)?;
            Step::Ask(question, asking)
        }
        "cancel" => Step::Cancel(cursor.word("the name or id of a question")?.to_owned()),
        "result" => {
            let subtype = match cursor.peek_word() {
                "" | "with" | "without" => None,
                _ => Some(cursor.word("a subtype")?.to_owned()),
            };
            Step::Result(subtype, amend(cursor)?)
        }
        "lose" => {
            one_of(cursor, &["result"])?;
            Step::LoseResult
        }
        "answer" if cursor.is_done() => Step::Answer(None),
        "answer" => Step::Answer(Some(how(cursor)?)),
        "reply" => {
            let how = how(cursor)?;
            let subtype = cursor.word("the subtype of a control request, or `any`")?;
            Step::Reply(ReplyRule {
                subtype: (subtype != "any").then(|| subtype.to_owned()),
                how,
            })
        }
        "default" => habit(cursor)?,
        "expect" => expect(cursor)?,
        "wait" => wait(cursor)?,
        "fold" => Step::Fold,
        "pace" => Step::Pace(cursor.duration()?),
        "usage" => {
            let mut counts = Counts::default();
            let expected = "input=N, output=N, cache_read=N, cache_write=N or cost=DOLLARS";
            cursor.usage(&mut counts, expected)?;
            Step::Usage(counts)
        }
        "skip" => Step::Skip(cursor.number("how many turns")?),
        "tool" => Step::Tool(calling(cursor, lines)?),
        "follow" if cursor.is_done() => Step::Follow(None),
        "follow" => Step::Follow(Some(text(cursor, lines)?)),
        "fail" => Step::Fail {
            status: cursor.number("an HTTP status such as 529")?,
            text: if cursor.is_done() {
                String::new()
            } else {
                text(cursor, lines)?
            },
        },
        _ => misbehaviour(name, cursor, lines)?,
    })
}

/// What a CLI should not do.
fn misbehaviour<'a>(name: &str, cursor: &mut Cursor<'a>, lines: &mut Lines<'a>) -> Parsed<Step> {
    Ok(match name {
        "flood" => Step::Flood {
            count: cursor.number("how many lines")?,
            bytes: if cursor.is_done() {
                0
            } else {
                cursor.number("how many bytes of text in each")?
            },
        },
        "big" => Step::Big(size(cursor)?),
        "raw" => Step::Raw(cursor.rest_of_line().to_owned()),
        "rawbytes" => Step::Bytes(bytes(cursor)?),
        "noise" => Step::Raw(text(cursor, lines)?),
        "partial" => Step::Partial(text(cursor, lines)?),
        "stderr" if cursor.take_word("flood") => Step::StderrFlood(size(cursor)?),
        "stderr" => Step::Stderr(text(cursor, lines)?),
        "spawn" => Step::Spawn {
            detached: cursor.take_word("detached"),
            command: cursor.string("a shell command in quotes")?,
        },
        "ignore" => Step::Ignore(
            match one_of(cursor, &["eof", "sigterm", "sigint", "sighup"])? {
                "sigterm" => Ignored::Signal(Signal::Terminate),
                "sigint" => Ignored::Signal(Signal::Interrupt),
                "sighup" => Ignored::Signal(Signal::HangUp),
                _ => Ignored::Eof,
            },
        ),
        "stop" => {
            one_of(cursor, &["reading"])?;
            Step::StopReading
        }
        "read" => {
            one_of(cursor, &["slowly"])?;
            Step::ReadSlowly(size(cursor)?)
        }
        "close" => {
            one_of(cursor, &["stdout"])?;
            Step::CloseStdout
        }
        "exit" => Step::Exit(cursor.number("an exit code from 0 to 255")?),
        _ => Step::Crash {
            mid_line: !cursor.is_done() && one_of(cursor, &["mid-line"])? == "mid-line",
        },
    })
}

/// One of a few words, or an error with the nearest.
fn one_of<'w>(cursor: &mut Cursor<'_>, allowed: &[&'w str]) -> Parsed<&'w str> {
    let before = cursor.clone();
    let found = cursor.word(&listed(allowed))?;
    match allowed.iter().find(|word| **word == found) {
        Some(word) => Ok(word),
        None => {
            let meant = words::nearest(found, allowed.iter().copied());
            Err(before.error(listed(allowed)).meaning(meant))
        }
    }
}

fn listed(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    quoted.join(" or ")
}

/// A text in quotes or as the lines after `<<END`; `repeat N` in front multiplies it.
fn text<'a>(cursor: &mut Cursor<'a>, lines: &mut Lines<'a>) -> Parsed<String> {
    const EXPECTED: &str = "a text in quotes, or <<END";
    if cursor.take_word("repeat") {
        let times: usize = cursor.number("a count")?;
        return Ok(cursor.text(lines, EXPECTED)?.repeat(times));
    }
    cursor.text(lines, EXPECTED)
}

fn object<'a>(cursor: &mut Cursor<'a>, lines: &mut Lines<'a>) -> Parsed<Value> {
    let before = cursor.clone();
    match cursor.value_or_here(lines)? {
        object @ Value::Object(_) => Ok(object),
        _ => Err(before.error("a JSON object")),
    }
}

fn optional_object<'a>(cursor: &mut Cursor<'a>, lines: &mut Lines<'a>) -> Parsed<Value> {
    if cursor.peek_word().starts_with(['{', '<']) {
        object(cursor, lines)
    } else {
        Ok(json!({}))
    }
}

/// `[with {…}] [without a,b]`
fn amend(cursor: &mut Cursor<'_>) -> Parsed<Amend> {
    let mut amend = Amend::default();
    while let Some(()) = amendment(cursor, &mut amend)? {}
    Ok(amend)
}

fn amendment(cursor: &mut Cursor<'_>, amend: &mut Amend) -> Parsed<Option<()>> {
    if cursor.take_word("with") {
        let before = cursor.clone();
        let value = cursor.value()?;
        if !value.is_object() {
            return Err(before.error("a JSON object"));
        }
        amend.with = Some(value);
    } else if cursor.take_word("without") {
        let fields = cursor.word("names of fields, with commas between them")?;
        amend.without = fields.split(',').map(str::to_owned).collect();
    } else {
        return Ok(None);
    }
    Ok(Some(()))
}

fn question<'a>(name: &str, cursor: &mut Cursor<'a>, lines: &mut Lines<'a>) -> Parsed<Question> {
    let (topic, expected) = match name {
        "ask" => (Topic::Tool, "the name of a tool"),
        "hook" => (Topic::Hook, "the name of a hook event"),
        "mcp" => (Topic::Mcp, "the name of an MCP server"),
        "elicit" => (Topic::Request, "the name of an MCP server"),
        "dialog" => (Topic::Request, "the kind of dialog"),
        _ => (Topic::Request, "a subtype"),
    };
    let subject = cursor.word(expected)?;
    let (name, body) = match name {
        "mcp" => (subject, object(cursor, lines)?),
        "elicit" => {
            let message = cursor.string("what is asked, in quotes")?;
            let mut body = json!({"mcp_server_name": subject, "message": message, "mode": "form"});
            if cursor.peek_word().starts_with(['{', '<']) {
                body["requested_schema"] = object(cursor, lines)?;
            }
            ("elicitation", body)
        }
        "dialog" => {
            let payload = optional_object(cursor, lines)?;
            let body = json!({"dialog_kind": subject, "payload": payload});
            ("request_user_dialog", body)
        }
        _ => (subject, optional_object(cursor, lines)?),
    };
    Ok(Question {
        topic,
        name: name.to_owned(),
        body,
        gives: None,
    })
}

/// `[gives "…"] [as NAME] [id=ID] [nowait] [with {…}] [without …]`, in any order.
fn asking(cursor: &mut Cursor<'_>, question: &mut Question) -> Parsed<Asking> {
    let mut asking = Asking::default();
    while !cursor.is_done() {
        let before = cursor.clone();
        if amendment(cursor, &mut asking.amend)?.is_some() {
        } else if cursor.take_word("nowait") {
            asking.nowait = true;
        } else if cursor.take_word("as") {
            asking.label = Some(cursor.word("a name")?.to_owned());
        } else if cursor.peek_word().starts_with("id=") {
            asking.id = Some(cursor.pair("an id")?.1);
        } else if question.topic == Topic::Tool && cursor.take_word("gives") {
            question.gives = Some(cursor.string("what the tool says, in quotes")?);
        } else {
            let allowed = ["as", "id=…", "nowait", "with", "without", "gives"];
            let found = before.peek_word();
            let error = before.error("`as NAME`, `id=ID`, `nowait`, `with {…}`, `without …` (after `ask` also `gives \"…\"`)");
            return Err(error.meaning(words::nearest(found, allowed)));
        }
    }
    Ok(asking)
}

/// `NAME {input} [gives "…"|fails "…"] [nowait]`
fn calling<'a>(cursor: &mut Cursor<'a>, lines: &mut Lines<'a>) -> Parsed<Calling> {
    let mut calling = Calling {
        name: cursor.word("the name of a tool")?.to_owned(),
        input: optional_object(cursor, lines)?,
        gives: None,
        nowait: false,
    };
    while !cursor.is_done() {
        let before = cursor.clone();
        match one_of(cursor, &["gives", "fails", "nowait"])? {
            "nowait" => calling.nowait = true,
            _ if calling.gives.is_some() => {
                return Err(before.error("one of `gives` and `fails`, once"));
            }
            "gives" => calling.gives = Some(Gives::Text(text(cursor, lines)?)),
            _ => calling.gives = Some(Gives::Error(text(cursor, lines)?)),
        }
    }
    Ok(calling)
}

/// `TYPE "prompt" [{input}] [background]`
pub(super) fn delegation<'a>(cursor: &mut Cursor<'a>, lines: &mut Lines<'a>) -> Parsed<Delegation> {
    let kind = cursor.word("the type of a sub-agent")?.to_owned();
    let prompt = text(cursor, lines)?;
    let more = optional_object(cursor, lines)?;
    let background = !cursor.is_done() && one_of(cursor, &["background"])? == "background";
    Ok(Delegation {
        kind,
        prompt,
        more,
        background,
        steps: None,
    })
}

/// `refused|result "…"|prompt "…"|mode NAME`
pub(super) fn branch(cursor: &mut Cursor<'_>) -> Parsed<scenario::Condition> {
    Ok(
        match one_of(cursor, &["refused", "result", "prompt", "mode"])? {
            "refused" => scenario::Condition::Refused,
            "result" => scenario::Condition::Result(cursor.string("a part of the report")?),
            "prompt" => scenario::Condition::Prompt(cursor.string("a part of the prompt")?),
            _ => scenario::Condition::Mode(cursor.word("a permission mode")?.to_owned()),
        },
    )
}

fn how(cursor: &mut Cursor<'_>) -> Parsed<How> {
    let words = [
        "normal",
        "never",
        "late",
        "twice",
        "misaddressed",
        "error",
        "with",
    ];
    Ok(match one_of(cursor, &words)? {
        "never" => How::Never,
        "late" => How::Late(cursor.duration()?),
        "twice" => How::Twice,
        "misaddressed" => How::Misaddressed,
        "error" => How::Error(cursor.string("the error, in quotes")?),
        "with" => How::With(cursor.value()?),
        _ => How::Normal,
    })
}

fn habit(cursor: &mut Cursor<'_>) -> Parsed<Step> {
    let names = Habit::ALL.map(|(name, _)| name);
    let name = one_of(cursor, &names)?;
    let on = one_of(cursor, &["on", "off"])? == "on";
    let habit = Habit::ALL.iter().find(|(known, _)| *known == name);
    // `one_of` only gives names of the list.
    Ok(Step::Habit(
        habit.map_or(Habit::Control, |(_, habit)| *habit),
        on,
    ))
}

/// `expect KIND [conditions] [within 2s]`
fn expect(cursor: &mut Cursor<'_>) -> Parsed<Step> {
    let kind = cursor.word("a type, or the subtype of a control request")?;
    let mut conditions = Vec::new();
    let mut within = None;
    while !cursor.is_done() {
        if cursor.take_word("within") {
            within = Some(cursor.duration()?);
        } else {
            conditions.push(condition(cursor)?);
        }
    }
    Ok(Step::Expect {
        pattern: Pattern {
            kind: kind.to_owned(),
            conditions,
        },
        within,
    })
}

fn condition(cursor: &mut Cursor<'_>) -> Parsed<Condition> {
    if cursor.peek_word().starts_with('{') {
        return Ok(Condition::Subset(cursor.value()?));
    }
    let before = cursor.clone();
    let Some((key, sign)) = cursor.key(&['=', '~']) else {
        return Err(before.error(
            "a JSON object, or a condition like model=opus or content~\"text\", or `within 2s`",
        ));
    };
    let value = if cursor.peek_word().starts_with(['"', '{', '[']) {
        cursor.value()?
    } else {
        let word = cursor.word("a value")?;
        serde_json::from_str(word).unwrap_or_else(|_| Value::from(word))
    };
    match (sign, value) {
        ('=', value) => Ok(Condition::Equals(key.to_owned(), value)),
        (_, Value::String(text)) => Ok(Condition::Contains(key.to_owned(), text)),
        _ => Err(before.error("a text after `~`")),
    }
}

fn wait(cursor: &mut Cursor<'_>) -> Parsed<Step> {
    const EXPECTED: &str =
        "a duration such as 200ms, or `user`, `control SUBTYPE`, `answers`, `forever`";
    Ok(match cursor.peek_word() {
        "user" => {
            cursor.take_word("user");
            Step::WaitUser
        }
        "control" => {
            cursor.take_word("control");
            Step::WaitRequest(cursor.word("the subtype of a control request")?.to_owned())
        }
        "answers" => {
            cursor.take_word("answers");
            let count = if cursor.is_done() {
                None
            } else {
                Some(cursor.number("how many answers")?)
            };
            Step::WaitAnswers(count)
        }
        "forever" => {
            cursor.take_word("forever");
            Step::WaitForever
        }
        word if word.starts_with(|c: char| c.is_ascii_digit()) => Step::Pause(cursor.duration()?),
        word => {
            let meant = words::nearest(word, ["user", "control", "answers", "forever"]);
            return Err(cursor.error(EXPECTED).meaning(meant));
        }
    })
}

/// A number of bytes: `4096`, `64K`, `20M`.
fn size(cursor: &mut Cursor<'_>) -> Parsed<u64> {
    const EXPECTED: &str = "a size such as 4096, 64K or 20M";
    let before = cursor.clone();
    let word = cursor.word(EXPECTED)?;
    let unit = match word.chars().last() {
        Some('K') => 1024,
        Some('M') => 1024 * 1024,
        _ => 1,
    };
    let digits = if unit > 1 {
        &word[..word.len() - 1]
    } else {
        word
    };
    digits
        .parse::<u64>()
        .ok()
        .and_then(|amount| amount.checked_mul(unit))
        .ok_or_else(|| before.error(EXPECTED))
}

/// A text in quotes with `\xHH`, `\n`, `\r`, `\t`, `\0`, `\\` and `\"`.
fn bytes(cursor: &mut Cursor<'_>) -> Parsed<Vec<u8>> {
    const EXPECTED: &str = "bytes in quotes, such as \"\\xff\\x00 text\\n\"";
    let before = cursor.clone();
    let rest = cursor.rest_of_line().trim_end();
    let inner = rest
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
        .ok_or_else(|| before.error(EXPECTED))?;
    let wrong = || before.error(EXPECTED);
    let mut out = Vec::with_capacity(inner.len());
    let mut rest = inner.bytes();
    while let Some(byte) = rest.next() {
        let escape = match byte {
            b'\\' => rest.next(),
            _ => None,
        };
        out.push(match escape {
            None => byte,
            Some(b'x') => {
                let hex: Vec<u8> = rest.by_ref().take(2).collect();
                let hex = std::str::from_utf8(&hex).map_err(|_| wrong())?;
                u8::from_str_radix(hex, 16).map_err(|_| wrong())?
            }
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'0') => 0,
            Some(escaped @ (b'\\' | b'"')) => escaped,
            Some(_) => return Err(wrong()),
        });
    }
    Ok(out)
}
