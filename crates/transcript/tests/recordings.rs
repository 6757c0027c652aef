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
    two_turns: "2.0.75/plain-turn", "2.1.62/plain-turn", "2.1.325/plain-turn";
    pieces_and_the_whole: "2.1.325/streaming", "2.1.325/thinking", "2.0.75/thinking";
    an_interrupt_while_it_writes: "2.0.75/interrupt-streaming", "2.1.325/interrupt-streaming";
    an_interrupt_while_it_asks: "2.0.75/interrupt-approval", "2.1.325/interrupt-approval";
    denials: "2.1.62/bash-denied", "2.1.325/bash-denied", "2.1.325/rules";
    questions_and_plans: "2.1.325/ask-user-question", "2.1.325/plan-mode", "2.0.75/plan-mode";
    sub_agents: "2.0.75/sub-agent", "2.1.62/sub-agent", "2.1.325/sub-agent";
    in_the_background: "2.1.62/background-bash", "2.1.325/background-bash", "2.1.325/background-agent";
    hooks_and_servers: "2.1.325/hooks", "2.1.325/mcp-in-process";
    retries_and_failures: "2.1.325/api-error-retry", "2.0.75/api-error-retry", "2.1.325/max-turns", "2.1.325/budget";
    compaction: "2.1.325/compaction", "2.0.75/compaction";
    modes_and_models: "2.1.325/mode-change", "2.0.75/mode-change", "2.1.325/set-model";
    what_became_of_messages: "2.1.325/lifecycle";
    two_generations: "2.0.75/resume", "2.1.62/resume", "2.1.325/resume";
    long_lines: "2.1.325/large-line";
    structured_answers: "2.1.325/structured-output";
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
