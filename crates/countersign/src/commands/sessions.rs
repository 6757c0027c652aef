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
    /// Only those in this state, such as `running`, `asleep` or `needs_you`; can be given more than once
    #[arg(long, value_name = "STATE", value_parser = state)]
    state: Vec<Wanted>,
    #[command(flatten)]
    reach: Reach,
}

/// A state that is looked for: its name in the API, and how it is printed where that tells more.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Wanted {
    name: String,
    printed: Option<String>,
}

impl Wanted {
    fn fits(&self, state: &State) -> bool {
        let is_printed = |printed: &String| words::state(state).0 == *printed;
        state.name() == self.name && self.printed.as_ref().is_none_or(is_printed)
    }
}

/// A name of the API, or a word of the list.
fn state(text: &str) -> Result<Wanted, String> {
    // `needs you (2)`: how many do not matter.
    let said = text.split(" (").next().unwrap_or_default().to_lowercase();
    let name = said.replace(['-', ' '], "_");
    let wanted = |name: &str, printed| Wanted {
        name: name.to_owned(),
        printed,
    };
    match said.as_str() {
        _ if State::NAMES.contains(&name.as_str()) => Ok(wanted(&name, None)),
        "asleep" => Ok(wanted("idle", Some(said))),
        _ if words::PAUSES
            .iter()
            .any(|why| said == format!("paused: {why}")) =>
        {
            Ok(wanted("paused", Some(said)))
        }
        _ => Err(format!("choose one of {}, asleep", State::NAMES.join(", "))),
    }
}

pub(crate) fn run(arguments: Arguments) -> anyhow::Result<Outcome> {
    let wanted = arguments.state;
    let filter = SessionFilter {
        states: wanted.iter().map(|wanted| wanted.name.clone()).collect(),
        archived: arguments.all,
        trashed: arguments.trash,
        most: 1000,
        after: None,
    };
    remote::with(arguments.reach, |remote| async move {
        let mut sessions = remote.client.all_sessions(filter).await?;
        sessions.retain(|view| {
            wanted.is_empty() || wanted.iter().any(|wanted| wanted.fits(&view.state))
        });
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
    use countersign_api::control::session::Pause;

    use super::*;

    #[test]
    fn a_state_is_taken_as_it_is_spoken() {
        let name = |text| state(text).map(|wanted| wanted.name);
        assert_eq!(name("needs-you"), Ok("needs_you".to_owned()));
        assert!(name("busy").unwrap_err().contains("running"));
        assert!(name("paused: rain").is_err());
    }

    #[test]
    fn every_word_of_the_list_finds_what_it_stands_for() {
        let idle = |asleep| State::Idle {
            asleep,
            background: 0,
        };
        let budget = Pause::Budget {
            spent: 1.0,
            budget: 1.0,
        };
        let all = [
            State::Queued,
            State::NeedsYou { open: 2 },
            idle(true),
            State::Paused { why: Pause::Disk },
            State::Paused { why: budget },
            State::Unreachable,
        ];
        for one in &all {
            let wanted = state(&words::state(one).0).unwrap();
            let found: Vec<_> = all.iter().filter(|state| wanted.fits(state)).collect();
            assert_eq!(found, [one], "{wanted:?}");
        }
        // The API's name is for those that sleep, too.
        let idles = state("idle").unwrap();
        assert!(idles.fits(&idle(true)) && idles.fits(&idle(false)));
    }

    #[test]
    fn without_sessions_it_says_how_to_begin_one() {
        assert!(table(&[], 0, 80)[0].text().contains("countersign start"));
    }
}
