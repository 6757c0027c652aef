//! Nothing of the caller reaches the CLI, and nothing of the CLI outlives its run.
//!
//! The test starts itself again with a variable and a home that only the caller has; inside, the
//! scripted model lets the CLI's own shell print its environment, and the result is searched.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::process::Command;
use std::time::{Duration, Instant};

use countersign_testkit::drive::{self, Played};
use countersign_testkit::fetch::{self, Installed};
use countersign_testkit::sandbox::RunAs;
use countersign_testkit::scenario::Scenario;

const MARKER: &str = "COUNTERSIGN_TEST_CALLER_SECRET";
const SECRET: &str = "a-secret-of-the-caller";
const INSIDE: &str = "COUNTERSIGN_TEST_INSIDE";

const PRINTS_ITS_ENVIRONMENT: &str = r#"# The shell of the CLI prints its whole environment.
flags --allowedTools Bash
[model]
reply
  tool Bash {"command":"printenv","description":"Look around"}
reply
  say "Seen."
[drive]
send "Look around"
expect user content.0.type=tool_result
expect result/success result="Seen."
"#;

#[test]
fn no_variable_and_no_home_of_the_caller_is_visible_to_the_cli() {
    if std::env::var_os(INSIDE).is_some() {
        return look_from_inside();
    }
    if any_installed().is_none() {
        return;
    }
    let home = tempfile::tempdir().unwrap();
    // The cache is found by the caller's home, which is another one inside.
    let cache = fetch::cache_dir().unwrap();
    let output = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "no_variable_and_no_home_of_the_caller_is_visible_to_the_cli",
            "--nocapture",
        ])
        .env(INSIDE, "1")
        .env(MARKER, SECRET)
        .env("ANTHROPIC_AUTH_TOKEN", SECRET)
        .env("CLAUDE_CONFIG_DIR", home.path())
        .env("HOME", home.path())
        .env("COUNTERSIGN_CACHE", cache)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let written: Vec<_> = std::fs::read_dir(home.path()).unwrap().collect();
    assert!(
        written.is_empty(),
        "the caller's home was written to: {written:?}"
    );
}

fn look_from_inside() {
    assert_eq!(
        std::env::var(MARKER).as_deref(),
        Ok(SECRET),
        "the caller must have what is searched for"
    );
    let caller_home = std::env::var("HOME").expect("the caller has a home");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    for installed in fetch::tested().filter_map(installed) {
        let version = installed.pinned.version;
        let scenario = Scenario::parse("environment", PRINTS_ITS_ENVIRONMENT, version)
            .unwrap()
            .unwrap();
        let played = runtime.block_on(drive::play(&scenario, &installed, RunAs::Caller));
        let recording = played.unwrap_or_else(|error| panic!("{error}"));
        let wire = wire(&recording);
        assert!(
            wire.contains("ANTHROPIC_BASE_URL=http://127.0.0.1:"),
            "claude {version} printed no environment:\n{wire}"
        );
        for hidden in [MARKER, SECRET, &*caller_home] {
            assert!(
                !wire.contains(hidden),
                "claude {version} sees {hidden} of the caller:\n{wire}"
            );
        }
    }
}

/// A shell in a session of its own, which would outlive the CLI by far.
const LEAVES_A_SHELL_BEHIND: &str = r#"# A shell of its own session is still running when the CLI ends.
flags --allowedTools Bash
[model]
reply
  tool Bash {"command":"setsid sleep 4242 > /dev/null 2>&1 & echo started","description":"Leave something"}
reply
  say "Left."
[drive]
send "Leave something"
expect user content~"started"
expect result/success
"#;

#[tokio::test]
async fn a_shell_in_its_own_session_does_not_outlive_the_run() {
    let Some(installed) = any_installed() else {
        return;
    };
    let version = installed.pinned.version;
    let scenario = Scenario::parse("leftover", LEAVES_A_SHELL_BEHIND, version)
        .unwrap()
        .unwrap();
    let played = drive::play(&scenario, &installed, RunAs::Caller).await;
    played.unwrap_or_else(|error| panic!("{error}"));
    let deadline = Instant::now() + Duration::from_secs(5);
    while sleeper_is_alive() {
        assert!(
            Instant::now() < deadline,
            "the shell's child is still running"
        );
        std::thread::yield_now();
    }
}

fn sleeper_is_alive() -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    processes.into_iter().any(|process| {
        let command = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
        command == b"sleep\x004242\x00"
    })
}

fn wire(played: &Played) -> String {
    let lines = played
        .entries
        .iter()
        .map(|entry| String::from_utf8_lossy(&entry.bytes));
    lines.collect::<Vec<_>>().join("\n")
}

fn installed(pinned: &'static fetch::Pinned) -> Option<Installed> {
    fetch::installed(&fetch::cache_dir().ok()?, pinned)
}

/// The newest that is there, or a word on stderr.
fn any_installed() -> Option<Installed> {
    let found = fetch::tested().find_map(installed);
    if found.is_none() {
        let list = std::env::var("COUNTERSIGN_REQUIRE").unwrap_or_default();
        assert!(
            !list.contains("claude-"),
            "a claude is required and none is in the cache: run `cargo xtask fetch`"
        );
        eprintln!("skipped: no claude is in the cache (`cargo xtask fetch` gets them)");
    }
    found
}
