//! Where the CLI is: on `PATH`, in its usual places, or where the caller says.
//!
//! Looks at the file system and at nothing else: environment and home come in as values. Owns [`Cli`] (what was asked
//! for), [`Located`] (what to run) and [`LocateError`]. Invariant: whatever is not found, the error names every place.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};

/// The command that installs the CLI.
pub const INSTALL: &str = "npm install -g @anthropic-ai/claude-code";

/// Which CLI to run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Cli {
    /// `claude` on `PATH`, then in the places where installers put it.
    #[default]
    Search,
    /// This file. A `.js`, `.mjs` or `.cjs` file runs under node.
    Path(PathBuf),
    /// This program with these arguments before ours.
    Command(Vec<OsString>),
    /// The same as one line, such as `npx -y @anthropic-ai/claude-code@2.0.75`; quotes hold words together.
    Line(String),
}

impl From<&str> for Cli {
    fn from(path: &str) -> Self {
        Self::Path(path.into())
    }
}

impl From<String> for Cli {
    fn from(path: String) -> Self {
        Self::Path(path.into())
    }
}

impl From<&Path> for Cli {
    fn from(path: &Path) -> Self {
        Self::Path(path.into())
    }
}

impl From<PathBuf> for Cli {
    fn from(path: PathBuf) -> Self {
        Self::Path(path)
    }
}

impl From<Vec<OsString>> for Cli {
    fn from(command: Vec<OsString>) -> Self {
        Self::Command(command)
    }
}

/// A program that is there, and what stands before our arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    /// The program.
    pub program: PathBuf,
    /// Its first arguments.
    pub args: Vec<OsString>,
}

impl fmt::Display for Located {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.program.display())?;
        self.args
            .iter()
            .try_for_each(|arg| write!(f, " {}", arg.display()))
    }
}

/// What of this process decides how a CLI is found and started.
#[derive(Clone, Default)]
pub struct Surroundings {
    /// The environment.
    pub env: Vec<(OsString, OsString)>,
    /// The home folder.
    pub home: Option<PathBuf>,
    /// Whether this process is root, for whom the CLI refuses to skip permissions.
    pub root: bool,
}

impl Surroundings {
    /// Those of this process, as they are now.
    pub fn of_this_process() -> Self {
        Self {
            env: std::env::vars_os().collect(),
            home: std::env::home_dir(),
            #[cfg(unix)]
            root: rustix::process::geteuid().is_root(),
            #[cfg(not(unix))]
            root: false,
        }
    }

    fn var(&self, name: &str) -> Option<&OsStr> {
        let named = |key: &OsStr| {
            if cfg!(windows) {
                key.eq_ignore_ascii_case(name)
            } else {
                key == name
            }
        };
        self.env
            .iter()
            .find(|(key, _)| named(key))
            .map(|(_, value)| value.as_os_str())
    }

    /// The folders of `PATH`. An empty entry would mean the current folder, where anybody may have put a `claude`.
    fn path(&self) -> Vec<PathBuf> {
        let path = self.var("PATH").unwrap_or_default();
        std::env::split_paths(path)
            .filter(|dir| !dir.as_os_str().is_empty())
            .collect()
    }
}

impl fmt::Debug for Surroundings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.env.iter().map(|(name, _)| name).collect();
        f.debug_struct("Surroundings")
            .field("env", &names)
            .field("home", &self.home)
            .field("root", &self.root)
            .finish()
    }
}

/// Why there is no CLI to run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LocateError {
    /// `claude` is nowhere.
    #[error("the claude CLI was not found. Looked for:{}\nInstall it with: {INSTALL}", listed(.looked))]
    NotFound {
        /// Every file that would have done.
        looked: Vec<PathBuf>,
    },
    /// The given path does not exist.
    #[error("there is no {}: check the path given for the CLI, or install it with: {INSTALL}", .0.display())]
    Missing(PathBuf),
    /// The given path is a folder.
    #[error("{} is a folder: give the path of the CLI's executable inside it", .0.display())]
    IsFolder(PathBuf),
    /// The given path may not be executed.
    #[error("{path} is not executable: run `chmod +x {path}`", path = .0.display())]
    NotExecutable(PathBuf),
    /// A program named without a path is not on `PATH`.
    #[error("there is no {} on PATH. Looked for:{}\nInstall it, or give its full path", .name.display(), listed(.looked))]
    NotOnPath {
        /// The program.
        name: OsString,
        /// Every file that would have done.
        looked: Vec<PathBuf>,
    },
    /// A command of no words.
    #[error("the command for the CLI is empty: give a program, such as \"claude\"")]
    Empty,
    /// A quote that does not end.
    #[error("a quote is not closed in the command {0:?}: close it, or give the words as a list")]
    UnclosedQuote(String),
}

fn listed(looked: &[PathBuf]) -> String {
    if looked.is_empty() {
        return " nothing, since PATH is empty and there is no home folder".to_owned();
    }
    looked
        .iter()
        .map(|path| format!("\n  {}", path.display()))
        .collect()
}

impl Cli {
    /// Finds it.
    ///
    /// # Errors
    /// When it is not there or cannot be run. The error says where we looked and what to do.
    pub fn locate(&self, around: &Surroundings) -> Result<Located, LocateError> {
        match self {
            Self::Search => search(around),
            Self::Path(path) => at(path, Vec::new(), around),
            Self::Command(words) => command(words.clone(), around),
            Self::Line(line) => command(split(line)?, around),
        }
    }
}

fn search(around: &Surroundings) -> Result<Located, LocateError> {
    let looked: Vec<PathBuf> = around
        .path()
        .into_iter()
        .chain(usual_places(around))
        .flat_map(|dir| file_names("claude").map(move |name| dir.join(name)))
        .collect();
    match looked.iter().find(|path| is_executable(path)) {
        Some(found) => Ok(Located {
            program: found.clone(),
            args: Vec::new(),
        }),
        None => Err(LocateError::NotFound { looked }),
    }
}

/// Where the installers of the CLI and of node packages put it.
fn usual_places(around: &Surroundings) -> Vec<PathBuf> {
    let mut places = Vec::new();
    let home = around.home.as_deref();
    places.extend(home.map(|home| home.join(".local/bin")));
    places.extend(home.map(|home| home.join(".claude/local")));
    if cfg!(unix) {
        places.push("/usr/local/bin".into());
        places.push("/opt/homebrew/bin".into());
    }
    for below in [
        ".npm-global/bin",
        "node_modules/.bin",
        ".yarn/bin",
        ".bun/bin",
    ] {
        places.extend(home.map(|home| home.join(below)));
    }
    places.extend(
        around
            .var("APPDATA")
            .map(|data| Path::new(data).join("npm")),
    );
    places.dedup();
    places
}

/// The names a program may have on this system.
fn file_names(program: &str) -> impl Iterator<Item = String> {
    let endings: &[&str] = if cfg!(windows) {
        &[".exe", ".cmd"]
    } else {
        &[""]
    };
    endings
        .iter()
        .map(move |ending| format!("{program}{ending}"))
}

fn command(mut words: Vec<OsString>, around: &Surroundings) -> Result<Located, LocateError> {
    if words.first().is_none_or(|program| program.is_empty()) {
        return Err(LocateError::Empty);
    }
    let program = words.remove(0);
    if Path::new(&program).components().count() > 1 || runs_under_node(Path::new(&program)) {
        return at(Path::new(&program), words, around);
    }
    Ok(Located {
        program: on_path(&program, around)?,
        args: words,
    })
}

fn on_path(program: &OsStr, around: &Surroundings) -> Result<PathBuf, LocateError> {
    let named = program.to_string_lossy();
    let mut names = vec![named.clone().into_owned()];
    if cfg!(windows) {
        names.extend(file_names(&named));
    }
    let dirs = around.path();
    let looked: Vec<PathBuf> = dirs
        .iter()
        .flat_map(|dir| names.iter().map(move |name| dir.join(name)))
        .collect();
    match looked.iter().find(|path| is_executable(path)) {
        Some(found) => Ok(found.clone()),
        None => Err(LocateError::NotOnPath {
            name: program.to_owned(),
            looked,
        }),
    }
}

fn at(path: &Path, mut args: Vec<OsString>, around: &Surroundings) -> Result<Located, LocateError> {
    let found = std::fs::metadata(path).map_err(|_| LocateError::Missing(path.to_owned()))?;
    if found.is_dir() {
        return Err(LocateError::IsFolder(path.to_owned()));
    }
    // The child may get another working directory, where a relative path would mean another file.
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    if runs_under_node(&path) {
        args.insert(0, path.into());
        let program = on_path(OsStr::new("node"), around)?;
        return Ok(Located { program, args });
    }
    if !is_executable(&path) {
        return Err(LocateError::NotExecutable(path));
    }
    Ok(Located {
        program: path,
        args,
    })
}

fn runs_under_node(path: &Path) -> bool {
    path.extension().is_some_and(|ending| {
        ["js", "mjs", "cjs"]
            .iter()
            .any(|script| ending.eq_ignore_ascii_case(script))
    })
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(path)
        .is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(path: &Path) -> bool {
    path.is_file()
}

/// The words of a line. Quotes of either kind hold words together; a backslash is taken literally unless a quote, a
/// blank or another backslash follows, so that Windows paths stay whole.
fn split(line: &str) -> Result<Vec<OsString>, LocateError> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut rest = line.chars().peekable();
    while let Some(c) = rest.next() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => {
                let escaped = rest.next_if(|next| matches!(next, '"' | '\'' | '\\' | ' '));
                word.get_or_insert_default().push(escaped.unwrap_or('\\'));
            }
            (None, blank) if blank.is_whitespace() => {
                words.extend(word.take().map(OsString::from));
            }
            _ => word.get_or_insert_default().push(c),
        }
    }
    if quote.is_some() {
        return Err(LocateError::UnclosedQuote(line.to_owned()));
    }
    words.extend(word.map(OsString::from));
    Ok(words)
}

#[cfg(test)]
#[path = "locate_tests.rs"]
mod tests;
