//! The answer as a value of your own type: the model is held to its schema.
//!
//! `cargo run --example structured [path of claude]`
#![expect(clippy::print_stdout, reason = "an example shows what it got")]

use countersign_client::Claude;
use countersign_client::mcp::schemars::{self, JsonSchema};
use serde::Deserialize;

/// What is asked for. The schema is made from this type; the model reads these comments.
#[derive(Debug, Deserialize, JsonSchema)]
struct Release {
    /// The version, without a leading v.
    version: String,
    /// Whether users have to change their code.
    breaking: bool,
    /// One line for each change.
    changes: Vec<String>,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let ask = "Read CHANGELOG.md and describe the latest release.";
    let release: Release = claude().allowed_tools(["Read"]).query(ask).json().await?;
    let mark = if release.breaking { " (breaking)" } else { "" };
    println!("{}{mark}", release.version);
    for change in &release.changes {
        println!("- {change}");
    }
    Ok(())
}

/// The `claude` that the first argument names, or the one that is found.
fn claude() -> Claude {
    match std::env::args().nth(1) {
        Some(path) => Claude::new().cli(path),
        None => Claude::new(),
    }
}
