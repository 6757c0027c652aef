//! `cargo xtask cli`: the versions of the CLI that the tests know, and what changed from one to the next.
//!
//! `add` takes a version in: fetched, recorded, compared, tested. `drift` writes the pages of docs/drift. A person reviews
//! what either of them changed; nothing here decides what a difference means.

mod add;
mod inventory;
mod pages;
mod table;

use anyhow::Context as _;
use clap::Subcommand;
use countersign_testkit::fetch::{self, Installed, Pinned, Progress};

use crate::out::{self, Format};
use crate::process::Cmd;
use crate::workspace::Workspace;

/// What is done with the versions.
#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Takes a version in: fetches, records, compares and tests it, and says what a person has to review.
    ///
    /// Adds a row to crates/testkit/clis.json, writes docs/drift/VERSION.md, and brings the inventory's version up to date
    /// where nothing in it differs. The recordings lie in target/cli/VERSION. Fails if a line is malformed, a scenario did
    /// not play or a test failed; what is new does not make it fail. Can be run again.
    Add {
        /// The version, for example 2.1.328
        #[arg(value_parser = parse_version)]
        version: String,
        /// Print the result as JSON
        #[arg(long)]
        json: bool,
    },
    /// Writes the pages of docs/drift: each version of clis.json, compared with the one before.
    Drift {
        /// The versions whose pages are written; all without one
        #[arg(value_parser = parse_version)]
        versions: Vec<String>,
        /// Write nothing; fail if a page is out of date
        #[arg(long)]
        check: bool,
    },
    /// Lists the versions of clis.json, and which of them are fetched and tested.
    List {
        /// Print the list as JSON
        #[arg(long)]
        json: bool,
    },
}

/// Does what was asked for; returns whether it succeeded.
pub(crate) fn command(workspace: &Workspace, action: Action) -> anyhow::Result<bool> {
    match action {
        Action::Add { version, json } => add::command(workspace, &version, Format::from_flag(json)),
        Action::Drift { versions, check } => pages::command(workspace, &versions, check),
        Action::List { json } => list(workspace, Format::from_flag(json)),
    }
}

fn parse_version(text: &str) -> Result<String, String> {
    match fetch::numbers(text) {
        Some(_) => Ok(text.to_owned()),
        None => Err("a version is three numbers, for example 2.1.328".to_owned()),
    }
}

fn list(workspace: &Workspace, format: Format) -> anyhow::Result<bool> {
    let rows: Vec<_> = fetch::pinned()
        .iter()
        .map(|pinned| {
            let is_fetched = fetch::installed(&workspace.cache, pinned).is_some();
            (pinned, is_fetched)
        })
        .collect();
    match format {
        Format::Json => out::say_json(
            &rows
                .iter()
                .map(|(pinned, fetched)| {
                    serde_json::json!({
                        "version": pinned.version,
                        "tested": pinned.is_tested,
                        "fetched": fetched,
                    })
                })
                .collect::<Vec<_>>(),
        )?,
        Format::Text => {
            for (pinned, is_fetched) in rows {
                let tested = match pinned.is_tested {
                    true => "tested",
                    false => "",
                };
                let fetched = match is_fetched {
                    true => "fetched",
                    false => "",
                };
                out::say(
                    format_args!("{:<9} {tested:<7} {fetched}", pinned.version)
                        .to_string()
                        .trim_end(),
                );
            }
        }
    }
    Ok(true)
}

/// Makes sure that a version is in the cache.
fn install(workspace: &Workspace, pinned: &'static Pinned) -> anyhow::Result<Installed> {
    fetch::install(&workspace.cache, pinned, &mut progress(pinned.version))
        .with_context(|| format!("cannot fetch claude {}", pinned.version))
}

/// Tells each step of a download once.
fn progress(version: &str) -> impl FnMut(Progress) {
    let mut last = None;
    move |progress| {
        let kind = std::mem::discriminant(&progress);
        let word = match progress {
            Progress::Unpacking => "unpacking",
            Progress::Done => return,
            _ => "downloading",
        };
        if last.replace(kind) != Some(kind) {
            out::note(format_args!("claude {version}: {word}"));
        }
    }
}

/// Returns `countersign drift` on this CLI, for the caller to add to.
fn drift(workspace: &Workspace, installed: &Installed) -> Cmd {
    let cmd = Cmd::new(workspace.built("countersign")).args(["drift", "--claude"]);
    cmd.arg(line_of(installed))
}

/// Returns the command that starts a CLI, as one line.
fn line_of(installed: &Installed) -> String {
    let words = installed.command.iter();
    let words: Vec<_> = words
        .map(|word| format!("\"{}\"", word.to_string_lossy()))
        .collect();
    words.join(" ")
}

/// Returns the version before this one among those of the table.
fn previous(version: &str) -> Option<&'static Pinned> {
    let numbers = fetch::numbers(version)?;
    let mut older = fetch::pinned().iter();
    older.find(|pinned| pinned.numbers() < numbers)
}
