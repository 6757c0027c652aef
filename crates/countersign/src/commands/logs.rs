//! `countersign logs`: what was said and done in a session, and what follows.

use clap::Args;
use countersign_api::client::{Client, Which};
use countersign_api::control::SessionId;
use countersign_transcript::{Changes, Entry};
use serde_json::Value;

use crate::Outcome;
use crate::remote::entries::Reader;
use crate::remote::{self, Done, Failure, Reach, Remote, names, stop};
use crate::show::notice;

/// The largest page of a transcript.
const PAGE: usize = 500;

/// What stands behind `logs`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The session: some letters of the end or the beginning of its id
    id: String,
    /// Go on as it happens
    #[arg(short, long)]
    follow: bool,
    /// The newest so many entries; 0 for all of them
    #[arg(short = 'n', long, default_value_t = 50, value_name = "N")]
    lines: usize,
    /// Show thinking, notices and stderr, too
    #[arg(short, long)]
    verbose: bool,
    /// Print the journal's records as NDJSON instead, secrets masked; of one over 64 KiB its cursor and length alone
    #[arg(long, conflicts_with = "lines")]
    raw: bool,
    #[command(flatten)]
    reach: Reach,
}

pub(crate) fn run(arguments: Arguments) -> anyhow::Result<Outcome> {
    let Arguments {
        id,
        follow,
        lines,
        verbose,
        raw,
        reach,
    } = arguments;
    remote::with(reach, |remote| async move {
        let session = names::session(&remote.client, &id).await?.id;
        match raw {
            true => stop::or_interrupted(records(&remote, session, follow)).await,
            false => {
                let shown = transcript(&remote, session, lines, verbose, follow);
                stop::or_interrupted(shown).await
            }
        }
    })
}

/// The records, until there are no more for now or for good.
async fn records(remote: &Remote, session: SessionId, follow: bool) -> Done {
    let mut events = remote.client.records(session, &Which::default()).await?;
    loop {
        let event = events.next().await?;
        let value: Value = serde_json::from_str(&event.data).unwrap_or_default();
        match event.name.as_str() {
            "record" | "large" => remote.paper.value(&value)?,
            "caught-up" if !follow => return Ok(Outcome::Fine),
            "rewound" | "moved" => told(&event.name),
            _ => {}
        }
    }
}

fn told(name: &str) {
    let words = match name {
        "rewound" => "records that were shown are gone after a loss of power: what follows holds",
        _ => "another machine has the session now",
    };
    // Beside the data, so that what is piped stays data.
    let _ = std::io::Write::write_fmt(&mut std::io::stderr(), format_args!("! {words}\n"));
}

async fn transcript(
    remote: &Remote,
    session: SessionId,
    most: usize,
    verbose: bool,
    follow: bool,
) -> Done {
    let (entries, cursor) = newest(&remote.client, session, most).await?;
    let mut reader = Reader::new(remote.paper.width, verbose);
    match remote.json {
        true => entries
            .iter()
            .try_for_each(|entry| remote.paper.value(entry))?,
        false => remote.paper.print(&reader.take(entries))?,
    }
    if !follow {
        return Ok(Outcome::Fine);
    }
    let mut events = remote
        .client
        .transcript_stream(session, Some(&cursor))
        .await?;
    loop {
        let event = events.next().await?;
        match event.name.as_str() {
            "entries" if remote.json => {
                let value: Value = serde_json::from_str(&event.data).unwrap_or_default();
                remote.paper.value(&value)?;
            }
            "entries" => {
                let changes: Changes = serde_json::from_str(&event.data)
                    .map_err(|error| Failure::Other(format!("an event cannot be read: {error}")))?;
                remote.paper.print(&reader.change(changes))?;
            }
            "rewound" | "moved" if remote.json => told(&event.name),
            "rewound" => remote.paper.print(&[notice::warn(
                "what was shown last is gone after a loss of power; it goes on from before",
            )])?,
            "moved" => {
                remote
                    .paper
                    .print(&[notice::warn("another machine has the session now")])?;
                return Ok(Outcome::Fine);
            }
            _ => {}
        }
    }
}

/// The newest entries, oldest first, and the record up to which they tell.
async fn newest(
    client: &Client,
    session: SessionId,
    most: usize,
) -> Result<(Vec<Entry>, String), Failure> {
    let wanted = if most == 0 { usize::MAX } else { most };
    let first = client.transcript(session, None, wanted.min(PAGE)).await?;
    let cursor = first.cursor;
    let (mut entries, mut more) = (first.items, first.more);
    while more && entries.len() < wanted {
        let Some(oldest) = entries.first().map(|entry| entry.id) else {
            break;
        };
        let most = (wanted - entries.len()).min(PAGE);
        let page = client.transcript(session, Some(&oldest), most).await?;
        more = page.more && !page.items.is_empty();
        let mut older = page.items;
        older.append(&mut entries);
        entries = older;
    }
    Ok((entries, cursor))
}
