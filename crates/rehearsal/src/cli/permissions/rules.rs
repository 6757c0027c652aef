//! All rules of a session, by source.
//!
//! Owns who said what and finds the rule that means a call. Invariant: what an untrusted project allows is kept, so that
//! trust can come later, but never found.

use std::path::Path;

use ignore::gitignore::GitignoreBuilder;
use serde_json::{Value, json};

use super::calls::Touch;
use super::places::Places;
use super::rule::{Behavior, Rule};
use crate::cli::source::Source;

#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    source: Source,
    behavior: Behavior,
    rule: Rule,
}

/// The rules of a session.
#[derive(Debug, Default)]
pub(super) struct Rules {
    entries: Vec<Entry>,
    pub(super) trusted: bool,
}

impl Rules {
    /// No rules, in a folder that is trusted or not.
    pub(super) fn new(trusted: bool) -> Self {
        Rules {
            trusted,
            ..Rules::default()
        }
    }

    /// Adds a rule, unless this source has it.
    pub(super) fn add(&mut self, source: Source, behavior: Behavior, rule: Rule) {
        let entry = Entry {
            source,
            behavior,
            rule,
        };
        if !self.entries.contains(&entry) {
            self.entries.push(entry);
        }
    }

    /// Takes a rule of a source away.
    pub(super) fn remove(&mut self, source: Source, behavior: Behavior, rule: &Rule) {
        self.entries.retain(|entry| {
            (entry.source, entry.behavior, &entry.rule) != (source, behavior, rule)
        });
    }

    /// Takes away all rules of a source with this behaviour.
    pub(super) fn clear(&mut self, source: Source, behavior: Behavior) {
        self.entries
            .retain(|entry| (entry.source, entry.behavior) != (source, behavior));
    }

    /// Reads `permissions.{allow,deny,ask}` of a source in place of what it said before.
    pub(super) fn replace(&mut self, source: Source, settings: &Value) {
        for (name, behavior) in Behavior::ALL {
            self.clear(source, behavior);
            let texts = settings["permissions"][name].as_array();
            let texts = texts.into_iter().flatten();
            for rule in texts.filter_map(|text| Rule::parse(text.as_str()?)) {
                self.add(source, behavior, rule);
            }
        }
    }

    /// The rules that hold, as `list_permission_rules` lists them.
    pub(super) fn listed(&self) -> Vec<Value> {
        let mut rows = Vec::new();
        for (name, behavior) in Behavior::ALL {
            for (source_name, source) in Source::ALL {
                let of_source = self.holding(behavior).filter(|e| e.source == source);
                rows.extend(of_source.map(|entry| {
                    let mut row = json!({
                        "behavior": name,
                        "source": source_name,
                        "rule": entry.rule.text(),
                        "editability": match source {
                            Source::User | Source::Project | Source::Local => "persistent",
                            Source::Flag | Source::Policy => "readonly",
                            Source::CliArg | Source::Session => "session",
                        },
                    });
                    if let Some(description) = entry.rule.description() {
                        row["description"] = description;
                    }
                    row
                }));
            }
        }
        rows
    }

    fn holding(&self, behavior: Behavior) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(move |entry| {
            let withheld =
                entry.source == Source::Project && behavior == Behavior::Allow && !self.trusted;
            entry.behavior == behavior && !withheld
        })
    }

    /// Finds a rule for all calls of a tool.
    pub(super) fn whole(&self, behavior: Behavior, tool: &str) -> Option<Source> {
        let means = |rule: &Rule| {
            let server = rule.tool.strip_suffix("__*").unwrap_or(&rule.tool);
            let is_server = server.starts_with("mcp__") && server.matches("__").count() == 1;
            let rest = tool.strip_prefix(server).filter(|_| is_server);
            rule.tool == tool || rest.is_some_and(|rest| rest.starts_with("__"))
        };
        self.holding(behavior)
            .find(|entry| entry.rule.content.is_none() && means(&entry.rule))
            .map(|entry| entry.source)
    }

    /// Finds a rule that means this command.
    pub(super) fn command(&self, behavior: Behavior, command: &str) -> Option<Source> {
        self.fitting(behavior, "Bash", |content| means_command(content, command))
    }

    /// Finds a rule of this tool whose content fits.
    pub(super) fn fitting(
        &self,
        behavior: Behavior,
        tool: &str,
        fits: impl Fn(&str) -> bool,
    ) -> Option<Source> {
        self.holding(behavior)
            .filter(|entry| entry.rule.tool == tool)
            .find(|entry| entry.rule.content.as_deref().is_some_and(&fits))
            .map(|entry| entry.source)
    }

    /// Finds a rule that means this path.
    pub(super) fn path(
        &self,
        places: &Places,
        behavior: Behavior,
        touch: Touch,
        path: &Path,
    ) -> Option<Source> {
        let tools: &[&str] = match (touch, behavior) {
            (Touch::Write, _) => &["Edit", "Write"],
            // Who may write may read.
            (Touch::Read, Behavior::Allow) => &["Read", "Edit"],
            (Touch::Read, _) => &["Read"],
        };
        self.holding(behavior)
            .filter(|entry| tools.contains(&entry.rule.tool.as_str()))
            .find(|entry| {
                let content = entry.rule.content.as_deref();
                content.is_some_and(|content| means_path(places, entry.source, content, path))
            })
            .map(|entry| entry.source)
    }
}

/// Whether a rule's content means a command: `prefix:*`, or the whole with `*` for anything.
fn means_command(content: &str, command: &str) -> bool {
    let starts = |prefix: &str| {
        let rest = command.strip_prefix(prefix);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    let plain = |prefix: &&str| !prefix.contains('*');
    if let Some(prefix) = content.strip_suffix(":*") {
        return starts(prefix);
    }
    if let Some(prefix) = content.strip_suffix(" *").filter(plain) {
        return starts(prefix);
    }
    let pattern = regex::escape(content).replace(r"\*", "(?s:.*)");
    regex::Regex::new(&format!("^{pattern}$")).is_ok_and(|pattern| pattern.is_match(command))
}

/// Whether a path is meant by a pattern as in a gitignore file, itself or by one of its parents.
fn means_path(places: &Places, source: Source, pattern: &str, path: &Path) -> bool {
    let (base, pattern) = match (pattern.strip_prefix("//"), pattern.strip_prefix("~/")) {
        (Some(rest), _) => (Path::new("/"), format!("/{rest}")),
        (_, Some(rest)) => (places.home.as_path(), format!("/{rest}")),
        _ if pattern.starts_with('/') && source == Source::User => {
            (places.config_dir.as_path(), pattern.to_owned())
        }
        _ => (places.root.as_path(), pattern.to_owned()),
    };
    let Ok(rest) = path.strip_prefix(base) else {
        return false;
    };
    let pattern = pattern.trim_start_matches("./");
    let pattern = match pattern.strip_suffix("/**") {
        Some("") => return true,
        Some(folder) => format!("/{}", folder.trim_start_matches('/')),
        None => pattern.to_owned(),
    };
    let mut builder = GitignoreBuilder::new("");
    let added = builder.add_line(None, &pattern).is_ok();
    let matches = |ignore: ignore::gitignore::Gitignore| {
        let found = ignore.matched_path_or_any_parents(rest, false);
        found.is_ignore()
    };
    added && builder.build().is_ok_and(matches)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_ends_at_a_word_and_a_star_stands_for_anything() {
        for (content, command, expected) in [
            ("git push:*", "git push", true),
            ("git push:*", "git push origin", true),
            ("git push:*", "git pushx", false),
            ("npm run *", "npm run", true),
            ("npm run *", "npm runs", false),
            ("npm run test*", "npm run test:unit", true),
            ("git * push", "git a push", true),
            ("git * push", "git push", false),
            ("a(b", "a(b", true),
        ] {
            let found = means_command(content, command);
            assert_eq!(found, expected, "{content} on {command}");
        }
    }

    #[test]
    fn a_path_pattern_means_a_folder_with_all_in_it() {
        let places = Places {
            root: "/p".into(),
            home: "/h".into(),
            config_dir: "/h/.claude".into(),
            plan_file: None,
        };
        for (pattern, path, expected) in [
            ("src/**", "/p/src/a/b.rs", true),
            ("src/**", "/p/src", true),
            ("src/**", "/p/lib/src/a", false),
            ("notes.txt", "/p/sub/notes.txt", true),
            ("*.rs", "/p/src/a.rs", true),
            ("/src", "/p/lib/src", false),
            ("src/*.rs", "/p/src/b/a.rs", false),
            ("**/test/**", "/p/a/b/test/c", true),
            ("[!a-c].txt", "/p/b.txt", false),
            ("//etc/**", "/etc/passwd", true),
            ("~/q/**", "/h/q/1", true),
            ("/x", "/p/x", true),
        ] {
            let found = means_path(&places, Source::Session, pattern, Path::new(path));
            assert_eq!(found, expected, "{pattern} on {path}");
        }
    }
}
