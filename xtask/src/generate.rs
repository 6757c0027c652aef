//! `cargo xtask gen`: files that are made from the code and kept in the repository. Owns the list of
//! generators and the comparison; each generator only says what its files should hold.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::check::{Binary, Outcome};
use crate::cli_docs;
use crate::out::{self, Format};
use crate::process::Cmd;
use crate::workspace::{PROFILE, Workspace};

/// One source of generated files.
#[derive(Debug)]
pub(crate) struct Generator {
    pub(crate) name: &'static str,
    pub(crate) what: &'static str,
    produce: fn(&Workspace) -> anyhow::Result<Vec<File>>,
}

/// A file as it should be.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct File {
    /// Relative to the root.
    pub(crate) path: PathBuf,
    pub(crate) text: String,
}

pub(crate) const GENERATORS: &[Generator] = &[
    Generator {
        name: "cli",
        what: "docs/cli.md: the help of every command of the binary",
        produce: cli_docs::produce,
    },
    Generator {
        name: "openapi",
        what: "crates/api/openapi.json: the document of the HTTP API",
        produce: openapi,
    },
];

/// The binary says it itself.
fn openapi(workspace: &Workspace) -> anyhow::Result<Vec<File>> {
    let text = Cmd::new(workspace.built("countersign"))
        .arg("openapi")
        .read()?;
    Ok(vec![File {
        path: "crates/api/openapi.json".into(),
        text: text.trim_end().to_owned() + "\n",
    }])
}

/// `cargo xtask gen`: writes what is out of date.
pub(crate) fn command(workspace: &Workspace) -> anyhow::Result<()> {
    ensure_binary(workspace, Binary::Missing)?;
    for generator in GENERATORS {
        for file in stale(workspace, generator)? {
            let path = workspace.root.join(&file.path);
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder)
                    .with_context(|| format!("cannot create {}", folder.display()))?;
            }
            fs::write(&path, &file.text)
                .with_context(|| format!("cannot write {}", path.display()))?;
            out::say(format_args!("wrote {}", file.path.display()));
        }
    }
    Ok(())
}

/// `cargo xtask gen --check`: names what is out of date, writes nothing.
pub(crate) fn check(workspace: &Workspace, binary: Binary) -> anyhow::Result<Outcome> {
    ensure_binary(workspace, binary)?;
    let mut names = Vec::new();
    for generator in GENERATORS {
        let files = stale(workspace, generator)?;
        names.extend(files.iter().map(|file| file.path.display().to_string()));
    }
    Ok(if names.is_empty() {
        Outcome::Passed
    } else {
        Outcome::Failed(format!(
            "out of date: {}; run `cargo xtask gen`",
            names.join(", ")
        ))
    })
}

/// `cargo xtask gen --list`.
pub(crate) fn list(format: Format) -> anyhow::Result<()> {
    let rows = GENERATORS.iter();
    match format {
        Format::Json => {
            let rows = rows.map(|row| serde_json::json!({"name": row.name, "what": row.what}));
            out::say_json(&rows.collect::<Vec<_>>())
        }
        Format::Text => {
            rows.for_each(|row| out::say(format_args!("{:<8} {}", row.name, row.what)));
            Ok(())
        }
    }
}

fn stale(workspace: &Workspace, generator: &Generator) -> anyhow::Result<Vec<File>> {
    let files = (generator.produce)(workspace)
        .with_context(|| format!("the generator {:?} failed", generator.name))?;
    Ok(files
        .into_iter()
        .filter(|file| file.is_stale(&workspace.root))
        .collect())
}

impl File {
    /// A missing or unreadable file is stale as well.
    fn is_stale(&self, root: &Path) -> bool {
        fs::read_to_string(root.join(&self.path)).ok().as_deref() != Some(self.text.as_str())
    }
}

pub(crate) fn ensure_binary(workspace: &Workspace, binary: Binary) -> anyhow::Result<()> {
    if binary == Binary::Missing {
        let cargo = workspace
            .cargo()
            .args(["build", "--package", "countersign"]);
        if !cargo.args(["--profile", PROFILE]).run()?.success() {
            anyhow::bail!("the binary does not build; see above");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_stale_when_missing_or_different() {
        let dir = tempfile::tempdir().unwrap();
        let file = File {
            path: "a.md".into(),
            text: "new\n".into(),
        };
        assert!(file.is_stale(dir.path()));
        fs::write(dir.path().join("a.md"), "old\n").unwrap();
        assert!(file.is_stale(dir.path()));
        fs::write(dir.path().join("a.md"), "new\n").unwrap();
        assert!(!file.is_stale(dir.path()));
    }
}
