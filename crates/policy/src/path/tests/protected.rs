//! What no rule opens.

use super::*;
use crate::path::{Closed, Touch};

fn why(ground: &Ground, path: &str, touch: Touch) -> Option<String> {
    let place = ground.place();
    Closed::at(&place).why(&Target::of(path, place.cwd, &place), touch)
}

#[test]
fn what_the_cli_asks_about_is_protected_from_writing_at_any_depth() {
    let ground = ground();
    for path in [
        ".git/config",
        ".git/hooks/x",
        ".git",
        ".GIT/x",
        "sub/.git/x",
        ".gitconfig",
        ".gitmodules",
        ".claude",
        ".claude/x",
        ".claude/settings.json",
        ".claude/settings.local.json",
        ".claude/commands/x.md",
        ".claude/agents/x.md",
        ".claude/skills/q/x",
        ".claude/plans/x.md",
        ".claude/CLAUDE.md",
        ".claude/hooks/x",
        ".claude/worktrees",
        ".claude/worktrees/w",
        ".claude/worktrees/w/.git",
        ".claude/worktrees/w/.claude/x",
        "sub/.claude/settings.json",
        ".claude.json",
        ".mcp.json",
        ".vscode/x",
        ".idea/x",
        ".husky/x",
        ".devcontainer/x",
        ".cargo/config.toml",
        ".yarn/x",
        ".yarnrc",
        ".yarnrc.yml",
        ".npmrc",
        ".pnp.cjs",
        ".pnp.loader.mjs",
        ".pre-commit-config.yaml",
        ".bazelrc",
        "bunfig.toml",
        ".ripgreprc",
        ".envrc",
        ".bashrc",
        ".Bashrc",
        "sub/.bashrc",
        ".bash_profile",
        ".bash_login",
        ".bash_logout",
        ".bash_aliases",
        ".zshrc",
        ".zprofile",
        ".zshenv",
        ".zlogin",
        ".profile",
        "~/.claude/settings.json",
        "~/.claude/projects/p/memory/x.md",
        "~/.claude/x",
        "~/.claude/plans/x.md",
        ".g\u{200c}it/config",
        "src/../.git/config",
        "up/project/.git/config",
    ] {
        assert!(why(&ground, path, Touch::Write).is_some(), "{path}");
    }
}

#[test]
fn work_like_any_other_is_not_protected() {
    let ground = ground();
    for path in [
        "src/a.rs",
        "CLAUDE.md",
        ".gitignore",
        ".gitattributes",
        ".github/workflows/x.yml",
        ".env",
        ".editorconfig",
        "Makefile",
        "package.json",
        "git/x",
        "a.git/x",
        ".gitx",
        ".claude/worktrees/w/src/a.rs",
        "bin/x",
        ".config/x",
        ".vimrc",
        "etc.txt",
        "/tmp/x",
        "/dev/null",
        "/dev/stdout",
        "/dev/tty",
        "~/x",
        "~/project/bin/x",
        "/base/other/x",
        "-m",
        "a message, with words",
        "s/a/b/g",
        "https://docs.example/x",
        "HEAD~1",
        "@{u}",
        " padded ",
    ] {
        assert_eq!(why(&ground, path, Touch::Write), None, "{path}");
        assert_eq!(why(&ground, path, Touch::Read), None, "{path}");
    }
    let long = "a long message of many words ".repeat(400);
    assert_eq!(why(&ground, &long, Touch::Write), None);
}

#[test]
fn homes_and_systems_are_protected_from_writing() {
    let ground = ground();
    for path in [
        "~/.ssh/authorized_keys",
        "~/.gnupg/x",
        "~/.aws/config",
        "~/.kube/x",
        "~/.docker/config.json",
        "~/.netrc",
        "~/.pypirc",
        "~/.inputrc",
        "~/.kshrc",
        "~/.config/fish/config.fish",
        "~/.config/git/config",
        "~/.config/autostart/x.desktop",
        "~/.config/systemd/user/x.service",
        "~/Library/LaunchAgents/x.plist",
        "~/library/launchagents/x.plist",
        "~/.local/bin/ls",
        "~/.vimrc",
        "~/.tmux.conf",
        "/etc/hosts",
        "/etc",
        "/private/etc/hosts",
        "/boot/x",
        "/proc/sys/kernel/x",
        "/sys/x",
        "/var/spool/cron/root",
        "/dev/sda1",
        "/dev/nvme0n1",
        "/dev/disk2",
        "/dev/tcp/host/80",
        concat!("/home/", "somebody/.ssh/x"),
        "~/.local/share/countersign/x",
        "~/.local/share/countersign",
    ] {
        assert!(why(&ground, path, Touch::Write).is_some(), "{path}");
    }
}

#[test]
fn keys_and_logins_are_protected_from_reading() {
    let ground = ground();
    for path in [
        "~/.ssh/id",
        "~/.ssh",
        concat!("/home/", "somebody/.ssh/id"),
        "~/.gnupg/x",
        "~/.aws/credentials",
        "~/.aws/sso/cache/x",
        "~/.netrc",
        "~/.claude/.credentials.json",
        "~/.claude.json",
        "~/.docker/config.json",
        "~/.kube/config",
        "~/.git-credentials",
        "~/.npmrc",
        "~/.pypirc",
        "~/.config/gh/hosts.yml",
        "~/.cargo/credentials.toml",
        "~/.bash_history",
        "~/.zsh_history",
        "/proc/1/environ",
        "/proc/self/environ",
        "/proc/42/environ",
        "/proc/42/mem",
        "/proc/self/fd/3",
        "/etc/shadow",
        "/etc/shadow-",
        "/etc/gshadow",
        "/etc/sudoers.d/x",
        "/etc/ssh/ssh_host_ed25519_key",
        "/dev/mem",
        "/dev/sda",
        "~/.local/share/countersign/journal",
        "hop/shadow",
        "etc/shadow",
    ] {
        assert!(why(&ground, path, Touch::Read).is_some(), "{path}");
    }
    for path in [
        "/etc/passwd",
        ".git/config",
        ".claude/settings.json",
        "~/.bashrc",
        "~/.aws/config",
        "/proc/cpuinfo",
        ".npmrc",
    ] {
        assert_eq!(why(&ground, path, Touch::Read), None, "{path}");
    }
}

#[test]
fn the_reason_is_a_part_of_a_sentence_and_names_where_a_link_leads() {
    let ground = ground();
    for (path, touch, text) in [
        (
            ".git/config",
            Touch::Write,
            "`.git/config` belongs to git itself",
        ),
        (
            "passwd",
            Touch::Write,
            "`passwd` leads to `/etc/passwd`, which is part of the system",
        ),
        ("~/.ssh/id", Touch::Read, "`~/.ssh/id` holds keys"),
        ("ring", Touch::Read, "where `ring` leads cannot be said"),
        (
            "~root/x",
            Touch::Read,
            "where `~root/x` leads cannot be said",
        ),
        (
            "~/.local/share/countersign",
            Touch::Read,
            "`~/.local/share/countersign` belongs to countersign itself",
        ),
    ] {
        assert_eq!(why(&ground, path, touch).as_deref(), Some(text));
    }
}

#[test]
fn a_home_and_our_own_folder_are_known_by_both_of_their_names() {
    let mut ground = Ground::with(&[concat!("/home/", "me->/base/home"), "/data->/mnt/data"]);
    ground.home = Some("/home/me".into());
    ground.own = vec!["/data/own".into()];
    for path in [
        "/home/me/.ssh/x",
        "/base/home/.netrc",
        "/data/own/x",
        "/mnt/data/own/x",
    ] {
        assert!(why(&ground, path, Touch::Read).is_some(), "{path}");
    }
}

#[test]
fn a_folder_with_something_protected_in_it_is_protected_as_a_whole() {
    let ground = ground();
    let place = ground.place();
    let below = |path: &str, touch| {
        Closed::at(&place).why_below(&Target::of(path, place.cwd, &place), touch)
    };
    for (path, touch) in [
        (".", Touch::Write),
        ("..", Touch::Read),
        ("~", Touch::Read),
        ("/", Touch::Read),
        ("/", Touch::Write),
        ("/etc", Touch::Read),
        ("up", Touch::Read),
        ("linked", Touch::Write),
        (".git", Touch::Write),
    ] {
        assert_eq!(
            below(path, touch).is_some(),
            path != "linked",
            "{path} {touch:?}"
        );
    }
    for (path, touch) in [
        ("src", Touch::Write),
        (".", Touch::Read),
        ("sub", Touch::Write),
        ("nope", Touch::Write),
    ] {
        assert_eq!(below(path, touch), None, "{path}");
    }
    assert_eq!(
        below("~", Touch::Read).as_deref(),
        Some("in `~` is `~/.ssh`, which holds keys")
    );
}
