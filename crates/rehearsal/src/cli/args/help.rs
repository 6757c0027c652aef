//! What `--version` and `--help` print.
//!
//! Pure. The first line of the help is the CLI's own; everything below it is said in this project's words.

use std::fmt::Write as _;

use super::refusal::Refusal;
use super::table;
use crate::cli::version::Version;

/// The width of the column of flags.
const COLUMN: usize = 38;

pub(super) fn version(version: Version) -> Refusal {
    Refusal::told(format!("{version} (Claude Code)\n"))
}

/// The help; with `--print` there are no commands.
pub(super) fn help(version: Version, printing: bool) -> Refusal {
    let commands = if printing { "" } else { "[command] " };
    let mut text = format!("Usage: claude [options] {commands}[prompt]\n");
    text.push_str(
        "\nA scripted Claude Code: it takes the flags below and plays a session that was written beforehand, with no\n\
         model and no account. Give it a prompt with -p, or stream-json on stdin.\n\nOptions:\n",
    );
    let mut shown: Vec<(&str, &str)> = table::known(version)
        .filter(|flag| flag.is_shown())
        .map(|flag| (flag.usage, flag.help))
        .chain([("-h, --help", "Prints this")])
        .collect();
    shown.sort_by_key(|(usage, _)| usage.rsplit("--").next().map(str::to_lowercase));
    for (usage, help) in shown {
        let _ = match usage.len() < COLUMN {
            true => writeln!(text, "  {usage:COLUMN$}{help}"),
            false => writeln!(text, "  {usage}\n  {:COLUMN$}{help}", ""),
        };
    }
    Refusal::told(text)
}
