//! Several agents and one inbox: `inbox DATA CLAUDE PROMPT…` starts an agent for each prompt in the current folder and asks
//! here about whatever no rule decides. Stop it in the middle and start it again without a prompt: nothing is lost.

use std::io::{self, BufRead as _, Write as _};
use std::process::ExitCode;

#[cfg(not(unix))]
fn main() -> ExitCode {
    ExitCode::from(2)
}

#[cfg(unix)]
fn main() -> ExitCode {
    // First thing: the same program keeps its agents.
    if let Some(code) = countersign_keeper::main_if_asked() {
        return code;
    }
    let runtime = tokio::runtime::Runtime::new();
    match runtime.map(|runtime| runtime.block_on(run())) {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(error)) => fail(&*error),
        Err(error) => fail(&error),
    }
}

#[cfg(unix)]
fn fail(error: &dyn std::error::Error) -> ExitCode {
    let _ = writeln!(io::stderr(), "{error}");
    ExitCode::FAILURE
}

#[cfg(unix)]
async fn run() -> Result<(), Box<dyn std::error::Error>> {
    use countersign_host::control::{
        ApprovalFilter, Cmd, Command, Control as _, Decide, Message, NewSession, SessionFilter,
        SessionId,
    };
    use countersign_host::{Host, Settings};

    let mut words = std::env::args().skip(1);
    let (Some(data), Some(claude)) = (words.next(), words.next()) else {
        return Err("inbox DATA CLAUDE PROMPT…".into());
    };
    let mut settings = Settings::new(data, countersign_keeper::KeeperCommand::this_program()?);
    settings.agents.claude = vec![claude];
    let host = Host::open(settings).await?;
    for prompt in words {
        let new = NewSession {
            id: SessionId::fresh(),
            prompt: Some(Message::text(prompt)),
            cwd: std::env::current_dir()?,
            setup: Default::default(),
            worktree: None,
        };
        let start = Command::Start(Box::new(new));
        host.execute(Cmd::of("me", "inbox"), start).await?;
    }
    let mut out = io::stdout();
    loop {
        let open = ApprovalFilter {
            life: Some("open".to_owned()),
            ..ApprovalFilter::default()
        };
        for asked in host.approvals(open).await?.items {
            let name = &asked.session_name;
            write!(out, "{name}: {} {}? [y/n] ", asked.tool, asked.input)?;
            out.flush()?;
            let answer = io::stdin().lock().lines().next().transpose()?;
            let decide = match answer.as_deref() {
                Some("y" | "yes") => Decide::allow(),
                Some(_) => Decide::deny("Not this way."),
                // Whoever goes away leaves the question open.
                None => {
                    host.close().await;
                    return Ok(());
                }
            };
            let decide = Command::Decide {
                approval: asked.id,
                saw: asked.digest,
                decide,
            };
            host.execute(Cmd::of("me", "inbox"), decide).await?;
        }
        let sessions = host.sessions(SessionFilter::default()).await?.items;
        let is_done = |name: &str| matches!(name, "idle" | "stopped" | "failed" | "not_signed_in");
        if sessions.iter().all(|session| is_done(session.state.name())) {
            for session in sessions {
                let (name, state) = (session.name, session.state.name());
                writeln!(out, "{name}: {state}. {}", session.reason)?;
            }
            host.close().await;
            return Ok(());
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
}
