//! Starting other programs: shows the command line, sends the child's stdout to our stderr, and
//! gives nested `cargo` calls the environment they would have without `xtask` around them.

use std::ffi::{OsStr, OsString};
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use anyhow::Context as _;

/// A command line that is shown before it runs.
#[derive(Debug)]
pub(crate) struct Cmd {
    inner: Command,
    shown: String,
}

impl Cmd {
    pub(crate) fn new(program: impl AsRef<OsStr>) -> Self {
        let program = program.as_ref();
        let name = Path::new(program).file_name().unwrap_or(program);
        let mut inner = Command::new(program);
        inner.stdin(Stdio::null());
        for (key, _) in std::env::vars_os().filter(|(key, _)| set_by_cargo_run(key)) {
            inner.env_remove(key);
        }
        Cmd {
            inner,
            shown: name.to_string_lossy().into_owned(),
        }
    }

    /// The `cargo` that runs us, so that every step uses one toolchain.
    pub(crate) fn cargo() -> Self {
        Self::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
    }

    pub(crate) fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        let arg = arg.as_ref();
        let text = arg.to_string_lossy();
        self.shown.push(' ');
        if text.is_empty() || text.contains([' ', '(', '|', '&', '"', '*', '$']) {
            self.shown.push_str(&format!("'{text}'"));
        } else {
            self.shown.push_str(&text);
        }
        self.inner.arg(arg);
        self
    }

    /// Adds an argument that is too long to be shown.
    pub(crate) fn unseen(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.shown.push_str(" …");
        self.inner.arg(arg);
        self
    }

    /// Clears the environment: nothing of ours is passed on.
    pub(crate) fn bare(mut self) -> Self {
        self.inner.env_clear();
        self
    }

    pub(crate) fn args<S: AsRef<OsStr>>(self, args: impl IntoIterator<Item = S>) -> Self {
        args.into_iter().fold(self, |cmd, arg| cmd.arg(arg))
    }

    pub(crate) fn env(mut self, key: &str, value: impl AsRef<OsStr>) -> Self {
        let value = value.as_ref();
        self.shown = format!("{key}={} {}", value.to_string_lossy(), self.shown);
        self.inner.env(key, value);
        self
    }

    pub(crate) fn dir(mut self, dir: &Path) -> Self {
        self.inner.current_dir(dir);
        self
    }

    /// Finds programs in `dir` before the user's own.
    pub(crate) fn first_in_path(mut self, dir: &Path) -> Self {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let dirs = [dir.to_owned()]
            .into_iter()
            .chain(std::env::split_paths(&path));
        // A folder name with a colon cannot stand in PATH; then only the user's own programs count.
        if let Ok(joined) = std::env::join_paths(dirs) {
            self.inner.env("PATH", joined);
        }
        self
    }

    /// Runs it with its output on our stderr.
    pub(crate) fn run(mut self) -> anyhow::Result<ExitStatus> {
        eprintln!("$ {}", self.shown);
        self.inner
            .stdout(Stdio::from(std::io::stderr()))
            .status()
            .with_context(|| cannot_start(&self.shown))
    }

    /// Runs it with its own stdout and stdin, as if it had been started by hand.
    pub(crate) fn hand_over(mut self) -> anyhow::Result<ExitStatus> {
        eprintln!("$ {}", self.shown);
        self.inner
            .stdin(Stdio::inherit())
            .status()
            .with_context(|| cannot_start(&self.shown))
    }

    /// Runs it and returns how it ended and what it printed; its stderr is ours.
    pub(crate) fn capture(mut self) -> anyhow::Result<(ExitStatus, String)> {
        eprintln!("$ {}", self.shown);
        let output = self
            .inner
            .stderr(Stdio::inherit())
            .output()
            .with_context(|| cannot_start(&self.shown))?;
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        Ok((output.status, printed))
    }

    /// Runs it, showing its stdout and keeping a copy.
    pub(crate) fn tee(mut self) -> anyhow::Result<(ExitStatus, String)> {
        eprintln!("$ {}", self.shown);
        let mut child = self
            .inner
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| cannot_start(&self.shown))?;
        let mut kept = String::new();
        if let Some(stdout) = child.stdout.take() {
            for line in BufReader::new(stdout).split(b'\n') {
                let line = line.with_context(|| format!("cannot read from {}", self.shown))?;
                let line = String::from_utf8_lossy(&line);
                eprintln!("{line}");
                kept.push_str(&line);
                kept.push('\n');
            }
        }
        Ok((child.wait()?, kept))
    }

    /// Runs it, calling `line` with each line of its stderr instead of showing it.
    pub(crate) fn watch(mut self, line: &mut dyn FnMut(&str)) -> anyhow::Result<ExitStatus> {
        let mut child = self
            .inner
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| cannot_start(&self.shown))?;
        if let Some(stderr) = child.stderr.take() {
            for bytes in BufReader::new(stderr).split(b'\n') {
                let bytes = bytes.with_context(|| format!("cannot read from {}", self.shown))?;
                line(String::from_utf8_lossy(&bytes).trim_end());
            }
        }
        Ok(child.wait()?)
    }

    /// Runs it silently. The output of a failure is in the error.
    pub(crate) fn read(mut self) -> anyhow::Result<String> {
        let output = self
            .inner
            .output()
            .with_context(|| cannot_start(&self.shown))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            anyhow::bail!("`{}` failed ({}): {said}", self.shown, output.status);
        }
        String::from_utf8(output.stdout).with_context(|| format!("`{}` is not UTF-8", self.shown))
    }
}

fn cannot_start(shown: &str) -> String {
    format!("cannot start `{shown}`: is the program installed and in PATH?")
}

/// What `cargo run` sets for `xtask` itself. Build scripts of nested calls would see the change and
/// build again what a plain `cargo build` has built.
fn set_by_cargo_run(key: &OsString) -> bool {
    let Some(key) = key.to_str() else {
        return false;
    };
    key.starts_with("CARGO_PKG_")
        || key.starts_with("CARGO_MANIFEST_")
        || key.starts_with("CARGO_BIN_")
        || matches!(key, "CARGO_CRATE_NAME" | "CARGO_PRIMARY_PACKAGE")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_shown_as_one_would_type_it() {
        let cmd = Cmd::new("/usr/bin/tool")
            .args(["run", "-E", "test(a) & test(b)"])
            .env("KEY", "value");
        assert_eq!(cmd.shown, "KEY=value tool run -E 'test(a) & test(b)'");
    }

    #[test]
    fn cargos_own_settings_are_passed_on_and_those_about_xtask_are_not() {
        for (key, about_xtask) in [
            ("CARGO_PKG_NAME", true),
            ("CARGO_MANIFEST_DIR", true),
            ("CARGO_TARGET_DIR", false),
            ("CARGO_HOME", false),
            ("CARGO_NET_OFFLINE", false),
        ] {
            assert_eq!(set_by_cargo_run(&key.into()), about_xtask, "{key}");
        }
    }

    #[test]
    fn a_failing_command_tells_what_it_said() {
        let error = Cmd::new("sh")
            .args(["-c", "echo broken >&2; exit 3"])
            .read()
            .unwrap_err();
        assert!(error.to_string().contains("broken"), "{error}");
    }

    #[test]
    fn a_missing_program_is_named() {
        let error = Cmd::new("no-such-program-here").read().unwrap_err();
        assert!(
            error.to_string().contains("no-such-program-here"),
            "{error}"
        );
    }
}
