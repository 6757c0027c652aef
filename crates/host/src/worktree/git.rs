//! Runs git.
//!
//! Owns the environment git sees, its limits in time and output, and its end. Knows no command of it. What it sees: the
//! environment it was given without any `GIT_…` variable, no terminal, no hooks, no monitor, no repacking beside. Hooks
//! are off because a host runs unattended, and whatever a worktree needs belongs into its setup script; filters (as of
//! large files) run where files are written, since they would be wrong without them, and where a call only looks those
//! that the repository itself defines do not. Invariant: no call waits for ever, none outlives us.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use countersign_process::{Marker, die_with_parent, lasting};
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use super::WorktreeError;

/// The oldest git we work with: it has `rev-parse --path-format`.
const OLDEST: (u32, u32) = (2, 31);
const OLDEST_NAME: &str = "2.31";

/// From here on `worktree list` can end its lines with NUL.
const LISTS_WITH_NUL: (u32, u32) = (2, 36);

/// How long a call may take that only looks.
const PATIENCE: Duration = Duration::from_secs(60);

/// How much output a call may have that wants all of it.
const MOST: usize = 64 * 1024 * 1024;

/// How much of stderr is kept.
const MOST_SAID: usize = 16 * 1024;

/// How long git may take to clean up after SIGTERM.
const GRACE: Duration = Duration::from_secs(3);

/// Settings that hold for every call, whatever the repository says.
const SETTINGS: [&str; 13] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    // What shows that a file has changed is not for the repository to turn off.
    "core.untrackedCache=false",
    "core.ignoreStat=false",
    "core.trustctime=true",
    "core.checkStat=default",
    // Who descends from whom is read from the commits themselves.
    "core.commitGraph=false",
    // Would run a program of the repository's choice.
    "log.showSignature=false",
    "protocol.ext.allow=never",
    "core.quotePath=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "advice.detachedHead=false",
];

/// Git, and what it sees.
#[derive(Debug, Clone)]
pub(super) struct Git {
    env: Vec<(OsString, OsString)>,
}

/// What a call gave.
#[derive(Debug)]
pub(super) struct Output {
    pub(super) ok: bool,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: String,
    /// There was more on stdout than was wanted.
    pub(super) cut: bool,
}

impl Output {
    /// The one line it said. A path may hold newlines: only the last one is git's.
    pub(super) fn line(mut self) -> OsString {
        if self.stdout.last() == Some(&b'\n') {
            self.stdout.pop();
        }
        OsString::from_vec(self.stdout)
    }

    pub(super) fn text(self) -> String {
        self.line().to_string_lossy().into_owned()
    }

    pub(super) fn count(self) -> u32 {
        self.text().trim().parse().unwrap_or(0)
    }
}

/// A call of git.
#[derive(Debug)]
pub(super) struct Call<'a> {
    git: &'a Git,
    dir: PathBuf,
    args: Vec<OsString>,
    env: Vec<(String, OsString)>,
    stdin: Vec<u8>,
    most: usize,
    patience: Duration,
}

impl Git {
    /// With this environment, of which nothing that steers git is taken over.
    pub(super) fn new(env: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        Self { env: clean(env) }
    }

    /// What it sees.
    pub(super) fn env(&self) -> &[(OsString, OsString)] {
        &self.env
    }

    /// A call in this folder. Repositories above `dir` are found.
    pub(super) fn at(&self, dir: &Path) -> Call<'_> {
        Call {
            git: self,
            dir: dir.to_owned(),
            args: Vec::new(),
            env: Vec::new(),
            stdin: Vec::new(),
            most: MOST,
            patience: PATIENCE,
        }
    }

    /// A call on the repository with this inner folder.
    pub(super) fn on(&self, git_dir: &Path) -> Call<'_> {
        self.at(git_dir).env("GIT_DIR", git_dir)
    }

    /// Which version it is: not too old.
    pub(super) async fn version(&self) -> Result<(u32, u32), WorktreeError> {
        let said = self
            .at(Path::new("/"))
            .args(["--version"])
            .good()
            .await?
            .text();
        let found = version_in(&said);
        match found {
            Some(version) if version >= OLDEST => Ok(version),
            _ => Err(WorktreeError::GitTooOld {
                found: said.trim_start_matches("git version ").to_owned(),
                needed: OLDEST_NAME,
            }),
        }
    }

    pub(super) fn lists_with_nul(version: (u32, u32)) -> bool {
        version >= LISTS_WITH_NUL
    }
}

fn version_in(said: &str) -> Option<(u32, u32)> {
    let mut numbers = said.strip_prefix("git version ")?.split(['.', ' ']);
    let mut next = || numbers.next()?.parse().ok();
    Some((next()?, next()?))
}

/// Without what steers git: another repository, index, config, hooks, traces.
pub(super) fn clean(
    env: impl IntoIterator<Item = (OsString, OsString)>,
) -> Vec<(OsString, OsString)> {
    env.into_iter()
        .filter(|(name, _)| !name.as_bytes().starts_with(b"GIT_"))
        .collect()
}

impl Call<'_> {
    pub(super) fn args<I: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = I>) -> Self {
        let args = args.into_iter().map(|arg| arg.as_ref().to_owned());
        self.args.extend(args);
        self
    }

    pub(super) fn env(mut self, name: impl Into<String>, value: impl AsRef<OsStr>) -> Self {
        self.env.push((name.into(), value.as_ref().to_owned()));
        self
    }

    /// It may fetch what a partial clone has left out.
    pub(super) fn may_fetch(self) -> Self {
        self.env("GIT_NO_LAZY_FETCH", "0")
    }

    /// Without the filters that the repository defines: an agent may have written them there. Those that the person has
    /// for all repositories run, as for large files. A file that needs one of the others counts as changed.
    pub(super) async fn without_filters(self) -> Result<Self, WorktreeError> {
        let names = self.names_in_settings("filter", &[b"local", b"worktree"]);
        let names = names.await?;
        let off = [
            ("clean", ""),
            ("smudge", ""),
            ("process", ""),
            ("required", "false"),
        ];
        Ok(self.with_settings("filter", names, &off))
    }

    /// Without the hooks that settings define (git 2.54), whoever wrote them: the folder of hooks is not used either.
    async fn without_hooks(self) -> Result<Self, WorktreeError> {
        let scopes: [&[u8]; 4] = [b"system", b"global", b"local", b"worktree"];
        let names = self.names_in_settings("hook", &scopes).await?;
        Ok(self.with_settings("hook", names, &[("enabled", "false")]))
    }

    /// Whether git may run hooks in this call: it changes references, files or the index.
    fn may_run_hooks(&self) -> bool {
        let command = self.args.first().and_then(|arg| arg.to_str());
        let is_add = self.args.get(1).is_some_and(|arg| arg == "add");
        match command {
            Some("worktree") => is_add,
            command => matches!(command, Some("update-ref" | "read-tree" | "add")),
        }
    }

    /// The names that settings of these scopes define in a section: `filter.NAME.clean`.
    async fn names_in_settings(
        &self,
        section: &str,
        scopes: &[&[u8]],
    ) -> Result<BTreeSet<Vec<u8>>, WorktreeError> {
        let mut asked = self.git.at(&self.dir);
        asked.env = self.env.clone();
        let asked = asked.args(["config", "--show-scope", "--name-only", "-z"]);
        let asked = asked.args(["--get-regexp".to_owned(), format!("^{section}\\.")]);
        // This very function is called by `run`.
        let said = Box::pin(asked.run()).await?;
        Ok(names_of(section, scopes, &said.stdout))
    }

    /// With these settings for each of the names, behind those that it has.
    fn with_settings(
        mut self,
        section: &str,
        names: BTreeSet<Vec<u8>>,
        settings: &[(&str, &str)],
    ) -> Self {
        const COUNT: &str = "GIT_CONFIG_COUNT";
        let known = self.env.iter().rfind(|(name, _)| name == COUNT);
        let known = known.and_then(|(_, count)| count.to_str()?.parse().ok());
        let mut count: usize = known.unwrap_or(0);
        for name in &names {
            for (what, value) in settings {
                let key = [section.as_bytes(), name, what.as_bytes()].join(&b'.');
                self = self.env(format!("GIT_CONFIG_KEY_{count}"), OsString::from_vec(key));
                self = self.env(format!("GIT_CONFIG_VALUE_{count}"), value);
                count += 1;
            }
        }
        match names.is_empty() {
            true => self,
            false => self.env(COUNT, count.to_string()),
        }
    }

    pub(super) fn stdin(mut self, bytes: Vec<u8>) -> Self {
        self.stdin = bytes;
        self
    }

    /// No more than this of stdout.
    pub(super) fn most(mut self, most: usize) -> Self {
        self.most = most;
        self
    }

    pub(super) fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Its output, if it ended well.
    pub(super) async fn good(self) -> Result<Output, WorktreeError> {
        let what = self.what();
        let output = self.run().await?;
        if output.ok || output.cut {
            Ok(output)
        } else {
            Err(failed(what, &output))
        }
    }

    /// Runs it to its end, whatever that is.
    pub(super) async fn run(mut self) -> Result<Output, WorktreeError> {
        if !self.dir.is_dir() {
            return Err(WorktreeError::NoFolder(self.dir));
        }
        if self.may_run_hooks() {
            self = self.without_hooks().await?;
        }
        let mut child = self.start()?;
        let input = std::mem::take(&mut self.stdin);
        let mut stdin = child.stdin.take();
        let feed = async {
            if let Some(mut stdin) = stdin.take() {
                // One that does not read to the end has said why on stderr.
                let _ = stdin.write_all(&input).await;
            }
        };
        let (out, err) = (child.stdout.take(), child.stderr.take());
        let listen = async {
            let (_, out, err) = tokio::join!(feed, read(out, self.most), drain(err));
            (out, err, child.wait().await)
        };
        let heard = timeout(self.patience, listen).await;
        let Ok(((stdout, cut), stderr, status)) = heard else {
            end(&mut child).await;
            let (what, after) = (self.what(), self.patience);
            return Err(WorktreeError::TimedOut { what, after });
        };
        let status = status.map_err(WorktreeError::io(&self.dir))?;
        Ok(Output {
            ok: status.success(),
            stdout,
            stderr: String::from_utf8_lossy(&stderr).trim_end().to_owned(),
            cut,
        })
    }

    /// For messages: the command without its settings.
    fn what(&self) -> String {
        let words = self.args.iter().take(2).map(|arg| arg.to_string_lossy());
        words.collect::<Vec<_>>().join(" ")
    }

    fn start(&self) -> Result<Child, WorktreeError> {
        let mut command = Command::new("git");
        command
            .arg("--no-pager")
            .args(SETTINGS.iter().flat_map(|setting| ["-c", setting]))
            .args(&self.args)
            .current_dir(&self.dir)
            .env_clear()
            .envs(self.git.env.iter().map(|(name, value)| (name, value)))
            .env("LC_ALL", "C")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_OPTIONAL_LOCKS", "0")
            // A commit is what it is, not what the repository puts in its place.
            .env("GIT_NO_REPLACE_OBJECTS", "1")
            .env("GIT_GRAFT_FILE", "/dev/null/none")
            .env("GIT_NO_LAZY_FETCH", "1")
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            // A filter is what a repository says, and an agent writes there: it may not speak for the person either.
            .env(Marker::NAME, Marker::of(0).value())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        spawn(command).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied => WorktreeError::GitMissing,
            _ => WorktreeError::io(&self.dir)(error),
        })
    }
}

/// The names in a section that settings of these scopes define, from `scope NUL section.NAME.what NUL …`.
fn names_of(section: &str, scopes: &[&[u8]], said: &[u8]) -> BTreeSet<Vec<u8>> {
    let mut parts = said.split(|byte| *byte == 0);
    let mut names = BTreeSet::new();
    while let (Some(scope), Some(key)) = (parts.next(), parts.next()) {
        let name = key.strip_prefix(section.as_bytes());
        let name = name.and_then(|rest| rest.strip_prefix(b"."));
        let name = name.and_then(|rest| Some(&rest[..memchr::memrchr(b'.', rest)?]));
        if scopes.contains(&scope) {
            names.extend(name.map(<[u8]>::to_vec));
        }
    }
    names
}

/// The words of a git that said no.
pub(super) fn failed(what: String, output: &Output) -> WorktreeError {
    let said = match output.stderr.as_str() {
        "" => "it did not say why".to_owned(),
        said => said.to_owned(),
    };
    WorktreeError::Git { what, said }
}

/// Starts a child that ends with us, in a process group of its own.
pub(super) fn spawn(mut command: Command) -> io::Result<Child> {
    let runtime = tokio::runtime::Handle::try_current().map_err(io::Error::other)?;
    command.kill_on_drop(true);
    die_with_parent(command.as_std_mut());
    lasting::run(move || {
        let _inside = runtime.enter();
        command.spawn()
    })
    .map_err(io::Error::other)?
}

/// Reads to the end, or until more came than is wanted.
async fn read(from: Option<impl AsyncRead + Unpin>, most: usize) -> (Vec<u8>, bool) {
    let mut bytes = Vec::new();
    let Some(from) = from else {
        return (bytes, false);
    };
    // A failed read ends the output; that the call failed shows in its end.
    let _ = from.take(most as u64 + 1).read_to_end(&mut bytes).await;
    let cut = bytes.len() > most;
    bytes.truncate(most);
    (bytes, cut)
}

/// Reads to the end, so that the other side never waits, and keeps the beginning.
async fn drain(from: Option<impl AsyncRead + Unpin>) -> Vec<u8> {
    let Some(mut from) = from else {
        return Vec::new();
    };
    let mut bytes = Vec::new();
    let _ = (&mut from)
        .take(MOST_SAID as u64)
        .read_to_end(&mut bytes)
        .await;
    let _ = tokio::io::copy(&mut from, &mut tokio::io::sink()).await;
    bytes
}

/// Ends a call: git removes its half-made files on SIGTERM.
async fn end(child: &mut Child) {
    signal(child, Signal::TERM);
    if timeout(GRACE, child.wait()).await.is_err() {
        signal(child, Signal::KILL);
        let _ = child.kill().await;
    }
}

/// To the whole group: git starts helpers.
fn signal(child: &Child, signal: Signal) {
    // A child that was not waited for has its number still.
    let group = child.id().and_then(|pid| i32::try_from(pid).ok());
    if let Some(group) = group.and_then(Pid::from_raw) {
        let _ = kill_process_group(group, signal);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_as_every_vendor_writes_them() {
        for (said, version) in [
            ("git version 2.47.3", Some((2, 47))),
            ("git version 2.39.5 (Apple Git-154)", Some((2, 39))),
            ("git version 2.45.1.windows.1", Some((2, 45))),
            ("git version 3.0", Some((3, 0))),
            ("hub version 2.14", None),
            ("git version x", None),
        ] {
            assert_eq!(version_in(said), version, "{said}");
        }
    }

    #[test]
    fn filters_of_the_repository_are_told_from_those_of_the_person() {
        let said = b"global\0filter.lfs.clean\0local\0filter.a.b=c.clean\0local\0filter.a.b=c.required\0worktree\0filter.w.process\0";
        let names = |section: &str, scopes: &[&[u8]]| -> Vec<Vec<u8>> {
            names_of(section, scopes, said).into_iter().collect()
        };
        let of_repository = names("filter", &[b"local", b"worktree"]);
        assert_eq!(of_repository, [b"a.b=c".to_vec(), b"w".to_vec()]);
        assert_eq!(names("filter", &[b"global"]), [b"lfs".to_vec()]);
        assert_eq!(names("hook", &[b"local"]), [b""; 0]);
    }

    #[test]
    fn nothing_that_steers_git_is_taken_over() {
        let env = [("GIT_DIR", "/x"), ("PATH", "/bin"), ("GITHUB", "1")];
        let env = env.map(|(name, value)| (name.into(), value.into()));
        let kept: Vec<_> = clean(env).into_iter().map(|(name, _)| name).collect();
        assert_eq!(kept, ["PATH", "GITHUB"]);
    }
}
