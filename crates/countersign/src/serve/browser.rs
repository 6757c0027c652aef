//! The login link in a browser.
//!
//! Owns when one is opened and how. Invariant: the link is in no argument list, where every user of the machine could read it
//! before the browser has used it: the browser gets a file that only this user may read, and that leads on.

use std::io::{self, IsTerminal as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Whether somebody sits in front of this machine.
pub(crate) fn is_near() -> bool {
    let has = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let has_screen = cfg!(target_os = "macos") || has("DISPLAY") || has("WAYLAND_DISPLAY");
    has_screen && !has("SSH_CONNECTION") && io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// Opens the link. Where that fails it is said in the log; the link is on the screen anyway.
pub(crate) fn open(link: &str, folder: &Path) {
    let program = match cfg!(target_os = "macos") {
        true => "open",
        false => "xdg-open",
    };
    let opened = leads_to(link, folder).and_then(|file| {
        Command::new(program)
            .arg(file)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
    });
    match opened {
        // Nobody else is its parent: it is waited for where it may take its time.
        Ok(mut child) => drop(std::thread::spawn(move || child.wait())),
        Err(error) => tracing::info!(%error, program, "no browser was opened"),
    }
}

fn leads_to(link: &str, folder: &Path) -> io::Result<PathBuf> {
    let file = folder.join("login.html");
    // A file of an earlier start may be there.
    let _ = std::fs::remove_file(&file);
    let mut options = std::fs::OpenOptions::new();
    let mut out = options
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&file)?;
    writeln!(
        out,
        "<!doctype html><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"0;url={link}\"><a href=\"{link}\">Sign in</a>"
    )?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn the_file_that_leads_on_is_for_this_user_alone() {
        let place = tempfile::tempdir().unwrap();
        for _ in 0..2 {
            let file = leads_to("http://127.0.0.1:1/login?code=x", place.path()).unwrap();
            let mode = std::fs::metadata(&file).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
            assert!(
                std::fs::read_to_string(file)
                    .unwrap()
                    .contains("url=http://127.0.0.1:1/login?code=x")
            );
        }
    }
}
