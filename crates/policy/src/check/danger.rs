//! Allow rules that allow far more than they name.
//!
//! Owns the programs that run whatever they are given. Such a rule is not forbidden: it is said what it means.

use crate::rule::{Content, Matcher};

/// Programs that run other programs, or text as a program, and why that follows.
const RUNNERS: [(&[&str], &str); 7] = [
    (
        &[
            "sh", "bash", "zsh", "dash", "ksh", "fish", "pwsh", "eval", "exec", "source",
            "command", "busybox",
        ],
        "a shell runs whatever it is given",
    ),
    (
        &[
            "python",
            "python2",
            "python3",
            "node",
            "deno",
            "bun",
            "tsx",
            "ts-node",
            "ruby",
            "perl",
            "php",
            "lua",
            "awk",
            "gawk",
            "mawk",
            "osascript",
        ],
        "an interpreter runs whatever program it is given",
    ),
    (
        &["sudo", "doas", "su", "pkexec"],
        "it runs any command, as another user",
    ),
    (
        &[
            "env", "xargs", "nohup", "nice", "ionice", "time", "timeout", "watch", "setsid",
            "stdbuf", "parallel", "find", "fd", "strace", "gdb",
        ],
        "it runs any command that its arguments name",
    ),
    (
        &[
            "ssh", "docker", "podman", "kubectl", "nsenter", "chroot", "unshare",
        ],
        "it runs any command, on another machine or in another room of this one",
    ),
    (
        &["npx", "bunx", "pnpx", "uvx", "pipx"],
        "it fetches and runs any package",
    ),
    (
        &["git", "vim", "vi", "nvim", "emacs", "less", "man", "tar"],
        "some of its options run other programs",
    ),
];

/// Programs that destroy what they are pointed at.
const DESTROYERS: [&str; 8] = [
    "rm", "dd", "mkfs", "shred", "truncate", "chmod", "chown", "kill",
];

/// Why an allow rule allows far more than it names; `None` where it does not.
pub fn why_dangerous(matcher: &Matcher) -> Option<String> {
    if !matches!(matcher.tool.as_str(), "Bash" | "Monitor") {
        return None;
    }
    if matches!(matcher.content, Content::Whole) {
        return Some("it allows every command there is".to_owned());
    }
    let content = matcher
        .text
        .split_once('(')
        .map_or("", |(_, content)| content);
    let content = content
        .trim_end()
        .strip_suffix(')')
        .unwrap_or(content)
        .trim();
    let open = content
        .strip_suffix(":*")
        .or_else(|| content.strip_suffix('*'))?;
    let mut words = open.split_whitespace();
    let program = words.next().unwrap_or_default();
    let name = program.rsplit('/').next().unwrap_or(program);
    if program.contains('*') || name.is_empty() {
        return Some("any program may stand there".to_owned());
    }
    // `python manage.py:*` names what is run; `python -c:*` does not.
    if words.any(|word| !word.starts_with('-')) {
        return None;
    }
    if DESTROYERS.contains(&name) {
        return Some(format!(
            "`{name}` destroys whatever it is pointed at, and cannot be undone"
        ));
    }
    let why = runner(name)?;
    Some(format!("`{name}` allows everything: {why}"))
}

fn runner(name: &str) -> Option<&'static str> {
    let found = RUNNERS
        .iter()
        .find(|(programs, _)| programs.contains(&name));
    found.map(|(_, why)| *why)
}

/// Whether a program, as a command names it, runs others.
pub(super) fn runs_anything(program: &str) -> bool {
    runner(program.rsplit('/').next().unwrap_or(program)).is_some()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn is_dangerous(text: &str) -> bool {
        why_dangerous(&Matcher::parse(text, Path::new("/")).unwrap()).is_some()
    }

    #[test]
    fn what_runs_anything_is_dangerous() {
        for text in [
            "Bash",
            "Bash(*)",
            "Bash(sudo:*)",
            "Bash(python:*)",
            "Bash(python3 -c:*)",
            "Bash(bash:*)",
            "Bash(/bin/sh -c:*)",
            "Bash(npx:*)",
            "Bash(find:*)",
            "Bash(rm:*)",
            "Bash(git:*)",
            "Monitor",
        ] {
            assert!(is_dangerous(text), "{text}");
        }
    }

    #[test]
    fn what_names_its_deed_is_not() {
        for text in [
            "Bash(git log:*)",
            "Bash(ls:*)",
            "Bash(python)",
            "Bash(python manage.py test:*)",
            "Bash(npm run test:*)",
            "Read",
            "Edit",
        ] {
            assert!(!is_dangerous(text), "{text}");
        }
    }
}
