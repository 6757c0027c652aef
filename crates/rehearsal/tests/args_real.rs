//! Whether `measured.json`, by which the command line of the scripted CLI is held, is still what the real one says.
//!
//! A sample of the refusals: each takes the real CLI a third of a second.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::process::{Command, Stdio};

use countersign_testkit::demand;
use countersign_testkit::sandbox::{Launch, RunAs, Sandbox, can_become_another_user};
use serde_json::Value;

/// One row in so many is asked again.
const STRIDE: usize = 16;

fn refused() -> Vec<Value> {
    let rows: Vec<Value> =
        serde_json::from_str(include_str!("../src/cli/args/measured.json")).unwrap();
    let refused = rows
        .into_iter()
        .filter(|row| row["code"] == 1 && row["stdin"].is_null());
    refused.step_by(STRIDE).collect()
}

#[test]
fn the_real_cli_still_refuses_a_sample_of_the_measured_lines_in_these_words() {
    let Some(installed) = demand::cli("2.1.325") else {
        return;
    };
    let rows = refused();
    assert!(rows.len() > 30, "{} rows", rows.len());
    for row in &rows {
        // Some were measured as root, and say so.
        let stderr = row["stderr"].as_str().unwrap();
        if stderr.contains("root/sudo") && !can_become_another_user() {
            continue;
        }
        let sandbox = Sandbox::create(RunAs::Caller).unwrap();
        let cwd = sandbox.project().to_string_lossy().into_owned();
        for (path, text) in row["files"].as_object().into_iter().flatten() {
            sandbox.write(path, text.as_str().unwrap()).unwrap();
        }
        let words = row["argv"]
            .as_array()
            .unwrap()
            .iter()
            .map(|word| word.as_str().unwrap());
        let env = row["env"].as_object().into_iter().flatten();
        let launch = Launch {
            base_url: "http://127.0.0.1:9".to_owned(),
            flags: words.map(|word| word.replace("${cwd}", &cwd)).collect(),
            env: env
                .map(|(name, value)| (name.clone(), value.as_str().unwrap().to_owned()))
                .collect(),
        };
        let spec = sandbox.spec(&installed, &launch).unwrap();
        let output = Command::new(&spec.command[0])
            .args(&spec.command[1..])
            .env_clear()
            .envs(spec.env)
            .current_dir(spec.cwd)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr).replace(&cwd, "${cwd}");
        assert_eq!(
            (output.status.code(), said.as_str()),
            (Some(1), stderr),
            "{}",
            row["argv"]
        );
    }
}
