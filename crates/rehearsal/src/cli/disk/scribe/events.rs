//! The records that the CLI adds to a conversation by itself: what it told the model in passing, what it did without the
//! model, and what rounds off a session that was cut off.
//!
//! They hang on the record before them like any other.

use serde_json::{Value, json};

use super::records::{Denial, Reported};
use super::{Line, Moment, Scribe, Who, stamp};

const CUT_OFF: &str = "[Tool call interrupted: the session ended before this call's result was recorded, so its \
     outcome is unknown. Check whether it took effect before relying on it or running it again.]";
pub(in crate::cli::disk) const NO_ANSWER: &str = "No response requested.";

impl Scribe {
    /// A line of the CLI in the model's place: an error of the service. `fields` stand as on the wire.
    pub(in crate::cli) fn failed(
        &mut self,
        moment: Moment<'_>,
        message: &Value,
        fields: &[(&str, &Value)],
    ) {
        self.synthetic(moment, message, |line| {
            for (key, value) in fields {
                line.put(key, value);
            }
            line.put("madeBy", "model");
        });
    }

    /// Something the model was told in passing, such as the context of a hook. `told` is the text it saw.
    pub(in crate::cli) fn attached(
        &mut self,
        who: Who<'_>,
        moment: Moment<'_>,
        attachment: &Value,
        told: Option<&str>,
    ) {
        let mut line = self.begin(who);
        line.put_some("agentId", who.agent());
        line.put("attachment", attachment).put("type", "attachment");
        self.stamp(&mut line, moment);
        if let Some(told) = told {
            let rendered = format!("<system-reminder>\n{told}\n</system-reminder>");
            line.put("rendered", &json!([{"content": rendered}]))
                .put("renderedRole", "system");
        }
        self.finish(who, moment, line);
    }

    /// A line of the CLI itself. `before` and `after` are the fields around id and time.
    pub(in crate::cli) fn system(
        &mut self,
        moment: Moment<'_>,
        subtype: &str,
        before: &[(&str, &Value)],
        after: &[(&str, &Value)],
    ) {
        let mut line = self.begin(Who::Main);
        line.put("type", "system").put("subtype", subtype);
        for (key, value) in before {
            line.put(key, value);
        }
        line.put("timestamp", &stamp(moment.at))
            .put("uuid", moment.uuid);
        for (key, value) in after {
            line.put(key, value);
        }
        self.finish(Who::Main, moment, line);
    }

    /// The output of a command that the CLI carried out itself, such as `/cost`.
    pub(in crate::cli) fn local_command(
        &mut self,
        moment: Moment<'_>,
        command: &str,
        arguments: &str,
        output: &str,
    ) {
        let content = Value::from(format!(
            "<local-command-stdout>{output}</local-command-stdout>"
        ));
        let run = json!({"command": command, "args": arguments});
        let before = [("content", &content), ("level", &json!("info"))];
        let after = [("isMeta", &json!(false)), ("commandRun", &run)];
        self.system(moment, "local_command", &before, &after);
    }

    /// What the hooks at the end of a turn came to.
    pub(in crate::cli) fn stop_hooks(
        &mut self,
        moment: Moment<'_>,
        hooks: usize,
        errors: &[&str],
        id: &str,
    ) {
        let infos: Vec<Value> = (0..hooks).map(|_| json!({"command": "callback"})).collect();
        let before = [
            ("hookCount", &json!(hooks)),
            ("hookInfos", &json!(infos)),
            ("hookErrors", &json!(errors)),
            ("hookAdditionalContext", &json!([])),
            ("preventedContinuation", &json!(false)),
            ("stopReason", &json!("")),
            ("hasOutput", &json!(!errors.is_empty())),
            ("level", &json!("suggestion")),
        ];
        self.system(
            moment,
            "stop_hook_summary",
            &before,
            &[("toolUseID", &json!(id))],
        );
    }

    /// The conversation was compacted: what follows hangs on nothing before it.
    pub(in crate::cli) fn compacted(&mut self, moment: Moment<'_>, metadata: &Value) {
        let mut line = Line::new();
        line.put("parentUuid", &None::<&str>)
            .put("logicalParentUuid", &self.tip(Who::Main));
        line.put("isSidechain", &false)
            .put("type", "system")
            .put("subtype", "compact_boundary");
        line.put("content", "Conversation compacted")
            .put("isMeta", &false);
        line.put("timestamp", &stamp(moment.at))
            .put("uuid", moment.uuid);
        line.put("level", "info").put("compactMetadata", metadata);
        self.finish(Who::Main, moment, line);
    }

    /// Rounds off a session that was cut off, before its first new prompt.
    pub(super) fn round_off(&mut self, moment: Moment<'_>, mint: &mut impl FnMut() -> String) {
        for (call, caller) in std::mem::take(&mut self.unanswered) {
            let block = json!({"type": "tool_result", "content": CUT_OFF, "is_error": true, "tool_use_id": call});
            let message = json!({"role": "user", "content": [block]});
            self.callers.insert(call.clone(), caller);
            let uuid = mint();
            let moment = Moment {
                uuid: &uuid,
                ..moment
            };
            let reported = Reported {
                tool: "",
                tool_use_id: &call,
                message: &message,
                structured: Some(&json!(CUT_OFF)),
                denial: Some(Denial::CutOff),
                decision: None,
            };
            self.reported(Who::Main, moment, &reported);
        }
        if std::mem::take(&mut self.awaits_model) {
            let (uuid, id) = (mint(), mint());
            let moment = Moment {
                uuid: &uuid,
                ..moment
            };
            self.synthetic(moment, &synthetic_message(&id, NO_ANSWER), |line| {
                line.put("isApiErrorMessage", &false).put("madeBy", "other");
            });
        }
    }

    fn synthetic(&mut self, moment: Moment<'_>, message: &Value, fields: impl FnOnce(&mut Line)) {
        let mut line = self.begin(Who::Main);
        line.put("type", "assistant");
        self.stamp(&mut line, moment);
        line.put("message", message);
        fields(&mut line);
        self.finish(Who::Main, moment, line);
    }
}

/// A message in the model's place, without a model.
pub(in crate::cli) fn synthetic_message(id: &str, text: &str) -> Value {
    json!({
        "diagnostics": null, "id": id, "container": null, "model": "<synthetic>", "role": "assistant",
        "stop_details": null, "stop_reason": "stop_sequence", "stop_sequence": "", "type": "message",
        "usage": {
            "output_tokens_details": null, "input_tokens": 0, "output_tokens": 0, "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0, "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
            "service_tier": null, "cache_creation": {"ephemeral_1h_input_tokens": 0, "ephemeral_5m_input_tokens": 0},
            "inference_geo": null, "iterations": null, "speed": null, "fallback_credit": null,
        },
        "content": [{"type": "text", "text": text}], "context_management": null,
    })
}
