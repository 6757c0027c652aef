//! `cargo xtask fuzz`: runs the targets of fuzz/ for a while each, starting from the recordings and the table of the
//! policy. Needs a nightly toolchain; without one nothing is run and that is said, not hidden.

use std::fs;
use std::path::PathBuf;

use anyhow::Context as _;

use crate::fetch::{self, Item};
use crate::fuzz_seeds;
use crate::out::{self, Format};
use crate::process::Cmd;
use crate::report::Report;
use crate::tools::FUZZ;
use crate::workspace::{Metadata, Workspace};

/// How long a target runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// Only what is in the corpus already.
    SeedsOnly,
    Seconds(u32),
}

/// What came of `cargo xtask fuzz`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fuzzed {
    NoFinding,
    Finding,
    Skipped,
}

/// `cargo xtask fuzz`.
pub(crate) fn command(
    workspace: &Workspace,
    names: &[String],
    seconds: u32,
) -> anyhow::Result<Fuzzed> {
    let targets = select(targets(workspace)?, names)?;
    if let Some(reason) = no_nightly().or_else(|| no_cargo_fuzz(workspace)) {
        out::say(format_args!("SKIPPED: fuzzing: {reason}"));
        return Ok(Fuzzed::Skipped);
    }
    let mut findings = Vec::new();
    for target in &targets {
        out::heading(format_args!("fuzz {target} for {seconds} s"));
        if !run(workspace, target, Extent::Seconds(seconds))? {
            findings.push(target.as_str());
        }
    }
    for target in &targets {
        let found = findings.contains(&target.as_str());
        let result = if found {
            "FINDING (see above)"
        } else {
            "no finding"
        };
        out::say(format_args!("{target:<12} {seconds:>4} s  {result}"));
    }
    Ok(if findings.is_empty() {
        Fuzzed::NoFinding
    } else {
        Fuzzed::Finding
    })
}

/// `cargo xtask fuzz --list`.
pub(crate) fn list(workspace: &Workspace, format: Format) -> anyhow::Result<()> {
    let targets = targets(workspace)?;
    match format {
        Format::Json => out::say_json(&targets),
        Format::Text => {
            targets.iter().for_each(out::say);
            Ok(())
        }
    }
}

/// The suite `fuzz-seeds`: each target over its seeds.
pub(crate) fn seeds(workspace: &Workspace, report: &mut Report) -> anyhow::Result<()> {
    if let Some(reason) = no_cargo_fuzz(workspace) {
        report.skip("fuzz-seeds", reason);
        return Ok(());
    }
    for target in targets(workspace)? {
        if run(workspace, &target, Extent::SeedsOnly)? {
            report.passed += 1;
        } else {
            report.failed.push(format!("fuzz target {target}"));
        }
    }
    Ok(())
}

/// Why fuzzing is not possible here, if it is not.
pub(crate) fn no_nightly() -> Option<String> {
    let nightly = Cmd::new("rustup").args(["run", "nightly", "rustc", "--version"]);
    let missing = "no nightly toolchain: `rustup toolchain install nightly` brings it";
    nightly.read().is_err().then(|| missing.to_owned())
}

fn no_cargo_fuzz(workspace: &Workspace) -> Option<String> {
    let item = Item::Tool(&FUZZ);
    let fetched = fetch::bring(workspace, &[item]);
    fetched.why_missing(item).map(str::to_owned)
}

/// Whether the target ran through without a finding.
fn run(workspace: &Workspace, target: &str, extent: Extent) -> anyhow::Result<bool> {
    // libFuzzer writes what it discovers into the first folder and only reads the others.
    let discovered = workspace.target.join("fuzz-corpus").join(target);
    fs::create_dir_all(&discovered)
        .with_context(|| format!("cannot create {}", discovered.display()))?;
    let seeds = fuzz_seeds::write(
        &workspace.root,
        target,
        &workspace.target.join("fuzz-seeds"),
    )
    .context("cannot make the seeds")?;
    let corpora = [discovered, seeds];
    let limit = match extent {
        Extent::SeedsOnly => "-runs=0".to_owned(),
        Extent::Seconds(seconds) => format!("-max_total_time={seconds}"),
    };
    let status = Cmd::new("rustup")
        // Unsafe code is forbidden here, so an address sanitizer would only slow the search down.
        .args([
            "run",
            "nightly",
            "cargo",
            "fuzz",
            "run",
            "--sanitizer",
            "none",
            target,
        ])
        .args(corpora)
        .args(["--", &limit, "-print_final_stats=1", "-timeout=25"])
        .dir(&workspace.root)
        .first_in_path(&workspace.tools())
        .run()?;
    Ok(status.success())
}

fn fuzz_dir(workspace: &Workspace) -> PathBuf {
    workspace.root.join("fuzz")
}

fn targets(workspace: &Workspace) -> anyhow::Result<Vec<String>> {
    let manifest = fuzz_dir(workspace).join("Cargo.toml");
    let metadata = Metadata::of_manifest(&manifest)
        .with_context(|| format!("the fuzz targets are listed in {}", manifest.display()))?;
    let targets = metadata
        .packages
        .into_iter()
        .flat_map(|package| package.targets);
    let bins = targets.filter(|target| target.kind.iter().any(|kind| kind == "bin"));
    Ok(bins.map(|target| target.name).collect())
}

fn select(targets: Vec<String>, names: &[String]) -> anyhow::Result<Vec<String>> {
    if targets.is_empty() {
        anyhow::bail!("fuzz/Cargo.toml lists no target: add a [[bin]] for each");
    }
    if let Some(unknown) = names.iter().find(|name| !targets.contains(name)) {
        anyhow::bail!(
            "there is no fuzz target {unknown:?}; there are: {}",
            targets.join(", ")
        );
    }
    let wanted = |target: &String| names.is_empty() || names.contains(target);
    Ok(targets.into_iter().filter(wanted).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owned(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn all_targets_run_unless_some_are_named() {
        let all = owned(&["framing", "decode"]);
        assert_eq!(select(all.clone(), &[]).unwrap(), all);
        assert_eq!(select(all, &owned(&["decode"])).unwrap(), ["decode"]);
    }

    #[test]
    fn an_unknown_target_and_an_empty_list_are_errors() {
        let error = select(owned(&["framing"]), &owned(&["decoed"])).unwrap_err();
        assert!(error.to_string().contains("framing"), "{error}");
        assert!(select(Vec::new(), &[]).is_err());
    }
}
