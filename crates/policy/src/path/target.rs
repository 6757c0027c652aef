//! The file a text means: by its letters, and by where its links lead.
//!
//! The CLI removes `..` by its letters, composes and trims a path before it opens it; a shell does none of it. Invariant:
//! if `real` is known, then whoever reads the text comes to one of the two paths. Else it is `None`.

use std::path::{Path, PathBuf};

use unicode_normalization::UnicodeNormalization;

use super::names::{is_unseen, tidy};
use crate::Place;

/// So many letters of a path are shown.
const MOST_SHOWN: usize = 400;

/// What a command was given when it started. Where one of them leads elsewhere, that was opened by a part of the command
/// that is looked at for itself.
const STREAMS: [&str; 3] = ["/dev/stdin", "/dev/stdout", "/dev/stderr"];

/// Files by other names than their own, in which no link is seen: open files by number, files by inode (macOS).
const ALIASES: [&str; 4] = ["/dev/fd", "/.vol", "/.nofollow", "/.resolve"];

/// A file that a call touches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// For people: from the working folder or from home, on one line.
    pub shown: String,
    /// Absolute, `.` and `..` removed by their letters.
    pub lexical: PathBuf,
    /// Where it really leads, all links followed; `None` where that cannot be said.
    pub real: Option<PathBuf>,
}

impl Target {
    /// The file that is meant by a text in a folder. `~` and `~/x` start at home.
    pub fn of(given: &str, folder: &Path, place: &Place<'_>) -> Target {
        let (raw, is_sure) = whole(given, folder, place);
        let lexical = tidy(&whole(given.trim(), folder, place).0);
        let real = match is_sure && is_one_path(&raw) {
            true => led_to(given, &raw, &lexical, place),
            false => None,
        };
        Target {
            shown: shown(&lexical, place),
            lexical,
            real,
        }
    }

    /// Whether it lies in the working folder or one that was added, by its letters and by where it leads.
    pub fn is_inside(&self, place: &Place<'_>) -> bool {
        let Some(real) = &self.real else { return false };
        let (mut by_letters, mut by_links) = (false, false);
        for root in roots(place) {
            let real_root = place.disk.real(&root);
            by_letters |= self.lexical.starts_with(&root);
            if let Some(real_root) = real_root {
                by_letters |= self.lexical.starts_with(&real_root);
                by_links |= real.starts_with(&real_root);
            }
        }
        by_letters && by_links
    }
}

/// The working folders, tidied.
pub(super) fn roots(place: &Place<'_>) -> impl Iterator<Item = PathBuf> {
    let added = place.add_dirs.iter().map(|dir| tidy(&place.cwd.join(dir)));
    std::iter::once(tidy(place.cwd)).chain(added)
}

/// The text made absolute, dots still in, and whether this is what everybody makes of it.
fn whole(given: &str, folder: &Path, place: &Place<'_>) -> (PathBuf, bool) {
    let is_sure = folder.is_absolute();
    match (given.strip_prefix('~'), place.home) {
        (None, _) => (folder.join(given), is_sure),
        (Some(""), Some(home)) => (home.to_owned(), home.is_absolute()),
        (Some(rest), Some(home)) if rest.starts_with('/') => {
            (home.join(rest.trim_start_matches('/')), home.is_absolute())
        }
        // The home of somebody else, or none: a shell and the CLI read it differently.
        _ => (folder.join(given), false),
    }
}

/// Where the path leads. Whoever else reads the text must come to the same place, or to that of its letters.
fn led_to(given: &str, raw: &Path, lexical: &Path, place: &Place<'_>) -> Option<PathBuf> {
    if STREAMS.iter().any(|stream| lexical == Path::new(stream)) {
        return Some(lexical.to_owned());
    }
    if ALIASES.iter().any(|alias| lexical.starts_with(alias)) {
        return None;
    }
    let real = place.disk.real(raw)?;
    let composed = |path: &Path| Some(PathBuf::from(path.to_str()?.nfc().collect::<String>()));
    let by_composed = match given.is_ascii() {
        true => None,
        false => Some(composed(lexical)?),
    };
    for other in std::iter::once(lexical).chain(by_composed.as_deref()) {
        if other == raw {
            continue;
        }
        let led = place.disk.real(other)?;
        let is_same = led == real || composed(&led)? == composed(&real)?;
        if !is_same && !has_no_links(other, &led, place) {
            return None;
        }
    }
    Some(real)
}

/// Whether a path leads where its letters say, below a folder that may have links.
fn has_no_links(path: &Path, real: &Path, place: &Place<'_>) -> bool {
    let folders = roots(place).chain(place.home.map(tidy));
    let below = |root: PathBuf| Some(place.disk.real(&root)?.join(path.strip_prefix(&root).ok()?));
    path == real || folders.filter_map(below).any(|path| path == real)
}

/// Whether a system would take this text for one path.
fn is_one_path(path: &Path) -> bool {
    let has_second_reading = || {
        path.iter()
            .any(|name| has_second_reading(&name.to_string_lossy()))
    };
    let has_nul = path.as_os_str().as_encoded_bytes().contains(&0);
    !has_nul && (cfg!(unix) || !has_second_reading())
}

/// Names that Windows takes for others: short forms, streams, dots and blanks at the end.
fn has_second_reading(name: &str) -> bool {
    let is_dots = matches!(name, "." | "..");
    let is_drive = name.len() == 2 && name.ends_with(':');
    let is_short_form = name
        .split_once('~')
        .is_some_and(|(_, rest)| rest.starts_with(|letter: char| letter.is_ascii_digit()));
    is_short_form || (name.contains(':') && !is_drive) || (name.ends_with(['.', ' ']) && !is_dots)
}

/// The path for people: short where it can be, and on one line whatever is in it.
pub(super) fn shown(path: &Path, place: &Place<'_>) -> String {
    let home = place.home.filter(|home| home.parent().is_some());
    let text = match (
        path.strip_prefix(place.cwd),
        home.map(|home| path.strip_prefix(home)),
    ) {
        (Ok(rest), _) if rest.as_os_str().is_empty() => ".".to_owned(),
        (Ok(rest), _) => rest.to_string_lossy().into_owned(),
        (_, Some(Ok(rest))) if rest.as_os_str().is_empty() => "~".to_owned(),
        (_, Some(Ok(rest))) => format!("~/{}", rest.to_string_lossy()),
        _ => path.to_string_lossy().into_owned(),
    };
    let mut out = String::new();
    let mut letters = text.chars();
    for letter in letters.by_ref().take(MOST_SHOWN) {
        match letter.is_control() || is_unseen(letter) || letter == '`' {
            true => out.extend(letter.escape_unicode()),
            false => out.push(letter),
        }
    }
    if letters.next().is_some() {
        out.push('…');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_names_with_a_second_reading_are_known() {
        for name in ["GIT~1", "x.", "x ", "x:stream", "x::$DATA"] {
            assert!(has_second_reading(name), "{name}");
        }
        for name in ["C:", "..", ".", ".git", "a~b", "a.b"] {
            assert!(!has_second_reading(name), "{name}");
        }
    }
}
