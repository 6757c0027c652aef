//! A unit that runs the daemon: for systemd, for launchd on macOS.
//!
//! Owns where this program's path goes in. The texts lie in `packaging/`.

use std::io::{self, Write as _};
use std::path::Path;

use anyhow::Context as _;

use crate::Outcome;

const SYSTEMD: &str = include_str!("../../../../packaging/countersign.service");
const LAUNCHD: &str = include_str!("../../../../packaging/countersign.plist");

/// What stands in the texts for the program.
const PROGRAM: &str = "/usr/local/bin/countersign";

/// Prints the one for this system.
pub(crate) fn print() -> anyhow::Result<Outcome> {
    let program =
        std::env::current_exe().context("the system does not say where this program is")?;
    let unit = match cfg!(target_os = "macos") {
        true => LAUNCHD.replace(PROGRAM, &for_launchd(&program)),
        false => SYSTEMD.replace(PROGRAM, &for_systemd(&program)),
    };
    io::stdout().lock().write_all(unit.as_bytes())?;
    Ok(Outcome::Fine)
}

/// A path as a word of `ExecStart`.
fn for_systemd(path: &Path) -> String {
    let path = path.to_string_lossy().replace('%', "%%").replace('$', "$$");
    match path.contains([' ', '"', '\\', '\'']) {
        true => format!("\"{}\"", path.replace('\\', "\\\\").replace('"', "\\\"")),
        false => path,
    }
}

fn for_launchd(path: &Path) -> String {
    let path = path.to_string_lossy();
    path.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_texts_name_the_program_once_and_keep_the_keepers() {
        assert_eq!(SYSTEMD.matches(PROGRAM).count(), 1);
        assert_eq!(LAUNCHD.matches(PROGRAM).count(), 1);
        for line in [
            "KillMode=process",
            "OOMPolicy=continue",
            "WantedBy=default.target",
        ] {
            assert!(SYSTEMD.lines().any(|it| it == line), "{line}");
        }
        assert!(LAUNCHD.contains("<key>AbandonProcessGroup</key>"));
    }

    #[test]
    fn a_path_stays_one_word() {
        assert_eq!(for_systemd(Path::new("/a b/50%/c")), "\"/a b/50%%/c\"");
        assert_eq!(for_systemd(Path::new("/a/c")), "/a/c");
    }
}
