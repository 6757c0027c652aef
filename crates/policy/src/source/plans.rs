//! Where the CLI keeps the plans of a session.
//!
//! Owns the setting `plansDirectory`, read as the CLI reads it, from the settings of the administrator, of the folder and of
//! the person, and which files in that folder can be plans. Invariant: a setting opens no folder outside of the working
//! folder and no protected one; one that cannot be used leaves the usual folder, and what is written elsewhere is asked about.

use std::path::{Component, Path, PathBuf};

use serde_json::Value;

use super::Sources;
use super::load::text_of;
use crate::place::Disk;

/// What agents take for their instructions, in any folder. None of these is a plan.
const INSTRUCTIONS: [&str; 3] = ["claude.md", "claude.local.md", "agents.md"];

/// The folder that plans stand in: the one that is set, else `plans` in the CLI's own folder. A setting nearer to the
/// administrator wins, then the one of this copy of the folder, of the folder, of the person.
pub fn plans_folder(sources: &Sources, disk: &dyn Disk) -> Option<PathBuf> {
    let of_folder = sources.cwd.join(".claude");
    let files = [
        sources.managed.clone(),
        Some(of_folder.join("settings.local.json")),
        Some(of_folder.join("settings.json")),
        sources.claude.as_ref().map(|own| own.join("settings.json")),
    ];
    let set = files.into_iter().flatten().find_map(|file| setting(&file));
    let set = set.and_then(|set| inside(&sources.cwd, &set, disk));
    set.or_else(|| sources.claude.as_ref().map(|own| own.join("plans")))
}

/// Whether a path is a document directly in the folder of plans, links followed.
pub fn is_plan_in(path: &Path, folder: &Path, disk: &dyn Disk) -> bool {
    let is_document = path.extension().is_some_and(|extension| extension == "md");
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let real = disk.real(path);
    let parent = real.as_deref().and_then(Path::parent);
    is_document
        && !INSTRUCTIONS.contains(&name.to_lowercase().as_str())
        && parent.is_some()
        && parent == disk.real(folder).as_deref()
}

fn setting(file: &Path) -> Option<String> {
    // What cannot be read says nothing here; as a file of rules it is complained about.
    let text = text_of(file).ok()??;
    let settings: Value = serde_json::from_str(&text).ok()?;
    settings["plansDirectory"].as_str().map(str::to_owned)
}

/// The folder that is set, if it lies inside of the working folder, links followed, and is no protected one.
fn inside(cwd: &Path, set: &str, disk: &dyn Disk) -> Option<PathBuf> {
    let folder: PathBuf = cwd.join(set).components().collect();
    let is_straight = |part: Component<'_>| part != Component::ParentDir;
    let (real, root) = (disk.real(&folder)?, disk.real(cwd)?);
    let below = real.strip_prefix(&root).ok()?;
    // All that is protected in a folder lies in a hidden one.
    let is_hidden = |part: Component<'_>| part.as_os_str().to_string_lossy().starts_with('.');
    let is_open = !below.as_os_str().is_empty() && !below.components().any(is_hidden);
    let is_usable = is_open || below == Path::new(".claude/plans");
    (is_usable && folder.components().all(is_straight)).then_some(folder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RealDisk;

    struct Ground {
        root: tempfile::TempDir,
        sources: Sources,
    }

    impl Ground {
        /// With these texts as the settings of the folder, of this copy of it and of the person.
        fn new(folder: &str, copy: &str, person: &str) -> Self {
            let root = tempfile::tempdir().unwrap();
            let (cwd, claude) = (root.path().join("project"), root.path().join("claude"));
            for (folder, name, text) in [
                (cwd.join(".claude"), "settings.json", folder),
                (cwd.join(".claude"), "settings.local.json", copy),
                (claude.clone(), "settings.json", person),
            ] {
                std::fs::create_dir_all(&folder).unwrap();
                std::fs::write(folder.join(name), text).unwrap();
            }
            let sources = Sources {
                claude: Some(claude),
                managed: None,
                ..Sources::of_environment(|_| None, cwd)
            };
            Self { root, sources }
        }

        fn found(&self) -> PathBuf {
            let found = plans_folder(&self.sources, &RealDisk).unwrap();
            found.strip_prefix(self.root.path()).unwrap().to_owned()
        }
    }

    fn set(folder: &str) -> String {
        format!(r#"{{"plansDirectory": "{folder}"}}"#)
    }

    #[test]
    fn plans_stand_where_the_nearest_setting_says() {
        let is = |folder: &str, copy: &str, person: &str, wanted: &str| {
            let found = Ground::new(folder, copy, person).found();
            assert_eq!(found, Path::new(wanted), "{folder} {copy} {person}");
        };
        is("{}", "{}", "{}", "claude/plans");
        is("{}", "{}", &set("docs/plans"), "project/docs/plans");
        is(&set("./notes/"), "{}", &set("docs/plans"), "project/notes");
        is(&set("notes"), &set("mine"), "{}", "project/mine");
        is(&set(".claude/plans"), "{}", "{}", "project/.claude/plans");
        is("no JSON", "{}", &set("docs"), "project/docs");
    }

    #[test]
    fn the_administrators_setting_wins() {
        let mut ground = Ground::new(&set("notes"), "{}", "{}");
        let managed = ground.root.path().join("managed.json");
        std::fs::write(&managed, set("archive")).unwrap();
        ground.sources.managed = Some(managed);
        assert_eq!(ground.found(), Path::new("project/archive"));
    }

    #[test]
    fn a_setting_opens_no_folder_outside_and_no_protected_one() {
        for folder in [
            "../elsewhere",
            "docs/../../elsewhere",
            "/etc",
            "",
            ".",
            ".claude",
            ".claude/agents",
            ".claude/plans/deeper",
            ".git/hooks",
            "docs/.git",
        ] {
            let found = Ground::new(&set(folder), "{}", "{}").found();
            assert_eq!(found, Path::new("claude/plans"), "{folder}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_out_of_the_folder_is_not_followed() {
        let ground = Ground::new(&set("notes"), "{}", "{}");
        let (cwd, root) = (&ground.sources.cwd, ground.root.path());
        std::fs::create_dir(root.join("elsewhere")).unwrap();
        std::os::unix::fs::symlink(root.join("elsewhere"), cwd.join("notes")).unwrap();
        assert_eq!(ground.found(), Path::new("claude/plans"));
    }

    #[test]
    fn a_plan_stands_directly_in_the_folder_and_instructs_nobody() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("notes");
        let is = |name: &str| is_plan_in(&folder.join(name), &folder, &RealDisk);
        assert!(is("brave-plan.md"));
        for name in [
            "plan.txt",
            "deeper/plan.md",
            "../plan.md",
            "CLAUDE.md",
            "Agents.md",
        ] {
            assert!(!is(name), "{name}");
        }
    }
}
