//! Plan review from end to end: every way on from a plan, through the host, on the scripted CLI and on the real ones.
//!
//! The same model script is played on all of them. What mode an agent is in afterwards is read from what the CLI itself
//! said in the journal, never from our own rows. A CLI that is not in the cache skips its tests, unless
//! `COUNTERSIGN_REQUIRE` lists it (`claude-newest`).
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod again;
#[path = "../host/stage.rs"]
#[expect(
    dead_code,
    reason = "shared with the other tests of the host, which use more of it"
)]
mod common;
mod compact;
mod entering;
mod fresh;
mod gone;
mod review;
mod script;
mod side_by_side;
mod stage;

macro_rules! on_each_cli {
    ($($file:ident: $($test:ident),+;)+) => {
        mod scripted {
            $($(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                crate::$file::$test(crate::stage::Cli::Scripted).await;
            })+)+
        }
        on_each_cli! { @real newest "newest" $($($file $test)+)+ }
        on_each_cli! { @real v2_1_62 "2.1.62" $($($file $test)+)+ }
        on_each_cli! { @real v2_0_75 "2.0.75" $($($file $test)+)+ }
    };
    (@real $name:ident $version:literal $($file:ident $test:ident)+) => {
        mod $name {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                if let Some(cli) = countersign_testkit::demand::cli($version) {
                    crate::$file::$test(crate::stage::Cli::Real(cli)).await;
                }
            })+
        }
    };
}

on_each_cli! {
    review: a_plan_goes_back_and_forth_until_it_is_approved,
        a_changed_plan_reaches_the_agent_and_granted_wishes_run_unasked,
        without_a_text_there_are_two_ways;
    fresh: a_fresh_conversation_begins_with_the_plan_alone;
    compact: the_context_is_compacted_before_it_goes_on;
    gone: an_agent_that_has_gone_is_resumed_by_the_decision,
        a_plan_of_an_agent_that_has_gone_begins_a_fresh_conversation,
        a_plan_outlives_the_host_that_was_asked,
        a_plan_of_a_session_in_the_trash_wakes_nobody,
        a_decision_that_never_reached_its_agent_is_told_whole_to_the_next;
    again: a_plan_that_is_presented_as_it_was_is_asked_about_again,
        how_full_the_context_is_is_said_with_the_plan;
    side_by_side: two_sessions_that_plan_in_one_folder_share_nothing;
    entering: an_agent_that_enters_plan_mode_plans;
}
