//! `journal export --redact`: planted secrets, and none of them in what comes out.

use std::fs;

use countersign_journal::{Exit, Kind};
use countersign_wire::recording::{self, Direction};
use serde_json::json;

use crate::stage::{Journal, Stage, text};

/// Put together here, so that no file looks as if it held a secret.
fn secrets() -> [String; 6] {
    [
        ["sk", "-ant-", "api03-Zx81kQp07vNw"].concat(),
        ["gh", "p_", "Kd82jfLs93kfTy40sPq1"].concat(),
        ["AK", "IA", "QW8XZ3RT5YU7PLMN"].concat(),
        "hunter2-is-not-a-word".to_owned(),
        "swordfish9000x".to_owned(),
        "MIIEvQIBADANBgkqhkiG9w0".to_owned(),
    ]
}

/// What of a secret must not be seen: its prefix may stay.
fn core(secret: &str) -> &str {
    &secret[secret.len() - 12..]
}

fn escaped(text: &str) -> String {
    text.chars()
        .map(|letter| format!("\\u{:04x}", letter as u32))
        .collect()
}

/// A piece of a text, or of a tool's input.
fn piece(index: u64, field: &str, text: &str) -> String {
    let delta = json!({"type": "x", field: text});
    let event = json!({"type": "content_block_delta", "index": index, "delta": delta});
    json!({"type": "stream_event", "event": event, "parent_tool_use_id": null}).to_string()
}

/// A session with secrets in all sorts of places. Gives how many places there are.
fn plant(stage: &Stage) -> usize {
    let [key, token, aws, password, value, pem] = secrets();
    let folder = stage.path("session");
    let mut journal = Journal::open(&folder, 1);
    let begin = concat!("-----BEGIN PRIVATE ", "KEY-----");
    let end = concat!("-----END PRIVATE ", "KEY-----");
    let delta = |text: &str| piece(0, "text", text);
    let partial = |text: &str| piece(1, "partial_json", text);
    let nested =
        json!({"stdout": json!({"deep": json!({"password": password}).to_string()}).to_string()});
    let agent = [
        // In a sentence; escaped; in JSON in JSON in JSON; as a key; under a name; as a flag; in a header.
        json!({"type": "assistant", "message": {"content": [{"type": "text", "text": format!("it is {key}.")}]}}).to_string(),
        format!(r#"{{"type":"assistant","text":"see {}"}}"#, escaped(&token)),
        nested.to_string(),
        json!({"type": "x", "map": {&aws: true}}).to_string(),
        json!({"type": "x", "env": {"DB_PASSWORD": password}}).to_string(),
        json!({"type": "x", "argv": ["tool", "--api-key", value, "--quiet"]}).to_string(),
        json!({"type": "x", "headers": [{"name": "Authorization", "value": format!("Basic {value}")}]}).to_string(),
        // Nothing gives it away here but that it is one elsewhere.
        json!({"type": "user", "message": {"content": format!("I tried {value} first")}}).to_string(),
        json!({"type": "x", "pem": format!("{begin}\n{pem}\n{end}\n")}).to_string(),
        // In pieces.
        delta("the key is s"),
        delta("k-an"),
        partial(r#"{"url":"https://me:"#),
        delta(&key["sk-an".len()..key.len() - 4]),
        delta(&key[key.len() - 4..]),
        partial(&format!("{password}@host/x\"}}")),
        r#"{"type":"stream_event","event":{"type":"content_block_stop","index":0},"parent_tool_use_id":null}"#.to_owned(),
        r#"{"type":"stream_event","event":{"type":"content_block_stop","index":1},"parent_tool_use_id":null}"#.to_owned(),
        // No JSON at all.
        format!("noise GITHUB_TOKEN={token} more"),
    ];
    for line in &agent {
        journal.push(Kind::Agent, line.as_bytes());
    }
    for line in [
        format!("bearer {value}"),
        begin.to_owned(),
        pem.clone(),
        end.to_owned(),
    ] {
        journal.push(Kind::Stderr, line.as_bytes());
    }
    let host = json!({"type": "user", "message": {"content": format!("use {aws}, please")}});
    journal.push(Kind::Host, host.to_string().as_bytes());
    journal.push(
        Kind::AgentPiece,
        format!("{{\"type\":\"x\",\"t\":\"{key}").as_bytes(),
    );
    journal.end(Exit::default());
    16
}

#[test]
fn no_planted_secret_is_in_what_comes_out() {
    let stage = Stage::new();
    let places = plant(&stage);
    for format in ["ndjson", "recording", "json"] {
        let plain = text(&stage.run(&["export", "session", "--format", format]).stdout);
        let output = stage.run(&["export", "session", "--format", format, "--redact"]);
        assert!(output.status.success());
        let redacted = text(&output.stdout);
        for secret in secrets() {
            let core = core(&secret);
            let hidden = escaped(core);
            assert!(!redacted.contains(core), "{format}: {core}\n{redacted}");
            assert!(!redacted.contains(&hidden), "{format}: {hidden}");
        }
        assert!(
            plain.contains(core(&secrets()[0])),
            "they were there before"
        );
        // Pieces, put together.
        let joined: String = redacted
            .lines()
            .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
            .map(|line| {
                if line["line"].is_object() {
                    line["line"].clone()
                } else {
                    line
                }
            })
            .filter_map(|line| line["event"]["delta"]["text"].as_str().map(str::to_owned))
            .collect();
        assert_eq!(joined, "the key is sk-ant-[masked]");
        assert_eq!(plain.lines().count(), redacted.lines().count());
        let said = text(&output.stderr);
        // The host's line and stderr have no place in plain lines.
        let places = if format == "ndjson" {
            places - 4
        } else {
            places
        };
        let count: usize = said.split_whitespace().nth(1).unwrap().parse().unwrap();
        assert!(count >= places, "{said}");
        assert!(
            said.starts_with("masked ") && said.contains(" secrets in "),
            "{said}"
        );
    }
}

#[test]
fn what_was_redacted_is_still_what_it_was() {
    let stage = Stage::new();
    stage.session(
        "session",
        &["newest/sub-agent.ndjson", "newest/streaming.ndjson"],
    );
    for format in ["ndjson", "recording", "json"] {
        let plain = stage.said(&["export", "session", "--format", format]);
        let output = stage.run(&["export", "session", "--format", format, "--redact"]);
        assert_eq!(text(&output.stdout), plain, "there is nothing to hide");
        assert_eq!(text(&output.stderr), "masked 0 secrets in 0 records\n");
    }
}

#[test]
fn the_journal_itself_stays_as_it_is() {
    let stage = Stage::new();
    plant(&stage);
    let segment = stage.path("session/journal/000001.j");
    let before = fs::read(&segment).unwrap();
    stage.run(&["export", "session", "--redact", "-o", "out"]);
    assert_eq!(fs::read(&segment).unwrap(), before);
    assert!(
        !fs::read_to_string(stage.path("out"))
            .unwrap()
            .contains(core(&secrets()[0]))
    );
}

#[test]
fn patterns_of_ones_own_are_masked_too() {
    let stage = Stage::new();
    let lines = "{\"type\":\"x\",\"a\":\"order ACME-4711 of Falcon\",\"n\":4711}\n";
    fs::write(stage.path("lines"), lines).unwrap();
    let patterns = [
        "--pattern",
        "ACME-[0-9]+",
        "--pattern",
        "^4711$",
        "--pattern",
        "(?i)FALCON",
    ];
    let output = stage.run(&[&["export", "lines", "--redact"][..], &patterns].concat());
    assert_eq!(
        text(&output.stdout),
        "{\"type\":\"x\",\"a\":\"order [masked] of [masked]\",\"n\":\"[masked]\"}\n"
    );
    assert_eq!(text(&output.stderr), "masked 3 secrets in 1 record\n");
}

#[test]
fn the_header_of_a_recording_and_streamed_records_are_masked() {
    let stage = Stage::new();
    let mut recorded = recording::header_line("2.1.325", "Falcon with MY_TOKEN=a1b2c3d4e5f6g7");
    let mut line: serde_json::Value = serde_json::from_str(&piece(0, "text", "hello")).unwrap();
    line["session_id"] = json!("conv-17");
    line["said"] = json!("a1b2c3d4e5f6g7 it was");
    let entry = recording::entry_line(5, Direction::Out, line.to_string().as_bytes());
    recorded.extend(entry);
    fs::write(stage.path("recorded"), recorded).unwrap();
    let output = stage.run(&[
        "export",
        "recorded",
        "--format",
        "recording",
        "--redact",
        "--pattern",
        "Falcon",
        "--pattern",
        "conv-[0-9]+",
    ]);
    let said = text(&output.stdout);
    assert!(
        said.contains(r#""scenario":"[masked] with MY_TOKEN=[masked]""#),
        "{said}"
    );
    for secret in ["Falcon", "a1b2c3d4e5f6g7", "conv-17"] {
        assert!(!said.contains(secret), "{said}");
    }
    assert!(said.contains("hello"), "{said}");
    assert_eq!(text(&output.stderr), "masked 4 secrets in 1 record\n");
}

#[test]
fn a_pattern_that_cannot_be_used_is_refused_before_anything_is_written() {
    let stage = Stage::new();
    fs::write(stage.path("lines"), "{\"type\":\"x\"}\n").unwrap();
    let (said, code) =
        stage.refused(&["export", "lines", "--redact", "--pattern", "(", "-o", "out"]);
    assert!(said.contains("`(` is no regular expression"), "{said}");
    assert_eq!(code, 1);
    assert!(!stage.path("out").exists());
    assert_eq!(stage.refused(&["export", "lines", "--pattern", "x"]).1, 2);
}

#[test]
fn standard_input_cannot_be_redacted() {
    let stage = Stage::new();
    let output = stage.fed(&["export", "-", "--redact"], b"{\"type\":\"x\"}\n");
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("write it to a file first"));
    assert!(output.stdout.is_empty());
}

#[test]
fn ordinary_secrets_of_shell_texts_are_masked_and_ordinary_words_are_not() {
    let stage = Stage::new();
    let value = "yy99yyzz";
    let long = "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r";
    let gives_away = [
        "tool --api-key ",
        "tool --password ",
        "tool --token ",
        "tool --token=",
        "SECRET_KEY = \"",
        "export MY_KEY=",
        "DB_PASS=",
        "token=",
        "secret=",
        "{'secret': '",
    ];
    let prefixes = [
        concat!("gl", "pat-"),
        concat!("npm", "_"),
        concat!("AI", "za"),
        concat!("sk_", "live_"),
        concat!("rk_", "live_"),
        concat!("ey", "J"),
    ];
    let say = |text: &str| json!({"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}});
    let mut journal = Journal::open(&stage.path("session"), 1);
    for name in gives_away {
        journal.push(
            Kind::Agent,
            say(&format!("{name}{value}")).to_string().as_bytes(),
        );
    }
    for prefix in prefixes {
        let text = say(&format!("it is {prefix}{long}.{long}.x"));
        journal.push(Kind::Agent, text.to_string().as_bytes());
    }
    let field = json!({"type": "x", "env": {"DB_PASS": value}});
    journal.push(Kind::Agent, field.to_string().as_bytes());
    let harmless = say("keyboard=yes monkey=yes tokens=12 MAX_TOKENS=12").to_string();
    journal.push(Kind::Agent, harmless.as_bytes());
    journal.end(Exit::default());
    let output = stage.run(&["export", "session", "--redact"]);
    let redacted = text(&output.stdout);
    assert!(!redacted.contains(value), "{redacted}");
    // What follows the dot is no part of those tokens but of the web token.
    assert!(!redacted.contains(&format!("_{long}")), "{redacted}");
    assert!(!redacted.contains(&format!("-{long}")), "{redacted}");
    let web = concat!("ey", "J");
    assert!(
        redacted.contains(&format!("it is {web}[masked]\"")),
        "{redacted}"
    );
    assert!(redacted.lines().any(|line| harmless == line), "{redacted}");
    let secrets = gives_away.len() + prefixes.len() + 1;
    assert!(text(&output.stderr).contains(&format!("in {secrets} records")));
}
