//! A place of its own for one run of the real CLI: a temporary home, project and temp folder, and an
//! environment built from nothing.
//!
//! Tests start the real CLI here only: [`Sandbox::start`] does it, and who must start it by other means
//! takes all of [`Sandbox::spec`]. Folders and environment are those of `rehearsal::real`. Invariants: the
//! CLI sees no variable, home or credential of the caller; it talks to a loopback address only; when the
//! sandbox is dropped no process and no file of the run is left.

mod leftovers;
mod process;

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use countersign_rehearsal::real::{EnvironmentError, Places, environment, search_path};
use tempfile::TempDir;

pub use countersign_rehearsal::real::DUMMY_KEY;
pub use process::{Cli, CliStream, Ended, Launch, Patience};

use crate::fetch::Installed;

/// Why a sandbox could not be built or a CLI not be started in it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SandboxError {
    /// A file operation failed.
    #[error("cannot {doing} {}: is the temporary folder writable?", .path.display())]
    Io {
        /// What was tried.
        doing: &'static str,
        /// On what.
        path: PathBuf,
        /// Why it failed.
        source: std::io::Error,
    },
    /// `git init` failed.
    #[error("git could not make the project folder a repository: is git installed?")]
    Git,
    /// The base URL is not a loopback address, or a variable is one of those that make the sandbox.
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
    /// The program did not start.
    #[error("cannot start {}: run `cargo xtask fetch` again", .program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Another user was asked for and this one may not change to it.
    #[error("running as user {0} needs root and setpriv: run this as root, or skip it")]
    NoOtherUser(u32),
}

/// Who runs the CLI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunAs {
    /// The user that runs the tests.
    Caller,
    /// Another user and group of that number; needs root and `setpriv`.
    Uid(u32),
}

/// Everything that starting the CLI in a sandbox takes, for callers that start it themselves. Clear the
/// environment before setting this one: it is the whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchSpec {
    /// Program, leading arguments, then the flags of the launch. The base flags are the caller's.
    pub command: Vec<OsString>,
    /// The complete environment.
    pub env: Vec<(OsString, OsString)>,
    /// The working directory.
    pub cwd: PathBuf,
}

/// Folders for one run, gone when dropped.
#[derive(Debug)]
pub struct Sandbox {
    places: Places,
    run_as: RunAs,
    /// Gone with everything in it when dropped.
    _root: TempDir,
}

impl Sandbox {
    /// Makes the folders.
    pub fn create(run_as: RunAs) -> Result<Sandbox, SandboxError> {
        let base = std::env::temp_dir();
        let root = tempfile::Builder::new()
            .prefix("countersign-")
            .rand_bytes(6)
            .tempdir_in(&base)
            .map_err(io("make a folder in", &base))?;
        let sandbox = Sandbox {
            places: Places::below(root.path()),
            run_as,
            _root: root,
        };
        if let RunAs::Uid(uid) = run_as {
            if !can_become_another_user() {
                return Err(SandboxError::NoOtherUser(uid));
            }
            let open = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(sandbox.root(), open).map_err(io("open", sandbox.root()))?;
        }
        for dir in sandbox.places.all() {
            std::fs::create_dir(&dir).map_err(io("create", &dir))?;
            sandbox.give(&dir)?;
        }
        Ok(sandbox)
    }

    /// The folder that holds all others.
    pub fn root(&self) -> &Path {
        self.places.root()
    }

    /// The CLI's `HOME`.
    pub fn home(&self) -> PathBuf {
        self.places.home()
    }

    /// The CLI's working directory.
    pub fn project(&self) -> PathBuf {
        self.places.project()
    }

    /// The CLI's folder for temporary files.
    pub fn tmp(&self) -> PathBuf {
        self.places.tmp()
    }

    /// Writes a file into the project.
    pub fn write(&self, path: &str, content: &str) -> Result<(), SandboxError> {
        let file = self.project().join(path);
        if let Some(dir) = file.parent().filter(|dir| !dir.exists()) {
            std::fs::create_dir_all(dir).map_err(io("create", dir))?;
            self.give(dir)?;
        }
        std::fs::write(&file, content).map_err(io("write", &file))?;
        self.give(&file)
    }

    /// Makes the project folder a git repository.
    pub fn git_init(&self) -> Result<(), SandboxError> {
        let status = std::process::Command::new("git")
            .args(["init", "--quiet", "--initial-branch=main"])
            .current_dir(self.project())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.home())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        match status {
            Ok(status) if status.success() => self.give_tree(&self.project()),
            _ => Err(SandboxError::Git),
        }
    }

    /// How the CLI is started in here, for a caller that does it itself. What it starts so is ended with
    /// the sandbox, since it carries the sandbox's `HOME`.
    pub fn spec(&self, installed: &Installed, launch: &Launch) -> Result<LaunchSpec, SandboxError> {
        let mut command = self.command(installed)?;
        command.extend(launch.flags.iter().map(OsString::from));
        Ok(LaunchSpec {
            command,
            env: self.environment(installed, launch)?,
            cwd: self.project(),
        })
    }

    /// The whole environment of the CLI; nothing of the caller's is in it.
    fn environment(
        &self,
        installed: &Installed,
        launch: &Launch,
    ) -> Result<Environment, SandboxError> {
        let path = search_path(&installed.command, &[]);
        Ok(environment(
            &self.places,
            path,
            &launch.base_url,
            &launch.env,
        )?)
    }

    /// Program and leading arguments, readable for whoever runs it.
    fn command(&self, installed: &Installed) -> Result<Vec<OsString>, SandboxError> {
        let RunAs::Uid(uid) = self.run_as else {
            return Ok(installed.command.clone());
        };
        let copy = self.root().join("cli");
        if !copy.exists() {
            link_tree(&installed.dir, &copy)?;
        }
        let mut command: Vec<OsString> = vec!["setpriv".into()];
        command.extend(
            ["--reuid", "--regid"]
                .iter()
                .flat_map(|flag| [flag.into(), uid.to_string().into()]),
        );
        command.extend(["--clear-groups".into(), "--".into()]);
        for part in &installed.command {
            command.push(match Path::new(part).strip_prefix(&installed.dir) {
                Ok(inside) => copy.join(inside).into_os_string(),
                Err(_) => part.clone(),
            });
        }
        Ok(command)
    }

    fn give(&self, path: &Path) -> Result<(), SandboxError> {
        match self.run_as {
            RunAs::Caller => Ok(()),
            RunAs::Uid(uid) => {
                std::os::unix::fs::chown(path, Some(uid), Some(uid)).map_err(io("hand over", path))
            }
        }
    }

    fn give_tree(&self, path: &Path) -> Result<(), SandboxError> {
        self.give(path)?;
        if path.is_dir() {
            for entry in std::fs::read_dir(path).map_err(io("list", path))? {
                self.give_tree(&entry.map_err(io("list", path))?.path())?;
            }
        }
        Ok(())
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        leftovers::end_all(&self.home());
        // 2.0.75 keeps the output of background shells elsewhere, whatever `TMPDIR` says.
        self.places.clear_strays();
    }
}

type Environment = Vec<(OsString, OsString)>;

/// Whether tests may run the CLI as another user here: root, with `setpriv` at hand.
pub fn can_become_another_user() -> bool {
    rustix::process::geteuid().is_root()
        && std::process::Command::new("setpriv")
            .arg("--version")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
}

/// The same files under another folder: hard links where the disk allows it, copies elsewhere.
fn link_tree(from: &Path, to: &Path) -> Result<(), SandboxError> {
    std::fs::create_dir_all(to).map_err(io("create", to))?;
    for entry in std::fs::read_dir(from).map_err(io("list", from))? {
        let path = entry.map_err(io("list", from))?.path();
        let target = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            link_tree(&path, &target)?;
        } else if std::fs::hard_link(&path, &target).is_err() {
            std::fs::copy(&path, &target).map_err(io("copy", &path))?;
        }
    }
    Ok(())
}

fn io(doing: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> SandboxError {
    let path = path.to_owned();
    move |source| SandboxError::Io {
        doing,
        path,
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn installed() -> Installed {
        let pinned = crate::fetch::Pinned::find("2.1.62").unwrap();
        let command = vec!["/usr/bin/node".into(), "/cache/package/cli.js".into()];
        Installed {
            pinned,
            dir: "/cache".into(),
            command,
        }
    }

    fn launch(base_url: &str) -> Launch {
        Launch {
            base_url: base_url.into(),
            flags: vec![],
            env: vec![("X".into(), "1".into())],
        }
    }

    #[test]
    fn a_spec_holds_the_whole_environment_and_is_refused_what_a_start_is_refused() {
        let sandbox = Sandbox::create(RunAs::Caller).unwrap();
        let mut launch = launch("http://127.0.0.1:9");
        launch.flags = vec!["--debug".into()];
        let spec = sandbox.spec(&installed(), &launch).unwrap();
        let command = ["/usr/bin/node", "/cache/package/cli.js", "--debug"];
        assert_eq!(spec.command, command.map(OsString::from));
        let environment = sandbox.environment(&installed(), &launch).unwrap();
        assert_eq!((spec.env, spec.cwd), (environment, sandbox.project()));
        launch.base_url = "http://10.0.0.1:80".into();
        let refused = sandbox.spec(&installed(), &launch);
        assert!(matches!(
            refused,
            Err(SandboxError::Environment(EnvironmentError::NotLoopback(_)))
        ));
    }

    #[test]
    fn what_makes_the_sandbox_cannot_be_overridden() {
        let sandbox = Sandbox::create(RunAs::Caller).unwrap();
        let mut launch = launch("http://127.0.0.1:9");
        launch.env = vec![("HOME".into(), "/root".into())];
        let refused = sandbox.environment(&installed(), &launch);
        assert!(
            matches!(refused, Err(SandboxError::Environment(EnvironmentError::Fixed(name))) if name == "HOME")
        );
    }

    #[test]
    fn a_dropped_sandbox_leaves_no_folder() {
        let sandbox = Sandbox::create(RunAs::Caller).unwrap();
        sandbox.write("src/a.txt", "x").unwrap();
        sandbox.git_init().unwrap();
        let root = sandbox.root().to_owned();
        assert!(root.join("project/.git").is_dir());
        drop(sandbox);
        assert!(!root.exists());
    }
}
