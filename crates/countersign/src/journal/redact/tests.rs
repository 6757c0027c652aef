//! What goes through a [`Redactor`]: order kept, pieces joined, values learned.

use super::*;

fn owned(seq: u64, kind: Kind, payload: impl Into<String>) -> Owned {
    Owned {
        generation: 1,
        seq,
        at: seq,
        kind,
        payload: payload.into().into_bytes(),
    }
}

fn delta(seq: u64, index: u64, field: &str, text: &str) -> Owned {
    let delta = serde_json::json!({"type": "content_block_delta", "index": index, "delta": {"type": "x", field: text}});
    let line =
        serde_json::json!({"type": "stream_event", "event": delta, "parent_tool_use_id": null});
    owned(seq, Kind::Agent, line.to_string())
}

fn stop(seq: u64, index: u64) -> Owned {
    let line = serde_json::json!({"type": "stream_event", "event": {"type": "content_block_stop", "index": index}, "parent_tool_use_id": null});
    owned(seq, Kind::Agent, line.to_string())
}

fn through(redactor: &mut Redactor, records: Vec<Owned>) -> Vec<(u64, String)> {
    let mut out = Vec::new();
    for record in records {
        redactor.push(record, &mut out);
    }
    redactor.finish(&mut out);
    out.into_iter()
        .map(|record| (record.seq, String::from_utf8(record.payload).unwrap()))
        .collect()
}

fn text_of(line: &str, field: &str) -> String {
    let line: serde_json::Value = serde_json::from_str(line).unwrap();
    line["event"]["delta"][field].as_str().unwrap().to_owned()
}

#[test]
fn a_secret_in_two_pieces_is_cut_out_of_both() {
    let mut redactor = Redactor::new(Vec::new());
    let out = through(
        &mut redactor,
        vec![
            delta(1, 0, "text", "the key s"),
            owned(2, Kind::Host, "{}"),
            delta(3, 0, "text", "k-ant-abc"),
            delta(4, 1, "text", "other"),
            delta(5, 0, "text", "123 is it"),
            stop(6, 0),
            stop(7, 1),
        ],
    );
    let seqs: Vec<u64> = out.iter().map(|(seq, _)| *seq).collect();
    assert_eq!(seqs, [1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(text_of(&out[0].1, "text"), "the key s");
    assert_eq!(text_of(&out[2].1, "text"), "k-ant-[masked]");
    assert_eq!(text_of(&out[3].1, "text"), "other");
    assert_eq!(text_of(&out[4].1, "text"), " is it");
    assert_eq!(
        redactor.masked(),
        Masked {
            secrets: 1,
            records: 2
        }
    );
}

#[test]
fn what_stands_beside_a_piece_is_looked_at_too() {
    let beside = |mut record: Owned, more: serde_json::Value| {
        let mut line: serde_json::Value = serde_json::from_slice(&record.payload).unwrap();
        for (name, value) in more.as_object().unwrap() {
            line[name] = value.clone();
        }
        record.payload = line.to_string().into_bytes();
        record
    };
    let pattern = |text: &str| Regex::new(text).unwrap();
    // The name of the field, too; and one of the same name and with the same text that is no piece.
    let mut redactor = Redactor::new(vec![pattern("conv-[0-9]+"), pattern("^text$")]);
    let out = through(
        &mut redactor,
        vec![
            beside(
                delta(1, 0, "text", "the key s"),
                serde_json::json!({"session_id": "conv-17", "a": {"text": "the key s"}}),
            ),
            beside(
                delta(2, 0, "text", "k-ant-abc123 of conv-1"),
                serde_json::json!({"uuid": "plain"}),
            ),
            delta(3, 0, "text", "8"),
            stop(4, 0),
        ],
    );
    let all: Vec<serde_json::Value> = out
        .iter()
        .map(|(_, line)| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(all[0]["session_id"], "[masked]");
    assert_eq!(all[0]["event"]["delta"]["[masked]"], "the key s");
    assert_eq!(all[0]["a"]["[masked]"], "the key s");
    assert_eq!(
        all[1]["event"]["delta"]["[masked]"],
        "k-ant-[masked] of [masked]"
    );
    assert_eq!(all[1]["uuid"], "plain");
    assert_eq!(all[2]["event"]["delta"]["[masked]"], "");
    // Two in the text, the session, and four names of fields.
    assert_eq!(
        redactor.masked(),
        Masked {
            secrets: 7,
            records: 3
        }
    );
}

#[test]
fn a_tool_input_in_pieces_is_read_as_json() {
    let mut redactor = Redactor::new(Vec::new());
    let out = through(
        &mut redactor,
        vec![
            delta(1, 0, "partial_json", r#"{"user":"me","pass"#),
            delta(2, 0, "partial_json", r#"word":"hun"#),
            delta(3, 0, "partial_json", r#"ter two","x":1}"#),
            stop(4, 0),
        ],
    );
    let whole: String = out[..3]
        .iter()
        .map(|(_, line)| text_of(line, "partial_json"))
        .collect();
    assert_eq!(whole, r#"{"user":"me","password":"[masked]","x":1}"#);
}

#[test]
fn a_text_that_never_ends_is_masked_at_the_end() {
    let mut redactor = Redactor::new(Vec::new());
    let out = through(
        &mut redactor,
        vec![delta(1, 0, "text", "sk-an"), delta(2, 0, "text", "t-abc")],
    );
    let whole: String = out.iter().map(|(_, line)| text_of(line, "text")).collect();
    assert_eq!(whole, "sk-ant-[masked]");
}

#[test]
fn what_is_secret_in_one_place_is_masked_in_all() {
    let records = || {
        vec![
            owned(1, Kind::Agent, r#"{"said":"it was a1b2c3d4e5f6, I think"}"#),
            owned(2, Kind::Host, r#"{"env":{"MY_TOKEN":"a1b2c3d4e5f6"}}"#),
        ]
    };
    let mut redactor = Redactor::new(Vec::new());
    for record in records() {
        redactor.learn(&record.record());
    }
    redactor.learned().unwrap();
    let out = through(&mut redactor, records());
    assert_eq!(out[0].1, r#"{"said":"it was [masked], I think"}"#);
    assert_eq!(out[1].1, r#"{"env":{"MY_TOKEN":"[masked]"}}"#);
}

#[test]
fn a_key_over_several_lines_of_stderr_is_hidden() {
    let begin = concat!("-----BEGIN PRIVATE ", "KEY-----");
    let end = concat!("-----END PRIVATE ", "KEY-----");
    let mut redactor = Redactor::new(Vec::new());
    let lines = ["before", begin, "MIIEow", end, "after"];
    let records = lines
        .iter()
        .zip(1..)
        .map(|(line, seq)| owned(seq, Kind::Stderr, *line));
    let out = through(&mut redactor, records.collect());
    let all: String = out.iter().map(|(_, line)| format!("{line}\n")).collect();
    assert!(!all.contains("MIIEow") && all.starts_with("before\n") && all.ends_with("after\n"));
    assert_eq!(redactor.masked().records, 2);
}

#[test]
fn bytes_that_are_no_text_are_kept_if_there_is_nothing_to_hide() {
    let mut redactor = Redactor::new(Vec::new());
    let mut record = owned(1, Kind::Agent, "");
    record.payload = b"\xff noise".to_vec();
    let mut out = Vec::new();
    redactor.push(record, &mut out);
    assert_eq!(out[0].payload, b"\xff noise");
}
