//! An async closure decides what may run. Here: two harmless commands, nothing else.
//!
//! `cargo run --example approve [path of claude]`
#![expect(clippy::print_stdout, reason = "an example shows what it got")]

use countersign_client::wire::tools::ToolInput;
use countersign_client::{Claude, Decision, PermissionRequest};

/// Whole commands, not beginnings: `git status; rm -r .` begins with `git status`, too.
const HARMLESS: [&str; 2] = ["git status", "cargo test --offline"];

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let session = claude()
        .permissions(|call: PermissionRequest| async move {
            let decision = match call.tool_input() {
                Ok(ToolInput::Bash(bash)) if HARMLESS.contains(&bash.command.as_str()) => {
                    Decision::allow()
                }
                Ok(ToolInput::Bash(_)) => Decision::deny(format!("Only {HARMLESS:?} may run.")),
                _ => Decision::deny("Nothing but Bash may run."),
            };
            let verdict = if decision.is_allow() {
                "runs"
            } else {
                "denied"
            };
            println!("{verdict}: {} {}", call.tool_name, call.input);
            decision
        })
        .connect()
        .await?;
    let turn = session
        .send("Is the work tree clean? Clean it if not.")
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
