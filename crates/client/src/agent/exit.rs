//! How a process ended, in words.

use std::fmt;
use std::process::ExitStatus;

/// How the agent's process ended. With neither code nor signal it ended, but somebody else learned how.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Exit {
    /// The code it exited with.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
}

impl From<ExitStatus> for Exit {
    fn from(status: ExitStatus) -> Self {
        #[cfg(unix)]
        let signal = std::os::unix::process::ExitStatusExt::signal(&status);
        #[cfg(not(unix))]
        let signal = None;
        Exit {
            code: status.code(),
            signal,
        }
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.code, self.signal) {
            // A program that catches a signal says so by a code above 128, by custom.
            (Some(code), _) => match code.checked_sub(128).and_then(signal_name) {
                Some(name) => write!(f, "exit code {code} ({name})"),
                None => write!(f, "exit code {code}"),
            },
            (None, Some(signal)) => match signal_name(signal) {
                Some(name) => write!(f, "killed by {name}"),
                None => write!(f, "killed by signal {signal}"),
            },
            (None, None) => f.write_str("ended; another part of this program took its exit code"),
        }
    }
}

/// The signals that have the same number on every Unix.
fn signal_name(number: i32) -> Option<&'static str> {
    Some(match number {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        5 => "SIGTRAP",
        6 => "SIGABRT",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_way_to_end_has_its_words() {
        let code = |code| Exit {
            code: Some(code),
            signal: None,
        };
        let signal = |signal| Exit {
            code: None,
            signal: Some(signal),
        };
        let words = [
            (code(0), "exit code 0"),
            (code(1), "exit code 1"),
            (code(143), "exit code 143 (SIGTERM)"),
            (code(129), "exit code 129 (SIGHUP)"),
            (code(128), "exit code 128"),
            (code(i32::MIN), "exit code -2147483648"),
            (signal(9), "killed by SIGKILL"),
            (signal(64), "killed by signal 64"),
            (
                Exit::default(),
                "ended; another part of this program took its exit code",
            ),
        ];
        for (exit, said) in words {
            assert_eq!(exit.to_string(), said);
        }
    }
}
