//! Paths: made whole, inside or outside of the working folders, and which of them are touchy.
//!
//! Pure but for what [`World`] answers. A path counts as inside only if it is so by its letters and, where something is
//! there, also by where its links lead.

use std::path::{Component, Path, PathBuf};

use super::setup::World;

/// The folders of a session.
#[derive(Debug)]
pub(super) struct Places {
    pub(super) root: PathBuf,
    pub(super) home: PathBuf,
    pub(super) config_dir: PathBuf,
    pub(super) plan_file: Option<PathBuf>,
    pub(super) world: Box<dyn World>,
}

/// Files that change what other programs do. Compared without regard to case.
const TOUCHY_FILES: [&str; 24] = [
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".zshrc",
    ".zprofile",
    ".zshenv",
    ".zlogin",
    ".profile",
    ".gitconfig",
    ".gitmodules",
    ".ripgreprc",
    ".mcp.json",
    ".claude.json",
    ".envrc",
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".pre-commit-config.yaml",
    ".bazelrc",
    ".pnp.cjs",
    ".pnp.loader.mjs",
    "bunfig.toml",
];

/// Folders of the same kind.
const TOUCHY_DIRS: [&str; 8] = [
    ".git",
    ".vscode",
    ".idea",
    ".claude",
    ".husky",
    ".devcontainer",
    ".cargo",
    ".yarn",
];

impl Places {
    /// `~` and relative paths made whole, dots still in.
    pub(super) fn expanded(&self, from: &Path, path: &str) -> PathBuf {
        if path == "~" {
            return self.home.clone();
        }
        if let Some(rest) = path.strip_prefix("~/") {
            return self.home.join(rest);
        }
        from.join(path)
    }

    /// The whole path without dots.
    pub(super) fn absolute(&self, from: &Path, path: &str) -> PathBuf {
        tidy(&self.expanded(from, path))
    }

    /// Whether the path lies in a working folder, links followed.
    pub(super) fn inside(&self, dirs: &[PathBuf], path: &Path) -> bool {
        let within = |path: &Path| {
            path.starts_with(&self.root) || dirs.iter().any(|dir| path.starts_with(tidy(dir)))
        };
        within(path)
            && self
                .leads(path)
                .is_none_or(|real| self.within_real(dirs, &real))
    }

    fn within_real(&self, dirs: &[PathBuf], real: &Path) -> bool {
        let root = self
            .world
            .real(&self.root)
            .unwrap_or_else(|| self.root.clone());
        real.starts_with(root)
            || dirs.iter().any(|dir| {
                let dir = tidy(dir);
                real.starts_with(self.world.real(&dir).unwrap_or(dir))
            })
    }

    /// Where the path leads: its own links followed, or those of the nearest parent that is there.
    pub(super) fn leads(&self, path: &Path) -> Option<PathBuf> {
        let mut rest = PathBuf::new();
        let mut at = path;
        loop {
            if let Some(real) = self.world.real(at) {
                return Some(if rest.as_os_str().is_empty() {
                    real
                } else {
                    real.join(rest)
                });
            }
            let name = at.file_name()?;
            rest = if rest.as_os_str().is_empty() {
                name.into()
            } else {
                Path::new(name).join(&rest)
            };
            at = at.parent()?;
        }
    }

    /// The folder that a permission for this path would be given for.
    pub(super) fn folder_of(&self, path: &Path) -> PathBuf {
        if self.world.is_dir(path) {
            return tidy(path);
        }
        path.parent()
            .map_or_else(|| path.to_owned(), Path::to_owned)
    }

    /// How the path is shown: from the session's folder, or from home, or whole.
    pub(super) fn shown(&self, path: &Path) -> String {
        if let Ok(rest) = path.strip_prefix(&self.root) {
            return rest.to_string_lossy().into_owned();
        }
        match path.strip_prefix(&self.home) {
            Ok(rest) => format!("~/{}", rest.to_string_lossy()),
            Err(_) => path.to_string_lossy().into_owned(),
        }
    }

    /// Whether the file is there for the model to write: the plan, and how the project is launched.
    pub(super) fn is_own(&self, path: &Path) -> bool {
        self.plan_file.as_deref() == Some(path) || path == self.root.join(".claude/launch.json")
    }

    /// Why writing here is touchy, in the CLI's words.
    pub(super) fn touchy(&self, path: &Path) -> Option<String> {
        let shown = path.to_string_lossy();
        if self.is_own(path) {
            return None;
        }
        if self.is_cli_settings(path) {
            return Some(format!(
                "Claude requested permissions to write to {shown}, but you haven't granted it yet."
            ));
        }
        self.is_touchy(path).then(|| {
            format!("Claude requested permissions to edit {shown} which is a sensitive file.")
        })
    }

    fn is_touchy(&self, path: &Path) -> bool {
        let names = lower_names(path);
        let file = names.last().map_or("", String::as_str);
        if TOUCHY_FILES.contains(&file) || path.starts_with(&self.config_dir) {
            return true;
        }
        names.iter().enumerate().any(|(at, name)| {
            let free =
                name == ".claude" && names.get(at + 1).is_some_and(|next| next == "worktrees");
            TOUCHY_DIRS.contains(&name.as_str())
                && !free
                && (name != ".claude" || at + 1 < names.len())
        })
    }

    /// What the CLI itself is set up by: its settings, commands, agents and skills.
    fn is_cli_settings(&self, path: &Path) -> bool {
        let names = lower_names(path);
        let Some(at) = names.iter().rposition(|name| name == ".claude") else {
            return false;
        };
        match names.get(at + 1).map(String::as_str) {
            None | Some("settings.json" | "settings.local.json") => at + 2 >= names.len(),
            Some("commands" | "agents" | "skills") => at + 2 < names.len(),
            Some(_) => false,
        }
    }
}

fn lower_names(path: &Path) -> Vec<String> {
    path.components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_string_lossy().to_lowercase()),
            _ => None,
        })
        .collect()
}

/// The path without `.`, `..` and doubled slashes, by its letters only.
pub(super) fn tidy(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::super::table::Ground;
    use super::*;

    fn places() -> Places {
        Ground::standard().places()
    }

    #[test]
    fn a_link_that_leads_out_is_outside() {
        let places = places();
        assert!(places.inside(&[], Path::new("/base/project/notes.txt")));
        assert!(!places.inside(&[], Path::new("/base/project/linkdir/x")));
        assert!(!places.inside(&[], Path::new("/base/projectile/x")));
        assert!(places.inside(&["/etc/".into()], Path::new("/etc/passwd")));
    }

    #[test]
    fn touchy_names_are_found_at_any_depth_and_in_any_case() {
        let places = places();
        for path in [
            "/base/project/.GIT/x",
            "/base/project/sub/.bashrc",
            "/base/home/.claude/x",
        ] {
            assert!(places.touchy(Path::new(path)).is_some(), "{path}");
        }
        for path in [
            "/base/project/.gitignore",
            "/base/project/.env",
            "/base/project/.claude/worktrees/w/x",
        ] {
            assert_eq!(places.touchy(Path::new(path)), None, "{path}");
        }
    }

    #[test]
    fn dots_are_resolved_and_never_climb_past_the_root() {
        assert_eq!(tidy(Path::new("/a/./b/../c")), Path::new("/a/c"));
        assert_eq!(tidy(Path::new("/../../x")), Path::new("/x"));
    }
}
