//! The content of a rule for files: `src/**`, `//etc/**`, `~/x`, `/x`, `.env`.
//!
//! Owns the text form, which is Claude Code's: as in a gitignore file, a pattern means what it names and, if that is a folder,
//! all in it. Invariant: a text with no clear meaning is an error, never a pattern that means something else.
//!
//! The matcher is our own and not globset's, because more is asked of it than yes or no: whether a parent fits, whether
//! something deeper could, how far the letters reach before the first wildcard, and all that without regard to case as well.

use std::path::{Path, PathBuf};

use super::braces::written_out;
use super::name::NamePattern;
use super::names::{MOST_TEXT, tidy};

/// Which files a rule means.
#[derive(Debug, Clone, PartialEq)]
pub struct PathPattern {
    pub(super) text: String,
    /// As it is written, braces as letters: all that it allows, as in Claude Code.
    pub(super) written: Way,
    /// All that it restricts: as it is written, and with its braces written out.
    pub(super) ways: Vec<Way>,
}

/// One way to read a pattern.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Way {
    pub(super) anchor: Anchor,
    pub(super) parts: Vec<Part>,
    /// Whether it was written as a bare name: meant at any depth.
    pub(super) is_bare: bool,
    /// Whether it begins with `**`.
    is_deep: bool,
}

/// Where a pattern starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Anchor {
    /// `//x`: the root of the disk.
    Root,
    /// `~/x`: the person's home.
    Home,
    /// `/x`: the folder of the settings file.
    Base(PathBuf),
    /// `x`, `./x`, `../x`: the working folder, or so many folders above it.
    Here { up: usize },
}

/// One step of a pattern.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Part {
    /// `**`: any number of folders.
    Any,
    /// One name.
    Name(NamePattern),
}

impl PathPattern {
    /// Reads a pattern. A single leading `/` stands for `base`.
    pub fn parse(content: &str, base: &Path) -> Result<Self, String> {
        let text = content.trim();
        if text.is_empty() {
            return Err(
                "no path is named: write one such as `src/**`, or the tool alone for all files"
                    .to_owned(),
            );
        }
        if text.len() > MOST_TEXT {
            return Err(format!(
                "it is longer than {MOST_TEXT} bytes, which no path is: name a folder above it"
            ));
        }
        if text.contains(char::is_control) {
            return Err("a letter in it cannot be seen: write `?` in its place".to_owned());
        }
        let texts = written_out(text)
            .ok_or("its braces stand for more than 64 paths: write several rules, or `*`")?;
        let written = Way::parse(text, base)?;
        let mut ways = vec![written.clone()];
        for text in texts.iter().filter(|one| *one != text) {
            ways.push(Way::parse(text, base)?);
        }
        Ok(PathPattern {
            text: text.to_owned(),
            written,
            ways,
        })
    }
}

impl Way {
    fn parse(text: &str, base: &Path) -> Result<Self, String> {
        let (anchor, rest) = start(text, base)?;
        let mut parts: Vec<Part> = Vec::new();
        let mut up = 0;
        for name in rest.split('/') {
            match name {
                "" | "." => {}
                ".." => match parts.pop() {
                    None => up += 1,
                    Some(Part::Name(name)) if name.literal().is_some() => {}
                    Some(_) => {
                        return Err("`..` after a wildcard means nothing certain: write the path without it".to_owned());
                    }
                },
                "**" if matches!(parts.last(), Some(Part::Any)) => {}
                "**" => parts.push(Part::Any),
                name => parts.push(Part::Name(NamePattern::parse(name)?)),
            }
        }
        // A folder means all in it, so `x/**` is `x`.
        if parts.last() == Some(&Part::Any) {
            parts.pop();
        }
        let anchor =
            match (anchor, up) {
                (Anchor::Here { .. }, up) => Anchor::Here { up },
                (anchor, 0) => anchor,
                _ => return Err(
                    "`..` leads above where it starts: write the whole path, with `//` before it"
                        .to_owned(),
                ),
            };
        let is_bare = matches!(anchor, Anchor::Here { up: 0 })
            && parts.len() == 1
            && !text.trim_end_matches('/').contains('/');
        let is_deep = text.starts_with("**/") || text == "**";
        Ok(Way {
            anchor,
            parts,
            is_bare,
            is_deep,
        })
    }

    /// The names it begins with, up to the first wildcard.
    pub(super) fn beginning(&self) -> Vec<&str> {
        let names = self.parts.iter().map_while(|part| match part {
            Part::Name(name) => name.literal(),
            Part::Any => None,
        });
        names.collect()
    }

    /// Whether a rule that restricts means it at any depth: `x`, but `./x`, `x/**` and `**/x` as well. Measured: Claude Code
    /// takes the `./` and the `/**` away before it looks whether a slash ties the pattern to a folder.
    pub(super) fn floats(&self) -> bool {
        let is_one_name = matches!(self.parts.as_slice(), [Part::Name(_)]);
        self.anchor == Anchor::Here { up: 0 } && (is_one_name || self.is_deep)
    }
}

fn start<'t>(text: &'t str, base: &Path) -> Result<(Anchor, &'t str), String> {
    let drive = text.as_bytes();
    if cfg!(windows) && drive.len() > 1 && drive[0].is_ascii_alphabetic() && drive[1] == b':' {
        let letter = char::from(drive[0]).to_ascii_lowercase();
        return Err(format!(
            "a drive is a folder at the root: write `//{letter}/…` with `/` between the names"
        ));
    }
    if let Some(rest) = text.strip_prefix("//") {
        return Ok((Anchor::Root, rest));
    }
    if let Some(rest) = text.strip_prefix('~') {
        return match rest.is_empty() || rest.starts_with('/') {
            true => Ok((Anchor::Home, rest)),
            false => Err("whose home this is cannot be said: write the whole path, with `//` before it, or `./~` for a file of that name".to_owned()),
        };
    }
    if text.starts_with('!') {
        return Err("a pattern cannot be turned round by `!`: write a rule that denies instead, or `\\!` for the letter".to_owned());
    }
    match text.strip_prefix('/') {
        Some(_) if !base.is_absolute() => {
            Err("there is no folder that its `/` could stand for: write `//` for the root of the disk, or no `/`".to_owned())
        }
        Some(rest) => Ok((Anchor::Base(tidy(base)), rest)),
        None => Ok((Anchor::Here { up: 0 }, text)),
    }
}
