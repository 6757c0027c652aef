//! How a CLI is started against the scripted model with nothing of the caller in sight.
//!
//! Owns the folders of such a run ([`Places`]) and its whole environment ([`environment`]); starts nothing. Invariants:
//! no variable, home or credential of the caller is in the environment, and the model in it is on a loopback address. A
//! scripted CLI, which reaches no model, is told the same script by [`scripted`].

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::cli::{MODEL_SCRIPT, MODEL_VARS};
use crate::model::Vars;

/// The key every run is given. It opens nothing.
pub const DUMMY_KEY: &str = "not-a-key";

/// Variables that nobody may change: they are what keeps the run inside.
pub const FIXED: [&str; 14] = [
    "PATH",
    "HOME",
    "TMPDIR",
    "CLAUDE_CODE_TMPDIR",
    "ANTHROPIC_BASE_URL",
    "ANTHROPIC_API_KEY",
    "DISABLE_TELEMETRY",
    "DISABLE_AUTOUPDATER",
    "DISABLE_ERROR_REPORTING",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
    "LANG",
    "SHELL",
    "TZ",
    "USER",
];

/// Where 2.0.75 writes outside of the folders it was given.
const STRAY: &str = "/tmp/claude";

/// Why there is no such environment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EnvironmentError {
    /// The model is not on this machine.
    #[error("{0} is not a loopback address: give the scripted model's URL")]
    NotLoopback(String),
    /// A variable is one of [`FIXED`].
    #[error("{0} is part of what keeps the run inside: leave it out")]
    Fixed(String),
}

/// The folders of one run, all below one root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    root: PathBuf,
}

impl Places {
    /// The folders below `root`. Makes none of them.
    pub fn below(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The folder that holds all others.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The CLI's `HOME`.
    pub fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    /// The CLI's working directory.
    pub fn project(&self) -> PathBuf {
        self.root.join("project")
    }

    /// The CLI's folder for temporary files.
    pub fn tmp(&self) -> PathBuf {
        self.root.join("tmp")
    }

    /// Home, project and temporary folder.
    pub fn all(&self) -> [PathBuf; 3] {
        [self.home(), self.project(), self.tmp()]
    }

    /// Removes what old versions leave elsewhere. The name holds that of the project, so nobody else's folder is meant;
    /// the parent goes if it is empty.
    pub fn clear_strays(&self) {
        let project = self.project();
        let dashed = project
            .to_string_lossy()
            .replace(|c: char| !c.is_ascii_alphanumeric(), "-");
        // Nearly always there is nothing to remove.
        let _ = std::fs::remove_dir_all(Path::new(STRAY).join(dashed));
        let _ = std::fs::remove_dir(STRAY);
    }
}

/// The whole environment of a CLI that runs in `places` and asks the model at `base_url`: nothing is inherited. `path` is
/// where programs are found, see [`search_path`].
///
/// # Errors
/// When the model is not on this machine, or `more` changes what keeps the run inside.
pub fn environment(
    places: &Places,
    path: OsString,
    base_url: &str,
    more: &[(String, String)],
) -> Result<Vec<(OsString, OsString)>, EnvironmentError> {
    if !is_loopback(base_url) {
        return Err(EnvironmentError::NotLoopback(base_url.to_owned()));
    }
    let mut environment: Vec<(OsString, OsString)> = [
        ("PATH", path),
        ("HOME", places.home().into_os_string()),
        ("TMPDIR", places.tmp().into_os_string()),
        ("CLAUDE_CODE_TMPDIR", places.tmp().into_os_string()),
        ("ANTHROPIC_BASE_URL", base_url.into()),
        ("ANTHROPIC_API_KEY", DUMMY_KEY.into()),
        ("DISABLE_TELEMETRY", "1".into()),
        ("DISABLE_AUTOUPDATER", "1".into()),
        ("DISABLE_ERROR_REPORTING", "1".into()),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".into()),
        ("LANG", "C.UTF-8".into()),
        ("SHELL", "/bin/bash".into()),
        ("TZ", "UTC".into()),
        ("USER", "user".into()),
    ]
    .map(|(name, value): (&str, OsString)| (OsString::from(name), value))
    .into();
    for (name, value) in more {
        if FIXED.contains(&name.as_str()) {
            return Err(EnvironmentError::Fixed(name.clone()));
        }
        environment.push((name.into(), value.into()));
    }
    Ok(environment)
}

/// Where the programs of a run are found: the folder of the CLI if node lies beside it, then `more`, then the system's.
pub fn search_path(command: &[OsString], more: &[PathBuf]) -> OsString {
    let program = command.first().map(Path::new);
    let own = program
        .and_then(Path::parent)
        .filter(|dir| dir.join("node").exists());
    let system = ["/usr/bin", "/bin"].map(Path::new);
    let dirs = own
        .into_iter()
        .chain(more.iter().map(PathBuf::as_path))
        .chain(system)
        .map(Path::as_os_str)
        .map(OsStr::to_owned);
    std::env::join_paths(dirs).unwrap_or_else(|_| "/usr/bin:/bin".into())
}

/// What a scripted CLI is told of its model, by variables: the file of the script and the values in it. The real CLI
/// knows neither of them.
pub fn scripted(script: &Path, vars: &Vars) -> [(String, String); 2] {
    let vars = serde_json::json!(vars).to_string();
    [
        (
            MODEL_SCRIPT.to_owned(),
            script.to_string_lossy().into_owned(),
        ),
        (MODEL_VARS.to_owned(), vars),
    ]
}

fn is_loopback(url: &str) -> bool {
    let authority = url
        .strip_prefix("http://")
        .and_then(|rest| rest.split('/').next());
    authority
        .and_then(|authority| authority.parse::<std::net::SocketAddr>().ok())
        .is_some_and(|address| address.ip().is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_holds_the_fixed_names_and_what_is_added_and_nothing_else() {
        let of = |url: &str, name: &str| {
            let more = [(name.to_owned(), "1".to_owned())];
            let places = Places::below("/run");
            environment(&places, "/bin".into(), url, &more).map(|variables| {
                let names = variables.into_iter().map(|(name, _)| name);
                names.collect::<Vec<OsString>>()
            })
        };
        let mut names = of("http://127.0.0.1:9", "X").unwrap();
        let mut expected: Vec<OsString> = FIXED.iter().map(OsString::from).collect();
        expected.push("X".into());
        names.sort_unstable();
        expected.sort_unstable();
        assert_eq!(names, expected);
        let elsewhere = [
            "http://10.0.0.1:80",
            "https://127.0.0.1:1",
            "http://localhost.example:1",
        ];
        for url in elsewhere {
            let refused = EnvironmentError::NotLoopback(url.to_owned());
            assert_eq!(of(url, "X"), Err(refused));
        }
        let refused = EnvironmentError::Fixed("HOME".to_owned());
        assert_eq!(of("http://[::1]:9", "HOME"), Err(refused));
        let path = search_path(&["/nowhere/claude".into()], &["/opt/node/bin".into()]);
        assert_eq!(path, "/opt/node/bin:/usr/bin:/bin");
    }
}
