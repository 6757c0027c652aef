//! The daemon that runs already.
//!
//! Owns how a second one finds it, and gets a fresh login link of it over its socket. Invariant: what is asked of it is asked
//! as this user, by the socket; nothing of its files is changed.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;
use countersign_api::client::Client;
use countersign_api::{Code, LoginLink, NewLink, Problem};
use countersign_host::Folders;
use serde::{Deserialize, Serialize};

use super::{Wanted, greeting, print};
use crate::Outcome;

/// How long it may take to answer. It may still recover.
const PATIENCE: Duration = Duration::from_secs(20);

/// How often it is asked whether it has recovered.
const AGAIN: Duration = Duration::from_millis(250);

/// What a daemon says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Running {
    pid: u32,
    url: String,
}

/// The socket for tools of this machine.
pub(crate) fn socket(folders: &Folders) -> PathBuf {
    folders.run().join("serve.sock")
}

fn file(folders: &Folders) -> PathBuf {
    folders.run().join("serve.json")
}

/// Says where this daemon is found. The folder is this user's alone.
pub(super) fn remember(folders: &Folders, url: &str) -> io::Result<()> {
    let running = Running {
        pid: std::process::id(),
        url: url.to_owned(),
    };
    let (new, file) = (folders.run().join("serve.json.new"), file(folders));
    std::fs::write(&new, serde_json::to_vec(&running)?)?;
    std::fs::rename(new, file)
}

pub(super) fn forget(folders: &Folders) {
    // Without it the next one is found by its socket all the same.
    let _ = std::fs::remove_file(file(folders));
}

/// Says who has the folder, with a fresh link.
pub(super) async fn tell(folders: &Folders, wanted: &Wanted) -> anyhow::Result<Outcome> {
    let asked = tokio::time::timeout(PATIENCE, fresh_link(folders)).await;
    let (running, link) = asked
        .ok()
        .context("no answer within 20 seconds")
        .and_then(|asked| asked)
        .with_context(|| {
            format!(
                "{} belongs to a daemon that runs already, and it gives no login link. Stop it, or name another folder with --data",
                folders.root().display()
            )
        })?;
    let link = format!("{}{}", running.url, link.path);
    print(&match wanted.json {
        true => format!(
            "{}\n",
            serde_json::json!({"url": running.url, "link": link, "pid": running.pid, "data": folders.root(), "running": true})
        ),
        false => {
            let mut text = format!(
                "Countersign runs already, as process {}, on {}\n\n  A fresh login link of it. It works once, within ten minutes:\n\n    {link}\n",
                running.pid, running.url
            );
            if let Some(qr) = wanted.qr.then(|| greeting::qr(&link)).flatten() {
                text.push_str(&format!("\n{qr}\n"));
            }
            text
        }
    })?;
    if wanted.opens_browser && super::browser::is_near() {
        super::browser::open(&link, &folders.run());
    }
    Ok(Outcome::Fine)
}

/// Whether waiting helps: it takes up what an earlier one left, and says when to ask again. A no that says nothing of a time
/// stays one.
fn changes(problem: &Problem) -> bool {
    problem.code == Code::Unavailable && problem.retry_ms.is_some()
}

async fn fresh_link(folders: &Folders) -> anyhow::Result<(Running, LoginLink)> {
    let client = Client::at_socket(socket(folders)).named("terminal");
    loop {
        match client.login_link(&NewLink { scope: None }).await {
            Ok(link) => {
                let said =
                    std::fs::read(file(folders)).context("it has not said where it listens")?;
                return Ok((serde_json::from_slice(&said)?, link));
            }
            Err(error) if error.problem().is_some_and(changes) => {
                tokio::time::sleep(AGAIN).await;
            }
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_waits_for_what_waiting_changes() {
        let no = Problem::new(Code::Unavailable, "what lets people in cannot be stored");
        assert!(!changes(&no));
        assert!(changes(&no.retry_after_ms(1_000)));
        assert!(!changes(&Problem::new(Code::NotAllowed, "no")));
    }
}
