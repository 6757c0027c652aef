//! What is made, moved and decided: forks, the trash, what a resume means.

use std::time::{Duration, SystemTime};

use uuid::Uuid;

use super::fixture::{A, B, Tree, branch, ids, said, short, uuid};
use super::*;

fn seed(session: &str) -> ForkSeed<impl FnMut() -> Uuid> {
    let mut count = 0;
    ForkSeed {
        session: uuid(session),
        mint: move || {
            count += 1;
            Uuid::from_u128(count)
        },
        now: SystemTime::UNIX_EPOCH + Duration::from_secs(86_400),
    }
}

#[test]
fn a_fork_has_new_ids_and_the_old_conversation() {
    let tree = Tree::new();
    let lines = [
        said("user", "u1", "", "one"),
        "{\"type\":\"progress\",\"uuid\":\"p1\",\"parentUuid\":\"u1\"}\n".into(),
        said("assistant", "a1", "p1", "1").replace("\"cwd\"", "\"slug\":\"s\",\"cwd\""),
        "{\"type\":\"content-replacement\",\"replacements\":[{\"toolUseId\":\"t\"}]}\n".into(),
        said("user", "u2", "a1", "two"),
    ];
    let original = tree.session("app", A, &lines, 0);
    let before = std::fs::read(original.path()).unwrap();
    let fork = original.fork(&ForkOptions::default(), seed(B)).unwrap();
    assert_eq!(std::fs::read(original.path()).unwrap(), before);
    assert_eq!(
        branch(&fork),
        [1, 2, 3].map(|n| Uuid::from_u128(n).to_string())
    );
    let entries: Vec<Entry> = fork
        .entries()
        .unwrap()
        .map(|line| line.unwrap().into_entry().unwrap())
        .collect();
    assert!(entries.iter().all(|entry| entry.session_id() == Some(B)));
    assert_eq!(entries[1].parent_uuid(), entries[0].uuid());
    assert!(entries[1].field("slug").is_none());
    let origin = format!("{{\"sessionId\":\"{A}\",\"messageUuid\":\"a1\"}}");
    assert_eq!(entries[1].field("forkedFrom").unwrap().as_str(), origin);
    assert_eq!(
        stamp::format(entries[2].written().unwrap()),
        "1970-01-02T00:00:00.000Z"
    );
    assert_eq!(
        (entries[3].kind(), entries[4].kind()),
        ("content-replacement", "custom-title")
    );
    assert!(
        entries[0]
            .json()
            .as_str()
            .starts_with("{\"parentUuid\":null,")
    );
    assert_eq!(fork.info().unwrap().unwrap().title(), "one (fork)");
}

#[test]
fn a_fork_can_end_at_a_message_and_takes_no_ones_place() {
    let tree = Tree::new();
    let mut lines = short();
    lines.push(said("user", "u2", "a1", "two"));
    let original = tree.session("app", A, &lines, 0);
    let at = |message: &str| ForkOptions {
        at: Some(message.into()),
        title: Some("Mine".into()),
    };
    let fork = original.fork(&at("a1"), seed(B)).unwrap();
    assert_eq!(
        (branch(&fork).len(), fork.info().unwrap().unwrap().title()),
        (2, "Mine")
    );
    assert!(matches!(
        original.fork(&at("a1"), seed(B)),
        Err(HistoryError::Taken { .. })
    ));
    assert!(matches!(
        original.fork(&at("nope"), seed(B)),
        Err(HistoryError::NoMessage { .. })
    ));
    let left: Vec<_> = std::fs::read_dir(tree.folder("app")).unwrap().collect();
    assert_eq!(left.len(), 2, "nothing half-made is left: {left:?}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(
            std::fs::metadata(fork.path()).unwrap().permissions().mode() & 0o777,
            0o600
        );
    }
}

#[test]
fn a_deleted_session_comes_back_whole_and_overwrites_nothing() {
    let tree = Tree::new();
    let session = tree.session("app", A, &short(), 0);
    let folder = tree.folder("app");
    std::fs::create_dir_all(folder.join(A).join("subagents")).unwrap();
    std::fs::write(
        folder.join(A).join("subagents/agent-x.jsonl"),
        short().concat(),
    )
    .unwrap();
    std::fs::write(folder.join("agent-y.jsonl"), short().concat()).unwrap();
    std::fs::write(folder.join("agent-z.jsonl"), short().concat().replace(A, B)).unwrap();
    assert_eq!(session.subagents().unwrap().len(), 2);
    let trashed = session.delete(SystemTime::now()).unwrap();
    let left: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left, ["agent-z.jsonl"]);
    assert_eq!(
        tree.transcripts.trash().unwrap(),
        std::slice::from_ref(&trashed)
    );
    tree.session("app", A, &[], 0);
    assert!(matches!(
        tree.transcripts.restore(&trashed),
        Err(HistoryError::Taken { .. })
    ));
    std::fs::remove_file(session.path()).unwrap();
    let back = tree.transcripts.restore(&trashed).unwrap();
    assert_eq!(
        (branch(&back).len(), back.subagents().unwrap().len()),
        (2, 2)
    );
    assert!(tree.transcripts.trash().unwrap().is_empty());
    back.delete(SystemTime::now())
        .unwrap()
        .remove_forever()
        .unwrap();
    assert!(tree.transcripts.trash().unwrap().is_empty());
}

#[test]
fn deleting_forever_takes_the_session_and_nothing_else() {
    let tree = Tree::new();
    let session = tree.session("app", A, &short(), 0);
    tree.session("app", B, &short(), 0);
    session.delete_forever().unwrap();
    assert_eq!(
        ids(&tree.transcripts.list_all(&ListOptions::default()).unwrap()),
        [B]
    );
    assert!(tree.transcripts.trash().unwrap().is_empty());
}

#[test]
fn a_note_in_the_trash_cannot_name_files_elsewhere() {
    let tree = Tree::new();
    let place = tree.transcripts.config_dir().join("trash-countersign/evil");
    std::fs::create_dir_all(&place).unwrap();
    for (project, file) in [
        ("..", "a"),
        ("p/../..", "a"),
        ("p", "../a"),
        ("p", "/etc/x"),
    ] {
        let note =
            serde_json::json!({"session": A, "deleted": "", "project": project, "files": [file]});
        std::fs::write(place.join("deleted.json"), note.to_string()).unwrap();
        assert!(
            tree.transcripts.trash().unwrap().is_empty(),
            "{project} {file}"
        );
    }
}

#[test]
fn resume_is_resolved_by_id_and_title_or_refused_by_name() {
    let tree = Tree::new();
    let (here, there) = (tree.cwd("here"), tree.cwd("there"));
    tree.session("here", A, &short(), 0)
        .rename("Birds")
        .unwrap();
    let resolve =
        |cwd: &Path, wanted: &str, reach| tree.transcripts.resolve_resume(cwd, wanted, reach);
    assert_eq!(resolve(&here, A, Reach::ThisProject).unwrap().id, uuid(A));
    assert_eq!(
        resolve(&here, "birds ", Reach::ThisProject).unwrap().id,
        uuid(A)
    );
    assert_eq!(resolve(&there, A, Reach::AllProjects).unwrap().id, uuid(A));
    assert_eq!(
        resolve(&there, "Birds", Reach::AllProjects).unwrap().id,
        uuid(A)
    );
    assert!(matches!(
        resolve(&there, A, Reach::ThisProject),
        Err(ResumeError::Elsewhere {
            started_in: Some(_),
            ..
        })
    ));
    assert!(matches!(
        resolve(&there, "Birds", Reach::ThisProject),
        Err(ResumeError::Unknown { .. })
    ));
    let unknown = resolve(&here, B, Reach::AllProjects).unwrap_err();
    assert!(
        matches!(&unknown, ResumeError::Unknown { wanted, .. } if wanted == B),
        "{unknown}"
    );
    tree.session("here", B, &short(), 0)
        .rename("BIRDS")
        .unwrap();
    assert!(
        matches!(resolve(&here, "birds", Reach::ThisProject), Err(ResumeError::Ambiguous { ids, .. }) if ids.len() == 2)
    );
}
