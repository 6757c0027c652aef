//! The CLI's own sessions on disk: list them, fork the latest, go on in the fork.
//!
//! `cargo run --example sessions_on_disk [path of claude]`
#![expect(clippy::print_stdout, reason = "an example shows what it got")]

use countersign_client::Claude;
use countersign_client::history::{ForkOptions, ForkSeed, ListOptions, Transcripts};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let transcripts = Transcripts::of_user()?;
    let here = std::env::current_dir()?;
    let sessions = transcripts.project(&here).list(&ListOptions::default())?;
    for session in &sessions {
        println!("{} {}", session.id, session.title());
    }
    let Some(latest) = sessions.first() else {
        println!("no session was ever started in {}", here.display());
        return Ok(());
    };

    // The original stays as it is. `.resume(id)` alone would go on in it.
    let original = transcripts.get(&latest.id)?;
    let fork = original.fork(&ForkOptions::default(), ForkSeed::random())?;
    println!("forked into {}", fork.id());

    let session = claude().resume(fork.id().as_str()).connect().await?;
    let turn = session.send("Where were we?").await?;
    println!("{}", turn.await?.ok()?.text());
    session.close().await;
    Ok(())
}

/// The `claude` that the first argument names, or the one that is found.
fn claude() -> Claude {
    match std::env::args().nth(1) {
        Some(path) => Claude::new().cli(path),
        None => Claude::new(),
    }
}
