//! Lines that a client did not expect: new types, new blocks, long ones, odd ones.

use countersign_client::wire::CliMessage;
use countersign_client::{AllowAll, Error, Event, Kind};
use serde_json::{Value, json};

use crate::stage::{Stage, lines, next_kind, there, value, within};

#[tokio::test]
pub(crate) async fn c01_a_new_message_type_does_not_kill_the_stream() {
    let stage = Stage::new(
        r#"turn
             emit {"type":"rate_limit_event","rate_limit_info":{"status":"allowed_from_the_future"}}
             emit {"type":"next_years_event"}
             emit {"type":"system","subtype":"next_years_subtype","x":1}
             say "Alive."
           turn
             say "Still alive.""#,
    );
    let mut session = within(stage.claude().connect()).await.unwrap();
    assert!(
        within(session.send("one").await.unwrap())
            .await
            .unwrap()
            .is_success()
    );
    let seen = there(&mut session.events);
    for wanted in ["rate_limit_event", "next_years_event", "system"] {
        let is_it =
            |frame: &&countersign_client::Frame| frame.type_name().as_deref() == Some(wanted);
        let frame = seen.iter().filter_map(Event::frame).rfind(is_it);
        let frame = frame.unwrap_or_else(|| panic!("{wanted} is missing"));
        assert!(frame.message().is_ok(), "{frame:?}");
    }
    let second = within(session.send("two").await.unwrap()).await.unwrap();
    assert_eq!(second.text(), "Still alive.");
}

#[tokio::test]
pub(crate) async fn c03_a_listener_that_does_not_read_deadlocks_nothing() {
    let stage = Stage::new(
        r#"turn
             repeat 120
               ask Bash {"command":"echo ${n}"} gives "ok ${n}"
             end
             say "All of them.""#,
    );
    let mut session = within(stage.claude().permissions(AllowAll).connect())
        .await
        .unwrap();
    // 120 calls with their results, and nobody has read a line when the turn ends.
    let result = within(session.send("go").await.unwrap()).await.unwrap();
    assert_eq!(result.text(), "All of them.");
    let answers = stage.answers();
    assert_eq!(answers.len(), 120);
    assert!(
        answers
            .iter()
            .all(|answer| answer["response"]["behavior"] == "allow")
    );
    let seen = lines(&there(&mut session.events));
    let results = seen
        .iter()
        .filter(|line| line["tool_use_result"]["stdout"].is_string());
    assert_eq!(results.count(), 120, "and every line is still there");
}

#[tokio::test]
pub(crate) async fn c04_a_long_line_in_many_pieces_does_not_end_the_session() {
    let stage = Stage::new(
        r#"turn
             partial "{\"type\":\"long_"
             wait 20ms
             rawbytes "winded\",\"x\":1"
             wait 20ms
             rawbytes "}\n"
             big 8M
             say "Here."
           turn
             big 3M
             say "Again.""#,
    );
    let mut session = within(stage.claude().connect()).await.unwrap();
    assert_eq!(
        within(session.send("one").await.unwrap())
            .await
            .unwrap()
            .text(),
        "Here."
    );
    let pieced = next_kind(&mut session.events, Kind::Other).await;
    assert_eq!(pieced.line(), br#"{"type":"long_winded","x":1}"#);
    let big = next_kind(&mut session.events, Kind::Assistant).await;
    assert!(big.line().len() > 8 << 20 && big.message().is_ok());
    assert_eq!(
        within(session.send("two").await.unwrap())
            .await
            .unwrap()
            .text(),
        "Again."
    );
}

#[tokio::test]
pub(crate) async fn c05_the_bound_of_a_line_does_not_add_up() {
    let stage = Stage::new("turn\n repeat 40\n big 400K\n end\n say \"16 MB later.\"");
    let claude = stage.claude().bounds(|bounds| bounds.max_line = 1 << 20);
    let mut session = within(claude.connect()).await.unwrap();
    let result = within(session.send("go").await.unwrap()).await.unwrap();
    assert_eq!(result.text(), "16 MB later.");
    let seen = there(&mut session.events);
    let is_big = |event: &&Event| {
        event
            .frame()
            .is_some_and(|frame| frame.line().len() > 400 << 10)
    };
    assert_eq!(seen.iter().filter(is_big).count(), 40);
    assert!(
        !seen
            .iter()
            .any(|event| matches!(event, Event::TooLong { .. }))
    );
}

#[tokio::test]
pub(crate) async fn c21_blocks_that_are_in_no_list_are_kept() {
    let blocks = [
        json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}}),
        json!({"type": "document", "source": {"type": "url", "url": "https://example.com/a.pdf"}}),
        json!({"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "x"}}),
        json!({"type": "fallback", "from": "opus", "to": "sonnet", "trigger": "overloaded"}),
        json!({"type": "text"}),
    ];
    let steps: Vec<String> = blocks
        .iter()
        .map(|block| format!("  block {block}\n"))
        .collect();
    let stage = Stage::new(&format!("turn\n{}  say \"end\"", steps.concat()));
    let mut session = within(stage.claude().connect()).await.unwrap();
    assert!(
        within(session.send("go").await.unwrap())
            .await
            .unwrap()
            .is_success()
    );
    for block in &blocks {
        let frame = next_kind(&mut session.events, Kind::Assistant).await;
        assert_eq!(value(&frame)["message"]["content"][0], *block);
        match frame.message() {
            Ok(CliMessage::Assistant(message)) => {
                let typed: Value = serde_json::to_value(&message.message).unwrap();
                assert_eq!(typed["content"][0], *block, "typed, it is whole as well");
            }
            // A known block without its one field: the error names it, the line is at hand.
            Err(error) => {
                assert_eq!(block["type"], "text");
                assert!(error.to_string().contains("text"), "{error}");
            }
            Ok(other) => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
pub(crate) async fn c22_a_word_that_is_in_no_enum_does_not_lose_the_result() {
    for subtype in ["error_max_budget_usd", "killed", "error_from_the_future"] {
        let stage = Stage::new(&format!(
            r#"turn
                 emit {{"type":"system","subtype":"task_notification","task_id":"t","status":"vaporised"}}
                 result {subtype} with {{"errors":["out of it"],"terminal_reason":"unheard_of"}}"#
        ));
        let session = within(stage.claude().connect()).await.unwrap();
        let result = within(session.send("go").await.unwrap()).await.unwrap();
        assert_eq!(result.subtype(), subtype);
        assert!(!result.is_success());
        assert_eq!(result.errors(), ["out of it"]);
        let typed = serde_json::to_value(result.message().unwrap()).unwrap();
        assert_eq!(typed["subtype"], subtype);
        assert_eq!(typed["terminal_reason"], "unheard_of");
        let error = result.ok().unwrap_err().to_string();
        assert!(error.contains("out of it"), "{error}");
    }
}

#[tokio::test]
pub(crate) async fn c30_what_is_nowhere_documented_is_measured() {
    // Blank and CRLF lines in; never a blank line, never anything but ASCII out; an error of set_model is told.
    let stage = Stage::new(
        r#"reply error "The model is not available" set_model
           turn
             rawbytes "\n\r\n"
             rawbytes "{\"type\":\"crlf\"}\r\n\r\n"
             say "Ende.""#,
    );
    let mut session = within(stage.claude().connect()).await.unwrap();
    let error = within(session.set_model(Some("nøne"))).await.unwrap_err();
    assert!(
        matches!(&error, Error::Refused { subtype, message, .. }
            if subtype == "set_model" && message == "The model is not available"),
        "{error}"
    );
    let turn = session.send("Grüße 👋\u{2028}\nzwei Zeilen").await.unwrap();
    assert!(within(turn).await.unwrap().is_success());
    let seen = there(&mut session.events);
    let odd = |event: &&Event| {
        event
            .frame()
            .is_some_and(|frame| frame.kind() == Kind::Malformed)
    };
    assert_eq!(
        seen.iter().filter(odd).count(),
        0,
        "a blank line is no event"
    );
    let crlf = seen
        .iter()
        .filter_map(Event::frame)
        .find(|frame| frame.kind() == Kind::Other);
    assert_eq!(crlf.unwrap().line(), br#"{"type":"crlf"}"#);
    within(session.close()).await;
    let bytes = stage.heard_bytes();
    assert!(bytes.is_ascii() && bytes.ends_with(b"\n"));
    assert!(!bytes.windows(2).any(|pair| pair == b"\n\n"));
    let heard = stage.heard();
    let said = heard.iter().find(|line| line["type"] == "user").unwrap();
    assert_eq!(said["message"]["content"], "Grüße 👋\u{2028}\nzwei Zeilen");
}
