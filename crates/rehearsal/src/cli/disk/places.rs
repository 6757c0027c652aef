//! Where the CLI keeps things: its configuration folder, the folder of a project in it, and the project itself.
//!
//! Owns every path and the names that are made from a working directory. Reads nothing but `.git`. Invariant: the name
//! of a project's folder holds ASCII letters, digits and dashes only, so that it is one path component.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::cli::source::Source;

/// The folders of one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) struct Places {
    /// `CLAUDE_CONFIG_DIR`, or `.claude` in the home folder.
    pub(in crate::cli) config_dir: PathBuf,
    /// The working directory, without links.
    pub(in crate::cli) cwd: PathBuf,
    /// The file that holds what is known of each project, such as whether it is trusted.
    pub(in crate::cli) ledger: PathBuf,
    /// What an administrator set for every user of the machine, if there may be such a file.
    pub(in crate::cli) managed: Option<PathBuf>,
}

/// Why there is no place to keep anything.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no folder for settings and sessions: set CLAUDE_CONFIG_DIR or the home folder's variable")]
pub(in crate::cli) struct NoHome;

impl Places {
    /// The places below a configuration folder that was named by `CLAUDE_CONFIG_DIR`.
    pub(in crate::cli) fn at(config_dir: impl Into<PathBuf>, cwd: impl AsRef<Path>) -> Self {
        let config_dir = config_dir.into();
        Self {
            ledger: config_dir.join(".claude.json"),
            config_dir,
            cwd: real_path(cwd.as_ref()),
            managed: None,
        }
    }

    /// The places of a CLI that is started with these variables.
    ///
    /// # Errors
    /// [`NoHome`] when they name no folder at all.
    pub(in crate::cli) fn of_environment(
        variable: impl Fn(&str) -> Option<OsString>,
        cwd: impl AsRef<Path>,
    ) -> Result<Self, NoHome> {
        let set = |name| variable(name).filter(|value| !value.is_empty());
        let mut places = match set("CLAUDE_CONFIG_DIR") {
            Some(dir) => Self::at(dir, cwd),
            None => {
                let home = PathBuf::from(set("HOME").ok_or(NoHome)?);
                let ledger = home.join(".claude.json");
                Self {
                    ledger,
                    ..Self::at(home.join(".claude"), cwd)
                }
            }
        };
        places.managed = Some(managed_file());
        Ok(places)
    }

    /// The folder that holds one folder a project.
    pub(in crate::cli) fn projects(&self) -> PathBuf {
        self.config_dir.join("projects")
    }

    /// The folder of this project's sessions.
    pub(in crate::cli) fn project(&self) -> PathBuf {
        self.projects().join(project_key(&text(&self.cwd)))
    }

    /// The transcript of a session of this project.
    pub(in crate::cli) fn transcript(&self, session: &str) -> PathBuf {
        self.project().join(format!("{session}.jsonl"))
    }

    /// The `.claude` folders that agents, commands and skills are looked for in.
    pub(in crate::cli) fn claude_folder(&self, source: Source) -> Option<PathBuf> {
        match source {
            Source::User => Some(self.config_dir.clone()),
            Source::Project => Some(self.cwd.join(".claude")),
            _ => None,
        }
    }

    /// The settings file of a source, for the sources that have one.
    pub(in crate::cli) fn settings(&self, source: Source) -> Option<PathBuf> {
        match source {
            Source::User => Some(self.config_dir.join("settings.json")),
            Source::Project => Some(self.cwd.join(".claude/settings.json")),
            Source::Local => Some(self.cwd.join(".claude/settings.local.json")),
            Source::Policy => self.managed.clone(),
            Source::Flag | Source::CliArg | Source::Session => None,
        }
    }

    /// The nearest folder, from the working directory upwards, that is a git repository.
    pub(in crate::cli) fn git_root(&self) -> Option<&Path> {
        (self.cwd.ancestors()).find(|folder| folder.join(".git").exists())
    }

    /// The branch as a transcript names it: `HEAD` where there is none.
    pub(in crate::cli) fn git_branch(&self) -> String {
        let branch = self.git_root().and_then(branch_of);
        branch.unwrap_or_else(|| "HEAD".to_owned())
    }
}

/// The folder name for a path: each UTF-16 unit that is no ASCII letter or digit as `-`.
pub(super) fn project_key(path: &str) -> String {
    let unit = |unit: u16| match u8::try_from(unit) {
        Ok(byte) if byte.is_ascii_alphanumeric() => char::from(byte),
        _ => '-',
    };
    path.encode_utf16().map(unit).collect()
}

/// A path as it stands in lines and records.
pub(in crate::cli) fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// The path without links, as the CLI sees its working directory; as given where it does not exist.
fn real_path(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

fn managed_file() -> PathBuf {
    let folder = if cfg!(target_os = "macos") {
        "/Library/Application Support/ClaudeCode"
    } else {
        "/etc/claude-code"
    };
    Path::new(folder).join("managed-settings.json")
}

/// The branch that `HEAD` names; none when it is detached or cannot be read.
fn branch_of(root: &Path) -> Option<String> {
    let git = root.join(".git");
    // A worktree has a file here that says where its own folder is.
    let folder = match std::fs::read_to_string(&git) {
        Ok(link) => root.join(link.trim().strip_prefix("gitdir: ")?),
        Err(_) => git,
    };
    let head = std::fs::read_to_string(folder.join("HEAD")).ok()?;
    let name = head.trim().strip_prefix("ref: refs/heads/")?;
    (!name.is_empty()).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_configuration_folder_holds_the_ledger_and_the_home_folder_does_otherwise() {
        let of = |wanted: &str| {
            let env = |name: &str| (name == wanted).then(|| "/h".into());
            Places::of_environment(env, "/nowhere/p").map(|places| places.ledger)
        };
        for variable in ["CLAUDE_CONFIG_DIR", "HOME"] {
            assert_eq!(of(variable).unwrap(), Path::new("/h/.claude.json"));
        }
        assert_eq!(of("OTHER"), Err(NoHome));
    }

    #[test]
    fn the_branch_is_read_from_the_repository_around_the_working_directory() {
        let root = tempfile::tempdir().unwrap();
        let inside = root.path().join("a/b");
        std::fs::create_dir_all(&inside).unwrap();
        let places = Places::at(root.path().join("conf"), &inside);
        assert_eq!(places.git_branch(), "HEAD");
        std::fs::create_dir(root.path().join(".git")).unwrap();
        std::fs::write(root.path().join(".git/HEAD"), "ref: refs/heads/a/topic\n").unwrap();
        assert_eq!(places.git_branch(), "a/topic");
        std::fs::write(root.path().join(".git/HEAD"), "0123abcd\n").unwrap();
        assert_eq!(places.git_branch(), "HEAD", "detached");
    }
}
