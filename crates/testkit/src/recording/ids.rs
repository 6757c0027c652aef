//! Ids that a run makes up. Each is replaced, wherever it stands, by a counter of the same shape, in the
//! order of first appearance, so that two runs of one scenario have the same ids. Pure.

use std::collections::BTreeMap;

use super::repeat;
use crate::json::Json;

/// Keys whose text is an id of the run's own making.
const ID_KEYS: [&str; 12] = [
    "request_id",
    "requestId",
    "task_id",
    "taskId",
    "agent_id",
    "agentId",
    "backgroundTaskId",
    "shell_id",
    "bash_id",
    "run_id",
    "prompt_id",
    "tool_use_id",
];

/// Of these the first letter says what it is: `a` an agent, `b` a shell.
const LETTERED_KEYS: [&str; 5] = [
    "task_id",
    "taskId",
    "agent_id",
    "agentId",
    "backgroundTaskId",
];

/// The scripted model's ids, wherever they stand: a prefix, then a word that all ids of one message share.
const MODEL_PREFIXES: [&str; 3] = ["msg_", "toolu_", "req_"];
const MODEL_WORD: usize = 16;

/// The ids met so far.
#[derive(Debug, Default)]
pub(super) struct Ids {
    known: BTreeMap<String, String>,
    uuids: usize,
    others: usize,
}

impl Ids {
    /// Learns the ids that can be told by their key or prefix. To be called for every line before `replace`.
    pub(super) fn learn(&mut self, json: &Json) {
        self.learn_under("", json);
    }

    fn learn_under(&mut self, key: &str, json: &Json) {
        match json {
            Json::Array(items) => items.iter().for_each(|item| self.learn_under(key, item)),
            Json::Object(entries) => {
                entries
                    .iter()
                    .for_each(|(key, value)| self.learn_under(key, value));
            }
            Json::String(text) => self.learn_text(key, text),
            _ => {}
        }
    }

    fn learn_text(&mut self, key: &str, text: &str) {
        if repeat::is_run(text) {
            return;
        }
        for prefix in MODEL_PREFIXES {
            for (start, _) in text.match_indices(prefix) {
                let word = text.get(start + prefix.len()..start + prefix.len() + MODEL_WORD);
                let word = word.filter(|word| word.bytes().all(|byte| byte.is_ascii_hexdigit()));
                word.into_iter().for_each(|word| self.learn_id(word, 0));
            }
        }
        let of_the_model = MODEL_PREFIXES.iter().any(|prefix| text.starts_with(prefix));
        if ID_KEYS.contains(&key) && !of_the_model && !text.starts_with("host-") {
            self.learn_id(text, usize::from(LETTERED_KEYS.contains(&key)));
        }
    }

    /// `kept` is how much of the id's start stays.
    fn learn_id(&mut self, id: &str, kept: usize) {
        let plain = id
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
        // Something shorter would be found inside of ordinary words.
        if id.len() < 6 || !plain || uuid_at(id, 0) || self.known.contains_key(id) {
            return;
        }
        self.others += 1;
        let kept = id.rfind('_').map_or(kept, |end| end + 1);
        let (prefix, width) = (&id[..kept], id.len() - kept);
        self.known
            .insert(id.to_owned(), format!("{prefix}{:0width$}", self.others));
    }

    /// The text with every id in it replaced.
    pub(super) fn replace(&mut self, text: String) -> String {
        let text = self.known.iter().fold(text, |text, (id, stable)| {
            if text.contains(id) {
                text.replace(id, stable)
            } else {
                text
            }
        });
        self.replace_uuids(text)
    }

    fn replace_uuids(&mut self, text: String) -> String {
        if text.len() < UUID.len() || !text.contains('-') {
            return text;
        }
        let mut replaced = String::with_capacity(text.len());
        let mut start = 0;
        let mut index = 0;
        while index + UUID.len() <= text.len() {
            if uuid_at(&text, index) {
                replaced.push_str(&text[start..index]);
                replaced.push_str(&self.stable_uuid(&text[index..index + UUID.len()]));
                index += UUID.len();
                start = index;
            } else {
                index += 1;
            }
        }
        replaced.push_str(&text[start..]);
        replaced
    }

    fn stable_uuid(&mut self, uuid: &str) -> String {
        if let Some(known) = self.known.get(uuid) {
            return known.clone();
        }
        self.uuids += 1;
        let stable = format!("00000000-0000-4000-8000-{:012}", self.uuids);
        self.known.insert(uuid.to_owned(), stable.clone());
        // Once replaced it must stay as it is.
        self.known.insert(stable.clone(), stable.clone());
        stable
    }
}

const UUID: &[u8] = b"xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";

/// Whether a UUID of its own (not a part of a longer word) starts there.
fn uuid_at(text: &str, index: usize) -> bool {
    let bytes = &text.as_bytes()[index..];
    bytes.len() >= UUID.len()
        && bytes.iter().zip(UUID).all(|(byte, shape)| match shape {
            b'-' => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
        && !bytes.get(UUID.len()).is_some_and(u8::is_ascii_hexdigit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_uuid_is_one_number_wherever_it_stands() {
        let (a, b) = (
            "0f8fad5b-d9cb-469f-a165-70867728950e",
            "7c9e6679-7425-40de-944b-e07fc1f90ae7",
        );
        let mut ids = Ids::default();
        let text = ids.replace(format!("{a}, {b}; /tmp/{a}.json"));
        assert_eq!(
            text,
            "00000000-0000-4000-8000-000000000001, 00000000-0000-4000-8000-000000000002; \
             /tmp/00000000-0000-4000-8000-000000000001.json"
        );
        assert_eq!(ids.replace(text.clone()), text);
    }

    #[test]
    fn an_id_under_a_telling_key_is_replaced_in_every_text() {
        let mut ids = Ids::default();
        ids.learn(
            &serde_json::from_str(r#"{"a":[{"task_id":"b3f9a21"}],"request_id":"host-1"}"#)
                .unwrap(),
        );
        assert_eq!(
            ids.replace("/tasks/b3f9a21.output".into()),
            "/tasks/b000001.output"
        );
        assert_eq!(ids.replace("host-1".into()), "host-1");
    }

    #[test]
    fn the_shape_of_an_id_is_kept() {
        let mut ids = Ids::default();
        let line = r#"{"requestId":"call_011CXabcdef","request_id":"z3k9x8"}"#;
        ids.learn(&serde_json::from_str(line).unwrap());
        assert_eq!(ids.replace("call_011CXabcdef".into()), "call_00000000001");
        assert_eq!(ids.replace("z3k9x8".into()), "000002");
    }

    #[test]
    fn what_belongs_to_one_message_of_the_model_shares_a_number() {
        let mut ids = Ids::default();
        ids.learn(&serde_json::from_str(r#"{"id":"msg_86d5aa5c40a0e7cf"}"#).unwrap());
        let text = "msg_86d5aa5c40a0e7cf toolu_86d5aa5c40a0e7cf0002";
        let stable = "msg_0000000000000001 toolu_00000000000000010002";
        assert_eq!(ids.replace(text.into()), stable);
    }

    #[test]
    fn a_longer_hex_word_is_no_uuid() {
        let text = "0f8fad5b-d9cb-469f-a165-70867728950eff".to_owned();
        assert_eq!(Ids::default().replace(text.clone()), text);
    }
}
