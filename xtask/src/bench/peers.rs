//! The other hosts: where their benchmark is, and getting them ready.
//!
//! Owns the copy of the benchmark in the target folder. Invariants: the benchmark's own folder is
//! only read; a peer that cannot be had is left out with a line, never an error.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use countersign_testkit::fetch::{InstalledSdk, PYTHON_SDK, Sdk, TYPESCRIPT_SDK};

use super::runs::{self, Run, Step};
use crate::out;
use crate::process::Cmd;
use crate::workspace::Workspace;

/// Built as the other hosts are: thin LTO, one unit.
const PROFILE: &str = "dist";
const HOST: &str = "countersign-bench-host";

/// Everything that can be run, ready.
#[derive(Debug)]
pub(super) struct Peers {
    script: PathBuf,
    work: PathBuf,
    host: PathBuf,
    typescript: Option<PathBuf>,
    python: Option<PathBuf>,
}

impl Peers {
    pub(super) fn prepare(workspace: &Workspace, folder: Option<&Path>) -> anyhow::Result<Self> {
        let folder = find(workspace, folder)?;
        let work = workspace.target.join("peerbench");
        if work.to_string_lossy().contains(char::is_whitespace) {
            // Its runner splits command lines at blanks.
            bail!(
                "{} has a blank in it: choose another CARGO_TARGET_DIR",
                work.display()
            );
        }
        let source = work.join("source");
        copy(&folder, &source).with_context(|| format!("cannot copy {}", folder.display()))?;
        Ok(Self {
            script: source.join("run.sh"),
            work,
            host: build(workspace)?,
            typescript: sdk(workspace, &TYPESCRIPT_SDK).map(|found| found.package),
            python: sdk(workspace, &PYTHON_SDK).map(|found| found.interpreter),
        })
    }

    /// Runs one step and reads its raw results.
    pub(super) fn run(&self, step: &Step) -> anyhow::Result<Vec<Run>> {
        out::heading(format_args!("{step}"));
        let host = self.host.display();
        let ours = format!(
            "{}={host}\n{}={host} --typed\n{}={host} --threads",
            runs::OURS,
            runs::OURS_TYPED,
            runs::OURS_THREADS
        );
        let mut command = Cmd::new("bash")
            .arg(&self.script)
            .env("EXTRA_PEERS", ours)
            .env("PEERBENCH_WORK", &self.work)
            .env("CARGO_TARGET_DIR", self.work.join("target"))
            .env("PEERS", step.peers)
            .env("MODES", step.modes.join(","))
            .env("ROUNDS", step.rounds.to_string())
            .env("PIN", step.placement.word())
            // Only for its own head line, which is not used here.
            .env("LIMIT_LINES", "100000");
        for (name, value) in step.sizes {
            command = command.env(name, value);
        }
        if let Some(sdk) = &self.typescript {
            command = command.env("PEER_TS_SDK", sdk);
        }
        if let Some(python) = &self.python {
            command = command.env("PEER_PYTHON", python);
        }
        if !command.run()?.success() {
            bail!("the peer benchmark failed: see above");
        }
        let raw = self.work.join("out/raw.jsonl");
        let text = std::fs::read_to_string(&raw)
            .with_context(|| format!("no raw results in {}", raw.display()))?;
        runs::read(&text)
    }
}

fn find(workspace: &Workspace, folder: Option<&Path>) -> anyhow::Result<PathBuf> {
    let folder = match folder {
        Some(folder) => folder.to_owned(),
        None => workspace.root.join("../shared/bench"),
    };
    if !folder.join("run.sh").is_file() {
        bail!(
            "no peer benchmark in {}: name its folder (the one with run.sh) by --peers",
            folder.display()
        );
    }
    Ok(folder.canonicalize()?)
}

/// Copies what is not there yet or has changed, so that nothing is built twice.
fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
            continue;
        }
        let contents = std::fs::read(entry.path())?;
        if std::fs::read(&target).ok().as_ref() != Some(&contents) {
            std::fs::write(&target, contents)?;
        }
    }
    Ok(())
}

fn build(workspace: &Workspace) -> anyhow::Result<PathBuf> {
    let cargo = workspace
        .cargo()
        .args(["build", "--profile", PROFILE, "--package", HOST]);
    if !cargo.run()?.success() {
        bail!("{HOST} does not build");
    }
    Ok(workspace.target.join(PROFILE).join(HOST))
}

fn sdk(workspace: &Workspace, sdk: &Sdk) -> Option<InstalledSdk> {
    match sdk.install(&workspace.cache, &mut |_| ()) {
        Ok(found) => Some(found),
        Err(error) => {
            out::note(format_args!("{} is left out: {error}", sdk.spec()));
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_has_every_file_and_leaves_those_alone_that_are_the_same() {
        let from = tempfile::tempdir().unwrap();
        let to = tempfile::tempdir().unwrap();
        std::fs::create_dir(from.path().join("core")).unwrap();
        std::fs::write(from.path().join("run.sh"), "run").unwrap();
        std::fs::write(from.path().join("core/Cargo.toml"), "new").unwrap();
        let target = to.path().join("copy");
        copy(from.path(), &target).unwrap();
        let written = |name: &str| target.join(name).metadata().unwrap().modified().unwrap();
        let before = written("run.sh");
        std::fs::write(from.path().join("core/Cargo.toml"), "newer").unwrap();
        copy(from.path(), &target).unwrap();
        assert_eq!(written("run.sh"), before);
        let copied = std::fs::read_to_string(target.join("core/Cargo.toml")).unwrap();
        assert_eq!(copied, "newer");
    }
}
