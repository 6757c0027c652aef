//! What the files of one part of a command ask for: those outside, those that are touchy, and those that would change.

use std::path::Path;

use serde_json::Value;

use super::super::super::source::Source;
use super::super::ask::{Kind, reading_rule, suggest_edits, suggest_folder, suggest_rules};
use super::super::bench::Bench;
use super::super::rule::{Behavior, Rule};
use super::super::rules::Touch;
use super::Part;

/// What is to be asked because of a path.
#[derive(Debug, Clone)]
pub(super) struct PathAsk {
    pub(super) message: String,
    pub(super) blocked: String,
    pub(super) reason: Option<(String, Kind)>,
    /// Folders, reading rules and the mode: all but a rule for the command.
    pub(super) offers: Option<Vec<Value>>,
    /// A rule can let this pass the next time: the one for reading, or one for the command.
    pub(super) lasts: bool,
    pub(super) reading: Option<Rule>,
    /// For a safety check: whether a classifier could settle it.
    pub(super) approvable: bool,
}

impl PathAsk {
    pub(super) fn is_touchy(&self) -> bool {
        matches!(self.reason, Some((_, Kind::Safety)))
    }
}

impl Bench<'_> {
    /// What reading these asks for.
    pub(super) fn reading<'w>(
        &self,
        name: &str,
        words: impl Iterator<Item = &'w String>,
    ) -> Option<PathAsk> {
        let outside: Vec<_> = words
            .filter_map(|word| {
                let path = self.places.absolute(self.shell, word);
                let allowed = self
                    .rules
                    .path(self.places, Behavior::Allow, Touch::Read, &path);
                let inside = self.places.inside(self.dirs, &path) && is_plain(word);
                (allowed.is_none() && !inside)
                    .then(|| self.places.world.real(&path).unwrap_or(path))
            })
            .collect();
        let path = outside.first()?;
        let folder = self.places.folder_of(path);
        let same = outside
            .iter()
            .all(|path| self.places.folder_of(path) == folder);
        let rule = reading_rule(&folder).filter(|_| same);
        let offer = |rule: &Rule| suggest_rules(std::slice::from_ref(rule), Source::Session);
        Some(PathAsk {
            message: format!(
                "{name} in '{}' was blocked. For security, Claude Code may only use files in the working directories of \
                 this session: '{}'.",
                path.display(),
                self.places.root.display()
            ),
            blocked: path.to_string_lossy().into_owned(),
            reason: None,
            offers: same.then(|| rule.iter().map(offer).collect()),
            lasts: rule.is_some(),
            reading: rule,
            approvable: true,
        })
    }

    /// What changing these asks for. `ruled`: a rule lets the command run, as far as it stays inside.
    pub(super) fn writing<'w>(
        &self,
        name: &str,
        words: impl Iterator<Item = &'w String> + Clone,
        ruled: bool,
    ) -> Option<PathAsk> {
        if let Some(ask) = words.clone().find_map(|word| self.touchy(word, true)) {
            return Some(ask);
        }
        let open = |word: &&String| {
            let path = self.places.absolute(self.shell, word);
            let allowed = self
                .rules
                .path(self.places, Behavior::Allow, Touch::Write, &path);
            !self.places.is_own(&path) && allowed.is_none()
        };
        let outside = |word: &&String| {
            let path = self.places.absolute(self.shell, word);
            !self.places.inside(self.dirs, &path) || !is_plain(word)
        };
        let mut open = words.filter(open);
        let what = format!("{name} in");
        if let Some(word) = open.clone().find(outside) {
            return Some(self.write_ask(&what, word, false, true));
        }
        let word = open.next().filter(|_| !self.edits_free && !ruled)?;
        Some(self.write_ask(&what, word, true, true))
    }

    /// What a redirection to this file asks for.
    pub(super) fn redirecting(&self, word: &str) -> Option<PathAsk> {
        if word == "/dev/null" {
            return None;
        }
        if let Some(ask) = self.touchy(word, false) {
            return Some(ask);
        }
        let path = self.places.absolute(self.shell, word);
        let allowed = self
            .rules
            .path(self.places, Behavior::Allow, Touch::Write, &path);
        let inside = self.places.inside(self.dirs, &path) && is_plain(word);
        if allowed.is_some() || inside && self.edits_free {
            return None;
        }
        let ask = self.write_ask("Output redirection to", word, inside, false);
        Some(PathAsk {
            lasts: false,
            ..ask
        })
    }

    /// The touchy file that a part would change.
    pub(super) fn touchy_part(&self, part: &Part) -> Option<PathAsk> {
        let edits = super::among(super::EDITS, part.name());
        let operands = part.operands().filter(|_| edits);
        let outs = part.outs.iter().find_map(|word| self.touchy(word, false));
        outs.or_else(|| {
            operands
                .into_iter()
                .find_map(|word| self.touchy(word, true))
        })
    }

    fn touchy(&self, word: &str, command: bool) -> Option<PathAsk> {
        let path = self.places.absolute(self.shell, word);
        let reason = self.places.touchy(&path)?;
        Some(PathAsk {
            message: reason.clone(),
            reason: Some((reason, Kind::Safety)),
            lasts: false,
            ..self.write_ask("", word, true, command)
        })
    }

    fn write_ask(&self, what: &str, word: &str, inside: bool, command: bool) -> PathAsk {
        let path = self.places.absolute(self.shell, word);
        let side = if inside { "inside" } else { "outside" };
        let mut offers = vec![suggest_folder(&self.places.folder_of(&path))];
        if command && self.offer_edits {
            offers.push(suggest_edits());
        }
        PathAsk {
            message: format!(
                "{what} '{}' needs approval. The path is {side} the working directories for this session ('{}').",
                path.display(),
                self.places.root.display()
            ),
            blocked: path.to_string_lossy().into_owned(),
            reason: None,
            offers: Some(offers),
            lasts: inside,
            reading: None,
            approvable: true,
        }
    }

    /// What of a removal would take far too much, in the CLI's words.
    pub(super) fn takes_too_much(&self, target: &str) -> Option<String> {
        let path = self.places.absolute(self.shell, target);
        let everything = path.file_name().is_some_and(|name| name == "*");
        let folder = match path.parent() {
            Some(parent) if everything => parent,
            _ => &path,
        };
        let around = |inner: &Path| inner.starts_with(folder);
        let top = folder
            .parent()
            .is_none_or(|parent| parent.parent().is_none());
        let shown = path.display();
        if folder.parent().is_none()
            || folder == self.places.home
            || top && !around(&self.places.root)
        {
            return Some(format!("critical path: {shown}"));
        }
        if around(self.shell) || around(&self.places.root) {
            return Some(format!("working directory or its ancestor: {shown}"));
        }
        let unknown = target.starts_with('$') && target.contains('/');
        unknown.then(|| format!("possibly-empty variable path: {target}"))
    }
}

/// Whether a path is what its letters say: not the folder of somebody else (`~name`), and without a `..` behind a name,
/// which through a link may lead anywhere.
fn is_plain(word: &str) -> bool {
    let mut names = word
        .split('/')
        .skip_while(|name| matches!(*name, "" | "." | ".."));
    let foreign = word
        .strip_prefix('~')
        .is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/'));
    !foreign && !names.any(|name| name == "..")
}
