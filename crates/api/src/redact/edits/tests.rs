//! Secrets in every place of a text, and texts without one.

use proptest::prelude::*;
use serde_json::Value;

use super::*;

fn redacted(text: &str) -> (String, usize) {
    let wanted = Wanted::default();
    apply(text, &wanted.edits(text)).unwrap_or_else(|| (text.to_owned(), 0))
}

/// Put together here, so that no file looks as if it held a key.
fn key() -> String {
    ["sk", "-ant-", "api03-Abc123Def456"].concat()
}

#[test]
fn what_is_no_secret_keeps_its_bytes() {
    let line = r#"{"b":1.50, "a" : [ ],"t":"\u00fc \/ x","n":null,"k":{"x":-1e5}}"#;
    assert_eq!(redacted(line), (line.to_owned(), 0));
    let secret = format!(r#"{{"b":1.50, "a" : [ ],"t":"\/ {}","n":null}}"#, key());
    let (text, count) = redacted(&secret);
    assert_eq!(count, 1);
    assert_eq!(
        text,
        r#"{"b":1.50, "a" : [ ],"t":"/ sk-ant-[masked]","n":null}"#
    );
}

#[test]
fn escapes_hide_nothing_however_deep() {
    let escaped: String = key()
        .chars()
        .map(|c| format!("\\u{:04x}", c as u32))
        .collect();
    let mut line = format!(r#"{{"text":"it is {escaped}, yes"}}"#);
    for _ in 0..4 {
        line = serde_json::json!({"again": line}).to_string();
        let (text, count) = redacted(&line);
        assert_eq!(count, 1);
        assert!(
            !text.contains("Abc123") && text.contains("[masked], yes"),
            "{text}"
        );
        serde_json::from_str::<serde_json::Value>(&text).unwrap();
    }
}

#[test]
fn a_value_is_secret_by_its_name() {
    for (line, expected) in [
        (
            r#"{"password":"x y","user":"me"}"#,
            r#"{"password":"[masked]","user":"me"}"#,
        ),
        (
            r#"{"env":{"GH_TOKEN":"abc"}}"#,
            r#"{"env":{"GH_TOKEN":"[masked]"}}"#,
        ),
        (
            r#"{"value":"abc","name":"API_KEY"}"#,
            r#"{"value":"[masked]","name":"API_KEY"}"#,
        ),
        (
            r#"[{"header":"Authorization","value":"Basic abc"}]"#,
            r#"[{"header":"Authorization","value":"[masked]"}]"#,
        ),
        (
            r#"{"argv":["claude","--api-key","abc","--verbose"]}"#,
            r#"{"argv":["claude","--api-key","[masked]","--verbose"]}"#,
        ),
        (r#"{"password":""}"#, r#"{"password":""}"#),
        (
            r#"{"token":"","apiKeySource":"none"}"#,
            r#"{"token":"","apiKeySource":"none"}"#,
        ),
        (r#"{"\u0074oken":"abc"}"#, r#"{"\u0074oken":"[masked]"}"#),
    ] {
        assert_eq!(redacted(line).0, expected);
    }
}

#[test]
fn a_key_may_hold_a_secret() {
    let (text, count) = redacted(&format!(r#"{{"{}":1}}"#, key()));
    assert_eq!((text.as_str(), count), (r#"{"sk-ant-[masked]":1}"#, 1));
}

#[test]
fn patterns_find_text_and_numbers() {
    let wanted = Wanted {
        patterns: vec![
            Regex::new(r"\b\d{8}\b").unwrap(),
            Regex::new("falcon").unwrap(),
        ],
        known: None,
    };
    let line = r#"{"a":12345678,"b":"falcon is 12345678 old","c":123}"#;
    let (text, count) = apply(line, &wanted.edits(line)).unwrap();
    assert_eq!(
        text,
        r#"{"a":"[masked]","b":"[masked] is [masked] old","c":123}"#
    );
    assert_eq!(count, 3);
}

#[test]
fn only_what_is_no_word_is_learned() {
    let mut learned = Vec::new();
    let line = r#"{"password":"correcthorse","token":"a1b2c3d4e5f6g7","t":"DB_PASSWORD=undefined_is_1 x"}"#;
    Wanted::default().learn(line, &mut |value| learned.push(value.to_owned()));
    assert_eq!(learned, ["a1b2c3d4e5f6g7", "undefined_is_1"]);
}

#[test]
fn a_line_that_is_no_json_is_read_as_it_is() {
    let (text, count) = redacted(&format!("{{not json {} }}", key()));
    assert_eq!((text.as_str(), count), ("{not json sk-ant-[masked] }", 1));
}

/// JSON with the key in it or not, in strings, keys, and JSON inside of strings.
fn json_with_keys() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        "[a-z \\\\\"\\n\u{e4}]{0,12}",
        ("[a-z ]{0,6}", "[ ,.\"]{0,2}")
            .prop_map(|(before, after)| format!("{before} {}{after}", key())),
    ];
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        text.clone().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(text.clone(), inner.clone(), 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
            inner.prop_map(|value| Value::from(value.to_string())),
        ]
    })
}

/// Whether a text is anywhere in it, all escapes undone.
fn holds(value: &Value, needle: &str) -> bool {
    match value {
        Value::String(text) => {
            let inside = serde_json::from_str::<Value>(text);
            text.contains(needle) || inside.is_ok_and(|inside| holds(&inside, needle))
        }
        Value::Array(list) => list.iter().any(|value| holds(value, needle)),
        Value::Object(map) => map
            .iter()
            .any(|(name, value)| name.contains(needle) || holds(value, needle)),
        _ => false,
    }
}

proptest! {
    #[test]
    fn json_stays_json_and_no_key_stays_in_it(value in json_with_keys()) {
        let line = Value::from(vec![value.clone()]).to_string();
        let (text, count) = redacted(&line);
        let after: Value = serde_json::from_str(&text).unwrap();
        prop_assert!(!holds(&after, "Abc123Def456"), "{}", text);
        prop_assert_eq!(count == 0, !holds(&value, "Abc123Def456"));
        if count == 0 {
            prop_assert_eq!(text, line);
        }
    }
}
