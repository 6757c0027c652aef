//! Rules that a host keeps: what *always* came to, beside the files.
//!
//! Owns their form and how they become rules of the policy. Pure. Invariant: one that forbids or asks and cannot be read
//! is a reason to ask about everything, never one rule less.

use std::path::{Path, PathBuf};

use countersign_policy::{Disk as _, Effect, Origin, RealDisk, Rule, Scope, check};
use jiff::Timestamp;

use super::error::DeskError;
use crate::approval::NewRule;
use crate::control::approval::{self, Remember};

/// A rule as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptRule {
    /// What it says.
    pub effect: Effect,
    /// Which calls it means, in Claude Code's language.
    pub text: String,
    /// Where it holds.
    pub reach: Reach,
    /// Until when: microseconds of Unix time.
    pub expires: Option<u64>,
    /// Why it is there, in the words of who made it.
    pub note: Option<String>,
    /// The number under which it is stored, once it is.
    pub number: Option<u64>,
}

/// Where a kept rule holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// In the session it is given to, whatever its agent.
    Session,
    /// In sessions of this folder, and of folders below.
    Repository(PathBuf),
    /// Everywhere.
    Always,
}

impl KeptRule {
    /// What a person wants remembered, for a session that works in `repository`.
    ///
    /// # Errors
    /// When a text is no rule or names no existing tool, or its end has passed.
    pub fn remember(
        remember: &Remember,
        repository: &Path,
        now: u64,
    ) -> Result<Vec<Self>, DeskError> {
        if let Some(end) = remember.expires
            && (end <= now || moment(end).is_none())
        {
            return Err(DeskError::BadMoment(end));
        }
        let reach = match remember.scope {
            approval::Scope::Session => Reach::Session,
            approval::Scope::Repository => Reach::Repository(repository.to_owned()),
            approval::Scope::Always => Reach::Always,
        };
        let read = |text: &String| {
            let kept = Self {
                effect: Effect::Allow,
                text: text.clone(),
                reach: reach.clone(),
                expires: remember.expires,
                note: None,
                number: None,
            };
            let rule = kept.rule(repository, None)?;
            check::must_name_a_tool(&rule.matcher)?;
            Ok(kept)
        };
        remember.rules.iter().map(read).collect()
    }

    /// The rules that a decision makes, each with where it holds, for a session that works in `repository`.
    ///
    /// # Errors
    /// As [`Self::remember`].
    pub(crate) fn of_decision(
        rules: &[NewRule],
        repository: &Path,
        now: u64,
    ) -> Result<Vec<(Self, approval::Scope)>, DeskError> {
        let mut kept = Vec::new();
        for rule in rules {
            let remember = Remember {
                rules: vec![rule.text.clone()],
                scope: rule.scope,
                expires: rule.expires,
                also_cli: false,
            };
            let read = Self::remember(&remember, repository, now)?;
            kept.extend(read.into_iter().map(|kept| (kept, rule.scope)));
        }
        Ok(kept)
    }

    /// The rule for a session in `cwd`, which may be a copy of another folder.
    pub(super) fn rule(&self, cwd: &Path, copy_of: Option<&Path>) -> Result<Rule, DeskError> {
        let expires = match self.expires {
            None => None,
            Some(end) => Some(moment(end).ok_or(DeskError::BadMoment(end))?),
        };
        let (base, scope, origin) = match &self.reach {
            Reach::Session => (cwd, Scope::Session, Origin::Session),
            Reach::Always => (cwd, Scope::Always, Origin::Kept),
            Reach::Repository(folder) => {
                let real = RealDisk.real(folder).unwrap_or_else(|| folder.clone());
                match copy_of.is_some_and(|main| is_below(main, &real)) {
                    // Paths that start from the repository start from its copy.
                    true => (cwd, Scope::Always, Origin::Kept),
                    false => (folder.as_path(), Scope::Repository(real), Origin::Kept),
                }
            }
        };
        Ok(Rule {
            scope,
            expires,
            note: self.note.clone(),
            number: self.number,
            ..Rule::parse(self.effect, &self.text, base, origin)?
        })
    }
}

/// A moment as the policy takes it.
pub(super) fn moment(micros: u64) -> Option<Timestamp> {
    Timestamp::from_microsecond(i64::try_from(micros).ok()?).ok()
}

/// Whether a folder, links followed, is this real one or lies in it.
pub(super) fn is_below(folder: &Path, real: &Path) -> bool {
    RealDisk
        .real(folder)
        .is_some_and(|folder| folder.starts_with(real))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_decision_remembers_names_a_tool() {
        let made = |text: &str| {
            let rule = NewRule {
                text: text.to_owned(),
                scope: approval::Scope::Session,
                expires: None,
            };
            KeptRule::of_decision(&[rule], Path::new("/"), 1)
        };
        for text in ["Foo(*)", "foo", "bash(ls)"] {
            let why = made(text).unwrap_err().to_string();
            let start = "Start with a tool name, for example `Bash(npm test:*)`";
            assert!(why.contains(text) && why.contains(start), "{why}");
        }
        for text in ["Bash(ls)", "mcp__git__push", "SetGoal"] {
            assert_eq!(made(text).unwrap().len(), 1, "{text}");
        }
    }
}
