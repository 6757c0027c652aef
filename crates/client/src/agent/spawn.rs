//! What is needed to start an agent, and why it did not start.
//!
//! The child gets exactly the environment it is given, plus its marker. It is started on the thread that lasts,
//! because its death signal is tied to the thread that forks.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::PathBuf;

use countersign_process::{Marker, die_with_parent, lasting};
use tokio::process::{Child, Command};
use tokio::runtime::Handle;

use super::pipes::Ends;

/// Told each line of stderr, masked and without line end.
pub(crate) type OnStderr = Box<dyn FnMut(&str) + Send>;

/// How an agent is to be started.
pub(crate) struct SpawnSpec {
    /// The program: a path, or a name looked for in the `PATH` of `env`.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Its whole environment; nothing of the caller's is added but the marker.
    pub env: Vec<(OsString, OsString)>,
    /// The directory it works in.
    pub cwd: PathBuf,
    /// By which its processes are known; random, another for each agent.
    pub marker: Marker,
    /// Called for each line of stderr, on the runtime: it must not block. One that panics is not called again.
    pub on_stderr: Option<OnStderr>,
}

impl fmt::Debug for SpawnSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Values of the environment are secrets more often than not.
        let names: Vec<_> = self.env.iter().map(|(name, _)| name).collect();
        f.debug_struct("SpawnSpec")
            .field("program", &self.program)
            .field("args", &self.args)
            .field("env", &names)
            .field("cwd", &self.cwd)
            .field("marker", &self.marker)
            .finish_non_exhaustive()
    }
}

/// Why an agent did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpawnError {
    /// There is no such program.
    #[error("there is no program {}: give the path of `claude`, or install it", .program.display())]
    NotFound {
        /// The program.
        program: PathBuf,
    },
    /// The program is there, but not what is to run it.
    #[error("{} is there, but the interpreter or loader it names is not: install that, or give another program", .program.display())]
    NoInterpreter {
        /// The program.
        program: PathBuf,
    },
    /// The program may not be executed.
    #[error("{} may not be executed: is it a file, and is its executable bit set (chmod +x)?", .program.display())]
    PermissionDenied {
        /// The program.
        program: PathBuf,
    },
    /// The program is not one that this system can execute. Most systems give it to the shell instead.
    #[error("{} is no program for this system: is it whole, and of this processor's kind?", .program.display())]
    NotExecutable {
        /// The program.
        program: PathBuf,
    },
    /// The working directory cannot be entered.
    #[error("cannot work in {}: give a directory that exists and may be entered", .cwd.display())]
    BadCwd {
        /// The directory.
        cwd: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Arguments and environment are too long for the system.
    #[error(
        "the command line ({args} bytes) and environment ({env} bytes) are more than this system takes: pass long values in files"
    )]
    TooLong {
        /// Bytes of the arguments.
        args: usize,
        /// Bytes of the environment.
        env: usize,
    },
    /// The program is being written.
    #[error("{} is being written, by an update perhaps: try again in a moment", .program.display())]
    TextBusy {
        /// The program.
        program: PathBuf,
    },
    /// The system has no room for another process.
    #[error(
        "no room for another process: too many processes or open files (see `ulimit -u -n`), or no memory"
    )]
    NoRoom {
        /// Which of these.
        source: io::Error,
    },
    /// Called outside of a tokio runtime.
    #[error("an agent is started from within a tokio runtime with I/O and time enabled")]
    NoRuntime,
    /// The thread that starts agents could not.
    #[error(transparent)]
    Thread(#[from] lasting::LastingError),
    /// Something else.
    #[error("cannot start {}", .program.display())]
    Other {
        /// The program.
        program: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// Starts the child, with all three pipes.
pub(super) fn start(spec: &SpawnSpec) -> Result<(Child, Ends), SpawnError> {
    let runtime = Handle::try_current().map_err(|_| SpawnError::NoRuntime)?;
    let mut command = Command::new(&spec.program);
    command
        .args(&spec.args)
        .env_clear()
        .envs(spec.env.iter().map(|(name, value)| (name, value)))
        .env(Marker::NAME, spec.marker.value())
        .current_dir(&spec.cwd)
        .kill_on_drop(true);
    die_with_parent(command.as_std_mut());
    let ends = Ends::of(&mut command).map_err(|source| named(spec, source))?;
    // The command holds the child's ends of the pipes, and goes when the child has started.
    let started = lasting::run(move || {
        let _inside = runtime.enter();
        command.spawn()
    })?;
    match started {
        Ok(child) => Ok((child, ends)),
        Err(source) => Err(named(spec, source)),
    }
}

/// ENOEXEC, the same number on every Unix.
const NO_EXEC: i32 = 8;
/// ENFILE and EMFILE, which have no kind of their own.
const NO_ROOM: [i32; 2] = [23, 24];

/// The system names an error by a number; what it is about has to be looked for.
fn named(spec: &SpawnSpec, source: io::Error) -> SpawnError {
    let program = spec.program.clone();
    let code = source.raw_os_error();
    match source.kind() {
        io::ErrorKind::NotFound
        | io::ErrorKind::PermissionDenied
        | io::ErrorKind::NotADirectory => about_a_path(spec, source),
        io::ErrorKind::ArgumentListTooLong => SpawnError::TooLong {
            args: spec.args.iter().map(|one| one.len() + 1).sum(),
            env: spec
                .env
                .iter()
                .map(|(name, value)| name.len() + value.len() + 2)
                .sum(),
        },
        io::ErrorKind::ExecutableFileBusy => SpawnError::TextBusy { program },
        io::ErrorKind::WouldBlock | io::ErrorKind::OutOfMemory => SpawnError::NoRoom { source },
        _ if cfg!(unix) && code == Some(NO_EXEC) => SpawnError::NotExecutable { program },
        _ if cfg!(unix) && code.is_some_and(|code| NO_ROOM.contains(&code)) => {
            SpawnError::NoRoom { source }
        }
        _ => SpawnError::Other { program, source },
    }
}

/// The same error stands for the directory, the program and the program's interpreter.
fn about_a_path(spec: &SpawnSpec, source: io::Error) -> SpawnError {
    // The dot must be reached through the directory, which takes the right to enter it.
    if let Err(source) = std::fs::metadata(spec.cwd.join(".")) {
        let cwd = spec.cwd.clone();
        return SpawnError::BadCwd { cwd, source };
    }
    let program = spec.program.clone();
    if source.kind() == io::ErrorKind::PermissionDenied {
        return SpawnError::PermissionDenied { program };
    }
    // A relative path with a separator is taken from the child's directory, a bare name from its PATH.
    let is_path = spec.program.components().count() > 1;
    if is_path && spec.cwd.join(&spec.program).is_file() {
        return SpawnError::NoInterpreter { program };
    }
    SpawnError::NotFound { program }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec() -> SpawnSpec {
        SpawnSpec {
            program: "x".into(),
            args: Vec::new(),
            env: vec![("NAME".into(), "a value".into())],
            cwd: ".".into(),
            marker: Marker::new("0123456789abcdef").unwrap(),
            on_stderr: None,
        }
    }

    #[test]
    fn errors_that_few_systems_give_have_their_names_too() {
        let spec = spec();
        let named = |kind: io::ErrorKind| named(&spec, kind.into());
        assert!(matches!(
            named(io::ErrorKind::WouldBlock),
            SpawnError::NoRoom { .. }
        ));
        assert!(matches!(
            named(io::ErrorKind::OutOfMemory),
            SpawnError::NoRoom { .. }
        ));
        assert!(matches!(
            named(io::ErrorKind::Other),
            SpawnError::Other { .. }
        ));
        let shown = format!("{spec:?}");
        assert!(shown.contains("NAME") && !shown.contains("a value"));
    }

    #[cfg(unix)]
    #[test]
    fn errors_without_a_kind_are_known_by_number() {
        let spec = spec();
        let named = |code| named(&spec, io::Error::from_raw_os_error(code));
        assert!(matches!(named(8), SpawnError::NotExecutable { .. }));
        assert!(matches!(named(23), SpawnError::NoRoom { .. }));
        assert!(matches!(named(24), SpawnError::NoRoom { .. }));
    }
}
