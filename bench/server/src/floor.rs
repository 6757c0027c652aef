//! What the same machine does with the least: a pipe whose lines are found, a loopback connection, a disk that is synced.
//!
//! Owns the sides that everything else is held against. None of them keeps, checks or knows anything.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, ensure};

use crate::agent;
use crate::clients::{Asked, Heard};
use crate::helper::{Helper, may_begin, ready, tell};
use crate::line::{LENGTH, written_at};
use crate::samples::Samples;
use crate::usage;

/// What is synced at once.
const BLOCK: usize = 4 << 10;

/// How large the request of a list is, more or less.
const REQUEST: usize = 200;

/// Writes lines to stdout: with a pause before each, or as fast as they are taken.
pub(crate) fn writer(lines: u64, pause: Duration) -> anyhow::Result<()> {
    let session = "00000000-0000-4000-8000-000000000000";
    let mut out = std::io::stdout().lock();
    match pause.is_zero() {
        true => agent::flood(&mut out, session, lines)?,
        false => agent::paced(&mut out, session, lines, pause)?,
    }
    Ok(out.flush()?)
}

/// A child that is gone when this is.
struct Ending(Child);

impl Drop for Ending {
    fn drop(&mut self) {
        // It has ended, unless something went wrong.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A pipe and `memchr`: nothing else between the agent and whoever reads.
pub(crate) fn pipe(lines: u64, pause: Duration) -> anyhow::Result<Heard> {
    let own = std::env::current_exe().context("where this program is")?;
    let child = Command::new(own)
        .args(["writer", &lines.to_string(), &pause.as_micros().to_string()])
        .env_clear()
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .context("no writer")?;
    let mut child = Ending(child);
    let mut out = child.0.stdout.take().context("no pipe")?;
    let mut samples = Samples::default();
    let (mut first, mut last, mut pieces, mut came) = (u64::MAX, 0, 0, 0);
    let mut buffer = vec![0; 64 << 10];
    let mut kept = 0;
    loop {
        let read = out.read(&mut buffer[kept..])?;
        if read == 0 {
            break;
        }
        let end = kept + read;
        last = usage::now();
        pieces += 1;
        came += memchr::memchr_iter(b'\n', &buffer[kept..end]).count();
        // Of the last line only a part may be here.
        let whole = end - end % LENGTH;
        if !pause.is_zero() || first == u64::MAX {
            for written in written_at(&buffer[..whole]) {
                first = first.min(written);
                samples.push(last.saturating_sub(written));
            }
        }
        buffer.copy_within(whole..end, 0);
        kept = end - whole;
    }
    ensure!(came as u64 == lines, "{came} lines of {lines}");
    Ok(Heard {
        samples,
        nanos: last.saturating_sub(first),
        pieces,
    })
}

/// Sends back what it gets, or so many bytes for whatever it gets, until it is told to end.
pub(crate) fn echo(reply: usize) -> anyhow::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    ready()?;
    tell(&listener.local_addr()?.to_string())?;
    std::thread::spawn(move || {
        for socket in listener.incoming().map_while(Result::ok) {
            std::thread::spawn(move || answer(socket, reply));
        }
    });
    may_begin().map(drop)
}

fn answer(mut socket: TcpStream, reply: usize) -> std::io::Result<()> {
    socket.set_nodelay(true)?;
    let (mut buffer, reply) = (vec![0; 64 << 10], vec![b'x'; reply]);
    loop {
        match socket.read(&mut buffer)? {
            0 => return Ok(()),
            read if reply.is_empty() => socket.write_all(&buffer[..read])?,
            _ => socket.write_all(&reply)?,
        }
    }
}

/// There and back over loopback, so many times, a line each.
pub(crate) fn loopback(times: usize, pause: Duration) -> anyhow::Result<Samples> {
    let mut helper = Helper::start("echo", &["0".to_owned()])?;
    let address: String = helper.found()?;
    let mut socket = TcpStream::connect(address)?;
    socket.set_nodelay(true)?;
    let (line, mut back) = (vec![b'x'; LENGTH], vec![0; LENGTH]);
    let mut samples = Samples::default();
    for _ in 0..times {
        std::thread::sleep(pause);
        let began = usage::now();
        socket.write_all(&line)?;
        socket.read_exact(&mut back)?;
        samples.push(usage::now() - began);
    }
    drop(socket);
    helper.end()?;
    Ok(samples)
}

/// Answers of so many bytes over loopback, one request after the other.
pub(crate) fn answers(times: usize, bytes: usize) -> anyhow::Result<Asked> {
    let mut helper = Helper::start("echo", &[bytes.to_string()])?;
    let address: String = helper.found()?;
    let mut socket = TcpStream::connect(address)?;
    socket.set_nodelay(true)?;
    let (request, mut back) = (vec![b'x'; REQUEST], vec![0; bytes]);
    let mut samples = Samples::default();
    let start = usage::now();
    for _ in 0..times {
        let began = usage::now();
        socket.write_all(&request)?;
        socket.read_exact(&mut back)?;
        samples.push(usage::now() - began);
    }
    let nanos = usage::now() - start;
    drop(socket);
    helper.end()?;
    Ok(Asked {
        samples,
        nanos,
        bytes,
    })
}

/// A block behind the others of a file, on the disk. So many times, with a pause before each.
pub(crate) fn sync(folder: &Path, times: usize, pause: Duration) -> anyhow::Result<Samples> {
    let mut file = tempfile::tempfile_in(folder).context("no file to sync")?;
    let block = vec![b'x'; BLOCK];
    let mut samples = Samples::default();
    for _ in 0..times {
        std::thread::sleep(pause);
        let began = usage::now();
        file.write_all(&block)?;
        file.sync_data()?;
        samples.push(usage::now() - began);
    }
    Ok(samples)
}
