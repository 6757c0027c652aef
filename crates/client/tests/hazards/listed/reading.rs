//! Lines that are long, odd or too many.

use std::time::Duration;

use countersign_client::{AllowAll, Claude, Error, Event, Kind, Notice};

use crate::stage::{
    Stage, alone, in_process, next_frame, next_kind, own_status, there, value, within,
};

#[tokio::test]
pub(crate) async fn a_type_that_does_not_stand_first_is_found() {
    let stage = Stage::new(
        r#"turn
             raw {"message":{"type":"decoy","content":[{"type":"text","text":"back to front"}],"role":"assistant","id":"m","model":"x","usage":{}},"uuid":"u1","session_id":"s1","type":"assistant"}
             raw {"nested":[{"type":"result","subtype":"success"}],"type":"odd_one"}
             raw {"request":{"tool_use_id":"t","input":{"command":"ls"},"tool_name":"Bash","subtype":"can_use_tool"},"request_id":"r1","type":"control_request"}
             expect control_response {"response":{"request_id":"r1","response":{"behavior":"allow"}}} within 20s
             say "Done.""#,
    );
    let mut session = within(stage.claude().permissions(AllowAll).connect())
        .await
        .unwrap();
    let turn = session.send("go").await.unwrap();
    let frame = next_kind(&mut session.events, Kind::Assistant).await;
    assert_eq!(frame.uuid().as_deref(), Some("u1"));
    assert_eq!(
        value(&frame)["message"]["content"][0]["text"],
        "back to front"
    );
    let odd = next_kind(&mut session.events, Kind::Other).await;
    assert_eq!(odd.type_name().as_deref(), Some("odd_one"));
    assert!(
        within(turn).await.unwrap().is_success(),
        "the nested result ended nothing"
    );
}

#[tokio::test]
pub(crate) async fn a_missing_field_is_named_and_harms_nobody() {
    let stage = Stage::new(
        r#"turn
             raw {"type":"assistant","uuid":"bare"}
             raw {"type":"system"}
             raw {"type":"control_request","request_id":"r1","request":{"subtype":"can_use_tool"}}
             expect control_response {"response":{"request_id":"r1","response":{"behavior":"deny"}}} within 20s
             say "Done.""#,
    );
    let mut session = within(stage.claude().permissions(AllowAll).connect())
        .await
        .unwrap();
    let turn = session.send("go").await.unwrap();
    let bare = next_kind(&mut session.events, Kind::Assistant).await;
    assert_eq!(bare.uuid().as_deref(), Some("bare"));
    let error = bare.message().unwrap_err().to_string();
    assert!(error.contains("message"), "{error}");
    assert!(within(turn).await.unwrap().is_success());
    let seen = there(&mut session.events);
    let broken = |event: &&Event| {
        matches!(event, Event::Notice(Notice::BrokenQuestion { subtype, reason })
            if subtype == "can_use_tool" && reason.contains("tool_name"))
    };
    assert_eq!(seen.iter().filter(broken).count(), 1, "{seen:?}");
}

#[tokio::test]
pub(crate) async fn a_line_of_20_mb_arrives_whole() {
    let stage = Stage::new("turn\n big 20M\n say \"After it.\"");
    let mut session = within(stage.claude().connect()).await.unwrap();
    let turn = session.send("go").await.unwrap();
    let frame = next_kind(&mut session.events, Kind::Assistant).await;
    let text = &value(&frame)["message"]["content"][0]["text"];
    assert_eq!(text.as_str().unwrap().len(), 20 << 20);
    assert!(frame.message().is_ok());
    assert_eq!(within(turn).await.unwrap().text(), "After it.");
}

/// A 300 MB line comes, and is passed over; the peak of this process' memory in MiB.
async fn peak_of_300_mb(change: impl FnOnce(Claude) -> Claude) -> u64 {
    let stage = Stage::new("turn\n big 300M\n say \"After it.\"");
    let mut session = within(change(stage.claude()).connect()).await.unwrap();
    let turn = session.send("go").await.unwrap();
    assert_eq!(within(turn).await.unwrap().text(), "After it.");
    let seen = there(&mut session.events);
    let too_long: Vec<u64> = seen
        .iter()
        .filter_map(|event| match event {
            Event::TooLong { bytes } => Some(*bytes),
            _ => None,
        })
        .collect();
    assert_eq!(too_long.len(), 1, "it is told");
    assert!(too_long[0] >= 300 << 20, "with its size: {too_long:?}");
    own_status("VmHWM") >> 10
}

#[test]
pub(crate) fn a_line_of_300_mb_is_over_the_limit() {
    alone(
        "listed::reading::a_line_of_300_mb_is_over_the_limit",
        &[],
        async {
            // The line is kept up to the limit of 256 MiB, in case it ends there.
            let peak = peak_of_300_mb(|claude| claude).await;
            assert!(peak < 600, "{peak} MiB");
        },
    );
}

#[test]
pub(crate) fn a_line_over_a_lower_limit_costs_that_limit() {
    alone(
        "listed::reading::a_line_over_a_lower_limit_costs_that_limit",
        &[],
        async {
            let lower = |claude: Claude| claude.bounds(|bounds| bounds.max_line = 4 << 20);
            let peak = peak_of_300_mb(lower).await;
            assert!(peak < 64, "{peak} MiB");
        },
    );
}

#[tokio::test]
pub(crate) async fn noise_of_any_bytes_is_told_and_passed_on() {
    let stage = Stage::new(
        r#"turn
             rawbytes "\xff\xfe\x00 no text\n"
             noise "[object Object]"
             noise "\"a string\""
             noise "[1,2]"
             noise "{\"no\":\"type\"}"
             say "Done.""#,
    );
    let mut session = within(stage.claude().connect()).await.unwrap();
    assert!(
        within(session.send("go").await.unwrap())
            .await
            .unwrap()
            .is_success()
    );
    let seen = there(&mut session.events);
    let noise: Vec<&[u8]> = seen
        .iter()
        .filter_map(Event::frame)
        .filter(|frame| frame.kind() == Kind::Malformed)
        .map(|frame| frame.line())
        .collect();
    let wanted: [&[u8]; 5] = [
        b"\xff\xfe\x00 no text",
        b"[object Object]",
        b"\"a string\"",
        b"[1,2]",
        b"{\"no\":\"type\"}",
    ];
    assert_eq!(noise, wanted);
}

#[tokio::test(start_paused = true)]
pub(crate) async fn who_does_not_read_for_a_minute_is_told_what_was_lost() {
    const BOUND: usize = 256 << 10;
    const FLOOD: u64 = 10_000;
    let (peer, cli) = in_process(
        r#"turn
             flood 10000 200
             ask Bash {"command":"ls"} gives "ok"
             wait 60s
             ask Bash {"command":"ls"} gives "ok"
             say "A minute later.""#,
    );
    let claude = Claude::new().permissions(AllowAll);
    let claude = claude.bounds(|bounds| bounds.queue_bytes = BOUND);
    let mut session = claude.connect_over(peer).await.unwrap();
    let started = tokio::time::Instant::now();
    let turn = session.send("go").await.unwrap();
    // For a minute nobody reads. Questions are answered, control requests too.
    for _ in 0..59 {
        tokio::time::sleep(Duration::from_secs(1)).await;
        session.mcp_status().await.unwrap();
    }
    assert_eq!(turn.await.unwrap().text(), "A minute later.");
    assert!(started.elapsed() >= Duration::from_secs(60));

    let seen = there(&mut session.events);
    let Event::Lagged { events, bytes } = seen[0] else {
        panic!("the loss is told first: {:?}", seen[0]);
    };
    assert!(events > 0 && bytes as usize > BOUND);
    let frames: Vec<_> = seen.iter().filter_map(Event::frame).collect();
    let kept: usize = frames.iter().map(|frame| frame.line().len()).sum();
    // The bound, and one read at either end.
    assert!(kept <= BOUND + (128 << 10), "{kept}");
    // Nothing is missing that was not counted, and the newest lines are the ones that are kept.
    assert_eq!(frames[0].position(), events);
    let whole = events + frames.len() as u64;
    assert_eq!(frames.last().unwrap().position() + 1, whole);
    assert!(whole > FLOOD);
    assert_eq!(
        frames
            .iter()
            .filter(|frame| frame.kind() == Kind::Result)
            .count(),
        1
    );
    session.close().await;
    assert_eq!(cli.await.unwrap().unwrap().code, Some(0));
}

#[test]
pub(crate) fn who_never_reads_costs_a_bounded_amount_of_memory() {
    alone(
        "listed::reading::who_never_reads_costs_a_bounded_amount_of_memory",
        &[],
        async {
            let stage = Stage::new(
                r#"turn
                 repeat 60
                   big 2M
                   flood 50 200
                 end
                 ask Bash {"command":"ls"} gives "ok"
                 say "120 MB later.""#,
            );
            let claude = stage.claude().permissions(AllowAll);
            let claude = claude.bounds(|bounds| bounds.queue_bytes = 4 << 20);
            let mut session = within(claude.connect()).await.unwrap();
            let result = within(session.send("go").await.unwrap()).await.unwrap();
            assert_eq!(result.text(), "120 MB later.");
            let peak = own_status("VmHWM") >> 10;
            // The bound, a line at either end, the one that is being read, each in a buffer that may be half empty.
            assert!(peak < 64, "{peak} MiB");
            let told = within(session.events.next()).await;
            assert!(matches!(told, Some(Event::Lagged { .. })), "{told:?}");
            next_frame(&mut session.events, |frame| frame.kind() == Kind::Result).await;
        },
    );
}

#[tokio::test]
pub(crate) async fn a_cli_that_does_not_read_is_told_to_the_writer() {
    let stage = Stage::new("turn\n say \"Deaf.\"\n stop reading\n wait forever");
    let claude = stage
        .claude()
        .bounds(|bounds| bounds.outbox_bytes = 1 << 20);
    let claude = claude.graces(|graces| graces.interrupt = Duration::from_millis(100));
    let claude = claude.graces(|graces| graces.close = Duration::from_millis(100));
    let mut session = within(claude.connect()).await.unwrap();
    let _turn = session.send("go").await.unwrap();
    next_kind(&mut session.events, Kind::Assistant).await;
    let long = "x".repeat(300 << 10);
    let mut refused = None;
    for _ in 0..10 {
        if let Err(error) = session.send(long.as_str()).await {
            refused = Some(error);
            break;
        }
    }
    assert!(matches!(refused, Some(Error::Backlog)), "{refused:?}");
    within(session.close()).await;
    stage.assert_nothing_runs();
}
