//! The same script without a server: asked in the process that plays it.
//!
//! Owns the counts and values of one run. What a reply holds comes back part by part, filled in; how it is said is the
//! caller's matter. Invariant: the same requests in the same order get the same parts as over HTTP.

use std::time::Duration;

use serde_json::Value;

use super::ask::Ask;
use super::choose::{self, Choice, Used};
use super::message::expand;
use super::script::{Script, Step, UnknownVariable, Usage};
use super::{Vars, api_error, decide, template};

/// A script that is being asked.
#[derive(Debug)]
pub(crate) struct Inline {
    script: Script,
    vars: Vars,
    used: Used,
}

/// One reply of the script.
#[derive(Debug, Default)]
pub(crate) struct Spoken {
    pub(crate) parts: Vec<Part>,
    pub(crate) usage: Tokens,
    /// Why the model stopped, where the script says so.
    pub(crate) stop: Option<String>,
}

/// Token counts, as far as the script names them.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Tokens {
    pub(crate) input: Option<u64>,
    pub(crate) output: Option<u64>,
    pub(crate) cache_read: Option<u64>,
    pub(crate) cache_write: Option<u64>,
}

/// A part of a reply, filled in.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Part {
    Think(String),
    Say(String),
    Tool {
        name: String,
        input: Value,
    },
    Block(Value),
    Wait(Duration),
    Pace(Duration),
    Chunk(usize),
    Error {
        status: u16,
        kind: String,
        text: String,
        retry_after: Option<Duration>,
    },
    /// The connection breaks here.
    Cut,
}

impl Inline {
    pub(crate) fn new(script: Script, vars: Vars) -> Result<Self, UnknownVariable> {
        script.check(&vars)?;
        let used = Used::none(&script);
        Ok(Self { script, vars, used })
    }

    /// How far the script is: what a later process needs to go on with it.
    pub(crate) fn state(&self) -> Value {
        let used: Vec<u32> = (0..self.script.replies.len())
            .map(|place| self.used.times(place))
            .collect();
        serde_json::json!({"used": used, "vars": self.vars})
    }

    /// Goes on where an earlier process was.
    pub(crate) fn restore(&mut self, state: &Value) {
        let used = state["used"].as_array().into_iter().flatten();
        for (place, times) in used.enumerate().take(self.script.replies.len()) {
            let times = times.as_u64().and_then(|times| u32::try_from(times).ok());
            self.used.set(place, times.unwrap_or_default());
        }
        if let Ok(vars) = serde_json::from_value::<Vars>(state["vars"].clone()) {
            self.vars.extend(vars);
        }
    }

    /// The reply to a request in the form of the Messages API; an error says why there is none.
    pub(crate) fn reply(&mut self, request: &Value) -> Result<Spoken, String> {
        let ask = Ask::read(request.to_string().as_bytes()).map_err(|error| error.to_string())?;
        let place = match choose::choose(&self.script, &self.vars, &mut self.used, &ask) {
            Choice::Reply(place) => place,
            Choice::SideDefault => return Ok(Spoken::default()),
            Choice::ScriptAtEnd => return Err(decide::at_end(&self.script)),
        };
        let reply = &self.script.replies[place];
        decide::take_values(reply, &mut self.vars, &ask)?;
        let vars = &self.vars;
        let parts = reply.steps.iter().filter_map(|step| part(step, vars));
        Ok(Spoken {
            parts: parts.collect(),
            usage: tokens(&reply.usage),
            stop: reply.stop.as_ref().map(|stop| stop.reason.clone()),
        })
    }
}

fn tokens(usage: &Usage) -> Tokens {
    Tokens {
        input: usage.input,
        output: usage.output,
        cache_read: usage.cache_read,
        cache_write: usage.cache_write,
    }
}

/// None for what only the stream of the API has.
fn part(step: &Step, vars: &Vars) -> Option<Part> {
    Some(match step {
        Step::Think(text) => Part::Think(expand(text, vars)),
        Step::Say(text) => Part::Say(expand(text, vars)),
        Step::Tool { name, input } => Part::Tool {
            name: name.clone(),
            input: template::expand_json(&input.template, vars),
        },
        Step::Block(block) => Part::Block(template::expand_json(&block.template, vars)),
        Step::Wait(time) => Part::Wait(*time),
        Step::Pace(time) => Part::Pace(*time),
        Step::Chunk(size) => Part::Chunk(*size),
        Step::Error(error) => Part::Error {
            status: error.status,
            kind: match &error.kind {
                Some(kind) => kind.clone(),
                None => api_error::kind(error.status).to_owned(),
            },
            text: expand(&error.message, vars),
            retry_after: error
                .headers
                .iter()
                .find(|(name, _)| name == "retry-after")
                .and_then(|(_, value)| value.parse().ok())
                .map(Duration::from_secs),
        },
        Step::Cut(_) => Part::Cut,
        Step::Event { .. } => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn request(text: &str) -> Value {
        json!({"tools": [{}], "messages": [{"role": "user", "content": text}]})
    }

    #[test]
    fn replies_come_in_order_with_values_taken_from_the_request() {
        let script = "reply\n take who after \"<\" until \">\"\n say \"hello ${who}\"\nreply\n tool Bash {\"command\":\"echo ${who}\"}";
        let mut inline = Inline::new(Script::parse(script).unwrap(), Vars::new()).unwrap();
        let first = inline.reply(&request("I am <heron>")).unwrap();
        assert_eq!(first.parts, [Part::Say("hello heron".to_owned())]);
        let second = inline.reply(&request("more")).unwrap();
        let input = json!({"command": "echo heron"});
        let name = "Bash".to_owned();
        assert_eq!(second.parts, [Part::Tool { name, input }]);
        let third = inline.reply(&request("more")).unwrap_err();
        assert!(third.contains("at its end"), "{third}");
    }

    #[test]
    fn an_error_has_the_type_of_its_status() {
        let script = "reply\n error 529 \"busy\" retry-after=1";
        let mut inline = Inline::new(Script::parse(script).unwrap(), Vars::new()).unwrap();
        let spoken = inline.reply(&request("x")).unwrap();
        let expected = Part::Error {
            status: 529,
            kind: "overloaded_error".to_owned(),
            text: "busy".to_owned(),
            retry_after: Some(Duration::from_secs(1)),
        };
        assert_eq!(spoken.parts, [expected]);
    }
}
