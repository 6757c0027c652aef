//! The host's part of a scenario, one command a line: `send`, `expect`, `answer`, `control`,
//! `interrupt`, `wait`, `close`, `start`. Pure; the runner is elsewhere.

use std::time::Duration;

use super::lex::{Cursor, Wrong};
use super::{Matcher, Numbered, ScenarioError, statements};
use crate::json::Json;

/// One command with its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// The line of the file it starts on.
    pub line: usize,
    /// As it was written.
    pub text: String,
    /// What to do.
    pub kind: StepKind,
}

/// What to do.
#[derive(Debug, Clone, PartialEq)]
pub enum StepKind {
    /// Start the CLI (again) with these flags beside the scenario's own.
    Start(Vec<String>),
    /// Write a user message.
    Say(String),
    /// Write this line.
    Raw(Json),
    /// Wait for such a line, after the last expected one.
    Expect {
        /// What it looks like.
        matcher: Matcher,
        /// The name under which later steps know it.
        name: Option<String>,
        /// How long to wait.
        within: Option<Duration>,
    },
    /// Answer the request of that name.
    Answer {
        /// The name an `expect … as` gave.
        to: String,
        /// With what.
        answer: Answer,
    },
    /// Send a control request, and wait for its answer unless told otherwise.
    Control(Control),
    /// Close the CLI's stdin.
    Close,
    /// Wait until the CLI has ended, with that exit code if one is given.
    WaitExit(Option<i32>),
    /// Let time pass.
    WaitFor(Duration),
}

/// A control request of the host.
#[derive(Debug, Clone, PartialEq)]
pub struct Control {
    /// What is asked.
    pub subtype: String,
    /// The other fields of the request.
    pub fields: Json,
    /// Whether the step waits for the answer.
    pub awaited: bool,
    /// The name under which later steps know the answer.
    pub name: Option<String>,
}

/// The content of a control response.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// A tool may run.
    Allow {
        /// In place of the input that was asked about.
        input: Option<Json>,
        /// Added to that input as `answers` (AskUserQuestion).
        answers: Option<Json>,
        /// `updatedPermissions`.
        permissions: Option<Json>,
    },
    /// A tool may not run.
    Deny {
        /// Told to the model.
        message: String,
        /// Whether the turn ends.
        interrupt: bool,
    },
    /// A success with this content.
    Json(Json),
    /// An error with this text.
    Error(String),
}

pub(super) fn parse(lines: &[Numbered<'_>]) -> Result<Vec<Step>, ScenarioError> {
    statements(lines)
        .into_iter()
        .map(|(number, text)| match step(&text) {
            Ok(kind) => Ok(Step {
                line: number,
                text,
                kind,
            }),
            Err(wrong) => Err(ScenarioError::at(number, wrong.column, wrong.what)),
        })
        .collect()
}

fn step(text: &str) -> Result<StepKind, Wrong> {
    let mut line = Cursor::new(text);
    let start = line.clone();
    let kind = match line.word("a command")? {
        "start" => StepKind::Start(line.words()?),
        "send" => send(&mut line)?,
        "expect" => expect(&mut line)?,
        "answer" => StepKind::Answer {
            to: line.word("the name of a request")?.to_owned(),
            answer: answer(&mut line)?,
        },
        "control" => {
            let subtype = line.word("a subtype")?.to_owned();
            StepKind::Control(control(subtype, &mut line)?)
        }
        "interrupt" => StepKind::Control(control("interrupt".to_owned(), &mut line)?),
        "close" => StepKind::Close,
        "wait" => wait(&mut line)?,
        other => {
            let what = format!(
                "expected start, send, expect, answer, control, interrupt, close or wait, not {other:?}"
            );
            return Err(start.wrong(what));
        }
    };
    line.end()?;
    Ok(kind)
}

fn send(line: &mut Cursor<'_>) -> Result<StepKind, Wrong> {
    let before = line.clone();
    match line.json("a text or an object")? {
        Json::String(text) => Ok(StepKind::Say(text)),
        object @ Json::Object(_) => Ok(StepKind::Raw(object)),
        _ => Err(before.wrong("expected a text or an object")),
    }
}

fn expect(line: &mut Cursor<'_>) -> Result<StepKind, Wrong> {
    let matcher = Matcher::parse(line)?;
    let name = name(line)?;
    let within = if line.take("within") {
        Some(duration(line)?)
    } else {
        None
    };
    Ok(StepKind::Expect {
        matcher,
        name,
        within,
    })
}

fn name(line: &mut Cursor<'_>) -> Result<Option<String>, Wrong> {
    Ok(if line.take("as") {
        Some(line.word("a name")?.to_owned())
    } else {
        None
    })
}

fn answer(line: &mut Cursor<'_>) -> Result<Answer, Wrong> {
    let start = line.clone();
    match line.word("allow, deny, json or error")? {
        "allow" => {
            let (mut input, mut answers, mut permissions) = (None, None, None);
            while !line.is_empty() {
                let before = line.clone();
                let slot = match line.word("input, answers or permissions")? {
                    "input" => &mut input,
                    "answers" => &mut answers,
                    "permissions" => &mut permissions,
                    _ => return Err(before.wrong("expected input, answers or permissions")),
                };
                *slot = Some(line.json("its value")?);
            }
            Ok(Answer::Allow {
                input,
                answers,
                permissions,
            })
        }
        "deny" => {
            let message = line.text("the reason")?;
            Ok(Answer::Deny {
                message,
                interrupt: line.take("interrupt"),
            })
        }
        "json" => Ok(Answer::Json(line.json("the response")?)),
        "error" => Ok(Answer::Error(line.text("the error")?)),
        other => Err(start.wrong(format!(
            "expected allow, deny, json or error, not {other:?}"
        ))),
    }
}

fn control(subtype: String, line: &mut Cursor<'_>) -> Result<Control, Wrong> {
    let fields = if line.peek().starts_with('{') {
        line.json("fields")?
    } else {
        Json::Object(Vec::new())
    };
    let awaited = !line.take("unanswered");
    Ok(Control {
        subtype,
        fields,
        awaited,
        name: name(line)?,
    })
}

fn wait(line: &mut Cursor<'_>) -> Result<StepKind, Wrong> {
    if !line.take("exit") {
        return Ok(StepKind::WaitFor(duration(line)?));
    }
    if line.is_empty() {
        return Ok(StepKind::WaitExit(None));
    }
    let before = line.clone();
    let code = line.word("an exit code")?.parse();
    code.map(|code| StepKind::WaitExit(Some(code)))
        .map_err(|_| before.wrong("expected an exit code"))
}

fn duration(line: &mut Cursor<'_>) -> Result<Duration, Wrong> {
    let before = line.clone();
    let word = line.word("a time like 300ms or 5s")?;
    let millis = match (word.strip_suffix("ms"), word.strip_suffix('s')) {
        (Some(number), _) => number.parse().ok(),
        (None, Some(number)) => number.parse::<u64>().ok().map(|seconds| seconds * 1000),
        (None, None) => None,
    };
    millis
        .map(Duration::from_millis)
        .ok_or_else(|| before.wrong("expected a time like 300ms or 5s"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> StepKind {
        parse(&[(1, text)]).unwrap().remove(0).kind
    }

    fn wrong(text: &str) -> String {
        parse(&[(4, text)]).unwrap_err().to_string()
    }

    #[test]
    fn a_text_becomes_a_user_message_and_an_object_a_raw_line() {
        assert_eq!(one(r#"send "Hi""#), StepKind::Say("Hi".into()));
        let raw = Json::object([("type", Json::from("keep_alive"))]);
        assert_eq!(one(r#"send {"type":"keep_alive"}"#), StepKind::Raw(raw));
    }

    #[test]
    fn an_expectation_has_a_name_and_a_deadline_of_its_own() {
        let StepKind::Expect {
            matcher,
            name,
            within,
        } = one("expect control_request/can_use_tool tool_name=Bash as ask within 40s")
        else {
            panic!("not an expectation");
        };
        assert_eq!(
            matcher.to_string(),
            r#"control_request/can_use_tool tool_name="Bash""#
        );
        assert_eq!(name.as_deref(), Some("ask"));
        assert_eq!(within, Some(Duration::from_secs(40)));
    }

    #[test]
    fn answers_allow_deny_or_say_anything() {
        let StepKind::Answer { to, answer } =
            one(r#"answer ask allow permissions [{"type":"setMode"}]"#)
        else {
            panic!("not an answer");
        };
        assert_eq!(to, "ask");
        assert!(matches!(
            answer,
            Answer::Allow {
                input: None,
                permissions: Some(_),
                ..
            }
        ));
        let deny = Answer::Deny {
            message: "no".into(),
            interrupt: true,
        };
        assert_eq!(
            one(r#"answer a deny "no" interrupt"#),
            StepKind::Answer {
                to: "a".into(),
                answer: deny
            }
        );
    }

    #[test]
    fn a_control_request_is_awaited_unless_told_otherwise() {
        let StepKind::Control(control) = one(r#"control set_model {"model":"m"} as reply"#) else {
            panic!("not a control request");
        };
        assert!(control.awaited);
        assert_eq!(control.name.as_deref(), Some("reply"));
        assert!(matches!(
            one("interrupt unanswered"),
            StepKind::Control(Control { awaited: false, .. })
        ));
    }

    #[test]
    fn waiting_is_for_an_end_or_a_time() {
        assert_eq!(one("wait exit 1"), StepKind::WaitExit(Some(1)));
        assert_eq!(one("wait exit"), StepKind::WaitExit(None));
        assert_eq!(
            one("wait 300ms"),
            StepKind::WaitFor(Duration::from_millis(300))
        );
    }

    #[test]
    fn errors_name_line_column_and_what_was_expected() {
        assert_eq!(
            wrong("answer ask maybe"),
            "line 4, column 12: expected allow, deny, json or error, not \"maybe\""
        );
        assert_eq!(
            wrong("wait long"),
            "line 4, column 6: expected a time like 300ms or 5s"
        );
        assert_eq!(
            wrong("close now"),
            "line 4, column 7: did not expect \"now\" here"
        );
        assert!(wrong("say \"x\"").contains("expected start, send, expect"));
    }
}
