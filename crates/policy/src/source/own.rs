//! Rules from a `countersign.toml`.
//!
//! Owns this format: `profile` and `[[rule]]` with its effect, note, repository, expiry and examples. Invariants: an
//! unknown word is a problem, since it may be a misspelt `deny`; an allow with a mistake in it allows nothing.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::Deserialize as _;
use serde_json::Value;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

use super::problem::Source;
use super::{At, Example, Examples, Problem, Read};
use crate::rule::{Effect, FileKind, Origin, Rule, Scope};

/// Reads a `countersign.toml`. Paths that start with one `/` start from `base`, or from the rule's own repository.
pub fn toml(text: &str, path: &Path, kind: FileKind, base: &Path) -> Read {
    let source = Source { text, file: path };
    let mut reader = Reader {
        source,
        kind,
        base,
        read: Read::default(),
    };
    match DeTable::parse(text) {
        Ok(table) => reader.file(table.get_ref()),
        Err(error) => reader.read.problems.push(Problem {
            at: error
                .span()
                .map_or(source.whole(), |span| source.at(span.start)),
            what: format!("this is no TOML ({})", error.message()),
            fix: "mend it, or delete the file; until then nothing it forbids is known".to_owned(),
            stops: true,
            is_example: false,
        }),
    }
    reader.read
}

const KEYS: &str = "`allow`, `ask` or `deny`, and `note`, `repository`, `expires`, `examples`";

type Spanning<'i> = Spanned<DeValue<'i>>;

struct Reader<'a> {
    source: Source<'a>,
    kind: FileKind,
    base: &'a Path,
    read: Read,
}

/// A mistake, before it is known whether it stops everything: what is wrong, what to write, and where.
struct Mistake {
    offset: usize,
    what: String,
    fix: String,
}

fn mistake(value: &Spanning<'_>, what: impl Into<String>, fix: impl Into<String>) -> Mistake {
    Mistake {
        offset: value.span().start,
        what: what.into(),
        fix: fix.into(),
    }
}

/// What an entry says beside its effect.
#[derive(Default)]
struct Details {
    note: Option<String>,
    repository: Option<PathBuf>,
    expires: Option<Timestamp>,
    examples: Vec<Example>,
}

impl Reader<'_> {
    fn file(&mut self, table: &DeTable<'_>) {
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "profile" => self.profile(value),
                "rule" => self.rules(value),
                other => self.problem(
                    Mistake {
                        offset: key.span().start,
                        what: format!("`{other}` means nothing here"),
                        fix: "write `profile = \"…\"` or `[[rule]]`".to_owned(),
                    },
                    true,
                ),
            }
        }
    }

    fn profile(&mut self, value: &Spanning<'_>) {
        let Some(name) = value.get_ref().as_str() else {
            let wrong = mistake(
                value,
                "the profile is no text",
                "write \"careful\" or \"edits\"",
            );
            return self.problem(wrong, false);
        };
        if self.kind.is_of_repository() {
            let fix = "set it in your own countersign.toml";
            let wrong = mistake(
                value,
                "a repository cannot choose the profile, so this does nothing",
                fix,
            );
            return self.problem(wrong, false);
        }
        match name.parse() {
            Ok(profile) => self.read.profile = Some(profile),
            // Without it the careful profile holds: nothing is lost.
            Err(error) => {
                let text: String = ToString::to_string(&error);
                let (what, fix) = text.split_once(": ").unwrap_or((&text, ""));
                self.problem(mistake(value, what, fix), false);
            }
        }
    }

    fn rules(&mut self, value: &Spanning<'_>) {
        let Some(entries) = value.get_ref().as_array() else {
            let wrong = mistake(
                value,
                "`rule` is no list of tables",
                "write [[rule]], in double brackets",
            );
            return self.problem(wrong, true);
        };
        for entry in entries.iter() {
            match entry.get_ref().as_table() {
                Some(table) => self.entry(entry, table),
                None => self.problem(
                    mistake(
                        entry,
                        "this is no rule",
                        "write [[rule]] and its keys below",
                    ),
                    true,
                ),
            }
        }
    }

    fn entry(&mut self, entry: &Spanning<'_>, table: &DeTable<'_>) {
        let effects = [
            ("allow", Effect::Allow),
            ("ask", Effect::Ask),
            ("deny", Effect::Deny),
        ];
        let found = effects
            .iter()
            .filter_map(|(name, effect)| Some((*effect, table.get(*name)?)));
        let found: Vec<(Effect, &Spanning<'_>)> = found.collect();
        let [(effect, texts)] = found[..] else {
            let what = match found.is_empty() {
                true => "this rule says nothing",
                false => "this rule says two things",
            };
            let place = found.first().map_or(entry, |(_, value)| value);
            return self.problem(
                mistake(place, what, "give it one of `allow`, `ask` and `deny`"),
                true,
            );
        };
        let mut mistakes = Vec::new();
        let details = self.details(table, &mut mistakes);
        let rules = self.parsed(effect, texts, &details, &mut mistakes);
        let stops = effect != Effect::Allow;
        // What forbids or asks is kept as far as it can be read; what allows must be right in all of its parts.
        if mistakes.is_empty() || stops {
            if !details.examples.is_empty() {
                self.read.examples.push(Examples {
                    rules: rules.clone(),
                    at: self.source.at(texts.span().start),
                    examples: details.examples,
                });
            }
            self.read.rules.extend(rules);
        }
        for mistake in mistakes {
            self.problem(mistake, stops);
        }
    }

    fn parsed(
        &self,
        effect: Effect,
        texts: &Spanning<'_>,
        details: &Details,
        mistakes: &mut Vec<Mistake>,
    ) -> Vec<Rule> {
        let base = details.repository.as_deref().unwrap_or(self.base);
        let several = texts
            .get_ref()
            .as_array()
            .map(|array| array.iter().collect());
        let mut rules = Vec::new();
        for item in several.unwrap_or_else(|| vec![texts]) {
            let Some(text) = item.get_ref().as_str() else {
                mistakes.push(mistake(
                    item,
                    "this is no text",
                    "write a rule in quotes, such as \"Bash(git log:*)\"",
                ));
                continue;
            };
            let origin = Origin::File {
                path: self.source.file.to_owned(),
                line: self.source.at(item.span().start).line,
                kind: self.kind,
            };
            match Rule::parse(effect, text, base, origin) {
                Ok(rule) => rules.push(Rule {
                    scope: match &details.repository {
                        Some(folder) => Scope::Repository(folder.clone()),
                        None => Scope::Always,
                    },
                    expires: details.expires,
                    note: details.note.clone(),
                    ..rule
                }),
                Err(error) => {
                    mistakes.push(mistake(item, format!("`{text}` is no rule"), error.reason))
                }
            }
        }
        if rules.is_empty() && mistakes.is_empty() {
            mistakes.push(mistake(
                texts,
                "this list of rules is empty",
                "write a rule, or take the entry out",
            ));
        }
        rules
    }

    fn details(&self, table: &DeTable<'_>, mistakes: &mut Vec<Mistake>) -> Details {
        let mut details = Details::default();
        for (key, value) in table {
            let read = match key.get_ref().as_ref() {
                "allow" | "ask" | "deny" => Ok(()),
                "note" => note(value).map(|note| details.note = Some(note)),
                "repository" => repository(value).map(|folder| details.repository = Some(folder)),
                "expires" => expires(value).map(|moment| details.expires = Some(moment)),
                "examples" => self
                    .examples(value)
                    .map(|examples| details.examples = examples),
                other => Err(Mistake {
                    offset: key.span().start,
                    what: format!("`{other}` means nothing in a rule"),
                    fix: format!("a rule has {KEYS}"),
                }),
            };
            mistakes.extend(read.err());
        }
        details
    }

    fn examples(&self, value: &Spanning<'_>) -> Result<Vec<Example>, Mistake> {
        let form = "write { match = [\"…\"], not_match = [\"…\"] }";
        let Some(table) = value.get_ref().as_table() else {
            return Err(mistake(value, "the examples are no table", form));
        };
        let mut examples = Vec::new();
        for (key, list) in table {
            let is_match = match key.get_ref().as_ref() {
                "match" => true,
                "not_match" => false,
                other => return Err(mistake(list, format!("`{other}` are no examples"), form)),
            };
            let Some(items) = list.get_ref().as_array() else {
                return Err(mistake(list, "the examples are no list", form));
            };
            for item in items.iter() {
                let at: At = self.source.at(item.span().start);
                let input = json(item).filter(|value| value.is_string() || value.is_object());
                let input = input.ok_or_else(|| {
                    mistake(
                        item,
                        "this is no example",
                        "write a text, or a table with the tool's whole input",
                    )
                })?;
                examples.push(Example {
                    input,
                    is_match,
                    at,
                });
            }
        }
        Ok(examples)
    }

    fn problem(&mut self, mistake: Mistake, stops: bool) {
        self.read.problems.push(Problem {
            at: self.source.at(mistake.offset),
            what: mistake.what,
            fix: mistake.fix,
            stops,
            is_example: false,
        });
    }
}

fn note(value: &Spanning<'_>) -> Result<String, Mistake> {
    let text = value.get_ref().as_str();
    text.map(str::to_owned)
        .ok_or_else(|| mistake(value, "the note is no text", "write it in quotes"))
}

fn repository(value: &Spanning<'_>) -> Result<PathBuf, Mistake> {
    let path = value.get_ref().as_str().map(PathBuf::from);
    path.filter(|path| path.is_absolute()).ok_or_else(|| {
        let fix = "write the folder's whole path, such as \"/src/project\"";
        mistake(value, "the repository is no whole path", fix)
    })
}

fn expires(value: &Spanning<'_>) -> Result<Timestamp, Mistake> {
    let moment = match value.get_ref() {
        DeValue::Datetime(moment) => moment.to_string(),
        DeValue::String(text) => text.to_string(),
        _ => String::new(),
    };
    moment.parse().map_err(|_| {
        let fix = "write day, time and zone: expires = 2026-12-01T00:00:00Z";
        mistake(value, "this names no moment", fix)
    })
}

/// The value as JSON: examples are inputs of tools.
fn json(value: &Spanning<'_>) -> Option<Value> {
    Value::deserialize(ValueDeserializer::from(value.clone())).ok()
}
