//! The two voices of `xtask`: results on stdout, everything a person watches meanwhile on stderr.
//! Child processes write to stderr too, so that stdout holds nothing but the result (or its JSON).

use std::fmt::Display;
use std::io::Write as _;

use anyhow::Context as _;
use serde::Serialize;

/// How a command prints its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Text,
    Json,
}

impl Format {
    pub(crate) fn from_flag(json: bool) -> Self {
        if json { Format::Json } else { Format::Text }
    }
}

/// One line (or block) of the result. A reader who went away (`| head`) is not an error.
pub(crate) fn say(text: impl Display) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

/// The result as one JSON document.
pub(crate) fn say_json(value: &impl Serialize) -> anyhow::Result<()> {
    say(serde_json::to_string_pretty(value).context("cannot write the result as JSON")?);
    Ok(())
}

/// What is going on.
pub(crate) fn note(text: impl Display) {
    eprintln!("{text}");
}

/// The start of a part of the work.
pub(crate) fn heading(text: impl Display) {
    eprintln!("\n== {text}");
}
