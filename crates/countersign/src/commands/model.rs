//! `countersign model`: which model a session's agent speaks to.

use clap::Args;
use countersign_api::bodies::ModelBody;

use crate::Outcome;
use crate::remote::{self, Reach, names};

/// What stands behind `model`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The session: some letters of the end or the beginning of its id
    id: String,
    /// The model; `default` for the CLI's own choice
    model: String,
    #[command(flatten)]
    reach: Reach,
}

pub(crate) fn run(arguments: Arguments) -> anyhow::Result<Outcome> {
    let Arguments { id, model, reach } = arguments;
    remote::with(reach, |remote| async move {
        let session = names::session(&remote.client, &id).await?.id;
        let words = format!("{}: {model}", names::short(session));
        let model = Some(model).filter(|model| model != "default");
        let receipt = remote
            .client
            .set_model(session, &ModelBody { model })
            .await?;
        remote.receipt(&receipt, words)
    })
}
