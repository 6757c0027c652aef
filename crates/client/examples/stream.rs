//! The answer as it is written, piece by piece.
//!
//! `cargo run --example stream [path of claude]`
#![expect(clippy::print_stdout, reason = "an example shows what it got")]

use std::io::Write as _;

use countersign_client::Claude;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let poem = "Write a short poem about standard input.";
    let mut run = claude().include_partial_messages(true).query(poem).await?;
    while let Some(event) = run.next().await {
        if let Some(text) = event?.frame().and_then(|frame| frame.text_delta()) {
            print!("{text}");
            std::io::stdout().flush()?;
        }
    }
    let result = run.finish().await?.result.ok()?;
    let cost = result.total_cost_usd().unwrap_or_default();
    println!("\n[{cost:.4} dollars]");
    Ok(())
}

/// The `claude` that the first argument names, or the one that is found.
fn claude() -> Claude {
    match std::env::args().nth(1) {
        Some(path) => Claude::new().cli(path),
        None => Claude::new(),
    }
}
