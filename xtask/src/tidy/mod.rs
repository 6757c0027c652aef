//! House rules that a machine can check, each a plain function with its own tests. Owns the list of
//! rules and the reading of files; a rule sees text or the dependency graph, never the disk.

mod layers;
mod secrets;
mod source;
mod traces;

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::budget::{self, Budget};
use crate::suites::SUITES;
use crate::workspace::Workspace;

/// Something that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    path: PathBuf,
    /// From 1; 0 for the file as a whole.
    line: usize,
    message: String,
}

impl Finding {
    fn in_file(path: &Path, message: impl Into<String>) -> Self {
        Self::in_line(path, 0, message)
    }

    fn in_line(path: &Path, line: usize, message: impl Into<String>) -> Self {
        Finding {
            path: path.to_owned(),
            line,
            message: message.into(),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
        }
        write!(f, ": {}", self.message)
    }
}

/// A text file under version control.
#[derive(Debug)]
pub(crate) struct TextFile {
    path: PathBuf,
    text: String,
}

impl TextFile {
    #[cfg(test)]
    fn new(path: &str, text: &str) -> Self {
        TextFile {
            path: path.into(),
            text: text.into(),
        }
    }

    fn is_rust(&self) -> bool {
        self.path
            .extension()
            .is_some_and(|extension| extension == "rs")
    }

    /// Written by package managers, with the hosts they used.
    fn is_lock_file(&self) -> bool {
        let name = self.path.file_name().and_then(|name| name.to_str());
        matches!(name, Some("Cargo.lock" | "package-lock.json"))
    }

    /// Lines with their number from 1.
    fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text
            .lines()
            .enumerate()
            .map(|(index, line)| (index + 1, line))
    }
}

/// Every rule with what breaks it.
pub(crate) fn run(workspace: &Workspace) -> anyhow::Result<Vec<(&'static str, Vec<Finding>)>> {
    let files = read(workspace)?;
    let crates = crate_folders(&files);
    let architecture = files
        .iter()
        .find(|file| file.path == Path::new("ARCHITECTURE.md"));
    let architecture = architecture.map_or("", |file| file.text.as_str());
    let root = workspace.root.display().to_string();
    Ok(vec![
        (
            "every crate is in ARCHITECTURE.md",
            layers::crates_on_the_map(&crates, architecture),
        ),
        (
            "layers",
            layers::forbidden_dependencies(&workspace.metadata()?),
        ),
        ("module heads", source::module_heads(&files)),
        ("file length", source::long_files(&files)),
        ("machine paths", traces::machine_paths(&files, &root)),
        ("registry hosts", traces::registry_hosts(&files)),
        ("secrets", secrets::find(&files)),
        ("time budget", time_budget(workspace)?),
    ])
}

fn time_budget(workspace: &Workspace) -> anyhow::Result<Vec<Finding>> {
    let budget = Budget::read(&workspace.root)?;
    let problems = budget.problems(SUITES.iter().map(|suite| suite.part));
    let file = Path::new(budget::FILE);
    Ok(problems
        .into_iter()
        .map(|problem| Finding::in_file(file, problem))
        .collect())
}

fn read(workspace: &Workspace) -> anyhow::Result<Vec<TextFile>> {
    let mut files = Vec::new();
    for path in workspace.files()? {
        let bytes = fs::read(workspace.root.join(&path))
            .with_context(|| format!("cannot read {}", path.display()))?;
        // What is not UTF-8 is no text: an image, a fuzz seed.
        if let Ok(text) = String::from_utf8(bytes) {
            files.push(TextFile { path, text });
        }
    }
    Ok(files)
}

fn crate_folders(files: &[TextFile]) -> Vec<String> {
    let manifests = files.iter().filter_map(|file| {
        let folder = file.path.strip_prefix("crates").ok()?.parent()?;
        let is_manifest = file.path.ends_with("Cargo.toml") && folder.components().count() == 1;
        is_manifest.then(|| folder.display().to_string())
    });
    manifests.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_reads_like_a_compilers() {
        let path = Path::new("a/b.rs");
        assert_eq!(
            Finding::in_line(path, 3, "bad").to_string(),
            "a/b.rs:3: bad"
        );
        assert_eq!(Finding::in_file(path, "bad").to_string(), "a/b.rs: bad");
    }

    #[test]
    fn crates_are_the_folders_with_a_manifest_of_their_own() {
        let files = [
            TextFile::new("crates/wire/Cargo.toml", ""),
            TextFile::new("crates/wire/tests/x/Cargo.toml", ""),
            TextFile::new("xtask/Cargo.toml", ""),
            TextFile::new("crates/README.md", ""),
        ];
        assert_eq!(crate_folders(&files), ["wire"]);
    }
}
