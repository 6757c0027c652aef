//! Preferences: what of them is sound, and what holds without them.

use std::path::Path;

use regex::RegexBuilder;

use crate::Settings;
use crate::control::{ControlError, MAX_AGENTS, PatchPreferences, Preferences, Result};

/// Under this name they are stored: only what was said.
pub(crate) const PREFERENCES: &str = "preferences";

/// The most agents that can be asked for.
const MOST_AGENTS: usize = 1_000;

/// Anything shorter is a slip: a question that nobody can answer in time, an agent that never stays.
const SHORTEST: u64 = 1_000_000;

/// Anything longer is meant as never. It also keeps a moment plus a span within what a database can hold.
pub(crate) const LONGEST: u64 = 366 * 24 * 60 * 60 * 1_000_000;

/// The longest time after which something is proposed, in days: ten years.
const LONGEST_DAYS: u32 = 3_650;

/// So many folders to look below.
const MOST_ROOTS: usize = 32;

/// So many patterns, each of so many bytes and so much memory: every text that leaves is searched for all of them.
const MOST_PATTERNS: usize = 64;
const LONGEST_PATTERN: usize = 512;
const LARGEST_PATTERN: usize = 256 << 10;

/// What stands where something was masked. Sent back as a pattern it would mask its single letters everywhere.
const MASKED: &str = "[masked]";

/// What a host was started with.
pub(crate) fn start(settings: &Settings) -> Preferences {
    Preferences {
        max_agents: settings.most_agents,
        sleep_after: settings.timing.sleep_after,
        expiry: settings.expiry,
        resumes_cut_off: settings.resumes_cut_off,
        asks_again_after_crash: false,
        retention_days: None,
        browse_roots: Vec::new(),
        redact: Vec::new(),
        given: match settings.most_agents_given {
            true => vec![MAX_AGENTS.to_owned()],
            false => Vec::new(),
        },
    }
}

/// Whether they can be kept.
pub(crate) fn check(change: &PatchPreferences) -> Result<()> {
    if *change == PatchPreferences::default() {
        return Err(ControlError::invalid(
            "nothing is to change: name a preference",
        ));
    }
    if change
        .max_agents
        .is_some_and(|most| !(1..=MOST_AGENTS).contains(&most))
    {
        return Err(ControlError::invalid(format!(
            "`max_agents` is from 1 to {MOST_AGENTS}"
        )));
    }
    let spans = [
        ("sleep_after", change.sleep_after),
        ("expiry", change.expiry),
    ];
    for (name, span) in spans {
        let span = span.flatten();
        if span.is_some_and(|span| !(SHORTEST..=LONGEST).contains(&span)) {
            return Err(ControlError::invalid(format!(
                "`{name}` is in microseconds, from {SHORTEST} to {LONGEST}, which is a year; `null` for never"
            )));
        }
    }
    let days = change.retention_days.flatten();
    if days.is_some_and(|days| !(1..=LONGEST_DAYS).contains(&days)) {
        return Err(ControlError::invalid(format!(
            "`retention_days` is from 1 to {LONGEST_DAYS}; `null` for never"
        )));
    }
    check_roots(change.browse_roots.as_deref().unwrap_or_default())?;
    check_patterns(change.redact.as_deref().unwrap_or_default())
}

fn check_roots(roots: &[impl AsRef<Path>]) -> Result<()> {
    if roots.len() > MOST_ROOTS {
        let why = format!("`browse_roots` takes at most {MOST_ROOTS} folders");
        return Err(ControlError::invalid(why));
    }
    for root in roots.iter().map(AsRef::as_ref) {
        if !root.is_absolute() || !root.is_dir() {
            let why = format!("{} is no folder: name all of its path", root.display());
            return Err(ControlError::invalid(why));
        }
    }
    Ok(())
}

fn check_patterns(patterns: &[String]) -> Result<()> {
    if patterns.len() > MOST_PATTERNS {
        let why = format!("`redact` takes at most {MOST_PATTERNS} patterns");
        return Err(ControlError::invalid(why));
    }
    for (number, pattern) in (1..).zip(patterns) {
        // The pattern itself is not repeated: it may be a secret.
        let bad = |why: &str| ControlError::invalid(format!("pattern {number} of `redact` {why}"));
        if pattern.is_empty() || pattern.len() > LONGEST_PATTERN {
            return Err(bad("has to have 1 to 512 bytes"));
        }
        if pattern.contains(MASKED) {
            return Err(bad(
                "is what stands in the place of one that is itself masked: send the pattern",
            ));
        }
        let built = RegexBuilder::new(pattern)
            .size_limit(LARGEST_PATTERN)
            .build();
        match built {
            Ok(regex) if regex.is_match("") => return Err(bad("also matches nothing at all")),
            Ok(_) => {}
            Err(regex::Error::CompiledTooBig(_)) => {
                return Err(bad("is too costly: ask for fewer repetitions"));
            }
            Err(_) => return Err(bad("is no regular expression")),
        }
    }
    Ok(())
}
