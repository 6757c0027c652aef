//! Finds and ends what a CLI left running. The CLI's shells live in sessions of their own, so neither
//! its process group nor its parentage finds them once it is gone; what they all inherited is the
//! sandbox's `HOME`, which no other process has.

use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// How long a killed process may take to disappear.
const GRACE: Duration = Duration::from_secs(2);

/// Kills every process of the sandbox with that home, until none is left (or will not go).
/// Returns how many there were.
pub(super) fn end_all(home: &Path) -> usize {
    let deadline = Instant::now() + GRACE;
    let mut ended = std::collections::BTreeSet::new();
    loop {
        let alive = of_home(home);
        if alive.is_empty() || Instant::now() > deadline {
            return ended.len();
        }
        for pid in alive {
            ended.insert(pid.as_raw_nonzero().get());
            // It may have gone by itself meanwhile; the next look tells.
            let _ = kill_process(pid, Signal::KILL);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The processes that run with that `HOME`. Zombies have no environment and are not listed.
pub(super) fn of_home(home: &Path) -> Vec<Pid> {
    let Some(home) = home.to_str() else {
        return Vec::new();
    };
    let wanted = format!("HOME={home}");
    let own = std::process::id().to_string();
    let Ok(entries) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .filter_map(Result::ok)
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| *name != own && name.bytes().all(|byte| byte.is_ascii_digit()))
        .filter(|pid| {
            std::fs::read(format!("/proc/{pid}/environ")).is_ok_and(|environ| {
                environ
                    .split(|byte| *byte == 0)
                    .any(|variable| variable == wanted.as_bytes())
            })
        })
        .filter_map(|pid| Pid::from_raw(pid.parse().ok()?))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn a_shell_that_left_its_session_is_found_by_its_home_and_ended() {
        let home = std::env::temp_dir().join(format!("countersign-home-{}", std::process::id()));
        // The parent ends at once; the sleeper is orphaned, in its own session.
        let mut parent = Command::new("/bin/sh")
            .args(["-c", "setsid sleep 300 >/dev/null 2>&1 & exit 0"])
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", &home)
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        parent.wait().unwrap();
        let deadline = Instant::now() + Duration::from_secs(5);
        while of_home(&home).is_empty() {
            assert!(Instant::now() < deadline, "the sleeper never showed up");
            std::thread::yield_now();
        }
        assert!(end_all(&home) >= 1);
        assert_eq!(of_home(&home), []);
    }
}
