//! `countersign rehearse install`: the scripted CLI under the name `claude`.
//!
//! Owns the script that is made. Invariant: a file that was not made here is replaced only if that is asked for.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use countersign_rehearsal::cli::EntryError;

use super::wanted::Wanted;
use crate::Outcome;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Where to put it; made if it is not there
    dir: PathBuf,
    /// What it plays: a scenario that comes with the program, or a file [default: it follows plain requests]
    #[arg(long, value_name = "NAME|FILE")]
    scenario: Option<String>,
    /// Replace a `claude` that was not made by this command
    #[arg(long)]
    force: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// The line by which a file is known to be ours.
const MARK: &str =
    "Made by `countersign rehearse install`: a scripted `claude` that needs no account.";

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let scenario = arguments.scenario.as_deref().map(played).transpose()?;
    let program = std::env::current_exe().context("cannot find out where this program lies")?;
    std::fs::create_dir_all(&arguments.dir)
        .with_context(|| format!("cannot make the folder {}", arguments.dir.display()))?;
    let dir = absolute(&arguments.dir)?;
    let place = dir.join(NAME);
    let replaced = may_replace(&place, arguments.force)?;
    let script = script(&program.to_string_lossy(), scenario.as_deref());
    put(&place, &script).with_context(|| format!("cannot write {}", place.display()))?;
    report(arguments, &dir, &place, scenario.as_deref(), replaced)?;
    Ok(Outcome::Fine)
}

/// The scenario as it stands in the script. It is read once, so that a mistake shows now.
fn played(word: &str) -> anyhow::Result<String> {
    let wanted = Wanted::parse(word)?;
    wanted
        .setup()
        .map_err(|error| match error.downcast::<EntryError>() {
            Ok(mistake) => anyhow::anyhow!("{mistake}; `countersign rehearse check` tells more"),
            Err(error) => error,
        })?;
    Ok(match wanted {
        Wanted::Named(name, _) => name.to_owned(),
        Wanted::File(path) => absolute(&path)?.to_string_lossy().into_owned(),
    })
}

fn absolute(path: &Path) -> anyhow::Result<PathBuf> {
    std::path::absolute(path).with_context(|| format!("cannot find {}", path.display()))
}

/// Whether there is a file to replace, if it may be.
fn may_replace(place: &Path, force: bool) -> anyhow::Result<bool> {
    if place.symlink_metadata().is_err() {
        return Ok(false);
    }
    let ours = std::fs::read(place).is_ok_and(|bytes| {
        let head = &bytes[..bytes.len().min(512)];
        String::from_utf8_lossy(head).contains(MARK)
    });
    if !ours && !force {
        bail!(
            "{} is there and was not made by this command; take another folder, or --force to replace it",
            place.display()
        );
    }
    Ok(true)
}

#[cfg(not(windows))]
const NAME: &str = "claude";
#[cfg(windows)]
const NAME: &str = "claude.cmd";

#[cfg(not(windows))]
fn script(program: &str, scenario: Option<&str>) -> String {
    let quoted = |text: &str| format!("'{}'", text.replace('\'', r"'\''"));
    let usual = scenario.map_or_else(String::new, |scenario| {
        format!(" --usual {}", quoted(scenario))
    });
    let program = quoted(program);
    format!("#!/bin/sh\n# {MARK}\nexec {program} rehearse cli{usual} -- \"$@\"\n")
}

#[cfg(windows)]
fn script(program: &str, scenario: Option<&str>) -> String {
    let quoted = |text: &str| format!("\"{}\"", text.replace('%', "%%"));
    let usual = scenario.map_or_else(String::new, |scenario| {
        format!(" --usual {}", quoted(scenario))
    });
    let program = quoted(program);
    format!("@echo off\r\nrem {MARK}\r\n{program} rehearse cli{usual} -- %*\r\n")
}

/// Writes the file whole or not at all: whoever starts it meanwhile gets the old one or the new one.
fn put(place: &Path, script: &str) -> io::Result<()> {
    let draft = place.with_extension(format!("{}.draft", std::process::id()));
    let written = std::fs::write(&draft, script)
        .and_then(|()| make_executable(&draft))
        .and_then(|()| std::fs::rename(&draft, place));
    if written.is_err() {
        let _ = std::fs::remove_file(&draft);
    }
    written
}

#[cfg(unix)]
fn make_executable(file: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn make_executable(_: &Path) -> io::Result<()> {
    Ok(())
}

fn report(
    arguments: &Arguments,
    dir: &Path,
    place: &Path,
    scenario: Option<&str>,
    replaced: bool,
) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if arguments.json {
        let report =
            serde_json::json!({ "path": place, "scenario": scenario, "replaced": replaced });
        return writeln!(out, "{report}");
    }
    let plays = scenario.map_or_else(
        || "follows plain requests".to_owned(),
        |scenario| format!("plays {scenario}"),
    );
    let (dir, place) = (dir.display(), place.display());
    writeln!(out, "{place} {plays}.\n")?;
    #[cfg(not(windows))]
    writeln!(out, "Try it:   PATH=\"{dir}:$PATH\" claude --version")?;
    #[cfg(windows)]
    writeln!(out, "Try it:   set PATH={dir};%PATH% && claude --version")?;
    writeln!(
        out,
        "Use it:   cli_path=\"{place}\" in Python, pathToClaudeCodeExecutable in TypeScript"
    )
}

#[cfg(all(test, not(windows)))]
mod tests {
    use super::*;

    #[test]
    fn a_path_with_quotes_and_blanks_stays_one_word() {
        let script = script("/opt/it's here/countersign", Some("/a b/c.scenario"));
        assert_eq!(
            script.lines().last(),
            Some(
                r#"exec '/opt/it'\''s here/countersign' rehearse cli --usual '/a b/c.scenario' -- "$@""#
            )
        );
    }
}
