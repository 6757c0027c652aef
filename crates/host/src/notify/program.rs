//! One run of a program that is told of an event.
//!
//! Owns the child: its environment, its stdin, the end of its output, its end. Invariants: no shell is between; it sees a
//! few variables of the host and those it was granted; nothing it started outlives the run, which ends within its limits;
//! of its output no more than 4 KiB is kept.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use countersign_process::{Marker, Tree, die_with_parent, lasting};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::job::Outcome;
use super::summary;

/// Variables a program needs to find itself, its person's desktop and its language.
const ALWAYS: [&str; 14] = [
    "DBUS_SESSION_BUS_ADDRESS",
    "DISPLAY",
    "HOME",
    "LANG",
    "LC_ALL",
    "LOGNAME",
    "PATH",
    "SystemRoot",
    "TMPDIR",
    "TZ",
    "USER",
    "USERPROFILE",
    "WAYLAND_DISPLAY",
    "XDG_RUNTIME_DIR",
];

/// How much of its output is kept.
const KEPT: usize = 4 << 10;

/// How much of that is told: its last characters.
const TOLD: usize = 400;

/// How long ending it may take.
const ENDING: Duration = Duration::from_secs(2);

/// How long its pipes are read after its end: nobody is left to write to them.
const DRAINING: Duration = Duration::from_millis(500);

/// How long a program may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProgramLimits {
    /// Then it is ended, with everything it started.
    pub time: Duration,
}

impl Default for ProgramLimits {
    fn default() -> Self {
        Self {
            time: Duration::from_secs(10),
        }
    }
}

/// What is run.
#[derive(Debug)]
pub(super) struct Run<'a> {
    pub(super) argv: &'a [String],
    pub(super) cwd: Option<&'a Path>,
    pub(super) env: Vec<(OsString, OsString)>,
    pub(super) marker: Marker,
    pub(super) limits: ProgramLimits,
}

/// The variables of the host that a program sees: the few that are always passed on, and those that were granted.
pub(super) fn environment(
    host: &[(OsString, OsString)],
    granted: &[String],
) -> Vec<(OsString, OsString)> {
    let is_seen = |name: &OsString| {
        let name = name.to_string_lossy();
        ALWAYS.contains(&name.as_ref()) || granted.iter().any(|one| *one == name)
    };
    host.iter()
        .filter(|(name, _)| is_seen(name))
        .cloned()
        .collect()
}

impl Run<'_> {
    /// Runs it once, with `body` on its stdin.
    pub(super) async fn run(self, body: Vec<u8>) -> Outcome {
        let mut child = match self.start() {
            Ok(child) => child,
            Err(outcome) => return outcome,
        };
        let tree = child.id().map(|pid| Tree::new(pid, self.marker.clone()));
        let mut ending = Ending(tree);
        let tail = Arc::new(Mutex::new(Tail::default()));
        let mut pipes = pipes(&mut child, body, &tail);
        let ended = timeout(self.limits.time, child.wait()).await;
        // Whatever it left running ends here, and with it the last holder of a pipe.
        if let Some(tree) = ending.0.take() {
            let sweep = move || tree.kill_all(Instant::now() + ENDING);
            let _ = tokio::task::spawn_blocking(sweep).await;
        }
        let status = match ended {
            Ok(status) => status,
            Err(_) => {
                // Reaps it; it has been killed.
                let _ = timeout(ENDING, child.wait()).await;
                return Outcome::Hopeless {
                    why: format!(
                        "it ran longer than {:?} and was ended: make it quicker, or have it start a service of its own",
                        self.limits.time
                    ),
                };
            }
        };
        let _ = timeout(DRAINING, async {
            while pipes.join_next().await.is_some() {}
        })
        .await;
        let said = tail.lock().unwrap_or_else(PoisonError::into_inner).told();
        outcome(status, said)
    }

    fn start(&self) -> Result<Child, Outcome> {
        let Some((program, arguments)) = self.argv.split_first() else {
            let why = "it names no program".to_owned();
            return Err(Outcome::Hopeless { why });
        };
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env_clear()
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .env(Marker::NAME, self.marker.value())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        match self.cwd {
            Some(cwd) => command.current_dir(cwd),
            // It keeps no folder of anybody's in use.
            None if cfg!(unix) => command.current_dir("/"),
            None => &mut command,
        };
        die_with_parent(command.as_std_mut());
        let runtime = tokio::runtime::Handle::current();
        let started = lasting::run(move || {
            let _inside = runtime.enter();
            command.spawn()
        });
        match started {
            Ok(Ok(child)) => Ok(child),
            Ok(Err(error)) => Err(not_started(program, &error)),
            Err(error) => Err(Outcome::Unreached {
                why: error.to_string(),
            }),
        }
    }
}

fn not_started(program: &str, error: &io::Error) -> Outcome {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied => Outcome::Hopeless {
            why: format!(
                "cannot run {program}: {error}; give its whole path, and a folder that exists"
            ),
        },
        _ => Outcome::Unreached {
            why: format!("cannot run {program}: {error}"),
        },
    }
}

/// Ends the tree of a run that is given up half-way.
struct Ending(Option<Tree>);

impl Drop for Ending {
    fn drop(&mut self) {
        if let Some(tree) = self.0.take() {
            tree.kill_all(Instant::now() + DRAINING);
        }
    }
}

fn pipes(child: &mut Child, body: Vec<u8>, tail: &Arc<Mutex<Tail>>) -> JoinSet<()> {
    let mut pipes = JoinSet::new();
    if let Some(mut stdin) = child.stdin.take() {
        pipes.spawn(async move {
            // A program need not read what it is told.
            let _ = stdin.write_all(&body).await;
        });
    }
    if let Some(stdout) = child.stdout.take() {
        pipes.spawn(listen(stdout, Arc::clone(tail)));
    }
    if let Some(stderr) = child.stderr.take() {
        pipes.spawn(listen(stderr, Arc::clone(tail)));
    }
    pipes
}

async fn listen(mut pipe: impl AsyncRead + Unpin, tail: Arc<Mutex<Tail>>) {
    let mut chunk = [0; 4 << 10];
    while let Ok(read @ 1..) = pipe.read(&mut chunk).await {
        let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
        tail.push(&chunk[..read]);
    }
}

/// The end of what a program said, on both of its outputs.
#[derive(Debug, Default)]
struct Tail {
    bytes: Vec<u8>,
    is_cut: bool,
}

impl Tail {
    fn push(&mut self, chunk: &[u8]) {
        self.bytes.extend_from_slice(chunk);
        let over = self.bytes.len().saturating_sub(KEPT);
        self.is_cut |= over > 0;
        self.bytes.drain(..over);
    }

    /// Masked, in one line.
    fn told(&self) -> String {
        let text = String::from_utf8_lossy(&self.bytes);
        // What is left of a word that was cut cannot be known as a secret.
        let whole = match text.find(char::is_whitespace) {
            Some(blank) if self.is_cut => &text[blank..],
            None if self.is_cut => "",
            _ => &text,
        };
        let masked = summary::masked(whole);
        let line = masked.split_whitespace().collect::<Vec<_>>().join(" ");
        match line.char_indices().rev().nth(TOLD) {
            Some((start, _)) => format!("…{}", &line[start..]),
            None => line,
        }
    }
}

fn outcome(status: io::Result<ExitStatus>, said: String) -> Outcome {
    match status {
        Ok(status) if status.success() => Outcome::Done,
        Ok(status) => Outcome::Exited {
            code: status.code(),
            said,
        },
        Err(error) => Outcome::Unreached {
            why: format!("its end is not known: {error}"),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_sees_the_few_and_what_it_was_granted() {
        let host: Vec<(OsString, OsString)> = ["PATH", "HOME", "ANTHROPIC_API_KEY", "MY_CHANNEL"]
            .map(|name| (name.into(), "x".into()))
            .into();
        let names = |granted: &[&str]| {
            let granted: Vec<String> = granted.iter().map(|name| (*name).to_owned()).collect();
            let seen = environment(&host, &granted);
            seen.into_iter().map(|(name, _)| name).collect::<Vec<_>>()
        };
        assert_eq!(names(&[]), ["PATH", "HOME"]);
        assert_eq!(names(&["MY_CHANNEL"]), ["PATH", "HOME", "MY_CHANNEL"]);
    }

    #[test]
    fn the_end_of_the_output_is_kept_and_masked() {
        let token = concat!("ghp_", "0123456789abcdefghijABCDEFGHIJ012345");
        let mut tail = Tail::default();
        tail.push(format!("begin {token}\nit went wrong\n").as_bytes());
        let told = tail.told();
        assert!(
            told.ends_with("it went wrong") && !told.contains(&token[4..]),
            "{told}"
        );
        // Cut in the middle of the secret: what is left of it does not show.
        let rest = KEPT - 20;
        let mut tail = Tail::default();
        tail.push(token.as_bytes());
        tail.push(" y".repeat(rest / 2).as_bytes());
        let told = tail.told();
        assert!(!told.contains("HIJ012345"), "{told}");
        assert!(told.chars().count() <= TOLD + 2);
    }
}
