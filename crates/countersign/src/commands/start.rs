//! `countersign start`: a session of the daemon begins.

use std::path::PathBuf;

use clap::Args;
use countersign_api::bodies::StartBody;
use countersign_api::control::session::NewWorktree;
use countersign_api::control::{Did, SessionId};

use crate::Outcome;
use crate::remote::{self, Failure, Long, Reach, ask, moment, names, words};
use crate::run::Mode;

/// What stands behind `start`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// What the agent is to do, or `-` for stdin; without it, the session waits for `countersign send`
    prompt: Option<String>,
    /// Work in this folder
    #[arg(short = 'C', value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Its name; made from the prompt without one
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// The model
    #[arg(long, value_name = "M")]
    model: Option<String>,
    /// plan, ask, edits, hands-off, hands-off=30m or rules-only
    #[arg(long, default_value = "ask", value_parser = |text: &str| text.parse::<Mode>(), value_name = "MODE")]
    mode: Mode,
    /// In a worktree of its own, on a branch of its own from this commit
    #[arg(long, value_name = "BASE", num_args = 0..=1, require_equals = true, default_missing_value = "HEAD")]
    worktree: Option<String>,
    /// Ask a person once it has cost so many US dollars: looked at when a turn ends; the CLI stops itself at twice the amount
    #[arg(long, value_name = "USD", value_parser = remote::budget, allow_negative_numbers = true)]
    budget: Option<f64>,
    #[command(flatten)]
    extras: Extras,
    /// A folder that counts as the working folder, too
    #[arg(long, value_name = "DIR")]
    add_dir: Vec<PathBuf>,
    #[command(flatten)]
    reach: Reach,
}

/// How hard the model works. Checked by the server, which knows the version of the CLI.
#[derive(Debug, Args)]
struct Extras {
    /// How much work the model puts into an answer: low, medium, high, xhigh or max
    #[arg(long, value_name = "LEVEL")]
    effort: Option<String>,
    /// Think with at most this many tokens; 0 turns thinking off
    #[arg(long, value_name = "N")]
    thinking_tokens: Option<u32>,
    /// End a turn after this many round trips to the model
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_turns: Option<u32>,
}

pub(crate) fn run(arguments: Arguments) -> anyhow::Result<Outcome> {
    let (reach, body) = body(arguments)?;
    remote::with(reach, |remote| async move {
        let body = StartBody {
            // Chosen here, so that ids sort by time.
            id: Some(SessionId::fresh()),
            prompt: body.prompt.map(ask::text).transpose()?,
            ..body
        };
        let receipt = remote.client.start(&body).await?;
        let Did::Session { session } = receipt.did else {
            return Err(Failure::Other(
                "the server started something else".to_owned(),
            ));
        };
        let short = names::short(session);
        let words = format!("Started {short}. Follow it with `countersign logs -f {short}`.");
        remote.receipt(&receipt, words)
    })
}

fn body(arguments: Arguments) -> anyhow::Result<(Reach, StartBody)> {
    let absolute = |path: PathBuf| -> anyhow::Result<String> {
        let path = std::path::absolute(path)?;
        path.into_os_string()
            .into_string()
            .map_err(|path| anyhow::anyhow!("{} is no UTF-8", path.display()))
    };
    let folder = match arguments.dir {
        Some(dir) => dir,
        None => std::env::current_dir()?,
    };
    let worktree = arguments.worktree.map(|base| NewWorktree {
        base: Some(base),
        ..NewWorktree::default()
    });
    let add_dirs: anyhow::Result<Vec<String>> =
        arguments.add_dir.into_iter().map(absolute).collect();
    let body = StartBody {
        prompt: arguments.prompt,
        cwd: absolute(folder)?,
        name: arguments.name,
        model: arguments.model,
        mode: Some(super::mode::name(arguments.mode)),
        until: match arguments.mode {
            Mode::HandsOff(long) => Some(moment(words::now(), Long(long))),
            _ => None,
        },
        budget_usd: arguments.budget,
        effort: arguments.extras.effort,
        max_thinking_tokens: arguments.extras.thinking_tokens,
        max_turns: arguments.extras.max_turns,
        worktree,
        add_dirs: add_dirs?,
        ..StartBody::default()
    };
    Ok((arguments.reach, body))
}
