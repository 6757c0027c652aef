//! The whole decision about one request to the model: which reply, with which values, or why none.
//!
//! Pure: changes only the counts and values it is given. Invariant: what the script has no answer for is an error
//! the client does not retry and the report lists, never a made-up turn.

use std::time::Duration;

use super::ask::Ask;
use super::choose::{self, Choice, Used};
use super::message::Context;
use super::render::{self, Form, Rendered, Rendition};
use super::script::{Reply, Script};
use super::{Vars, api_error, side};

#[derive(Debug, PartialEq)]
pub(super) struct Decision {
    pub(super) answer: Rendered,
    pub(super) reply_line: Option<usize>,
    /// Why the script had no answer.
    pub(super) unexpected: Option<String>,
}

impl Decision {
    pub(super) fn status(&self) -> u16 {
        match self.answer.body {
            Rendition::Error { status, .. } => status,
            Rendition::Stream(_) | Rendition::Whole { .. } => 200,
        }
    }

    pub(super) fn refused(why: String, digest: u64) -> Self {
        let message = format!("scripted model: {why}");
        let body = Rendition::Error {
            status: 400,
            headers: vec![("x-should-retry".to_owned(), "false".to_owned())],
            body: api_error::body(api_error::kind(400), &message, &render::request_id(digest)),
        };
        Self {
            answer: Rendered {
                delay: Duration::ZERO,
                body,
            },
            reply_line: None,
            unexpected: Some(why),
        }
    }
}

pub(super) fn decide(script: &Script, used: &mut Used, vars: &mut Vars, ask: &Ask) -> Decision {
    let form = if ask.stream {
        Form::Stream
    } else {
        Form::Whole
    };
    match choose::choose(script, vars, used, ask) {
        Choice::Reply(place) => {
            let reply = &script.replies[place];
            match scripted(reply, vars, ask, form) {
                Ok(answer) => Decision {
                    answer,
                    reply_line: Some(reply.line),
                    unexpected: None,
                },
                Err(why) => Decision::refused(why, ask.digest),
            }
        }
        Choice::SideDefault => Decision {
            answer: side::default_reply(script, vars, ask, form),
            reply_line: None,
            unexpected: None,
        },
        Choice::ScriptAtEnd => Decision::refused(at_end(script), ask.digest),
    }
}

/// Why there is no reply any more.
pub(super) fn at_end(script: &Script) -> String {
    let count = script.replies.len();
    format!("the script is at its end; replies in it: {count}, and this request needs one more")
}

/// Takes the values that the reply wants from the request; the error says which is not there.
pub(super) fn take_values(reply: &Reply, vars: &mut Vars, ask: &Ask) -> Result<(), String> {
    for take in &reply.takes {
        let found = ask.between(&take.after, &take.until).ok_or_else(|| {
            format!(
                "script {}: nothing in the request stands between {:?} and {:?}",
                take.at, take.after, take.until
            )
        })?;
        vars.insert(take.name.clone(), found.to_owned());
    }
    // The check at load goes by the order in the script; replies with a condition may come in another.
    reply
        .check(|name| vars.contains_key(name))
        .map_err(|error| format!("script {error}"))
}

fn scripted(reply: &Reply, vars: &mut Vars, ask: &Ask, form: Form) -> Result<Rendered, String> {
    take_values(reply, vars, ask)?;
    let context = Context {
        model: &ask.model,
        digest: ask.digest,
        vars,
    };
    Ok(render::render(reply, context, form))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn decided(script: &str, texts: &[&str]) -> Vec<Decision> {
        let script = Script::parse(script).unwrap();
        let (mut used, mut vars) = (Used::none(&script), Vars::new());
        let ask = |text: &&str| {
            let body = json!({"tools": [{}], "messages": [{"role": "user", "content": text}]});
            Ask::read(body.to_string().as_bytes()).unwrap()
        };
        texts
            .iter()
            .map(ask)
            .map(|ask| decide(&script, &mut used, &mut vars, &ask))
            .collect()
    }

    #[test]
    fn a_reply_is_named_by_its_line() {
        let decisions = decided("reply\nsay \"a\"\n\nreply\nerror 529 \"b\"", &["", ""]);
        let seen: Vec<_> = decisions
            .iter()
            .map(|decision| (decision.status(), decision.reply_line))
            .collect();
        assert_eq!(seen, [(200, Some(1)), (529, Some(4))]);
    }

    #[test]
    fn the_end_of_the_script_is_an_error_nobody_retries() {
        let decision = decided("", &[""]).remove(0);
        let Rendition::Error {
            status,
            headers,
            body,
        } = decision.answer.body
        else {
            panic!("no error")
        };
        assert_eq!((status, headers[0].1.as_str()), (400, "false"));
        let message = body["error"]["message"].as_str().unwrap();
        assert!(
            message.starts_with("scripted model: the script is at its end"),
            "{message}"
        );
        assert!(decision.unexpected.is_some());
    }

    #[test]
    fn a_value_not_taken_yet_is_refused_not_sent_as_it_is_written() {
        let script = "reply when \"first\"\ntake id after \"<\" until \">\"\nsay \"${id}\"\nreply\nsay \"${id}\"";
        let decisions = decided(script, &["other", "first <1>"]);
        let why = decisions[0].unexpected.as_ref().unwrap();
        assert!(
            why.contains("line 5, column 5") && why.contains("${id}"),
            "{why}"
        );
        assert_eq!(decisions[1].reply_line, Some(1));
    }
}
