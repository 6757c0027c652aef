//! The folders of a session: paths made whole, inside or outside of the working folders, and which of them are touchy.
//!
//! A path counts as inside only if it is so by its letters and, where something is there, also by where its links lead.

use std::path::{Component, Path, PathBuf};

use crate::cli::paths::{absolute, tidy};
use crate::cli::source::Source;

/// The folders of a session.
#[derive(Debug, Default)]
pub(super) struct Places {
    pub(super) root: PathBuf,
    pub(super) home: PathBuf,
    pub(super) config_dir: PathBuf,
    pub(super) plan_file: Option<PathBuf>,
}

/// Files and folders that change what other programs do. Compared without regard to case.
const TOUCHY: &str = ".bashrc .bash_profile .bash_login .zshrc .zprofile .zshenv .profile .gitconfig .gitmodules \
                      .mcp.json .claude.json .envrc .npmrc .yarnrc .git .vscode .idea .husky .devcontainer .cargo";

impl Places {
    /// The whole path without dots; relative ones begin at the session's folder.
    pub(super) fn absolute(&self, path: &str) -> PathBuf {
        absolute(path, &self.root, &self.home)
    }

    /// Whether the path lies in a working folder, links followed.
    pub(super) fn is_inside(&self, folders: &[(PathBuf, Source)], path: &Path) -> bool {
        let dirs = folders.iter().map(|(dir, _)| tidy(dir));
        let dirs: Vec<PathBuf> = dirs.chain([self.root.clone()]).collect();
        let leads_inside = |real: PathBuf| {
            let mut dirs = dirs.iter().map(|dir| dir.canonicalize());
            dirs.any(|dir| dir.is_ok_and(|dir| real.starts_with(dir)))
        };
        dirs.iter().any(|dir| path.starts_with(dir)) && leads(path).is_none_or(leads_inside)
    }

    /// The folder that a permission for this path would be given for.
    pub(super) fn folder_of(&self, path: &Path) -> PathBuf {
        let parent = path.parent().filter(|_| !path.is_dir());
        parent.unwrap_or(path).to_owned()
    }

    /// How the path is shown: from the session's folder, or from home, or whole.
    pub(super) fn shown(&self, path: &Path) -> String {
        match (path.strip_prefix(&self.root), path.strip_prefix(&self.home)) {
            (Ok(rest), _) => rest.to_string_lossy().into_owned(),
            (_, Ok(rest)) => format!("~/{}", rest.to_string_lossy()),
            _ => path.to_string_lossy().into_owned(),
        }
    }

    /// Whether the file is the plan, which is there for the model to write.
    pub(super) fn is_plan(&self, path: &Path) -> bool {
        self.plan_file.as_deref() == Some(path)
    }

    /// Why writing here is touchy, in the CLI's words.
    pub(super) fn touchy(&self, path: &Path) -> Option<String> {
        let shown = path.to_string_lossy();
        let names: Vec<String> = path
            .components()
            .filter(|part| matches!(part, Component::Normal(_)))
            .map(|part| part.as_os_str().to_string_lossy().to_lowercase())
            .collect();
        let below = names.iter().rposition(|name| name == ".claude");
        let below: Vec<&str> = below.map_or_else(Vec::new, |at| {
            names[at + 1..].iter().map(String::as_str).collect()
        });
        if self.is_plan(path) {
            return None;
        }
        if matches!(
            below[..],
            ["settings.json" | "settings.local.json"] | ["commands" | "agents" | "skills", _, ..]
        ) {
            return Some(format!(
                "Claude requested permissions to write to {shown}, but you haven't granted it yet."
            ));
        }
        let listed = |name: &String| TOUCHY.split_whitespace().any(|known| known == name);
        let configures = !below.is_empty() && below[0] != "worktrees";
        (configures || path.starts_with(&self.config_dir) || names.iter().any(listed)).then(|| {
            format!("Claude requested permissions to edit {shown} which is a sensitive file.")
        })
    }
}

/// Where the path leads: its own links followed, or those of the nearest parent that is there.
pub(super) fn leads(path: &Path) -> Option<PathBuf> {
    path.ancestors().find_map(|at| {
        let real = at.canonicalize().ok()?;
        let rest = path.strip_prefix(at).ok()?;
        Some(real.join(rest))
    })
}
