//! `countersign sessions`: what runs, what waits, what sleeps.

use clap::Args;
use countersign_api::control::{SessionFilter, SessionView, State};

use crate::Outcome;
use crate::remote::rows::Rows;
use crate::remote::{self, Failure, Reach, names, words};
use crate::show::text;
use crate::term::style::{Line, Tone};

/// What stands behind `sessions`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Those out of sight, too
    #[arg(short, long)]
    all: bool,
    /// Those in the trash instead
    #[arg(long)]
    trash: bool,
    /// Only those in this state, such as `running` or `needs_you`; can be given more than once
    #[arg(long, value_name = "STATE", value_parser = state)]
    state: Vec<String>,
    #[command(flatten)]
    reach: Reach,
}

fn state(text: &str) -> Result<String, String> {
    let name = text.replace('-', "_");
    match State::NAMES.contains(&name.as_str()) {
        true => Ok(name),
        false => Err(format!("choose one of {}", State::NAMES.join(", "))),
    }
}

pub(crate) fn run(arguments: Arguments) -> anyhow::Result<Outcome> {
    let filter = SessionFilter {
        states: arguments.state,
        archived: arguments.all,
        trashed: arguments.trash,
        most: 1000,
        after: None,
    };
    remote::with(arguments.reach, |remote| async move {
        let sessions = remote.client.all_sessions(filter).await?;
        let lines = table(&sessions, words::now(), remote.paper.width);
        remote.tell(&sessions, &lines)?;
        Ok::<_, Failure>(Outcome::Fine)
    })
}

fn table(sessions: &[SessionView], now: u64, width: usize) -> Vec<Line> {
    if sessions.is_empty() {
        let words = "No session. `countersign start PROMPT` begins one.";
        return vec![Line::of(words, Tone::Dim)];
    }
    let mut rows = Rows::of(&["id", "state", "mode", "active", "cost", "name"]);
    for view in sessions {
        let (state, tone) = words::state(&view.state);
        let mut name = text::one_row(&view.name, 200);
        if view.queued > 0 {
            name.push_str(&format!("  ({} queued)", view.queued));
        }
        rows.add(vec![
            (names::short(view.id), Tone::Accent),
            (state, tone),
            (words::mode(view.mode, now), Tone::Plain),
            (words::age(view.last_activity, now), Tone::Dim),
            (words::dollars(view.cost_usd), Tone::Plain),
            (name, Tone::Plain),
        ]);
    }
    rows.lines(width)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_taken_as_it_is_spoken() {
        assert_eq!(state("needs-you"), Ok("needs_you".to_owned()));
        assert!(state("busy").unwrap_err().contains("running"));
    }

    #[test]
    fn without_sessions_it_says_how_to_begin_one() {
        assert!(table(&[], 0, 80)[0].text().contains("countersign start"));
    }
}
