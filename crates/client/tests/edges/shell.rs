//! A CLI of a few lines of shell, in the folder of one test.
//!
//! Owns the words that such a script may use; what runs of it is looked up by its [`Stage`].

use std::path::PathBuf;

use countersign_client::Claude;

use crate::stage::{Stage, until};

/// `hear` waits for a line; `accept` answers the request it heard; `greet` does both for the greeting of a CLI whose
/// version is `$version`. The folder is entered by hand: a version is asked for in the folder of the host.
const WORDS: &str = r#"
cd "${COUNTERSIGN_SCENARIO_LOG%/*}"
version=${version:-2.1.325}
hear() { IFS= read -r line; }
accept() {
  id=${line#*'"request_id":"'}; id=${id%%'"'*}
  printf '{"type":"control_response","response":{"subtype":"success","request_id":"%s","response":%s}}\n' "$id" "$1"
}
greet() {
  hear
  accept '{"commands":[],"models":[],"account":{},"output_style":"default","available_output_styles":[],"claude_code_version":"'"$version"'"}'
}
say() { printf '%s\n' "$1"; }
init() { say '{"type":"system","subtype":"init","session_id":"s","claude_code_version":"'"$version"'"}'; }
case "$1" in --version) probed; exit;; esac
"#;

/// One CLI in shell.
pub(crate) struct Shell {
    pub(crate) stage: Stage,
    script: String,
}

impl Shell {
    pub(crate) fn new(body: &str) -> Self {
        Self::probed("echo \"$version (Claude Code)\"", body)
    }

    /// One that does `probe` when it is asked for its version.
    pub(crate) fn probed(probe: &str, body: &str) -> Self {
        Self {
            stage: Stage::new(""),
            script: format!("probed() {{ {probe}\n}}{WORDS}{body}"),
        }
    }

    /// One of an older version.
    pub(crate) fn of_version(version: &str, body: &str) -> Self {
        let mut shell = Self::new(body);
        shell.script = format!("version={version}\n{}", shell.script);
        shell
    }

    /// A client of it.
    pub(crate) fn claude(&self) -> Claude {
        let words = ["/bin/sh", "-c", &self.script, "claude"];
        let words: Vec<_> = words.into_iter().map(Into::into).collect();
        self.stage.claude().cli(words)
    }

    /// A file that the script makes.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.stage.folder().join(name)
    }

    /// Waits until the script has made a file.
    pub(crate) async fn has_made(&self, name: &str) {
        let file = self.file(name);
        until(name, || file.exists()).await;
    }
}
