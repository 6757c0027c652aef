//! The working trees of the repository a folder lies in, read from git's own files. Starts no process. An agent may have prepared
//! them: a pipe is not waited for, and a file that is too long to be git's is not read.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Maximum length of a file that names a path, in bytes.
const LONGEST: u64 = 64 << 10;

/// The text of a file of git that names a path.
fn text_of(path: &Path) -> Option<String> {
    let found = std::fs::metadata(path).ok()?;
    if !found.is_file() || found.len() > LONGEST {
        return None;
    }
    let mut text = String::new();
    let file = File::open(path).ok()?;
    file.take(LONGEST).read_to_string(&mut text).ok()?;
    Some(text)
}

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
        let git_file = text_of(&tree.path().join("gitdir")).unwrap_or_default();
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
        let text = text_of(&git)?;
        dir.join(text.strip_prefix("gitdir:")?.trim())
    };
    let common = match text_of(&own.join("commondir")) {
        Some(text) => own.join(text.trim_end()),
        None => own,
    };
    Some((dir.to_owned(), super::key::real_path(&common)))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_pipe_and_an_endless_file_in_the_place_of_git_keep_nobody_waiting() {
        let folder = tempfile::tempdir().unwrap();
        let (pipe, zero) = (folder.path().join("pipe"), folder.path().join("zero"));
        std::fs::create_dir_all(&pipe).unwrap();
        std::fs::create_dir_all(&zero).unwrap();
        let made = std::process::Command::new("mkfifo")
            .arg(pipe.join(".git"))
            .status();
        assert!(made.unwrap().success());
        std::os::unix::fs::symlink("/dev/zero", zero.join(".git")).unwrap();
        let (tell, told) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let _ = tell.send([of(&pipe), of(&zero)].map(|roots| roots.is_empty()));
        });
        let found = told.recv_timeout(std::time::Duration::from_secs(20));
        assert_eq!(found, Ok([true; 2]));
    }
}
