//! Lists, checks and signs, against transcripts that are written here and processes that are started here.

use std::fs;

use super::running::Sign;
use super::world::{Life, is_cli, life, parse_record};
use super::*;

const ONE: &str = "5e551011-0000-4000-8000-00000000000a";
const TWO: &str = "5e551011-0000-4000-8000-00000000000b";
const HOUR: u64 = 3_600_000_000;

struct Ground {
    folder: tempfile::TempDir,
    transcripts: Transcripts,
    project: PathBuf,
}

impl Ground {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let project = root.join("project");
        fs::create_dir(&project).unwrap();
        Self {
            folder,
            transcripts: Transcripts::at(root.join("config")),
            project,
        }
    }

    fn conversation(&self, id: &str, prompt: &str, entrypoint: &str) {
        let folder = self.transcripts.project(&self.project).folder();
        fs::create_dir_all(&folder).unwrap();
        let line = serde_json::json!({
            "type": "user", "uuid": id, "parentUuid": null, "sessionId": id, "cwd": self.project,
            "entrypoint": entrypoint, "gitBranch": "main", "timestamp": "2026-01-01T00:00:00.000Z",
            "message": {"role": "user", "content": prompt},
        });
        fs::write(folder.join(format!("{id}.jsonl")), format!("{line}\n")).unwrap();
    }

    fn list(&self, filter: &ImportFilter, ours: &[&str]) -> Vec<Importable> {
        let world = World::default();
        list(
            &self.transcripts,
            filter,
            |id| ours.contains(&id),
            &world,
            later(),
        )
        .unwrap()
    }

    fn check(&self, id: &str, confirmed: bool, world: &World) -> Result<Importable, ControlError> {
        let wanted = Wanted {
            conversation: id,
            cwd: &self.project,
            confirmed,
        };
        check(&self.transcripts, wanted, world, later())
    }
}

/// Long after everything that is written here.
fn later() -> u64 {
    microseconds(SystemTime::now()) + HOUR
}

fn record(pid: u32, conversation: &str) -> Record {
    Record {
        pid,
        conversation: Some(conversation.to_owned()),
        version: Some("2.1.325".to_owned()),
        status: Some("idle".to_owned()),
        ..Record::default()
    }
}

fn terminal(pid: u32, cwd: &Path, words: &[&str]) -> Terminal {
    Terminal {
        pid,
        cwd: cwd.to_owned(),
        words: words.iter().map(|word| (*word).to_owned()).collect(),
        is_ours: false,
    }
}

#[test]
fn conversations_of_people_are_listed_without_those_we_have() {
    let ground = Ground::new();
    ground.conversation(ONE, "Fix the roof", "cli");
    ground.conversation(TWO, "Count the birds", "sdk-ts");
    let all = ImportFilter::default();
    let listed = ground.list(&all, &[]);
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0].conversation, ONE);
    assert_eq!(listed[0].title, "Fix the roof");
    assert_eq!(listed[0].cwd, ground.project);
    assert_eq!(listed[0].branch.as_deref(), Some("main"));
    assert_eq!(listed[0].maybe_running, None);
    assert_eq!(ground.list(&all, &[ONE]), []);
    let programs = ImportFilter {
        folder: Some(ground.project.clone()),
        programmatic: true,
        most: 0,
    };
    assert_eq!(ground.list(&programs, &[]).len(), 2);
    let one = ImportFilter {
        most: 1,
        ..programs
    };
    assert_eq!(ground.list(&one, &[]).len(), 1);
    // The newest is ours: the one behind it is found all the same.
    let newest = ground.list(&one, &[])[0].conversation.clone();
    assert_eq!(ground.list(&one, &[&newest]).len(), 1);
    let elsewhere = ImportFilter {
        folder: Some(ground.folder.path().to_owned()),
        ..ImportFilter::default()
    };
    assert_eq!(ground.list(&elsewhere, &[]), []);
}

#[test]
fn a_person_is_asked_before_anything_is_imported() {
    let ground = Ground::new();
    ground.conversation(ONE, "Fix the roof", "cli");
    let refused = ground.check(ONE, false, &World::default()).unwrap_err();
    let ControlError::Confirm { why } = refused else {
        panic!("{refused:?}");
    };
    assert!(why.starts_with("Nothing shows"), "{why}");
    let running = World {
        records: vec![(record(4711, ONE), Life::Runs)],
        terminals: Vec::new(),
    };
    let ControlError::Confirm { why } = ground.check(ONE, false, &running).unwrap_err() else {
        panic!("not asked");
    };
    assert!(why.contains("Process 4711 (claude, 2.1.325)") && why.contains("end it there first"));
    let found = ground.check(ONE, true, &running).unwrap();
    assert!(found.maybe_running.is_some());
}

#[test]
fn what_cannot_be_imported_says_why() {
    let ground = Ground::new();
    ground.conversation(ONE, "Fix the roof", "cli");
    let world = World::default();
    assert!(matches!(
        ground.check("../../etc/passwd", true, &world),
        Err(ControlError::Invalid { .. })
    ));
    assert!(matches!(
        ground.check(TWO, true, &world),
        Err(ControlError::NotFound { .. })
    ));
    let mut wanted = Wanted {
        conversation: ONE,
        cwd: ground.folder.path(),
        confirmed: true,
    };
    let elsewhere = check(&ground.transcripts, wanted, &world, later()).unwrap_err();
    assert!(
        elsewhere.to_string().contains("was begun in"),
        "{elsewhere}"
    );
    let gone = ground.project.join("gone");
    wanted.cwd = &gone;
    let gone = check(&ground.transcripts, wanted, &world, later()).unwrap_err();
    assert!(gone.to_string().contains("there is no folder"), "{gone}");
}

#[test]
fn the_strongest_sign_is_told() {
    let here = Path::new("/p");
    let old = 0;
    let mut world = World::default();
    assert_eq!(world.sign_of(ONE, here, old, HOUR), None);
    assert_eq!(
        world.sign_of(ONE, here, HOUR - 5_000_000, HOUR),
        Some(Sign::Fresh { seconds: 5 })
    );
    world.terminals.push(terminal(1, here, &["claude"]));
    assert_eq!(
        world.sign_of(ONE, here, HOUR, HOUR),
        Some(Sign::SameFolder { pid: 1 })
    );
    assert_eq!(world.sign_of(ONE, Path::new("/q"), old, HOUR), None);
    world.records.push((record(2, ONE), Life::Unknown));
    assert_eq!(
        world.sign_of(ONE, here, old, HOUR),
        Some(Sign::Elsewhere { at: None })
    );
    world
        .terminals
        .push(terminal(3, Path::new("/q"), &["claude", "--resume", ONE]));
    assert_eq!(
        world.sign_of(ONE, here, old, HOUR),
        Some(Sign::Named { pid: 3 })
    );
    world.records.push((record(4, ONE), Life::Gone));
    assert_eq!(
        world.sign_of(ONE, here, old, HOUR),
        Some(Sign::Named { pid: 3 })
    );
    world.records.push((record(5, ONE), Life::Runs));
    assert!(matches!(
        world.sign_of(ONE, here, old, HOUR),
        Some(Sign::Says { pid: 5, .. })
    ));
}

#[test]
fn a_process_of_another_conversation_or_of_ours_is_no_sign() {
    let here = Path::new("/p");
    let mut world = World {
        records: vec![(record(1, TWO), Life::Runs)],
        terminals: vec![terminal(1, here, &["claude"])],
    };
    assert_eq!(world.sign_of(ONE, here, 0, HOUR), None);
    let mut ours = terminal(2, here, &["claude"]);
    ours.is_ours = true;
    world.terminals.push(ours);
    assert_eq!(world.sign_of(ONE, here, 0, HOUR), None);
}

#[test]
fn a_cli_is_known_by_its_name_or_its_script() {
    let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    assert!(is_cli("claude", &words("claude")));
    assert!(is_cli("node", &words("node /usr/bin/claude --resume")));
    assert!(is_cli(
        "node",
        &words("/x/node /x/node_modules/@anthropic-ai/claude-code/cli.js")
    ));
    assert!(!is_cli("vim", &words("vim notes claude")));
    assert!(!is_cli("node", &words("node other/cli.js")));
    assert!(!is_cli("bash", &[]));
}

#[test]
fn a_record_counts_for_the_process_that_wrote_it() {
    let text = br#"{"pid":7,"sessionId":"s","procStart":"12","version":"2.1.325","pidDomain":"linux:a:pid:[1]","status":"busy","updatedAt":1794759701616,"new":{}}"#;
    let mut record = parse_record(7, text).unwrap();
    assert_eq!(record.conversation.as_deref(), Some("s"));
    assert_eq!(
        (record.started, record.updated_ms),
        (Some(12), Some(1_794_759_701_616))
    );
    assert_eq!(life(&record, Some("linux:b:pid:[1]")), Life::Unknown);
    record.pid = std::process::id();
    assert_eq!(
        life(&record, None),
        if cfg!(target_os = "linux") {
            Life::Gone
        } else {
            Life::Runs
        }
    );
    record.started = countersign_process::started(record.pid);
    assert_eq!(life(&record, Some("linux:a:pid:[1]")), Life::Runs);
    for broken in [&b"[]"[..], b"", b"{\"pid\":"] {
        assert_eq!(parse_record(7, broken), None);
    }
    assert_eq!(parse_record(7, b"{}").unwrap().conversation, None);
}

/// Stands in for a CLI of an old version: its name, a folder, no record of its own. It ends with its stdin.
#[cfg(target_os = "linux")]
#[test]
fn a_cli_without_records_is_seen_by_its_folder_until_it_ends() {
    use std::os::unix::fs::PermissionsExt as _;

    let ground = Ground::new();
    ground.conversation(ONE, "Fix the roof", "cli");
    let script = ground.folder.path().join("claude");
    fs::write(&script, "#!/bin/sh\nread -r line\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let mut child = std::process::Command::new(&script)
        .env_clear()
        .current_dir(&ground.project)
        .stdin(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let look = || World::look(ground.transcripts.config_dir());
    let until = std::time::Instant::now() + std::time::Duration::from_secs(20);
    let sign = loop {
        let sign = look().sign_of(ONE, &ground.project, 0, HOUR);
        if sign.is_some() || std::time::Instant::now() > until {
            break sign;
        }
    };
    assert_eq!(sign, Some(Sign::SameFolder { pid: child.id() }));
    drop(child.stdin.take());
    child.wait().unwrap();
    assert_eq!(look().sign_of(ONE, &ground.project, 0, HOUR), None);
}
