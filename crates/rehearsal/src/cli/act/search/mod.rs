//! `Glob` and `Grep`: what ripgrep finds, made of ripgrep's own parts.

mod glob;
mod grep;
mod matched;

pub(super) use glob::glob;
pub(super) use grep::grep;

use std::path::Path;

use ignore::overrides::{Override, OverrideBuilder};

/// What is said before ripgrep's own words.
const REJECTED: &str =
    "Search failed — ripgrep rejected the pattern, glob, or file type without searching:\nrg: ";

/// Patterns of paths as ripgrep takes them with `--glob`; what is wrong with one, in its words.
fn patterns(root: &Path, globs: &[&str]) -> Result<Override, String> {
    let mut builder = OverrideBuilder::new(root);
    for glob in globs {
        builder.add(glob).map_err(|error| error.to_string())?;
    }
    builder.build().map_err(|error| error.to_string())
}

fn plural(count: usize, word: &str) -> String {
    let many = if count == 1 { "" } else { "s" };
    format!("{count} {word}{many}")
}
