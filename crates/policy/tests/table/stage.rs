//! The disk and the policy in which the rows of a block are decided.
//!
//! Owns a folder of its own for each block: `here` (the working folder), `home`, `else`, `own` (countersign's), `added`.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use countersign_policy::{Call, Origin, Place, Policy, Profile, RealDisk, Rule, Scope, Verdict};
use jiff::Timestamp;
use serde_json::Value;
use tempfile::TempDir;

use crate::parse::{Head, Made, Row};

const FOLDERS: [&str; 5] = ["here", "home", "else", "own", "added"];

/// When every row is decided.
const NOW: &str = "2026-06-01T12:00:00Z";

pub(crate) struct Stage {
    _folder: TempDir,
    root: PathBuf,
    cwd: PathBuf,
    head: Head,
    policy: Policy,
}

impl Stage {
    pub(crate) fn build(head: &Head) -> Self {
        let folder = TempDir::with_prefix("table").unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in FOLDERS {
            fs::create_dir(root.join(name)).unwrap();
        }
        let mut stage = Self {
            cwd: root.join("here"),
            root,
            _folder: folder,
            head: head.clone(),
            policy: Policy::default(),
        };
        head.disk.iter().for_each(|made| stage.make(made));
        if let Some(start) = &head.start {
            stage.cwd = stage.path(start);
        }
        stage.policy = stage.policy();
        stage
    }

    fn make(&self, made: &Made) {
        let ready = |path: &str| {
            let path = self.path(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            path
        };
        match made {
            Made::File(path) => fs::write(ready(path), "text\n").unwrap(),
            Made::Folder(path) => fs::create_dir_all(ready(path)).unwrap(),
            Made::Link { at, to } => symlink(self.written_out(to), ready(at)).unwrap(),
        }
    }

    fn policy(&self) -> Policy {
        let rules = self.head.rules.iter().map(|line| {
            let text = self.written_out(&line.text);
            let rule = Rule::parse(
                line.effect,
                &text,
                &self.root.join("here"),
                Origin::CommandLine,
            );
            Rule {
                expires: line.until,
                scope: line
                    .within
                    .as_deref()
                    .map_or(Scope::Always, |path| Scope::Repository(self.path(path))),
                ..rule.unwrap()
            }
        });
        let profile = match (self.head.hands_off_until, self.head.profile.as_str()) {
            (Some(until), _) => Profile::HandsOff { until },
            (None, "") => Profile::default(),
            (None, name) => name.parse().unwrap(),
        };
        Policy {
            rules: rules.collect(),
            profile,
        }
    }

    /// A path of the table: of the working folder, or of the folder that it names.
    fn path(&self, text: &str) -> PathBuf {
        self.root.join("here").join(self.written_out(text))
    }

    fn written_out(&self, text: &str) -> String {
        FOLDERS.iter().fold(text.to_owned(), |text, name| {
            text.replace(
                &format!("<{name}>"),
                &self.root.join(name).to_string_lossy(),
            )
        })
    }

    /// A text of a verdict with the folders of this run taken out again.
    pub(crate) fn shortened(&self, text: &str) -> String {
        let short = FOLDERS.iter().fold(text.to_owned(), |text, name| {
            text.replace(
                &*self.root.join(name).to_string_lossy(),
                &format!("<{name}>"),
            )
        });
        short.replace(&*self.root.to_string_lossy(), "<root>")
    }

    fn filled(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.written_out(text)),
            Value::Array(items) => items.iter().map(|item| self.filled(item)).collect(),
            Value::Object(fields) => fields
                .iter()
                .map(|(name, value)| (name.clone(), self.filled(value)))
                .collect(),
            other => other.clone(),
        }
    }

    pub(crate) fn decide(&self, row: &Row) -> Verdict {
        let call = Call {
            marks: self.head.marks,
            in_plan_mode: self.head.in_plan_mode,
            plan_file: self.head.plan.as_deref().map(|plan| self.path(plan)),
            ..Call::new(&row.tool, self.filled(&row.input))
        };
        let (home, own) = (self.root.join("home"), [self.root.join("own")]);
        let added: Vec<PathBuf> = self.head.added.iter().map(|path| self.path(path)).collect();
        let place = Place {
            cwd: Path::new(&self.cwd),
            add_dirs: &added,
            home: Some(&home),
            own: &own,
            disk: &RealDisk,
        };
        let now: Timestamp = NOW.parse().unwrap();
        self.policy.decide(&call, &place, now)
    }
}
