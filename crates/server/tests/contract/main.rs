//! The live server against its own OpenAPI document: schemathesis makes requests from the document and holds every answer
//! against it.
//!
//! Owns how it is run. Agents are scripted; the program sees an environment of its own and speaks to 127.0.0.1 alone.
//! Webhooks are left out, since what is made up there would be called, and streams, since they have no end.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../common/mod.rs"]
mod common;

use std::process::Stdio;
use std::time::Duration;

use common::Served;
use countersign_testkit::{demand, fetch};
use serde_json::json;

/// What it is held to.
const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,\
    response_schema_conformance,response_headers_conformance,unsupported_method";

/// Requests for each operation in each phase.
const EXAMPLES: &str = "12";

/// As long as it may take on a busy machine.
const LONGEST: Duration = Duration::from_secs(240);

/// Asks once, so that there are an approval and a session that waits. Nothing of what is made up is ever run.
const SCENE: &str = r#"
turn always
  tool Bash {"command":"true","description":"Nothing"}
  say "Done."
"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_answer_is_one_that_the_document_promises() {
    let Some(tool) = demand::sdk(&fetch::SCHEMATHESIS) else {
        return;
    };
    let served = Served::new(SCENE).await;
    let start = json!({"cwd": served.stage.project(), "prompt": "go"});
    let client = served.client();
    let begun = client.send("POST", "/sessions", &start).await;
    assert_eq!(begun.status, 201, "{begun:?}");
    let home = tempfile::tempdir().unwrap();
    let token = served.token("contract", countersign_api::Scope::Full);
    let run = tokio::process::Command::new(tool.interpreter)
        .args(["-m", "schemathesis.cli", "run"])
        .arg(format!("http://{}/api/openapi.json", served.address))
        .args(["--header", &format!("Authorization: Bearer {token}")])
        .args(["--checks", CHECKS, "--max-examples", EXAMPLES])
        .args(["--phases", "examples,coverage,fuzzing", "--seed", "1"])
        .args([
            "--exclude-path-regex",
            "/webhooks|/events$|/stream$|/logout$",
        ])
        .args([
            "--workers",
            "1",
            "--no-color",
            "--suppress-health-check",
            "all",
        ])
        .env_clear()
        .env("HOME", home.path())
        .env("PATH", "/usr/bin:/bin")
        .current_dir(home.path())
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let ran = tokio::time::timeout(LONGEST, run).await.expect("in time");
    let ran = ran.unwrap();
    let told = String::from_utf8_lossy(&ran.stdout);
    assert!(
        ran.status.success(),
        "{told}\n{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    assert!(told.contains("passed"), "it has tried something: {told}");
}
