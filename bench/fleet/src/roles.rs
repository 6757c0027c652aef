//! What this program can be told to be: who measures, a host, a keeper, an agent.
//!
//! Owns the arguments. Invariant: each number of agents has a host process of its own, so that what one left in memory is
//! not counted for the next.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context as _, bail};
use countersign_rehearsal::cli::{Setup, main_with};

use crate::course;
use crate::scene::Scene;
use crate::stage::FOLDER;
use crate::sweep;

const USAGE: &str = "usage: run [--quick] [--agents N,N,…] DATA";

/// How many agents at once. The first is what the others are more than.
const FULL: [usize; 4] = [1, 10, 50, 200];
const QUICK: [usize; 3] = [1, 10, 50];

pub(crate) fn main() -> ExitCode {
    // Before there is a thread: a keeper forks.
    if let Some(code) = countersign_keeper::main_if_asked() {
        return code;
    }
    let args: Vec<OsString> = std::env::args_os().skip(1).collect();
    if args.first().is_some_and(|role| role == "agent") {
        let rest = args.iter().skip(1);
        let rest = rest.map(|arg| arg.to_string_lossy().into_owned()).collect();
        return match Setup::from_env() {
            Ok(setup) => main_with(setup, rest),
            Err(error) => failed(&error),
        };
    }
    match measure(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failed(&format_args!("{error:#}")),
    }
}

fn failed(error: &dyn std::fmt::Display) -> ExitCode {
    eprintln!("error: {error}");
    ExitCode::FAILURE
}

fn measure(args: &[OsString]) -> anyhow::Result<()> {
    match args.first().and_then(|role| role.to_str()) {
        Some("run") => run(&args[1..]),
        Some("host") => {
            let [_, agents, size, data] = args else {
                bail!("usage: host N full|quick DATA");
            };
            let scene = match size.to_str() {
                Some("quick") => Scene::QUICK,
                _ => Scene::FULL,
            };
            course::host(number(agents)?, scene, Path::new(data))
        }
        _ => bail!(USAGE),
    }
}

fn run(args: &[OsString]) -> anyhow::Result<()> {
    let mut size = "full";
    let mut sizes = FULL.to_vec();
    let mut data = None;
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.to_str() {
            Some("--quick") => (size, sizes) = ("quick", QUICK.to_vec()),
            Some("--agents") => {
                let list = args.next().and_then(|list| list.to_str()).context(USAGE)?;
                let all = list.split(',').map(|one| number(one.as_ref()));
                sizes = all.collect::<anyhow::Result<_>>()?;
            }
            _ => data = Some(PathBuf::from(arg)),
        }
    }
    let data = data.context(USAGE)?;
    std::fs::create_dir_all(&data).with_context(|| format!("no folder {}", data.display()))?;
    let data = data.canonicalize().context("where it is")?;
    clear(&data)?;
    for agents in sizes {
        eprintln!("{agents} at once");
        let own = std::env::current_exe().context("where this program is")?;
        let host = Command::new(own)
            .args(["host", &agents.to_string(), size])
            .arg(&data)
            .env_clear()
            .stdin(Stdio::null())
            .status()
            .context("no host")?;
        clear(&data)?;
        if !host.success() {
            bail!("{agents} agents at once: see above");
        }
    }
    Ok(())
}

/// Ends and removes what a host left that was broken off.
fn clear(data: &Path) -> anyhow::Result<()> {
    for entry in std::fs::read_dir(data).context("no folder")? {
        let entry = entry.context("no folder")?;
        if entry.file_name().to_string_lossy().starts_with(FOLDER) {
            sweep::end(&entry.path());
            std::fs::remove_dir_all(entry.path()).context("a host's folder stays")?;
        }
    }
    Ok(())
}

fn number(text: &std::ffi::OsStr) -> anyhow::Result<usize> {
    let number = text.to_str().and_then(|text| text.parse().ok());
    number
        .filter(|number| *number > 0)
        .with_context(|| format!("{} is no number of agents", text.display()))
}
