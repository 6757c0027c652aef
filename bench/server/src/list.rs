//! Lists: `GET /api/v1/sessions` of a server with many sessions.
//!
//! Owns the measurement, with and without the tag of an answer that the client has already, beside a connection that answers
//! as many bytes. Invariants: every session had an agent and a turn; sides take turns within a round.

use anyhow::ensure;
use futures_util::future::try_join_all;

use crate::clients::Asked;
use crate::course::Size;
use crate::floor;
use crate::helper::Helper;
use crate::raw::Raw;
use crate::stage::Stage;
use crate::usage;

/// So many agents come up together.
const TOGETHER: usize = 20;

/// The page that a client gets that asks for nothing else, and the largest one.
const PAGES: [(&str, &str); 2] = [
    ("the usual page", "/api/v1/sessions"),
    ("the largest page", "/api/v1/sessions?most=500"),
];

/// Connections at once.
const CLIENTS: [usize; 2] = [1, 4];

pub(crate) async fn measure(stage: &Stage, size: &Size) -> anyhow::Result<()> {
    fill(stage, size.sessions).await?;
    for round in 1..=size.rounds {
        eprintln!("list: round {round} of {}", size.rounds);
        for (page, path) in PAGES {
            let mut bytes = 0;
            for clients in CLIENTS {
                for tagged in [false, true] {
                    let asked = ask(stage, size, page, path, clients, tagged)?;
                    if !tagged {
                        bytes = asked;
                    }
                }
            }
            let asked = floor::answers(size.requests, bytes)?;
            tell(
                &format!("{page}, as many bytes over loopback"),
                1,
                size,
                &asked,
                None,
            )?;
        }
    }
    Ok(())
}

/// Sessions that each had an agent, which has ended.
async fn fill(stage: &Stage, sessions: usize) -> anyhow::Result<()> {
    let mut left = sessions;
    while left > 0 {
        let some = (0..left.min(TOGETHER)).map(|_| async {
            let session = stage.start().await?;
            stage.stop(session).await
        });
        left -= try_join_all(some).await?.len();
        if left.is_multiple_of(100) {
            eprintln!("list: {left} sessions to go");
        }
    }
    Ok(())
}

/// One side. How many bytes an answer has.
fn ask(
    stage: &Stage,
    size: &Size,
    page: &str,
    path: &str,
    clients: usize,
    tagged: bool,
) -> anyhow::Result<usize> {
    let mut args = stage.door();
    let word = if tagged { "tagged" } else { "whole" };
    args.extend([
        path.to_owned(),
        size.requests.to_string(),
        clients.to_string(),
        word.to_owned(),
    ]);
    let mut asker = Helper::start("asker", &args)?;
    let own = std::process::id();
    let before = usage::done(own)?;
    asker.go()?;
    let asked: Asked = asker.found()?;
    let server = usage::done(own)? - before;
    asker.end()?;
    ensure!(asked.samples.len() == size.requests, "answers are missing");
    let case = match tagged {
        true => format!("{page}, the client has it"),
        false => page.to_owned(),
    };
    tell(&case, clients, size, &asked, Some(server))?;
    Ok(asked.bytes)
}

fn tell(
    case: &str,
    clients: usize,
    size: &Size,
    asked: &Asked,
    server: Option<usage::Done>,
) -> anyhow::Result<()> {
    let raw = Raw::new("list", case)
        .with("sessions", size.sessions as f64)
        .with("clients", clients as f64)
        .with("requests", asked.samples.len() as f64)
        .with("seconds", asked.nanos as f64 / 1e9)
        .with("bytes", asked.bytes as f64)
        .took(&asked.samples);
    match server {
        Some(server) => raw.did("server", server).tell(),
        None => raw.tell(),
    }
}
