//! What no rule opens and no rule takes away, whatever it says.
//!
//! Owns the question whether an act touches a protected path or would destroy what is too much to lose, for files, for
//! names that are written out, for shell patterns and for what a variable or a folder may be.

use std::path::Path;

use crate::act::{Act, Named, NamedWhat};
use crate::path::{Closed, PathPattern, Target, Touch, found_by};
use crate::place::Place;
use crate::ruin;

/// What a reason begins with where too much would be lost. What follows says what.
pub const LOST: &str = "No rule takes this away: ";

/// Why this act is for a person alone, if it is.
pub(crate) fn guarded(act: &Act, place: &Place<'_>, closed: &Closed<'_>) -> Option<String> {
    match act {
        Act::File { target, touch } => {
            let of_system = (*touch == Touch::Write).then(|| system(target)).flatten();
            no_rule(closed.why(target, *touch)).or(of_system)
        }
        // Who sees the contents of a whole folder reads all in it.
        Act::Search {
            folder,
            shows_contents: true,
        } => no_rule(closed.why_below(folder, Touch::Read)),
        Act::Search { folder, .. } => no_rule(closed.why(folder, Touch::Read)),
        Act::Run(simple) if ruin::takes_the_unknown(simple) => {
            Some(format!("{LOST}what it takes is not known before it runs."))
        }
        Act::Name(named) => name(named, place, closed),
        Act::Run(_) | Act::Fetch { .. } | Act::Use => None,
    }
}

/// Where the programs of the system stand. A command may name one to run it; to write there is another matter.
const PROGRAMS: [&str; 6] = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64"];

fn system(target: &Target) -> Option<String> {
    let stands_in = |folder: &str| {
        let real = target.real.as_deref();
        target.lexical.starts_with(folder) || real.is_some_and(|real| real.starts_with(folder))
    };
    PROGRAMS.iter().any(|folder| stands_in(folder)).then(|| {
        format!(
            "No rule opens this path: `{}` belongs to the system.",
            target.shown
        )
    })
}

fn no_rule(why: Option<String>) -> Option<String> {
    why.map(|why| format!("No rule opens this path: {why}."))
}

fn lost(target: &Target, place: &Place<'_>) -> Option<String> {
    let why = ruin::vital(target, place)?;
    Some(format!("{LOST}{why}."))
}

fn name(named: &Named, place: &Place<'_>, closed: &Closed<'_>) -> Option<String> {
    match &named.what {
        // `{a..f}` counts; what a variable holds is guessed beside it.
        NamedWhat::Unknown if !named.word.contains(['$', '`']) => hidden(named),
        NamedWhat::Unknown => None,
        NamedWhat::Path(target) | NamedWhat::Perhaps(target) => {
            let lost = named.is_taken.then(|| lost(target, place)).flatten();
            let whole = || {
                // Who reads a whole folder reads; who takes it away takes all of it.
                let touch = match (named.is_taken, named.is_recursive) {
                    (true, _) => Touch::Write,
                    (false, true) => Touch::Read,
                    (false, false) => return None,
                };
                no_rule(closed.why_below(target, touch))
            };
            let through = || match named.is_linked {
                true => no_rule(closed.why_through(target)),
                false => None,
            };
            lost.or_else(|| no_rule(closed.why(target, named.touch)))
                .or_else(whole)
                .or_else(through)
        }
        NamedWhat::Pattern(folder) | NamedWhat::PerhapsPattern(folder) => {
            pattern(named, folder, place, closed)
        }
    }
}

/// What a shell pattern may become: the written beginning, the whole content of a folder, what is found on disk.
fn pattern(named: &Named, folder: &Path, place: &Place<'_>, closed: &Closed<'_>) -> Option<String> {
    let emptied = ruin::emptied(&named.word, folder, place).filter(|_| named.is_taken);
    let emptied = emptied.map(|folder| Target::of(&folder.to_string_lossy(), place.cwd, place));
    if let Some(why) = emptied.and_then(|target| lost(&target, place)) {
        return Some(why);
    }
    let parts = named.word.split('/');
    let plain: Vec<&str> = parts
        .take_while(|part| !part.contains(['*', '?', '[', '{']))
        .collect();
    if !plain.is_empty() {
        let start = Target::of(&format!("{}/x", plain.join("/")), folder, place);
        if let Some(why) = no_rule(closed.why(&start, named.touch)) {
            return Some(why);
        }
    }
    // Where the folder is a guess, a pattern for any name finds too much.
    let is_guess = matches!(named.what, NamedWhat::PerhapsPattern(_));
    let is_hidden = names_hidden(&named.word);
    match found_by(&named.word, folder, place) {
        Some(_) if is_guess && !is_hidden => {}
        Some(mut found) => {
            // A name that begins with a dot is found by `*` only where a shell is set to it, and that is rare.
            found.retain(|(_, is_sure)| *is_sure || is_hidden);
            let targets = found.iter().filter_map(|(path, _)| path.to_str());
            let mut targets = targets.map(|path| Target::of(path, Path::new("/"), place));
            let why = targets.find_map(|target| closed.why(&target, named.touch));
            if let Some(why) = why {
                let word = &named.word;
                return Some(format!(
                    "No rule opens this path: {why} (`{word}` finds it)."
                ));
            }
        }
        None => {
            if let Some(why) = hidden(named) {
                return Some(why);
            }
        }
    }
    let guarded: &[&str] = match named.touch {
        Touch::Read => &SECRET,
        Touch::Write => &GUARDED,
    };
    let means = |text: &&&str| {
        let pattern = PathPattern::parse(text, Path::new("/"));
        pattern.is_ok_and(|pattern| pattern.may_name(&named.word, folder, place).is_yes())
    };
    let found = guarded.iter().find(means)?;
    Some(format!(
        "No rule opens this path: `{}` finds `{}`.",
        named.word,
        found.trim_start_matches("//**/")
    ))
}

/// Why what is not known before it runs may not be written by rule, if it may be protected.
fn hidden(named: &Named) -> Option<String> {
    let may_be = named.touch == Touch::Write && names_hidden(&named.word);
    may_be.then(|| {
        format!(
            "No rule opens this path: what `{}` becomes is not known before it runs, and may be protected.",
            named.word
        )
    })
}

/// Whether a pattern is written with a name that begins with a dot, as nearly all that is protected does.
fn names_hidden(word: &str) -> bool {
    let mut names = word.split(['/', ',', '{']);
    names.any(|name| {
        let name = name.trim_start_matches(['\\', '\'', '"']);
        name.starts_with('.') && !matches!(name, "." | "..")
    })
}

/// Folders that nothing is read from by rule.
const SECRET: [&str; 5] = [
    "~/.ssh/**",
    "~/.gnupg/**",
    "~/.aws/**",
    "~/.kube/**",
    "~/.docker/**",
];

/// Folders and files that nothing is written to by rule.
const GUARDED: [&str; 14] = [
    "//**/.git/**",
    "//**/.claude/**",
    "~/.ssh/**",
    "~/.gnupg/**",
    "~/.aws/**",
    "~/.kube/**",
    "~/.docker/**",
    "~/.bashrc",
    "~/.bash_profile",
    "~/.profile",
    "~/.zshrc",
    "~/.zshenv",
    "~/.gitconfig",
    "//etc/**",
];
