//! What of a request to the model matters for choosing and making a reply.
//!
//! Owns the reading of a Messages API request body; keeps only what is used. Tolerant: a field of an unforeseen
//! shape counts as absent, since the CLI's requests change with every version.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Ask {
    pub(super) model: String,
    pub(super) stream: bool,
    pub(super) has_tools: bool,
    /// The text blocks of the newest user message; tool results are not part of it.
    pub(super) newest: String,
    /// The text blocks of the first user message.
    pub(super) first: String,
    /// The schema the answer must follow, if the request sets one.
    pub(super) schema: Option<Value>,
    /// Tells this request from every other, the same on every run that asks the same.
    pub(super) digest: u64,
    body: Value,
}

impl Ask {
    pub(super) fn read(body: &[u8]) -> Result<Self, serde_json::Error> {
        let value: Value = serde_json::from_slice(body)?;
        let users: Vec<&Value> = messages(&value)
            .filter(|message| message["role"] == "user")
            .collect();
        Ok(Self {
            model: value["model"].as_str().unwrap_or("rehearsal").to_owned(),
            stream: value["stream"].as_bool().unwrap_or(false),
            has_tools: value["tools"]
                .as_array()
                .is_some_and(|tools| !tools.is_empty()),
            newest: users
                .last()
                .map(|message| text_of(&message["content"]))
                .unwrap_or_default(),
            first: users
                .first()
                .map(|message| text_of(&message["content"]))
                .unwrap_or_default(),
            schema: schema(&value).cloned(),
            digest: hash(body),
            body: value,
        })
    }

    /// The same request at its place in the run, so that a body sent twice still gets ids of its own.
    pub(super) fn asked_as(mut self, number: u64) -> Self {
        self.digest = hash(&(self.digest, number));
        self
    }

    /// What stands between `after` and `until` in the newest text that holds both: messages from the newest back,
    /// tool results included, then the system prompt.
    pub(super) fn between(&self, after: &str, until: &str) -> Option<&str> {
        let mut places: Vec<&Value> = messages(&self.body)
            .rev()
            .map(|message| &message["content"])
            .collect();
        places.push(&self.body["system"]);
        places
            .into_iter()
            .find_map(|place| find_in(place, after, until))
    }
}

fn hash(value: &(impl Hash + ?Sized)) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

fn messages(body: &Value) -> impl DoubleEndedIterator<Item = &Value> {
    body["messages"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default()
        .iter()
}

/// The text in the content of a message; of blocks, all of it.
pub(crate) fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts: Vec<&str> = blocks
                .iter()
                .filter_map(|block| block["text"].as_str())
                .collect();
            texts.join("\n")
        }
        _ => String::new(),
    }
}

/// Structured output, as the API takes it now and as its first beta did.
fn schema(body: &Value) -> Option<&Value> {
    [
        &body["output_config"]["format"]["schema"],
        &body["output_format"]["schema"],
    ]
    .into_iter()
    .find(|schema| schema.is_object())
}

fn find_in<'a>(value: &'a Value, after: &str, until: &str) -> Option<&'a str> {
    match value {
        Value::String(text) => {
            let rest = &text[text.rfind(after)? + after.len()..];
            rest.find(until).map(|end| &rest[..end])
        }
        Value::Array(items) => items
            .iter()
            .rev()
            .find_map(|item| find_in(item, after, until)),
        Value::Object(map) => map.values().find_map(|item| find_in(item, after, until)),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn ask(body: &Value) -> Ask {
        Ask::read(body.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn newest_text_is_that_of_the_last_user_message_without_tool_results() {
        let body = json!({"stream": true, "tools": [{}], "messages": [
            {"role": "user", "content": "first"},
            {"role": "assistant", "content": [{"type": "text", "text": "no"}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "hidden"}]},
                {"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
        ]});
        let full = ask(&body);
        assert_eq!((&*full.first, &*full.newest), ("first", "a\nb"));
        assert!(full.stream && full.has_tools);
        // Odd shapes count as absent.
        let odd = json!({"messages": 1, "tools": {}, "stream": "yes"});
        for body in [json!({}), json!([]), odd] {
            let ask = ask(&body);
            let found = ask.stream || ask.has_tools || !ask.newest.is_empty();
            assert!(!found, "{body}");
        }
        let twice = [1, 2, 1].map(|number| ask(&body).asked_as(number).digest);
        assert!(twice[0] != twice[1] && twice[0] == twice[2]);
    }

    #[test]
    fn between_prefers_the_newest_place_and_looks_into_tool_results() {
        let mut body = json!({"system": [{"type": "text", "text": "id=<0>"}], "messages": [
            {"role": "user", "content": "id=<1>"},
            {"role": "user", "content": [{"type": "tool_result", "content": "id=<2> id=<3>"}]},
        ]});
        let between = |body: &Value, after: &str| ask(body).between(after, ">").map(str::to_owned);
        assert_eq!(between(&body, "id=<").as_deref(), Some("3"));
        assert_eq!(between(&body, "key=<"), None);
        body["messages"] = json!([]);
        assert_eq!(between(&body, "id=<").as_deref(), Some("0"));
    }
}
