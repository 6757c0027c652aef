//! Where the CLI keeps the plans of a session.
//!
//! Owns the setting `plansDirectory`, from the settings of the administrator, of the folder where the person trusts it, and of
//! the person, and which files in that folder can be plans. Invariant: a setting opens no folder outside of the working
//! folder and no protected one; one that cannot be used leaves the usual folder, and what is written elsewhere is asked about.

use std::path::{Component, Path, PathBuf};

use serde_json::Value;

use super::load::{text_of, trusted};
use super::{Sources, Trusted};
use crate::path::Closed;
use crate::place::{Disk, Place};

/// What agents take for their instructions, in any folder. None of these is a plan.
const INSTRUCTIONS: [&str; 5] = [
    "claude.md",
    "claude.local.md",
    "agents.md",
    "gemini.md",
    "skill.md",
];

/// The folder that the plans of a session stand in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlansFolder {
    /// As it is set.
    pub path: PathBuf,
    /// Where it led when it was looked up.
    pub real: PathBuf,
}

impl PlansFolder {
    /// A folder as it stands now. `None` where nobody knows where it leads.
    pub fn at(path: PathBuf, disk: &dyn Disk) -> Option<Self> {
        let real = disk.real(&path)?;
        Some(Self { path, real })
    }

    /// The real path of a document directly in this folder. `None` for anything else, also where the folder has been replaced
    /// by a link since it was looked up.
    pub fn plan(&self, path: &Path, disk: &dyn Disk) -> Option<PathBuf> {
        let is_document = path.extension().is_some_and(|extension| extension == "md");
        let real = disk.real(path)?;
        let name = real.file_name()?.to_string_lossy().to_lowercase();
        let is_here = real.parent() == Some(&*self.real) && real.file_name() == path.file_name();
        let is_plan = is_document && is_here && !INSTRUCTIONS.contains(&name.as_str());
        is_plan.then_some(real)
    }
}

/// The folder that plans stand in: the one that is set, else `plans` in the CLI's own folder. A setting nearer to the
/// administrator wins, then the one of this copy of the folder, of the folder, of the person. Those of the folder hold where
/// the person trusts them there.
pub fn plans_folder(sources: &Sources, disk: &dyn Disk) -> Option<PlansFolder> {
    let of_folder = sources.cwd.join(".claude");
    let trusted = trusted(sources, &mut Vec::new());
    let known_as = sources.copy_of.as_ref().unwrap_or(&sources.cwd);
    let known_as = disk.real(known_as);
    let of_person = |file: &Path| setting(file);
    let of_repository = |name: &str| {
        let set = setting(&of_folder.join(name))?;
        is_trusted(&set, known_as.as_deref()?, &trusted).then_some(set)
    };
    let set = sources
        .managed
        .as_deref()
        .and_then(of_person)
        .or_else(|| of_repository("settings.local.json"))
        .or_else(|| of_repository("settings.json"))
        .or_else(|| setting(&sources.claude.as_ref()?.join("settings.json")));
    let set = set.and_then(|set| inside(sources, &set, disk));
    set.or_else(|| PlansFolder::at(sources.claude.as_ref()?.join("plans"), disk))
}

/// Whether the person trusts this setting of a folder, as what the folder would have the CLI change.
fn is_trusted(set: &str, folder: &Path, trusted: &Trusted) -> bool {
    let program = format!("plansDirectory {}", Value::from(set));
    trusted.has_program(folder, &program)
}

fn setting(file: &Path) -> Option<String> {
    // What cannot be read says nothing here; as a file of rules it is complained about.
    let text = text_of(file).ok()??;
    let settings: Value = serde_json::from_str(&text).ok()?;
    settings["plansDirectory"].as_str().map(str::to_owned)
}

/// The folder that is set, if it lies inside of the working folder, links followed, and is no protected one.
fn inside(sources: &Sources, set: &str, disk: &dyn Disk) -> Option<PlansFolder> {
    let cwd = &sources.cwd;
    let folder = PlansFolder::at(cwd.join(set).components().collect(), disk)?;
    let root = disk.real(cwd)?;
    let is_straight = |part: Component<'_>| part != Component::ParentDir;
    let below = folder.real.strip_prefix(&root).ok()?;
    // All that is protected in a folder lies in a hidden one.
    let is_hidden = |part: Component<'_>| part.as_os_str().to_string_lossy().starts_with('.');
    let is_open = !below.as_os_str().is_empty() && !below.components().any(is_hidden);
    let own: Vec<PathBuf> = sources.own.iter().cloned().collect();
    let place = Place {
        cwd,
        add_dirs: &[],
        home: sources.home.as_deref(),
        own: &own,
        disk,
    };
    // The working folder itself may lie in a protected one.
    let is_protected = Closed::at(&place)
        .why_plan(&folder.real.join("plan.md"))
        .is_some();
    let is_usable = is_open || below == Path::new(".claude/plans");
    (is_usable && !is_protected && folder.path.components().all(is_straight)).then_some(folder)
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
                own: Some(root.path().join("own")),
                managed: None,
                ..Sources::of_environment(|_| None, cwd)
            };
            Self { root, sources }
        }

        fn found(&self) -> PathBuf {
            let found = plans_folder(&self.sources, &RealDisk).unwrap().path;
            found.strip_prefix(self.root.path()).unwrap().to_owned()
        }

        /// The person trusts all that the folder brings along.
        fn trusted(self) -> Self {
            let now = "2026-06-01T12:00:00Z".parse().unwrap();
            let loaded = crate::source::load(&self.sources, &RealDisk, now);
            if let Some(offer) = &loaded.offer {
                let file = self.sources.trust_file().unwrap();
                crate::source::trust_folder(&file, offer, now).unwrap();
            }
            self
        }
    }

    fn set(folder: &str) -> String {
        format!(r#"{{"plansDirectory": "{folder}"}}"#)
    }

    #[test]
    fn plans_stand_where_the_nearest_setting_says() {
        let is = |folder: &str, copy: &str, person: &str, wanted: &str| {
            let found = Ground::new(folder, copy, person).trusted().found();
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
        let mut ground = Ground::new(&set("notes"), "{}", "{}").trusted();
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
            let found = Ground::new(&set(folder), "{}", "{}").trusted().found();
            assert_eq!(found, Path::new("claude/plans"), "{folder}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_out_of_the_folder_is_not_followed() {
        let ground = Ground::new(&set("notes"), "{}", "{}").trusted();
        let (cwd, root) = (&ground.sources.cwd, ground.root.path());
        std::fs::create_dir(root.join("elsewhere")).unwrap();
        std::os::unix::fs::symlink(root.join("elsewhere"), cwd.join("notes")).unwrap();
        assert_eq!(ground.found(), Path::new("claude/plans"));
    }

    #[test]
    fn what_a_folder_sets_for_plans_counts_where_it_is_trusted_and_as_long_as_it_stays_the_same() {
        let ground = Ground::new(&set("notes"), &set("mine"), &set("docs"));
        assert_eq!(ground.found(), Path::new("project/docs"));
        let ground = ground.trusted();
        assert_eq!(ground.found(), Path::new("project/mine"));
        let copy = ground.sources.cwd.join(".claude/settings.local.json");
        std::fs::write(&copy, set("skills")).unwrap();
        assert_eq!(ground.found(), Path::new("project/notes"));
        std::fs::write(&copy, set("mine")).unwrap();
        assert_eq!(ground.found(), Path::new("project/mine"));
    }

    #[test]
    fn in_the_clis_own_folder_a_setting_opens_nothing_that_it_takes_orders_from() {
        let mut ground = Ground::new("{}", "{}", &set("agents"));
        let claude = ground.root.path().join("home/.claude");
        std::fs::create_dir_all(&claude).unwrap();
        ground.sources.home = Some(ground.root.path().join("home"));
        ground.sources.cwd = claude;
        assert_eq!(ground.found(), Path::new("claude/plans"));
    }

    #[test]
    fn a_plan_stands_directly_in_the_folder_and_instructs_nobody() {
        let root = tempfile::tempdir().unwrap();
        let folder = PlansFolder::at(root.path().join("notes"), &RealDisk).unwrap();
        let is = |name: &str| folder.plan(&folder.path.join(name), &RealDisk).is_some();
        assert!(is("brave-plan.md"));
        for name in [
            "plan.txt",
            "deeper/plan.md",
            "../plan.md",
            "CLAUDE.md",
            "Agents.md",
            "SKILL.md",
        ] {
            assert!(!is(name), "{name}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_that_is_replaced_by_a_link_holds_no_plan_any_more() {
        let root = tempfile::tempdir().unwrap();
        let notes = root.path().join("notes");
        let folder = PlansFolder::at(notes.clone(), &RealDisk).unwrap();
        let plan = notes.join("a.md");
        assert_eq!(
            folder.plan(&plan, &RealDisk),
            Some(folder.real.join("a.md"))
        );
        std::fs::create_dir(root.path().join("commands")).unwrap();
        std::os::unix::fs::symlink("commands", &notes).unwrap();
        assert_eq!(folder.plan(&plan, &RealDisk), None);
    }
}
