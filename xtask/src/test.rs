//! `cargo xtask test`: fetches, builds once, runs the suites, prints the summary. A suite never stops
//! the ones after it; only the build does, since nothing can run without it.

use std::path::PathBuf;
use std::time::Instant;

use serde::Serialize;

use crate::budget::Budget;
use crate::fetch::{self, Fetched, Item};
use crate::ordinary::OrdinaryUser;
use crate::out::{self, Format};
use crate::process::Cmd;
use crate::report::{Report, Strictness, Verdict};
use crate::suites::{self, Need, SUITES, Suite, Whose, Work};
use crate::summary::Summary;
use crate::workspace::{FEATURES, PROFILE, Workspace};
use crate::{check, conformance, fuzz, nextest, ordinary, page};

/// How many rounds a suite that has rounds has with `--long`. Without, it has a tenth: see `rounds` in the fault suites.
pub(crate) const LONG: u32 = 400;

/// What the command line asks for.
#[derive(Debug)]
pub(crate) struct Wish<'a> {
    /// The suites; all if there are none.
    pub(crate) suites: &'a [String],
    /// How many rounds a suite that has rounds has.
    pub(crate) rounds: Option<u32>,
}

/// `cargo xtask test`. Whether the run succeeded.
pub(crate) fn command(
    workspace: &Workspace,
    wish: &Wish<'_>,
    strictness: Strictness,
    format: Format,
) -> anyhow::Result<bool> {
    let selected = suites::select(wish.suites)?;
    if wish.rounds.is_some() {
        // Those of an earlier run must not stand among the new ones; there may be none.
        let _ = std::fs::remove_file(figures(workspace));
    }
    let budget = Budget::read(&workspace.root)?;
    let started = Instant::now();
    let fetched = fetch_for(workspace, &selected);
    let fetch_seconds = started.elapsed().as_secs_f64();
    let mut reports = Vec::new();
    let mut build_failed = false;
    for suite in selected {
        let report = run(workspace, suite, &fetched, wish.rounds, build_failed);
        let verdict = report.verdict(strictness);
        build_failed |= suite.work == Work::Build && verdict == Verdict::Failed;
        reports.push(report);
    }
    let summary = Summary {
        fetch_seconds,
        reports: &reports,
        budget: &budget,
        strictness,
    };
    match format {
        Format::Json => out::say_json(&summary.json())?,
        Format::Text => {
            out::heading("summary");
            out::say(summary.text());
        }
    }
    Ok(summary.totals().failed == 0)
}

/// `cargo xtask test --list`.
pub(crate) fn list(workspace: &Workspace, format: Format) -> anyhow::Result<()> {
    #[derive(Serialize)]
    struct Row {
        suite: &'static str,
        part: &'static str,
        budget_seconds: Option<u32>,
        what: &'static str,
    }
    let budget = Budget::read(&workspace.root)?;
    let rows = SUITES.iter().map(|suite| Row {
        suite: suite.name,
        part: suite.part,
        budget_seconds: budget.seconds(suite.part),
        what: suite.what,
    });
    match format {
        Format::Json => out::say_json(&rows.collect::<Vec<_>>())?,
        Format::Text => {
            for row in rows {
                out::say(format_args!(
                    "{:<17} {:<9} {}",
                    row.suite, row.part, row.what
                ));
            }
        }
    }
    Ok(())
}

/// The shared build: all libraries, programs and tests of the workspace, with the features and the
/// profile that every suite uses, so that none builds again.
pub(crate) fn build(workspace: &Workspace) -> anyhow::Result<bool> {
    let cargo = workspace
        .cargo()
        .args(["build", "--workspace", "--profile", PROFILE])
        .args(FEATURES);
    let status = cargo
        .args(["--lib", "--bins", "--tests", "--examples"])
        .run()?;
    Ok(status.success())
}

fn fetch_for(workspace: &Workspace, selected: &[&Suite]) -> Fetched {
    let mut items: Vec<Item> = Vec::new();
    for item in selected.iter().flat_map(|suite| suite.items()) {
        if !items.contains(&item) {
            items.push(item);
        }
    }
    out::heading(format_args!("fetch, into {}", workspace.cache.display()));
    fetch::bring(workspace, &items)
}

fn run(
    workspace: &Workspace,
    suite: &Suite,
    fetched: &Fetched,
    rounds: Option<u32>,
    build_failed: bool,
) -> Report {
    let mut report = Report {
        suite: suite.name.to_owned(),
        part: suite.part.to_owned(),
        ..Report::default()
    };
    out::heading(format_args!("{}: {}", suite.name, suite.what));
    if build_failed {
        report
            .failed
            .push("nothing to run: the build failed".to_owned());
        return report;
    }
    if let Some((need, reason)) = unmet(suite, fetched) {
        out::note(format_args!("SKIPPED: {reason}"));
        match need {
            Need::Nightly => report.skip_exempt(suite.name, reason),
            _ => report.skip(suite.name, reason),
        }
        return report;
    }
    let started = Instant::now();
    if let Err(error) = work(workspace, suite, fetched, rounds, &mut report) {
        report.failed.push(format!("{error:#}"));
    }
    report.seconds = started.elapsed().as_secs_f64();
    report
}

fn work(
    workspace: &Workspace,
    suite: &Suite,
    fetched: &Fetched,
    rounds: Option<u32>,
    report: &mut Report,
) -> anyhow::Result<()> {
    match suite.work {
        Work::Build => {
            if build(workspace)? {
                report.passed += 1;
            } else {
                report.failed.push("the build; see above".to_owned());
            }
            Ok(())
        }
        Work::Check => check::run(workspace, fetched, check::Binary::Built, report),
        Work::Tests(filter, whose) => {
            let mut env = suite.env();
            env.extend(rounds_env(workspace, rounds));
            match ordinary_user(workspace, whose)? {
                Some(user) => nextest::run_as(&user, workspace, filter, &env, report),
                None => nextest::run(workspace, filter, &env, report),
            }
        }
        Work::Conformance => conformance::suite(workspace, &suite.env(), report),
        Work::Unclaimed => {
            nextest::run(workspace, &suites::unclaimed_filter(), &suite.env(), report)?;
            nextest::doctests(workspace, report)
        }
        Work::Page => page::suite(workspace, fetched, report),
        Work::Script(script) => {
            let program = workspace.built("countersign");
            let script = Cmd::new(workspace.root.join(script))
                .arg("--program")
                .arg(program);
            match script.dir(&workspace.root).run()?.success() {
                true => report.passed += 1,
                false => report.failed.push(format!("{}; see above", suite.name)),
            }
            Ok(())
        }
        Work::PageAsRoot => page::first_steps(workspace, fetched, report),
        Work::FuzzSeeds => fuzz::seeds(workspace, report),
    }
}

/// Who runs the tests, if it is not us.
fn ordinary_user(workspace: &Workspace, whose: Whose) -> anyhow::Result<Option<OrdinaryUser>> {
    match whose {
        Whose::OrdinaryUser => OrdinaryUser::if_root(workspace),
        Whose::Caller => Ok(None),
    }
}

/// What tells the fault suite how many rounds it has, and where its figures go.
fn rounds_env(workspace: &Workspace, rounds: Option<u32>) -> Vec<(&'static str, String)> {
    let Some(rounds) = rounds else {
        return Vec::new();
    };
    let figures = figures(workspace).to_string_lossy().into_owned();
    vec![
        ("FAULTS_ROUNDS", rounds.to_string()),
        ("FAULTS_FIGURES", figures),
    ]
}

/// Where the tests of rounds leave their figures, one line each.
fn figures(workspace: &Workspace) -> PathBuf {
    workspace.root.join("target/faults.ndjson")
}

/// The first need that is not met, with the reason.
fn unmet(suite: &Suite, fetched: &Fetched) -> Option<(Need, String)> {
    suite.needs.iter().find_map(|&need| {
        let reason = match need {
            Need::Claude(version) => match need.item() {
                Some(item) => fetched.why_missing(item).map(str::to_owned),
                None => Some(format!("claude {version} is not among the pinned versions")),
            },
            Need::Sdk(sdk) => fetched.why_missing(Item::Sdk(sdk)).map(str::to_owned),
            Need::Tool(tool) => fetched.why_missing(Item::Tool(tool)).map(str::to_owned),
            Need::SecondUser => ordinary::why_none(),
            Need::MountNamespace => no_mount_namespace(),
            Need::Program(program) => no_program(program),
            Need::Npm => page::missing("npm", "npm"),
            Need::Chromium => page::missing("chromium", "chromium"),
            Need::Nightly => fuzz::no_nightly(),
        };
        Some((need, reason?))
    })
}

fn no_mount_namespace() -> Option<String> {
    let mut unshare = Cmd::new("unshare");
    if !rustix::process::geteuid().is_root() {
        unshare = unshare.args(["--user", "--map-root-user"]);
    }
    match unshare
        .args(["--mount", "--propagation", "private", "true"])
        .read()
    {
        Ok(_) => None,
        Err(_) => Some("no mount namespace can be had here (`unshare --mount`)".to_owned()),
    }
}

fn no_program(program: &str) -> Option<String> {
    match Cmd::new(program).arg("-V").read() {
        Ok(_) => None,
        Err(_) => Some(format!(
            "there is no {program}: install the package {program}"
        )),
    }
}
