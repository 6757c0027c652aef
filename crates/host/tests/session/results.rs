//! Ground truth §16: what a result says. One table a row.

use serde_json::{Value, json};

use countersign_host::control::State;
use countersign_host::session::Effect;
use countersign_host::session::Input::{Admitted, Budget, Gone, ReleaseQueue, Resume, TryAgain};

use crate::lines::*;
use crate::stage::Do::{A, H, I, K, Wait};
use crate::stage::{SECOND, Stage, exit, exited, queue};

fn api_error(status: Option<u16>, text: &str, is_new: bool) -> Value {
    let mut line =
        json!({"type": "result", "subtype": "success", "is_error": true, "result": text});
    if is_new {
        line["terminal_reason"] = json!("api_error");
        line["api_error_status"] = json!(status);
    }
    line
}

#[test]
fn normal() {
    let mut stage = Stage::running();
    stage.play([(A(result_ok()), "idle", &["turn ended well"])]);
    let old = json!({"type": "result", "subtype": "success", "is_error": false, "result": "x"});
    stage.play([
        (A(init()), "running", &[]),
        (A(old), "idle", &["turn ended well"]),
    ]);
}

#[test]
fn api_error_after_retries_is_a_failure_though_it_says_success() {
    for status in [400, 403, 404, 413, 429, 500, 529] {
        for is_new in [true, false] {
            let mut stage = Stage::running();
            let text = format!("API Error: {status} {{\"error\":\"no\"}}");
            stage.play([(
                A(api_error(Some(status), &text, is_new)),
                "failed",
                &["turn failed"],
            )]);
            assert!(stage.core.reason().contains(&status.to_string()));
        }
    }
}

#[test]
fn api_error_by_a_refused_connection() {
    for is_new in [true, false] {
        let mut stage = Stage::running();
        let line = api_error(None, "API Error: Connection refused", is_new);
        stage.play([(A(line), "failed", &["turn failed"])]);
        assert!(stage.core.reason().contains("Connection refused"));
    }
}

#[test]
fn api_error_401_is_not_signed_in_and_has_a_fix() {
    let told = [
        api_error(Some(401), "Failed to authenticate", true),
        api_error(None, "API Error: 401 {\"type\":\"error\"}", false),
        api_error(None, "Invalid API key · Please run /login", false),
    ];
    for line in told {
        let mut stage = Stage::running();
        stage.play([(A(line), "not_signed_in", &["turn failed"])]);
        let State::NotSignedIn { fix } = stage.core.state() else {
            panic!("{:?}", stage.core.state());
        };
        assert!(fix.contains("/login"), "{fix}");
    }
    let mut stage = Stage::running();
    let failed = json!({"type": "assistant", "error": "authentication_failed",
        "message": {"content": [{"type": "text", "text": "no"}]}});
    stage.play([
        (A(failed), "running", &[]),
        (
            A(api_error(None, "no", true)),
            "not_signed_in",
            &["turn failed"],
        ),
        // What was signed in since is read at a start.
        (I(Resume), "ending", &["end"]),
        (K(exited(1)), "starting", &["spawn 2 Resume"]),
    ]);
}

#[test]
fn interrupt() {
    for is_new in [true, false] {
        let mut stage = Stage::running();
        stage.host(crate::lines::interrupt());
        stage.play([(A(result_aborted(is_new)), "idle", &["turn interrupted"])]);
    }
}

#[test]
fn deny_with_interrupt() {
    for is_new in [true, false] {
        let mut stage = Stage::running();
        let deny = json!({"behavior": "deny", "message": "no", "interrupt": true});
        stage.play([
            (A(ask("r1", "Bash")), "needs_you", &[]),
            (H(answer("r1", deny)), "running", &[]),
            (A(result_aborted(is_new)), "idle", &["turn interrupted"]),
        ]);
    }
}

#[test]
fn deny_without_interrupt_does_not_end_the_turn() {
    let mut stage = Stage::running();
    let deny = json!({"behavior": "deny", "message": "no"});
    stage.play([
        (A(ask("r1", "Bash")), "needs_you", &[]),
        (H(answer("r1", deny)), "running", &[]),
        (A(result_ok()), "idle", &["turn ended well"]),
    ]);
}

#[test]
fn max_turns_reached() {
    for is_new in [true, false] {
        let mut stage = Stage::running();
        let errors: &[&str] = match is_new {
            true => &["Reached maximum number of turns (2)"],
            false => &[],
        };
        let line = json!({"type": "result", "subtype": "error_max_turns", "is_error": is_new, "errors": errors});
        stage.play([
            (A(line), "failed", &["turn failed"]),
            // The process accepts the next message.
            (I(queue(&[2])), "running", &["send 2"]),
            (A(init()), "running", &[]),
            (A(replay(2)), "running", &[]),
            (A(result_ok()), "idle", &["turn ended well"]),
        ]);
    }
}

#[test]
fn max_budget_reached_and_every_later_turn_fails_the_same_way() {
    for is_new in [true, false] {
        let mut stage = Stage::running();
        let line = json!({"type": "result", "subtype": "error_max_budget_usd", "is_error": is_new});
        stage.play([
            (I(queue(&[2, 3])), "running", &[]),
            (A(line.clone()), "failed", &["turn failed"]),
            (I(ReleaseQueue), "running", &["send 2"]),
            (I(queue(&[3])), "running", &[]),
            (A(init()), "running", &[]),
            (A(replay(2)), "running", &[]),
            // Held again: the queue does not run dry into the same wall.
            (A(line), "failed", &["turn failed"]),
        ]);
        assert!(stage.core.queue_held());
    }
}

#[test]
fn schema_never_satisfied() {
    let mut stage = Stage::running();
    let line = json!({"type": "result", "subtype": "error_max_structured_output_retries", "is_error": true});
    stage.play([(A(line), "failed", &["turn failed"])]);
}

#[test]
fn schema_tool_never_called_is_a_success_or_loops_with_signs_of_life() {
    let mut stage = Stage::running();
    stage.play([(A(result_ok()), "idle", &["turn ended well"])]);
    // 2.1.62 nudges for ever: it runs, and a person can end it.
    let mut stage = Stage::running();
    for _ in 0..50 {
        stage.play([
            (A(text("again")), "running", &[]),
            (Wait(20), "running", &[]),
        ]);
    }
}

#[test]
fn schema_ok() {
    let mut stage = Stage::running();
    let mut line = result_ok();
    line["structured_output"] = json!({"answer": 42});
    stage.play([(A(line), "idle", &["turn ended well"])]);
}

#[test]
fn retries_explain_silence_until_they_are_due() {
    let mut stage = Stage::running();
    let retry = json!({"type": "system", "subtype": "api_retry", "attempt": 1, "max_retries": 10,
        "retry_delay_ms": 600_000.259, "error_status": 529, "error": "overloaded"});
    stage.play([
        (A(retry), "running", &[]),
        (Wait(600), "running", &[]),
        (Wait(299), "running", &[]),
        (Wait(2), "stalled", &[]),
        (A(text("there")), "running", &[]),
    ]);
}

#[test]
fn old_clis_retry_in_silence_and_stall() {
    let mut stage = Stage::running();
    let since = stage.now;
    stage.play([(Wait(300), "stalled", &[])]);
    assert_eq!(stage.core.state(), State::Stalled { since });
    assert!(stage.core.reason().contains("nothing comes"));
}

#[test]
fn a_result_without_a_single_known_field_is_a_failure() {
    let mut stage = Stage::running();
    let odd =
        json!({"type": "result", "subtype": 7, "is_error": "maybe", "errors": {"no": "list"}});
    stage.play([(A(odd), "failed", &["turn failed"])]);
}

#[test]
fn a_usage_limit_pauses_until_it_ends_and_then_goes_on() {
    let mut stage = Stage::running();
    let until = stage.now / SECOND + 3600;
    let limit = json!({"type": "rate_limit_event", "rate_limit_info": {"status": "rejected",
        "rateLimitType": "five_hour", "resetsAt": until}});
    stage.play([
        // The turn may still get through.
        (A(limit), "running", &[]),
        (
            A(api_error(Some(429), "You've hit your limit", true)),
            "paused",
            &["turn failed"],
        ),
        (I(queue(&[2])), "paused", &[]),
        (Wait(3599), "paused", &[]),
        (Wait(1), "running", &["send 2"]),
    ]);
}

#[test]
fn after_a_limit_with_nothing_queued_a_word_to_go_on_is_asked_for() {
    let limited = |until: Option<u64>| {
        let mut stage = Stage::running();
        let limit = json!({"type": "rate_limit_event", "rate_limit_info": {"status": "rejected",
            "resetsAt": until}});
        stage.agent(limit);
        stage.agent(api_error(Some(429), "You've hit your limit", true));
        assert_eq!(stage.state(), "paused");
        stage
    };
    // Nobody knows when it ends: it waits for a person, and may sleep meanwhile.
    let mut stage = limited(None);
    stage.play([(Wait(86_400), "paused", &["look at children"])]);
    let until = Stage::running().now / SECOND + 60;
    let mut stage = limited(Some(until));
    stage.play([(Wait(60), "idle", &["go on"]), (Wait(60), "idle", &[])]);
}

#[test]
fn a_limit_whose_end_has_passed_is_not_run_against_again_and_again() {
    let mut stage = Stage::running();
    let text = "Claude AI usage limit reached|1";
    stage.play([
        (A(api_error(None, text, false)), "paused", &["turn failed"]),
        (Wait(60), "paused", &[]),
        (I(TryAgain), "idle", &["go on"]),
    ]);
    // The CLI's own word that a limit ends in the past is no limit at all.
    let mut stage = Stage::running();
    let limit = json!({"type": "rate_limit_event", "rate_limit_info": {"status": "rejected", "resetsAt": 1}});
    stage.play([
        (A(limit), "running", &[]),
        (
            A(api_error(Some(429), "You've hit your limit", true)),
            "failed",
            &["turn failed"],
        ),
    ]);
}

#[test]
fn a_limit_is_tried_again_when_a_person_says_so() {
    let mut stage = Stage::running();
    let text = "Claude AI usage limit reached|99999999999";
    stage.play([
        (A(api_error(None, text, false)), "paused", &["turn failed"]),
        (I(TryAgain), "idle", &["go on"]),
        (I(queue(&[9])), "running", &["send 9"]),
    ]);
}

#[test]
fn each_turn_that_a_limit_ends_has_a_word_to_go_on_of_its_own() {
    let mut stage = Stage::running();
    let text = "Claude AI usage limit reached|99999999999";
    let mut words = Vec::new();
    for message in [2, 3] {
        stage.agent(api_error(None, text, false));
        let ended = stage.now;
        stage.wait(60);
        let mut effects = stage.give(TryAgain);
        effects.retain(|effect| matches!(effect, Effect::GoOn { .. }));
        assert_eq!(effects, [Effect::GoOn { since: ended }]);
        words.extend(effects);
        stage.host(user(message));
        stage.agent(init());
    }
    assert_ne!(words[0], words[1]);
}

#[test]
fn overage_lets_a_rejected_limit_through() {
    let mut stage = Stage::running();
    let limit = json!({"type": "rate_limit_event", "rate_limit_info": {"status": "rejected",
        "resetsAt": 99_999_999, "isUsingOverage": true}});
    stage.play([
        (A(limit), "running", &[]),
        (A(result_ok()), "idle", &["turn ended well"]),
    ]);
}

#[test]
fn a_budget_interrupts_and_asks() {
    let over = Budget {
        spent: 2.5,
        budget: Some(2.0),
    };
    let raised = Budget {
        spent: 2.5,
        budget: Some(5.0),
    };
    let mut stage = Stage::running();
    stage.play([
        (I(queue(&[2])), "running", &[]),
        (I(over), "running", &["interrupt"]),
        (A(result_aborted(true)), "paused", &["turn interrupted"]),
        // A turn that starts by itself is ended too.
        (A(init()), "running", &["interrupt"]),
        (A(result_aborted(true)), "paused", &["turn interrupted"]),
        (I(raised), "running", &["send 2"]),
    ]);
}

#[test]
fn what_a_turn_has_cost_is_known_before_the_next_message_goes() {
    let told = |spent| Budget {
        spent,
        budget: Some(2.0),
    };
    let mut stage = Stage::running();
    stage.play([
        (I(told(0.5)), "running", &[]),
        (I(queue(&[2])), "running", &[]),
        (A(result_ok()), "idle", &["turn ended well"]),
        (I(told(2.5)), "paused", &[]),
    ]);
    let mut stage = Stage::running();
    stage.play([
        (I(told(0.5)), "running", &[]),
        (I(queue(&[2])), "running", &[]),
        (A(result_ok()), "idle", &["turn ended well"]),
        (I(told(1.0)), "running", &["send 2"]),
    ]);
    // Nobody can say what it has cost: that stops nothing for good.
    let mut stage = Stage::running();
    stage.play([
        (I(told(0.5)), "running", &[]),
        (I(queue(&[2])), "running", &[]),
        (A(result_ok()), "idle", &["turn ended well"]),
        (Wait(2), "running", &["send 2"]),
    ]);
}

/// The result of a turn that the CLI's own limit of dollars ended.
fn result_capped() -> Value {
    json!({"type": "result", "subtype": "error_max_budget_usd", "is_error": true, "errors": ["Reached maximum budget ($2)"]})
}

/// A session that has spent what the CLI lets it spend, with what it has in the background and what waits.
fn at_the_clis_limit(in_background: bool, waiting: &[u64]) -> Stage {
    let mut stage = Stage::running();
    stage.give(told(0.5, 1.0));
    if in_background {
        stage.agent(tool("t1", "Task"));
        stage.agent(background_tasks(&["a1"]));
        stage.agent(task_started("a1", "t1", Some(true)));
        stage.agent(tool_result_async(
            "t1",
            json!({"isAsync": true, "status": "async_launched"}),
        ));
    }
    stage.queue(waiting);
    stage.agent(result_capped());
    stage.give(told(2.0, 1.0));
    assert_eq!(stage.state(), "paused");
    stage
}

fn told(spent: f64, budget: f64) -> countersign_host::session::Input {
    Budget {
        spent,
        budget: Some(budget),
    }
}

#[test]
fn work_in_the_background_does_not_keep_an_agent_that_is_at_the_clis_own_limit() {
    for in_background in [false, true] {
        let mut stage = at_the_clis_limit(in_background, &[]);
        let effects = stage.give(told(2.0, 8.0));
        let is_end = |effect: &Effect| matches!(effect, Effect::End { .. });
        assert!(effects.iter().any(is_end), "{in_background}: {effects:?}");
    }
}

#[test]
fn what_waited_behind_the_clis_own_limit_goes_to_the_next_agent_once_the_budget_allows_it() {
    let mut stage = at_the_clis_limit(false, &[2]);
    stage.give(told(2.0, 8.0));
    let mut effects = stage.keeper(&exited(0));
    effects.extend(stage.give(Gone {
        generation: 1,
        exit: exit(0),
        stderr: String::new(),
    }));
    effects.extend(stage.give(Admitted));
    effects.extend(stage.come_up(2));
    effects.extend(stage.wait(5));
    let is_sent = |effect: &Effect| matches!(effect, Effect::Send { .. });
    assert!(effects.iter().any(is_sent), "{effects:?}");
}
