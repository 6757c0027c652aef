//! `countersign run` where nobody sits at it: pipes in place of a terminal, text and NDJSON, exit codes, signals.
//!
//! Nearly all of it plays on the scripted CLI; what matters most plays on the real ones, too, in modules that are named
//! after the version.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![cfg(target_os = "linux")]

mod every_cli;
mod modes;
mod ndjson;
mod page;
mod recording;
mod rules;
mod signals;
mod stage;
mod starting;
mod text;

/// The tests of [`every_cli`] in a module for each CLI.
macro_rules! on_every_cli {
    ($($module:ident: $which:expr;)* => $tests:tt) => {
        $(on_every_cli!(@one $module, $which, $tests);)*
    };
    (@one $module:ident, $which:expr, [$($name:ident,)*]) => {
        mod $module {
            use crate::stage::Which;
            $(
                #[test]
                fn $name() {
                    crate::every_cli::$name($which);
                }
            )*
        }
    };
}

on_every_cli! {
    scripted: Which::Scripted;
    => [
        every_call_of_a_mixed_scenario_has_one_decision_with_a_verdict,
        hands_off_opens_neither_what_is_denied_nor_what_is_protected,
        in_plan_mode_yes_writes_nothing_before_the_plan_is_approved,
        a_conversation_goes_on,
        the_end_of_a_run_is_the_end_of_its_commands,
    ]
}

// The scripted CLI runs no hooks of settings, so one test more.
on_every_cli! {
    newest: Which::Real("newest");
    v2_1_200: Which::Real("2.1.200");
    v2_1_62: Which::Real("2.1.62");
    v2_0_75: Which::Real("2.0.75");
    => [
        every_call_of_a_mixed_scenario_has_one_decision_with_a_verdict,
        hands_off_opens_neither_what_is_denied_nor_what_is_protected,
        in_plan_mode_yes_writes_nothing_before_the_plan_is_approved,
        a_conversation_goes_on,
        what_an_untrusted_folder_would_start_does_not_run,
        the_end_of_a_run_is_the_end_of_its_commands,
    ]
}

// What older ones can: no files of plans, and calls of sub-agents that do not name them.
on_every_cli! {
    v2_0_30: Which::Real("2.0.30");
    v1_0_128: Which::Real("1.0.128");
    => [
        hands_off_opens_neither_what_is_denied_nor_what_is_protected,
        a_conversation_goes_on,
        what_an_untrusted_folder_would_start_does_not_run,
        the_end_of_a_run_is_the_end_of_its_commands,
    ]
}

// Those that begin such a turn.
on_every_cli! {
    newest_background: Which::Real("newest");
    v2_1_200_background: Which::Real("2.1.200");
    v2_1_62_background: Which::Real("2.1.62");
    => [
        the_turn_that_follows_work_in_the_background_is_not_lost,
    ]
}
