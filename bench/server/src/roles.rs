//! What this program can be told to be: who measures, a server, a keeper, an agent, a client.
//!
//! Owns the arguments. Invariant: nothing that was started is left when the one who measures ends.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use anyhow::{Context as _, bail};

use crate::course::{self, IN_MEMORY, PARTS, Size};
use crate::stage::FOLDER;
use crate::{agent, clients, floor, sweep};

/// Where files are memory.
const MEMORY: &str = "/dev/shm";

const USAGE: &str = "usage: run [--quick] [--only PART,PART] DATA";

pub(crate) fn main() -> ExitCode {
    // Before there is a thread: a keeper forks.
    if let Some(code) = countersign_keeper::main_if_asked() {
        return code;
    }
    let args: Vec<String> = std::env::args_os()
        .skip(1)
        .map(|arg| arg.to_string_lossy().into_owned())
        .collect();
    match role(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn role(args: &[String]) -> anyhow::Result<()> {
    let Some((role, rest)) = args.split_first() else {
        bail!(USAGE);
    };
    let words: Vec<&str> = rest.iter().map(String::as_str).collect();
    match (role.as_str(), &words[..]) {
        ("run", _) => run(rest),
        ("server", [part, size, data]) => {
            let size = match *size {
                "quick" => Size::QUICK,
                _ => Size::FULL,
            };
            course::server(part, &size, Path::new(data))
        }
        ("agent", _) => agent::main(rest),
        ("reader", [address, token, session, lines]) => {
            clients::reader(&clients::door(address, token)?, session, lines.parse()?)
        }
        ("decider", [address, token, calls]) => {
            clients::decider(&clients::door(address, token)?, calls.parse()?)
        }
        ("asker", [address, token, path, requests, connections, word]) => {
            let door = clients::door(address, token)?;
            let is_tagged = *word == "tagged";
            clients::asker(
                &door,
                path,
                requests.parse()?,
                connections.parse()?,
                is_tagged,
            )
        }
        ("writer", [lines, pause]) => {
            floor::writer(lines.parse()?, Duration::from_micros(pause.parse()?))
        }
        ("echo", [reply]) => floor::echo(reply.parse()?),
        _ => bail!(USAGE),
    }
}

fn run(args: &[String]) -> anyhow::Result<()> {
    let mut size = "full";
    let mut parts = PARTS.map(str::to_owned).to_vec();
    let mut data = None;
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--quick" => size = "quick",
            "--only" => {
                let list = args.next().context(USAGE)?;
                parts = list.split(',').map(str::to_owned).collect();
            }
            _ => data = Some(PathBuf::from(arg)),
        }
    }
    let data = data.context(USAGE)?;
    let data = place(&data)?;
    for part in parts {
        let data = match part == IN_MEMORY {
            true if !Path::new(MEMORY).is_dir() => {
                eprintln!("{part}: left out, {MEMORY} is not there");
                continue;
            }
            // In a folder of its own: what else lies there is not ours to clear.
            true => place(&Path::new(MEMORY).join("countersign-bench-server"))?,
            false => data.clone(),
        };
        let own = std::env::current_exe().context("where this program is")?;
        let server = Command::new(own)
            .args(["server", &part, size])
            .arg(&data)
            .env_clear()
            .stdin(Stdio::null())
            .status()
            .context("no server")?;
        clear(&data)?;
        if !server.success() {
            bail!("{part}: see above");
        }
    }
    Ok(())
}

/// A folder in which nothing of an earlier server is left.
fn place(data: &Path) -> anyhow::Result<PathBuf> {
    std::fs::create_dir_all(data).with_context(|| format!("no folder {}", data.display()))?;
    let data = data.canonicalize().context("where it is")?;
    clear(&data)?;
    Ok(data)
}

/// Ends and removes what a server left that was broken off.
fn clear(data: &Path) -> anyhow::Result<()> {
    for entry in std::fs::read_dir(data).context("no folder")? {
        let entry = entry.context("no folder")?;
        if entry.file_name().to_string_lossy().starts_with(FOLDER) {
            sweep::end(&entry.path());
            std::fs::remove_dir_all(entry.path()).context("a server's folder stays")?;
        }
    }
    Ok(())
}
