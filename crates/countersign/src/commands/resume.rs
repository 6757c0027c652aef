//! `countersign resume`: an agent takes a conversation up again.

use clap::Args;
use countersign_api::bodies::{MessageBody, PatchSession, ResumeBody};
use countersign_api::control::session::Pause;
use countersign_api::control::{SessionView, State};

use crate::Outcome;
use crate::remote::{self, Failure, Reach, ask, names, words};

/// What stands behind `resume`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The session: some letters of the end or the beginning of its id
    id: String,
    /// What the agent is told, or `-` for stdin
    text: Option<String>,
    /// Raise what it may cost first, in US dollars in all
    #[arg(long, value_name = "USD", value_parser = remote::budget, allow_negative_numbers = true)]
    budget: Option<f64>,
    #[command(flatten)]
    reach: Reach,
}

pub(crate) fn run(arguments: Arguments) -> anyhow::Result<Outcome> {
    let Arguments {
        id,
        text,
        budget,
        reach,
    } = arguments;
    remote::with(reach, |remote| async move {
        let text = text.map(ask::text).transpose()?;
        let view = names::session(&remote.client, &id).await?;
        may_go_on(&view, budget)?;
        let session = view.id;
        if budget.is_some() {
            let patch = PatchSession {
                budget_usd: budget,
                ..PatchSession::default()
            };
            remote.client.change(session, &patch).await?;
        }
        let message = text.map(|text| MessageBody {
            text,
            ..MessageBody::default()
        });
        let receipt = remote
            .client
            .resume(session, &ResumeBody { message })
            .await?;
        let raised = budget.map(|most| format!(", up to {}", words::dollars(most)));
        let words = format!(
            "{}: resumed{}",
            names::short(session),
            raised.unwrap_or_default()
        );
        remote.receipt(&receipt, words)
    })
}

/// Over its budget it would stay paused, whatever it is told.
fn may_go_on(view: &SessionView, budget: Option<f64>) -> Result<(), Failure> {
    let State::Paused {
        why: Pause::Budget { spent, budget: had },
    } = &view.state
    else {
        return Ok(());
    };
    if budget.is_some_and(|budget| budget > *spent) {
        return Ok(());
    }
    Err(Failure::NotNow(format!(
        "it has cost {} of {}: raise what it may cost with --budget USD, to more than {0}",
        words::dollars(*spent),
        words::dollars(budget.unwrap_or(*had)),
    )))
}
