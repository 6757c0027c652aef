//! Long runs of one character, stored as a marker: `{"$repeat":["x",5000000]}` in place of the text, or
//! `{"$concat":["a",{"$repeat":["x",5000000]},"b"]}` where more stands around it. Pure; the
//! reading side is `countersign_wire::recording`.

use crate::json::Json;

/// Runs shorter than this stay as they are.
const SHORTEST: usize = 1000;

/// Replaces texts with long runs by markers.
pub(super) fn shrink(json: Json) -> Json {
    match json {
        Json::String(text) if text.len() >= SHORTEST => shrink_text(text),
        Json::Array(items) => Json::Array(items.into_iter().map(shrink).collect()),
        Json::Object(entries) => Json::Object(
            entries
                .into_iter()
                .map(|(key, value)| (key, shrink(value)))
                .collect(),
        ),
        other => other,
    }
}

/// Whether a text holds a run that would be stored as a marker.
pub(super) fn has_run(text: &str) -> bool {
    text.len() >= SHORTEST && runs(text).iter().any(|run| run.count >= SHORTEST)
}

/// Whether a text is nothing but a long run, so that nothing else can stand in it.
pub(super) fn is_run(text: &str) -> bool {
    let unit = text.chars().next().filter(|_| text.len() >= SHORTEST);
    unit.is_some_and(|unit| run_length(text, unit) == text.len())
}

struct Run<'a> {
    text: &'a str,
    unit: char,
    count: usize,
}

/// How much is compared at once; a run of five million is not counted one by one.
const BLOCK: usize = 512;

/// The text as runs of equal characters.
fn runs(text: &str) -> Vec<Run<'_>> {
    let mut runs: Vec<Run<'_>> = Vec::new();
    let mut rest = text;
    while let Some(unit) = rest.chars().next() {
        let length = run_length(rest, unit);
        let (run, behind) = rest.split_at(length);
        runs.push(Run {
            text: run,
            unit,
            count: length / unit.len_utf8(),
        });
        rest = behind;
    }
    runs
}

/// How many bytes at the start are this character, over and over.
fn run_length(text: &str, unit: char) -> usize {
    let mut length = unit.len_utf8();
    if unit.is_ascii() {
        let bytes = text.as_bytes();
        // Bytes that equal their predecessors: whole blocks, compared as memory.
        while bytes
            .get(length..length + BLOCK)
            .is_some_and(|b| *b == bytes[length - 1..length - 1 + BLOCK])
        {
            length += BLOCK;
        }
    }
    while text[length..].starts_with(unit) {
        length += unit.len_utf8();
    }
    length
}

fn shrink_text(text: String) -> Json {
    let mut parts: Vec<Json> = Vec::new();
    for run in runs(&text) {
        if run.count >= SHORTEST {
            let count = Json::from(run.count as u64);
            let marker = Json::Array(vec![Json::String(run.unit.to_string()), count]);
            parts.push(Json::object([("$repeat", marker)]));
        } else if let Some(Json::String(before)) = parts.last_mut() {
            before.push_str(run.text);
        } else {
            parts.push(Json::from(run.text));
        }
    }
    match parts.len() {
        1 => parts.remove(0),
        _ => Json::object([("$concat", Json::Array(parts))]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(text: &str) -> String {
        let shrunk = shrink(Json::from(text));
        let stored = format!(r#"{{"at":0,"dir":"err","text":{shrunk}}}"#);
        let entry = countersign_wire::recording::entry(stored.as_bytes()).unwrap();
        assert_eq!(String::from_utf8(entry.line).unwrap(), text);
        shrunk.to_string()
    }

    #[test]
    fn a_run_alone_and_a_run_with_surroundings_come_back_the_same() {
        assert_eq!(round(&"x".repeat(5000)), r#"{"$repeat":["x",5000]}"#);
        let around = format!("+{}\nend {}", "é".repeat(2000), "y".repeat(1000));
        let stored = r#"{"$concat":["+",{"$repeat":["é",2000]},"\nend ",{"$repeat":["y",1000]}]}"#;
        assert_eq!(round(&around), stored);
    }

    #[test]
    fn short_runs_and_plain_texts_stay() {
        assert_eq!(round(&"x".repeat(999)), format!("\"{}\"", "x".repeat(999)));
        let plain = "abc".repeat(1000);
        assert_eq!(round(&plain), format!("\"{plain}\""));
    }
}
