//! `countersign rewind`: files go back to how they were before a message.

use clap::Args;
use countersign_api::bodies::RewindBody;
use countersign_api::control::{Did, MessageId, SessionId};
use countersign_transcript::{Body, Entry};
use serde_json::Value;

use crate::Outcome;
use crate::remote::{self, Failure, Reach, Remote, decide, names, words};
use crate::show::text;
use crate::term::style::{Line, Tone};

/// Maximum number of pages of the transcript that are looked through for messages.
const MOST_PAGES: usize = 20;

/// Number of entries of one page.
const PAGE: usize = 200;

/// What stands behind `rewind`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The session: some letters of the end or the beginning of its id
    id: String,
    /// The message, by the id this command lists, or by its entry or uuid as `logs --json` shows it; without it, the messages
    /// are listed
    message: Option<String>,
    /// Only say what would change
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
    #[command(flatten)]
    reach: Reach,
}

pub(crate) fn run(arguments: Arguments) -> anyhow::Result<Outcome> {
    let Arguments {
        id,
        message,
        dry_run,
        yes,
        reach,
    } = arguments;
    remote::with(reach, |remote| async move {
        let session = names::session(&remote.client, &id).await?.id;
        let sent = messages(&remote, session).await?;
        let Some(name) = message else {
            let lines: Vec<Line> = match sent.is_empty() {
                true => vec![Line::plain("No message was sent to its agent.")],
                false => sent.iter().map(Sent::line).collect(),
            };
            let values: Vec<Value> = sent.iter().map(Sent::value).collect();
            remote.tell(&values, &lines)?;
            return Ok(Outcome::Fine);
        };
        let one = meant(sent, &name)?;
        if !dry_run && !yes {
            let would = remote.client.rewind(session, &one.body(true)).await?;
            remote.paper.print(&changes(&would.did, true)?)?;
            decide::confirm(&remote, "Put the files back?", false)?;
        }
        let receipt = remote.client.rewind(session, &one.body(dry_run)).await?;
        let lines = changes(&receipt.did, dry_run)?;
        remote.tell(&receipt, &lines)?;
        Ok(Outcome::Fine)
    })
}

/// A message that was sent to the agent.
#[derive(Debug)]
struct Sent {
    entry: String,
    message: MessageId,
    at: u64,
    text: String,
}

impl Sent {
    fn of(entry: &Entry) -> Option<Self> {
        let Body::Prompt(prompt) = &entry.body else {
            return None;
        };
        Some(Self {
            entry: entry.id.to_string(),
            message: MessageId::of_uuid(prompt.uuid.as_deref()?)?,
            at: entry.at,
            text: prompt.text.text.clone(),
        })
    }

    fn line(&self) -> Line {
        Line::of(names::short(self.message), Tone::Accent)
            .add(format!("  {}  ", words::when(self.at)), Tone::Dim)
            .add(text::one_row(&self.text, 200), Tone::Plain)
    }

    fn value(&self) -> Value {
        serde_json::json!({"message": self.message, "uuid": self.message.uuid(), "entry": self.entry, "at": self.at,
            "text": self.text})
    }

    fn body(&self, dry_run: bool) -> RewindBody {
        RewindBody {
            message: self.message,
            dry_run,
        }
    }
}

/// The messages of a session, oldest first.
async fn messages(remote: &Remote, session: SessionId) -> Result<Vec<Sent>, Failure> {
    let mut found = Vec::new();
    let mut before = None;
    for _ in 0..MOST_PAGES {
        let page = remote
            .client
            .transcript(session, before.as_ref(), PAGE)
            .await?;
        let Some(first) = page.items.first() else {
            break;
        };
        before = Some(first.id);
        found.splice(0..0, page.items.iter().filter_map(Sent::of));
        if page.items.len() < PAGE {
            break;
        }
    }
    Ok(found)
}

/// The message that a person means.
fn meant(sent: Vec<Sent>, name: &str) -> Result<Sent, Failure> {
    let uuid = MessageId::of_uuid(name);
    let fits = |one: &Sent| {
        Some(one.message) == uuid
            || one.entry == name
            || names::fits(&one.message.to_string(), name)
    };
    let fitting = sent.into_iter().filter(fits).collect();
    let told = |one: &Sent| (one.message.to_string(), one.text.clone());
    names::only("message", "countersign rewind ID", name, fitting, told)
}

/// What the agent said it changed, or would.
fn changes(did: &Did, is_dry: bool) -> Result<Vec<Line>, Failure> {
    let Did::Value { value } = did else {
        return Err(Failure::Other(
            "the agent did not say what changes".to_owned(),
        ));
    };
    if value["canRewind"] != true {
        let why = value["error"]
            .as_str()
            .unwrap_or("its agent keeps no copies of files");
        return Err(Failure::Other(format!(
            "nothing was put back: {}",
            text::one_row(why, 300)
        )));
    }
    let files = value["filesChanged"].as_array().into_iter().flatten();
    let files: Vec<&str> = files.filter_map(Value::as_str).collect();
    let head = match (files.len(), is_dry) {
        (0, _) => "No file has changed since.".to_owned(),
        (count, true) => format!("Files that would go back: {count}"),
        (count, false) => format!("Files that went back: {count}"),
    };
    let mut lines = vec![Line::plain(head)];
    lines.extend(
        files
            .iter()
            .map(|file| Line::of(text::one_row(file, 300), Tone::Code).after("  ", Tone::Plain)),
    );
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(number: u128) -> Sent {
        Sent {
            entry: format!("1-{number}"),
            message: MessageId::new(1_000_000, number),
            at: 1,
            text: "do it".to_owned(),
        }
    }

    #[test]
    fn a_message_is_named_by_each_id_that_is_shown_of_it() {
        for name in [
            names::short(sent(77).message),
            sent(77).message.to_string(),
            sent(77).message.uuid(),
            "1-77".to_owned(),
        ] {
            let one = meant(vec![sent(6), sent(77)], &name).unwrap();
            assert_eq!(one.entry, "1-77", "{name}");
        }
        assert!(meant(vec![sent(6)], "zzz").is_err());
    }

    #[test]
    fn a_rewind_that_cannot_be_is_a_failure() {
        let value = serde_json::json!({"canRewind": false, "error": "No checkpoint"});
        let failure = changes(&Did::Value { value }, true).unwrap_err();
        assert!(
            failure.text().contains("No checkpoint"),
            "{}",
            failure.text()
        );
        let value = serde_json::json!({"canRewind": true, "filesChanged": ["/a"]});
        let lines = changes(&Did::Value { value }, true).unwrap();
        assert_eq!(lines.len(), 2);
    }
}
