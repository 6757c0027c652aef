//! Sessions on the real CLIs: what an agent had the next one has, by what the CLI itself says.
//!
//! Each test is played on every pinned version, in a sandbox with a scripted model. A CLI that is not in the cache skips
//! its tests, unless `COUNTERSIGN_REQUIRE` lists it (`claude-newest`).
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod awake;
#[path = "../host/heard.rs"]
#[expect(
    dead_code,
    reason = "shared with the other tests of the host, which use more of it"
)]
mod heard;
mod real;
#[path = "../host/stage.rs"]
#[expect(
    dead_code,
    reason = "shared with the other tests of the host, which use more of it"
)]
mod stage;

macro_rules! on_each_version {
    ($($test:ident),+ $(,)?) => {
        on_each_version! { @version newest "newest" $($test)+ }
        on_each_version! { @version v2_1_200 "2.1.200" $($test)+ }
        on_each_version! { @version v2_1_62 "2.1.62" $($test)+ }
        on_each_version! { @version v2_0_75 "2.0.75" $($test)+ }
        on_each_version! { @version v2_0_30 "2.0.30" $($test)+ }
        on_each_version! { @version v1_0_128 "1.0.128" $($test)+ }
    };
    (@version $name:ident $version:literal $($test:ident)+) => {
        mod $name {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                if let Some(cli) = countersign_testkit::demand::cli($version) {
                    crate::awake::$test(cli).await;
                }
            })+
        }
    };
}

on_each_version! {
    an_agent_that_is_woken_resumed_or_forked_stands_as_before,
    an_agent_with_a_server_sleeps_and_wakes_in_another_environment,
}
