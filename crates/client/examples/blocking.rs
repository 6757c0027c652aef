//! The same without an async runtime: plain functions and a plain closure.
//!
//! `cargo run --features blocking --example blocking [path of claude]`
#![expect(clippy::print_stdout, reason = "an example shows what it got")]

use countersign_client::{Claude, Decision, blocking};

fn main() -> anyhow::Result<()> {
    let reads_only = blocking::handler(|call| match call.tool_name.as_str() {
        "Read" => Decision::allow(),
        other => Decision::deny(format!("{other} may not run here.")),
    });
    let session = blocking::Session::connect(claude().permissions(reads_only))?;
    let result = session.send("Which hosts does this machine know?")?.ok()?;
    println!("{}", result.text());
    session.close()?;
    Ok(())
}

/// The `claude` that the first argument names, or the one that is found.
fn claude() -> Claude {
    match std::env::args().nth(1) {
        Some(path) => Claude::new().cli(path),
        None => Claude::new(),
    }
}
