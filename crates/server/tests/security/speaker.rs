//! Another process that speaks to a server: an agent's child, or another user's program.
//!
//! Owns how this very program is started again, speaks the bytes it is given, and hands back what it heard.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};

use super::talk::{Answer, DEADLINE, Request};

/// Where the other process is to speak to: an address, or the path of a socket.
const TO: &str = "COUNTERSIGN_SPEAK_TO";

/// Stand before and after what was heard; the harness of tests says something, too.
const HEARD: &str = "---heard---\n";
const END: &str = "---end---\n";

/// Stands for what the other process is: it speaks if it was told to, and is no test otherwise.
#[test]
fn the_other_process_speaks_if_it_is_told_to() {
    let Ok(to) = std::env::var(TO) else {
        return;
    };
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
