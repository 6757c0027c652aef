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
fn results_can_be_lost_come_twice_or_say_less() {
    let mut run = Run::new(
        "turn\n  lose result\nturn\n  result success with {\"result\":\"\",\"is_error\":true}\n\
         turn\n  result without result\nturn\n  result\n  result error_during_execution",
    );
    let mut results = |text: &str| {
        let lines = std::mem::take(&mut run.user(text).lines).into_iter();
        lines
            .filter(|line| line["type"] == "result")
            .collect::<Vec<_>>()
    };
    assert!(results("1").is_empty());
    let second = results("2").remove(0);
    assert_eq!(
        (&second["result"], &second["is_error"]),
        (&"".into(), &true.into())
    );
    assert!(results("3")[0].get("result").is_none());
    let subtypes: Vec<_> = results("4")
        .iter()
        .map(|line| line["subtype"].clone())
        .collect();
    assert_eq!(subtypes, ["success", "error_during_execution"]);
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let run = || Run::new("turn\n  ask Bash").user("go").lines.clone();
    assert_eq!(run(), run());
}
