//! What of an answer is the program's own: names of fields, ids, digests, cursors, numbers, the words of the document.
//!
//! Owns where such a value stands, and what it looks like. Whoever reads an answer works with it: with a digest masked,
//! nothing could be decided. Invariants: it is told only at the places of our own types, never within what they carry (inputs,
//! results, texts); it is an id of ours by its form, or a word that the document has under this name, so that nothing an agent
//! or a person chose is taken for it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use countersign_api::control::SessionId;
use serde_json::Value;

/// Below these names our types go on. Whatever else holds something carries it, and is masked as a whole.
const OPEN: [&str; 55] = [
    "acts",
    "agent",
    "answer",
    "approval",
    "approvals",
    "asked_again",
    "body",
    "by_hour",
    "by_session",
    "by_what",
    "comments",
    "days",
    "decided",
    "denial",
    "did",
    "entries",
    "folders",
    "given",
    "grow",
    "harm",
    "is",
    "items",
    "killed",
    "last",
    "message",
    "mode",
    "offers",
    "on",
    "output",
    "parts",
    "path",
    "plan",
    "proposed",
    "put",
    "rehearsal",
    "result",
    "sessions",
    "signed",
    "speed",
    "standing",
    "stderr",
    "summary",
    "supersedes",
    "template",
    "text",
    "tokens",
    "totals",
    "trash",
    "turns",
    "upload",
    "waits",
    "ways",
    "why",
    "wishes",
    "worktree",
];

/// In an entry of a transcript these hold a part that is ours around what they carry; elsewhere they carry.
const SHOWN: [&str; 6] = [
    "form",
    "input",
    "line",
    "structured",
    "suggestions",
    "updates",
];
const IN_ENTRIES: [&str; 4] = ["is", "approval", "answer", "result"];

/// Words of ours that the document names in sentences only.
const ALSO: [(&str, &str); 6] = [
    ("origin", "clear-context"),
    ("origin", "fork"),
    ("origin", "found"),
    ("origin", "import"),
    ("given", "max_agents"),
    ("type", "about:blank"),
];

/// What the document says of our names.
struct Names {
    all: BTreeSet<String>,
    /// By the name they stand under.
    words: BTreeMap<String, BTreeSet<String>>,
}

/// Where the strings and numbers of this JSON begin that are the program's own.
pub(super) fn places(text: &str) -> BTreeSet<usize> {
    let bytes = text.as_bytes();
    let mut own = BTreeSet::new();
    let mut frames: Vec<Frame<'_>> = Vec::new();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let start = at;
        at += 1;
        match byte {
            b'{' | b'[' => frames.push(Frame::within(frames.last(), *byte == b'{')),
            b'}' | b']' => drop(frames.pop()),
            b',' => {
                if let Some(frame) = frames.last_mut() {
                    frame.expects_key = frame.is_object;
                }
            }
            b'"' => {
                at = string_end(bytes, at);
                let said = text.get(start + 1..at - 1).unwrap_or_default();
                if frames.last_mut().is_some_and(|frame| frame.string(said)) {
                    own.insert(start);
                }
            }
            b'-' | b'0'..=b'9' => {
                let rest = bytes.iter().skip(at);
                at += rest
                    .take_while(|byte| b"0123456789+-.eE".contains(byte))
                    .count();
                if frames.last().is_some_and(|frame| frame.place.is_some()) {
                    own.insert(start);
                }
            }
            _ => {}
        }
    }
    own
}

/// An object or a list that is open.
struct Frame<'a> {
    is_object: bool,
    expects_key: bool,
    /// The name it stands under, if it is ours.
    place: Option<&'a str>,
    /// The name before the value.
    key: &'a str,
}

impl<'a> Frame<'a> {
    fn within(outer: Option<&Frame<'a>>, is_object: bool) -> Self {
        let key = outer.map_or("", |outer| outer.key);
        let place = match outer {
            None => Some(""),
            Some(outer) if !outer.is_object => outer.place,
            Some(outer) => outer.place.filter(|at| goes_on(at, key)).map(|_| key),
        };
        Self {
            is_object,
            expects_key: is_object,
            place,
            key,
        }
    }

    /// A string stands here. Whether it is the program's own.
    fn string(&mut self, said: &'a str) -> bool {
        if self.expects_key {
            self.expects_key = false;
            self.key = said;
            return self.place.is_some() && names().all.contains(said);
        }
        self.place
            .is_some_and(|place| is_own(place, self.key, said))
    }
}

fn goes_on(at: &str, key: &str) -> bool {
    OPEN.contains(&key) || (SHOWN.contains(&key) && IN_ENTRIES.contains(&at))
}

fn is_own(place: &str, key: &str, said: &str) -> bool {
    let words = names().words.get(key);
    is_id(place, key, said) || words.is_some_and(|words| words.contains(said))
}

/// Whether it has the form of what we ourselves put under this name.
fn is_id(place: &str, key: &str, said: &str) -> bool {
    match key {
        "session" | "approval" | "approvals" | "asked_again" => is_ulid(said),
        "id" => is_ulid(said) || is_cursor(said) || is_in_trash(said),
        "parent" => is_ulid(said) || is_cursor(said),
        "message" => place == "did" && is_ulid(said),
        "key" => place.is_empty() && (is_ulid(said) || is_uuid(said) || is_digest(said)),
        "digest" => is_digest(said),
        "asked" | "cursor" | "entry" | "first" | "last" | "record" | "whole" | "written" => {
            is_cursor(said)
        }
        // Where a list goes on: of any length.
        "next" => place.is_empty() && is_hex(said),
        "day" => said.len() == 10 && is_numbers(said, 3),
        "conversation" | "request_id" | "supersedes" | "uuid" => is_uuid(said),
        "speaker" | "tool_use_id" => is_call(said),
        "path" => place == "path" && (is_call(said) || is_cursor(said)),
        _ => false,
    }
}

fn is_hex(said: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    said.bytes().all(is_digit)
}

fn is_digest(said: &str) -> bool {
    said.len() == 32 && is_hex(said)
}

fn is_ulid(said: &str) -> bool {
    said.parse::<SessionId>().is_ok() && !said.contains(|letter: char| letter.is_lowercase())
}

/// `generation-seq`, and of an entry `generation-seq.nth`.
fn is_cursor(said: &str) -> bool {
    let (record, nth) = said.split_once('.').unwrap_or((said, "0"));
    is_numbers(record, 2) && is_numbers(nth, 1)
}

/// So many numbers.
fn is_numbers(said: &str, many: usize) -> bool {
    let is_number = |part: &str| {
        (1..=20).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit())
    };
    said.split('-').count() == many && said.split('-').all(is_number)
}

/// The name of a thing in the trash: when it went, and a number.
fn is_in_trash(said: &str) -> bool {
    let parts = said.split_once('-');
    parts.is_some_and(|(at, number)| at.len() == 16 && is_hex(at) && is_numbers(number, 1))
}

fn is_uuid(said: &str) -> bool {
    let lengths: Vec<usize> = said.split('-').map(str::len).collect();
    lengths == [8, 4, 4, 4, 12] && said.split('-').all(is_hex)
}

/// The name of a call, as the model's server gives it.
fn is_call(said: &str) -> bool {
    let rest = said.strip_prefix("toolu_").unwrap_or_default();
    (1..=64).contains(&rest.len()) && rest.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Behind the closing quote of the string whose first byte is at `at`.
fn string_end(bytes: &[u8], mut at: usize) -> usize {
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Made once, of the document.
fn names() -> &'static Names {
    static NAMES: OnceLock<Names> = OnceLock::new();
    NAMES.get_or_init(|| {
        let document = serde_json::to_value(crate::doc::document()).unwrap_or_default();
        let mut names = Names {
            all: BTreeSet::new(),
            words: BTreeMap::new(),
        };
        names.gather(&document["components"]["schemas"], &document);
        for (name, word) in ALSO {
            names.word(name, word);
        }
        names
    })
}

impl Names {
    /// All below this part of the document.
    fn gather(&mut self, part: &Value, document: &Value) {
        let below: Vec<&Value> = match part {
            Value::Object(fields) => fields.values().collect(),
            Value::Array(items) => items.iter().collect(),
            _ => return,
        };
        let properties = part.get("properties").and_then(Value::as_object);
        for (name, schema) in properties.into_iter().flatten() {
            self.all.insert(name.clone());
            self.enumerated(name, schema, document, 0);
        }
        for part in below {
            self.gather(part, document);
        }
    }

    /// The words that can stand under a name.
    fn enumerated(&mut self, name: &str, schema: &Value, document: &Value, depth: usize) {
        if depth > 6 {
            return;
        }
        let list = |key: &str| schema.get(key).and_then(Value::as_array).into_iter();
        for word in list("enum").flatten().filter_map(Value::as_str) {
            self.word(name, word);
        }
        let ways = ["oneOf", "anyOf", "allOf"].into_iter();
        let named = schema.get("$ref").and_then(Value::as_str);
        let named = named.and_then(|path| document.pointer(path.strip_prefix('#')?));
        let parts = ways.flat_map(list).flatten().chain(schema.get("items"));
        for part in parts.chain(named) {
            self.enumerated(name, part, document, depth + 1);
        }
    }

    fn word(&mut self, name: &str, word: &str) {
        let words = self.words.entry(name.to_owned()).or_default();
        words.insert(word.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::redact::Redactor;

    /// A redactor for which everything is a secret.
    fn all() -> Redactor {
        Redactor::new(["(?s).+"]).unwrap()
    }

    fn masked(value: &Value) -> Value {
        serde_json::from_str(&all().answer(&value.to_string())).unwrap()
    }

    const ID: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
    const DIGEST: &str = "0123456789abcdef0123456789abcdef";

    #[test]
    fn a_question_keeps_what_it_is_answered_by_and_nothing_that_was_chosen() {
        let input = json!({"id": ID, "state": "needs_you", "digest": DIGEST, "n": 5});
        let asked = json!({"items": [{"id": ID, "session": ID, "digest": DIGEST, "life": "withdrawn", "why": "cancelled",
            "kind": "tool", "record": "1-7", "asked": 1_700_000_000_000_000_u64, "input": input, "tool": "Bash",
            "session_name": ID, "reason": "needs_you", "plan": {"ways": [{"way": "manual", "label": "manual"}]}}],
            "next": "5b315d"});
        let told = masked(&asked);
        let one = &told["items"][0];
        for key in [
            "id", "session", "digest", "life", "why", "kind", "record", "asked",
        ] {
            assert_eq!(one[key], asked["items"][0][key], "{key}");
        }
        assert_eq!(one["plan"]["ways"][0]["way"], "manual");
        assert_eq!(told["next"], "5b315d");
        for key in ["tool", "session_name", "reason"] {
            assert_eq!(one[key], "[masked]", "{key}");
        }
        assert_eq!(one["plan"]["ways"][0]["label"], "[masked]");
        let input = one["input"].to_string();
        for hidden in [ID, DIGEST, "needs_you", "5", "state"] {
            assert!(!input.contains(hidden), "{hidden}: {input}");
        }
    }

    #[test]
    fn under_a_name_of_ours_only_our_own_words_and_forms_are_kept() {
        let odd = json!({"id": "hunter2-hunter2", "state": "hunter2", "digest": "HUNTER2", "kind": "needs_you",
            "decided": {"why": "because", "effect": "allow", "decision": {"effect": "allow"}}, "by": {"allow": 1}});
        let told = masked(&odd);
        for key in ["id", "state", "digest", "kind"] {
            assert_eq!(told[key], "[masked]", "{key}");
        }
        assert_eq!(told["decided"]["effect"], "allow");
        assert_eq!(told["decided"]["why"], "[masked]");
        let carried = told["decided"]["decision"].to_string() + &told["by"].to_string();
        assert!(!carried.contains("allow"), "{carried}");
    }

    #[test]
    fn an_entry_keeps_its_place_and_masks_what_it_carries() {
        let entry = json!({"cursor": "1-9", "entries": [{"put": {"id": "1-7.2", "life": "final", "at": 7,
            "body": {"kind": "tool", "is": {"name": "Bash", "state": "ran", "tool_use_id": "toolu_01Ab",
                "input": {"json": {"id": "1-7", "state": "ran"}, "length": 12, "whole": "1-7"}}}}}]});
        let told = masked(&entry);
        let put = &told["entries"][0]["put"];
        assert_eq!(
            (&told["cursor"], &put["id"]),
            (&json!("1-9"), &json!("1-7.2"))
        );
        let is = &put["body"]["is"];
        assert_eq!(
            (&is["state"], &is["name"]),
            (&json!("ran"), &json!("[masked]"))
        );
        assert_eq!(is["input"]["whole"], "1-7");
        let carried = is["input"]["json"].to_string();
        assert!(
            !carried.contains("1-7") && !carried.contains("ran"),
            "{carried}"
        );
    }

    #[test]
    fn what_is_no_json_has_nothing_of_ours() {
        assert_eq!(all().answer("id 1-7"), "[masked]");
        assert_eq!(all().answer("{\"id\": 1-7"), "[masked]");
        assert_eq!(all().answer("\"needs_you\""), "[masked]");
    }
}
