//! Adds rules to the person's own `countersign.toml`.
//!
//! Owns what such an entry looks like. Pure: text in, text out; comments and order of what stands there are kept.
//! Invariant: a text that cannot be read is not added to, and the result reads back as the rules that were given.

use std::path::Path;

use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, value};

use super::trust::moment;
use crate::rule::{FileKind, Rule, Scope};

/// Why a rule cannot be remembered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RememberError {
    /// What stands in the file cannot be read.
    #[error("this is no TOML ({0}): mend the file, then say it again")]
    Broken(String),
    /// `rule` is there and is something else.
    #[error("`rule` is no [[rule]] there: write rules in double brackets, then say it again")]
    NoList,
    /// The rule would not come back as it is.
    #[error("`{0}` cannot be written so that it means the same: add it by hand")]
    Unwritable(String),
}

/// The text with these rules added, as far as it does not have them. Rules of a session are not for a file and are
/// left out.
///
/// # Errors
/// When the text cannot be read, or a rule cannot be written.
pub fn remember(text: &str, rules: &[Rule]) -> Result<String, RememberError> {
    let mut document: DocumentMut = text
        .parse()
        .map_err(|error: toml_edit::TomlError| RememberError::Broken(error.message().to_owned()))?;
    let mut known = rules_of(text);
    let mut added: Vec<&Rule> = Vec::new();
    let list = document
        .entry("rule")
        .or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
    let list = list.as_array_of_tables_mut().ok_or(RememberError::NoList)?;
    for rule in rules.iter().filter(|rule| rule.scope != Scope::Session) {
        if !known.iter().any(|known| says_as_much(known, rule)) {
            list.push(entry(rule)?);
            known.push(rule.clone());
            added.push(rule);
        }
    }
    if added.is_empty() {
        return Ok(text.to_owned());
    }
    let new = document.to_string();
    let read = rules_of(&new);
    match added
        .iter()
        .find(|rule| !read.iter().any(|read| is_same(read, rule)))
    {
        Some(lost) => Err(RememberError::Unwritable(lost.matcher.text.clone())),
        None => Ok(new),
    }
}

fn rules_of(text: &str) -> Vec<Rule> {
    super::toml(
        text,
        Path::new(super::RULES_FILE),
        FileKind::Own,
        Path::new("/"),
    )
    .rules
}

fn is_same(read: &Rule, rule: &Rule) -> bool {
    let to_the_second = |rule: &Rule| rule.expires.map(|end| end.as_second());
    read.effect == rule.effect
        && read.matcher.text == rule.matcher.text
        && read.scope == rule.scope
        && read.note == rule.note
        && to_the_second(read) == to_the_second(rule)
}

/// Whether a rule that is there makes the new one needless.
fn says_as_much(known: &Rule, new: &Rule) -> bool {
    let lasts = match (known.expires, new.expires) {
        (None, _) => true,
        (Some(known), Some(new)) => known >= new,
        (Some(_), None) => false,
    };
    let same = known.effect == new.effect && known.matcher.text == new.matcher.text;
    same && lasts && (known.scope == new.scope || known.scope == Scope::Always)
}

fn entry(rule: &Rule) -> Result<Table, RememberError> {
    let unwritable = || RememberError::Unwritable(rule.matcher.text.clone());
    let mut table = Table::new();
    table[&rule.effect.to_string()] = value(&rule.matcher.text);
    if let Some(note) = &rule.note {
        table["note"] = value(note);
    }
    if let Scope::Repository(folder) = &rule.scope {
        table["repository"] = value(folder.to_str().ok_or_else(unwritable)?);
    }
    if let Some(expires) = rule.expires {
        table["expires"] = value(moment(expires).map_err(|_| unwritable())?);
    }
    Ok(table)
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use crate::rule::{Effect, Origin};

    fn rule(effect: Effect, text: &str) -> Rule {
        Rule::parse(effect, text, Path::new("/"), Origin::Session).unwrap()
    }

    #[test]
    fn a_rule_is_added_below_what_stands_there() {
        let text =
            "# mine\nprofile = \"edits\"   # for now\n\n[[rule]]\nallow = \"Bash(git log:*)\"\n";
        let new = Rule {
            scope: Scope::Repository("/src/it".into()),
            expires: Some("2026-12-01T00:00:00Z".parse().unwrap()),
            note: Some("said \"always\"".to_owned()),
            ..rule(Effect::Deny, "Bash(rm:*)")
        };
        let added = remember(text, std::slice::from_ref(&new)).unwrap();
        assert_eq!(
            added,
            format!(
                "{text}\n[[rule]]\ndeny = \"Bash(rm:*)\"\nnote = 'said \"always\"'\nrepository = \"/src/it\"\nexpires = 2026-12-01T00:00:00Z\n"
            )
        );
        let read = crate::source::toml(&added, Path::new("f"), FileKind::Own, Path::new("/"));
        assert_eq!(read.problems, []);
        let back = Rule {
            origin: Origin::Session,
            ..read.rules[1].clone()
        };
        assert_eq!(back.scope, new.scope);
        assert_eq!(
            (back.effect, back.expires, back.note),
            (new.effect, new.expires, new.note)
        );
    }

    #[test]
    fn what_is_there_is_not_added_twice() {
        let allow = rule(Effect::Allow, "Bash(make:*)");
        let once = remember("", &[allow.clone(), allow.clone()]).unwrap();
        assert_eq!(once, "[[rule]]\nallow = \"Bash(make:*)\"\n");
        assert_eq!(remember(&once, std::slice::from_ref(&allow)).unwrap(), once);
        let narrower = Rule {
            scope: Scope::Repository("/a".into()),
            ..allow.clone()
        };
        assert_eq!(remember(&once, &[narrower]).unwrap(), once);
        let denied = rule(Effect::Deny, "Bash(make:*)");
        assert_ne!(remember(&once, &[denied]).unwrap(), once);
    }

    #[test]
    fn a_rule_that_ends_does_not_stand_for_one_that_lasts() {
        let ending = Rule {
            expires: Some("2026-12-01T00:00:00Z".parse().unwrap()),
            ..rule(Effect::Allow, "Read")
        };
        let text = remember("", &[ending]).unwrap();
        assert_ne!(
            remember(&text, &[rule(Effect::Allow, "Read")]).unwrap(),
            text
        );
    }

    #[test]
    fn what_holds_for_a_session_is_not_written() {
        let session = Rule {
            scope: Scope::Session,
            ..rule(Effect::Allow, "Read")
        };
        assert_eq!(
            remember("# nothing yet\n", &[session]).unwrap(),
            "# nothing yet\n"
        );
    }

    #[test]
    fn whatever_a_note_holds_comes_back() {
        let notes = [
            "",
            "two\nlines",
            "'''\"\"\"\\",
            "\u{7f}\u{1b}[0m",
            "# no comment",
            "é]]\n[[rule]]\nallow = \"Bash\"",
        ];
        for note in notes {
            let noted = Rule {
                note: Some(note.to_owned()),
                ..rule(Effect::Allow, "Bash(grep '\\(x\\)':*)")
            };
            let text = remember("# mine\n", std::slice::from_ref(&noted)).unwrap();
            let read = rules_of(&text);
            assert_eq!(read.len(), 1, "{text}");
            assert!(is_same(&read[0], &noted), "{text}");
        }
    }

    #[test]
    fn a_file_that_cannot_be_read_is_left_alone() {
        let allow = [rule(Effect::Allow, "Read")];
        assert!(matches!(
            remember("[[rule]", &allow),
            Err(RememberError::Broken(_))
        ));
        assert_eq!(remember("rule = 3\n", &allow), Err(RememberError::NoList));
    }
}
