//! The difference of a worktree to its base, and its numbers.
//!
//! Owns what shows and what does not, with names and contents of every kind. Looking must change nothing.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use countersign_host::control::session::NewWorktree;

use crate::stage::{Stage, from_base, write};

#[tokio::test]
async fn committed_uncommitted_and_new_files_show() {
    let stage = Stage::new();
    stage.write("gone", "gone\n");
    stage.write("old-name", "a\nb\nc\nd\ne\n");
    stage.commit("more");
    let worktree = stage.plain().await;
    let path = &worktree.path;
    write(&path.join("committed"), "committed\n");
    std::fs::rename(path.join("old-name"), path.join("new-name")).unwrap();
    stage.commit_in(path, "work");
    write(&path.join("readme"), "one\ntwo\n");
    write(&path.join("staged"), "staged\n");
    stage.git_in(path, &["add", "staged"]);
    std::fs::remove_file(path.join("gone")).unwrap();
    write(&path.join("new/file"), "new\n");
    write(&path.join("target/built"), "ignored\n");
    write(&path.join("picture"), [0, 1, 2, 255]);
    std::os::unix::fs::symlink("/nowhere", path.join("link")).unwrap();
    let before = stage.git_in(path, &["status", "--porcelain=v2"]);

    let diff = stage.worktrees.diff(&worktree).await.unwrap();
    for expected in [
        "+committed\n",
        "+two\n",
        "+staged\n",
        "-gone\n",
        "+++ b/new/file\n",
        "+new\n",
        "rename from old-name\nrename to new-name\n",
        "Binary files /dev/null and b/picture differ\n",
        "new file mode 120000",
        "+/nowhere\n",
    ] {
        assert!(diff.contains(expected), "{expected:?} is not in\n{diff}");
    }
    assert!(!diff.contains("ignored") && !diff.contains("# "), "{diff}");

    let summary = stage.worktrees.summary(&worktree).await.unwrap();
    assert_eq!(summary.on.as_deref(), Some("countersign/fix-the-login"));
    assert_eq!((summary.files.count, summary.binary), (8, 1));
    assert_eq!((summary.added, summary.removed), (5, 1));
    assert_eq!((summary.ahead, summary.behind), (1, 0));
    assert_eq!(summary.uncommitted.count, 3);
    assert_eq!(summary.untracked.count, 3);
    assert_eq!(summary.unmerged[0].into.as_deref(), Some("main"));

    let after = stage.git_in(path, &["status", "--porcelain=v2"]);
    assert_eq!(after, before, "looking changed the index");
    let admin = stage.git_in(path, &["rev-parse", "--absolute-git-dir"]);
    let left = std::fs::read_dir(admin).unwrap();
    let left = left.filter(|entry| {
        let name = entry.as_ref().unwrap().file_name();
        name.to_string_lossy().starts_with("countersign")
    });
    assert_eq!(left.count(), 0);
}

#[tokio::test]
async fn an_untouched_worktree_differs_in_nothing() {
    let stage = Stage::new();
    let worktree = stage.plain().await;
    assert_eq!(stage.worktrees.diff(&worktree).await.unwrap(), "");
    let summary = stage.worktrees.summary(&worktree).await.unwrap();
    assert_eq!(
        (summary.files.count, summary.ahead, summary.behind),
        (0, 0, 0)
    );
    assert!(summary.unmerged.is_empty());
    assert_eq!(summary.behind_of.as_deref(), Some("main"));
}

#[tokio::test]
async fn names_of_every_kind_show() {
    let stage = Stage::new();
    let worktree = stage.plain().await;
    let names: [&[u8]; 7] = [
        b"a\nb",
        b"quo\"te'",
        b"\xff\xfe",
        "größe".as_bytes(),
        b" space ",
        b":(glob)*",
        b"-rf",
    ];
    for name in names {
        write(&worktree.path.join(OsStr::from_bytes(name)), "x\n");
    }
    let diff = stage.worktrees.diff(&worktree).await.unwrap();
    for shown in [
        r#""b/a\nb""#,
        r#""b/quo\"te'""#,
        "b/größe",
        "b/ space ",
        "b/:(glob)*",
        "b/-rf",
    ] {
        assert!(diff.contains(shown), "{shown} is not in\n{diff}");
    }
    let summary = stage.worktrees.summary(&worktree).await.unwrap();
    assert_eq!(summary.files.count, names.len());
    let mut found: Vec<_> = summary
        .files
        .first
        .iter()
        .map(|name| name.as_os_str().as_bytes())
        .collect();
    let mut names = names;
    found.sort_unstable();
    names.sort_unstable();
    assert_eq!(found, names);
}

#[tokio::test]
async fn line_ends_and_bytes_that_are_no_text_do_not_stop_it() {
    let stage = Stage::new();
    stage.write("dos", "one\r\ntwo\r\n");
    stage.commit("dos");
    let worktree = stage.plain().await;
    write(&worktree.path.join("dos"), "one\r\nthree\r\n");
    write(&worktree.path.join("latin"), b"caf\xe9\n");
    let diff = stage.worktrees.diff(&worktree).await.unwrap();
    assert!(diff.contains("-two\r\n+three\r\n"), "{diff:?}");
    assert!(diff.contains("+caf\u{fffd}\n"), "{diff:?}");
    // A person who has git change line ends sees no difference where there is none.
    stage.git(&["config", "core.autocrlf", "true"]);
    write(&worktree.path.join("readme"), "one\r\n");
    let diff = stage.worktrees.diff(&worktree).await.unwrap();
    assert!(!diff.contains("b/readme"), "{diff:?}");
}

#[tokio::test]
async fn settings_of_the_person_do_not_change_its_form() {
    let stage = Stage::new();
    for (name, value) in [
        ("diff.noprefix", "true"),
        ("diff.external", "false"),
        ("color.ui", "always"),
        ("diff.renames", "false"),
        ("core.pager", "false"),
        ("status.showUntrackedFiles", "no"),
        ("diff.ignoreSubmodules", "all"),
    ] {
        stage.git(&["config", name, value]);
    }
    let worktree = stage.plain().await;
    write(&worktree.path.join("readme"), "two\n");
    write(&worktree.path.join("new"), "new\n");
    let diff = stage.worktrees.diff(&worktree).await.unwrap();
    assert!(diff.contains("--- a/readme\n+++ b/readme\n"), "{diff}");
    assert!(diff.contains("+++ b/new\n"), "{diff}");
    assert!(!diff.contains('\u{1b}'));
}

/// Git notes the second of a file: a change to as many bytes in that second shows by a look into the file alone.
#[tokio::test]
async fn a_change_in_the_moment_of_the_checkout_shows_later() {
    let stage = Stage::new();
    stage.git(&["config", "core.trustctime", "false"]);
    let worktree = stage.plain().await;
    let readme = worktree.path.join("readme");
    let then = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_700_000_000);
    let set = |path: &Path| {
        let file = std::fs::File::options().write(true).open(path).unwrap();
        file.set_modified(then).unwrap();
    };
    set(&readme);
    stage.git_in(&worktree.path, &["update-index", "--refresh"]);
    let index = stage.git_in(&worktree.path, &["rev-parse", "--git-path", "index"]);
    set(Path::new(index.trim()));
    write(&readme, "two\n");
    set(&readme);
    let diff = stage.worktrees.diff(&worktree).await.unwrap();
    assert!(diff.contains("-one\n+two\n"), "{diff}");
    // With a new file the copy is written anew by git.
    write(&worktree.path.join("new"), "new\n");
    let diff = stage.worktrees.diff(&worktree).await.unwrap();
    assert!(diff.contains("-one\n+two\n"), "{diff}");
}

#[tokio::test]
async fn a_long_difference_is_cut_at_a_line_and_says_so() {
    let stage = Stage::new();
    let worktree = stage.plain().await;
    for n in 0..3 {
        write(
            &worktree.path.join(format!("long{n}")),
            "a line\n".repeat(10_000),
        );
    }
    let diff = stage.worktrees.diff_up_to(&worktree, 50_000).await.unwrap();
    assert!(diff.len() < 51_000);
    let (body, note) = diff.trim_end().rsplit_once('\n').unwrap();
    assert!(body.ends_with("+a line"), "{:?}", &body[body.len() - 20..]);
    assert!(
        note.starts_with("# cut:") && note.contains("3 files"),
        "{note}"
    );
}

#[tokio::test]
async fn many_new_files_are_bounded_and_foreign_repositories_named() {
    let stage = Stage::new();
    let worktree = stage.plain().await;
    for n in 0..2_005 {
        write(&worktree.path.join(format!("many/{n:04}")), "");
    }
    let inner = worktree.path.join("inner");
    stage.git(&["clone", "--quiet", ".", inner.to_str().unwrap()]);
    let diff = stage.worktrees.diff(&worktree).await.unwrap();
    assert_eq!(diff.matches("new file mode").count(), 2_000);
    assert!(diff.contains("# 5 more new files are not shown"));
    assert!(diff.contains("# \"inner/\" is a repository of its own"));
}

#[tokio::test]
async fn the_base_stays_the_commit_it_was() {
    let stage = Stage::new();
    let worktree = stage.make(1, from_base("main")).await.worktree;
    stage.write("readme", "later\n");
    stage.commit("later");
    stage.write("readme", "later still\n");
    stage.commit("later still");
    write(&worktree.path.join("mine"), "mine\n");
    stage.commit_in(&worktree.path, "mine");
    let diff = stage.worktrees.diff(&worktree).await.unwrap();
    assert!(diff.contains("+mine") && !diff.contains("later"), "{diff}");
    let summary = stage.worktrees.summary(&worktree).await.unwrap();
    assert_eq!((summary.ahead, summary.behind), (1, 2));
    // The branch it began from may go.
    stage.git(&["branch", "-m", "main", "trunk"]);
    let summary = stage.worktrees.summary(&worktree).await.unwrap();
    assert_eq!((summary.behind, summary.behind_of), (0, None));
}

#[tokio::test]
async fn without_a_branch_or_a_commit_it_is_still_shown() {
    let stage = Stage::new();
    let worktree = stage.make(1, NewWorktree::default()).await.worktree;
    stage.git_in(&worktree.path, &["switch", "--quiet", "--orphan", "fresh"]);
    write(&worktree.path.join("only"), "only\n");
    let diff = stage.worktrees.diff(&worktree).await.unwrap();
    assert!(diff.contains("+only") && diff.contains("-one"), "{diff}");
    let summary = stage.worktrees.summary(&worktree).await.unwrap();
    assert_eq!(summary.on.as_deref(), Some("fresh"));
    assert_eq!(
        summary.files.first.last().map(|name| name.as_path()),
        Some(Path::new("sub/inner"))
    );
}
