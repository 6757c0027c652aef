//! The processes around a host, found by the folder they run in.
//!
//! Owns the looking and the ending. Keepers and agents outlive a host that is killed, so whoever started it looks once more.
//! Invariant: only processes whose command line or environment names the folder are ended.

use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// How long processes may take to go.
const PATIENCE: Duration = Duration::from_secs(30);

/// Everything that names this folder, but for this process: its id and its command line.
pub(crate) fn processes(folder: &Path) -> Vec<(i32, String)> {
    let own = folder.to_string_lossy().into_owned();
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let pid = entry.file_name().to_str().and_then(|it| it.parse().ok());
        let Some(pid) = pid.filter(|pid| *pid != std::process::id() as i32) else {
            continue;
        };
        let text = |name: &str| {
            // One that has just ended, or is another user's.
            let text = std::fs::read(entry.path().join(name)).unwrap_or_default();
            String::from_utf8_lossy(&text).into_owned()
        };
        let command = text("cmdline");
        if command.contains(&own) || text("environ").contains(&own) {
            found.push((pid, command));
        }
    }
    found
}

/// Ends them, and waits until none is left. What the system does not end within a while is left to it.
pub(crate) fn end(folder: &Path) {
    let start = Instant::now();
    loop {
        let left = processes(folder);
        if left.is_empty() || start.elapsed() > PATIENCE {
            return;
        }
        for (pid, _) in left {
            if let Some(pid) = Pid::from_raw(pid) {
                // It may have ended meanwhile.
                let _ = kill_process(pid, Signal::KILL);
            }
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}
