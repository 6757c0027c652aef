//! Paths as text.

use std::path::{Component, Path, PathBuf};

/// The absolute path that a file's name means in a folder.
pub(super) fn absolute(cwd: &str, file: &str) -> String {
    if let Some(rest) = file.strip_prefix("~/") {
        return format!("${{home}}/{}", super::plain(rest));
    }
    let mut path = PathBuf::new();
    for part in Path::new(cwd).join(file).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                path.pop();
            }
            other => path.push(other),
        }
    }
    super::plain(&path.to_string_lossy())
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    #[test]
    fn a_name_becomes_a_path_in_the_folder() {
        for (cwd, file, expected) in [
            ("/project", "./b/a.txt", "/project/b/a.txt"),
            ("/project/x", "../a.txt", "/project/a.txt"),
            ("/project", "../../../a.txt", "/a.txt"),
            ("/project", "/etc/hosts", "/etc/hosts"),
            ("/project", "..", "/"),
            ("/project", "~/a.txt", "${home}/a.txt"),
            ("/project", "${cwd}.txt", "/project/$${cwd}.txt"),
        ] {
            assert_eq!(absolute(cwd, file), expected, "{file} in {cwd}");
        }
    }
}
