//! Every call is seen, on the real CLIs: what makes them ask, what cannot undo it, and that denials hold in every mode.
//!
//! A stage is a sandbox with a scripted model; a host answers by policy and keeps every verdict. What was measured stands
//! in `measured/`, and every row of it is played. A CLI that is not in the cache skips its tests, unless
//! `COUNTERSIGN_REQUIRE` lists it (`claude-newest`).

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod denials;
mod given;
mod host;
mod measured;
mod mixed;
mod record;
mod stage;

macro_rules! on_each_version {
    ($($module:ident::$test:ident),+ $(,)?) => {
        on_each_version! { @version newest "newest" $($module::$test)+ }
        on_each_version! { @version v2_1_62 "2.1.62" $($module::$test)+ }
        on_each_version! { @version v2_0_75 "2.0.75" $($module::$test)+ }
    };
    (@version $name:ident $version:literal $($module:ident::$test:ident)+) => {
        mod $name {
            $(#[tokio::test]
            async fn $test() {
                if let Some(cli) = countersign_testkit::demand::cli($version) {
                    crate::$module::$test(cli).await;
                }
            })+
        }
    };
}

on_each_version! {
    mixed::every_call_is_asked_about_in_every_mode,
    mixed::every_call_has_a_verdict_on_record,
    denials::what_rules_deny_is_not_done_in_any_mode,
    denials::a_repository_whose_hooks_allow_everything_hides_nothing,
    given::settings_that_a_person_passes_do_not_silence_the_questions,
    given::a_tool_that_shows_up_later_is_asked_about,
    measured::what_others_have_set_changes_what_was_measured,
    measured::what_the_cli_is_started_with_changes_what_was_measured,
    record::a_recording_holds_every_line_and_every_verdict,
}
