//! Runs tests with cargo-nextest (and doctests with cargo) on the shared build and counts them. The
//! counts come from nextest's JUnit file, so its own display stays free for people.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::ordinary::OrdinaryUser;
use crate::process::Cmd;
use crate::report::Report;
use crate::workspace::{FEATURES, PROFILE, Workspace};

/// Set in .config/nextest.toml; relative to the root, wherever cargo's own target folder is.
const JUNIT: &str = "target/nextest/ci/junit.xml";
/// nextest's exit code for a filter that matches nothing.
const NO_TESTS: i32 = 4;

/// What nextest is told of the shared build, for somebody who has no cargo.
#[derive(Debug)]
pub(crate) struct Prebuilt {
    cargo: PathBuf,
    binaries: PathBuf,
}

impl Prebuilt {
    /// Writes it into `folder`.
    pub(crate) fn write(workspace: &Workspace, folder: &Path) -> anyhow::Result<Self> {
        let prebuilt = Prebuilt {
            cargo: folder.join("cargo.json"),
            binaries: folder.join("binaries.json"),
        };
        let metadata = workspace
            .cargo()
            .args(["metadata", "--format-version", "1"]);
        fs::write(&prebuilt.cargo, metadata.read()?)?;
        let list = workspace.cargo().args(["nextest", "list", "--workspace"]);
        let list = list.args(FEATURES).args(["--cargo-profile", PROFILE]);
        let list = list.args(["--list-type", "binaries-only", "--message-format", "json"]);
        fs::write(&prebuilt.binaries, list.read()?)?;
        Ok(prebuilt)
    }

    /// Adds what makes nextest use it.
    fn tell(&self, cmd: Cmd) -> Cmd {
        cmd.arg("--cargo-metadata")
            .arg(&self.cargo)
            .arg("--binaries-metadata")
            .arg(&self.binaries)
    }
}

/// Runs the tests of the workspace that match the filter, as whoever we are.
pub(crate) fn run(
    workspace: &Workspace,
    filter: &str,
    env: &[(&str, String)],
    report: &mut Report,
) -> anyhow::Result<()> {
    let cargo = workspace.cargo().args(["nextest", "run", "--workspace"]);
    let cargo = cargo.args(FEATURES).args(["--cargo-profile", PROFILE]);
    count(workspace, cargo, filter, env, report)
}

/// The same as an ordinary user.
pub(crate) fn run_as(
    user: &OrdinaryUser,
    workspace: &Workspace,
    filter: &str,
    env: &[(&str, String)],
    report: &mut Report,
) -> anyhow::Result<()> {
    let prebuilt = Prebuilt::write(workspace, &workspace.root.join("target/ordinary"))?;
    let own = workspace.tools().join("cargo-nextest");
    let program = own.exists().then_some(own);
    let nextest = user.cmd(
        program.unwrap_or_else(|| "cargo-nextest".into()),
        &workspace.root,
    );
    // Snapshots are found without cargo, and only compared.
    let nextest = nextest
        .env("INSTA_WORKSPACE_ROOT", &workspace.root)
        .env("INSTA_UPDATE", "no");
    let nextest = prebuilt.tell(nextest.args(["nextest", "run"]));
    count(workspace, nextest, filter, env, report)
}

fn count(
    workspace: &Workspace,
    nextest: Cmd,
    filter: &str,
    env: &[(&str, String)],
    report: &mut Report,
) -> anyhow::Result<()> {
    let junit = workspace.root.join(JUNIT);
    // A file of an earlier run must not speak for this one.
    if junit.exists() {
        fs::remove_file(&junit).with_context(|| format!("cannot remove {}", junit.display()))?;
    }
    let nextest = nextest.args(["--profile", PROFILE, "-E", filter]);
    // The same cases every time: what a property has not shown on one machine it must not show on another. To look for
    // more, run a test with `PROPTEST_CASES` and no seed.
    let nextest = nextest.env("PROPTEST_RNG_SEED", "20261115");
    let status = with_env(nextest, env).run()?;
    let counted = fs::read_to_string(&junit)
        .map(|xml| count_junit(&xml))
        .unwrap_or_default();
    let clean = counted.failed.is_empty();
    report.passed += counted.passed;
    report.failed.extend(counted.failed);
    match status.code() {
        Some(0) => {}
        Some(NO_TESTS) => report
            .failed
            .push(format!("no test matches the filter {filter}")),
        _ if clean => report
            .failed
            .push(format!("nextest itself ({status}); see above")),
        _ => {}
    }
    Ok(())
}

/// Runs the examples in the documentation.
pub(crate) fn doctests(workspace: &Workspace, report: &mut Report) -> anyhow::Result<()> {
    let cargo = workspace.cargo().args(["test", "--doc", "--workspace"]);
    let cargo = cargo.args(FEATURES);
    let (status, stdout) = cargo.args(["--profile", PROFILE, "--no-fail-fast"]).tee()?;
    let counted = count_libtest(&stdout);
    let clean = counted.failed.is_empty();
    report.passed += counted.passed;
    report.failed.extend(counted.failed);
    if !status.success() && clean {
        report
            .failed
            .push(format!("cargo test --doc itself ({status}); see above"));
    }
    Ok(())
}

fn with_env(cmd: Cmd, env: &[(&str, String)]) -> Cmd {
    env.iter()
        .fold(cmd, |cmd, (key, value)| cmd.env(key, value))
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Counted {
    passed: u32,
    failed: Vec<String>,
}

/// nextest writes one `testcase` per test, with a `failure` or `error` inside if it did not pass.
/// What tests print is escaped there and cannot be taken for an element.
fn count_junit(xml: &str) -> Counted {
    let mut counted = Counted::default();
    for case in xml.split("<testcase ").skip(1) {
        let case = case.split("</testcase>").next().unwrap_or(case);
        let head = case.split('>').next().unwrap_or(case);
        if case.contains("<failure") || case.contains("<error") {
            let suite = attribute(head, "classname").unwrap_or("?");
            let name = attribute(head, "name").unwrap_or("?");
            counted.failed.push(format!("{suite} {name}"));
        } else {
            counted.passed += 1;
        }
    }
    counted
}

fn attribute<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let mut rest = head;
    while let Some(at) = rest.find(name) {
        let (before, after) = (&rest[..at], &rest[at + name.len()..]);
        let whole_word = before.is_empty() || before.ends_with(char::is_whitespace);
        if let Some(value) = after.strip_prefix("=\"").filter(|_| whole_word) {
            return value.split('"').next();
        }
        rest = after;
    }
    None
}

/// Adds up the tests of the built-in harness: `test src/lib.rs - a (line 3) ... ok`.
fn count_libtest(stdout: &str) -> Counted {
    let mut counted = Counted::default();
    for line in stdout.lines() {
        let Some((name, result)) = line
            .strip_prefix("test ")
            .and_then(|l| l.rsplit_once(" ... "))
        else {
            continue;
        };
        match result.trim() {
            "ok" => counted.passed += 1,
            "FAILED" => counted.failed.push(name.to_owned()),
            _ => {}
        }
    }
    counted
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="nextest-run" tests="3" failures="2" errors="0" uuid="x" time="0.1">
    <testsuite name="wire" tests="3" disabled="0" errors="0" failures="2">
        <testcase name="framing::splits" classname="wire" timestamp="t" time="0.004">
            <system-out>&lt;failure is escaped</system-out>
        </testcase>
        <testcase name="framing::skips" classname="wire" timestamp="t" time="0.004">
            <failure type="test failure">thread panicked</failure>
        </testcase>
        <testcase name="decode::ends" classname="wire::inventory" timestamp="t" time="60.0">
            <failure type="test timeout"/>
        </testcase>
    </testsuite>
</testsuites>
"#;

    #[test]
    fn junit_cases_are_counted_and_failures_named() {
        let expected = Counted {
            passed: 1,
            failed: vec![
                "wire framing::skips".into(),
                "wire::inventory decode::ends".into(),
            ],
        };
        assert_eq!(count_junit(REPORT), expected);
    }

    #[test]
    fn a_case_without_content_counts_as_passed() {
        let xml = r#"<testcase name="a" classname="b"/><testcase name="c" classname="b"/>"#;
        assert_eq!(count_junit(xml).passed, 2);
        assert_eq!(count_junit(""), Counted::default());
    }

    #[test]
    fn an_attribute_is_not_found_inside_another() {
        let head = r#"classname="suite" name="test""#;
        assert_eq!(attribute(head, "name"), Some("test"));
        assert_eq!(attribute(head, "time"), None);
    }

    #[test]
    fn doctests_are_counted_over_several_crates() {
        let stdout = "\
running 2 tests
test crates/wire/src/lib.rs - (line 3) ... ok
test crates/wire/src/lib.rs - frame (line 9) ... FAILED

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.1s
running 2 tests
test crates/a/src/lib.rs - (line 1) ... ok
test crates/a/src/lib.rs - (line 5) ... ignored
test result: ok. 1 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.1s
";
        let counted = count_libtest(stdout);
        assert_eq!(counted.passed, 2);
        assert_eq!(counted.failed, ["crates/wire/src/lib.rs - frame (line 9)"]);
    }
}
