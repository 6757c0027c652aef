//! What a mode means, and when it is over.

use std::time::Duration;

use countersign_host::control::Mode;
use countersign_host::desk::{Because, Ruling};
use countersign_policy::Effect;
use serde_json::json;

use crate::ground::{Ground, MINUTE, NOW, ask, bash, kept, read, word, write_to};

#[test]
fn each_mode_settles_what_it_says() {
    let ground = Ground::new();
    let inside = write_to(&ground.path("work/a"));
    let reading = read(&ground.path("work/a"));
    let running = bash("make");
    let until = NOW + MINUTE;
    for (mode, wanted) in [
        (Mode::Plan, ["ask", "allow", "ask"]),
        (Mode::Ask, ["ask", "allow", "ask"]),
        (Mode::Edits, ["allow", "allow", "ask"]),
        (Mode::HandsOff { until }, ["allow", "allow", "allow"]),
        (Mode::RulesOnly, ["deny", "allow", "deny"]),
    ] {
        let mut desk = ground.desk(mode);
        let cli = mode.of_cli();
        let mut ruled = |ask| word(&desk.rule_on(ask, Some(cli.as_str()), NOW));
        assert_eq!(
            [ruled(&inside), ruled(&reading), ruled(&running)],
            wanted,
            "{mode}"
        );
    }
}

#[test]
fn a_file_chooses_the_profile_of_the_mode_that_asks_and_of_no_other() {
    let ground = Ground::new();
    ground.rules("profile = \"edits\"\n");
    let inside = write_to(&ground.path("work/a"));
    for (mode, wanted) in [
        (Mode::Ask, "allow"),
        (Mode::RulesOnly, "deny"),
        (Mode::Plan, "ask"),
    ] {
        let mut desk = ground.desk(mode);
        let cli = mode.of_cli();
        let ruling = desk.rule_on(&inside, Some(cli.as_str()), NOW);
        assert_eq!(word(&ruling), wanted, "{mode}");
    }
}

#[test]
fn rules_only_asks_nobody_and_says_so_to_the_model() {
    let ground = Ground::new();
    let mut desk = ground.desk_with(vec![kept(Effect::Ask, "Bash(make:*)")], Mode::RulesOnly);
    assert!(desk.asks_nobody(NOW));
    for (asked, part) in [
        (bash("make"), "only what rules allow"),
        (bash("./run"), "only what rules allow"),
        (
            ask("AskUserQuestion", json!({"questions": []})),
            "Decide by yourself",
        ),
        (ask("ExitPlanMode", json!({"plan": "x"})), "approve a plan"),
    ] {
        let Ruling::Deny { message, because } = desk.rule_on(&asked, None, NOW) else {
            panic!("nobody is asked about {}", asked.tool_name);
        };
        assert!(message.contains(part), "{message}");
        assert_eq!(because.kind, Because::NOBODY);
    }
    desk.set_mode(Mode::Ask, NOW);
    assert!(!desk.asks_nobody(NOW));
    assert_eq!(word(&desk.rule_on(&bash("make"), None, NOW)), "ask");
}

#[test]
fn hands_off_ends_at_its_moment() {
    let ground = Ground::new();
    let until = NOW + 30 * MINUTE;
    let mut desk = ground.desk_with(
        vec![kept(Effect::Deny, "Bash(rm:*)")],
        Mode::HandsOff { until },
    );
    let running = bash("./deploy");
    assert_eq!(word(&desk.rule_on(&running, None, until - 1)), "allow");
    assert_eq!(word(&desk.rule_on(&bash("rm x"), None, NOW)), "deny");
    assert_eq!(desk.mode(until - 1), Mode::HandsOff { until });
    assert_eq!(word(&desk.rule_on(&running, None, until)), "ask");
    assert_eq!(desk.mode(until), Mode::Ask);
}

#[test]
fn hands_off_is_not_prolonged_by_another_desk_and_a_clock_that_was_set_back() {
    let ground = Ground::new();
    let until = NOW + 50_000;
    let first = ground.desk(Mode::HandsOff { until });
    let set_back = NOW - 60 * MINUTE;
    // By the clock that nobody sets.
    while first.hands_off_left(set_back) != Some(Duration::ZERO) {
        std::thread::sleep(Duration::from_millis(5));
    }
    let mut again = ground.desk(Mode::HandsOff { until });
    assert_eq!(again.mode(set_back), Mode::HandsOff { until });
    again.go_on_from(&first);
    assert_eq!(again.mode(set_back), Mode::Ask);
    assert_eq!(
        word(&again.rule_on(&bash("./deploy"), None, set_back)),
        "ask"
    );
    // What was chosen since is another matter.
    let mut other = ground.desk(Mode::Edits);
    other.go_on_from(&first);
    assert_eq!(other.mode(set_back), Mode::Edits);
}

#[test]
fn hands_off_is_never_for_the_next_agent() {
    let ground = Ground::new();
    let until = NOW + 30 * MINUTE;
    let mut desk = ground.desk(Mode::HandsOff { until });
    desk.next_agent(NOW);
    assert_eq!(desk.mode(NOW), Mode::Ask);
    assert_eq!(word(&desk.rule_on(&bash("./deploy"), None, NOW)), "ask");
    desk.set_mode(Mode::Edits, NOW);
    desk.next_agent(NOW);
    assert_eq!(desk.mode(NOW), Mode::Edits);
}

#[test]
fn a_hands_off_that_was_over_before_it_began_allows_nothing() {
    let ground = Ground::new();
    let mut desk = ground.desk(Mode::HandsOff { until: NOW });
    assert_eq!(word(&desk.rule_on(&bash("./deploy"), None, NOW)), "ask");
    // Not even where the clock is set back afterwards.
    assert_eq!(
        word(&desk.rule_on(&bash("./deploy"), None, NOW - 60 * MINUTE)),
        "ask"
    );
}
