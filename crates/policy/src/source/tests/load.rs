//! Files on disk: what counts, what is withheld, what stops.

use std::fs;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::problems;
use crate::place::RealDisk;
use crate::rule::Rule;
use crate::source::{Loaded, Sources, Trust, load, trust_folder};

struct Ground {
    _root: tempfile::TempDir,
    root: PathBuf,
    sources: Sources,
}

fn now() -> Timestamp {
    "2026-11-15T10:00:00Z".parse().unwrap()
}

/// A home, a folder to work in, and an administrator's settings, with these files.
fn ground(files: &[(&str, &str)]) -> Ground {
    let temp = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(temp.path()).unwrap();
    fs::create_dir_all(root.join("work")).unwrap();
    for (path, text) in files {
        write(&root.join(path), text);
    }
    let sources = Sources {
        cwd: root.join("work"),
        copy_of: None,
        home: Some(root.join("home")),
        claude: Some(root.join("home/.claude")),
        own: Some(root.join("home/.config/countersign")),
        managed: Some(root.join("managed.json")),
    };
    Ground {
        _root: temp,
        root,
        sources,
    }
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

impl Ground {
    fn load(&self) -> Loaded {
        load(&self.sources, &RealDisk, now())
    }

    fn trust(&self) {
        let offer = self.load().offer.unwrap();
        trust_folder(&self.sources.trust_file().unwrap(), &offer, now()).unwrap();
    }
}

fn texts(rules: &[Rule]) -> Vec<String> {
    rules.iter().map(ToString::to_string).collect()
}

const ALL: &[(&str, &str)] = &[
    ("managed.json", r#"{"permissions":{"deny":["WebFetch"]}}"#),
    (
        "home/.claude/settings.json",
        r#"{"permissions":{"allow":["Bash(ls:*)"]}}"#,
    ),
    (
        "home/.config/countersign/countersign.toml",
        "profile = \"edits\"\n[[rule]]\nallow = \"Bash(git log:*)\"\n",
    ),
    (
        "work/.claude/settings.json",
        r#"{"permissions":{"allow":["Bash(make:*)"],"deny":["Read(.env)"],"additionalDirectories":["../sibling"]}}"#,
    ),
    (
        "work/.claude/settings.local.json",
        r#"{"permissions":{"allow":["Bash(npm test:*)"]}}"#,
    ),
    (
        "work/countersign.toml",
        "[[rule]]\nallow = \"Bash(cargo test:*)\"\n[[rule]]\nask = \"Bash(git push:*)\"\n",
    ),
];

#[test]
fn what_a_repository_allows_is_withheld_until_it_is_trusted() {
    let ground = ground(ALL);
    let loaded = ground.load();
    assert_eq!(
        texts(&loaded.rules),
        [
            "deny WebFetch",
            "allow Bash(ls:*)",
            "allow Bash(git log:*)",
            "deny Read(.env)",
            "ask Bash(git push:*)"
        ]
    );
    assert_eq!(
        texts(&loaded.withheld),
        [
            "allow Bash(make:*)",
            "allow Bash(npm test:*)",
            "allow Bash(cargo test:*)"
        ]
    );
    assert!(loaded.add_dirs.is_empty(), "{:?}", loaded.add_dirs);
    assert_eq!(loaded.withheld_dirs, [ground.root.join("work/../sibling")]);
    assert_eq!(loaded.trust, Trust::Untrusted);
    assert_eq!(loaded.files.len(), 6);
    assert_eq!(loaded.problems, []);

    ground.trust();
    let loaded = ground.load();
    assert_eq!(loaded.trust, Trust::Trusted);
    assert_eq!(loaded.rules.len(), 8);
    assert_eq!(loaded.withheld, []);
    assert_eq!(loaded.add_dirs, [ground.root.join("work/../sibling")]);
}

#[test]
fn what_is_added_after_trust_is_withheld_and_the_rest_stays() {
    let ground = ground(ALL);
    ground.trust();
    write(
        &ground.root.join("work/countersign.toml"),
        "[[rule]]\nallow = [\"Bash(cargo test:*)\", \"Bash(curl:*)\"]\n",
    );
    let loaded = ground.load();
    assert_eq!(loaded.trust, Trust::Changed);
    assert_eq!(texts(&loaded.withheld), ["allow Bash(curl:*)"]);
    assert!(texts(&loaded.rules).contains(&"allow Bash(cargo test:*)".to_owned()));

    ground.trust();
    assert_eq!(ground.load().trust, Trust::Trusted);
    // To take something away needs nobody's word.
    write(&ground.root.join("work/countersign.toml"), "");
    assert_eq!(ground.load().trust, Trust::Trusted);
}

#[test]
fn trust_is_for_the_real_folder_and_not_for_its_name() {
    let mut ground = ground(ALL);
    ground.trust();
    let link = ground.root.join("link");
    std::os::unix::fs::symlink(ground.root.join("work"), &link).unwrap();
    ground.sources.cwd = link.clone();
    assert_eq!(
        ground.load().trust,
        Trust::Trusted,
        "the same folder by another name"
    );

    fs::remove_file(&link).unwrap();
    write(
        &ground.root.join("evil/countersign.toml"),
        "[[rule]]\nallow = \"Bash(cargo test:*)\"\n",
    );
    std::os::unix::fs::symlink(ground.root.join("evil"), &link).unwrap();
    let loaded = ground.load();
    assert_eq!(
        loaded.trust,
        Trust::Untrusted,
        "another folder by the same name"
    );
    assert!(!texts(&loaded.rules).contains(&"allow Bash(cargo test:*)".to_owned()));
}

#[test]
fn without_files_there_are_no_rules() {
    let loaded = ground(&[]).load();
    assert_eq!(loaded, Loaded::default());
    assert!(loaded.is_safe());
}

#[test]
fn a_file_that_is_there_and_cannot_be_read_stops() {
    for path in [
        "managed.json",
        "home/.claude/settings.json",
        "work/.claude/settings.json",
        "work/countersign.toml",
    ] {
        let ground = ground(&[(path, "{")]);
        assert!(!ground.load().is_safe(), "{path}");
        fs::remove_file(ground.root.join(path)).unwrap();
        fs::create_dir(ground.root.join(path)).unwrap();
        assert!(!ground.load().is_safe(), "{path} as a folder");
    }
    let ground = ground(&[]);
    fs::write(ground.root.join("managed.json"), b"{\"a\":\"\xff\"}").unwrap();
    assert!(!ground.load().is_safe(), "no text");
}

#[test]
fn a_broken_list_of_trust_trusts_nothing_and_is_told() {
    let ground = ground(ALL);
    ground.trust();
    let path = ground.sources.trust_file().unwrap();
    write(&path, "[[folder]");
    let loaded = ground.load();
    assert_eq!(loaded.trust, Trust::Untrusted);
    assert!(loaded.is_safe(), "it only asks more");
    let told = problems(&loaded.problems);
    assert!(
        told[0].starts_with(&format!("{}: this is no TOML", path.display())),
        "{told:?}"
    );
}

#[test]
fn a_mode_that_lets_things_run_is_not_taken_from_a_file() {
    for (mode, wanted) in [
        ("plan", Some("plan")),
        ("dontAsk", Some("dontAsk")),
        ("bypassPermissions", None),
        ("acceptEdits", None),
        ("auto", None),
    ] {
        let text = format!("{{\"permissions\":{{\"defaultMode\":\"{mode}\"}}}}");
        let loaded = ground(&[("home/.claude/settings.json", &text)]).load();
        assert_eq!(loaded.default_mode.as_deref(), wanted, "{mode}");
    }
}

#[test]
fn no_repository_takes_back_a_mode() {
    let mode = |mode: &str| format!("{{\"permissions\":{{\"defaultMode\":\"{mode}\"}}}}");
    for (user, project, wanted) in [
        ("plan", "default", "plan"),
        ("default", "plan", "plan"),
        ("plan", "bypassPermissions", "plan"),
        ("dontAsk", "default", "dontAsk"),
    ] {
        let ground = ground(&[
            ("home/.claude/settings.json", &mode(user)),
            ("work/.claude/settings.json", &mode(project)),
        ]);
        assert_eq!(
            ground.load().default_mode.as_deref(),
            Some(wanted),
            "{user}, {project}"
        );
    }
}

#[test]
fn in_the_home_folder_a_persons_settings_are_their_own() {
    let mut ground = ground(&[(
        "home/.claude/settings.json",
        r#"{"permissions":{"allow":["Bash(ls:*)"]}}"#,
    )]);
    ground.sources.cwd = ground.root.join("home");
    let loaded = ground.load();
    assert_eq!(texts(&loaded.rules), ["allow Bash(ls:*)"]);
    assert_eq!(
        (loaded.withheld, loaded.trust),
        (Vec::new(), Trust::NothingToTrust)
    );
}

#[test]
fn folders_of_ones_own_settings_are_made_whole() {
    let settings = r#"{"permissions":{"additionalDirectories":["~/notes","/srv/x","y"]}}"#;
    let ground = ground(&[("home/.claude/settings.json", settings)]);
    let wanted = [
        ground.root.join("home/notes"),
        PathBuf::from("/srv/x"),
        ground.root.join("work/y"),
    ];
    assert_eq!(ground.load().add_dirs, wanted);
}

#[test]
fn an_example_that_does_not_hold_stops() {
    let rules = "[[rule]]\nallow = \"Bash(git log:*)\"\nexamples = { match = [\"git status\"] }\n";
    let ground = ground(&[("home/.config/countersign/countersign.toml", rules)]);
    let loaded = ground.load();
    assert!(!loaded.is_safe());
    assert!(loaded.problems[0].is_example);
    assert_eq!(loaded.problems[0].at.line, Some(3));
}

#[test]
fn a_rule_for_a_repository_is_for_where_its_path_leads() {
    let ground = ground(&[]);
    std::os::unix::fs::symlink(ground.root.join("work"), ground.root.join("link")).unwrap();
    let rules = format!(
        "[[rule]]\nallow = \"Bash(make:*)\"\nrepository = \"{}\"\n",
        ground.root.join("link").display()
    );
    write(&ground.sources.rules_file().unwrap(), &rules);
    let loaded = ground.load();
    assert!(loaded.rules[0].holds(&ground.root.join("work"), now()));
}
