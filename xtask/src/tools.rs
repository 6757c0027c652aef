//! The cargo tools that tests and checks need. A recent enough one in `PATH` is used; otherwise the
//! pinned version is built once into the cache, without optimisation, since building is what costs.

use std::fs;

use anyhow::Context as _;

use crate::process::Cmd;
use crate::workspace::Workspace;

/// A cargo subcommand from crates.io.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    pub(crate) what_for: &'static str,
    /// What is installed when the machine has none.
    pub(crate) version: &'static str,
    /// The oldest that does.
    pub(crate) at_least: Version,
    features: &'static [&'static str],
}

pub(crate) type Version = (u32, u32, u32);

pub(crate) const NEXTEST: Tool = Tool {
    name: "cargo-nextest",
    what_for: "runs the tests",
    version: "0.9.143",
    at_least: (0, 9, 100),
    // Without the self-update, which needs a TLS stack.
    features: &["--no-default-features", "--features=default-no-update"],
};

pub(crate) const DENY: Tool = Tool {
    name: "cargo-deny",
    what_for: "checks licences, bans and sources of dependencies",
    version: "0.20.2",
    at_least: (0, 18, 0),
    features: &["--no-default-features"],
};

pub(crate) const FUZZ: Tool = Tool {
    name: "cargo-fuzz",
    what_for: "runs the fuzz targets",
    version: "0.13.2",
    at_least: (0, 12, 0),
    features: &[],
};

impl Tool {
    /// The version within reach, if it is recent enough.
    pub(crate) fn found(&self, workspace: &Workspace) -> Option<Version> {
        let said = workspace
            .cargo()
            .args([self.subcommand(), "--version"])
            .read();
        let version = version_in(&said.ok()?)?;
        (version >= self.at_least).then_some(version)
    }

    /// Builds the pinned version into the cache, telling each step of the way.
    pub(crate) fn install(
        &self,
        workspace: &Workspace,
        step: &mut dyn FnMut(&str),
    ) -> anyhow::Result<()> {
        let workshop = workspace.cache.join("build").join(self.name);
        let mut said = Vec::new();
        let status = Cmd::cargo()
            .args(["install", "--locked", "--debug", "--force", "--root"])
            .arg(&workspace.cache)
            .args(self.features)
            .arg(format!("{}@{}", self.name, self.version))
            .env("CARGO_TARGET_DIR", &workshop)
            .env("CARGO_PROFILE_DEV_DEBUG", "0")
            .watch(&mut |line| {
                step(line.trim());
                said.push(line.to_owned());
            })?;
        if !status.success() {
            anyhow::bail!(
                "`cargo install --locked {}@{}` failed ({}): try it by hand",
                self.name,
                self.version,
                essence(&said)
            );
        }
        // Kept after a failure, so that the next attempt goes on from there.
        fs::remove_dir_all(&workshop)
            .with_context(|| format!("cannot remove {}", workshop.display()))?;
        match self.found(workspace) {
            Some(_) => Ok(()),
            None => anyhow::bail!(
                "{} was installed but does not run: try `cargo {} --version` with {} in PATH",
                self.name,
                self.subcommand(),
                workspace.tools().display()
            ),
        }
    }

    fn subcommand(&self) -> &'static str {
        self.name.strip_prefix("cargo-").unwrap_or(self.name)
    }
}

/// The first complaint among cargo's words, else the last word.
fn essence(said: &[String]) -> &str {
    let complaint = said
        .iter()
        .find(|line| line.trim_start().starts_with("error"));
    let last = said.iter().rfind(|line| !line.trim().is_empty());
    complaint
        .or(last)
        .map_or("it said nothing", |line| line.trim())
}

pub(crate) fn version_in(text: &str) -> Option<Version> {
    text.split_whitespace().find_map(|word| {
        let mut parts = word.split(['-', '+']).next()?.split('.');
        let mut number = || parts.next()?.parse().ok();
        Some((number()?, number()?, number()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_read_from_what_tools_print() {
        let nextest = "cargo-nextest 0.9.143 (60fa45f63 2026-08-04)\nrelease: 0.9.143";
        assert_eq!(version_in(nextest), Some((0, 9, 143)));
        assert_eq!(version_in("cargo-deny 0.20.2"), Some((0, 20, 2)));
        assert_eq!(version_in("tool 1.2.3-rc.1"), Some((1, 2, 3)));
        assert_eq!(version_in("no version here"), None);
    }

    #[test]
    fn of_a_failed_installation_the_first_complaint_is_kept() {
        let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
        let said = lines("Updating index\n  error: no network\nerror: failed to compile\n\n");
        assert_eq!(essence(&said), "error: no network");
        assert_eq!(essence(&lines("killed\n\n")), "killed");
        assert_eq!(essence(&[]), "it said nothing");
    }

    #[test]
    fn what_we_install_is_what_we_accept() {
        for tool in [&NEXTEST, &DENY, &FUZZ] {
            assert!(version_in(tool.version) >= Some(tool.at_least), "{tool:?}");
        }
    }
}
