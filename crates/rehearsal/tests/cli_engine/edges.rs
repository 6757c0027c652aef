//! The engine where things go wrong, or are large, or come from elsewhere.

use super::*;

#[test]
fn an_expectation_that_fails_ends_with_97_and_says_what_came() {
    let mut good = Run::new("turn\n  expect user content~\"hello\"\n  say \"ok\"");
    assert_eq!(good.user("hello there").code(), None);
    assert_eq!(good.kinds().last().unwrap(), "result/success");

    let mut other = Run::new("turn\n  expect user content=bye");
    assert_eq!(other.user("hello").code(), Some(97));
    assert!(
        other
            .stderr()
            .contains("expected user with content=\"bye\", but the host wrote"),
        "{}",
        other.stderr()
    );

    let mut late = Run::new("turn\n  expect interrupt within 1s");
    late.user("hello")
        .request("h", serde_json::json!({"subtype":"mcp_status"}));
    assert_eq!(late.code(), None);
    assert_eq!(late.at(1000).code(), Some(97));
    assert!(
        late.stderr()
            .contains("what came instead: user, control_request/mcp_status"),
        "{}",
        late.stderr()
    );

    let mut ended = Run::new("turn\n  expect interrupt");
    assert_eq!(ended.user("hello").step(Input::Eof).code(), Some(97));

    let mut more = Run::new("turn\n  say \"once\"");
    assert_eq!(more.user("a").user("b").code(), Some(97));
    assert!(
        more.stderr().contains("all turns are used up"),
        "{}",
        more.stderr()
    );
}

#[test]
fn the_end_of_input_refuses_what_is_asked_and_finishes_the_turn() {
    let mut run = Run::new("turn\n  ask Bash\n  say \"without it\"");
    run.user("go").kinds();
    run.step(Input::Eof);
    assert_eq!(run.lines[0]["message"]["content"][0]["is_error"], true);
    assert_eq!(run.kinds(), ["user", "assistant", "result/success"]);
    assert_eq!(run.code(), Some(0));

    let mut failed = Run::new("turn\n  result error_max_turns");
    assert_eq!(failed.user("go").step(Input::Eof).code(), Some(1));
    let mut deaf = Run::new("ignore eof");
    assert_eq!(deaf.step(Input::Eof).code(), None);
    let mut stuck = Run::new("turn\n  wait forever");
    assert_eq!(stuck.user("go").step(Input::Eof).code(), None);
}

#[test]
fn hooks_go_to_the_callbacks_whose_matcher_fits() {
    let mut run = Run::new(
        "turn\n  hook PreToolUse {\"tool_name\":\"Bash\",\"tool_input\":{}}\n  say \"asked\"",
    );
    run.request(
        "h1",
        serde_json::json!({"subtype":"initialize","hooks":{"PreToolUse":[
        {"matcher":"Bash","hookCallbackIds":["a","b"]},
        {"matcher":"Write","hookCallbackIds":["c"]},
        {"hookCallbackIds":["d"]}]}}),
    );
    run.kinds();
    run.user("go");
    let requests = run
        .lines
        .iter()
        .filter(|line| line["type"] == "control_request");
    let callbacks: Vec<_> = requests
        .map(|line| line["request"]["callback_id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(callbacks, ["a", "b", "d"]);
    let ids = asked(&run);
    run.kinds();
    for id in ids {
        run.answer(&id, serde_json::json!({}));
    }
    assert_eq!(run.kinds(), ["assistant", "result/success"]);
}

#[test]
fn in_process_servers_are_greeted_before_the_first_turn() {
    let mut run = Run::new("");
    run.request(
        "h1",
        serde_json::json!({"subtype":"initialize","sdkMcpServers":["calc"]}),
    );
    run.user("go");
    let mut methods = Vec::new();
    for _ in 0..3 {
        let asks = |line: &&serde_json::Value| line["type"] == "control_request";
        let request = run.lines.iter().rev().find(asks).unwrap().clone();
        methods.push(
            request["request"]["message"]["method"]
                .as_str()
                .unwrap()
                .to_owned(),
        );
        run.answer(
            request["request_id"].as_str().unwrap(),
            serde_json::json!({"mcp_response":{}}),
        );
    }
    assert_eq!(
        methods,
        ["initialize", "notifications/initialized", "tools/list"]
    );
    assert_eq!(run.kinds().last().unwrap(), "result/success");
}

#[test]
fn a_flood_is_numbered_and_hears_the_host_in_between() {
    let mut run = Run::new("turn\n  flood 1200 50");
    let first = run.engine.step(
        Duration::ZERO,
        Input::Line(br#"{"type":"user","message":{"role":"user","content":"x"}}"#),
    );
    assert_eq!(
        first.last(),
        Some(&Output::WakeAt(Duration::ZERO)),
        "it lets the host in before it is done"
    );
    run.request("h1", serde_json::json!({"subtype":"mcp_status"}));
    let kinds = run.kinds();
    let reply = kinds
        .iter()
        .position(|kind| kind == "control_response/success")
        .unwrap();
    assert!(reply < kinds.len() - 1);
}

#[test]
fn a_big_line_is_never_held_as_a_whole() {
    let mut run = Run::new("turn\n  big 300M");
    run.user("go");
    let held: usize = run
        .outputs
        .iter()
        .map(|output| match output {
            Output::Write(bytes) => bytes.len(),
            _ => 0,
        })
        .sum();
    assert!(held < 20_000, "{held}");
    assert!(run.outputs.contains(&Output::Fill {
        byte: b'x',
        count: 300 * 1024 * 1024
    }));
}

#[test]
fn a_line_it_cannot_bear_kills_it() {
    let code = |text: &str, line: &str| Run::new(text).line(line).code();
    assert_eq!(code("", ""), None);
    assert_eq!(code("", "{oops"), Some(1));
    assert_eq!(code("default strict off", "{oops"), None);
}

#[test]
fn lines_can_have_more_and_less_than_usual() {
    let mut run = Run::new(
        "turn\n  say \"a\" with {\"novel\":1,\"message\":{\"usage\":{\"novel\":2}}}\n  result without duration_ms,usage.input_tokens",
    );
    run.user("go");
    assert_eq!(run.lines[1]["novel"], 1);
    assert_eq!(run.lines[1]["message"]["usage"]["novel"], 2);
    assert!(run.lines[1]["message"]["usage"]["output_tokens"].is_number());
    assert!(run.lines[2].get("duration_ms").is_none());
    assert!(run.lines[2]["usage"].get("input_tokens").is_none());
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let run = || Run::new("turn\n  ask Bash").user("go").lines.clone();
    assert_eq!(run(), run());
}
