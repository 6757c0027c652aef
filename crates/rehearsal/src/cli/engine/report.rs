//! What a call came to: as a value, as the line that tells it, and in what it does to the turn.

use serde_json::{Value, json};

use super::Engine;
use super::ask::Answer;
use super::call::Stage;
use super::talk::text_of;
use crate::cli::act::Ran;
use crate::cli::words::capitalised;

/// What a call came to.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Report {
    pub(super) content: Value,
    /// `tool_use_result`; null for none.
    pub(super) structured: Value,
    pub(super) is_error: Option<bool>,
    /// Why it was not run.
    pub(super) not_run: Option<&'static str>,
    /// Listed among the denials of the turn.
    pub(super) denied: bool,
    /// Ends the turn.
    pub(super) ending: Option<Ending>,
    /// What `${result}` gives, where that is not the content.
    pub(super) gist: Option<String>,
}

/// How a report ends the turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Ending {
    /// The host denied and said stop.
    Interrupted,
    /// The answer is given in the form that was asked for.
    Structured,
    /// A hook said so.
    Hook,
}

impl Report {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self {
            content: Value::String(text.into()),
            ..Self::default()
        }
    }

    pub(super) fn error(text: impl Into<String>) -> Self {
        let text = text.into();
        let plain = untagged(&text);
        let plain = plain.strip_prefix("Error: ").unwrap_or(plain);
        Self {
            structured: format!("Error: {plain}").into(),
            content: text.into(),
            is_error: Some(true),
            ..Self::default()
        }
    }

    /// What the shell reported.
    pub(super) fn of(ran: &Ran) -> Self {
        Self {
            content: ran.content.clone(),
            structured: ran.structured.clone(),
            is_error: ran.is_error,
            ..Self::default()
        }
    }

    pub(super) fn refusal(text: impl Into<String>) -> Self {
        Self {
            not_run: Some("permission-rule"),
            denied: true,
            ..Self::error(text)
        }
    }

    /// The stock answer to a call that an interrupt ended.
    pub(super) fn rejected(text: &str) -> Self {
        Self {
            structured: "User rejected tool use".into(),
            not_run: Some("user-rejected"),
            ..Self::refusal(text)
        }
    }

    pub(super) fn plain_text(&self) -> String {
        match &self.content {
            Value::String(text) => text.clone(),
            content => text_of(content),
        }
    }
}

impl Engine {
    /// All calls of a message have reported.
    pub(super) fn tell_batch(&mut self, talk: u64, serials: &[u64]) {
        let (of_batch, others): (Vec<_>, Vec<_>) = std::mem::take(&mut self.reported)
            .into_iter()
            .partition(|(serial, _)| serials.contains(serial));
        self.reported = others;
        let calls: Vec<Value> = of_batch.into_iter().map(|(_, call)| call).collect();
        if !calls.is_empty() {
            self.tell_hooks(talk, "PostToolBatch", "", &json!({"tool_calls": calls}));
        }
    }

    /// The report line, and what it does to the turn.
    pub(super) fn report(&mut self, index: usize, report: Report) {
        self.calls[index].stage = Stage::Done;
        let ending = report.ending.clone();
        let talk = self.calls[index].talk;
        let stops_agent = ending == Some(Ending::Interrupted) && self.agent(talk).is_some();
        if report.denied
            && let Some(turn) = &mut self.turn
        {
            let call = &self.calls[index];
            turn.denials.push(json!({
                "tool_name": call.name, "tool_use_id": call.tool_use_id, "tool_input": call.input,
            }));
        }
        self.say_report(index, &report);
        let call = &self.calls[index];
        let told = json!({
            "tool_name": call.name,
            "tool_input": call.input,
            "tool_use_id": call.tool_use_id,
            "tool_response": report.content,
        });
        let serial = call.serial;
        if !self.hooks["PostToolBatch"].is_null() {
            self.reported.push((serial, told));
        }
        let last = self.talk(talk);
        last.report = report.gist.clone().unwrap_or_else(|| report.plain_text());
        last.refused = report.is_error == Some(true);
        match ending {
            Some(Ending::Interrupted) if stops_agent => self.end_stopped_agent(talk),
            Some(Ending::Interrupted) => {
                self.withdraw_questions();
                self.interrupt_calls();
                self.end_interrupted();
            }
            Some(Ending::Structured) => self.end_structured(),
            Some(Ending::Hook) => self.end_with(None, json!({"terminal_reason": "hook_stopped"})),
            None => {}
        }
    }

    fn say_report(&mut self, index: usize, report: &Report) {
        let call = &self.calls[index];
        let (talk, id) = (call.talk, call.tool_use_id.clone());
        let mut block = json!({
            "type": "tool_result", "tool_use_id": id, "content": report.content,
        });
        if let Some(is_error) = report.is_error {
            block["is_error"] = is_error.into();
        }
        let mut extra = json!({});
        let in_agent = self.agent(talk).is_some();
        let stops_agent = in_agent && report.ending == Some(Ending::Interrupted);
        if !report.structured.is_null() && (!in_agent || report.denied) {
            extra["tool_use_result"] = report.structured.clone();
        }
        if !stops_agent && (report.not_run.is_some() || !call.decision.is_null()) {
            let mut meta = json!({"id": id});
            if let Some(kind) = report.not_run {
                meta["non_execution_kind"] = kind.into();
            }
            if !call.decision.is_null() {
                meta["permission_decision"] = call.decision.clone();
            }
            extra["tool_result_meta"] = json!([meta]);
        }
        let line = self.say_user(talk, json!([block]), extra);
        let call = self.calls.remove(index);
        self.note_report(&call, report, &line);
        self.calls.insert(index, call);
    }
}

/// A text without the tag that the model sees around it.
fn untagged(text: &str) -> &str {
    let inner = text.strip_prefix("<tool_use_error>");
    let inner = inner.and_then(|text| text.strip_suffix("</tool_use_error>"));
    inner.unwrap_or(text)
}

/// What a server of the host answered to `tools/call`.
pub(super) fn remote_report(answer: Answer) -> Report {
    let Answer::Said(envelope) = answer else {
        return Report::error("MCP error -32000: Connection closed");
    };
    if envelope["subtype"] == "error" {
        let text = envelope["error"]
            .as_str()
            .unwrap_or("the host did not say why");
        return Report::error(text);
    }
    let reply = &envelope["response"]["mcp_response"];
    if let Some(error) = reply.get("error") {
        return Report::error(error["message"].as_str().unwrap_or_default());
    }
    let result = &reply["result"];
    let content = blocks(&result["content"]);
    if result["isError"] == true {
        let text = text_of(&content);
        return Report {
            content: text.clone().into(),
            ..Report::error(text)
        };
    }
    match result.get("structuredContent") {
        Some(structured) => Report {
            structured: json!({"content": structured.to_string(), "structuredContent": structured}),
            ..Report::text(structured.to_string())
        },
        None => Report {
            structured: content.clone(),
            content,
            ..Report::default()
        },
    }
}

/// Blocks of a server as the model is sent them: a picture has another form there.
fn blocks(content: &Value) -> Value {
    let block = |block: &Value| match block["type"].as_str() {
        Some("image") => json!({"type": "image", "source": {
            "type": "base64", "media_type": block["mimeType"], "data": block["data"],
        }}),
        _ => block.clone(),
    };
    let blocks = content.as_array().into_iter().flatten();
    blocks.map(block).collect()
}

/// `add` is shown as `Add`, unless the tool has a title.
pub(super) fn display_name(tool: &Value) -> String {
    if let Some(title) = tool["title"]
        .as_str()
        .or(tool["annotations"]["title"].as_str())
    {
        return title.to_owned();
    }
    capitalised(tool["name"].as_str().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(result: &Value) -> Report {
        let response = json!({"mcp_response": {"result": result}});
        remote_report(Answer::Said(
            json!({"subtype": "success", "response": response}),
        ))
    }

    #[test]
    fn a_picture_of_a_server_has_the_form_the_model_takes() {
        let picture = json!({"type": "image", "data": "AA==", "mimeType": "image/png"});
        let source = json!({"type": "base64", "media_type": "image/png", "data": "AA=="});
        let report = report(&json!({"content": [{"type": "text", "text": "drawn"}, picture]}));
        assert_eq!(report.content[0]["text"], "drawn");
        assert_eq!(
            report.content[1],
            json!({"type": "image", "source": source})
        );
        assert_eq!(report.structured, report.content);
    }
}
