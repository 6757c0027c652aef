//! A tool that runs in this process: a function with a typed argument, called by the model.
//!
//! `cargo run --example tools [path of claude]`
#![expect(clippy::print_stdout, reason = "an example shows what it got")]

use std::collections::BTreeMap;

use countersign_client::Claude;
use countersign_client::mcp::Server;
use countersign_client::mcp::schemars::{self, JsonSchema};
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Stock {
    /// What to look up, in the singular.
    item: String,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let shelf = BTreeMap::from([("lamp", 3_u32), ("chair", 12)]);
    let shop = Server::new("shop").tool("stock", "How many are left", move |ask: Stock| {
        let left = shelf.get(ask.item.as_str()).copied();
        async move {
            println!("the model asks for {}", ask.item);
            // The model reads an error, and can try again.
            left.ok_or_else(|| format!("there is no {} in the shop", ask.item).into())
        }
    });
    let text = claude()
        .mcp(shop)
        .allowed_tools(["mcp__shop__stock"])
        .query("How many lamps are left in the shop?")
        .text()
        .await?;
    println!("{text}");
    Ok(())
}

/// The `claude` that the first argument names, or the one that is found.
fn claude() -> Claude {
    match std::env::args().nth(1) {
        Some(path) => Claude::new().cli(path),
        None => Claude::new(),
    }
}
