//! `countersign run` where nobody sits at it: pipes in place of a terminal, text and NDJSON, exit codes, signals.
//!
//! Nearly all of it plays on the scripted CLI; what matters most plays on the real ones, too, in modules that are named
//! after the version.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![cfg(target_os = "linux")]

mod every_cli;
mod modes;
mod ndjson;
mod recording;
mod rules;
mod signals;
mod stage;
mod starting;
mod text;

/// What must hold on each CLI.
macro_rules! on_every_cli {
    ($($module:ident $which:expr;)*) => {
        $(
            mod $module {
                use crate::every_cli;
                use crate::stage::Which;

                const WHICH: Which = $which;

                #[test]
                fn every_call_of_a_mixed_scenario_has_one_decision_with_a_verdict() {
                    every_cli::every_call_of_a_mixed_scenario_has_one_decision_with_a_verdict(WHICH);
                }

                #[test]
                fn hands_off_opens_neither_what_is_denied_nor_what_is_protected() {
                    every_cli::hands_off_opens_neither_what_is_denied_nor_what_is_protected(WHICH);
                }

                #[test]
                fn in_plan_mode_yes_writes_nothing_before_the_plan_is_approved() {
                    every_cli::in_plan_mode_yes_writes_nothing_before_the_plan_is_approved(WHICH);
                }

                #[test]
                fn a_conversation_goes_on() {
                    every_cli::a_conversation_goes_on(WHICH);
                }

                #[test]
                fn the_end_of_a_run_is_the_end_of_its_commands() {
                    every_cli::the_end_of_a_run_is_the_end_of_its_commands(WHICH);
                }
            }
        )*
    };
}

on_every_cli! {
    scripted Which::Scripted;
    v2_1_325 Which::Real("2.1.325");
    v2_1_62 Which::Real("2.1.62");
    v2_0_75 Which::Real("2.0.75");
}
