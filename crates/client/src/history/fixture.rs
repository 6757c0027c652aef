//! A configuration folder to test on, and lines as the CLI writes them.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use super::{BranchOptions, SessionInfo, SessionUuid, Transcript, Transcripts, project_key};

pub(super) const A: &str = "aaaaaaaa-0000-4000-8000-000000000001";
pub(super) const B: &str = "bbbbbbbb-0000-4000-8000-000000000002";

pub(super) struct Tree {
    dir: tempfile::TempDir,
    pub(super) transcripts: Transcripts,
}

impl Tree {
    pub(super) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let transcripts = Transcripts::at(dir.path().join("config"));
        Self { dir, transcripts }
    }

    /// A working directory that exists, without links in its path.
    pub(super) fn cwd(&self, name: &str) -> PathBuf {
        let cwd = self.dir.path().join(name);
        std::fs::create_dir_all(&cwd).unwrap();
        super::key::real_path(&cwd)
    }

    pub(super) fn folder(&self, cwd: &str) -> PathBuf {
        let key = project_key(&self.cwd(cwd).to_string_lossy());
        let folder = self.transcripts.projects_dir().join(key);
        std::fs::create_dir_all(&folder).unwrap();
        folder
    }

    /// Writes a transcript that is `age` seconds old.
    pub(super) fn session(&self, cwd: &str, id: &str, lines: &[String], age: u64) -> Transcript {
        let path = self.folder(cwd).join(format!("{id}.jsonl"));
        std::fs::write(&path, lines.concat()).unwrap();
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(age))
            .unwrap();
        Transcript::new(self.transcripts.config_dir().to_owned(), uuid(id), path)
    }
}

pub(super) fn uuid(id: &str) -> SessionUuid {
    SessionUuid::parse(id).unwrap()
}

/// A message whose content is text.
pub(super) fn said(role: &str, uuid: &str, parent: &str, text: &str) -> String {
    message(
        role,
        uuid,
        parent,
        uuid,
        &serde_json::json!(text).to_string(),
    )
}

/// A message with any content, as one block of the response `of`.
pub(super) fn message(role: &str, uuid: &str, parent: &str, of: &str, content: &str) -> String {
    let parent = if parent.is_empty() {
        "null".to_owned()
    } else {
        format!("\"{parent}\"")
    };
    format!(
        "{{\"parentUuid\":{parent},\"isSidechain\":false,\"type\":\"{role}\",\"message\":{{\"role\":\"{role}\",\"id\":\"{of}\",\"content\":{content}}},\"uuid\":\"{uuid}\",\"sessionId\":\"{A}\",\"cwd\":\"/project/app\",\"gitBranch\":\"main\",\"timestamp\":\"2026-01-31T12:00:00.000Z\"}}\n"
    )
}

pub(super) fn tool_use(uuid: &str, parent: &str, of: &str) -> String {
    message(
        "assistant",
        uuid,
        parent,
        of,
        r#"[{"type":"tool_use","id":"t","name":"Bash","input":{}}]"#,
    )
}

pub(super) fn tool_result(uuid: &str, parent: &str) -> String {
    message(
        "user",
        uuid,
        parent,
        "",
        r#"[{"type":"tool_result","tool_use_id":"t","content":"x"}]"#,
    )
}

pub(super) fn short() -> Vec<String> {
    vec![
        said("user", "u1", "", "Remember the word heron"),
        said("assistant", "a1", "u1", "I will."),
    ]
}

pub(super) fn ids(infos: &[SessionInfo]) -> Vec<&str> {
    infos.iter().map(|info| info.id.as_str()).collect()
}

pub(super) fn branch(transcript: &Transcript) -> Vec<String> {
    let branch = transcript.branch(&BranchOptions::default()).unwrap();
    branch
        .map(|entry| entry.unwrap().uuid().unwrap().to_owned())
        .collect()
}
