//! Every scenario, live on every pinned CLI: what crosses the wire has the shape of the recording.
//!
//! A CLI that is not in the cache skips its tests with a word on stderr; where `COUNTERSIGN_REQUIRE`
//! lists it (`claude-2.1.62`, separated by commas or spaces), the tests fail instead.
//! `cargo xtask fetch` puts the CLIs there.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use countersign_testkit::fetch::{self, Installed, Pinned};
use countersign_testkit::recording::{Recording, shape};
use countersign_testkit::sandbox::{self, RunAs};
use countersign_testkit::scenario::{self, Scenario};
use countersign_testkit::{demand, drive};

/// Makes one test per scenario and version, and a list of them.
macro_rules! real_cli {
    ($($module:ident $version:literal: [$($test:ident $scenario:literal),* $(,)?])*) => {
        $(mod $module {
            $(#[tokio::test]
            async fn $test() {
                super::plays_as_recorded($version, $scenario).await;
            })*
        })*

        /// Version and scenario of each test above.
        const TESTED: &[(&str, &str)] = &[$($(($version, $scenario)),*),*];
    };
    (
        every $($test:ident $scenario:literal),*;
        newest $($new_test:ident $new:literal),*;
        oldest $($old_test:ident $old:literal),*
    ) => {
        real_cli! {
            newest "newest": [$($test $scenario,)* $($new_test $new),*]
            v2_1_200 "2.1.200": [$($test $scenario),*]
            v2_1_62 "2.1.62": [$($test $scenario),*]
            v2_0_75 "2.0.75": [$($test $scenario),*]
            v2_0_30 "2.0.30": [$($old_test $old),*]
            v1_0_128 "1.0.128": [$($old_test $old),*]
        }
    };
}

real_cli! {
    every
    api_error_retry "api-error-retry",
    ask_user_question "ask-user-question",
    background_bash "background-bash",
    bash_approved "bash-approved",
    bash_denied "bash-denied",
    budget "budget",
    bypass "bypass",
    compaction "compaction",
    fork "fork",
    hooks "hooks",
    interrupt_approval "interrupt-approval",
    interrupt_streaming "interrupt-streaming",
    large_line "large-line",
    max_turns "max-turns",
    mcp_in_process "mcp-in-process",
    mode_change "mode-change",
    plain_turn "plain-turn",
    plan_mode "plan-mode",
    resume "resume",
    rules "rules",
    set_model "set-model",
    streaming "streaming",
    structured_output "structured-output",
    sub_agent "sub-agent",
    thinking "thinking",
    write_edit "write-edit";
    newest
    background_agent "background-agent",
    control "control",
    lifecycle "lifecycle";
    oldest
    bash_approved "bash-approved",
    bash_denied "bash-denied",
    hooks "hooks",
    interrupt_approval "interrupt-approval",
    mcp_in_process "mcp-in-process",
    mode_change "mode-change",
    plain_turn "plain-turn",
    resume "resume",
    write_edit "write-edit"
}

#[test]
fn every_scenario_has_a_test_and_a_recording_for_each_of_its_versions() {
    let mut wanted = Vec::new();
    for file in scenario::all().unwrap() {
        for pinned in fetch::tested() {
            if let Some(scenario) = Scenario::load(&file, pinned.version).unwrap() {
                wanted.push((pinned.version.to_owned(), scenario.name));
            }
        }
    }
    let mut tested: Vec<(String, String)> = TESTED
        .iter()
        .map(|(version, name)| {
            let version = Pinned::find(version).unwrap().version;
            (version.to_owned(), (*name).to_owned())
        })
        .collect();
    let all = tested.clone();
    tested.retain(|(version, _)| fetch::tested().any(|pinned| pinned.version == version));
    wanted.sort();
    tested.sort();
    assert_eq!(tested, wanted);
    for (version, name) in all {
        let path = Recording::path(&Recording::fixtures(), &version, &name);
        let recording = Recording::read(&path).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((recording.cli, recording.scenario), (version, name));
    }
}

mod other_user {
    //! The same CLI as somebody who owns nothing here: files, modes and paths must still fit.

    #[tokio::test]
    async fn other_user_runs_newest() {
        super::plays_for_another_user("newest").await;
    }

    #[tokio::test]
    async fn other_user_runs_2_1_200() {
        super::plays_for_another_user("2.1.200").await;
    }

    #[tokio::test]
    async fn other_user_runs_2_1_62() {
        super::plays_for_another_user("2.1.62").await;
    }

    #[tokio::test]
    async fn other_user_runs_2_0_75() {
        super::plays_for_another_user("2.0.75").await;
    }

    /// The CLI itself is the witness that it does not run as root.
    #[tokio::test]
    async fn other_user_may_skip_permissions_where_root_may_not() {
        super::only_root_is_refused_to_skip_permissions("newest").await;
    }
}

async fn plays_as_recorded(version: &str, name: &str) {
    let Some(installed) = demand::cli(version) else {
        return;
    };
    compare(name, &installed, RunAs::Caller).await;
}

/// The user and group `nobody` of most systems; nothing depends on it having a name.
const NOBODY: u32 = 65534;

async fn plays_for_another_user(version: &str) {
    let Some(installed) = installed_for_another_user(version) else {
        return;
    };
    for name in ["bash-approved", "write-edit"] {
        compare(name, &installed, RunAs::Uid(NOBODY)).await;
    }
}

async fn only_root_is_refused_to_skip_permissions(version: &str) {
    let Some(installed) = installed_for_another_user(version) else {
        return;
    };
    let mut scenario = load("bypass", installed.pinned.version);
    scenario.header.env.retain(|(name, _)| name != "IS_SANDBOX");
    let refused = drive::play(&scenario, &installed, RunAs::Caller)
        .await
        .unwrap_err();
    assert!(refused.to_string().contains("root"), "{refused}");
    let played = drive::play(&scenario, &installed, RunAs::Uid(NOBODY)).await;
    played.unwrap_or_else(|error| panic!("{error}"));
}

fn installed_for_another_user(version: &str) -> Option<Installed> {
    if sandbox::can_become_another_user() {
        return demand::cli(version);
    }
    let why = "needs root and setpriv";
    assert!(
        !demand::is_required("other-user"),
        "COUNTERSIGN_REQUIRE lists other-user, which {why}"
    );
    eprintln!("skipped: other user on claude {version} ({why})");
    None
}

async fn compare(name: &str, installed: &Installed, run_as: RunAs) {
    let version = installed.pinned.version;
    let scenario = load(name, version);
    let played = drive::play(&scenario, installed, run_as)
        .await
        .unwrap_or_else(|error| panic!("{error}"));
    let stored = Recording::read(&Recording::path(&Recording::fixtures(), version, name)).unwrap();
    let (played, stored) = (shape(&played.recording()), shape(&stored));
    assert!(
        played == stored,
        "{name} on {version} no longer has the shape of its recording\nplayed: {played:#?}\nstored: {stored:#?}"
    );
}

fn load(name: &str, version: &str) -> Scenario {
    let mut files = scenario::all().unwrap().into_iter();
    let file = files.find(|file| file.file_stem().unwrap() == name);
    let scenario = Scenario::load(
        &file.unwrap_or_else(|| panic!("no scenario {name}")),
        version,
    );
    scenario.unwrap().expect("the scenario is for this version")
}
