//! What a run starts with: folders, rules, settings.
//!
//! Owns the reading of the surroundings, once, at the start; everything after works on values. Invariant: a run does not
//! start with rules that could not be read, since one of them may have been a denial.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use countersign_policy::rule::FileKind;
use countersign_policy::source::{self, Loaded, Sources, Trust};
use countersign_policy::{Effect, Origin, Policy, RealDisk, Rule, Watch, check};
use serde_json::Value;

use super::core::now;
use super::desk::Grounds;
use super::mode::Mode;

/// What a run starts with.
#[derive(Debug)]
pub(crate) struct Setup {
    pub(crate) sources: Sources,
    pub(crate) loaded: Loaded,
    pub(crate) policy: Policy,
    pub(crate) grounds: Grounds,
}

/// Rules of the command line.
#[derive(Debug, Clone, Default)]
pub(crate) struct Flags {
    pub(crate) allow: Vec<String>,
    pub(crate) ask: Vec<String>,
    pub(crate) deny: Vec<String>,
    pub(crate) add_dirs: Vec<PathBuf>,
    /// `--settings`: what it denies must hold here, too.
    pub(crate) settings: Option<PathBuf>,
}

impl Setup {
    /// Reads the rules that count in this folder.
    ///
    /// # Errors
    /// When a rule cannot be read.
    pub(crate) fn read(
        cwd: &Path,
        flags: &Flags,
        mode: Mode,
        variable: impl Fn(&str) -> Option<OsString>,
    ) -> anyhow::Result<Self> {
        let sources = Sources::of_environment(variable, cwd);
        let mut loaded = source::load(&sources, &RealDisk, now());
        if let Some(path) = &flags.settings {
            let path = cwd.join(path);
            let given = source::read_file(&path, FileKind::User, cwd)
                .with_context(|| format!("there is no file {}", path.display()))?;
            loaded.rules.extend(given.rules);
            loaded
                .add_dirs
                .extend(given.add_dirs.into_iter().map(|dir| cwd.join(dir)));
            loaded.problems.extend(given.problems);
        }
        refuse_unsafe(&loaded)?;
        let mut rules = loaded.rules.clone();
        for (effect, texts) in [
            (Effect::Allow, &flags.allow),
            (Effect::Ask, &flags.ask),
            (Effect::Deny, &flags.deny),
        ] {
            for text in texts {
                let rule = Rule::parse(effect, text, cwd, Origin::CommandLine)?;
                check::must_name_a_tool(&rule.matcher)?;
                rules.push(rule);
            }
        }
        let add_dirs = flags
            .add_dirs
            .iter()
            .map(|dir| cwd.join(dir))
            .chain(loaded.add_dirs.iter().cloned())
            .collect();
        let grounds = Grounds {
            cwd: cwd.to_path_buf(),
            add_dirs,
            home: sources.home.clone(),
            own: sources.own.iter().cloned().collect(),
            plans: source::plans_folder(&sources, &RealDisk),
        };
        for file in &loaded.files {
            tracing::debug!(path = %file.path.display(), rules = file.rules, "rules were read");
        }
        let policy = Policy {
            rules,
            profile: mode.profile(loaded.profile, now()),
        };
        Ok(Self {
            sources,
            loaded,
            policy,
            grounds,
        })
    }

    /// The person trusts what the folder allows: it counts from now on.
    ///
    /// # Errors
    /// When that cannot be written down.
    pub(crate) fn trust(&mut self) -> anyhow::Result<()> {
        let offer = self
            .loaded
            .offer
            .as_ref()
            .context("there is nothing to trust here")?;
        let file = self
            .sources
            .trust_file()
            .context("there is no folder to keep this in: set HOME")?;
        source::trust_folder(&file, offer, now())?;
        self.loaded.trust = Trust::Trusted;
        self.loaded.withheld_programs.clear();
        self.policy.rules.append(&mut self.loaded.withheld);
        self.grounds.add_dirs.append(&mut self.loaded.withheld_dirs);
        self.grounds.plans = source::plans_folder(&self.sources, &RealDisk);
        Ok(())
    }
}

impl Setup {
    /// What makes the CLI ask: the settings of the person's file with ours merged in.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub(crate) fn watch(&self, file: Option<&Path>) -> anyhow::Result<Watch> {
        let given = file.map(read_settings).transpose()?;
        let is_mcp = |rule: &&Rule| rule.matcher.tool.starts_with("mcp__");
        let servers: Vec<String> = self
            .policy
            .rules
            .iter()
            .filter(is_mcp)
            .map(|rule| rule.matcher.tool.clone())
            .collect();
        Ok(Watch::new(given.as_ref(), &servers))
    }

    /// What is wrong with rules of files that can be read all the same: those that name no existing tool.
    pub(crate) fn findings(&self) -> Vec<String> {
        let findings = check::unknown_tools(&self.loaded.rules);
        findings.iter().map(ToString::to_string).collect()
    }

    /// Whether the folder would have the CLI start something that nobody has trusted.
    pub(crate) fn is_wary(&self) -> bool {
        !self.loaded.withheld_programs.is_empty()
    }

    /// Whether the folder brings anything that nobody has trusted.
    pub(crate) fn has_something_to_trust(&self) -> bool {
        matches!(self.loaded.trust, Trust::Untrusted | Trust::Changed)
    }
}

fn refuse_unsafe(loaded: &Loaded) -> anyhow::Result<()> {
    if loaded.is_safe() {
        return Ok(());
    }
    let problems: Vec<String> = loaded
        .problems
        .iter()
        .filter(|problem| problem.stops)
        .map(|problem| format!("  {problem}"))
        .collect();
    bail!(
        "rules that may forbid something cannot be read, so nothing is started:\n{}\n`countersign policy check` shows all of them",
        problems.join("\n")
    )
}

fn read_settings(path: &Path) -> anyhow::Result<Value> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read the settings in {}", path.display()))?;
    let fields: BTreeMap<String, Value> = serde_json::from_str(&text).with_context(|| {
        format!(
            "{} is no file of settings: it must hold one JSON object",
            path.display()
        )
    })?;
    Ok(Value::Object(fields.into_iter().collect()))
}
