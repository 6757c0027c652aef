//! The two halves of an order: `spec.g` on the disk, and what only goes through a pipe.
//!
//! Owns which field is in which half. Invariants: no value of a variable, no secret argument and no token is in the
//! half that is stored; both halves come through one pipe, so they are always of one order. The keeper stores its half
//! under `keeper.lock` and before its generation begins: until then another order may take its place, then none.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::folder::{Folder, write_private};
use crate::order::{Graces, Order};

/// The half that is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Spec {
    pub(crate) session: String,
    pub(crate) generation: u32,
    pub(crate) run: PathBuf,
    /// The command, secrets masked.
    pub(crate) argv: Vec<String>,
    pub(crate) cwd: String,
    /// Names of variables.
    pub(crate) env: Vec<String>,
    /// By this a process of this agent is known, whatever became of the keeper.
    pub(crate) marker: String,
    pub(crate) graces: Graces,
    pub(crate) kill_first: bool,
}

/// An order on its way to the keeper.
#[derive(Serialize, Deserialize)]
pub(crate) struct Parcel {
    pub(crate) spec: Spec,
    pub(crate) secrets: Secrets,
}

/// The half that is not.
#[derive(Serialize, Deserialize)]
pub(crate) struct Secrets {
    pub(crate) token: String,
    pub(crate) program: OsString,
    pub(crate) args: Vec<OsString>,
    pub(crate) cwd: OsString,
    pub(crate) env: Vec<(OsString, OsString)>,
}

impl Spec {
    fn of(order: &Order) -> Self {
        let program = order.program.to_string_lossy().into_owned();
        let args = order.args.iter().map(crate::Arg::shown);
        Self {
            session: order.session.clone(),
            generation: order.generation,
            run: absolute(&order.run),
            argv: std::iter::once(program).chain(args).collect(),
            cwd: absolute(&order.cwd).to_string_lossy().into_owned(),
            env: order
                .env
                .iter()
                .map(|(name, _)| name.to_string_lossy().into_owned())
                .collect(),
            marker: order.marker.value().to_owned(),
            graces: order.graces,
            kill_first: order.kill_first,
        }
    }

    /// Brings it to the disk, in the place of one whose start was cut off. To be called under `keeper.lock`, by whoever
    /// knows that the generation has not begun.
    pub(crate) fn store(&self, folder: &Folder) -> io::Result<()> {
        let bytes = serde_json::to_vec_pretty(self)?;
        let new = folder.path().join(format!("spec.{}.new", self.generation));
        write_private(&new, &bytes)?;
        std::fs::rename(&new, folder.spec(self.generation))?;
        folder.sync()
    }

    pub(crate) fn load(folder: &Folder, generation: u32) -> io::Result<Self> {
        let bytes = std::fs::read(folder.spec(generation))?;
        Ok(serde_json::from_slice(&bytes)?)
    }
}

/// The keeper leaves the host's folder, so a path must not depend on it.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

impl Parcel {
    pub(crate) fn of(order: &Order) -> Self {
        Self {
            spec: Spec::of(order),
            secrets: Secrets::of(order),
        }
    }
}

impl Secrets {
    fn of(order: &Order) -> Self {
        Self {
            token: order.token.clone(),
            program: order.program.clone(),
            args: order.args.iter().map(|arg| arg.value().clone()).collect(),
            cwd: absolute(&order.cwd).into_os_string(),
            env: order.env.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::Arg;
    use countersign_process::Marker;

    fn order() -> Order {
        Order {
            session: "s".into(),
            generation: 3,
            dir: "/d".into(),
            run: "/r".into(),
            program: "claude".into(),
            args: vec![Arg::Plain("--settings".into()), Arg::Secret("hush".into())],
            cwd: "/".into(),
            env: vec![("API_KEY".into(), "quiet".into())],
            token: "silence".into(),
            marker: Marker::of(7),
            graces: Graces::default(),
            kill_first: false,
        }
    }

    #[test]
    fn what_is_stored_names_secrets_and_holds_none() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Folder::make(folder.path()).unwrap();
        let spec = Spec::of(&order());
        spec.store(&folder).unwrap();
        let stored = std::fs::read_to_string(folder.spec(3)).unwrap();
        for secret in ["hush", "quiet", "silence"] {
            assert!(!stored.contains(secret), "{stored}");
        }
        assert!(stored.contains("API_KEY") && stored.contains("***"));
        assert_eq!(Spec::load(&folder, 3).unwrap(), spec);
    }

    #[test]
    fn an_order_that_came_to_nothing_is_replaced_whole() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Folder::make(folder.path()).unwrap();
        // A start that was cut off leaves pieces.
        std::fs::write(folder.path().join("spec.3.new"), "{\"ses").unwrap();
        let spec = Spec::of(&order());
        spec.store(&folder).unwrap();
        let other = Spec {
            cwd: "/".into(),
            argv: Vec::new(),
            ..spec
        };
        other.store(&folder).unwrap();
        assert_eq!(Spec::load(&folder, 3).unwrap(), other);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn nothing_that_is_shown_of_an_order_is_secret() {
        let shown = format!("{:?}", order());
        for secret in ["hush", "quiet", "silence"] {
            assert!(!shown.contains(secret), "{shown}");
        }
    }
}
