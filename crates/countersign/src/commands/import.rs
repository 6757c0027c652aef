//! `countersign import`: a conversation that was begun in a terminal becomes a session.

use std::path::PathBuf;

use clap::Args;
use countersign_api::bodies::ImportBody;
use countersign_api::control::{Did, ImportFilter, Importable, SessionId};

use crate::Outcome;
use crate::remote::{self, Failure, Reach, Remote, names, words};
use crate::show::text;
use crate::term::style::{Line, Tone};

/// What stands behind `import`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The conversation: some letters of the end or the beginning of its id; without it, those that can be imported are listed
    conversation: Option<String>,
    /// List those begun in this folder only
    #[arg(short = 'C', value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Also those that programs began
    #[arg(long)]
    programmatic: bool,
    /// No terminal runs it any more
    #[arg(short, long)]
    yes: bool,
    #[command(flatten)]
    reach: Reach,
}

pub(crate) fn run(arguments: Arguments) -> anyhow::Result<Outcome> {
    let Arguments {
        conversation,
        dir,
        programmatic,
        yes,
        reach,
    } = arguments;
    let filter = ImportFilter {
        folder: dir.map(std::path::absolute).transpose()?,
        programmatic,
        most: 0,
    };
    remote::with(reach, |remote| async move {
        let all = remote.client.importable(&filter).await?;
        let Some(name) = conversation else {
            let lines: Vec<Line> = match all.is_empty() {
                true => vec![Line::plain("No conversation can be imported.")],
                false => all.iter().map(line).collect(),
            };
            remote.tell(&all, &lines)?;
            return Ok(Outcome::Fine);
        };
        let one = meant(all, &name)?;
        import(&remote, one, yes).await
    })
}

fn line(one: &Importable) -> Line {
    let title = match one.title.is_empty() {
        true => "without a title",
        false => &one.title,
    };
    let running = match one.maybe_running {
        Some(_) => "  a terminal may still run it",
        None => "",
    };
    Line::of(names::short(&one.conversation), Tone::Accent)
        .add(format!("  {}  ", words::when(one.last)), Tone::Dim)
        .add(text::one_row(title, 100), Tone::Strong)
        .add(format!("  {}", one.cwd.display()), Tone::Dim)
        .add(running, Tone::Warn)
}

/// The conversation that a person means.
fn meant(all: Vec<Importable>, name: &str) -> Result<Importable, Failure> {
    let wanted = name.to_ascii_lowercase();
    let fits = |one: &Importable| {
        let id = one.conversation.to_ascii_lowercase();
        wanted.len() >= 3 && (id.starts_with(&wanted) || id.ends_with(&wanted))
    };
    let fitting = all.into_iter().filter(fits).collect();
    let told = |one: &Importable| (one.conversation.clone(), one.title.clone());
    names::only("conversation", "countersign import", name, fitting, told)
}

async fn import(remote: &Remote, one: Importable, yes: bool) -> remote::Done {
    if let (Some(why), false) = (&one.maybe_running, yes) {
        let why = text::one_row(why, 300);
        return Err(Failure::NotSaid(format!(
            "{why} Two programs that write one conversation spoil it: end the other, then say --yes"
        )));
    }
    let cwd = one.cwd.into_os_string().into_string();
    let cwd = cwd.map_err(|path| Failure::Misused(format!("{} is no UTF-8", path.display())))?;
    let body = ImportBody {
        id: Some(SessionId::fresh()),
        conversation: one.conversation,
        cwd,
        config_dir: None,
        confirmed: yes,
    };
    let receipt = remote.client.import(&body).await?;
    let said = match &receipt.did {
        Did::Session { session } => {
            let short = names::short(session);
            format!("Imported as {short}. Go on with `countersign send {short} '…'`.")
        }
        _ => "Imported.".to_owned(),
    };
    remote.receipt(&receipt, said)
}
