//! Options and needs → everything that starting a CLI takes: program, arguments, environment, folder, introduction.
//!
//! The thin shell over [`crate::options`]: writes the files that large and secret values go to, and looks whether the
//! working directory is there. Starts nothing. Invariant: files live as long as the plan, readable by this user only.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use countersign_wire::control::Initialize;
use tempfile::{NamedTempFile, TempPath};

use crate::options::{
    Arg, Capabilities, ChildEnv, Draft, LintScene, Located, Needs, OptionError, Options,
    Surroundings, Version, Warning, warnings,
};

/// Flags whose value `Debug` does not show.
const SENSITIVE: &[&str] = &[
    "--agents",
    "--append-system-prompt",
    "--managed-settings",
    "--mcp-config",
    "--settings",
    "--system-prompt",
];

/// How one CLI is started. Keep it until the process has ended: it owns the files the CLI reads.
pub(crate) struct LaunchPlan {
    /// The program.
    pub(crate) program: PathBuf,
    /// Its arguments, those of a wrapper first.
    pub(crate) args: Vec<OsString>,
    /// Its whole environment: clear what would be inherited, then set this.
    pub(crate) env: ChildEnv,
    /// Its working directory; this process's own when absent.
    pub(crate) cwd: Option<PathBuf>,
    /// What to send as `initialize`, always as the first line: some options make the CLI insist. Hooks are for the
    /// caller to add.
    pub(crate) initialize: Initialize,
    /// What this version can take.
    pub(crate) capabilities: Capabilities,
    /// Whether the session may switch to `bypassPermissions`.
    pub(crate) may_bypass: bool,
    /// Files that arguments name, gone when dropped.
    pub(crate) files: Vec<TempPath>,
    /// What the caller should know.
    pub(crate) warnings: Vec<Warning>,
    /// The places of arguments that are not to be shown.
    pub(crate) masked: Vec<usize>,
}

impl fmt::Debug for LaunchPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |(at, arg): (usize, &OsString)| match self.masked.contains(&at) {
            true => OsString::from("…"),
            false => arg.clone(),
        };
        let args: Vec<_> = self.args.iter().enumerate().map(shown).collect();
        f.debug_struct("LaunchPlan")
            .field("program", &self.program)
            .field("args", &args)
            .field("env", &self.env)
            .field("cwd", &self.cwd)
            .field("warnings", &self.warnings)
            .finish_non_exhaustive()
    }
}

/// Plans how to start `cli` with these options.
///
/// `version` is that of the CLI if it is known; unknown is treated as the oldest.
///
/// # Errors
/// When options exclude each other, or the version lacks one of them; the CLI would end at once.
pub(crate) fn launch(
    options: &Options,
    needs: &Needs,
    cli: &Located,
    version: Option<Version>,
    around: &Surroundings,
    folder: Option<&Path>,
) -> Result<LaunchPlan, OptionError> {
    let cwd = options.cwd.as_deref().map(existing_folder).transpose()?;
    let capabilities = Capabilities::of(version);
    let mut draft = Draft::of(options, needs, &capabilities)?;
    draft.check_version(&capabilities)?;
    let env = child_env(options, needs, around, cwd.as_deref());
    let odd = warnings(
        &draft,
        &LintScene {
            needs,
            capabilities: &capabilities,
            env: &env,
            root: around.root,
            allowed: &options.permission.allowed,
            debug_twice: options.stream.debug && options.stream.debug_file.is_some(),
        },
    );
    let may_bypass = draft.has("--allow-dangerously-skip-permissions")
        || draft.has("--dangerously-skip-permissions")
        || draft.value("--permission-mode") == Some("bypassPermissions");
    let mut plan = LaunchPlan {
        program: cli.program.clone(),
        args: cli.args.clone(),
        env,
        cwd,
        initialize: draft.initialize,
        capabilities,
        may_bypass,
        files: Vec::new(),
        warnings: odd,
        masked: Vec::new(),
    };
    plan.warnings.append(&mut draft.warnings);
    for arg in &draft.args {
        plan.add(arg, &options.extra_args, folder)?;
    }
    Ok(plan)
}

/// The environment the CLI will get, for whoever must run it before a plan is made.
pub(crate) fn child_env(
    options: &Options,
    needs: &Needs,
    around: &Surroundings,
    cwd: Option<&Path>,
) -> ChildEnv {
    options.env.build(around, cwd, needs.marker.as_deref())
}

impl LaunchPlan {
    fn add<V>(
        &mut self,
        arg: &Arg,
        extra: &[(String, V)],
        folder: Option<&Path>,
    ) -> Result<(), OptionError> {
        let file = match arg.contents() {
            None => None,
            Some(contents) => {
                let file =
                    private_file(contents, folder).map_err(|source| OptionError::TempFile {
                        flag: arg.flag.to_string(),
                        source,
                    })?;
                self.files.push(file);
                self.files.last().map(|path| path.to_path_buf())
            }
        };
        let words = arg.words(file.as_deref());
        let bare = arg.flag.trim_start_matches('-');
        let is_extra = extra
            .iter()
            .any(|(name, _)| name.trim_start_matches('-') == bare);
        let sensitive = SENSITIVE.contains(&arg.flag.as_ref()) || is_extra;
        if sensitive && file.is_none() {
            // Either the second word, or the only one in the `=` form.
            let alone = words.len() == 1 && words[0] == OsStr::new(arg.flag.as_ref());
            if !alone {
                self.masked.push(self.args.len() + words.len() - 1);
            }
        }
        self.args.extend(words);
        Ok(())
    }
}

/// A file that only this user can read, gone when dropped.
fn private_file(contents: &str, folder: Option<&Path>) -> std::io::Result<TempPath> {
    let mut file = match folder {
        Some(folder) => NamedTempFile::with_prefix_in("countersign-", folder)?,
        None => NamedTempFile::with_prefix("countersign-")?,
    };
    file.write_all(contents.as_bytes())?;
    file.flush()?;
    Ok(file.into_temp_path())
}

/// A missing folder would otherwise be reported as a missing program.
fn existing_folder(path: &Path) -> Result<PathBuf, OptionError> {
    let missing = |_| OptionError::NoCwd(path.to_owned());
    let whole = std::path::absolute(path).map_err(missing)?;
    if whole.is_dir() {
        Ok(whole)
    } else {
        Err(OptionError::NoCwd(path.to_owned()))
    }
}
