//! The rules of a session, from the files on disk.
//!
//! Owns which rule of which file counts. The one part of this module that reads the disk. Invariants: what is not there
//! says nothing, but what is there and cannot be read stops ([`Loaded::is_safe`]); what a repository allows is withheld
//! unless the person trusted it there.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::problem::Source;
use super::trust::sealed;
use super::{At, Examples, Offer, Problem, Read, Sources, Trusted, programs};
use crate::check;
use crate::place::{Disk, Place};
use crate::profile::Profile;
use crate::rule::{Effect, FileKind, Rule, Scope};

/// The most a file of rules may hold.
const MOST_BYTES: u64 = 4 << 20;

/// All that files say for a session.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Loaded {
    /// The rules that count.
    pub rules: Vec<Rule>,
    /// Folders that were added to the working folder, absolute.
    pub add_dirs: Vec<PathBuf>,
    /// The profile that the person chose.
    pub profile: Option<Profile>,
    /// The strictest `defaultMode` of all files, of those that let nothing run unasked: `plan`, `dontAsk`, `default`.
    pub default_mode: Option<String>,
    /// What the repository allows and the person has not trusted.
    pub withheld: Vec<Rule>,
    /// Folders that the repository adds and the person has not trusted.
    pub withheld_dirs: Vec<PathBuf>,
    /// What the repository would have the CLI start and the person has not trusted.
    pub withheld_programs: Vec<String>,
    /// Where the folder stands.
    pub trust: Trust,
    /// What is wrong.
    pub problems: Vec<Problem>,
    /// The files that were there.
    pub files: Vec<LoadedFile>,
    /// The examples of all rules.
    pub examples: Vec<Examples>,
    /// What the person would trust with a yes.
    pub offer: Option<Offer>,
}

/// A file of rules that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadedFile {
    /// Its path.
    pub path: PathBuf,
    /// Its kind.
    pub kind: FileKind,
    /// How many rules stand in it.
    pub rules: usize,
}

/// Whether the person trusts what a repository allows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Trust {
    /// It allows nothing.
    #[default]
    NothingToTrust,
    /// All of it.
    Trusted,
    /// The folder was trusted, and something was added since.
    Changed,
    /// The folder was never trusted.
    Untrusted,
}

impl Loaded {
    /// Whether a session may start with these rules: nothing that would forbid or ask was lost.
    pub fn is_safe(&self) -> bool {
        !self.problems.iter().any(|problem| problem.stops)
    }
}

/// Reads all files of rules for a session, and holds the rules against their examples.
pub fn load(sources: &Sources, disk: &dyn Disk, now: Timestamp) -> Loaded {
    let mut loaded = Loaded::default();
    let known_as = sources.copy_of.as_ref().unwrap_or(&sources.cwd);
    let folder = disk.real(known_as);
    let trusted = trusted(sources, &mut loaded.problems);
    let mut seen = BTreeSet::new();
    let mut offer = Offer {
        folder: folder.clone().unwrap_or_else(|| known_as.clone()),
        rules: BTreeSet::new(),
        directories: BTreeSet::new(),
        programs: BTreeSet::new(),
    };
    for (kind, path, base) in sources.files() {
        // In the home folder the person's own settings are those of the project as well.
        if !seen.insert(disk.real(&path).unwrap_or_else(|| path.clone())) {
            continue;
        }
        let Some(read) = read_file(&path, kind, &base) else {
            continue;
        };
        loaded.files.push(LoadedFile {
            path,
            kind,
            rules: read.rules.len(),
        });
        // A folder whose real path is not known is not the one that was trusted.
        let known = folder.as_deref().map(|folder| (folder, &trusted));
        loaded.add(read, kind, sources, disk, known, &mut offer);
    }
    let known = folder.as_deref().map(|folder| (folder, &trusted));
    loaded.start(servers(&sources.cwd), known, &mut offer);
    loaded.trust = match (
        offer.rules.is_empty() && offer.directories.is_empty() && offer.programs.is_empty(),
        loaded.withholds(),
    ) {
        (true, _) => Trust::NothingToTrust,
        (false, false) => Trust::Trusted,
        (false, true) if trusted.knows(&offer.folder) => Trust::Changed,
        (false, true) => Trust::Untrusted,
    };
    loaded.offer = (loaded.trust != Trust::NothingToTrust).then_some(offer);
    let own: Vec<PathBuf> = sources.own.iter().cloned().collect();
    let place = Place {
        cwd: &sources.cwd,
        add_dirs: &loaded.add_dirs,
        home: sources.home.as_deref(),
        own: &own,
        disk,
    };
    let broken = check::examples(&loaded.examples, &place, now);
    loaded.problems.extend(broken);
    loaded
}

impl Loaded {
    fn withholds(&self) -> bool {
        !self.withheld.is_empty()
            || !self.withheld_dirs.is_empty()
            || !self.withheld_programs.is_empty()
    }

    /// What the repository would have started: trusted, or withheld.
    fn start(
        &mut self,
        programs: Vec<String>,
        trusted: Option<(&Path, &Trusted)>,
        offer: &mut Offer,
    ) {
        for program in programs {
            let is_trusted =
                trusted.is_some_and(|(folder, trusted)| trusted.has_program(folder, &program));
            offer.programs.insert(program.clone());
            if !is_trusted {
                self.withheld_programs.push(program);
            }
        }
    }

    fn add(
        &mut self,
        read: Read,
        kind: FileKind,
        sources: &Sources,
        disk: &dyn Disk,
        trusted: Option<(&Path, &Trusted)>,
        offer: &mut Offer,
    ) {
        self.start(read.programs, trusted, offer);
        self.problems.extend(read.problems);
        self.examples.extend(read.examples);
        self.profile = read.profile.or(self.profile);
        self.default_mode = stricter(self.default_mode.take(), read.default_mode);
        for rule in read.rules {
            let may_open = kind.is_of_repository() && rule.effect == Effect::Allow;
            if may_open {
                offer.rules.insert(sealed(&rule));
            }
            let counts = !may_open
                || trusted.is_some_and(|(folder, trusted)| trusted.has_rule(folder, &rule));
            let rule = in_real_folder(rule, disk);
            match counts {
                true => self.rules.push(rule),
                false => self.withheld.push(rule),
            }
        }
        for written in read.add_dirs {
            let folder = sources.whole(&written);
            if !kind.is_of_repository() {
                self.add_dirs.push(folder);
                continue;
            }
            offer
                .directories
                .insert(written.to_string_lossy().into_owned());
            match trusted.is_some_and(|(real, trusted)| trusted.has_directory(real, &written)) {
                true => self.add_dirs.push(folder),
                false => self.withheld_dirs.push(folder),
            }
        }
    }
}

/// The stricter of two modes, so that no file takes back what another wants; a mode that lets things run is none.
fn stricter(one: Option<String>, other: Option<String>) -> Option<String> {
    const STRICTEST_FIRST: [&str; 3] = ["plan", "dontAsk", "default"];
    let said = [one, other];
    let found = STRICTEST_FIRST
        .iter()
        .find(|mode| said.iter().flatten().any(|said| said == *mode));
    found.map(|mode| (*mode).to_owned())
}

/// A rule for a repository is for the folder that the path leads to.
fn in_real_folder(mut rule: Rule, disk: &dyn Disk) -> Rule {
    if let Scope::Repository(folder) = &mut rule.scope
        && let Some(real) = disk.real(folder)
    {
        *folder = real;
    }
    rule
}

/// Reads one file of rules: settings of Claude Code, or ours where it ends in `.toml`. `None` where nothing is there.
pub fn read_file(path: &Path, kind: FileKind, base: &Path) -> Option<Read> {
    let read = match text_of(path) {
        Ok(None) => return None,
        Ok(Some(text))
            if path
                .extension()
                .is_some_and(|extension| extension == "toml") =>
        {
            super::toml(&text, path, kind, base)
        }
        Ok(Some(text)) => super::settings(&text, path, kind, base),
        Err(error) => Read {
            problems: vec![Problem {
                at: At {
                    file: path.to_owned(),
                    line: None,
                    column: None,
                },
                what: format!("cannot be read ({error})"),
                fix: "make it a file that you can read; until then nothing it forbids is known"
                    .to_owned(),
                stops: true,
                is_example: false,
            }],
            ..Read::default()
        },
    };
    Some(read)
}

/// The MCP servers that a repository brings along. A file that cannot be read may bring any.
fn servers(cwd: &Path) -> Vec<String> {
    match text_of(&cwd.join(".mcp.json")) {
        Ok(None) => Vec::new(),
        Ok(Some(text)) => programs::of_servers(&text),
        Err(_) => vec![".mcp.json (cannot be read)".to_owned()],
    }
}

pub(super) fn text_of(path: &Path) -> io::Result<Option<String>> {
    let meta = match fs::metadata(path) {
        Ok(meta) => meta,
        // A link that leads nowhere says nothing either.
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    // A pipe would keep us waiting for ever.
    if !meta.is_file() {
        return Err(io::Error::other("it is no file"));
    }
    if meta.len() > MOST_BYTES {
        return Err(io::Error::other(format!(
            "it has {} bytes, {MOST_BYTES} are read",
            meta.len()
        )));
    }
    fs::read_to_string(path).map(Some)
}

/// What the person trusts. A file that cannot be read trusts nothing, which only asks more.
pub(super) fn trusted(sources: &Sources, problems: &mut Vec<Problem>) -> Trusted {
    let Some(path) = sources.trust_file() else {
        return Trusted::default();
    };
    let mut problem = |what: String, fix: &str| {
        let at = Source {
            text: "",
            file: &path,
        }
        .whole();
        problems.push(Problem {
            at,
            what,
            fix: fix.to_owned(),
            stops: false,
            is_example: false,
        });
        Trusted::default()
    };
    match text_of(&path) {
        Ok(text) => Trusted::parse(&text.unwrap_or_default()).unwrap_or_else(|error| {
            problem(
                error.reason,
                "mend it, or delete it and trust your folders again",
            )
        }),
        Err(error) => problem(
            format!("cannot be read ({error})"),
            "make it a file that you can read",
        ),
    }
}
