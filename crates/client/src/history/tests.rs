//! The parts together, on folders as the CLI leaves them.

use super::fixture::{A, B, Tree, branch, ids, message, said, short, tool_result, tool_use, uuid};
use super::*;

#[test]
fn the_config_folder_comes_from_the_variable_or_the_home() {
    let with = |pairs: &[(&str, &str)]| {
        let found = |name: &str| {
            pairs
                .iter()
                .find(|(key, _)| *key == name)
                .map(|(_, value)| value.into())
        };
        Transcripts::of_environment(found).map(|transcripts| transcripts.config_dir)
    };
    let home = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
    assert_eq!(
        with(&[("CLAUDE_CONFIG_DIR", "/c"), (home, "/h")]).unwrap(),
        Path::new("/c")
    );
    assert_eq!(
        with(&[("CLAUDE_CONFIG_DIR", ""), (home, "/h")]).unwrap(),
        Path::new("/h").join(".claude")
    );
    assert!(matches!(with(&[]), Err(HistoryError::NoHome)));
}

#[test]
fn a_list_is_newest_first_and_can_be_paged() {
    let tree = Tree::new();
    let names: Vec<String> = (0..5)
        .map(|n| format!("aaaaaaaa-0000-4000-8000-00000000000{n}"))
        .collect();
    for (age, name) in [(20, 2), (0, 0), (40, 4), (10, 1), (30, 3)] {
        tree.session("app", &names[name], &short(), age);
    }
    let project = tree.transcripts.project(&tree.cwd("app"));
    assert_eq!(ids(&project.list(&ListOptions::default()).unwrap()), names);
    let page = ListOptions {
        limit: Some(2),
        offset: 1,
        ..ListOptions::default()
    };
    assert_eq!(ids(&project.list(&page).unwrap()), names[1..3]);
    assert_eq!(
        ids(&tree
            .transcripts
            .project(&tree.cwd("other"))
            .list(&page)
            .unwrap()),
        [""; 0]
    );
}

#[test]
fn an_info_holds_what_the_file_says() {
    let tree = Tree::new();
    let transcript = tree.session("app", A, &short(), 0);
    let info = transcript.info().unwrap().unwrap();
    assert_eq!(info.title(), "Remember the word heron");
    assert_eq!(
        (info.cwd.as_deref(), info.git_branch.as_deref()),
        (Some(Path::new("/project/app")), Some("main"))
    );
    assert_eq!(
        (info.messages, info.size),
        (Some(2), short().concat().len() as u64)
    );
    assert_eq!(
        stamp::format(info.created.unwrap()),
        "2026-01-31T12:00:00.000Z"
    );
}

#[test]
fn titles_go_before_prompts_and_the_first_prompt_is_a_persons() {
    let tree = Tree::new();
    let mut lines = vec![
        said("user", "u0", "", "<command-name>/clear</command-name>"),
        message(
            "user",
            "u1",
            "u0",
            "",
            r#"[{"type":"tool_result","content":"no"}]"#,
        ),
        said("user", "u2", "u1", &format!("Fix\nit {}", "x".repeat(300))),
    ];
    let title = |lines: &[String]| {
        tree.session("app", A, lines, 0)
            .info()
            .unwrap()
            .unwrap()
            .title()
            .to_owned()
    };
    assert_eq!(title(&lines[..1]), "/clear");
    let first = title(&lines);
    assert!(
        first.starts_with("Fix it xxx") && first.chars().count() == 201,
        "{first}"
    );
    for (line, expected) in [
        (r#"{"type":"summary","summary":"Sum"}"#, "Sum"),
        (r#"{"type":"last-prompt","lastPrompt":"Last"}"#, "Last"),
        (r#"{"type":"ai-title","aiTitle":"Made up"}"#, "Made up"),
        (r#"{"type":"custom-title","customTitle":"Mine"}"#, "Mine"),
        (r#"{"type":"summary","summary":"Sum 2"}"#, "Mine"),
    ] {
        lines.push(format!("{line}\n"));
        assert_eq!(title(&lines), expected);
    }
}

#[test]
fn files_without_a_conversation_are_not_listed() {
    let tree = Tree::new();
    tree.session("app", A, &[], 0);
    let side = short()
        .concat()
        .replace("\"isSidechain\":false", "\"isSidechain\":true");
    tree.session("app", B, &[side], 0);
    std::fs::write(tree.folder("app").join("notes.jsonl"), short().concat()).unwrap();
    assert!(
        tree.transcripts
            .list_all(&ListOptions::default())
            .unwrap()
            .is_empty()
    );
}

#[test]
fn of_a_large_file_the_ends_are_enough() {
    let tree = Tree::new();
    let filler: Vec<String> = (0..400)
        .map(|n| said("assistant", &format!("f{n}"), "u1", &"y".repeat(1000)))
        .collect();
    let mut lines = short();
    lines.extend(filler);
    let transcript = tree.session("app", A, &lines, 0);
    transcript.rename("  A \u{202e}title\n ").unwrap();
    transcript.tag(Some("red")).unwrap();
    let info = transcript.info().unwrap().unwrap();
    assert_eq!(
        (info.title(), info.tag.as_deref(), info.messages),
        ("A title", Some("red"), None)
    );
    assert_eq!(
        info.first_prompt.as_deref(),
        Some("Remember the word heron")
    );
    transcript.tag(None).unwrap();
    assert_eq!(transcript.info().unwrap().unwrap().tag, None);
}

#[test]
fn a_first_prompt_larger_than_the_window_is_still_found() {
    let tree = Tree::new();
    let lines = [
        said("user", "u1", "", &"word ".repeat(60_000)),
        said("assistant", "a1", "u1", "ok"),
    ];
    let info = tree.session("app", A, &lines, 0).info().unwrap().unwrap();
    assert!(info.title().starts_with("word word"));
}

#[test]
fn a_note_after_a_torn_line_begins_a_line_of_its_own() {
    let tree = Tree::new();
    let mut lines = short();
    lines.push("{\"type\":\"user\",\"mess".into());
    let transcript = tree.session("app", A, &lines, 0);
    transcript.rename("Mended").unwrap();
    let text = std::fs::read_to_string(transcript.path()).unwrap();
    let note = format!(
        "\n{{\"type\":\"custom-title\",\"customTitle\":\"Mended\",\"sessionId\":\"{A}\"}}\n"
    );
    assert_eq!(text, lines.concat() + &note);
    assert_eq!(
        transcript
            .entries()
            .unwrap()
            .filter(|line| line.as_ref().unwrap().entry().is_none())
            .count(),
        1
    );
}

#[test]
fn renaming_refuses_blank_titles_empty_files_and_creates_none() {
    let tree = Tree::new();
    let transcript = tree.session("app", A, &short(), 0);
    assert!(matches!(
        transcript.rename(" \u{200b} "),
        Err(HistoryError::Blank { .. })
    ));
    assert!(matches!(
        tree.session("app", B, &[], 0).rename("x"),
        Err(HistoryError::Empty { .. })
    ));
    std::fs::remove_file(transcript.path()).unwrap();
    assert!(matches!(
        transcript.rename("x"),
        Err(HistoryError::NotFound { .. })
    ));
    assert!(!transcript.path().exists());
}

#[test]
fn a_session_is_found_in_whatever_project_it_lies() {
    let tree = Tree::new();
    tree.session("old", A, &[], 0);
    let moved = tree.session("new", A, &short(), 100);
    assert_eq!(tree.transcripts.get(&uuid(A)).unwrap(), moved);
    assert!(matches!(
        tree.transcripts.get(&uuid(B)),
        Err(HistoryError::NotFound { .. })
    ));
}

#[cfg(unix)]
#[test]
fn links_below_the_projects_folder_are_not_followed() {
    let tree = Tree::new();
    let real = tree.session("app", A, &short(), 0);
    let link = tree.folder("app").join(format!("{B}.jsonl"));
    std::os::unix::fs::symlink(real.path(), &link).unwrap();
    assert!(tree.transcripts.find(&uuid(B)).unwrap().is_none());
    assert_eq!(
        ids(&tree.transcripts.list_all(&ListOptions::default()).unwrap()),
        [A]
    );
    let linked = Transcript::new(tree.transcripts.config_dir().to_owned(), uuid(B), link);
    assert!(linked.rename("x").is_err() && linked.delete_forever().is_err());
}

#[test]
fn worktrees_of_the_same_repository_are_listed_and_their_neighbours_are_not() {
    let tree = Tree::new();
    let (main, linked) = (tree.cwd("app"), tree.cwd("tree"));
    let git = main.join(".git/worktrees/tree");
    std::fs::create_dir_all(&git).unwrap();
    std::fs::write(
        git.join("gitdir"),
        format!("{}\n", linked.join(".git").display()),
    )
    .unwrap();
    std::fs::write(git.join("commondir"), "../..\n").unwrap();
    std::fs::write(linked.join(".git"), format!("gitdir: {}\n", git.display())).unwrap();
    let started_in = |cwd: &Path| {
        let cwd = serde_json::to_string(cwd).unwrap();
        vec![short().concat().replace("\"/project/app\"", &cwd)]
    };
    tree.session("tree", A, &started_in(&linked), 0);
    tree.session("tree-house", B, &started_in(&tree.cwd("tree-house")), 0);
    let project = tree.transcripts.project(&main);
    assert!(project.list(&ListOptions::default()).unwrap().is_empty());
    let options = ListOptions {
        include_worktrees: true,
        ..ListOptions::default()
    };
    assert_eq!(ids(&project.list(&options).unwrap()), [A]);
}

#[test]
fn the_branch_is_the_one_of_the_last_message() {
    let tree = Tree::new();
    let lines = [
        said("user", "u1", "", "one"),
        said("assistant", "a1", "u1", "1"),
        said("user", "u2", "a1", "abandoned"),
        said("assistant", "a2", "u2", "2"),
        "{\"type\":\"torn\n".into(),
        said("user", "u3", "a1", "again"),
        said("assistant", "a3", "u3", "3"),
        "{\"type\":\"attachment\",\"uuid\":\"x\",\"parentUuid\":\"a3\"}\n".into(),
    ];
    let transcript = tree.session("app", A, &lines, 0);
    assert_eq!(branch(&transcript), ["u1", "a1", "u3", "a3"]);
    assert_eq!(
        transcript
            .branch(&BranchOptions::default())
            .unwrap()
            .broken_lines(),
        1
    );
    let mut third = transcript.branch(&BranchOptions::default()).unwrap();
    assert_eq!(third.nth(2).unwrap().unwrap().text(), "again");
}

#[test]
fn a_rewind_counts_until_something_is_said() {
    let tree = Tree::new();
    let mut lines = short();
    lines.push(said("user", "u2", "a1", "two"));
    lines.push("{\"type\":\"last-prompt\",\"leafUuid\":\"a1\",\"explicit\":true}\n".into());
    assert_eq!(branch(&tree.session("app", A, &lines, 0)), ["u1", "a1"]);
    lines.push(said("user", "u3", "a1", "three"));
    assert_eq!(
        branch(&tree.session("app", A, &lines, 0)),
        ["u1", "a1", "u3"]
    );
}

#[test]
fn parallel_calls_and_their_results_are_all_on_the_branch() {
    let tree = Tree::new();
    // The result of the first call is a dead end, as 2.1.325 writes it.
    let lines = [
        said("user", "u1", "", "go"),
        tool_use("c1", "u1", "r"),
        tool_use("c2", "c1", "r"),
        tool_result("x1", "c1"),
        tool_result("x2", "c2"),
        said("assistant", "a1", "x2", "done"),
    ];
    assert_eq!(
        branch(&tree.session("app", A, &lines, 0)),
        ["u1", "c1", "c2", "x1", "x2", "a1"]
    );
    // The second call itself is off the chain, as 2.1.62 may write it.
    let lines = [
        said("user", "u1", "", "go"),
        tool_use("c1", "u1", "r"),
        tool_use("c2", "c1", "r"),
        tool_result("x2", "c2"),
        tool_result("x1", "c1"),
        said("assistant", "a1", "x1", "done"),
    ];
    assert_eq!(
        branch(&tree.session("app", A, &lines, 0)),
        ["u1", "c1", "c2", "x2", "x1", "a1"]
    );
}

#[test]
fn a_file_that_goes_in_a_circle_ends() {
    let tree = Tree::new();
    let lines = [
        said("user", "u1", "a1", "x"),
        said("assistant", "a1", "u1", "y"),
        said("user", "u2", "a1", "z"),
    ];
    assert_eq!(
        branch(&tree.session("app", A, &lines, 0)),
        ["u1", "a1", "u2"]
    );
    assert!(branch(&tree.session("app", A, &lines[..2], 0)).is_empty());
}
