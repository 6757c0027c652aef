//! An empty place with stubs for commands, in which bash runs a text and what it runs is written down.

use std::cell::Cell;
use std::fs;
use std::io::Read;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Stubs that only write down that they ran.
pub(crate) const STUBS: [&str; 8] = ["git", "rm", "npm", "cat", "ls", "x1", "x2", "x3"];
/// Real programs that run others.
const REAL: [&str; 9] = [
    "env", "timeout", "nohup", "xargs", "find", "nice", "sh", "bash", "sleep",
];
/// Ends a word of a call in the log, and the call.
const ENDS: (char, char) = ('\u{1f}', '\u{1e}');

/// What a text has done.
pub(crate) struct Ran {
    /// Names and arguments of what was called.
    pub(crate) calls: Vec<Vec<String>>,
    /// Names of the files that were made.
    pub(crate) files: Vec<String>,
}

/// An empty place in which bash runs texts.
pub(crate) struct Stage {
    root: tempfile::TempDir,
    bash: PathBuf,
    /// Something that it started may still be running, and write to its log.
    pub(crate) is_spoiled: Cell<bool>,
}

impl Stage {
    /// `None` without bash.
    pub(crate) fn new() -> Option<Self> {
        let bash = ["/bin/bash", "/usr/bin/bash"]
            .into_iter()
            .map(PathBuf::from)
            .find(|path| path.exists());
        let Some(bash) = bash else {
            eprintln!("SKIPPED: there is no /bin/bash to compare with");
            return None;
        };
        let root = tempfile::tempdir().unwrap();
        let bin = root.path().join("bin");
        fs::create_dir(&bin).unwrap();
        let log = root.path().join("log");
        let note = format!(
            "l=${{0##*/}}; for a do l=\"$l{}$a\"; done; printf '%s{}' \"$l\" >> {}",
            ENDS.0,
            ENDS.1,
            log.display()
        );
        let script = |name: &str, then: &str| {
            let path = bin.join(name);
            fs::write(&path, format!("#!/bin/sh\n{note}\n{then}\n")).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        };
        STUBS.iter().for_each(|name| script(name, ""));
        script(
            "sudo",
            "while :; do case $1 in -u) shift 2;; -n) shift;; *) break;; esac; done; exec \"$@\"",
        );
        for name in REAL {
            let real = ["/usr/bin", "/bin"]
                .into_iter()
                .map(|folder| Path::new(folder).join(name))
                .find(|p| p.exists());
            if let Some(real) = real {
                symlink(real, bin.join(name)).unwrap();
            }
        }
        Some(Self {
            root,
            bash,
            is_spoiled: Cell::new(false),
        })
    }

    /// What a text runs: names and arguments.
    pub(crate) fn run(&self, text: &str) -> Ran {
        let log = self.root.path().join("log");
        let work = self.root.path().join("work");
        let _ = fs::remove_dir_all(&work);
        fs::create_dir_all(work.join("sub")).unwrap();
        fs::write(work.join("a"), "a\nb\n").unwrap();
        fs::write(&log, "").unwrap();
        // What no stub is there for is written down too.
        let missing = format!(
            "() {{ local l=$1; shift; for a do l+={}$a; done; printf '%s{}' \"$l\" >> {}; }}",
            ENDS.0,
            ENDS.1,
            log.display()
        );
        // A copy of the output that no redirection closes: it tells when everything in the background is done.
        let child = Command::new("/bin/sh")
            .args(["-c", "exec 9>&1; exec \"$0\" --norc --noprofile -c \"$1\""])
            .args([self.bash.as_os_str(), text.as_ref()])
            .env_clear()
            .env("PATH", self.root.path().join("bin"))
            .env("HOME", &work)
            .env("BASH_FUNC_command_not_found_handle%%", missing)
            .current_dir(&work)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .unwrap();
        self.is_spoiled.set(!finish(child));
        let log = fs::read(&log).unwrap();
        let calls = String::from_utf8_lossy(&log).into_owned();
        let words = |call: &str| call.split(ENDS.0).map(str::to_owned).collect();
        // What was cut off in the middle does not count.
        let whole = calls.rsplit_once(ENDS.1).map_or("", |(whole, _)| whole);
        let calls = whole
            .split(ENDS.1)
            .filter(|call| !call.is_empty())
            .map(words)
            .collect();
        let is_new = |name: &String| !["a", "sub"].contains(&name.as_str());
        let files = names(&work)
            .into_iter()
            .chain(names(&work.join("sub")))
            .filter(is_new)
            .collect();
        Ran { calls, files }
    }
}

/// A text that runs for longer runs forever. What it has done until then counts.
const MOST_TIME: Duration = Duration::from_secs(3);

/// Waits until bash and all that it has started in the background are done: then nobody holds their output any more.
/// Whether that came to pass.
fn finish(mut child: Child) -> bool {
    let mut output = child.stdout.take().unwrap();
    let (done, is_done) = mpsc::channel();
    thread::spawn(move || {
        let _ = output.read_to_end(&mut Vec::new());
        let _ = done.send(());
    });
    let in_time = is_done.recv_timeout(MOST_TIME).is_ok();
    if !in_time {
        let group = format!("-{}", child.id());
        let _ = Command::new("/bin/kill")
            .args(["-KILL", "--", &group])
            .status();
    }
    child.wait().unwrap();
    in_time
}

/// The names in a folder.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect()
}
