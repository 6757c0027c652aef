//! Hearing everything that crosses: every whole line, both ways, with the start and the end of the agent.
//!
//! Owns what a listener is told beside the lines themselves. Without a listener it costs one branch a line.

use std::ffi::OsString;
use std::sync::Arc;

use countersign_wire::recording::Direction;

use crate::closed::Closed;

/// Who hears every line.
pub(crate) type Tap = Arc<dyn Fn(Direction, &[u8]) + Send + Sync>;

/// The agent is about to start. Only the names of its flags are told: their values may hold secrets.
pub(crate) fn tell_start(tap: &Tap, args: &[OsString]) {
    let flags = args
        .iter()
        .filter_map(|arg| arg.to_str()?.strip_prefix("--"));
    let names = flags.map(|flag| format!("--{}", flag.split('=').next().unwrap_or_default()));
    tap(
        Direction::Run,
        names.collect::<Vec<_>>().join(" ").as_bytes(),
    );
}

/// The agent has ended, if there was a process.
pub(crate) fn tell_end(tap: &Tap, closed: &Closed) {
    match (closed.code, closed.signal) {
        (Some(code), _) => tap(Direction::End, code.to_string().as_bytes()),
        (None, Some(_)) => tap(Direction::End, b"signal"),
        (None, None) => {}
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    fn heard(tell: impl FnOnce(&Tap)) -> Vec<(Direction, String)> {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let list = Arc::clone(&heard);
        let tap: Tap = Arc::new(move |direction, line| {
            let text = String::from_utf8_lossy(line).into_owned();
            list.lock().unwrap().push((direction, text));
        });
        tell(&tap);
        std::mem::take(&mut *heard.lock().unwrap())
    }

    #[test]
    fn no_value_of_a_flag_is_told() {
        let args = [
            "--settings",
            "{\"env\":{}}",
            "--model=sonnet",
            "-p",
            "hello",
        ]
        .map(OsString::from);
        let told = heard(|tap| tell_start(tap, &args));
        assert_eq!(told, [(Direction::Run, "--settings --model".to_owned())]);
    }

    #[test]
    fn an_end_is_an_exit_code_or_a_signal_or_none_of_a_process() {
        let closed = |code, signal| Closed {
            code,
            signal,
            ..Closed::default()
        };
        let told = |end: Closed| heard(|tap| tell_end(tap, &end));
        assert_eq!(
            told(closed(Some(1), None)),
            [(Direction::End, "1".to_owned())]
        );
        assert_eq!(
            told(closed(None, Some(9))),
            [(Direction::End, "signal".to_owned())]
        );
        assert_eq!(told(closed(None, None)), []);
    }
}
