//! The fold of recordings of the real CLI, as a person would read it.
//!
//! Owns the snapshots. What each rule does by itself is in the table tests; here it is seen that they fit what three
//! versions of the CLI really say.

mod support;

use support::{recorded, recordings, transcript};

macro_rules! snapshots {
    ($($test:ident: $($name:literal),+;)+) => {$(
        #[test]
        fn $test() {
            for name in [$($name),+] {
                insta::with_settings!({ snapshot_suffix => name.replace('/', "-"), prepend_module_to_snapshot => false }, {
                    insta::assert_snapshot!("recording", transcript(&recorded(name)));
                });
            }
        }
    )+};
}

snapshots! {
    two_turns: "2.0.75/plain-turn", "2.1.62/plain-turn", "newest/plain-turn";
    pieces_and_the_whole: "newest/streaming", "newest/thinking", "2.0.75/thinking";
    an_interrupt_while_it_writes: "2.0.75/interrupt-streaming", "newest/interrupt-streaming";
    an_interrupt_while_it_asks: "2.0.75/interrupt-approval", "newest/interrupt-approval";
    denials: "2.1.62/bash-denied", "newest/bash-denied", "newest/rules";
    questions_and_plans: "newest/ask-user-question", "newest/plan-mode", "2.0.75/plan-mode";
    sub_agents: "2.0.75/sub-agent", "2.1.62/sub-agent", "newest/sub-agent";
    in_the_background: "2.1.62/background-bash", "newest/background-bash", "newest/background-agent";
    hooks_and_servers: "newest/hooks", "newest/mcp-in-process";
    retries_and_failures: "newest/api-error-retry", "2.0.75/api-error-retry", "newest/max-turns", "newest/budget";
    compaction: "newest/compaction", "2.0.75/compaction";
    modes_and_models: "newest/mode-change", "2.0.75/mode-change", "newest/set-model";
    what_became_of_messages: "newest/lifecycle";
    two_generations: "2.0.75/resume", "2.1.62/resume", "newest/resume";
    long_lines: "newest/large-line";
    structured_answers: "newest/structured-output";
}

#[test]
fn nothing_in_a_recording_is_malformed_and_nothing_stays_open() {
    for (name, records) in recordings() {
        let (fold, _) = support::fold(&records);
        assert_eq!(fold.totals().malformed, 0, "{name}");
        assert_eq!(fold.totals().unknown, 0, "{name}");
        assert_eq!(fold.open(), 0, "{name}");
        assert_eq!(fold.totals().approvals.open, 0, "{name}");
    }
}
