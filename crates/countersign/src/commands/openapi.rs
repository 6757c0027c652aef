//! `countersign openapi`: the document of the HTTP API.

use std::io::Write as _;

use crate::Outcome;

/// Prints it; no server is needed for it.
pub(crate) fn run() -> anyhow::Result<Outcome> {
    let document = countersign_server::document();
    let text = serde_json::to_string_pretty(&document)?;
    writeln!(std::io::stdout(), "{text}")?;
    Ok(Outcome::Fine)
}
