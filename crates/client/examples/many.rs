//! Twenty agents at once, with one handler for all of their questions.
//!
//! `cargo run --example many [path of claude]`
#![expect(clippy::print_stdout, reason = "an example shows what it got")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use countersign_client::{Claude, Decision, PermissionRequest};
use tokio::task::JoinSet;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    // A builder is cheap to clone: its clones share the handler.
    let claude = claude().permissions(move |call: PermissionRequest| {
        count.fetch_add(1, Ordering::Relaxed);
        async move { Decision::deny(format!("{} is not needed for this.", call.tool_name)) }
    });
    let mut running = JoinSet::new();
    for number in 1..=20 {
        let question = format!("Is {number} a prime number?");
        running.spawn(claude.clone().query(question).text());
    }
    let answers = running.join_all().await;
    let good = answers.iter().filter(|answer| answer.is_ok()).count();
    println!("{good} of {} answered", answers.len());
    println!("{} questions denied", asked.load(Ordering::Relaxed));
    Ok(())
}

/// The `claude` that the first argument names, or the one that is found.
fn claude() -> Claude {
    match std::env::args().nth(1) {
        Some(path) => Claude::new().cli(path),
        None => Claude::new(),
    }
}
