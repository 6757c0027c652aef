//! Runs `npm pack` and reads its answer. Owns npm's command line and the meaning of its error codes;
//! knows nothing of the cache. The registry is whatever the user's npm is set up for.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::{FetchError, in_path};

/// What `npm pack` says it stored.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Packed {
    pub(super) file: PathBuf,
    pub(super) integrity: String,
}

/// Downloads a package's tarball into `dir`, calling `tick` a few times a second meanwhile.
pub(super) fn pack(
    spec: &str,
    dir: &Path,
    tick: &mut dyn FnMut(Duration),
) -> Result<Packed, FetchError> {
    let npm = in_path("npm").ok_or(FetchError::NoNpm)?;
    let started = Instant::now();
    let mut child = Command::new(npm)
        .args([
            "pack",
            spec,
            "--json",
            "--ignore-scripts",
            "--pack-destination",
        ])
        .arg(dir)
        .current_dir(dir)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|source| FetchError::Io {
            doing: "start npm in",
            path: dir.into(),
            source,
        })?;
    let stdout = drain(child.stdout.take());
    let stderr = drain(child.stderr.take());
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) => {
                tick(started.elapsed());
                std::thread::sleep(Duration::from_millis(100));
            }
            Err(source) => {
                return Err(FetchError::Io {
                    doing: "wait for npm in",
                    path: dir.into(),
                    source,
                });
            }
        }
    };
    let stdout = stdout.join().unwrap_or_default();
    let stderr = stderr.join().unwrap_or_default();
    if status.success() {
        packed(spec, dir, &stdout)
    } else {
        Err(failure(spec, &stdout, &stderr))
    }
}

/// Both pipes are read while npm runs: it lists every file of the package, more than a pipe holds.
fn drain(pipe: Option<impl std::io::Read + Send + 'static>) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // What was read before a failure is still worth showing.
            let _ = pipe.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

fn packed(spec: &str, dir: &Path, stdout: &str) -> Result<Packed, FetchError> {
    let answer: Option<Value> = serde_json::from_str(stdout).ok();
    let first = answer.as_ref().and_then(first_package);
    let text = |key| {
        first
            .and_then(|package| package.get(key))
            .and_then(Value::as_str)
    };
    match (text("filename"), text("integrity")) {
        (Some(file), Some(integrity)) => Ok(Packed {
            file: dir.join(file),
            integrity: integrity.to_owned(),
        }),
        _ => Err(FetchError::Npm {
            spec: spec.to_owned(),
            said: tail(stdout),
        }),
    }
}

/// npm up to 11 answers with a list, later ones with an object by package name.
fn first_package(answer: &Value) -> Option<&Value> {
    match answer {
        Value::Array(list) => list.first(),
        Value::Object(map) => map.values().next(),
        _ => None,
    }
}

fn failure(spec: &str, stdout: &str, stderr: &str) -> FetchError {
    let code = error_code(stdout).or_else(|| {
        let line = stderr.lines().find_map(|line| line.split_once(" code "));
        line.map(|(_, code)| code.trim().to_owned())
    });
    match code.as_deref() {
        Some(
            "ENOTFOUND" | "EAI_AGAIN" | "ECONNREFUSED" | "ECONNRESET" | "ETIMEDOUT" | "ENETUNREACH"
            | "EHOSTUNREACH" | "ERR_SOCKET_TIMEOUT" | "EPIPE" | "ENOTCACHED" | "FETCH_ERROR",
        ) => FetchError::NoNetwork {
            code: code.unwrap_or_default(),
        },
        Some("E401" | "E403" | "E404" | "E451" | "ETARGET") => FetchError::NotAvailable {
            spec: spec.to_owned(),
            code: code.unwrap_or_default(),
        },
        Some("EINTEGRITY") | Some(_) | None => FetchError::Npm {
            spec: spec.to_owned(),
            said: tail(stderr),
        },
    }
}

fn error_code(stdout: &str) -> Option<String> {
    let answer: Value = serde_json::from_str(stdout).ok()?;
    Some(answer.get("error")?.get("code")?.as_str()?.to_owned())
}

/// The last few lines, enough to see why.
pub(super) fn tail(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(8)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_and_its_integrity_are_read_from_a_list_and_from_a_map() {
        let expected = Packed {
            file: PathBuf::from("/d/p-1.tgz"),
            integrity: "sha512-x".into(),
        };
        for answer in [
            r#"[{"filename":"p-1.tgz","integrity":"sha512-x","files":[]}]"#,
            r#"{"p":{"filename":"p-1.tgz","integrity":"sha512-x"}}"#,
        ] {
            assert_eq!(packed("p@1", Path::new("/d"), answer).unwrap(), expected);
        }
    }

    #[test]
    fn an_answer_without_a_file_is_an_error_that_shows_it() {
        let error = packed("p@1", Path::new("/d"), "odd").unwrap_err();
        assert!(error.to_string().contains("odd"), "{error}");
    }

    #[test]
    fn an_unreachable_registry_and_an_unknown_version_are_told_apart() {
        let offline = failure("p@1", r#"{"error":{"code":"ECONNREFUSED"}}"#, "");
        assert!(matches!(offline, FetchError::NoNetwork { code } if code == "ECONNREFUSED"));
        let unknown = failure("p@1", "", "npm error code ETARGET\nnpm error notarget");
        assert!(matches!(unknown, FetchError::NotAvailable { code, .. } if code == "ETARGET"));
        let other = failure("p@1", "", "npm error code EACCES\nnpm error no");
        assert!(matches!(other, FetchError::Npm { said, .. } if said.contains("EACCES")));
    }
}
