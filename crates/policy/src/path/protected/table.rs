//! The list of what no rule opens: one row each.
//!
//! At least what the CLI asks about as a safety check (24 files and 8 folders, at any depth), and beyond it what starts
//! programs, what opens doors, and what the system runs on.

use super::super::Touch;

/// Where the names of a row begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Start {
    /// At any depth.
    Anywhere,
    /// In the person's home.
    Home,
    /// At the root of the disk.
    Root,
}

/// One thing that no rule opens, with all in it.
#[derive(Debug)]
pub(super) struct Row {
    /// Only for this touch; both without.
    pub(super) touch: Option<Touch>,
    pub(super) start: Start,
    /// Names with `/` between; `*` within one.
    pub(super) names: &'static str,
    /// Goes on after the name of the file.
    pub(super) why: &'static str,
}

const fn write(start: Start, names: &'static str, why: &'static str) -> Row {
    Row {
        touch: Some(Touch::Write),
        start,
        names,
        why,
    }
}

const fn read(start: Start, names: &'static str, why: &'static str) -> Row {
    Row {
        touch: Some(Touch::Read),
        start,
        names,
        why,
    }
}

const fn both(start: Start, names: &'static str, why: &'static str) -> Row {
    Row {
        touch: None,
        start,
        names,
        why,
    }
}

const GIT: &str = "belongs to git itself";
const CLAUDE: &str = "sets up Claude Code";
const EDITOR: &str = "sets up an editor, which runs what it says";
const SHELL: &str = "is run by the shell when it starts";
const PROGRAM: &str = "is run by another program when it starts";
const PACKAGES: &str = "sets up a package manager, which runs what it says";
const HOOKS: &str = "holds what git runs at each commit";
const BUILD: &str = "sets up a build, which runs what it says";
const KEYS: &str = "holds keys";
const LOGIN: &str = "holds what one logs in with";
const START: &str = "starts programs without being asked";
const PRIVATE: &str = "is a person's own record";
const SYSTEM: &str = "is part of the system";
const DEVICE: &str = "is a device";
const PROCESS: &str = "is the inside of a running program";

use Start::{Anywhere, Home, Root};

/// Every row. The first that means a path says why.
pub(super) const ROWS: &[Row] = &[
    // Keys and logins, to read as well as to write.
    both(Anywhere, ".ssh", KEYS),
    both(Anywhere, ".gnupg", KEYS),
    both(Anywhere, ".claude/.credentials.json", LOGIN),
    both(Home, ".aws/credentials", LOGIN),
    both(Home, ".aws/sso", LOGIN),
    both(Home, ".aws/cli", LOGIN),
    both(Home, ".azure", LOGIN),
    both(Home, ".cargo/credentials", LOGIN),
    both(Home, ".cargo/credentials.toml", LOGIN),
    both(Home, ".claude.json", LOGIN),
    both(Home, ".config/gcloud", LOGIN),
    both(Home, ".config/gh", LOGIN),
    both(Home, ".config/git/credentials", LOGIN),
    both(Home, ".config/op", LOGIN),
    both(Home, ".docker/config.json", LOGIN),
    both(Home, ".gem/credentials", LOGIN),
    both(Home, ".git-credentials", LOGIN),
    both(Home, ".kube/config", LOGIN),
    both(Home, ".local/share/keyrings", KEYS),
    both(Home, ".m2/settings.xml", LOGIN),
    both(Home, ".netrc", LOGIN),
    both(Home, "_netrc", LOGIN),
    both(Home, ".npmrc", LOGIN),
    both(Home, ".password-store", KEYS),
    both(Home, ".pgpass", LOGIN),
    both(Home, ".pypirc", LOGIN),
    both(Home, ".terraform.d/credentials.tfrc.json", LOGIN),
    both(Home, ".vault-token", LOGIN),
    both(Home, "Library/Keychains", KEYS),
    both(Home, "Library/Cookies", LOGIN),
    both(Home, ".mozilla", LOGIN),
    both(Home, ".config/google-chrome", LOGIN),
    both(Home, ".config/chromium", LOGIN),
    both(Home, "Library/Application Support/Google/Chrome", LOGIN),
    both(Home, "Library/Application Support/Firefox", LOGIN),
    read(Home, ".*_history", PRIVATE),
    // What the CLI asks about, at any depth.
    write(Anywhere, ".git", GIT),
    write(Anywhere, ".gitconfig", GIT),
    write(Anywhere, ".gitmodules", GIT),
    write(Anywhere, ".claude", CLAUDE),
    write(Anywhere, ".claude.json", CLAUDE),
    write(Anywhere, ".mcp.json", CLAUDE),
    write(Anywhere, ".vscode", EDITOR),
    write(Anywhere, ".idea", EDITOR),
    write(Anywhere, ".devcontainer", EDITOR),
    write(Anywhere, ".husky", HOOKS),
    write(Anywhere, ".pre-commit-config.yaml", HOOKS),
    write(Anywhere, ".cargo", BUILD),
    write(Anywhere, ".bazelrc", BUILD),
    write(Anywhere, ".yarn", PACKAGES),
    write(Anywhere, ".yarnrc", PACKAGES),
    write(Anywhere, ".yarnrc.yml", PACKAGES),
    write(Anywhere, ".npmrc", PACKAGES),
    write(Anywhere, ".pnp.cjs", PACKAGES),
    write(Anywhere, ".pnp.loader.mjs", PACKAGES),
    write(Anywhere, "bunfig.toml", PACKAGES),
    write(Anywhere, ".envrc", SHELL),
    write(Anywhere, ".bashrc", SHELL),
    write(Anywhere, ".bash_profile", SHELL),
    write(Anywhere, ".bash_login", SHELL),
    write(Anywhere, ".bash_logout", SHELL),
    write(Anywhere, ".bash_aliases", SHELL),
    write(Anywhere, ".zshrc", SHELL),
    write(Anywhere, ".zprofile", SHELL),
    write(Anywhere, ".zshenv", SHELL),
    write(Anywhere, ".zlogin", SHELL),
    write(Anywhere, ".zlogout", SHELL),
    write(Anywhere, ".profile", SHELL),
    write(Anywhere, ".ripgreprc", PROGRAM),
    // What starts programs, in the person's home.
    write(Home, ".kshrc", SHELL),
    write(Home, ".mkshrc", SHELL),
    write(Home, ".cshrc", SHELL),
    write(Home, ".tcshrc", SHELL),
    write(Home, ".login", SHELL),
    write(Home, ".logout", SHELL),
    write(Home, ".inputrc", SHELL),
    write(Home, ".pam_environment", SHELL),
    write(Home, ".config/fish", SHELL),
    write(Home, ".config/nushell", SHELL),
    write(Home, ".config/powershell", SHELL),
    write(Home, "Documents/PowerShell", SHELL),
    write(Home, "Documents/WindowsPowerShell", SHELL),
    write(Home, ".config/environment.d", SHELL),
    write(Home, ".config/git", GIT),
    write(Home, ".aws", LOGIN),
    write(Home, ".kube", LOGIN),
    write(Home, ".docker", LOGIN),
    write(Home, ".config/autostart", START),
    write(Home, ".config/systemd", START),
    write(Home, ".local/share/systemd", START),
    write(Home, ".local/share/applications", START),
    write(Home, ".local/bin", START),
    write(Home, "bin", START),
    write(Home, "Library/LaunchAgents", START),
    write(
        Home,
        "AppData/Roaming/Microsoft/Windows/Start Menu/Programs/Startup",
        START,
    ),
    write(Home, ".xinitrc", START),
    write(Home, ".xprofile", START),
    write(Home, ".xsession", START),
    write(Home, ".xsessionrc", START),
    write(Home, ".tmux.conf", PROGRAM),
    write(Home, ".config/tmux", PROGRAM),
    write(Home, ".screenrc", PROGRAM),
    write(Home, ".vim", PROGRAM),
    write(Home, ".vimrc", PROGRAM),
    write(Home, ".config/nvim", PROGRAM),
    write(Home, ".emacs", PROGRAM),
    write(Home, ".emacs.d", PROGRAM),
    write(Home, ".config/emacs", PROGRAM),
    write(Home, ".config/Code", EDITOR),
    write(Home, ".config/zed", EDITOR),
    write(Home, "Library/Application Support/Code", EDITOR),
    write(Home, ".gdbinit", PROGRAM),
    write(Home, ".lldbinit", PROGRAM),
    write(Home, ".curlrc", PROGRAM),
    write(Home, ".wgetrc", PROGRAM),
    write(Home, ".psqlrc", PROGRAM),
    write(Home, ".irbrc", PROGRAM),
    write(Home, ".Rprofile", PROGRAM),
    write(Home, ".pythonrc.py", PROGRAM),
    write(Home, ".gradle", BUILD),
    write(Home, ".m2", BUILD),
    write(Home, ".config/pip", PACKAGES),
    write(Home, ".pip", PACKAGES),
    // The system.
    both(Root, "etc/shadow", LOGIN),
    both(Root, "etc/shadow-", LOGIN),
    both(Root, "etc/gshadow", LOGIN),
    both(Root, "etc/gshadow-", LOGIN),
    both(Root, "etc/master.passwd", LOGIN),
    both(Root, "private/etc/master.passwd", LOGIN),
    both(Root, "var/db/dslocal", LOGIN),
    both(Root, "private/var/db/dslocal", LOGIN),
    both(Root, "etc/sudoers", LOGIN),
    both(Root, "etc/sudoers.d", LOGIN),
    both(Root, "etc/ssh/ssh_host_*_key", KEYS),
    both(Root, "etc/ssl/private", KEYS),
    both(Root, "proc/*/environ", PROCESS),
    both(Root, "proc/*/mem", PROCESS),
    both(Root, "proc/*/fd", PROCESS),
    both(Root, "proc/*/root", PROCESS),
    both(Root, "proc/*/cwd", PROCESS),
    both(Root, "proc/*/map_files", PROCESS),
    both(Root, "proc/*/task", PROCESS),
    both(Root, "proc/kcore", PROCESS),
    both(Root, "dev/mem", DEVICE),
    both(Root, "dev/kmem", DEVICE),
    both(Root, "dev/sd*", DEVICE),
    both(Root, "dev/hd*", DEVICE),
    both(Root, "dev/vd*", DEVICE),
    both(Root, "dev/xvd*", DEVICE),
    both(Root, "dev/nvme*", DEVICE),
    both(Root, "dev/mmcblk*", DEVICE),
    both(Root, "dev/dm-*", DEVICE),
    both(Root, "dev/mapper", DEVICE),
    both(Root, "dev/disk*", DEVICE),
    both(Root, "dev/rdisk*", DEVICE),
    both(Root, "dev/loop*", DEVICE),
    both(Root, "dev/block", DEVICE),
    both(Root, "dev/input", DEVICE),
    // Bash opens a connection under this name.
    both(Root, "dev/tcp", DEVICE),
    both(Root, "dev/udp", DEVICE),
    write(Root, "run/docker.sock", SYSTEM),
    write(Root, "var/run/docker.sock", SYSTEM),
    write(Root, "etc", SYSTEM),
    write(Root, "private/etc", SYSTEM),
    write(Root, "boot", SYSTEM),
    write(Root, "proc", SYSTEM),
    write(Root, "sys", SYSTEM),
    write(Root, "System", SYSTEM),
    write(Root, "Library/LaunchAgents", START),
    write(Root, "Library/LaunchDaemons", START),
    write(Root, "c/Windows", SYSTEM),
    write(Root, "var/spool/cron", START),
    write(Root, "var/spool/at", START),
    write(Root, "var/at", START),
    write(Root, "private/var/at", START),
];
