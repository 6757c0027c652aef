//! Hook callbacks of the host: which are asked, and what their answers come to.

use std::time::Duration;

use serde_json::{Value, json};

use super::Engine;
use super::ask::{Answer, Kind};
use super::lines::merge;
use crate::cli::scenario::Asking;

/// How long a callback may take, unless its matcher says otherwise.
const PATIENCE: Duration = Duration::from_secs(600);

/// What all callbacks of one event said, taken together.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Heard {
    pub(super) decision: Decision,
    pub(super) reason: Option<String>,
    pub(super) updated_input: Option<Value>,
    pub(super) contexts: Vec<String>,
    /// `continue: false`, with its reason.
    pub(super) stop: Option<String>,
    pub(super) messages: Vec<String>,
    /// The answer of a `PermissionRequest` callback.
    pub(super) permission: Option<Value>,
    /// What came in place of an answer.
    pub(super) silence: Option<Answer>,
}

/// What is to become of a call; a later one is stronger.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Decision {
    #[default]
    None,
    Allow,
    Ask,
    Deny,
}

impl Engine {
    /// Whether anybody listens to the event.
    pub(super) fn has_hooks(&self, event: &str, subject: &str) -> bool {
        let matchers = self.hooks[event].as_array();
        let mut matchers = matchers.into_iter().flatten();
        matchers.any(|matcher| applies(matcher["matcher"].as_str().unwrap_or_default(), subject))
            || !self.hook_commands(event, subject).is_empty()
    }

    /// Asks the callbacks of an event.
    pub(super) fn ask_hooks(&mut self, talk: u64, event: &str, fields: &Value) -> Vec<u64> {
        self.put_hooks(talk, event, fields, &Asking::default(), Kind::Hook)
    }

    /// One request for each registered callback that the event is for.
    pub(super) fn put_hooks(
        &mut self,
        talk: u64,
        event: &str,
        fields: &Value,
        asking: &Asking,
        kind: Kind,
    ) -> Vec<u64> {
        let matchers = self.hooks[event].as_array().cloned().unwrap_or_default();
        let subject = ["tool_name", "agent_type", "trigger"];
        let subject = subject.iter().find_map(|key| fields[*key].as_str());
        let subject = subject.unwrap_or_default();
        let mut serials = Vec::new();
        for matcher in matchers {
            if !applies(matcher["matcher"].as_str().unwrap_or_default(), subject) {
                continue;
            }
            let patience = matcher["timeout"].as_f64().map(Duration::from_secs_f64);
            let callbacks = matcher["hookCallbackIds"].as_array().cloned();
            for callback in callbacks.unwrap_or_default() {
                let body = self.hook_body(talk, event, fields, &callback);
                let serial = self.put("hook_callback", body, asking, kind);
                if let Some(open) = self.open.last_mut() {
                    open.due = Some(self.now + patience.unwrap_or(PATIENCE));
                }
                if matcher.get("onFailure").is_some() {
                    self.blocking_hooks.push(serial);
                }
                serials.push(serial);
            }
        }
        if kind == Kind::Hook && !self.settings.sources.is_empty() {
            let body = self.hook_body(talk, event, fields, &Value::Null);
            serials.extend(self.run_hook_commands(event, subject, &body["input"]));
        }
        serials
    }

    /// Tells the callbacks of something that they cannot change; nobody waits for what they say.
    pub(super) fn tell_hooks(&mut self, talk: u64, event: &str, subject: &str, fields: &Value) {
        if !self.has_hooks(event, subject) {
            return;
        }
        let serials = self.ask_hooks(talk, event, fields);
        for open in self
            .open
            .iter_mut()
            .filter(|open| serials.contains(&open.serial))
        {
            open.kind = Kind::Free;
        }
    }

    fn hook_body(&mut self, talk: u64, event: &str, fields: &Value, callback: &Value) -> Value {
        let mut input = json!({
            "session_id": self.session,
            "transcript_path": self.transcript_path(),
            "cwd": self.cwd,
            "permission_mode": self.permissions.mode(),
            "hook_event_name": event,
        });
        let about_tool = fields.get("tool_name").is_some();
        let tool_use_id = match fields["tool_use_id"].as_str() {
            Some(id) => id.to_owned(),
            None if about_tool => self.ids.tool_use(),
            None => self.ids.uuid(),
        };
        let prompt = self.turn.as_ref().map(|turn| turn.prompt_id.clone());
        input["prompt_id"] = prompt.into();
        if event == "SubagentStart" {
            if let Some(fields) = input.as_object_mut() {
                fields.remove("permission_mode");
            }
        } else if event != "UserPromptSubmit" {
            input["effort"] = json!({"level": "medium"});
        }
        if let Some(agent) = self.agent(talk) {
            input["agent_id"] = agent.task_id.clone().into();
            input["agent_type"] = agent.kind.clone().into();
        }
        if about_tool && event != "PermissionRequest" {
            input["tool_use_id"] = tool_use_id.clone().into();
        }
        merge(&mut input, fields);
        json!({"callback_id": callback, "input": input, "tool_use_id": tool_use_id})
    }

    /// What the callbacks said, once all have.
    pub(super) fn take_heard(&mut self, serials: &[u64]) -> Option<Heard> {
        if serials.iter().any(|serial| self.is_open(*serial)) {
            return None;
        }
        let mut heard = Heard::default();
        for serial in serials {
            match self.take_answer(*serial) {
                Some(Answer::Said(envelope)) if envelope["subtype"] == "success" => {
                    hear(&mut heard, &envelope["response"]);
                }
                Some(Answer::Said(_)) if self.blocking_hooks.contains(serial) => {
                    heard.decision = Decision::Deny;
                    heard.reason = Some("the hook failed".to_owned());
                }
                Some(Answer::Said(_)) | None => {}
                silence => heard.silence = silence,
            }
        }
        Some(heard)
    }

    /// What a callback wants a person to read.
    pub(super) fn say_hook_messages(&mut self, heard: &Heard) {
        for message in &heard.messages {
            let line = json!({"subtype": "informational", "content": message, "level": "warning"});
            self.say_system(line);
        }
    }
}

/// Adds the answer of one callback to what was heard.
fn hear(heard: &mut Heard, answer: &Value) {
    let special = &answer["hookSpecificOutput"];
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let (decision, reason) = match (
        answer["decision"].as_str(),
        special["permissionDecision"].as_str(),
    ) {
        (_, Some("allow")) => (Decision::Allow, text(&special["permissionDecisionReason"])),
        (_, Some("ask")) => (Decision::Ask, text(&special["permissionDecisionReason"])),
        (_, Some("deny")) => (Decision::Deny, text(&special["permissionDecisionReason"])),
        (_, Some(_)) => (Decision::None, None),
        (Some("approve"), None) => (Decision::Allow, text(&answer["reason"])),
        (Some("block"), None) => (Decision::Deny, text(&answer["reason"])),
        _ => (Decision::None, None),
    };
    if decision > heard.decision {
        heard.decision = decision;
        heard.reason = reason;
    }
    if special["updatedInput"].is_object() {
        heard.updated_input = Some(special["updatedInput"].clone());
    }
    heard.contexts.extend(text(&special["additionalContext"]));
    heard.messages.extend(text(&answer["systemMessage"]));
    if answer["continue"] == false {
        heard.stop = Some(text(&answer["stopReason"]).unwrap_or_default());
    }
    if special["decision"].is_object() && heard.permission.is_none() {
        heard.permission = Some(special["decision"].clone());
    }
}

/// Whether a matcher is for this subject: a plain name, names with `|` between them, or a regular expression.
pub(super) fn applies(matcher: &str, subject: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '|');
    match matcher {
        "" | "*" => true,
        names if names.chars().all(plain) => names.split('|').any(|name| name == subject),
        expression => fancy_regex::Regex::new(expression)
            .and_then(|expression| expression.is_match(subject))
            .unwrap_or(false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_matcher_is_the_whole_name_and_others_are_expressions() {
        for (matcher, expected) in [
            ("Bash", true),
            ("bash", false),
            ("Ba", false),
            ("Read|Bash", true),
            ("*", true),
            ("", true),
            ("^Bash$", true),
            ("^(?!Write$).*", true),
            ("^(?!Bash$).*", false),
            ("B.*h", true),
            ("(", false),
        ] {
            assert_eq!(applies(matcher, "Bash"), expected, "{matcher}");
        }
    }

    #[test]
    fn the_strictest_of_several_answers_counts() {
        let mut heard = Heard::default();
        for (decision, reason) in [("allow", "fine"), ("deny", "no"), ("ask", "hm")] {
            let answer = json!({"hookSpecificOutput": {
                "permissionDecision": decision, "permissionDecisionReason": reason}});
            hear(&mut heard, &answer);
        }
        assert_eq!(heard.decision, Decision::Deny);
        assert_eq!(heard.reason.as_deref(), Some("no"));
    }
}
