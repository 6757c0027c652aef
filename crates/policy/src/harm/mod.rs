//! What a call would destroy, in words, so that a person is made to look twice.
//!
//! Owns [`Harm`] and [`harm`]. Decides nothing: a rule may still allow what is harmful, and what is asked is asked all the
//! same. Invariants: a command is marked for what it does, never for words that it prints; what cannot be read is not
//! called destructive, it is called unread. The tables are short on purpose: a mark on what is harmless costs the others
//! their weight.

mod fetched;
mod git;
mod programs;
mod sql;
#[cfg(all(test, unix))]
mod tests;

use std::path::Path;

use crate::act::{self, Act};
use crate::call::Call;
use crate::path::{Target, Touch};
use crate::place::Place;
use crate::rule::todays_name;
use crate::shell::{self, Reading, Redirect, Simple, Word};

/// So many parts are named.
const MOST_PARTS: usize = 8;

/// What a call would destroy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Harm {
    /// Nothing that is known.
    None,
    /// It takes away or overwrites what no undo brings back.
    Destructive {
        /// What it does, each a few words that follow "it": `removes files`.
        does: Vec<&'static str>,
        /// The commands or files that do it, as they stand in the call.
        parts: Vec<String>,
    },
    /// Some of it cannot be read, so nobody knows.
    Unread {
        /// Why, in a sentence without its full stop.
        why: String,
    },
}

impl Harm {
    fn of(found: Vec<(&'static str, String)>, unread: Option<String>) -> Self {
        let mut does: Vec<&'static str> = Vec::new();
        let mut parts: Vec<String> = Vec::new();
        for (what, part) in found {
            if !does.contains(&what) {
                does.push(what);
            }
            if !parts.contains(&part) && parts.len() < MOST_PARTS {
                parts.push(part);
            }
        }
        match (does.is_empty(), unread) {
            (false, _) => Self::Destructive { does, parts },
            (true, Some(why)) => Self::Unread { why },
            (true, None) => Self::None,
        }
    }
}

/// What a call would destroy. The disk is asked only whether a file outside of the working folders is there.
pub fn harm(call: &Call, place: &Place<'_>) -> Harm {
    match todays_name(&call.tool) {
        "Bash" | "Monitor" => match call.text("command") {
            Some(command) => of_text(command, place),
            None => unread("the call has no command"),
        },
        "PowerShell" => unread("it is for a shell that is not read here"),
        "Write" => of_write(call, place),
        _ => Harm::None,
    }
}

fn unread(why: &str) -> Harm {
    Harm::Unread {
        why: why.to_owned(),
    }
}

const REPLACES: &str = "replaces a file outside of the session's folder";

/// Only the tool that writes whole files: an edit leaves the rest of the file as it is.
fn of_write(call: &Call, place: &Place<'_>) -> Harm {
    let acts = act::acts(call, place);
    let replaced = acts.list.iter().find_map(|act| match act {
        Act::File {
            touch: Touch::Write,
            target,
        } if replaces(target, place) => Some((REPLACES, target.shown.clone())),
        _ => None,
    });
    Harm::of(replaced.into_iter().collect(), None)
}

fn of_text(command: &str, place: &Place<'_>) -> Harm {
    let reading = shell::read(command);
    let mut found: Vec<(&'static str, String)> = Vec::new();
    for (at, simple) in reading.commands.iter().enumerate() {
        let before = &reading.commands[..at];
        let does = of_command(simple)
            .or_else(|| sql::harm(simple, before, document(command)))
            .or_else(|| fetched::harm(simple, before));
        found.extend(does.map(|does| (does, simple.text.clone())));
    }
    let replaced = reading
        .redirects
        .iter()
        .filter(|redirect| replaces_by(redirect, place));
    found.extend(replaced.map(|redirect| (REPLACES, redirect.text.clone())));
    Harm::of(found, hidden(&reading))
}

/// What a here-document may hold: all lines behind the first, where there is one.
fn document(command: &str) -> Option<&str> {
    let (first, rest) = command.split_once('\n')?;
    first.contains("<<").then_some(rest)
}

/// Why nobody knows what a text does, if it is so.
fn hidden(reading: &Reading) -> Option<String> {
    let hides = || reading.commands.iter().find_map(|it| it.hides.clone());
    reading.unclear.first().cloned().or_else(hides)
}

/// What one command takes away.
fn of_command(simple: &Simple) -> Option<&'static str> {
    let words = Words::of(simple)?;
    match words.program {
        "git" => git::harm(&words),
        _ => programs::harm(&words),
    }
}

fn replaces_by(redirect: &Redirect, place: &Place<'_>) -> bool {
    let Word::Literal(path) = &redirect.target else {
        return false;
    };
    let is_whole = redirect.writes && !redirect.text.contains(">>");
    // What a relative path is outside of depends on the folder, which is known for whole ones.
    let is_known = path.starts_with(['/', '~']) || redirect.folder == shell::Folder::Start;
    is_whole && is_known && replaces(&Target::of(path, place.cwd, place), place)
}

/// Folders for what nobody means to keep.
const PASSING: [&str; 5] = ["/tmp", "/var/tmp", "/private/tmp", "/dev", "/proc"];

fn replaces(target: &Target, place: &Place<'_>) -> bool {
    let passes = |folder: &&str| target.lexical.starts_with(Path::new(*folder));
    !PASSING.iter().any(passes) && !target.is_inside(place) && place.disk.exists(&target.lexical)
}

/// The words of a command, as the tables look at them.
struct Words<'a> {
    /// The program, without its folder.
    program: &'a str,
    /// What follows. Patterns and what is not known stand as they were written.
    rest: Vec<&'a str>,
}

impl<'a> Words<'a> {
    fn of(simple: &'a Simple) -> Option<Self> {
        let program = simple.words.first()?.literal()?;
        Some(Self {
            program: program.rsplit('/').next().unwrap_or(program),
            rest: simple.words[1..].iter().map(Word::shown).collect(),
        })
    }

    /// Whether it has one of these, as a word.
    fn has(&self, options: &[&str]) -> bool {
        self.before_end().any(|word| options.contains(&word))
    }

    /// Whether it has this letter in a group of letters: `-rf` has `f`.
    fn has_letter(&self, letter: char) -> bool {
        self.before_end()
            .any(|word| is_group(word) && word.contains(letter))
    }

    /// Whether it has this long option, with a value or without.
    fn has_long(&self, name: &str) -> bool {
        self.before_end()
            .any(|word| word.split('=').next() == Some(name))
    }

    /// Options end at `--`.
    fn before_end(&self) -> impl Iterator<Item = &'a str> {
        self.rest.iter().copied().take_while(|word| *word != "--")
    }
}

fn is_group(word: &str) -> bool {
    word.len() > 1 && word.starts_with('-') && !word.starts_with("--")
}
