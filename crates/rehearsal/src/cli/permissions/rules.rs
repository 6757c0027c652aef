//! All rules of a session, by source.
//!
//! Owns who said what and finds the rule that means a call. Invariant: what an untrusted project allows is kept, so that
//! trust can come later, but never found.

use std::path::Path;

use super::super::source::Source;
use super::glob::{path_matches, text_matches};
use super::paths::Places;
use super::rule::{Behavior, Rule};

/// A rule and who set it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) source: Source,
    pub(super) behavior: Behavior,
    pub(super) rule: Rule,
}

/// The rules of a session.
#[derive(Debug, Default)]
pub(super) struct Rules {
    entries: Vec<Entry>,
    pub(super) trusted: bool,
    /// Rules that would let anything run do not hold: a classifier is meant to look first.
    pub(super) wary: bool,
}

/// Commands that run whatever they are given.
const RUNNERS: [&str; 28] = [
    "python", "python2", "python3", "node", "deno", "tsx", "ruby", "perl", "php", "lua", "bash",
    "sh", "zsh", "fish", "eval", "exec", "env", "sudo", "ssh", "npx", "bunx", "xargs", "nohup",
    "nice", "source", "watch", "time", "command",
];

/// Which path rules mean a path: those for reading, or those for writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Touch {
    Read,
    Write,
}

impl Rules {
    /// No rules, in a folder that is trusted or not.
    pub(super) fn new(trusted: bool) -> Self {
        Rules {
            entries: Vec::new(),
            trusted,
            wary: false,
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
    pub(super) fn replace(&mut self, source: Source, settings: &serde_json::Value) {
        for (name, behavior) in Behavior::ALL {
            self.clear(source, behavior);
            let texts = settings["permissions"][name]
                .as_array()
                .into_iter()
                .flatten();
            for rule in texts.filter_map(|text| Rule::parse(text.as_str()?)) {
                self.add(source, behavior, rule);
            }
        }
    }

    /// The rules that hold, in the order they are listed.
    pub(super) fn listed(&self) -> impl Iterator<Item = &Entry> {
        Behavior::ALL.into_iter().flat_map(move |(_, behavior)| {
            Source::ALL.into_iter().flat_map(move |(_, source)| {
                self.holding(behavior)
                    .filter(move |entry| entry.source == source)
            })
        })
    }

    fn holding(&self, behavior: Behavior) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(move |entry| {
            let withheld =
                entry.source == Source::Project && behavior == Behavior::Allow && !self.trusted;
            entry.behavior == behavior && !withheld
        })
    }

    /// The rules that decide: those that hold, without the risky ones where these do not count.
    fn deciding(&self, behavior: Behavior) -> impl Iterator<Item = &Entry> {
        let wary = self.wary && behavior == Behavior::Allow;
        self.holding(behavior)
            .filter(move |entry| !(wary && is_risky(&entry.rule)))
    }

    /// The rule for all calls of a tool.
    pub(super) fn whole(&self, behavior: Behavior, tool: &str) -> Option<&Entry> {
        self.deciding(behavior).find(|entry| {
            let wanted = entry.rule.tool.as_str();
            entry.rule.content.is_none() && (wanted == tool || means_server(wanted, tool))
        })
    }

    /// The rule that is this very command.
    pub(super) fn exact(&self, behavior: Behavior, command: &str) -> Option<&Entry> {
        self.contents(behavior, "Bash")
            .find(|(_, content)| *content == command || content.strip_suffix(":*") == Some(command))
            .map(|(entry, _)| entry)
    }

    /// The rule that means one of these forms of a command.
    pub(super) fn command(&self, behavior: Behavior, forms: &[String]) -> Option<&Entry> {
        let means = |content: &str, form: &String| match content.strip_suffix(":*") {
            Some(prefix) => {
                let rest = form.strip_prefix(prefix);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
            }
            None => text_matches(content, form),
        };
        self.contents(behavior, "Bash")
            .find(|(_, content)| forms.iter().any(|form| means(content, form)))
            .map(|(entry, _)| entry)
    }

    /// The rule of this tool whose content fits.
    pub(super) fn fitting(
        &self,
        behavior: Behavior,
        tool: &str,
        fits: impl Fn(&str) -> bool,
    ) -> Option<&Entry> {
        self.contents(behavior, tool)
            .find(|(_, content)| fits(content))
            .map(|(entry, _)| entry)
    }

    /// The rule that means this path.
    pub(super) fn path(
        &self,
        places: &Places,
        behavior: Behavior,
        touch: Touch,
        path: &Path,
    ) -> Option<&Entry> {
        let tools: &[&str] = match (touch, behavior) {
            (Touch::Write, _) => &["Edit", "Write", "NotebookEdit"],
            // Who may write may read.
            (Touch::Read, Behavior::Allow) => &["Read", "Edit", "Glob", "Grep"],
            (Touch::Read, _) => &["Read", "Glob", "Grep"],
        };
        tools.iter().find_map(|tool| {
            self.contents(behavior, tool)
                .find(|(entry, content)| means_path(places, entry, content, path))
                .map(|(entry, _)| entry)
        })
    }

    fn contents<'a, 't>(
        &'a self,
        behavior: Behavior,
        tool: &'t str,
    ) -> impl Iterator<Item = (&'a Entry, &'a str)> + use<'a, 't> {
        self.deciding(behavior)
            .filter(move |entry| entry.rule.tool == tool)
            .filter_map(|entry| Some((entry, entry.rule.content.as_deref()?)))
    }
}

/// `mcp__srv` and `mcp__srv__*` mean every tool of the server.
fn means_server(wanted: &str, tool: &str) -> bool {
    let Some(server) = wanted.strip_prefix("mcp__") else {
        return false;
    };
    let server = server.strip_suffix("__*").unwrap_or(server);
    tool.strip_prefix("mcp__")
        .and_then(|tool| tool.strip_prefix(server))
        .is_some_and(|rest| !server.contains("__") && rest.starts_with("__"))
}

/// Whether a rule would let anything run: all commands, all agents, or all that an interpreter can do.
fn is_risky(rule: &Rule) -> bool {
    match (rule.tool.as_str(), &rule.content) {
        ("Bash" | "Agent", None) | ("Agent", Some(_)) => true,
        ("Bash", Some(content)) => {
            let open = content
                .strip_suffix(":*")
                .or_else(|| content.strip_suffix('*'));
            let mut words = open.unwrap_or("").split_whitespace();
            let runner = words.next().is_some_and(|name| RUNNERS.contains(&name));
            runner && words.next().is_none_or(|next| next.starts_with('-'))
        }
        _ => false,
    }
}

fn means_path(places: &Places, entry: &Entry, pattern: &str, path: &Path) -> bool {
    let below = |base: &Path, pattern: &str| {
        path.strip_prefix(base)
            .is_ok_and(|rest| path_matches(pattern, &rest.to_string_lossy().replace('\\', "/")))
    };
    if let Some(absolute) = pattern.strip_prefix("//") {
        return below(Path::new("/"), &format!("/{absolute}"));
    }
    if let Some(rest) = pattern.strip_prefix("~/") {
        return below(&places.home, &format!("/{rest}"));
    }
    match (pattern.starts_with('/'), entry.source, entry.behavior) {
        (true, Source::User, _) => below(&places.config_dir, pattern),
        // Given on the command line, there is no file that a path could start from: nothing is allowed by it.
        (true, Source::Flag, Behavior::Allow) => false,
        _ => below(&places.root, pattern),
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::super::table::Ground;
    use super::*;

    fn rules(behavior: Behavior, texts: &[&str]) -> Rules {
        let mut rules = Rules::default();
        for text in texts {
            rules.add(Source::Session, behavior, Rule::parse(text).unwrap());
        }
        rules
    }

    #[test]
    fn a_prefix_ends_at_a_word() {
        let rules = rules(Behavior::Allow, &["Bash(git push:*)"]);
        let found = |text: &str| rules.command(Behavior::Allow, &[text.to_owned()]).is_some();
        assert!(found("git push") && found("git push origin"));
        assert!(!found("git pushx") && !found("git"));
    }

    #[test]
    fn a_server_rule_means_its_tools_and_no_other_servers() {
        for text in ["mcp__srv", "mcp__srv__*"] {
            let rules = rules(Behavior::Allow, &[text]);
            assert!(
                rules.whole(Behavior::Allow, "mcp__srv__add").is_some(),
                "{text}"
            );
            assert!(
                rules.whole(Behavior::Allow, "mcp__srv2__add").is_none(),
                "{text}"
            );
        }
    }

    #[test]
    fn what_an_untrusted_project_allows_does_not_hold_and_what_it_denies_does() {
        let mut rules = Rules::default();
        let settings =
            serde_json::json!({"permissions": {"allow": ["Bash(a)"], "deny": ["Bash(b)"]}});
        rules.replace(Source::Project, &settings);
        assert!(rules.exact(Behavior::Allow, "a").is_none());
        assert!(rules.exact(Behavior::Deny, "b").is_some());
        rules.trusted = true;
        assert!(rules.exact(Behavior::Allow, "a").is_some());
    }

    #[test]
    fn path_rules_start_at_the_disk_at_home_or_at_the_session() {
        let places = Ground::standard().places();
        let rules = rules(
            Behavior::Allow,
            &["Read(//etc/**)", "Edit(~/q/**)", "Edit(src/**)"],
        );
        let found = |touch, path: &str| {
            rules
                .path(&places, Behavior::Allow, touch, Path::new(path))
                .is_some()
        };
        assert!(found(Touch::Read, "/etc/passwd") && !found(Touch::Write, "/etc/passwd"));
        assert!(found(Touch::Write, "/base/home/q/1") && found(Touch::Read, "/base/home/q/1"));
        assert!(found(Touch::Write, "/base/project/src/a") && !found(Touch::Write, "/src/a"));
    }
}
