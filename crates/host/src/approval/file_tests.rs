//! What is kept of a file that a call would change.

use serde_json::json;

use super::*;

struct Folder(tempfile::TempDir);

impl Folder {
    fn with(text: &[u8]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.txt"), text).unwrap();
        Self(folder)
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("a.txt")
    }

    fn kept(&self, tool: &str, input: &Value) -> KeptFile {
        KeptFile::read(tool, input, self.path())
    }
}

fn numbered(lines: std::ops::RangeInclusive<usize>) -> String {
    lines.map(|n| format!("line {n}\n")).collect()
}

fn edit(old: &str, new: &str) -> Value {
    json!({"file_path": "a.txt", "old_string": old, "new_string": new})
}

#[test]
fn a_change_has_the_numbers_and_the_neighbours_it_has_in_the_file() {
    let folder = Folder::with(numbered(1..=100).as_bytes());
    let shown = folder
        .kept("Edit", &edit("line 50\n", "line 50\nline 50b\n"))
        .shown(true);
    assert_eq!(shown.state, FileState::Read);
    assert!(!shown.changed);
    let [part] = &shown.parts[..] else {
        panic!("{shown:?}");
    };
    assert_eq!((part.line, part.new_line), (48, 48));
    assert_eq!(
        part.before,
        "line 48\nline 49\nline 50\nline 51\nline 52\nline 53"
    );
    assert_eq!(
        part.after,
        "line 48\nline 49\nline 50\nline 50b\nline 51\nline 52\nline 53"
    );
}

#[test]
fn several_changes_are_several_parts_each_with_its_numbers() {
    let folder = Folder::with(numbered(1..=100).as_bytes());
    let edits = json!({"file_path": "a.txt", "edits": [
        {"old_string": "line 10\n", "new_string": ""},
        {"old_string": "line 90\n", "new_string": "line ninety\n"},
    ]});
    let parts = folder.kept("MultiEdit", &edits).shown(false).parts;
    let lines: Vec<_> = parts
        .iter()
        .map(|part| (part.line, part.new_line))
        .collect();
    assert_eq!(lines, [(7, 7), (87, 86)]);
    let write = json!({"file_path": "a.txt", "content": numbered(2..=100)});
    let parts = folder.kept("Write", &write).shown(false).parts;
    assert_eq!(parts.len(), 1);
    assert_eq!(parts[0].before, "line 1\nline 2\nline 3\nline 4");
    assert_eq!(parts[0].after, "line 2\nline 3\nline 4");
}

#[test]
fn a_file_that_changes_after_the_question_says_so() {
    let folder = Folder::with(b"one\ntwo\n");
    let kept = folder.kept("Edit", &edit("two", "three"));
    let stored = serde_json::to_string(&kept).unwrap();
    let kept: KeptFile = serde_json::from_str(&stored).unwrap();
    // Written again as it was.
    std::fs::write(folder.path(), b"one\ntwo\n").unwrap();
    assert!(!kept.shown(true).changed);
    std::fs::write(folder.path(), b"one\nTWO\n").unwrap();
    assert!(kept.shown(true).changed);
    assert!(!kept.shown(false).changed);
    std::fs::remove_file(folder.path()).unwrap();
    assert!(kept.shown(true).changed);
    let write = json!({"file_path": "a.txt", "content": "x"});
    let kept = folder.kept("Write", &write);
    assert_eq!(kept.shown(true).state, FileState::New);
    assert!(!kept.shown(true).changed);
    std::fs::write(folder.path(), b"there").unwrap();
    assert!(kept.shown(true).changed);
}

#[test]
fn what_is_not_shown_says_why() {
    let says = |folder: &Folder, input: &Value| {
        let shown = folder.kept("Edit", input).shown(true);
        assert_eq!((shown.state, shown.parts.len()), (FileState::Unknown, 0));
        shown.says.unwrap()
    };
    let plain = edit("a", "b");
    assert_eq!(
        says(&Folder::with(b"nothing of it"), &edit("else", "")),
        "The text to be replaced is not in the file."
    );
    assert_eq!(says(&Folder::with(b"\0a"), &plain), "The file is not text.");
    let long = vec![b'a'; MOST + 1];
    assert_eq!(
        says(&Folder::with(&long), &plain),
        "The file is longer than 1 MiB."
    );
    let folder = Folder::with(b"a");
    std::fs::remove_file(folder.path()).unwrap();
    std::fs::create_dir(folder.path()).unwrap();
    assert_eq!(says(&folder, &plain), "It is not a file.");
}

#[test]
fn lines_that_end_as_on_another_system_are_found() {
    let folder = Folder::with(b"one\r\ntwo\r\nthree\r\n");
    let shown = folder.kept("Edit", &edit("one\ntwo", "one\n2")).shown(true);
    assert_eq!(shown.state, FileState::Read, "{shown:?}");
    let part = &shown.parts[0];
    assert_eq!(
        (part.before.as_str(), part.after.as_str()),
        ("one\ntwo\nthree", "one\n2\nthree")
    );
}

#[cfg(unix)]
#[test]
fn a_pipe_that_nobody_writes_to_holds_up_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &path,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();
    let kept = KeptFile::read("Edit", &edit("a", "b"), path);
    assert_eq!(kept.shown(true).says.as_deref(), Some("It is not a file."));
}

#[test]
fn a_cell_of_a_notebook_is_shown_with_its_own_lines() {
    let cell = "a = 1\nb = 2\nc = 3\n";
    let notebook = json!({"cells": [{"id": "c1", "source": [cell]}], "nbformat": 4});
    let folder = Folder::with(notebook.to_string().as_bytes());
    let input = |id: &str| json!({"notebook_path": "a.txt", "cell_id": id, "new_source": "a = 1\nb = 9\nc = 3\n"});
    assert_eq!(
        changed_path("NotebookEdit", &input("c1"), Path::new("/p")),
        Some(PathBuf::from("/p/a.txt"))
    );
    let kept = folder.kept("NotebookEdit", &input("c1"));
    let shown = kept.shown(true);
    let part = FilePart {
        line: 1,
        new_line: 1,
        before: "a = 1\nb = 2\nc = 3".to_owned(),
        after: "a = 1\nb = 9\nc = 3".to_owned(),
    };
    assert_eq!((shown.state, shown.parts), (FileState::Read, vec![part]));
    let says = "It replaces cell `c1`, number 1 of 1.";
    assert_eq!(shown.says.as_deref(), Some(says));
    let missing = folder.kept("NotebookEdit", &input("c2")).shown(true);
    assert_eq!(missing.state, FileState::Unknown);
    let says = "The notebook has no cell `c2`.";
    assert_eq!(missing.says.as_deref(), Some(says));
    std::fs::remove_file(folder.path()).unwrap();
    assert!(kept.shown(true).changed);
    let gone = folder.kept("NotebookEdit", &input("c1")).shown(true);
    assert_eq!(gone.says.as_deref(), Some("There is no such notebook."));
}
