//! Asking the mind: the model script, or the rules. What it says becomes steps of the block that asked.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::Engine;
use super::deed::{Deed, Kind};
use super::endings::without_times;
use super::fiber::{Fiber, Wait};
use super::talk::{MAIN, text_of};
use crate::cli::mind;
use crate::cli::scenario::{Amend, Calling, Step};
use crate::model::inline::{Part, Spoken};

/// Time before the first retry; each further one waits twice as long.
const RETRY: Duration = Duration::from_millis(500);

impl Engine {
    /// The next message of the model script.
    pub(super) fn consult(&mut self, fiber: &mut Fiber) {
        let key = fiber.talk;
        self.close_message(key, "end_turn");
        if self.talk(key).stop_reason.as_deref() == Some("max_tokens") {
            let text = "Output token limit hit. Resume directly — no apology, no recap.";
            let content = json!([{"type": "text", "text": text}]);
            let line = self.say_user(key, content, json!({"isSynthetic": true}));
            self.note_aside(key, &line);
        }
        if key == MAIN && self.talk(MAIN).requests > 0 {
            self.fold();
        }
        if key == MAIN && self.turn.is_some() && !self.may_ask_model() {
            return;
        }
        let model = self.model_of(key);
        let heard = self.talk(key).heard.clone();
        let request = json!({
            "model": model, "stream": true, "tools": [{}], "messages": heard,
        });
        let Some(mind) = &mut self.mind else {
            return;
        };
        let reply = mind.reply(&request);
        self.keep_state();
        match reply {
            Ok(spoken) => self.take_reply(fiber, spoken),
            Err(why) => {
                let text = format!("400 scripted model: {why}");
                self.api_failure(key, 400, "invalid_request_error", &text);
            }
        }
    }

    /// For the next process, which goes on with the script.
    fn keep_state(&mut self) {
        let (Some(mind), Some(path)) = (&self.mind, &self.state_file) else {
            return;
        };
        let deed = Deed(Kind::Write {
            path: path.to_string_lossy().into_owned(),
            text: mind.state().to_string(),
        });
        self.order(deed);
    }

    fn take_reply(&mut self, fiber: &mut Fiber, spoken: Spoken) {
        self.talk(fiber.talk).counts = spoken.usage;
        self.talk(fiber.talk).stop_as = spoken.stop.map(|stop| stop.reason);
        self.talk(fiber.talk).pace = Duration::ZERO;
        self.talk(fiber.talk).chunk = None;
        let mut steps = Vec::new();
        let mut calls = Vec::new();
        for part in spoken.parts {
            match part {
                Part::Think(text) => steps.push(Step::Think(escaped(&text), Amend::default())),
                Part::Say(text) => steps.push(Step::Say(escaped(&text), Amend::default())),
                Part::Block(block) => steps.push(Step::Block(block, Amend::default())),
                Part::Wait(time) => steps.push(Step::Pause(time)),
                Part::Pace(time) => steps.push(Step::Pace(time)),
                Part::Chunk(size) => self.talk(fiber.talk).chunk = Some(size),
                Part::Tool { name, input } => calls.push(Step::Tool(Calling {
                    name,
                    input,
                    gives: None,
                    nowait: false,
                })),
                Part::Error {
                    status,
                    kind,
                    text,
                    headers,
                } => {
                    let retry = headers.iter().find(|(name, _)| name == "retry-after");
                    let retry = retry.and_then(|(_, value)| value.parse().ok());
                    let retry_after = retry.map(Duration::from_secs);
                    fiber.enter(steps.into(), Some(1));
                    return self.fail_or_retry(fiber, status, &kind, &text, retry_after);
                }
                Part::Event { .. } => {}
                Part::Cut { .. } => {
                    fiber.enter(steps.into(), Some(1));
                    return self.fail_or_retry(fiber, 0, "connection", "Connection error.", None);
                }
            }
        }
        if !calls.is_empty() {
            steps.push(Step::Together(calls.into()));
            steps.push(Step::Consult);
        } else if self.talk(fiber.talk).stop_as.as_deref() == Some("max_tokens") {
            steps.push(Step::Consult);
        }
        fiber.enter(steps.into(), Some(1));
    }

    fn fail_or_retry(
        &mut self,
        fiber: &mut Fiber,
        status: u16,
        kind: &str,
        text: &str,
        retry_after: Option<Duration>,
    ) {
        let most = self.flags_of_env.max_retries;
        let again = matches!(status, 0 | 401 | 408 | 409 | 429 | 500..=599);
        let attempts = self.talk(fiber.talk).attempts;
        if !again || attempts >= most {
            let text = format!("{status} {text}");
            return self.api_failure(fiber.talk, status, kind, &text);
        }
        self.talk(fiber.talk).attempts += 1;
        let delay = retry_after.unwrap_or(RETRY * 2u32.saturating_pow(attempts.min(6)));
        let word = match kind {
            "api_error" => "server_error",
            "authentication_error" => "authentication_failed",
            kind => kind.trim_end_matches("_error"),
        };
        let status = (status > 0).then_some(status);
        self.say_system(json!({
            "subtype": "api_retry",
            "attempt": attempts + 1,
            "max_retries": most,
            "retry_delay_ms": u64::try_from(delay.as_millis()).unwrap_or_default(),
            "error_status": status,
            "error": word,
        }));
        fiber.enter(Arc::new([Step::Consult]), Some(1));
        fiber.wait = Wait::Until(self.now + delay);
    }

    /// The model cannot be reached: the turn ends with what the API said, or the sub-agent fails.
    pub(super) fn api_failure(&mut self, talk: u64, status: u16, kind: &str, text: &str) {
        let text = match status {
            500..=599 => format!(
                "API Error: {text}. This is a problem of the service, and usually a passing one."
            ),
            404 => text.to_owned(),
            _ => format!("API Error: {text}"),
        };
        if talk != MAIN {
            self.talk(talk).said = text;
            self.fibers.retain(|fiber| fiber.talk != talk);
            self.finish_agent(talk);
            return;
        }
        self.close_message(MAIN, "end_turn");
        let mut line = self.synthetic(&text);
        line["error"] = match status {
            401 | 403 => "authentication_failed",
            404 => "model_not_found",
            429 => "rate_limit",
            529 => "overloaded",
            500..=599 => "server_error",
            _ => "unknown",
        }
        .into();
        line["request_id"] = self.ids.request().into();
        line["is_api_error_message"] = true.into();
        line["api_error_status"] = status.into();
        line["api_error_type"] = kind.into();
        self.note_failure(&line);
        self.say_value(&line);
        self.talk(MAIN).said = text;
        self.talk(MAIN).requests = self.talk(MAIN).requests.max(1);
        self.talk(MAIN).stop_reason = Some("stop_sequence".to_owned());
        let amend = without_times(json!({
            "is_error": true,
            "terminal_reason": "api_error",
            "api_error_status": status,
            "api_error_type": kind,
        }));
        self.end_amended(None, amend);
    }

    /// Whether there is a model of this name.
    fn is_served(&self) -> bool {
        let aliases = ["default", "opus", "sonnet", "haiku", "opusplan"];
        self.model.starts_with("claude-") || aliases.contains(&self.model.as_str())
    }

    /// A line in the model's place that the CLI itself says.
    pub(super) fn synthetic(&mut self, text: &str) -> Value {
        let mut line = Value::Object(self.cast.line("synthetic"));
        line["message"]["id"] = self.ids.uuid().into();
        line["message"]["usage"] = Value::Object(self.cast.line("no_usage"));
        line["message"]["content"] = json!([{"type": "text", "text": text}]);
        line["session_id"] = self.session.clone().into();
        line["uuid"] = self.ids.uuid().into();
        self.stamp(&mut line);
        line
    }

    /// Does what a plain request says.
    pub(super) fn follow(&mut self, fiber: &mut Fiber, request: Option<&str>) {
        let key = fiber.talk;
        let newest = (self.talk(key).heard.iter().rev())
            .find(|message| message["role"] == "user" && !text_of(&message["content"]).is_empty());
        let newest = newest
            .map(|message| text_of(&message["content"]))
            .unwrap_or_default();
        let prompt = match (request, &self.turn) {
            (Some(request), _) => request.to_owned(),
            (None, Some(turn)) if key == MAIN => turn.prompt.clone(),
            _ => newest,
        };
        if !self.is_served() {
            let text = format!(
                "There's an issue with the selected model ({}). It may not exist or you may not have access to it.",
                self.model
            );
            return self.api_failure(key, 404, "not_found_error", &text);
        }
        let first_prompt = self.talk(key).first_prompt();
        let (tools, agents) = (self.tool_names(), self.agent_names());
        let schema = self.flags.schema.clone().filter(|_| key == MAIN);
        let steps = mind::follow(&mind::Request {
            prompt: &prompt,
            first_prompt: &first_prompt,
            mode: self.permissions.mode(),
            model: &self.model,
            cwd: &self.cwd,
            plan_file: self.plan_file.as_deref(),
            schema: schema.as_ref(),
            tools: &tools,
            inputs: &self.servers.inputs(),
            agents: &agents,
        });
        fiber.enter(steps.into(), Some(1));
    }
}

/// So that the text is not filled a second time.
fn escaped(text: &str) -> String {
    text.replace("${", "$${")
}
