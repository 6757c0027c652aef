//! `countersign policy` as people and scripts meet it: output, exit codes, errors.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![cfg(unix)]

mod check;
mod explain;
mod page;
mod replay;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// A home and a folder to work in, with nothing of the caller's environment.
struct Ground {
    _temp: tempfile::TempDir,
    root: PathBuf,
}

impl Ground {
    fn new(files: &[(&str, &str)]) -> Self {
        let temp = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(temp.path()).unwrap();
        fs::create_dir_all(root.join("home")).unwrap();
        fs::create_dir_all(root.join("work")).unwrap();
        for (path, text) in files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Self { _temp: temp, root }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
        command.env_clear().env("HOME", self.root.join("home"));
        command
            .current_dir(self.root.join("work"))
            .stdin(Stdio::null());
        command.arg("policy").args(arguments);
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// What was printed, the folder's name taken out, and the exit code.
    fn said(&self, arguments: &[&str]) -> (String, i32) {
        let output = self.run(arguments);
        assert_eq!(text(&output.stderr), "");
        (self.plain(&output.stdout), output.status.code().unwrap())
    }

    /// What was printed as an error, and the exit code.
    fn refused(&self, arguments: &[&str]) -> (String, i32) {
        let output = self.run(arguments);
        assert_eq!(text(&output.stdout), "");
        (self.plain(&output.stderr), output.status.code().unwrap())
    }

    fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_slice(&self.run(&[arguments, &["--json"]].concat()).stdout).unwrap()
    }

    fn plain(&self, bytes: &[u8]) -> String {
        text(bytes).replace(&format!("{}/", self.root.display()), "")
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn recording(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.join("fixtures/wire")
        .join(path)
        .to_string_lossy()
        .into_owned()
}

const GOOD: &str = r#"[[rule]]
allow = "Bash(git log:*)"
note = "reading history is harmless"
examples = { match = ["git log --oneline"], not_match = ["git log; rm -rf x", "git push"] }

[[rule]]
deny = ["Bash(rm:*)", "Read(.env)"]
"#;
