//! `countersign-bench-host`: the client as one host among those of the peer benchmark.
//!
//! Owns one turn against the CLI whose path is the last argument: every call is allowed by an async closure, one
//! `PreToolUse` hook is registered, every event is counted. The count is the first line of stdout, written the moment
//! the result is there. Only the public interface of the client is used, with its defaults.
//!
//! It runs on the current-thread runtime, as a host of one agent would: reader, callbacks and the loop below take turns
//! on one thread, so that nothing is ever woken across cores. `--threads` runs the same on the multi-thread runtime, to
//! show what that costs. `--typed` decodes every event into its typed form; without it kind and ids are read and bodies
//! are left as they are.

use std::hint::black_box;
use std::io::Write as _;
use std::path::PathBuf;

use anyhow::{Context as _, bail};
use countersign_client::options::Cli;
use countersign_client::wire::hooks::HookOutput;
use countersign_client::{Claude, Decision, Event, Events, Frame, Handle, Hook, Kind};

/// How each event is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Look {
    /// Kind and ids.
    Routed,
    /// The typed message.
    Typed,
}

#[derive(Debug)]
struct Args {
    cli: PathBuf,
    look: Look,
    is_threaded: bool,
}

fn main() -> anyhow::Result<()> {
    let args = read_args(std::env::args_os().skip(1).collect())?;
    let runtime = match args.is_threaded {
        true => tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build(),
        false => tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build(),
    };
    let runtime = runtime.context("cannot start the runtime")?;
    // As its own task where there are threads: `block_on` stays on the thread it was called from.
    let is_threaded = args.is_threaded;
    let run = run(args);
    match is_threaded {
        true => runtime.block_on(runtime.spawn(run))?,
        false => runtime.block_on(run),
    }
}

fn read_args(mut args: Vec<std::ffi::OsString>) -> anyhow::Result<Args> {
    let Some(cli) = args.pop() else {
        bail!("usage: countersign-bench-host [--typed] [--threads] <path of the CLI>");
    };
    let mut read = Args {
        cli: cli.into(),
        look: Look::Routed,
        is_threaded: false,
    };
    for arg in args {
        match arg.to_str() {
            Some("--typed") => read.look = Look::Typed,
            Some("--threads") => read.is_threaded = true,
            _ => bail!("unknown argument {}", arg.display()),
        }
    }
    Ok(read)
}

async fn run(args: Args) -> anyhow::Result<()> {
    let claude = Claude::new()
        .cli(Cli::Path(args.cli))
        .include_partial_messages(true)
        .permissions(|_request| async { Decision::allow() })
        .hook(Hook::on("PreToolUse", |_input, _context| async {
            Ok(HookOutput::default())
        }));
    match std::env::var("PEERBENCH_MODE").as_deref() {
        Ok("idle") => idle(claude, args.look).await,
        _ => one_turn(claude, args.look).await,
    }
}

async fn one_turn(claude: Claude, look: Look) -> anyhow::Result<()> {
    let (handle, mut events) = claude.connect().await?.split();
    let count = turn(&handle, &mut events, look).await?;
    print_line(&count.to_string())?;
    handle.close().await;
    Ok(())
}

/// One turn; how many events it had, the result included.
async fn turn(handle: &Handle, events: &mut Events, look: Look) -> anyhow::Result<u64> {
    let turn = handle.send("go").await?;
    let mut count = 0;
    while let Some(event) = events.next().await {
        match event {
            Event::Message(frame) => {
                count += 1;
                touch(&frame, look)?;
                if frame.kind() == Kind::Result {
                    turn.await?;
                    return Ok(count);
                }
            }
            Event::Closed(closed) => bail!("the CLI ended without a result: {closed}"),
            other => bail!("an event was lost: {other:?}"),
        }
    }
    bail!("the events ended without a result")
}

/// What a host does with an event.
fn touch(frame: &Frame, look: Look) -> anyhow::Result<()> {
    match look {
        Look::Routed => {
            black_box(frame.kind());
            black_box(frame.uuid());
            black_box(frame.session_id());
            black_box(frame.parent_tool_use_id());
        }
        Look::Typed => drop(black_box(
            frame.message().context("an event does not decode")?,
        )),
    }
    Ok(())
}

/// Opens the sessions, runs one turn on each, and keeps them until stdin closes.
async fn idle(claude: Claude, look: Look) -> anyhow::Result<()> {
    let wanted = std::env::var("PEERBENCH_SESSIONS").unwrap_or_else(|_| "1".to_owned());
    let wanted: usize = wanted.parse().context("PEERBENCH_SESSIONS is no number")?;
    let mut sessions = Vec::with_capacity(wanted);
    for _ in 0..wanted {
        let (handle, mut events) = claude.clone().connect().await?.split();
        turn(&handle, &mut events, look).await?;
        sessions.push((handle, events));
    }
    print_line(&format!("idle {}", sessions.len()))?;
    until_stdin_closes().await?;
    close_all(sessions).await
}

/// Waits without a thread of its own: a thread that sits in `read` would be measured too.
#[cfg(unix)]
async fn until_stdin_closes() -> anyhow::Result<()> {
    use std::os::fd::AsFd as _;
    let stdin = std::io::stdin().as_fd().try_clone_to_owned()?;
    let stdin = tokio::net::unix::pipe::Receiver::from_owned_fd(stdin)?;
    let mut byte = [0];
    loop {
        stdin.readable().await?;
        match stdin.try_read(&mut byte) {
            Ok(0) => return Ok(()),
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(not(unix))]
async fn until_stdin_closes() -> anyhow::Result<()> {
    let read = || std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
    tokio::task::spawn_blocking(read).await??;
    Ok(())
}

async fn close_all(sessions: Vec<(Handle, Events)>) -> anyhow::Result<()> {
    let closing: Vec<_> = sessions
        .into_iter()
        .map(|(handle, _events)| tokio::spawn(async move { handle.close().await }))
        .collect();
    for closing in closing {
        closing.await?;
    }
    Ok(())
}

fn print_line(line: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout();
    writeln!(out, "{line}")?;
    out.flush().context("cannot write the count")
}
