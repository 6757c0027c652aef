//! Hooks: a call is refused before it is asked about, and what has run is logged.
//!
//! `cargo run --example hooks [path of claude]`
#![expect(clippy::print_stdout, reason = "an example shows what it got")]

use countersign_client::hook::{PostToolUse, PreToolUse};
use countersign_client::wire::tools::ToolInput;
use countersign_client::{AllowAll, Claude, Hook};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let guard = Hook::of(PreToolUse, |call, _| async move {
        match ToolInput::view(&call.tool_name, &call.tool_input) {
            Ok(ToolInput::Write(write)) if write.file_path.ends_with(".env") => {
                println!("refused: {}", write.file_path);
                PreToolUse::deny("Secrets are written by people.")
            }
            _ => PreToolUse::pass(),
        }
    });
    let log = Hook::of(PostToolUse, |call, context| async move {
        println!(
            "{} ran in {}",
            call.tool_name,
            context.cwd.unwrap_or_default()
        );
    });
    let session = claude()
        .hook(guard.matching("Write|Edit"))
        .hook(log)
        .permissions(AllowAll) // hooks come first: what they refuse is not asked about
        .connect()
        .await?;
    let turn = session
        .send("Put the API key into .env, then list the files.")
        .await?;
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
