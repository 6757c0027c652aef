//! Where things are: the repository's root, cargo's target folder, the cache, and what the manifests
//! say. Asks `cargo metadata` and git; changes nothing.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde::Deserialize;

use crate::process::Cmd;

/// The profile of the one build that every suite shares.
pub(crate) const PROFILE: &str = "ci";
/// What is built beside the defaults, the same for every suite so that none builds again.
pub(crate) const FEATURES: [&str; 2] =
    ["--features", "countersign-client/blocking,countersign/otel"];

/// Paths of this checkout.
#[derive(Debug)]
pub(crate) struct Workspace {
    pub(crate) root: PathBuf,
    pub(crate) target: PathBuf,
    pub(crate) cache: PathBuf,
}

impl Workspace {
    pub(crate) fn find() -> anyhow::Result<Self> {
        let metadata = Metadata::read(Cmd::cargo().args(["metadata", "--no-deps"]))
            .context("cannot read the workspace: run this inside the repository")?;
        Ok(Workspace {
            root: metadata.workspace_root,
            target: metadata.target_directory,
            cache: countersign_testkit::fetch::cache_dir()?,
        })
    }

    /// `cargo`, at the root, with the cached tools within reach. They come first: they are there
    /// because the machine's own were missing or too old.
    pub(crate) fn cargo(&self) -> Cmd {
        Cmd::cargo().dir(&self.root).first_in_path(&self.tools())
    }

    /// Where `cargo install` puts tools that the machine lacks.
    pub(crate) fn tools(&self) -> PathBuf {
        self.cache.join("bin")
    }

    /// A program of the shared build.
    pub(crate) fn built(&self, program: &str) -> PathBuf {
        let file = format!("{program}{}", std::env::consts::EXE_SUFFIX);
        self.target.join(PROFILE).join(file)
    }

    /// The whole dependency graph.
    pub(crate) fn metadata(&self) -> anyhow::Result<Metadata> {
        Metadata::read(self.cargo().args(["metadata", "--locked"]))
            .context("is Cargo.lock up to date? `cargo metadata` updates it")
    }

    /// Every file that is or would be under version control, relative to the root.
    pub(crate) fn files(&self) -> anyhow::Result<Vec<PathBuf>> {
        let listed = Cmd::new("git")
            .args([
                "ls-files",
                "-z",
                "--cached",
                "--others",
                "--exclude-standard",
            ])
            .dir(&self.root)
            .read()
            .context("the list of files comes from git")?;
        let mut files: Vec<PathBuf> = listed
            .split_terminator('\0')
            .map(PathBuf::from)
            // Deleted but not yet committed.
            .filter(|file| self.root.join(file).is_file())
            .collect();
        files.sort();
        files.dedup();
        Ok(files)
    }
}

/// The part of `cargo metadata` that is used here.
#[derive(Debug, Deserialize)]
pub(crate) struct Metadata {
    pub(crate) packages: Vec<Package>,
    pub(crate) resolve: Option<Resolve>,
    workspace_root: PathBuf,
    target_directory: PathBuf,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Package {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) targets: Vec<Target>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Target {
    pub(crate) name: String,
    pub(crate) kind: Vec<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Resolve {
    pub(crate) nodes: Vec<Node>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Node {
    pub(crate) id: String,
    pub(crate) deps: Vec<NodeDep>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct NodeDep {
    pub(crate) pkg: String,
    pub(crate) dep_kinds: Vec<DepKind>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct DepKind {
    /// `None` is a normal dependency; else `dev` or `build`.
    pub(crate) kind: Option<String>,
}

impl Metadata {
    fn read(cargo: Cmd) -> anyhow::Result<Self> {
        let text = cargo.args(["--format-version", "1"]).read()?;
        serde_json::from_str(&text).context("`cargo metadata` answered in an unknown form")
    }

    /// The manifest of a package outside the workspace.
    pub(crate) fn of_manifest(manifest: &Path) -> anyhow::Result<Self> {
        let cargo = Cmd::cargo().args(["metadata", "--no-deps", "--manifest-path"]);
        Self::read(cargo.arg(manifest))
    }
}
