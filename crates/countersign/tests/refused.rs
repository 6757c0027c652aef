//! Command lines that the scripted CLI refuses, through the whole program: exit code and stderr.
#![cfg(unix)]

use std::process::Command;

#[test]
fn the_program_ends_a_refused_command_line_as_the_real_cli_does() {
    let rows = [
        (
            vec!["-p", "--nonsense"],
            "error: unknown option '--nonsense'\n",
        ),
        (
            vec!["-p", "--model"],
            "error: option '--model <model>' argument missing\n",
        ),
    ];
    for (argv, expected) in rows {
        let folder = tempfile::tempdir().unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_countersign"))
            .args(["rehearse", "cli", "--"])
            .args(&argv)
            .env_clear()
            .env("HOME", folder.path())
            .current_dir(folder.path())
            .output()
            .unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), &*stderr), (Some(1), expected));
    }
}
