//! The version of a CLI: read from what it prints, compared, and asked for by running it.
//!
//! Owns [`Version`] and [`probe_version`]. What a version means is [`super::capability`]'s business. Invariant: the
//! probe runs under a time limit, reads a bounded amount and leaves no process behind.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use countersign_process::Marker;
use tokio::io::AsyncReadExt as _;

use super::env::ChildEnv;
use super::locate::Located;
use crate::agent::{AgentProcess, SpawnSpec};

/// How much of either output the probe reads.
const PROBE_BYTES: u64 = 64 * 1024;

/// A version of the `claude` CLI, such as 2.1.325. What follows the third number is not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// The first number.
    pub major: u32,
    /// The second.
    pub minor: u32,
    /// The third.
    pub patch: u32,
}

/// Oldest version of the CLI that works. On older ones nothing was measured, so they are refused.
pub const OLDEST_SUPPORTED: Version = Version::new(1, 0, 128);

impl Version {
    /// A version from its three numbers.
    pub const fn new(major: u32, minor: u32, patch: u32) -> Self {
        Self {
            major,
            minor,
            patch,
        }
    }

    /// The first version in a text such as `2.1.325 (Claude Code)`, whatever stands around it.
    pub fn find(text: &str) -> Option<Self> {
        text.split_whitespace().find_map(Self::from_word)
    }

    fn from_word(word: &str) -> Option<Self> {
        let word = word.strip_prefix('v').unwrap_or(word);
        let mut parts = word.splitn(3, '.');
        let (major, minor, rest) = (parts.next()?, parts.next()?, parts.next()?);
        let digits = rest.find(|c: char| !c.is_ascii_digit());
        let (patch, suffix) = rest.split_at(digits.unwrap_or(rest.len()));
        // `1.2.3.4` is an address or something else, not a version of this CLI.
        if !(suffix.is_empty() || suffix.starts_with(['-', '+'])) {
            return None;
        }
        Some(Self::new(number(major)?, number(minor)?, number(patch)?))
    }
}

/// Digits only: `parse` alone would take a sign.
fn number(text: &str) -> Option<u32> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        text.parse().ok()
    } else {
        None
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// A text without a version in it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no version in {0:?}: expected something like \"2.1.325 (Claude Code)\"")]
pub struct NoVersion(pub String);

impl FromStr for Version {
    type Err = NoVersion;

    fn from_str(text: &str) -> Result<Self, NoVersion> {
        Self::find(text).ok_or_else(|| NoVersion(excerpt(text)))
    }
}

/// Why a CLI did not tell its version.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProbeError {
    /// It did not start.
    #[error("cannot run `{command} --version`: {source}")]
    Start {
        /// The command.
        command: String,
        /// Why.
        source: crate::SpawnError,
    },
    /// It did not answer in time and was ended.
    #[error(
        "`{command} --version` did not answer within {} s: run it by hand, or give a longer limit", .limit.as_secs_f32()
    )]
    Timeout {
        /// The command.
        command: String,
        /// The limit.
        limit: Duration,
    },
    /// It failed.
    #[error("`{command} --version` ended with {exit}: {stderr}")]
    Failed {
        /// The command.
        command: String,
        /// How it ended.
        exit: String,
        /// The start of what it wrote to stderr.
        stderr: String,
    },
    /// It said something else.
    #[error("`{command} --version` printed no version: is it the claude CLI?")]
    Unreadable {
        /// The command.
        command: String,
        /// What it said instead.
        source: NoVersion,
    },
}

/// Runs `<cli> --version` in the environment that the agent will get.
///
/// # Errors
/// When it does not start, does not answer within `limit`, fails, or prints no version.
pub async fn probe_version(
    cli: &Located,
    env: &ChildEnv,
    limit: Duration,
) -> Result<Version, ProbeError> {
    let command = cli.to_string();
    match tokio::time::timeout(limit, run(cli, env, &command)).await {
        Ok(outcome) => outcome,
        // Dropping the future dropped the process, with everything it had started.
        Err(_) => Err(ProbeError::Timeout { command, limit }),
    }
}

async fn run(cli: &Located, env: &ChildEnv, command: &str) -> Result<Version, ProbeError> {
    let spec = SpawnSpec {
        program: cli.program.clone(),
        args: cli
            .args
            .iter()
            .cloned()
            .chain(["--version".into()])
            .collect(),
        env: env
            .iter()
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect(),
        cwd: std::env::current_dir().unwrap_or_else(|_| ".".into()),
        marker: Marker::of(uuid::Uuid::new_v4().as_u128()),
        on_stderr: None,
    };
    let (mut process, pipes) = AgentProcess::spawn(spec).map_err(|source| ProbeError::Start {
        command: command.to_owned(),
        source,
    })?;
    drop(pipes.stdin);
    let mut stdout = Vec::new();
    // A pipe that breaks has said what it will say; the exit status tells the rest. A child of a wrapper may hold it open.
    let mut pipe = pipes.stdout.take(PROBE_BYTES);
    tokio::select! {
        _ = pipe.read_to_end(&mut stdout) => {}
        () = ended_a_moment_ago(&mut process) => {}
    }
    let stdout = String::from_utf8_lossy(&stdout);
    let exit = process.wait().await;
    if exit.code != Some(0) {
        return Err(ProbeError::Failed {
            command: command.to_owned(),
            exit: exit.to_string(),
            stderr: excerpt(&process.stderr()),
        });
    }
    stdout.parse().map_err(|source| ProbeError::Unreadable {
        command: command.to_owned(),
        source,
    })
}

/// What was printed is in the pipe this long after the exit.
async fn ended_a_moment_ago(process: &mut AgentProcess) {
    process.wait().await;
    tokio::time::sleep(Duration::from_millis(200)).await;
}

fn excerpt(text: &str) -> String {
    text.trim().chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_the_cli_prints() {
        let expected = Version::new(2, 1, 325);
        for text in [
            "2.1.325 (Claude Code)\n",
            "2.1.325",
            "v2.1.325",
            "npm notice\n2.1.325 (Claude Code)",
            "2.1.325-beta.1",
        ] {
            assert_eq!(text.parse(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn refuses_what_is_no_version() {
        for text in [
            "",
            "2.1",
            "claude",
            "1.2.3.4",
            "+1.2.3",
            "2.1.x",
            "99999999999.1.1",
        ] {
            let refused = text.parse::<Version>();
            assert_eq!(refused, Err(NoVersion(text.to_owned())), "{text}");
        }
    }

    #[test]
    fn compares_numbers_rather_than_text() {
        assert!(Version::new(2, 1, 62) < Version::new(2, 1, 197));
        assert!(Version::new(2, 1, 9) < Version::new(2, 1, 17));
        assert!(Version::new(1, 0, 128) < Version::new(2, 0, 75));
        assert_eq!(Version::new(2, 1, 62).to_string(), "2.1.62");
    }

    #[cfg(unix)]
    mod probe {
        use super::*;

        fn shell(script: &str) -> Located {
            Located {
                program: "/bin/sh".into(),
                args: vec!["-c".into(), script.into()],
            }
        }

        async fn probe(script: &str, limit: Duration) -> Result<Version, ProbeError> {
            let env = ChildEnv::from_iter([("SAID", "2.0.75 (Claude Code)")]);
            probe_version(&shell(script), &env, limit).await
        }

        const LONG: Duration = Duration::from_secs(20);

        #[tokio::test]
        async fn gives_the_version_and_the_environment_is_the_one_given() {
            let found = probe("echo \"$SAID$HOME\"", LONG).await.unwrap();
            assert_eq!(found, Version::new(2, 0, 75));
        }

        #[tokio::test]
        async fn a_failure_carries_stderr() {
            let error = probe("echo broken >&2; exit 3", LONG).await.unwrap_err();
            assert!(error.to_string().contains("broken"), "{error}");
        }

        #[tokio::test]
        async fn another_program_is_told_apart() {
            let error = probe("echo hello", LONG).await.unwrap_err();
            assert!(matches!(error, ProbeError::Unreadable { .. }), "{error}");
        }

        #[tokio::test]
        async fn silence_ends_at_the_limit() {
            let error = probe("exec sleep 600", Duration::from_millis(50))
                .await
                .unwrap_err();
            assert!(matches!(error, ProbeError::Timeout { .. }), "{error}");
        }

        #[tokio::test]
        async fn a_missing_program_is_named() {
            let missing = Located {
                program: "/nowhere/claude".into(),
                args: vec![],
            };
            let error = probe_version(&missing, &ChildEnv::default(), LONG)
                .await
                .unwrap_err();
            assert!(
                error.to_string().contains("/nowhere/claude --version"),
                "{error}"
            );
        }
    }
}
