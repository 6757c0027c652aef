//! The web page: `cargo xtask test page`, `cargo xtask screenshots`, and the browser's side of `cargo xtask bench ui`.
//!
//! Owns how npm is called for `ui/`: what is installed, checked, tested, built and driven in a browser. The browser tests run
//! on the shared build, which reads the page that was just built, and on a real CLI of the cache. Invariants: a step that fails
//! is named, and the ones after it that could still say something run; tests that cannot run are skipped by name.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use countersign_testkit::fetch::{self, NEWEST, Pinned};
use serde::Deserialize;

use crate::fetch::{Fetched, Item};
use crate::ordinary::OrdinaryUser;
use crate::out;
use crate::process::Cmd;
use crate::report::Report;
use crate::test;
use crate::workspace::Workspace;

/// Where the pictures go, from the root.
const PICTURES: &str = "docs/img";

/// The suite of `cargo xtask test`.
pub(crate) fn suite(
    workspace: &Workspace,
    fetched: &Fetched,
    report: &mut Report,
) -> anyhow::Result<()> {
    if !install(workspace)? {
        report.failed.push("npm ci; see above".to_owned());
        return Ok(());
    }
    let mut step = |name: &str, cmd: Cmd| -> anyhow::Result<bool> {
        let is_well = cmd.run()?.success();
        match is_well {
            true => report.passed += 1,
            false => report.failed.push(format!("{name}; see above")),
        }
        Ok(is_well)
    };
    step(
        "src/api/schema.ts is out of date: `npm run gen` in ui/",
        npm(workspace, &["run", "gen", "--", "--check"]),
    )?;
    step("types", npm(workspace, &["run", "check"]))?;
    let is_built = step("the build", npm(workspace, &["run", "build"]))?;
    vitest(
        workspace,
        "unit",
        npm(workspace, &["run", "test"]),
        &[],
        report,
    )?;
    if is_built {
        // Not before: what npm and vite leave in `node_modules` is root's.
        let user = OrdinaryUser::if_root(workspace)?;
        let e2e = match &user {
            Some(user) => user
                .cmd("npm", &workspace.root.join("ui"))
                .args(["run", "e2e"]),
            None => npm(workspace, &["run", "e2e"]),
        };
        let browser = on_the_real_cli(workspace, fetched, on_the_build(workspace, e2e), report);
        vitest(workspace, "browser", browser, &[], report)?;
    }
    Ok(())
}

/// The first steps on the page as whoever we are: signed in, a session begun, its question answered.
pub(crate) fn first_steps(
    workspace: &Workspace,
    fetched: &Fetched,
    report: &mut Report,
) -> anyhow::Result<()> {
    if !install(workspace)? || !npm(workspace, &["run", "build"]).run()?.success() {
        report
            .failed
            .push("the build of the page; see above".to_owned());
        return Ok(());
    }
    let e2e = on_the_build(workspace, npm(workspace, &["run", "e2e"]));
    let e2e = on_the_real_cli(workspace, fetched, e2e, report);
    vitest(
        workspace,
        "browser-root",
        e2e,
        &["e2e/first.test.ts"],
        report,
    )
}

/// `cargo xtask screenshots`: builds all it needs, and makes the pictures.
pub(crate) fn screenshots(workspace: &Workspace) -> anyhow::Result<bool> {
    if !test::build(workspace)? || !install(workspace)? {
        return Ok(false);
    }
    if !npm(workspace, &["run", "build"]).run()?.success() {
        return Ok(false);
    }
    let pictures = workspace.root.join(PICTURES);
    fs::create_dir_all(&pictures).with_context(|| format!("cannot make {}", pictures.display()))?;
    let shots = npm(workspace, &["run", "e2e"]).env("COUNTERSIGN_SHOTS", &pictures);
    let is_done = on_the_build(workspace, shots).run()?.success();
    if is_done {
        out::say(format_args!("wrote {PICTURES}"));
    }
    Ok(is_done)
}

/// Has `ui/bench` measure the page that this program carries; raw lines go to `figures`. Whether it came to its end.
pub(crate) fn bench(
    workspace: &Workspace,
    program: &Path,
    figures: &Path,
    is_quick: bool,
) -> anyhow::Result<bool> {
    if !install(workspace)? {
        return Ok(false);
    }
    let quick = if is_quick { "1" } else { "0" };
    let measured = npm(workspace, &["run", "bench"])
        .env("COUNTERSIGN_BIN", program)
        // No folder: what is measured is the page in the program.
        .env("COUNTERSIGN_UI", "")
        .env("COUNTERSIGN_BENCH", figures)
        .env("COUNTERSIGN_BENCH_QUICK", quick);
    Ok(measured.run()?.success())
}

/// Why a program that answers `--version` is not there.
pub(crate) fn missing(program: &str, package: &str) -> Option<String> {
    match Cmd::new(program).arg("--version").read() {
        Ok(_) => None,
        Err(_) => Some(format!(
            "there is no {program}: install the package {package}"
        )),
    }
}

/// What the lock file says, neither more nor less; no script of a package runs.
fn install(workspace: &Workspace) -> anyhow::Result<bool> {
    let args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
    Ok(npm(workspace, &args).run()?.success())
}

fn npm(workspace: &Workspace, args: &[&str]) -> Cmd {
    Cmd::new("npm").args(args).dir(&workspace.root.join("ui"))
}

/// The program of the shared build, with the page that was just built.
fn on_the_build(workspace: &Workspace, cmd: Cmd) -> Cmd {
    let program = workspace.built("countersign");
    cmd.env("COUNTERSIGN_BIN", program)
        .env("COUNTERSIGN_UI", workspace.root.join("ui/dist"))
}

/// With the real CLI for the tests that drive it, which then may not pass it by; or with a word that they are skipped.
fn on_the_real_cli(workspace: &Workspace, fetched: &Fetched, cmd: Cmd, report: &mut Report) -> Cmd {
    match real_cli(workspace, fetched) {
        Ok(program) => cmd
            .env("COUNTERSIGN_REAL_CLI", program)
            .env("COUNTERSIGN_REQUIRE", format!("claude-{NEWEST}")),
        Err(reason) => {
            out::note(format_args!("SKIPPED: the page on the real CLI: {reason}"));
            report.skip("the page on the real CLI", reason);
            cmd
        }
    }
}

/// The program, or why it is not there.
fn real_cli(workspace: &Workspace, fetched: &Fetched) -> Result<PathBuf, String> {
    let missing = || format!("claude {NEWEST} is not in the cache: `cargo xtask fetch`");
    let pinned = Pinned::find(NEWEST).ok_or_else(missing)?;
    if let Some(reason) = fetched.why_missing(Item::Claude(pinned)) {
        return Err(reason.to_owned());
    }
    let installed = fetch::installed(&workspace.cache, pinned).ok_or_else(missing)?;
    match &installed.command[..] {
        [program] => Ok(PathBuf::from(program)),
        _ => Err(format!("claude {NEWEST} is more than one program")),
    }
}

/// Runs vitest on those files, or on all if there are none, and counts its tests by the file it leaves.
fn vitest(
    workspace: &Workspace,
    name: &str,
    cmd: Cmd,
    files: &[&str],
    report: &mut Report,
) -> anyhow::Result<()> {
    let file = results(workspace, name);
    // A file of an earlier run must not speak for this one; there may be none.
    let _ = fs::remove_file(&file);
    let output = format!("--outputFile.json={}", file.display());
    let cmd = cmd.args(["--", "--reporter=default", "--reporter=json", &output]);
    let cmd = cmd.args(files);
    let is_well = cmd.run()?.success();
    let text = fs::read_to_string(&file).unwrap_or_default();
    let counted: Counted = serde_json::from_str(&text).unwrap_or_default();
    let failed = counted.failed();
    let is_silent = failed.is_empty() && (!is_well || counted.num_passed_tests == 0);
    report.passed += counted.num_passed_tests;
    report.failed.extend(failed);
    if is_silent {
        report
            .failed
            .push(format!("the {name} tests themselves; see above"));
    }
    Ok(())
}

fn results(workspace: &Workspace, name: &str) -> PathBuf {
    // In a folder that an ordinary user may write to.
    workspace.root.join(format!("target/tmp/page-{name}.json"))
}

/// What vitest's JSON reporter says, as far as it is used.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Counted {
    num_passed_tests: u32,
    test_results: Vec<File>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct File {
    name: String,
    status: String,
    assertion_results: Vec<Assertion>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Assertion {
    full_name: String,
    status: String,
}

impl Counted {
    /// Tests that failed, and files that failed before any test of them ran.
    fn failed(&self) -> Vec<String> {
        let files = self.test_results.iter();
        files
            .flat_map(|file| {
                let short = file.name.rsplit(['/', '\\']).next().unwrap_or_default();
                let tests = file.assertion_results.iter();
                let tests = tests.filter(|test| test.status == "failed");
                let mut failed: Vec<String> = tests
                    .map(|test| format!("{short}: {}", test.full_name))
                    .collect();
                if file.status == "failed" && failed.is_empty() {
                    failed.push(format!("{short} as a whole"));
                }
                failed
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Strictness, Verdict};

    #[test]
    fn without_the_real_cli_its_tests_are_skipped_by_name_and_a_strict_run_fails() {
        let nowhere = tempfile::tempdir().unwrap();
        let workspace = Workspace {
            root: nowhere.path().to_owned(),
            target: nowhere.path().to_owned(),
            cache: nowhere.path().to_owned(),
        };
        let mut report = Report {
            passed: 1,
            ..Report::default()
        };
        on_the_real_cli(
            &workspace,
            &Fetched::default(),
            Cmd::new("npm"),
            &mut report,
        );
        assert_eq!(report.skipped[0].what, "the page on the real CLI");
        assert!(report.skipped[0].reason.contains(NEWEST));
        assert_eq!(report.verdict(Strictness::Lenient), Verdict::Passed);
        assert_eq!(report.verdict(Strictness::Strict), Verdict::Failed);
    }

    #[test]
    fn failed_tests_and_files_that_never_ran_are_named() {
        let text = r#"{"numPassedTests":2,"success":false,"testResults":[
            {"name":"/x/e2e/first.test.ts","status":"failed","assertionResults":[
                {"fullName":"a question is answered","status":"failed"},
                {"fullName":"another","status":"passed"}]},
            {"name":"/x/e2e/axe.test.ts","status":"failed","assertionResults":[]},
            {"name":"/x/e2e/ok.test.ts","status":"passed","assertionResults":[
                {"fullName":"well","status":"passed"}]}]}"#;
        let counted: Counted = serde_json::from_str(text).unwrap();
        assert_eq!(counted.num_passed_tests, 2);
        assert_eq!(
            counted.failed(),
            [
                "first.test.ts: a question is answered",
                "axe.test.ts as a whole"
            ]
        );
    }
}
