//! Becomes the agent of a keeper, behind a witness that has a folder for each generation.
//!
//! `hosted agent --log DIR -- PROGRAM ARG…`. Owns nothing: the process is replaced. Which generation it is stands on the
//! command line of the keeper, which is its parent; whoever is started by somebody else (to ask for a version) has no
//! witness.

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Ends only if there is nothing to become.
pub(crate) fn become_agent(arguments: &[OsString]) -> ExitCode {
    let [flag, log, dashes, program, rest @ ..] = arguments else {
        return ExitCode::from(2);
    };
    if flag != "--log" || dashes != "--" {
        return ExitCode::from(2);
    }
    let mut command = match (generation(), witness()) {
        (Some(generation), Some(witness)) => {
            let mut command = Command::new(witness);
            let log = Path::new(log).join(format!("g{generation}"));
            command.arg("--log").arg(log).arg("--").arg(program);
            command
        }
        _ => Command::new(program),
    };
    let error = command.args(rest).exec();
    eprintln!("hosted: {error}");
    ExitCode::from(70)
}

fn generation() -> Option<u32> {
    let parent = rustix::process::getppid()?.as_raw_nonzero();
    let words = std::fs::read(format!("/proc/{parent}/cmdline")).ok()?;
    let mut words = words.split(|byte| *byte == 0);
    words.find(|word| *word == b"--generation")?;
    std::str::from_utf8(words.next()?).ok()?.parse().ok()
}

fn witness() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    Some(program.parent()?.join("hosted_witness"))
}
