//! Whether one rule leaves another nothing to say.
//!
//! Owns this comparison of patterns. It says yes only where that is certain from the texts alone: words of a command
//! that begin another's, a folder that holds another. Everything else is a no, even where it may be so.

use super::danger::runs_anything;
use crate::rule::{Content, Effect, Matcher, Origin, Rule, Scope};

/// Whether `wide` certainly means every call that `narrow` means, wherever and whenever `narrow` holds.
pub fn covers(wide: &Rule, narrow: &Rule) -> bool {
    let holds_there = wide.scope == Scope::Always || wide.scope == narrow.scope;
    let lasts = match (wide.expires, narrow.expires) {
        (None, _) => true,
        (Some(wide), Some(narrow)) => wide >= narrow,
        (Some(_), None) => false,
    };
    holds_there && lasts && means_as_much(wide, narrow)
}

fn means_as_much(wide: &Rule, narrow: &Rule) -> bool {
    let (a, b) = (&wide.matcher, &narrow.matcher);
    match (&a.content, &b.content) {
        (Content::Whole, Content::Path(_)) => whole_covers_path(wide, narrow),
        (Content::Whole, Content::Command(_)) if a.tool != "Bash" => {
            narrow.effect == Effect::Allow && reaches(wide, narrow)
        }
        (Content::Whole, _) => reaches(wide, narrow) || is_server_of(&a.tool, &b.tool),
        (Content::Command(_), Content::Command(_)) => {
            a.tool == b.tool && command_covers(a, b, wide.effect)
        }
        (Content::Path(x), Content::Path(y)) => {
            reaches(wide, narrow) && (x == y || path_covers(wide, narrow))
        }
        (Content::Domain(x), Content::Domain(y)) => {
            a.tool == b.tool && domain_covers(x, y, wide.effect)
        }
        (Content::Text(x), Content::Text(y)) => a.tool == b.tool && x == y,
        _ => false,
    }
}

/// A rule with a path reaches further than its tool: what forbids it also forbids commands that name it, and who may
/// edit or read it may do so with any tool.
fn whole_covers_path(wide: &Rule, narrow: &Rule) -> bool {
    let stays_with_its_tool = !matches!(narrow.matcher.tool.as_str(), "Edit" | "Read");
    narrow.effect == Effect::Allow
        && reaches(wide, narrow)
        && (wide.effect != Effect::Allow || stays_with_its_tool)
}

const WRITING: [&str; 4] = ["Edit", "Write", "MultiEdit", "NotebookEdit"];

/// Whether rules for the tool of `wide` speak of every call of the tool of `narrow`.
fn reaches(wide: &Rule, narrow: &Rule) -> bool {
    let (a, b) = (wide.matcher.tool.as_str(), narrow.matcher.tool.as_str());
    if a == b {
        return true;
    }
    let is_path = matches!(wide.matcher.content, Content::Path(_));
    match wide.effect {
        Effect::Allow => is_path && a == "Edit" && WRITING.contains(&b),
        Effect::Ask | Effect::Deny => {
            narrow.effect == Effect::Allow
                && (matches!(a, "Edit" | "Write") && WRITING.contains(&b)
                    || (a == "Bash" && b == "Monitor"))
        }
    }
}

/// `mcp__srv` and `mcp__srv__*` mean every tool of the server.
fn is_server_of(wide: &str, narrow: &str) -> bool {
    let Some(server) = wide.strip_prefix("mcp__") else {
        return false;
    };
    let server = server.strip_suffix("__*").unwrap_or(server);
    let is_plain = !server.is_empty() && !server.contains('*') && !server.contains("__");
    let rest = narrow
        .strip_prefix("mcp__")
        .and_then(|narrow| narrow.strip_prefix(server));
    is_plain && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("__"))
}

fn content(matcher: &Matcher) -> &str {
    let inner = matcher.text.split_once('(').map_or("", |(_, inner)| inner);
    inner.trim_end().strip_suffix(')').unwrap_or(inner).trim()
}

/// The words of a command pattern, and whether more may follow. `None` where a word is not just a word.
fn words(content: &str) -> Option<(Vec<&str>, bool)> {
    let (head, is_open) = match content.strip_suffix(":*") {
        Some(head) => (head, true),
        None => (content, false),
    };
    let is_plain = |c: char| c.is_ascii_alphanumeric() || " -_./=,@%+".contains(c);
    head.chars()
        .all(is_plain)
        .then(|| (head.split_whitespace().collect(), is_open))
}

fn command_covers(wide: &Matcher, narrow: &Matcher, effect: Effect) -> bool {
    let (wide, narrow) = (content(wide), content(narrow));
    if wide == narrow {
        return true;
    }
    let (Some((wide, true)), Some((narrow, _))) = (words(wide), words(narrow)) else {
        return false;
    };
    // What a command runs through must be named to be allowed: `env:*` allows less than `env make`.
    let runs_others = wide.first().is_some_and(|program| runs_anything(program));
    narrow.starts_with(&wide) && !(runs_others && effect == Effect::Allow)
}

/// The folder that a path pattern starts from, as it is written.
#[derive(PartialEq, Eq)]
enum Start {
    Root,
    Home,
    File,
    Here,
}

/// A path pattern as a start and its parts. `None` where it leads upwards or is matched at any depth.
fn parts(content: &str) -> Option<(Start, Vec<&str>)> {
    let (start, rest) = if let Some(rest) = content.strip_prefix("//") {
        (Start::Root, rest)
    } else if let Some(rest) = content.strip_prefix("~/") {
        (Start::Home, rest)
    } else if let Some(rest) = content.strip_prefix('/') {
        (Start::File, rest)
    } else {
        let rest = content.strip_prefix("./");
        if rest.is_none() && !content.contains('/') {
            return None;
        }
        (Start::Here, rest.unwrap_or(content))
    };
    let parts: Vec<&str> = rest.split('/').collect();
    let is_odd =
        |part: &&str| matches!(*part, "" | "." | "..") || part.contains(['\\', '!', '{', '}']);
    (!parts.iter().any(is_odd)).then_some((start, parts))
}

fn path_covers(wide: &Rule, narrow: &Rule) -> bool {
    let (Some((a, mut folder)), Some((b, path))) = (
        parts(content(&wide.matcher)),
        parts(content(&narrow.matcher)),
    ) else {
        return false;
    };
    // Two files may start from two folders.
    let is_same_start = a == b && (a != Start::File || file_of(wide) == file_of(narrow));
    let is_folder = folder.pop() == Some("**") && !folder.is_empty();
    let is_plain = folder
        .iter()
        .all(|part| !part.contains(['*', '?', '[', '{']));
    is_same_start && is_folder && is_plain && path.len() > folder.len() && path.starts_with(&folder)
}

fn file_of(rule: &Rule) -> Option<&std::path::Path> {
    match &rule.origin {
        Origin::File { path, .. } => Some(path),
        Origin::CommandLine | Origin::Session | Origin::Kept => None,
    }
}

/// An allow means the host itself; what forbids a host forbids all below it.
fn domain_covers(wide: &str, narrow: &str, effect: Effect) -> bool {
    if wide == narrow {
        return true;
    }
    let below = match (wide.strip_prefix("*."), effect) {
        (Some(below), _) => below,
        (None, Effect::Allow) => return false,
        (None, _) => wide,
    };
    let narrow = narrow.strip_prefix("*.").unwrap_or(narrow);
    narrow
        .strip_suffix(below)
        .is_some_and(|rest| rest.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn rule(text: &str) -> Rule {
        let (effect, text) = text.split_once(' ').unwrap();
        let effect = match effect {
            "allow" => Effect::Allow,
            "ask" => Effect::Ask,
            _ => Effect::Deny,
        };
        Rule::parse(effect, text, Path::new("/p"), Origin::CommandLine).unwrap()
    }

    #[test]
    fn what_certainly_holds_all_of_another_covers_it() {
        for (wide, narrow) in [
            ("allow Bash", "allow Bash(git log:*)"),
            ("allow Bash(cargo:*)", "allow Bash(cargo test:*)"),
            ("deny Bash(sudo:*)", "allow Bash(sudo make:*)"),
            ("deny Bash(git log:*)", "allow Bash(git log --oneline)"),
            ("ask Bash(git log:*)", "allow Bash(git log:*)"),
            ("deny Bash", "allow Monitor"),
            ("deny Edit", "allow Edit(src/**)"),
            ("deny Edit(src/**)", "allow Write(src/lib/**)"),
            ("allow Edit(src/**)", "allow Edit(src/a.rs)"),
            ("allow Edit(./src/**)", "allow Write(src/a.rs)"),
            ("allow Read(//etc/**)", "allow Read(//etc/ssl/**)"),
            ("allow Read(~/notes/**)", "allow Read(~/notes/a.md)"),
            ("allow WebFetch", "allow WebFetch(domain:a.example)"),
            (
                "allow WebFetch(domain:*.a.example)",
                "allow WebFetch(domain:b.a.example)",
            ),
            (
                "deny WebFetch(domain:a.example)",
                "allow WebFetch(domain:b.a.example)",
            ),
            ("allow mcp__srv", "allow mcp__srv__tool"),
            ("allow mcp__srv__*", "allow mcp__srv__tool"),
            ("deny Agent(Explore)", "allow Task(Explore)"),
        ] {
            assert!(covers(&rule(wide), &rule(narrow)), "{wide} > {narrow}");
        }
    }

    #[test]
    fn what_is_not_certain_is_not_said() {
        for (wide, narrow) in [
            ("allow Bash(git log:*)", "allow Bash(git:*)"),
            ("allow Bash(git log)", "allow Bash(git log --oneline)"),
            ("allow Bash(sudo:*)", "allow Bash(sudo make:*)"),
            ("allow Edit(src/**)", "allow Edit(src/{a,../../b}/c)"),
            ("allow Bash(gi:*)", "allow Bash(git log:*)"),
            ("allow Bash(git 'log':*)", "allow Bash(git 'log' x:*)"),
            ("deny Edit", "deny Edit(src/**)"),
            ("deny Edit", "ask Edit(src/**)"),
            ("allow Edit", "allow Write"),
            ("allow Edit", "allow Edit(src/**)"),
            ("allow Read", "allow Read(src/**)"),
            ("allow Edit(src/**)", "allow Edit(src)"),
            ("allow Edit(src/**)", "allow Edit(src/../x)"),
            ("allow Edit(src/**)", "allow Edit(srcs/**)"),
            ("allow Edit(s*/**)", "allow Edit(src/**)"),
            ("allow Edit(src/*)", "allow Edit(src/a.rs)"),
            ("allow Edit(/src/**)", "allow Edit(src/**)"),
            ("allow Read(src/**)", "allow Edit(src/**)"),
            ("allow Read(.env)", "allow Read(a/.env)"),
            (
                "allow WebFetch(domain:a.example)",
                "allow WebFetch(domain:b.a.example)",
            ),
            (
                "allow WebFetch(domain:*.a.example)",
                "allow WebFetch(domain:ba.example)",
            ),
            (
                "deny WebFetch(domain:a.example)",
                "allow WebFetch(domain:ba.example)",
            ),
            ("allow mcp__srv", "allow mcp__srv2__tool"),
            ("allow mcp__srv__a*", "allow mcp__srv__ab"),
        ] {
            assert!(!covers(&rule(wide), &rule(narrow)), "{wide} > {narrow}");
        }
    }

    #[test]
    fn a_rule_for_a_time_or_a_folder_covers_no_more_than_that() {
        let always = rule("allow Bash(git log:*)");
        let here = Rule {
            scope: Scope::Repository("/p".into()),
            ..rule("allow Bash")
        };
        let ending = Rule {
            expires: Some("2026-12-01T00:00:00Z".parse().unwrap()),
            ..rule("allow Bash")
        };
        assert!(!covers(&here, &always) && !covers(&ending, &always));
        let narrow = Rule {
            scope: here.scope.clone(),
            ..always.clone()
        };
        assert!(covers(&here, &narrow));
        let soon = Rule {
            expires: Some("2026-11-01T00:00:00Z".parse().unwrap()),
            ..always
        };
        assert!(covers(&ending, &soon));
    }
}
