//! The same script without a server: asked in the process that plays it.
//!
//! Owns the counts and values of one run. What a reply holds comes back part by part, filled in; how it is said is the
//! caller's matter. Invariant: the same requests in the same order get the same parts as over HTTP.

use serde_json::{Value, json};

pub(crate) use super::script::{Part, Spoken};

use super::Vars;
use super::ask::Ask;
use super::reply::choose;
use super::script::{Script, UnknownVariable};

/// A script that is being asked.
#[derive(Debug)]
pub(crate) struct Inline {
    script: Script,
    vars: Vars,
    used: Vec<u32>,
}

impl Inline {
    pub(crate) fn new(script: Script, vars: Vars) -> Result<Self, UnknownVariable> {
        script.check(&vars)?;
        let used = vec![0; script.replies()];
        Ok(Self { script, vars, used })
    }

    /// How far the script is: what a later process needs to go on with it.
    pub(crate) fn state(&self) -> Value {
        json!({"used": self.used, "vars": self.vars})
    }

    /// Goes on where an earlier process was.
    pub(crate) fn restore(&mut self, state: &Value) {
        let used = serde_json::from_value::<Vec<u32>>(state["used"].clone());
        for (known, times) in self.used.iter_mut().zip(used.unwrap_or_default()) {
            *known = times;
        }
        let vars = serde_json::from_value::<Vars>(state["vars"].clone());
        self.vars.extend(vars.unwrap_or_default());
    }

    /// The reply to a request in the form of the Messages API; an error says why there is none.
    pub(crate) fn reply(&mut self, request: &Value) -> Result<Spoken, String> {
        let ask = Ask::read(request.to_string().as_bytes()).map_err(|error| error.to_string())?;
        let chosen = choose(&self.script, &mut self.used, &mut self.vars, &ask);
        chosen.map(|(_, spoken)| spoken)
    }
}
