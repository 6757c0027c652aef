//! Another process that speaks to a server: an agent's child, or another user's program.
//!
//! Owns how this very program is started again, speaks the bytes it is given, and hands back what it heard.

use std::io::{BufRead as _, BufReader, Lines, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::process::{Child, ChildStdout, Command, Stdio};

use super::talk::{Answer, DEADLINE, Request};

/// Where the other process is to speak to: an address, or the path of a socket.
const TO: &str = "COUNTERSIGN_SPEAK_TO";

/// Has the other process hide its environment and its open files from its own user, as an `ssh-agent` does.
const HIDE: &str = "COUNTERSIGN_SPEAK_HIDDEN";

/// Has the other process do nothing but wait for the end of its stdin.
const WAIT: &str = "wait";

/// Stand before and after what was heard; the harness of tests says something, too.
const HEARD: &str = "---heard---\n";
const END: &str = "---end---\n";

/// Stands for what the other process is: it speaks if it was told to, and is no test otherwise.
#[test]
fn the_other_process_speaks_if_it_is_told_to() {
    let Ok(to) = std::env::var(TO) else {
        return;
    };
    if std::env::var_os(HIDE).is_some() {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        set_dumpable_behavior(DumpableBehavior::NotDumpable).unwrap();
    }
    if to == WAIT {
        print!("{HEARD}");
        std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
        return;
    }
    let mut bytes = Vec::new();
    std::io::stdin().read_to_end(&mut bytes).unwrap();
    let heard = match to.parse::<std::net::SocketAddr>() {
        Ok(address) => speak(std::net::TcpStream::connect(address), &bytes),
        Err(_) => speak(UnixStream::connect(to), &bytes),
    };
    let heard = heard.unwrap_or_else(|error| format!("failed: {:?}", error.kind()).into_bytes());
    let mut out = std::io::stdout().lock();
    out.write_all(HEARD.as_bytes()).unwrap();
    out.write_all(&heard).unwrap();
    out.write_all(END.as_bytes()).unwrap();
    out.flush().unwrap();
}

fn speak<T: std::io::Read + std::io::Write>(
    stream: std::io::Result<T>,
    bytes: &[u8],
) -> std::io::Result<Vec<u8>> {
    let mut stream = stream?;
    stream.write_all(bytes)?;
    let mut heard = Vec::new();
    stream.read_to_end(&mut heard)?;
    Ok(heard)
}

/// This program, so started that it speaks. `program`: where it lies.
pub(crate) fn command(program: &std::path::Path, to: &str) -> Command {
    let mut command = Command::new(program);
    command
        .args([
            "--exact",
            "speaker::the_other_process_speaks_if_it_is_told_to",
            "--nocapture",
        ])
        .env_clear()
        .env(TO, to);
    command
}

/// A shell that starts this program, hidden, and stays its parent. A shell itself hides nothing, so it shows whose it is.
pub(crate) fn hidden_below_a_shell(program: &std::path::Path, to: &str) -> Command {
    let mut shell = Command::new("/bin/sh");
    let script =
        "\"$0\" --exact speaker::the_other_process_speaks_if_it_is_told_to --nocapture; true";
    shell
        .args(["-c", script])
        .arg(program)
        .env_clear()
        .env(TO, to)
        .env(HIDE, "1");
    shell
}

/// A process that hides, lives below a shell, and ends with this.
#[derive(Debug)]
pub(crate) struct Hiding {
    child: Child,
    /// Held, so that what it says at its end is no error.
    _lines: Lines<BufReader<ChildStdout>>,
}

impl Hiding {
    /// Starts it; `dress` makes the shell somebody's.
    pub(crate) fn start(
        program: &std::path::Path,
        dress: impl FnOnce(Command) -> Command,
    ) -> Hiding {
        let mut shell = dress(hidden_below_a_shell(program, WAIT));
        let mut child = shell
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let is_hidden = lines.any(|line| line.unwrap() == HEARD.trim_end());
        assert!(is_hidden, "it ended before it hid");
        Hiding {
            child,
            _lines: lines,
        }
    }
}

impl Drop for Hiding {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// What a process hears that says this. Its text if it is no answer.
pub(crate) async fn hear(mut command: Command, request: Request) -> (Answer, String) {
    let bytes = request.host_if_none("localhost").bytes();
    let hear = tokio::task::spawn_blocking(move || {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(&bytes).unwrap();
        child.wait_with_output().unwrap()
    });
    let output = tokio::time::timeout(DEADLINE, hear)
        .await
        .expect("it hears nothing")
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let heard = between(&text).unwrap_or_else(|| panic!("{output:?}"));
    (Answer::read(heard.as_bytes()), heard.to_owned())
}

/// The answer in what such a process printed.
pub(crate) fn answer_in(text: &str) -> Answer {
    let heard = between(text).unwrap_or_else(|| panic!("it heard nothing: {text}"));
    Answer::read(heard.as_bytes())
}

fn between(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once(HEARD)?;
    rest.split_once(END).map(|(heard, _)| heard)
}
