//! What is masked and what is left alone.

use countersign_api::redact::MASKED;
use serde_json::json;

use super::*;

/// Put together here, so that no file looks as if it held a key.
fn key() -> String {
    ["sk", "-ant-", "api03-Abc123Def456"].concat()
}

#[test]
fn what_looks_like_a_secret_is_masked_and_json_stays_json() {
    let line = json!({"type": "user", "text": format!("use {}", key())}).to_string();
    let masked = Redactor::default().line(&line).into_owned();
    assert!(!masked.contains("Abc123"), "{masked}");
    assert!(serde_json::from_str::<serde_json::Value>(&masked).is_ok());
    let plain = r#"{"type":"assistant","text":"nothing to see"}"#;
    assert!(matches!(
        Redactor::default().line(plain),
        Cow::Borrowed(same) if same == plain
    ));
}

#[test]
fn what_the_host_was_entrusted_with_is_masked_wherever_it_stands() {
    let redactor = Redactor::default();
    let said = r#"{"text":"it is correct-horse-battery"}"#;
    assert_eq!(redactor.line(said), said);
    let mut setup = Setup::default();
    let value = "correct-horse-battery".to_owned();
    setup.env.insert("DATABASE_PASSWORD".to_owned(), value);
    let headers = json!({"type": "http", "url": "http://127.0.0.1:9/", "headers": {"X-Team": "quoted \"value\" here"}});
    setup.mcp_servers.insert("tracker".to_owned(), headers);
    redactor.learn_setup(&setup);
    assert_eq!(redactor.line(said), r#"{"text":"it is [masked]"}"#);
    let quoted = json!({"text": "so: quoted \"value\" here."}).to_string();
    assert_eq!(redactor.line(&quoted), r#"{"text":"so: [masked]."}"#);
    let other = r#"{"text":"some other text"}"#;
    assert_eq!(redactor.line(other), other);
}

#[test]
fn a_persons_own_patterns_count_and_a_broken_one_is_refused() {
    let redactor = Redactor::new(["CASE-[0-9]{4}"]).unwrap();
    assert_eq!(redactor.line("about CASE-1234"), "about [masked]");
    let error = Redactor::new(["("]).unwrap_err().to_string();
    assert!(error.contains("`(` is no pattern"), "{error}");
}

#[test]
fn the_quick_look_passes_over_nothing_that_the_long_one_finds() {
    let long = "A1b2C3d4E5f6G7h8I9j0A1b2C3d4E5f6G7h8I9j0";
    let shapes = [
        format!("{}{long}", ["gh", "p_"].concat()),
        format!("{}{long}", ["xo", "xb-"].concat()),
        format!("{}{long}", ["gl", "pat-"].concat()),
        format!("{}{long}", ["np", "m_"].concat()),
        format!("{}{long}", ["AI", "za"].concat()),
        format!("{}{}", ["AK", "IA"].concat(), &long[..16].to_uppercase()),
        format!("{}{long}", ["h", "f_"].concat()),
        format!("{}{long}", ["sk", "_live_"].concat()),
        format!("eyJ{long}.{long}.{long}"),
        format!("Authorization: Basic {long}"),
        format!("https://me:{long}@example.org/"),
        format!("DB_PASS={long}"),
        format!("Bearer {long}"),
        format!(
            "-----BEGIN RSA PRIVATE {}-----\n{long}\n-----END RSA PRIVATE {0}-----",
            "KEY"
        ),
    ];
    let redactor = Redactor::default();
    for shape in shapes {
        let masked = redactor.line(&shape);
        assert!(!masked.contains(&long[..16]), "{masked}");
        let line = json!({"text": shape}).to_string();
        assert!(!redactor.line(&line).contains(&long[..16]), "{line}");
    }
}

#[test]
fn a_short_value_and_more_values_than_are_kept_hide_no_text() {
    let redactor = Redactor::default();
    redactor.learn(["a".to_owned(), String::new()]);
    assert_eq!(redactor.line("a banana"), "a banana");
    redactor.learn((0..MOST_KNOWN + 10).map(|n| format!("value-number-{n}")));
    assert_eq!(redactor.line("value-number-7 "), "[masked] ");
}

#[test]
fn a_value_that_json_writes_otherwise_is_masked_in_text_in_json_and_in_json_within_json() {
    let redactor = Redactor::default();
    let value = "Kq9\"Zt21\\xx";
    redactor.learn([value.to_owned()]);
    let text = format!("login failed: {value}");
    assert_eq!(redactor.line(&text), "login failed: [masked]");
    let once = json!({"text": text}).to_string();
    assert_eq!(redactor.line(&once), r#"{"text":"login failed: [masked]"}"#);
    let twice = json!({"partial": once}).to_string();
    let masked = redactor.line(&twice).into_owned();
    assert!(!masked.contains("Kq9"), "{masked}");
}

#[test]
fn a_long_value_is_masked_to_its_end() {
    for length in [2_047, 2_048, 2_049, 3_000, 4_100, 9_001] {
        let value: String = ('a'..='z').cycle().take(length).collect();
        let redactor = Redactor::default();
        redactor.learn([format!("{value}é")]);
        let masked = redactor.line(&format!("it is {value}é.")).into_owned();
        let rest = masked.replace(MASKED, "");
        assert_eq!(rest, "it is .", "{length}");
    }
}
