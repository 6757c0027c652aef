//! What the files of one simple command ask for.
//!
//! Owns the questions about paths that lie outside, that are touchy, that lead elsewhere by a link, or that the shell
//! would expand, and what is suggested with them. Which arguments are paths is said in [`args`](super::args).

use std::path::{Path, PathBuf};

use super::super::super::source::Source;
use super::super::ask::{Kind, reading_rule, suggest_edits, suggest_folder, suggest_rules};
use super::super::paths::{Places, tidy};
use super::super::rule::{Behavior, Rule};
use super::super::rules::{Rules, Touch};
use super::Word;

/// What a check of a command stands on.
pub(in crate::cli::permit) struct Bench<'a> {
    pub(in crate::cli::permit) rules: &'a Rules,
    pub(in crate::cli::permit) places: &'a Places,
    pub(in crate::cli::permit) dirs: &'a [PathBuf],
    /// Where the shell is.
    pub(in crate::cli::permit) shell: &'a Path,
    /// Files inside may be changed without a question.
    pub(in crate::cli::permit) edits_free: bool,
    /// The host is offered to let edits through from now on.
    pub(in crate::cli::permit) offer_edits: bool,
    /// A rule for the whole command is suggested when a path asks.
    pub(in crate::cli::permit) offer_rule: bool,
}

/// What is to be asked because of a path.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PathAsk {
    pub(super) message: String,
    pub(super) blocked: Option<String>,
    pub(super) reason: Option<(String, Kind)>,
    /// Folders, reading rules and the mode: all but a rule for the command.
    pub(super) offers: Option<Vec<serde_json::Value>>,
    /// How this one is allowed when several parts of a command ask.
    pub(super) lasting: Lasting,
    /// For a safety check: whether a classifier could settle it.
    pub(super) approvable: bool,
}

impl PathAsk {
    /// A question because of a command's shape; the model is told the message if nobody can answer.
    pub(super) fn of_shape(
        reason: &str,
        message: &str,
        offers: Option<Vec<serde_json::Value>>,
    ) -> Self {
        PathAsk {
            message: message.to_owned(),
            blocked: None,
            reason: Some((reason.to_owned(), Kind::Other)),
            offers,
            lasting: Lasting::None,
            approvable: true,
        }
    }
}

/// Which rule would let a part of a command pass the next time.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Lasting {
    Reading(Rule),
    Command,
    None,
}

impl Bench<'_> {
    /// The first of these paths that a rule forbids. What may not be read may not be copied over or removed either.
    pub(super) fn forbidden(&self, touches: &[Touch], words: &[&Word]) -> Option<PathBuf> {
        let denied = |path: &Path| {
            touches.iter().any(|touch| {
                let rule = self.rules.path(self.places, Behavior::Deny, *touch, path);
                rule.is_some()
            })
        };
        words.iter().find_map(|word| {
            let path = self.places.absolute(self.shell, &word.text);
            let real = self.places.leads(&path);
            (denied(&path) || real.is_some_and(|real| denied(&real))).then_some(path)
        })
    }

    /// What reading these asks for.
    pub(super) fn reading(&self, name: &str, words: &[&Word]) -> Option<PathAsk> {
        let mut folders: Vec<PathBuf> = Vec::new();
        let mut first: Option<(&Word, PathBuf)> = None;
        let mut climbs = false;
        if let Some(word) = words.iter().find(|word| foreign_home(word)) {
            return Some(self.tilde(word));
        }
        for word in words {
            let path = self.places.absolute(self.shell, unglobbed(word));
            let allowed = self
                .rules
                .path(self.places, Behavior::Allow, Touch::Read, &path)
                .is_some();
            let inside = self.places.inside(self.dirs, &path);
            climbs |= climbs_back(&word.text);
            if allowed || inside && !climbs_back(&word.text) {
                continue;
            }
            let path = if inside {
                path
            } else {
                self.outside_name(path)
            };
            folders.push(self.places.folder_of(&path));
            first.get_or_insert((word, path));
        }
        let (word, path) = first?;
        if climbs && self.places.inside(self.dirs, &path) {
            return Some(self.climbing(word, None));
        }
        let root = self.places.root.display();
        // Through a link to something that is not there, a rule would mean more than is seen.
        let hidden = self.leads_out(&path) && self.places.world.real(&path).is_none();
        let same = !hidden && folders.windows(2).all(|pair| pair[0] == pair[1]) && !climbs;
        let rule = folders.first().and_then(|folder| reading_rule(folder));
        let offers = same.then(|| {
            rule.iter()
                .map(|rule| suggest_rules(std::slice::from_ref(rule), Source::Session))
                .collect()
        });
        Some(PathAsk {
            message: format!(
                "{name} in '{}' was blocked. For security, Claude Code may only use files in the working directories of \
                 this session: '{root}'.",
                path.display()
            ),
            blocked: Some(path.to_string_lossy().into_owned()),
            reason: None,
            offers,
            lasting: rule
                .filter(|_| same)
                .map_or(Lasting::None, Lasting::Reading),
            approvable: true,
        })
    }

    /// Whether a path that looks as if it were inside leads out by a link.
    fn leads_out(&self, path: &Path) -> bool {
        let looks_inside = path.starts_with(&self.places.root)
            || self.dirs.iter().any(|dir| path.starts_with(tidy(dir)));
        looks_inside && !self.places.inside(self.dirs, path)
    }

    fn through_link(&self, path: &Path) -> PathAsk {
        let real = self.places.leads(path).unwrap_or_else(|| path.to_owned());
        let reason = format!(
            "{} resolves through a symlink to {}, which is not in a working directory of this session and so takes a \
             person to allow",
            path.display(),
            real.display()
        );
        PathAsk {
            message: reason.clone(),
            blocked: Some(real.to_string_lossy().into_owned()),
            reason: Some((reason, Kind::Safety)),
            offers: Some(self.write_offers(&real, true)),
            lasting: Lasting::None,
            approvable: false,
        }
    }

    /// The path by which a file outside is named: where its links lead, if it is there.
    fn outside_name(&self, path: PathBuf) -> PathBuf {
        self.places.world.real(&path).unwrap_or(path)
    }

    fn tilde(&self, word: &Word) -> PathAsk {
        let reason = "Tilde expansion variants (~user, ~+, ~-) in paths require manual approval";
        PathAsk {
            message: reason.to_owned(),
            blocked: Some(word.text.clone()),
            reason: Some((reason.to_owned(), Kind::Other)),
            offers: None,
            lasting: Lasting::None,
            approvable: true,
        }
    }

    fn climbing(&self, word: &Word, offers: Option<Vec<serde_json::Value>>) -> PathAsk {
        let reason = "Path contains '..' traversal after a directory segment, which may follow a symlink outside the \
                      working directory";
        PathAsk {
            message: reason.to_owned(),
            blocked: Some(word.text.clone()),
            reason: Some((reason.to_owned(), Kind::Other)),
            offers,
            lasting: Lasting::None,
            approvable: true,
        }
    }

    /// What changing these asks for. `ruled`: a rule lets the command run, as far as it stays inside.
    pub(super) fn writing(&self, name: &str, words: &[&Word], ruled: bool) -> Option<PathAsk> {
        if let Some(word) = words.iter().find(|word| foreign_home(word)) {
            return Some(self.tilde(word));
        }
        if let Some(ask) = words.iter().find_map(|word| self.touchy(word, true)) {
            return Some(ask);
        }
        if let Some(word) = words.iter().find(|word| word.glob) {
            return Some(self.pattern(word));
        }
        let open: Vec<(&&Word, PathBuf)> = words
            .iter()
            .filter(|word| word.text != "/dev/null")
            .map(|word| (word, self.places.absolute(self.shell, &word.text)))
            .filter(|(_, path)| !self.places.is_own(path))
            .filter(|(_, path)| {
                self.rules
                    .path(self.places, Behavior::Allow, Touch::Write, path)
                    .is_none()
            })
            .collect();
        let outside = open
            .iter()
            .find(|(_, path)| !self.places.inside(self.dirs, path));
        if let Some((_, path)) = outside.filter(|(_, path)| self.leads_out(path)) {
            return Some(self.through_link(path));
        }
        if let Some((word, path)) = outside {
            return Some(self.write_ask(&format!("{name} in"), word, path, false, true));
        }
        if self.edits_free || ruled {
            return open
                .iter()
                .find(|(word, _)| climbs_back(&word.text))
                .map(|(word, path)| self.climbing_write(word, path));
        }
        let (word, path) = open.first()?;
        if climbs_back(&word.text) {
            return Some(self.climbing_write(word, path));
        }
        Some(self.write_ask(&format!("{name} in"), word, path, true, true))
    }

    fn climbing_write(&self, word: &Word, path: &Path) -> PathAsk {
        self.climbing(word, Some(self.write_offers(path, true)))
    }

    /// What a redirection to this file asks for.
    pub(super) fn redirecting(&self, word: &Word) -> Option<PathAsk> {
        if word.text == "/dev/null" {
            return None;
        }
        if let Some(mut ask) = self.touchy(word, false) {
            if shell_expands(word) {
                (ask.blocked, ask.offers) = (None, None);
            }
            return Some(ask);
        }
        if shell_expands(word) {
            let reason = "Shell expansion syntax in paths requires manual approval";
            return Some(PathAsk {
                message: reason.to_owned(),
                blocked: None,
                reason: Some((reason.to_owned(), Kind::Other)),
                offers: None,
                lasting: Lasting::None,
                approvable: true,
            });
        }
        let path = self.places.absolute(self.shell, &word.text);
        if self
            .rules
            .path(self.places, Behavior::Allow, Touch::Write, &path)
            .is_some()
        {
            return None;
        }
        let inside = self.places.inside(self.dirs, &path);
        if inside && self.edits_free {
            return None;
        }
        let mut ask = self.write_ask("Output redirection to", word, &path, inside, false);
        ask.lasting = Lasting::None;
        Some(ask)
    }

    fn write_ask(
        &self,
        what: &str,
        word: &Word,
        path: &Path,
        inside: bool,
        command: bool,
    ) -> PathAsk {
        let root = self.places.root.display();
        let shown = if inside {
            path.to_owned()
        } else {
            written_end(word, path)
        };
        let message = if inside {
            format!(
                "{what} '{}' needs approval. The path is inside the working directories for this session ('{root}'), \
                 where a shell command that changes files is asked about first.",
                path.display()
            )
        } else {
            format!(
                "{what} '{}' needs approval. The path is outside the working directories for this session ('{root}'). \
                 Once allowed, the command runs as it is written.",
                path.display()
            )
        };
        PathAsk {
            message,
            blocked: Some(shown.to_string_lossy().into_owned()),
            reason: None,
            offers: Some(self.write_offers(path, command)),
            lasting: if inside {
                Lasting::Command
            } else {
                Lasting::None
            },
            approvable: true,
        }
    }

    fn write_offers(&self, path: &Path, command: bool) -> Vec<serde_json::Value> {
        let mut offers = vec![suggest_folder(&self.places.folder_of(path))];
        if command && self.offer_edits {
            offers.push(suggest_edits());
        }
        offers
    }

    fn pattern(&self, word: &Word) -> PathAsk {
        let reason =
            "Glob patterns are not allowed in write operations. Please specify an exact file path.";
        let path = self.places.absolute(self.shell, &word.text);
        let blocked = if word.text.starts_with('~') {
            path.to_string_lossy().into_owned()
        } else {
            word.text.clone()
        };
        PathAsk {
            message: reason.to_owned(),
            blocked: Some(blocked),
            reason: Some((reason.to_owned(), Kind::Other)),
            offers: Some(self.write_offers(&path, true)),
            lasting: Lasting::None,
            approvable: true,
        }
    }

    fn touchy(&self, word: &Word, command: bool) -> Option<PathAsk> {
        if word.expands {
            return None;
        }
        let path = self.places.absolute(self.shell, &word.text);
        let reason = self.places.touchy(&path)?;
        Some(PathAsk {
            message: reason.clone(),
            blocked: Some(path.to_string_lossy().into_owned()),
            reason: Some((reason, Kind::Safety)),
            offers: Some(self.write_offers(&path, command)),
            lasting: Lasting::None,
            approvable: true,
        })
    }
}

/// A path outside keeps the slash it was written with.
fn written_end(word: &Word, path: &Path) -> PathBuf {
    match word.text.ends_with('/') && path.parent().is_some() && word.text.starts_with('/') {
        true => PathBuf::from(format!("{}/", path.display())),
        false => path.to_owned(),
    }
}

/// `~name`: the folder of somebody else, or of another moment.
fn foreign_home(word: &Word) -> bool {
    let rest = word.raw.strip_prefix('~');
    rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/'))
}

fn shell_expands(word: &Word) -> bool {
    word.expands || word.raw.starts_with('~')
}

/// The part of a path before the first name with a pattern in it.
fn unglobbed(word: &Word) -> &str {
    if !word.expands {
        return &word.text;
    }
    let pattern = word.text.find(['*', '?', '[']).unwrap_or(word.text.len());
    match word.text[..pattern].rfind('/') {
        Some(0) => "/",
        Some(end) => &word.text[..end],
        None => ".",
    }
}

/// Whether `..` stands behind a name: through a link it may lead anywhere.
fn climbs_back(text: &str) -> bool {
    text.split('/')
        .skip_while(|name| matches!(*name, "" | "." | ".."))
        .any(|name| name == "..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_climb_counts_only_behind_a_name() {
        assert!(climbs_back("sub/../x") && climbs_back("/a/../b"));
        assert!(!climbs_back("../x") && !climbs_back("../../x") && !climbs_back("a/b"));
    }
}
