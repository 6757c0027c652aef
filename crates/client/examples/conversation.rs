//! A long session: two messages at once, an interrupt, another model, the end.
//!
//! `cargo run --example conversation [path of claude]`
#![expect(clippy::print_stdout, reason = "an example shows what it got")]

use countersign_client::{Claude, Kind};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let session = claude().include_partial_messages(true).connect().await?;

    // The second one is sent while the first runs: the CLI queues it, or takes it into the running turn.
    let first = session.send("Name a colour.").await?;
    let second = session.send("And an animal.").await?;
    println!("first: {}", first.await?.text());
    println!("second: {}", second.await?.text());

    // Stop it as soon as it speaks. The turn ends, the session goes on.
    let mut counting = session.stream("Count to one million.").await?;
    while let Some(event) = counting.next().await {
        if event
            .frame()
            .is_some_and(|frame| frame.kind() == Kind::StreamEvent)
        {
            session.interrupt().await?;
            break;
        }
    }
    println!("interrupted: {}", counting.finish().await?.is_interrupted());

    session.set_model(Some("opus")).await?;
    println!(
        "third: {}",
        session.send("Which model are you?").await?.await?.text()
    );
    println!("model: {}", session.model().unwrap_or_default());

    let closed = session.close().await;
    println!("ended: {closed}");
    Ok(())
}

/// The `claude` that the first argument names, or the one that is found.
fn claude() -> Claude {
    match std::env::args().nth(1) {
        Some(path) => Claude::new().cli(path),
        None => Claude::new(),
    }
}
