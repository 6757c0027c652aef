//! `countersign mode`: what a session's agent may do unasked.

use clap::Args;
use countersign_api::bodies::{ModeBody, ModeName};

use crate::Outcome;
use crate::remote::{self, Failure, Long, Reach, moment, names, words};
use crate::run::Mode;

/// What stands behind `mode`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The session: some letters of the end or the beginning of its id
    id: String,
    /// plan, ask, edits, hands-off or rules-only
    #[arg(value_parser = |text: &str| text.parse::<Mode>())]
    mode: Mode,
    /// How long hands-off holds, such as 30m or 2h; half an hour without it
    #[arg(long = "for", value_name = "TIME")]
    long: Option<Long>,
    #[command(flatten)]
    reach: Reach,
}

/// The name of a mode in the API.
pub(super) fn name(mode: Mode) -> ModeName {
    match mode {
        Mode::Plan => ModeName::Plan,
        Mode::Ask => ModeName::Ask,
        Mode::Edits => ModeName::Edits,
        Mode::HandsOff(_) => ModeName::HandsOff,
        Mode::RulesOnly => ModeName::RulesOnly,
    }
}

pub(crate) fn run(arguments: Arguments) -> anyhow::Result<Outcome> {
    let Arguments {
        id,
        mode,
        long,
        reach,
    } = arguments;
    remote::with(reach, |remote| async move {
        let until = match (mode, long) {
            (Mode::HandsOff(usual), long) => {
                let long = long.unwrap_or(Long(usual));
                Some(moment(words::now(), long))
            }
            (_, None) => None,
            (_, Some(_)) => {
                return Err(Failure::Misused(
                    "only hands-off has an end: leave out --for".into(),
                ));
            }
        };
        let session = names::session(&remote.client, &id).await?;
        let body = ModeBody {
            mode: name(mode),
            until,
        };
        let receipt = remote.client.set_mode(session.id, &body).await?;
        let mode = body
            .mode()
            .map_err(|error| Failure::Other(error.to_string()))?;
        let mode = words::mode(mode, words::now());
        remote.receipt(&receipt, format!("{}: {mode}", names::short(session.id)))
    })
}
