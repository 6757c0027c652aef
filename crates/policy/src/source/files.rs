//! Which files of rules there are for a session.
//!
//! Owns the names and places of these files. Looks at no disk: the environment and the folder come in as values.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::rule::FileKind;

/// Our files of rules, the person's own and a repository's.
pub const RULES_FILE: &str = "countersign.toml";

/// Where it stands which folders a person trusts, beside their own rules.
pub const TRUST_FILE: &str = "trusted.toml";

/// The folders that rules for a session come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sources {
    /// The working folder of the session. The CLI looks for `.claude` here and nowhere above.
    pub cwd: PathBuf,
    /// The repository that the working folder is another copy of (a worktree): what is trusted there is trusted here, as
    /// far as it is the same.
    pub copy_of: Option<PathBuf>,
    /// The person's home folder.
    pub home: Option<PathBuf>,
    /// Claude Code's folder of settings.
    pub claude: Option<PathBuf>,
    /// Our own folder of settings.
    pub own: Option<PathBuf>,
    /// The administrator's settings.
    pub managed: Option<PathBuf>,
}

impl Sources {
    /// The folders for a session in `cwd`, as the environment names them: `CLAUDE_CONFIG_DIR`, else `~/.claude`;
    /// `COUNTERSIGN_CONFIG_DIR`, else `$XDG_CONFIG_HOME/countersign`, else `~/.config/countersign`.
    pub fn of_environment(
        variable: impl Fn(&str) -> Option<OsString>,
        cwd: impl Into<PathBuf>,
    ) -> Self {
        let cwd = cwd.into();
        let set = |name: &str| {
            variable(name)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        };
        // A folder that is named from nowhere is named from where we are.
        let folder = |name: &str| set(name).map(|folder| cwd.join(folder));
        let home = set(if cfg!(windows) { "USERPROFILE" } else { "HOME" });
        let in_home = |path: &str| home.as_ref().map(|home| home.join(path));
        Self {
            claude: folder("CLAUDE_CONFIG_DIR").or_else(|| in_home(".claude")),
            own: folder("COUNTERSIGN_CONFIG_DIR")
                .or_else(|| {
                    set("XDG_CONFIG_HOME")
                        .filter(|path| path.is_absolute())
                        .map(|path| path.join("countersign"))
                })
                .or_else(|| in_home(".config/countersign")),
            managed: Some(managed_settings()),
            home,
            copy_of: None,
            cwd,
        }
    }

    /// The files that may hold rules, each with its kind and the folder that paths with one `/` start from.
    pub fn files(&self) -> Vec<(FileKind, PathBuf, PathBuf)> {
        let cwd = || self.cwd.clone();
        let mut files = Vec::new();
        if let Some(path) = &self.managed {
            files.push((FileKind::Managed, path.clone(), cwd()));
        }
        if let Some(folder) = &self.claude {
            files.push((FileKind::User, folder.join("settings.json"), folder.clone()));
        }
        if let Some(path) = self.rules_file() {
            files.push((FileKind::Own, path, cwd()));
        }
        files.extend([
            (
                FileKind::Project,
                self.cwd.join(".claude").join("settings.json"),
                cwd(),
            ),
            (
                FileKind::Local,
                self.cwd.join(".claude").join("settings.local.json"),
                cwd(),
            ),
            (FileKind::Repository, self.cwd.join(RULES_FILE), cwd()),
        ]);
        files
    }

    /// The person's own rules.
    pub fn rules_file(&self) -> Option<PathBuf> {
        self.own.as_ref().map(|folder| folder.join(RULES_FILE))
    }

    /// The folders that the person trusts.
    pub fn trust_file(&self) -> Option<PathBuf> {
        self.own.as_ref().map(|folder| folder.join(TRUST_FILE))
    }

    /// `~` and relative paths of settings made whole, as the CLI does.
    pub fn whole(&self, path: &Path) -> PathBuf {
        match (path.strip_prefix("~"), &self.home) {
            (Ok(rest), Some(home)) => home.join(rest),
            _ => self.cwd.join(path),
        }
    }
}

/// Where an administrator's settings stand on this system.
pub fn managed_settings() -> PathBuf {
    let folder = if cfg!(windows) {
        r"C:\Program Files\ClaudeCode"
    } else if cfg!(target_os = "macos") {
        "/Library/Application Support/ClaudeCode"
    } else {
        "/etc/claude-code"
    };
    Path::new(folder).join("managed-settings.json")
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    fn sources(variables: &[(&str, &str)]) -> Sources {
        let variable = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| OsString::from(value))
        };
        Sources::of_environment(variable, "/w")
    }

    fn shown(sources: &Sources) -> Vec<String> {
        let files = sources.files();
        files
            .iter()
            .map(|(kind, path, base)| format!("{kind:?} {} {}", path.display(), base.display()))
            .collect()
    }

    #[test]
    fn the_environment_says_where_settings_stand() {
        let found = sources(&[
            ("HOME", "/h"),
            ("XDG_CONFIG_HOME", "/x"),
            ("CLAUDE_CONFIG_DIR", ""),
        ]);
        assert_eq!(
            shown(&found)[1..],
            [
                "User /h/.claude/settings.json /h/.claude",
                "Own /x/countersign/countersign.toml /w",
                "Project /w/.claude/settings.json /w",
                "Local /w/.claude/settings.local.json /w",
                "Repository /w/countersign.toml /w",
            ]
        );
        assert_eq!(
            found.trust_file(),
            Some(PathBuf::from("/x/countersign/trusted.toml"))
        );
    }

    #[test]
    fn a_folder_of_ones_own_wins_and_a_relative_one_starts_here() {
        let found = sources(&[
            ("HOME", "/h"),
            ("XDG_CONFIG_HOME", "not/whole"),
            ("CLAUDE_CONFIG_DIR", "c"),
        ]);
        assert_eq!(found.claude, Some(PathBuf::from("/w/c")));
        assert_eq!(found.own, Some(PathBuf::from("/h/.config/countersign")));
        let found = sources(&[("XDG_CONFIG_HOME", "/x"), ("COUNTERSIGN_CONFIG_DIR", "/o")]);
        assert_eq!(found.own, Some(PathBuf::from("/o")));
    }

    #[test]
    fn without_a_home_the_folder_and_the_administrator_still_speak() {
        let kinds = sources(&[]).files().into_iter().map(|(kind, ..)| kind);
        let wanted = [
            FileKind::Managed,
            FileKind::Project,
            FileKind::Local,
            FileKind::Repository,
        ];
        assert_eq!(kinds.collect::<Vec<_>>(), wanted);
    }
}
