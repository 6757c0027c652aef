//! The text of a plan, from the file that this session's own lines named.

use std::path::{Path, PathBuf};

use countersign_host::plan::{CaptureError, Tracker};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::stage::{RECORDED, recorded};

struct Home {
    root: TempDir,
    plans: PathBuf,
}

impl Home {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let plans = root.path().join("home/.claude/plans");
        std::fs::create_dir_all(&plans).unwrap();
        Self { root, plans }
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.plans.join(name);
        std::fs::write(&path, text).unwrap();
        path
    }
}

fn call(tool: &str, id: &str, parent: Option<&str>, path: &Path) -> Value {
    json!({"type": "assistant", "parent_tool_use_id": parent, "message": {"role": "assistant", "content": [
        {"type": "tool_use", "id": id, "name": tool, "input": {"file_path": path, "content": "x"}}]}})
}

fn result(id: &str, parent: Option<&str>, is_error: bool) -> Value {
    json!({"type": "user", "parent_tool_use_id": parent, "message": {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": id, "content": "done", "is_error": is_error}]}})
}

/// A tracker that has seen these lines.
fn seen(plans: &Path, lines: &[Value]) -> Tracker {
    let mut tracker = Tracker::default();
    for line in lines {
        tracker.note(line.to_string().as_bytes(), plans);
    }
    tracker
}

/// One that has seen a file being written.
fn wrote(plans: &Path, path: &Path) -> Tracker {
    seen(
        plans,
        &[call("Write", "w", None, path), result("w", None, false)],
    )
}

#[test]
fn the_recorded_plan_file_is_found_on_every_version() {
    for version in RECORDED {
        let mut tracker = Tracker::default();
        for line in recorded(version, "plan-mode") {
            tracker.note(&line, Path::new("/home/user/.claude/plans"));
        }
        let expected = Path::new("/home/user/.claude/plans/the-plan.md");
        assert_eq!(tracker.file(None), Some(expected), "{version}");
    }
}

#[test]
fn the_text_is_what_the_file_holds_when_it_is_asked_about() {
    let home = Home::new();
    let path = home.write("mine.md", "# First");
    let tracker = wrote(&home.plans, &path);
    assert_eq!(
        tracker.capture(None, &home.plans).unwrap().as_deref(),
        Some("# First")
    );
    home.write("mine.md", "# Second");
    assert_eq!(
        tracker.capture(None, &home.plans).unwrap().as_deref(),
        Some("# Second")
    );
    home.write("mine.md", " \n");
    assert_eq!(tracker.capture(None, &home.plans).unwrap(), None);
}

#[test]
fn the_newest_file_of_a_folder_that_sessions_share_is_not_taken() {
    let home = Home::new();
    let mine = home.write("mine.md", "# Mine");
    home.write("theirs.md", "# Theirs, and newer");
    let tracker = wrote(&home.plans, &mine);
    assert_eq!(
        tracker.capture(None, &home.plans).unwrap().as_deref(),
        Some("# Mine")
    );
    // A session that named none has none.
    assert_eq!(Tracker::default().capture(None, &home.plans).unwrap(), None);
}

#[test]
fn two_sessions_in_one_home_see_their_own() {
    let home = Home::new();
    let (one, two) = (home.write("one.md", "# One"), home.write("two.md", "# Two"));
    let (first, second) = (wrote(&home.plans, &one), wrote(&home.plans, &two));
    assert_eq!(
        first.capture(None, &home.plans).unwrap().as_deref(),
        Some("# One")
    );
    assert_eq!(
        second.capture(None, &home.plans).unwrap().as_deref(),
        Some("# Two")
    );
}

#[test]
fn a_write_that_failed_or_has_not_ended_names_nothing() {
    let home = Home::new();
    let path = home.write("theirs.md", "# Theirs");
    let pending = seen(&home.plans, &[call("Write", "w", None, &path)]);
    assert_eq!(pending.file(None), None);
    let failed = seen(
        &home.plans,
        &[call("Write", "w", None, &path), result("w", None, true)],
    );
    assert_eq!(failed.file(None), None);
}

#[test]
fn changing_a_file_does_not_make_it_ones_own() {
    let home = Home::new();
    let (mine, theirs) = (
        home.write("mine.md", "# Mine"),
        home.write("theirs.md", "# Theirs"),
    );
    let edit = [call("Edit", "e", None, &theirs), result("e", None, false)];
    assert_eq!(seen(&home.plans, &edit).file(None), None);
    let mut lines = vec![call("Write", "w", None, &mine), result("w", None, false)];
    lines.extend(edit);
    assert_eq!(seen(&home.plans, &lines).file(None), Some(mine.as_path()));
}

#[test]
fn the_file_that_was_touched_last_counts() {
    let home = Home::new();
    let (one, two) = (home.write("one.md", "1"), home.write("two.md", "2"));
    let mut lines = vec![
        call("Write", "a", None, &one),
        result("a", None, false),
        call("Write", "b", None, &two),
        result("b", None, false),
    ];
    assert_eq!(seen(&home.plans, &lines).file(None), Some(two.as_path()));
    lines.extend([call("Edit", "c", None, &one), result("c", None, false)]);
    assert_eq!(seen(&home.plans, &lines).file(None), Some(one.as_path()));
}

#[test]
fn a_sub_agents_file_counts_and_its_own_goes_first() {
    let home = Home::new();
    let (main, sub) = (
        home.write("x.md", "main"),
        home.write("x-agent-a1.md", "sub"),
    );
    let below = Some("task");
    let only_sub = [call("Write", "s", below, &sub), result("s", below, false)];
    assert_eq!(seen(&home.plans, &only_sub).file(None), Some(sub.as_path()));
    let mut lines = only_sub.to_vec();
    lines.extend([call("Write", "m", None, &main), result("m", None, false)]);
    let tracker = seen(&home.plans, &lines);
    assert_eq!(tracker.file(None), Some(main.as_path()));
    assert_eq!(tracker.file(below), Some(sub.as_path()));
    lines.reverse();
    let mut other_way = vec![call("Write", "m", None, &main), result("m", None, false)];
    other_way.extend(only_sub);
    assert_eq!(
        seen(&home.plans, &other_way).file(None),
        Some(main.as_path())
    );
}

#[test]
fn what_is_no_plan_is_not_remembered() {
    let plans = Path::new("/home/user/.claude/plans");
    for path in [
        "/project/notes.md",
        "/home/user/.claude/plans/deep/x.md",
        "/home/user/.claude/plans/x.txt",
        "/home/user/.claude/plans/../../.ssh/id.md",
        "/home/user/.claude/other/../plans/x.md",
        "plans/x.md",
        "/home/user/.claude/plans",
    ] {
        assert_eq!(wrote(plans, Path::new(path)), Tracker::default(), "{path}");
    }
}

#[test]
fn a_folder_of_plans_elsewhere_is_refused_when_it_is_read() {
    let home = Home::new();
    let elsewhere = home.root.path().join("project/plans");
    std::fs::create_dir_all(&elsewhere).unwrap();
    let path = elsewhere.join("x.md");
    std::fs::write(&path, "# X").unwrap();
    let tracker = wrote(&home.plans, &path);
    let refused = tracker.capture(None, &home.plans).unwrap_err();
    assert!(matches!(refused, CaptureError::Elsewhere(_)), "{refused}");
    // It is the folder of plans where the CLI is told so.
    assert!(tracker.capture(None, &elsewhere).unwrap().is_some());
}

#[cfg(unix)]
#[test]
fn links_and_other_things_are_refused() {
    use std::os::unix::fs::symlink;
    let home = Home::new();
    let secret = home.root.path().join("secret.md");
    std::fs::write(&secret, "secret").unwrap();
    let link = home.plans.join("link.md");
    symlink(&secret, &link).unwrap();
    let refused = wrote(&home.plans, &link)
        .capture(None, &home.plans)
        .unwrap_err();
    assert!(matches!(refused, CaptureError::NotPlain(_)), "{refused}");
    let folder = home.plans.join("folder.md");
    std::fs::create_dir(&folder).unwrap();
    let refused = wrote(&home.plans, &folder)
        .capture(None, &home.plans)
        .unwrap_err();
    assert!(matches!(refused, CaptureError::NotPlain(_)), "{refused}");
    let missing = home.plans.join("missing.md");
    let refused = wrote(&home.plans, &missing)
        .capture(None, &home.plans)
        .unwrap_err();
    assert!(matches!(refused, CaptureError::Io { .. }), "{refused}");
}

#[cfg(unix)]
#[test]
fn a_pipe_with_the_name_of_a_plan_keeps_nobody_waiting() {
    let home = Home::new();
    let pipe = home.plans.join("pipe.md");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &pipe,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();
    let refused = wrote(&home.plans, &pipe)
        .capture(None, &home.plans)
        .unwrap_err();
    assert!(matches!(refused, CaptureError::NotPlain(_)), "{refused}");
}

#[cfg(unix)]
#[test]
fn a_home_that_is_reached_by_a_link_is_still_the_home() {
    let home = Home::new();
    home.write("x.md", "# X");
    let linked = home.root.path().join("linked");
    std::os::unix::fs::symlink(home.root.path().join("home"), &linked).unwrap();
    let tracker = wrote(&home.plans, &linked.join(".claude/plans/x.md"));
    assert_eq!(
        tracker.capture(None, &home.plans).unwrap().as_deref(),
        Some("# X")
    );
}

#[test]
fn a_plan_that_is_too_long_is_not_read() {
    let home = Home::new();
    let path = home.write("x.md", &"x".repeat(1024 * 1024 + 1));
    let refused = wrote(&home.plans, &path)
        .capture(None, &home.plans)
        .unwrap_err();
    assert!(matches!(refused, CaptureError::TooLong { .. }), "{refused}");
}

#[test]
fn what_is_remembered_is_bounded_and_can_be_stored() {
    let plans = Path::new("/p/plans");
    let mut tracker = Tracker::default();
    for number in 0..1_000 {
        let path = plans.join(format!("{number}.md"));
        let id = number.to_string();
        tracker.note(
            call("Write", &id, None, &path).to_string().as_bytes(),
            plans,
        );
        if number % 2 == 0 {
            tracker.note(result(&id, None, false).to_string().as_bytes(), plans);
        }
    }
    let text = serde_json::to_string(&tracker).unwrap();
    assert!(text.len() < 10_000, "{}", text.len());
    assert_eq!(serde_json::from_str::<Tracker>(&text).unwrap(), tracker);
    assert_eq!(tracker.file(None), Some(Path::new("/p/plans/998.md")));
}
