//! `countersign token`: who may come in, and what they may do.

use std::io::Write as _;

use clap::{Args, Subcommand};
use countersign_api::{NewToken, Scope, TokenView};
use countersign_server::auth::OWNER;

use crate::Outcome;
use crate::remote::rows::Rows;
use crate::remote::{self, Failure, Long, Reach, Remote, decide, moment, words};
use crate::term::style::Tone;

/// What stands behind `token`.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Make a token for a person or a program; it is shown this once
    Create(Create),
    /// List the tokens that are good
    #[command(visible_alias = "ls")]
    List(List),
    /// End a token, and every page that was signed in with it
    Revoke(Revoke),
}

/// What is said to whoever gives no name.
const UNNAMED: &str = "Give the token a name, such as the program or device that uses it.";

#[derive(Debug, Args)]
// The name is needed, but its absence is told in words of our own.
#[command(override_usage = "countersign token create [OPTIONS] <NAME>")]
pub(crate) struct Create {
    /// Its name, which it must have: what decisions are recorded under
    name: Option<String>,
    /// read (look), answer (also decide approvals) or full (everything)
    #[arg(long, default_value = "read", value_parser = |text: &str| text.parse::<Scope>())]
    scope: Scope,
    /// How long it is good, such as 7d; until it is revoked without it
    #[arg(long = "for", value_name = "TIME")]
    long: Option<Long>,
    #[command(flatten)]
    reach: Reach,
}

#[derive(Debug, Args)]
pub(crate) struct List {
    #[command(flatten)]
    reach: Reach,
}

#[derive(Debug, Args)]
pub(crate) struct Revoke {
    /// Its id or its name
    token: String,
    /// Do not ask before the token `owner` ends, which login links are made with
    #[arg(short, long)]
    yes: bool,
    #[command(flatten)]
    reach: Reach,
}

pub(crate) fn run(command: Command) -> anyhow::Result<Outcome> {
    match command {
        Command::Create(arguments) => create(arguments),
        Command::List(arguments) => list(arguments),
        Command::Revoke(arguments) => revoke(arguments),
    }
}

fn create(arguments: Create) -> anyhow::Result<Outcome> {
    let Create {
        name,
        scope,
        long,
        reach,
    } = arguments;
    remote::with(reach, |remote| async move {
        let name = name.as_deref().map(str::trim).unwrap_or_default();
        if name.is_empty() {
            return Err(Failure::Misused(UNNAMED.to_owned()));
        }
        let body = NewToken {
            name: name.to_owned(),
            scope,
            expires: long.map(|long| moment(words::now(), long)),
        };
        let made = remote.client.create_token(&body).await?;
        if remote.json {
            remote.paper.value(&made)?;
            return Ok(Outcome::Fine);
        }
        // The token alone on stdout, so that it can be piped into a file.
        writeln!(std::io::stdout(), "{}", made.token)?;
        let _ = writeln!(
            std::io::stderr(),
            "It is shown this once. Send it as `Authorization: Bearer`, or put it into a file for --token-file."
        );
        Ok(Outcome::Fine)
    })
}

fn list(arguments: List) -> anyhow::Result<Outcome> {
    remote::with(arguments.reach, |remote| async move {
        let tokens = remote.client.tokens().await?;
        let now = words::now();
        let mut rows = Rows::of(&["id", "scope", "made", "used", "expires", "name"]);
        for token in &tokens {
            let ago = |at: u64| format!("{} ago", words::age(at, now));
            let none = || "–".to_owned();
            rows.add(vec![
                (token.id.clone(), Tone::Accent),
                (token.scope.to_string(), Tone::Plain),
                (ago(token.created), Tone::Dim),
                (token.used.map_or_else(none, ago), Tone::Dim),
                (
                    token
                        .expires
                        .map_or_else(none, |at| format!("in {}", words::ahead(now, at))),
                    Tone::Dim,
                ),
                (token.name.clone(), Tone::Plain),
            ]);
        }
        remote.tell(&tokens, &rows.lines(remote.paper.width))?;
        Ok(Outcome::Fine)
    })
}

fn revoke(arguments: Revoke) -> anyhow::Result<Outcome> {
    let Revoke {
        token: word,
        yes,
        reach,
    } = arguments;
    remote::with(reach, |remote| async move {
        let tokens = remote.client.tokens().await?;
        let token = meant(&tokens, &word)?;
        if token.name == OWNER {
            warned(&remote, yes)?;
        }
        remote.client.revoke_token(&token.id).await?;
        let words = format!("{} is good no more", token.name);
        remote.tell(token, &[crate::term::style::Line::plain(words)])?;
        Ok(Outcome::Fine)
    })
}

/// Whoever ends the owner's token shuts themselves out.
fn warned(remote: &Remote, yes: bool) -> Result<(), Failure> {
    if !yes && !remote.json {
        let _ = writeln!(
            std::io::stderr(),
            "! `{OWNER}` is the token that login links are made with. Without it every page that came in by one is signed out, and there is no login link until the daemon is started again, which makes another."
        );
    }
    decide::confirm(remote, "End it?", yes)
}

fn meant<'a>(tokens: &'a [TokenView], word: &str) -> Result<&'a TokenView, Failure> {
    let named = tokens
        .iter()
        .find(|token| token.id == word || token.name == word);
    named.ok_or_else(|| {
        Failure::NotFound("there is no such token: `countersign token list` shows them".to_owned())
    })
}
