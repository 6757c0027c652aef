//! Rules from a settings file of Claude Code: `permissions.allow`, `ask` and `deny`.
//!
//! Owns this reading, with the line of each rule. Everything else in the file is another's and is left alone.
//! Invariant: a name that stands twice, or a list that is none, is a problem and never a rule less.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::{MapAccess, Visitor};
use serde_json::value::RawValue;

use super::problem::Source;
use super::{Problem, Read, programs};
use crate::rule::{Effect, FileKind, Origin, Rule};

/// Reads a settings file. Paths that start with one `/` start from `base`.
pub fn settings(text: &str, path: &Path, kind: FileKind, base: &Path) -> Read {
    // Some editors begin a file with a mark that is no part of the text.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = Reader {
        source: Source { text, file: path },
        kind,
        base,
        read: Read::default(),
    };
    // An empty file is what an editor leaves behind, not a mistake.
    if !text.trim().is_empty() {
        reader.file();
    }
    reader.read
}

struct Reader<'a> {
    source: Source<'a>,
    kind: FileKind,
    base: &'a Path,
    read: Read,
}

impl<'a> Reader<'a> {
    fn file(&mut self) {
        let members = match serde_json::from_str::<Members<'a>>(self.source.text) {
            Ok(members) => members.0,
            Err(error) => {
                let mut at = self.source.whole();
                if error.line() > 0 {
                    (at.line, at.column) = (Some(error.line()), Some(error.column()));
                }
                self.read.problems.push(Problem {
                    at,
                    what: format!("this is no JSON object ({error})"),
                    fix: "mend it, or delete the file; until then nothing it forbids is known"
                        .to_owned(),
                    stops: true,
                    is_example: false,
                });
                return;
            }
        };
        if self.kind.is_of_repository() {
            let members = members
                .iter()
                .map(|(name, value)| (name.as_ref(), value.get()));
            self.read.programs = programs::of_settings(members);
        }
        let Some(permissions) = self.only(&members, "permissions", true) else {
            return;
        };
        if permissions.get() == "null" {
            return;
        }
        match serde_json::from_str::<Members<'a>>(permissions.get()) {
            Ok(members) => self.permissions(&members.0),
            Err(_) => self.problem(
                permissions,
                "`permissions` is no object".to_owned(),
                "write { \"allow\": […], \"ask\": […], \"deny\": […] }",
                true,
            ),
        }
    }

    fn permissions(&mut self, members: &[Member<'a>]) {
        for (name, effect) in [
            ("deny", Effect::Deny),
            ("ask", Effect::Ask),
            ("allow", Effect::Allow),
        ] {
            let stops = effect != Effect::Allow;
            if let Some(list) = self.only(members, name, stops) {
                for (item, text) in self.texts(list, name, "rules", stops) {
                    self.rule(effect, item, &text);
                }
            }
        }
        if let Some(list) = self.only(members, "additionalDirectories", false) {
            let found = self.texts(list, "additionalDirectories", "folders", false);
            let folders = found.into_iter().map(|(_, text)| PathBuf::from(text));
            self.read.add_dirs = folders.collect();
        }
        if let Some(mode) = self.only(members, "defaultMode", false) {
            self.read.default_mode = serde_json::from_str(mode.get()).ok();
        }
        let known = ["deny", "ask", "allow", "additionalDirectories"];
        let lists = members.iter().filter(|(name, value)| {
            value.get().starts_with('[') && !known.contains(&name.as_str())
        });
        for (name, value) in lists {
            self.problem(
                value,
                format!("Claude Code knows no list `{name}` here, so it does nothing"),
                "rules stand under `allow`, `ask` or `deny`",
                false,
            );
        }
    }

    fn rule(&mut self, effect: Effect, item: &RawValue, text: &str) {
        let at = self.source.at(self.offset(item));
        let origin = Origin::File {
            path: self.source.file.to_owned(),
            line: at.line,
            kind: self.kind,
        };
        match Rule::parse(effect, text, self.base, origin) {
            Ok(rule) => self.read.rules.push(rule),
            Err(error) => self.read.problems.push(Problem {
                at,
                what: format!("`{text}` is no rule"),
                fix: error.reason,
                stops: effect != Effect::Allow,
                is_example: false,
            }),
        }
    }

    /// The member of this name; a problem where there are two, since one of them would be lost.
    fn only(&mut self, members: &[Member<'a>], name: &str, stops: bool) -> Option<&'a RawValue> {
        let mut found = members.iter().filter(|(known, _)| known == name);
        let first = found.next()?.1;
        if let Some((_, second)) = found.next() {
            self.problem(
                second,
                format!("`{name}` stands here twice, and only one of them counts"),
                "make one of the two",
                stops,
            );
        }
        Some(first)
    }

    fn texts(
        &mut self,
        list: &'a RawValue,
        name: &str,
        of: &str,
        stops: bool,
    ) -> Vec<(&'a RawValue, String)> {
        let Ok(items) = serde_json::from_str::<Vec<&'a RawValue>>(list.get()) else {
            self.problem(
                list,
                format!("`{name}` is no list"),
                &format!("write a list of {of}: [\"…\"]"),
                stops,
            );
            return Vec::new();
        };
        let mut texts = Vec::with_capacity(items.len());
        for item in items {
            match serde_json::from_str::<String>(item.get()) {
                Ok(text) => texts.push((item, text)),
                Err(_) => self.problem(
                    item,
                    format!("an entry of `{name}` is no text"),
                    "write it in double quotes",
                    stops,
                ),
            }
        }
        texts
    }

    fn problem(&mut self, value: &RawValue, what: String, fix: &str, stops: bool) {
        let at = self.source.at(self.offset(value));
        let fix = fix.to_owned();
        self.read.problems.push(Problem {
            at,
            what,
            fix,
            stops,
            is_example: false,
        });
    }

    /// Where a value stands: it is a piece of the text.
    fn offset(&self, value: &RawValue) -> usize {
        let start = self.source.text.as_ptr() as usize;
        (value.get().as_ptr() as usize).saturating_sub(start)
    }
}

type Member<'a> = (String, &'a RawValue);

/// An object as it is written: nothing is lost where a name stands twice.
struct Members<'a>(Vec<Member<'a>>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Vec<Member<'de>>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(members)
            }
        }
        deserializer.deserialize_map(Object).map(Members)
    }
}
