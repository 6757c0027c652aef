//! docs/journal.md shows what is printed.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::stage::{Stage, text};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn the_commands_of_the_page_print_what_it_shows() {
    let page = std::fs::read_to_string(root().join("docs/journal.md")).unwrap();
    let blocks: Vec<&str> = page
        .split("```console\n")
        .skip(1)
        .map(|rest| rest.split("\n```").next().unwrap())
        .collect();
    assert!(blocks.len() >= 4);
    let stage = Stage::new();
    stage.session(
        "session",
        &["newest/bash-approved.ndjson", "newest/plain-turn.ndjson"],
    );
    let program = Path::new(env!("CARGO_BIN_EXE_countersign"));
    for block in blocks {
        let (line, wanted) = block.split_once('\n').unwrap();
        let mut shell = Command::new("/bin/sh");
        let folder = program.parent().unwrap().display();
        shell
            .env_clear()
            .env("PATH", format!("{folder}:/usr/bin:/bin"))
            .current_dir(&stage.root)
            .stdin(Stdio::null())
            .args(["-c", line.strip_prefix("$ ").unwrap()]);
        let output = shell.output().unwrap();
        let said = text(&output.stdout) + &text(&output.stderr);
        assert_eq!(said.trim_end(), wanted.trim_end(), "{line}");
    }
}
