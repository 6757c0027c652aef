//! The ordinary user as whom suites run where we are root.
//!
//! Root may read every file and every process, so a test that passes as root says nothing about the people who use the product.
//! Owns that user: its number, its home, and the namespace of mounts in which it can reach the checkout and the cache though
//! they lie in a closed folder of root's. Invariants: no permission and no owner of the caller's files changes, but for the
//! folders in `target/` and `ui/` that test runners write to; nothing of the caller's home is within the user's reach.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use tempfile::TempDir;

use crate::process::Cmd;
use crate::workspace::Workspace;

/// The number of the user and of its group. No entry in the list of users is needed, and none is made.
const ID: u32 = 20_231;

/// Makes what is behind closed folders reachable, in a namespace of its own, and becomes the user. Its arguments: the stage, then
/// pairs of a folder that is closed and one below it that is to be reached, each pair after the stage for it was bound; then `--`
/// and the command.
const SCRIPT: &str = r#"
set -e
stage=$1; shift
at=0
for word in "$@"; do [ "$word" = -- ] && break; at=$((at + 1)); if [ $((at % 2)) = 0 ]; then
  mkdir -p "$stage/$at"; mount --bind "$word" "$stage/$at"; fi; done
at=0; opened=:
while [ "$1" != -- ]; do
  closed=$1; folder=$2; shift 2; at=$((at + 2))
  case "$opened" in *":$closed:"*) ;; *) mount -t tmpfs -o mode=755,size=1m closed "$closed"; opened="$opened$closed:" ;; esac
  mkdir -p "$folder"; mount --bind "$stage/$at" "$folder"
done
shift
cd "$COUNTERSIGN_CWD"; unset COUNTERSIGN_CWD
exec setpriv --reuid="$COUNTERSIGN_UID" --regid="$COUNTERSIGN_UID" --clear-groups -- "$@"
"#;

/// What the user writes to, from the root of the checkout.
const WRITTEN: [&str; 5] = [
    "target/nextest",
    "target/tmp",
    "target/ordinary",
    "ui/node_modules/.vite",
    "ui/node_modules/.vite-temp",
];

/// Somebody without any right beyond their own files.
#[derive(Debug)]
pub(crate) struct OrdinaryUser {
    home: TempDir,
    cache: PathBuf,
    /// Each folder that must be reached, behind the outermost folder that is closed to others.
    closed: Vec<(PathBuf, PathBuf)>,
}

/// Why no other user can be had.
pub(crate) fn why_none() -> Option<String> {
    if !rustix::process::geteuid().is_root() {
        return Some("not root, so no other user can be had: run it as root".to_owned());
    }
    ["setpriv", "unshare"].iter().find_map(|program| {
        let found = Cmd::new(program).arg("--version").read();
        found
            .is_err()
            .then(|| format!("{program} is not in PATH: install util-linux"))
    })
}

impl OrdinaryUser {
    /// Makes the user's home. None if we are an ordinary user ourselves.
    pub(crate) fn if_root(workspace: &Workspace) -> anyhow::Result<Option<Self>> {
        if !rustix::process::geteuid().is_root() {
            return Ok(None);
        }
        let home = tempfile::Builder::new()
            .prefix("countersign-home-")
            .tempdir()
            .context("cannot make a home for the ordinary user")?;
        give(home.path())?;
        for folder in WRITTEN {
            let folder = workspace.root.join(folder);
            fs::create_dir_all(&folder)
                .with_context(|| format!("cannot make {}", folder.display()))?;
            give_all(&folder)?;
        }
        let reached = [&workspace.root, &workspace.target, &workspace.cache];
        let closed = reached
            .into_iter()
            .filter_map(|folder| Some((outermost_closed(folder)?, folder.clone())))
            .collect();
        Ok(Some(OrdinaryUser {
            home,
            cache: workspace.cache.clone(),
            closed,
        }))
    }

    /// A command that this user runs, in `dir`, with an environment that tells nothing of ours.
    pub(crate) fn cmd(&self, program: impl AsRef<std::ffi::OsStr>, dir: &Path) -> Cmd {
        let stage = self.home.path().join("mounts");
        let user = ID.to_string();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut cmd = Cmd::new("unshare")
            .args(["--mount", "--propagation", "private", "--", "sh", "-c"])
            .unseen(SCRIPT)
            .arg("as-ordinary-user")
            .arg(&stage);
        for (closed, folder) in &self.closed {
            cmd = cmd.arg(closed).arg(folder);
        }
        cmd.arg("--")
            .arg(program)
            .bare()
            .env("PATH", path)
            .env("HOME", self.home.path().join("home"))
            .env("LANG", "C.UTF-8")
            .env("COUNTERSIGN_CACHE", &self.cache)
            .env("COUNTERSIGN_UID", user)
            .env("COUNTERSIGN_CWD", dir)
    }
}

/// The user's own from here on.
fn give(folder: &Path) -> anyhow::Result<()> {
    let home = folder.join("home");
    fs::create_dir(&home).with_context(|| format!("cannot make {}", home.display()))?;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755))?;
    fs::set_permissions(&home, fs::Permissions::from_mode(0o700))?;
    chown(&home, Some(ID), Some(ID)).context("cannot give the home to the ordinary user")
}

/// A folder with everything in it. Links are not followed.
fn give_all(folder: &Path) -> anyhow::Result<()> {
    let failed = || format!("cannot give {} to the ordinary user", folder.display());
    std::os::unix::fs::lchown(folder, Some(ID), Some(ID)).with_context(failed)?;
    if !fs::symlink_metadata(folder).with_context(failed)?.is_dir() {
        return Ok(());
    }
    for entry in fs::read_dir(folder).with_context(failed)? {
        give_all(&entry.with_context(failed)?.path())?;
    }
    Ok(())
}

/// The outermost folder on the way to `folder`, itself not counted, that lets nobody else through.
fn outermost_closed(folder: &Path) -> Option<PathBuf> {
    let mut way: Vec<&Path> = folder.ancestors().skip(1).collect();
    way.reverse();
    let is_closed = |on_the_way: &&&Path| {
        fs::metadata(on_the_way).is_ok_and(|found| found.permissions().mode() & 0o001 == 0)
    };
    way.iter()
        .find(is_closed)
        .map(|closed| closed.to_path_buf())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_outermost_closed_folder_on_the_way_is_found() {
        let open = tempfile::tempdir().unwrap();
        let set = |path: &Path, mode| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        };
        set(open.path(), 0o755);
        let inner = open.path().join("a/b/c");
        fs::create_dir_all(&inner).unwrap();
        set(&inner, 0o700);
        assert_eq!(outermost_closed(&inner), None);
        set(&open.path().join("a"), 0o700);
        assert_eq!(outermost_closed(&inner), Some(open.path().join("a")));
        set(open.path(), 0o700);
        assert_eq!(outermost_closed(&inner), Some(open.path().to_owned()));
    }

    /// Holds only as root, and says nothing elsewhere: there the suites are run by an ordinary user anyway.
    #[test]
    fn what_lies_in_a_closed_folder_is_reached_and_nothing_beside_it() {
        if why_none().is_some() {
            return;
        }
        let closed = tempfile::tempdir().unwrap();
        let for_root = fs::Permissions::from_mode(0o700);
        fs::set_permissions(closed.path(), for_root).unwrap();
        let at = |name: &str| closed.path().join(name);
        for name in ["checkout/ui", "checkout/target", "cache", "private"] {
            fs::create_dir_all(at(name)).unwrap();
        }
        fs::write(at("checkout/here"), "seen").unwrap();
        fs::write(at("private/key"), "secret").unwrap();
        let workspace = Workspace {
            root: at("checkout"),
            target: at("checkout/target"),
            cache: at("cache"),
        };
        let user = OrdinaryUser::if_root(&workspace).unwrap().unwrap();
        let say = |script: &str| {
            let cmd = user.cmd("sh", &workspace.root);
            cmd.args(["-c", script]).read()
        };
        assert_eq!(say("cat here; id -u").unwrap().trim(), format!("seen{ID}"));
        say("touch target/tmp/x && touch \"$HOME/x\"").unwrap();
        assert!(say("cat ../private/key").is_err());
        assert!(say("touch here").is_err());
    }
}
