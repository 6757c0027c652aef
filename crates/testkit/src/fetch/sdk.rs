//! The official SDKs, by package name and version: where they are in the cache, and getting them there.
//!
//! Owns the list of SDKs and the command lines of npm and pip. Does not run an SDK. Invariant: what stands at its
//! final place in the cache is complete (it was renamed there).

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::install::{Workshop, io, move_into_place};
use super::{FetchError, in_path, npm};

/// An SDK that drives the CLI, in the version that the tests run.
#[derive(Debug, PartialEq, Eq)]
pub struct Sdk {
    /// What it is called here: `sdk-python`, `sdk-typescript`.
    pub name: &'static str,
    /// Its name in its registry.
    pub package: &'static str,
    /// Its version there.
    pub version: &'static str,
    language: Language,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Language {
    Python,
    TypeScript,
}

/// `claude-agent-sdk` of PyPI, in an environment of its own.
pub const PYTHON_SDK: Sdk = Sdk {
    name: "sdk-python",
    package: "claude-agent-sdk",
    version: "0.2.184",
    language: Language::Python,
};

/// `@anthropic-ai/claude-agent-sdk` of npm, without the CLI that it would bring along.
pub const TYPESCRIPT_SDK: Sdk = Sdk {
    name: "sdk-typescript",
    package: "@anthropic-ai/claude-agent-sdk",
    version: "0.3.328",
    language: Language::TypeScript,
};

/// `schemathesis` of PyPI. Not an SDK, but fetched and run like one: it tries an API against its own document.
pub const SCHEMATHESIS: Sdk = Sdk {
    name: "schemathesis",
    package: "schemathesis",
    version: "4.32.5",
    language: Language::Python,
};

/// Every SDK that the tests run.
pub const SDKS: &[&Sdk] = &[&PYTHON_SDK, &TYPESCRIPT_SDK, &SCHEMATHESIS];

/// An SDK that is in the cache and can be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstalledSdk {
    /// Runs a program that uses the SDK: `python` of the SDK's environment, or `node`.
    pub interpreter: PathBuf,
    /// The folder of the package itself.
    pub package: PathBuf,
}

impl Sdk {
    /// `package==version` or `package@version`, as its registry's own tool takes it.
    pub fn spec(&self) -> String {
        let between = match self.language {
            Language::Python => "==",
            Language::TypeScript => "@",
        };
        format!("{}{between}{}", self.package, self.version)
    }

    /// The tool that fetches it.
    pub fn registry(&self) -> &'static str {
        match self.language {
            Language::Python => "pip",
            Language::TypeScript => "npm",
        }
    }

    /// The SDK if it is in the cache and this machine can run it. Asks no network.
    pub fn installed(&self, cache: &Path) -> Option<InstalledSdk> {
        let place = self.place(cache);
        let found = match self.language {
            Language::Python => InstalledSdk {
                interpreter: place.join(VENV_PYTHON),
                package: place.clone(),
            },
            Language::TypeScript => InstalledSdk {
                interpreter: in_path("node")?,
                package: place.join("node_modules").join(self.package),
            },
        };
        (found.interpreter.is_file() && found.package.is_dir()).then_some(found)
    }

    /// Makes sure that the SDK is in the cache, telling each step. Does nothing but look if it already is.
    pub fn install(
        &self,
        cache: &Path,
        step: &mut dyn FnMut(&str),
    ) -> Result<InstalledSdk, FetchError> {
        if let Some(present) = self.installed(cache) {
            return Ok(present);
        }
        let workshop = Workshop::open(&cache.join("sdks"), self.name)?;
        let folder = workshop.folder().join("made");
        match self.language {
            Language::Python => self.with_pip(&folder, step)?,
            Language::TypeScript => self.with_npm(&folder, step)?,
        }
        let place = self.place(cache);
        // An environment whose Python is gone is of no use to anybody.
        if place.exists() {
            std::fs::remove_dir_all(&place).map_err(io("remove", &place))?;
        }
        move_into_place(&folder, &place)?;
        self.installed(cache).ok_or_else(|| FetchError::Incomplete {
            spec: self.spec(),
            place,
        })
    }

    fn place(&self, cache: &Path) -> PathBuf {
        let folder = format!("{}-{}", self.name, self.version);
        cache.join("sdks").join(folder)
    }

    fn with_pip(&self, folder: &Path, step: &mut dyn FnMut(&str)) -> Result<(), FetchError> {
        let python = ["python3", "python"].into_iter().find_map(in_path);
        let python = python.ok_or(FetchError::NoPython)?;
        step("making an environment");
        let venv: [&OsStr; 3] = ["-m".as_ref(), "venv".as_ref(), folder.as_os_str()];
        run(Command::new(python).args(venv), "python3 -m venv")?;
        step("downloading");
        let spec = self.spec();
        run(
            Command::new(folder.join(VENV_PYTHON)).args([
                "-m",
                "pip",
                "install",
                "--quiet",
                "--disable-pip-version-check",
                &spec,
            ]),
            &format!("pip install {spec}"),
        )
    }

    fn with_npm(&self, folder: &Path, step: &mut dyn FnMut(&str)) -> Result<(), FetchError> {
        let npm = in_path("npm").ok_or(FetchError::NoNpm)?;
        std::fs::create_dir_all(folder).map_err(io("create", folder))?;
        step("downloading");
        let spec = self.spec();
        run(
            Command::new(npm)
                .args([
                    "install",
                    "--omit=optional",
                    "--ignore-scripts",
                    "--no-audit",
                    "--no-fund",
                    "--prefix",
                ])
                .arg(folder)
                .arg(&spec),
            &format!("npm install {spec}"),
        )
    }
}

#[cfg(windows)]
const VENV_PYTHON: &str = "Scripts/python.exe";
#[cfg(not(windows))]
const VENV_PYTHON: &str = "bin/python";

fn run(command: &mut Command, shown: &str) -> Result<(), FetchError> {
    let failed = |said: String| FetchError::Installer {
        command: shown.to_owned(),
        said,
    };
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| failed(error.to_string()))?;
    if output.status.success() {
        return Ok(());
    }
    Err(failed(npm::tail(&String::from_utf8_lossy(&output.stderr))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_cache_has_no_sdk() {
        for sdk in SDKS {
            assert_eq!(sdk.installed(Path::new("/nonexistent")), None);
        }
    }

    #[test]
    fn a_package_is_named_as_its_own_registry_takes_it() {
        assert_eq!(PYTHON_SDK.spec(), "claude-agent-sdk==0.2.184");
        assert_eq!(
            TYPESCRIPT_SDK.spec(),
            "@anthropic-ai/claude-agent-sdk@0.3.328"
        );
    }

    #[test]
    fn of_a_failed_installer_the_end_of_its_words_is_kept() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo no such package >&2; exit 1"]);
        let error = run(&mut command, "pip install x").unwrap_err().to_string();
        assert!(
            error.contains("pip install x") && error.contains("no such package"),
            "{error}"
        );
    }
}
