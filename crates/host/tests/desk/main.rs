//! The desk of a session, from the outside: what is ruled on a question, and what an agent is started with.
//!
//! Rulings are made on folders of their own; starts are looked at as arguments and environment, played on the scripted
//! CLI, and on the real ones where it matters what they do with it. A CLI that is not in the cache skips its tests, unless
//! `COUNTERSIGN_REQUIRE` lists it (`claude-newest`).

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod attaching;
mod closing;
mod ground;
mod modes;
mod plans;
mod real;
mod rulings;
mod scripted;
mod starts;
mod trust;

macro_rules! on_each_version {
    ($($test:ident),+ $(,)?) => {
        on_each_version! { @version newest "newest" $($test)+ }
        on_each_version! { @version v2_1_62 "2.1.62" $($test)+ }
        on_each_version! { @version v2_0_75 "2.0.75" $($test)+ }
    };
    (@version $name:ident $version:literal $($test:ident)+) => {
        mod $name {
            $(#[tokio::test]
            async fn $test() {
                if let Some(cli) = countersign_testkit::demand::cli($version) {
                    crate::real::$test(cli).await;
                }
            })+
        }
    };
}

on_each_version! {
    a_started_agent_stands_as_it_was_asked_for,
    an_agent_that_is_resumed_stands_as_before,
    no_call_passes_unseen_by_a_hook_of_the_person,
    what_is_ours_is_closed_to_the_cli_itself,
}
