//! Sessions that are made up: any line after any other.
//!
//! Owns the vocabulary. Ids come from small sets, so that results find calls, answers find questions, and some find none.
#![allow(dead_code, reason = "each test binary uses its own part of it")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use countersign_journal::{Exit, KeeperEvent, Kind, ProcessName};
use countersign_transcript::body::Standing;
use countersign_transcript::{Body, Entry};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::support::{Owned, opened};

pub(crate) fn is_asking(entry: &Entry) -> bool {
    let approval = match &entry.body {
        Body::Tool(tool) => tool.approval.as_deref(),
        Body::Ask(ask) => Some(&ask.approval),
        _ => None,
    };
    approval.is_some_and(|approval| approval.standing == Standing::Open)
}

fn id(prefix: &'static str) -> impl Strategy<Value = String> {
    (0..4u8).prop_map(move |number| format!("{prefix}{number}"))
}

/// The main conversation, or below one of the calls.
fn speaker() -> impl Strategy<Value = Value> {
    prop_oneof![
        3 => Just(Value::Null),
        1 => id("t").prop_map(Value::from),
    ]
}

fn words() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-zä\n\"]{0,12}",
        1 => (0..40_000usize).prop_map(|length| "long ".repeat(length / 5)),
    ]
}

fn tool() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        Just("Bash"),
        Just("Task"),
        Just("AskUserQuestion"),
        Just("ExitPlanMode"),
        Just("Write")
    ]
}

fn agent(value: Value) -> (Kind, Vec<u8>) {
    (Kind::Agent, value.to_string().into_bytes())
}

fn host(value: Value) -> (Kind, Vec<u8>) {
    (Kind::Host, value.to_string().into_bytes())
}

type Line = (Kind, Vec<u8>);

fn messages() -> impl Strategy<Value = Line> {
    let block = prop_oneof![
        words().prop_map(|text| json!({"type":"text","text":text})),
        words().prop_map(|text| json!({"type":"thinking","thinking":text})),
        (id("t"), tool(), words()).prop_map(
            |(id, name, text)| json!({"type":"tool_use","id":id,"name":name,
            "input":{"command":text,"description":"d","run_in_background":true}})
        ),
        Just(json!({"type":"tomorrow"})),
        Just(json!({"type":"text","text":7})),
    ];
    let result = (id("t"), any::<bool>(), words()).prop_map(|(id, is_error, text)| {
        json!({"type":"tool_result","tool_use_id":id,"is_error":is_error,"content":text})
    });
    prop_oneof![
        3 => (id("m"), speaker(), block).prop_map(|(message, speaker, block)| agent(json!({"type":"assistant",
            "message":{"id":message,"model":"x","content":[block]},"parent_tool_use_id":speaker,"uuid":"u"}))),
        3 => (speaker(), result, any::<bool>()).prop_map(|(speaker, result, is_async)| agent(json!({"type":"user",
            "message":{"role":"user","content":[result]},"parent_tool_use_id":speaker,
            "tool_use_result":{"isAsync":is_async,"status":"x"}}))),
        1 => (speaker(), any::<bool>(), words()).prop_map(|(speaker, is_replay, text)| agent(json!({"type":"user",
            "message":{"role":"user","content":text},"parent_tool_use_id":speaker,"isReplay":is_replay}))),
        1 => Just(agent(json!({"type":"user","message":{"role":"user","content":"[Request interrupted by user]"}}))),
    ]
}

fn pieces() -> impl Strategy<Value = Line> {
    let event = prop_oneof![
        1 => id("m").prop_map(|id| json!({"type":"message_start","message":{"id":id,"model":"x"}})),
        1 => (0..3u8).prop_map(|index| json!({"type":"content_block_start","index":index,"content_block":{"type":"text","text":""}})),
        1 => (0..3u8).prop_map(|index| json!({"type":"content_block_start","index":index,"content_block":{"type":"thinking"}})),
        1 => (0..3u8, id("t")).prop_map(|(index, id)| json!({"type":"content_block_start","index":index,"content_block":{"type":"tool_use","id":id,"name":"Bash"}})),
        4 => (0..3u8, words()).prop_map(|(index, text)| json!({"type":"content_block_delta","index":index,"delta":{"type":"text_delta","text":text}})),
        2 => (0..3u8, words()).prop_map(|(index, text)| json!({"type":"content_block_delta","index":index,"delta":{"type":"thinking_delta","thinking":text}})),
        1 => (0..3u8).prop_map(|index| json!({"type":"content_block_stop","index":index})),
        1 => Just(json!({"type":"message_stop"})),
    ];
    (speaker(), event).prop_map(|(speaker, event)| {
        agent(json!({"type":"stream_event","event":event,"parent_tool_use_id":speaker}))
    })
}

fn control() -> impl Strategy<Value = Line> {
    let answer = prop_oneof![
        words().prop_map(|text| json!({"behavior":"allow","updatedInput":{"command":text}})),
        words().prop_map(|text| json!({"behavior":"deny","message":text,"interrupt":true})),
        Just(json!({"action":"accept","content":{"name":"x"}})),
        Just(json!({"hookSpecificOutput":{"permissionDecision":"deny"}})),
        Just(json!(null)),
    ];
    prop_oneof![
        3 => (id("r"), id("t"), tool(), words()).prop_map(|(request, call, name, text)| agent(json!({"type":"control_request",
            "request_id":request,"request":{"subtype":"can_use_tool","tool_name":name,"tool_use_id":call,"input":{"command":text}}}))),
        1 => id("r").prop_map(|request| agent(json!({"type":"control_request","request_id":request,
            "request":{"subtype":"elicitation","mcp_server_name":"s","message":"m","requested_schema":{}}}))),
        1 => id("r").prop_map(|request| agent(json!({"type":"control_request","request_id":request,
            "request":{"subtype":"hook_callback","callback_id":"c","input":{"hook_event_name":"Stop"}}}))),
        1 => id("r").prop_map(|request| agent(json!({"type":"control_cancel_request","request_id":request}))),
        3 => (id("r"), answer).prop_map(|(request, answer)| host(json!({"type":"control_response",
            "response":{"subtype":"success","request_id":request,"response":answer}}))),
        1 => id("r").prop_map(|request| host(json!({"type":"control_response",
            "response":{"subtype":"error","request_id":request,"error":"no"}}))),
        1 => id("q").prop_map(|request| host(json!({"type":"control_request","request_id":request,
            "request":{"subtype":"set_permission_mode","mode":"plan"}}))),
        1 => Just(host(json!({"type":"control_request","request_id":"i","request":{"subtype":"interrupt"}}))),
        1 => id("q").prop_map(|request| agent(json!({"type":"control_response",
            "response":{"subtype":"success","request_id":request,"response":{"mode":"default"}}}))),
        1 => Just((Kind::Note, json!({"by":"rule x","why":"w","client":"c","answer":"r1"}).to_string().into_bytes())),
    ]
}

fn around() -> impl Strategy<Value = Line> {
    let state = prop_oneof![
        Just("queued"),
        Just("started"),
        Just("completed"),
        Just("cancelled")
    ];
    let status = prop_oneof![Just("completed"), Just("killed"), Just("running")];
    prop_oneof![
        2 => (id("u"), words()).prop_map(|(uuid, text)| host(json!({"type":"user","uuid":uuid,"message":{"role":"user","content":text}}))),
        1 => words().prop_map(|text| host(json!({"type":"user","message":{"role":"user","content":[{"type":"text","text":text},{"type":"image"}]}}))),
        1 => (id("u"), state).prop_map(|(uuid, state)| agent(json!({"type":"command_lifecycle","command_uuid":uuid,"state":state}))),
        2 => Just(agent(json!({"type":"system","subtype":"init","model":"x","permissionMode":"default","claude_code_version":"2.1.325"}))),
        2 => (0..1000u32).prop_map(|cost| agent(json!({"type":"result","subtype":"success","total_cost_usd":f64::from(cost)/1e3,
            "usage":{"output_tokens":1},"modelUsage":{"x":{"inputTokens":cost,"outputTokens":cost,"costUSD":f64::from(cost)/1e3}}}))),
        2 => (id("k"), id("t"), any::<bool>()).prop_map(|(task, call, back)| agent(json!({"type":"system","subtype":"task_started",
            "task_id":task,"tool_use_id":call,"description":"d","task_type":"local_bash","is_backgrounded":back}))),
        1 => (id("k"), status).prop_map(|(task, status)| agent(json!({"type":"system","subtype":"task_updated","task_id":task,"patch":{"status":status,"is_backgrounded":true}}))),
        1 => id("k").prop_map(|task| agent(json!({"type":"system","subtype":"task_notification","task_id":task,"status":"completed","summary":"s"}))),
        1 => id("k").prop_map(|task| agent(json!({"type":"system","subtype":"background_tasks_changed","tasks":[{"task_id":task}]}))),
        1 => Just(agent(json!({"type":"system","subtype":"api_retry","attempt":1,"max_retries":10,"retry_delay_ms":581.25}))),
        1 => Just(agent(json!({"type":"system","subtype":"status","status":"compacting"}))),
        1 => Just(agent(json!({"type":"system","subtype":"compact_boundary","compact_metadata":{"trigger":"auto","pre_tokens":9}}))),
        1 => id("h").prop_map(|id| agent(json!({"type":"system","subtype":"hook_started","hook_id":id,"hook_name":"n","hook_event":"Stop"}))),
        1 => id("h").prop_map(|id| agent(json!({"type":"system","subtype":"hook_response","hook_id":id,"outcome":"success","output":"o"}))),
        1 => Just(agent(json!({"type":"conversation_reset","trigger":"clear"}))),
        1 => words().prop_map(|text| (Kind::Stderr, text.replace('\n', " ").into_bytes())),
        1 => keeper(),
    ]
}

fn keeper() -> impl Strategy<Value = Line> {
    let exit = KeeperEvent::Exit(Exit {
        code: Some(0),
        unwritten: (1..40).collect(),
        killed: vec![ProcessName {
            pid: 1,
            command: "x".to_owned(),
        }],
        ..Exit::default()
    });
    let events = [
        opened(1, "--resume x"),
        KeeperEvent::Spawned { pid: 1, started: 1 },
        KeeperEvent::Attached { epoch: 1 },
        KeeperEvent::Detached { epoch: 1 },
        KeeperEvent::Paused { errno: 28 },
        KeeperEvent::Resumed,
        KeeperEvent::Ending {
            step: "kill".to_owned(),
            why: None,
        },
        KeeperEvent::Lost { killed: Vec::new() },
        exit,
    ];
    let event = proptest::sample::select(events.to_vec());
    event.prop_map(|event| (Kind::Keeper, serde_json::to_vec(&event).unwrap()))
}

/// A line as it is, or cut somewhere.
fn line() -> impl Strategy<Value = Line> {
    let sound = prop_oneof![4 => messages(), 4 => pieces(), 4 => control(), 4 => around()];
    (
        sound,
        prop_oneof![20 => Just(None), 1 => any::<prop::sample::Index>().prop_map(Some)],
    )
        .prop_map(|((kind, mut payload), cut)| {
            if let Some(cut) = cut {
                let at = cut.index(payload.len() + 1);
                payload.truncate(at);
            }
            (kind, payload)
        })
}

/// Lines in any order; now and then another generation begins.
pub(crate) fn session(length: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Owned>> {
    let step = (
        line(),
        prop_oneof![40 => Just(0u32), 1 => Just(1)],
        0..5_000u64,
    );
    proptest::collection::vec(step, length).prop_map(|steps| {
        let (mut generation, mut at) = (1, 1_000_000);
        let mut records = Vec::new();
        for ((kind, payload), more, wait) in steps {
            generation += more;
            at += wait;
            let seq = records.len() as u64 + 1;
            records.push(Owned {
                generation,
                seq,
                at,
                kind,
                payload,
            });
        }
        records
    })
}

/// Records of any bytes.
pub(crate) fn noise(length: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Owned>> {
    let kind = proptest::sample::select(Kind::ALL.to_vec());
    let record = (kind, proptest::collection::vec(any::<u8>(), 0..60));
    proptest::collection::vec(record, length).prop_map(|records| {
        let number = |(at, (kind, mut payload)): (usize, (Kind, Vec<u8>))| {
            payload.retain(|byte| *byte != b'\n');
            let seq = at as u64 + 1;
            Owned {
                generation: 1,
                seq,
                at: seq,
                kind,
                payload,
            }
        };
        records.into_iter().enumerate().map(number).collect()
    })
}
