//! Every command line that the real CLI was measured with, through the whole program: exit code and stderr.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::{Command, Stdio};

use serde::Deserialize;

/// One start of the real CLI as root, in an empty folder that is no repository and with no session on disk.
#[derive(Debug, Deserialize)]
struct Measured {
    argv: Vec<String>,
    code: i32,
    stderr: String,
    #[serde(default)]
    stdin: String,
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default)]
    files: BTreeMap<String, String>,
    /// Whether it was measured as root.
    #[serde(default = "yes")]
    root: bool,
}

fn yes() -> bool {
    true
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output().unwrap();
    id.stdout.trim_ascii() == b"0"
}

/// Starts the scripted CLI in the same surroundings: exit code and stderr.
fn says(row: &Measured) -> (Option<i32>, String) {
    let stage = tempfile::tempdir().unwrap();
    let root = stage.path().canonicalize().unwrap();
    let (home, cwd) = (root.join("home"), root.join("project"));
    std::fs::create_dir(&home).unwrap();
    std::fs::create_dir(&cwd).unwrap();
    for (path, text) in &row.files {
        let path = cwd.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let here = cwd.to_string_lossy().into_owned();
    let mut child = Command::new(env!("CARGO_BIN_EXE_countersign"))
        .args(["rehearse", "cli", "--"])
        .args(row.argv.iter().map(|word| word.replace("${cwd}", &here)))
        .env_clear()
        .envs(&row.env)
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", home)
        .env(
            "COUNTERSIGN_SCENARIO_TEXT",
            "turn always\n  say \"Hello there.\"\n",
        )
        .current_dir(&cwd)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // One that refuses to start does not read.
    let _ = child.stdin.take().unwrap().write_all(row.stdin.as_bytes());
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).replace(&here, "${cwd}");
    (output.status.code(), stderr)
}

#[test]
fn the_program_ends_every_measured_command_line_as_the_real_cli_did() {
    let text = include_str!("../../rehearsal/src/cli/args/measured.json");
    let rows: Vec<Measured> = serde_json::from_str(text).unwrap();
    let as_root = is_root();
    let mut different = Vec::new();
    for row in &rows {
        let depends_on_root = row.root != as_root
            && (row.stderr.contains("root/sudo")
                || row.argv.iter().any(|word| word.contains("dangerously")));
        if depends_on_root {
            continue;
        }
        let (code, stderr) = says(row);
        if (code, &stderr) != (Some(row.code), &row.stderr) {
            let (argv, real) = (&row.argv, (row.code, &row.stderr));
            different.push(format!(
                "{argv:?}\n  real:     {real:?}\n  scripted: {:?}",
                (code, stderr)
            ));
        }
    }
    let count = different.len();
    assert!(
        different.is_empty(),
        "{count} of {} differ:\n{}",
        rows.len(),
        different.join("\n")
    );
}
