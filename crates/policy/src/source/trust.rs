//! Which folders a person trusts, and with which rules.
//!
//! Owns the text of `trusted.toml`. A repository's allow rules count only in a folder, by its real path, that stands
//! here, and only those that stood in the repository when the person said so: whoever adds one later, an agent
//! perhaps, must ask again. Pure: text in, text out.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use toml_edit::{Array, ArrayOfTables, Datetime, DocumentMut, Item, Table, value};

use crate::rule::{Rule, Scope};

/// What a repository would allow, for a person to trust.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// The folder's real path.
    pub folder: PathBuf,
    /// Its allow rules, each once.
    pub rules: BTreeSet<String>,
    /// Folders that it adds to the working folder.
    pub directories: BTreeSet<String>,
    /// What it would have the CLI start: hooks, helpers, servers.
    pub programs: BTreeSet<String>,
}

/// The folders that a person trusts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trusted {
    folders: Vec<Offer>,
}

/// Why the text says nothing about trust.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}: mend the file, or delete it and trust your folders again")]
pub struct TrustError {
    /// What is wrong.
    pub reason: String,
}

const HEAD: &str = "\
# Folders whose own allow rules count, and the rules that stood there when they were trusted.
# Written by countersign; take an entry out to trust its folder no longer.
";

/// A rule by all that makes it wider or narrower.
pub(super) fn sealed(rule: &Rule) -> String {
    let mut text = rule.matcher.text.clone();
    if let Scope::Repository(folder) = &rule.scope {
        text.push_str(&format!(" in {}", folder.display()));
    }
    if let Some(moment) = rule.expires {
        text.push_str(&format!(" until {moment}"));
    }
    text
}

impl Trusted {
    /// Reads the text. No text trusts nothing.
    ///
    /// # Errors
    /// When it is not of the form that [`Trusted::with`] writes.
    pub fn parse(text: &str) -> Result<Self, TrustError> {
        let document = document(text)?;
        let mut folders = Vec::new();
        for table in entries(&document)?.into_iter().flatten() {
            folders.push(Offer {
                folder: folder_of(table)?,
                rules: texts(table, "rules")?,
                directories: texts(table, "directories")?,
                programs: texts(table, "programs")?,
            });
        }
        Ok(Self { folders })
    }

    /// Whether anything of this real path was trusted.
    pub fn knows(&self, folder: &Path) -> bool {
        self.of(folder).is_some()
    }

    pub(super) fn has_rule(&self, folder: &Path, rule: &Rule) -> bool {
        self.of(folder)
            .is_some_and(|known| known.rules.contains(&sealed(rule)))
    }

    pub(super) fn has_directory(&self, folder: &Path, directory: &Path) -> bool {
        self.of(folder)
            .is_some_and(|known| known.directories.contains(&*directory.to_string_lossy()))
    }

    pub(super) fn has_program(&self, folder: &Path, program: &str) -> bool {
        self.of(folder)
            .is_some_and(|known| known.programs.contains(program))
    }

    fn of(&self, folder: &Path) -> Option<&Offer> {
        self.folders.iter().find(|known| known.folder == folder)
    }

    /// The text with this folder trusted, with exactly these rules; everything else as it stands.
    ///
    /// # Errors
    /// When `text` is not of this form.
    pub fn with(text: &str, offer: &Offer, now: Timestamp) -> Result<String, TrustError> {
        let mut document = without(text, &offer.folder)?;
        let mut table = Table::new();
        table["path"] = value(offer.folder.to_string_lossy().into_owned());
        table["since"] = value(moment(now)?);
        table["rules"] = value(offer.rules.iter().collect::<Array>());
        if !offer.directories.is_empty() {
            table["directories"] = value(offer.directories.iter().collect::<Array>());
        }
        if !offer.programs.is_empty() {
            table["programs"] = value(offer.programs.iter().collect::<Array>());
        }
        let list = document
            .entry("folder")
            .or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
        if let Some(list) = list.as_array_of_tables_mut() {
            list.push(table);
        }
        let text = document.to_string();
        Ok(match text.starts_with('#') {
            true => text,
            false => format!("{HEAD}\n{}", text.trim_start()),
        })
    }

    /// The text with this folder trusted no longer.
    ///
    /// # Errors
    /// When `text` is not of this form.
    pub fn without(text: &str, folder: &Path) -> Result<String, TrustError> {
        without(text, folder).map(|document| document.to_string())
    }
}

fn error(reason: impl Into<String>) -> TrustError {
    TrustError {
        reason: reason.into(),
    }
}

fn document(text: &str) -> Result<DocumentMut, TrustError> {
    text.parse().map_err(|wrong: toml_edit::TomlError| {
        error(format!("this is no TOML ({})", wrong.message()))
    })
}

fn entries(document: &DocumentMut) -> Result<Option<&ArrayOfTables>, TrustError> {
    match document.get("folder") {
        None => Ok(None),
        Some(item) => item
            .as_array_of_tables()
            .map(Some)
            .ok_or_else(|| error("`folder` is no [[folder]]")),
    }
}

fn without(text: &str, folder: &Path) -> Result<DocumentMut, TrustError> {
    let mut document = document(text)?;
    entries(&document)?;
    if let Some(list) = document
        .get_mut("folder")
        .and_then(Item::as_array_of_tables_mut)
    {
        list.retain(|table| folder_of(table).is_ok_and(|known| known != folder));
    }
    Ok(document)
}

fn folder_of(table: &Table) -> Result<PathBuf, TrustError> {
    let path = table.get("path").and_then(Item::as_str).map(PathBuf::from);
    path.filter(|path| path.is_absolute())
        .ok_or_else(|| error("a [[folder]] has no whole `path`"))
}

fn texts(table: &Table, key: &str) -> Result<BTreeSet<String>, TrustError> {
    let Some(item) = table.get(key) else {
        return Ok(BTreeSet::new());
    };
    let list = item
        .as_array()
        .ok_or_else(|| error(format!("`{key}` is no list")))?;
    let texts = list.iter().map(|item| item.as_str().map(str::to_owned));
    texts
        .collect::<Option<_>>()
        .ok_or_else(|| error(format!("`{key}` is no list of texts")))
}

/// A moment as TOML writes it, to the second.
pub(super) fn moment(now: Timestamp) -> Result<Datetime, TrustError> {
    let whole = Timestamp::from_second(now.as_second()).unwrap_or(now);
    whole
        .to_string()
        .parse()
        .map_err(|_| error("the clock shows no moment that can be written"))
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use crate::rule::{Effect, Origin};

    fn now() -> Timestamp {
        "2026-11-15T10:00:00.5Z".parse().unwrap()
    }

    fn offer(folder: &str, rules: &[&str]) -> Offer {
        Offer {
            folder: folder.into(),
            rules: rules.iter().map(|rule| (*rule).to_owned()).collect(),
            directories: BTreeSet::new(),
            programs: BTreeSet::new(),
        }
    }

    fn rule(text: &str) -> Rule {
        Rule::parse(Effect::Allow, text, Path::new("/a"), Origin::CommandLine).unwrap()
    }

    #[test]
    fn a_folder_is_trusted_with_the_rules_it_had() {
        let text = Trusted::with("", &offer("/a", &["Bash(make:*)"]), now()).unwrap();
        assert_eq!(
            text,
            format!(
                "{HEAD}\n[[folder]]\npath = \"/a\"\nsince = 2026-11-15T10:00:00Z\nrules = [\"Bash(make:*)\"]\n"
            )
        );
        let trusted = Trusted::parse(&text).unwrap();
        assert!(trusted.has_rule(Path::new("/a"), &rule("Bash(make:*)")));
        assert!(
            !trusted.has_rule(Path::new("/a"), &rule("Bash(rm:*)")),
            "added later"
        );
        assert!(
            !trusted.has_rule(Path::new("/a/b"), &rule("Bash(make:*)")),
            "another folder"
        );
        assert!(!trusted.has_rule(Path::new("/"), &rule("Bash(make:*)")));
    }

    #[test]
    fn a_rule_that_lost_its_end_is_another_rule() {
        let ending = Rule {
            expires: Some(now()),
            ..rule("Bash(make:*)")
        };
        let text = Trusted::with("", &offer("/a", &[&sealed(&ending)]), now()).unwrap();
        let trusted = Trusted::parse(&text).unwrap();
        assert!(trusted.has_rule(Path::new("/a"), &ending));
        assert!(!trusted.has_rule(Path::new("/a"), &rule("Bash(make:*)")));
    }

    #[test]
    fn trusting_again_replaces_what_was_trusted_and_keeps_the_rest() {
        let first = "# mine\n[[folder]]\npath = \"/b\" # the other\nrules = []\n";
        let text = Trusted::with(first, &offer("/a", &["Read"]), now()).unwrap();
        let text = Trusted::with(&text, &offer("/a", &["Edit"]), now()).unwrap();
        assert!(text.starts_with(first), "{text}");
        assert_eq!(text.matches("\"/a\"").count(), 1, "{text}");
        assert!(text.contains("Edit") && !text.contains("Read"), "{text}");
        let gone = Trusted::without(&text, Path::new("/a")).unwrap();
        assert!(!Trusted::parse(&gone).unwrap().knows(Path::new("/a")));
        assert!(Trusted::parse(&gone).unwrap().knows(Path::new("/b")));
    }

    #[test]
    fn a_broken_text_trusts_nothing_and_is_not_written_over() {
        for text in [
            "[[folder]",
            "folder = 3",
            "[[folder]]\n",
            "[[folder]]\npath = \"a\"",
            "[[folder]]\npath = \"/a\"\nrules = [1]",
        ] {
            assert!(Trusted::parse(text).is_err(), "{text}");
        }
        assert!(Trusted::with("[[folder]", &offer("/a", &[]), now()).is_err());
    }
}
