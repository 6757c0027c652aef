//! One prompt, one answer.
//!
//! `cargo run --example one_shot [path of claude]`
#![expect(clippy::print_stdout, reason = "an example shows what it got")]

use countersign_client::query;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut question = query("What does this project do? One sentence.");
    if let Some(claude) = std::env::args().nth(1) {
        question = question.cli(claude);
    }
    println!("{}", question.text().await?);
    Ok(())
}
