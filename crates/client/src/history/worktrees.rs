//! The working trees of the repository a folder lies in, read from git's own files. Starts no process.

use std::path::{Path, PathBuf};

/// The roots of all working trees, linked ones too. Empty outside of a repository.
pub(super) fn of(cwd: &Path) -> Vec<PathBuf> {
    let Some((root, common)) = cwd.ancestors().find_map(repository) else {
        return Vec::new();
    };
    let mut roots = vec![root];
    if common.file_name().is_some_and(|name| name == ".git") {
        roots.extend(common.parent().map(Path::to_owned));
    }
    let linked = std::fs::read_dir(common.join("worktrees"))
        .into_iter()
        .flatten()
        .flatten();
    for tree in linked {
        let git_file = std::fs::read_to_string(tree.path().join("gitdir")).unwrap_or_default();
        let git_file = tree.path().join(git_file.trim_end());
        if git_file.file_name().is_some_and(|name| name == ".git") {
            roots.extend(git_file.parent().map(super::key::real_path));
        }
    }
    roots.sort();
    roots.dedup();
    roots
}

/// If `dir` is the root of a working tree: it, and the folder all trees of the repository share.
fn repository(dir: &Path) -> Option<(PathBuf, PathBuf)> {
    let git = dir.join(".git");
    let meta = std::fs::metadata(&git).ok()?;
    let own = if meta.is_dir() {
        git
    } else {
        let text = std::fs::read_to_string(&git).ok()?;
        dir.join(text.strip_prefix("gitdir:")?.trim())
    };
    let common = match std::fs::read_to_string(own.join("commondir")) {
        Ok(text) => own.join(text.trim_end()),
        Err(_) => own,
    };
    Some((dir.to_owned(), super::key::real_path(&common)))
}
