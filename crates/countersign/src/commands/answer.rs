//! `countersign answer`: answers to an agent's questions, the values of a form, a choice in a dialog.

use clap::Args;
use countersign_api::control::approval::Kind;
use countersign_api::control::{ApprovalView, Decide};
use serde_json::{Value, json};

use crate::Outcome;
use crate::remote::answers::{self, Item};
use crate::remote::{self, Failure, Reach, Remote, ask, decide, names};
use crate::show::text;
use crate::term::style::{Line, Tone};

/// What stands behind `answer`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The question: some letters of the end or the beginning of its id, as `countersign inbox` shows it
    id: String,
    /// QUESTION=ANSWER, with the number, the header or the beginning of the question; the answer alone if there is one
    #[arg(value_name = "QUESTION=ANSWER")]
    answers: Vec<String>,
    #[command(flatten)]
    reach: Reach,
}

pub(crate) fn run(arguments: Arguments) -> anyhow::Result<Outcome> {
    let Arguments { id, answers, reach } = arguments;
    remote::with(reach, |remote| async move {
        let view = decide::open(&remote, &id, None).await?;
        let answers = match view.kind {
            Kind::Questions => {
                said(&remote, &view, answers::questions(&view.input), &answers).await?
            }
            Kind::Elicitation if view.input["mode"] == "url" => page(&remote, &view).await?,
            Kind::Elicitation => {
                said(&remote, &view, answers::fields(&view.input), &answers).await?
            }
            Kind::Dialog => choice(&remote, &view, &answers).await?,
            kind => {
                let command = if kind == Kind::Plan {
                    "plan"
                } else {
                    "approve"
                };
                let id = names::short(view.id);
                let why = format!("this is no question to answer: `countersign {command} {id}`");
                return Err(Failure::Misused(why));
            }
        };
        decide::send(&remote, &view, Decide::Answer { answers }, "answered").await
    })
}

/// From the command line, else from the person.
async fn said(
    remote: &Remote,
    view: &ApprovalView,
    items: Vec<Item>,
    pairs: &[String],
) -> Result<Value, Failure> {
    if !pairs.is_empty() {
        return answers::given(&items, pairs).map_err(Failure::Misused);
    }
    somebody(remote, "write QUESTION=ANSWER behind it")?;
    decide::show(remote, view).await?;
    let mut said = Vec::new();
    for (at, item) in items.iter().enumerate() {
        said.push(one(remote, at, item)?);
    }
    if said.iter().all(Vec::is_empty) {
        let why = "nothing was answered; `countersign deny` says that you will not";
        return Err(Failure::NotSaid(why.to_owned()));
    }
    answers::collect(&items, &said).map_err(Failure::Misused)
}

fn one(remote: &Remote, at: usize, item: &Item) -> Result<Vec<String>, Failure> {
    let title = text::one_row(&item.title, 300);
    let mut lines = vec![Line::of(format!("{}. {title}", at + 1), Tone::Strong)];
    for (at, option) in item.options.iter().enumerate() {
        let option = text::one_row(option, 200);
        lines.push(Line::plain(format!("   {}  {option}", at + 1)).hanging(6));
    }
    remote.paper.print(&lines)?;
    let hint = match (item.options.is_empty(), item.several) {
        (true, _) => "",
        (false, false) => "a number, or your own words",
        (false, true) => "numbers with commas, or your own words",
    };
    let prompt = if hint.is_empty() {
        "> ".to_owned()
    } else {
        format!("{hint}> ")
    };
    let line = ask::line(&prompt)?.unwrap_or_default();
    match line.is_empty() {
        true => Ok(Vec::new()),
        false => Ok(item.typed(&line)),
    }
}

fn somebody(remote: &Remote, next: &str) -> Result<(), Failure> {
    match remote.json || !ask::is_somebody_there() {
        true => {
            let why = format!("nobody is there to answer, so nothing was decided: {next}");
            Err(Failure::NotSaid(why))
        }
        false => Ok(()),
    }
}

/// A web page of a server: the person has been there.
async fn page(remote: &Remote, view: &ApprovalView) -> Result<Value, Failure> {
    decide::show(remote, view).await?;
    decide::confirm(remote, "Have you done what the page asks?", false)?;
    Ok(json!({}))
}

async fn choice(remote: &Remote, view: &ApprovalView, words: &[String]) -> Result<Value, Failure> {
    let word = match words {
        [word] => word.clone(),
        [] => {
            somebody(remote, "write the choice behind it")?;
            decide::show(remote, view).await?;
            ask::line("choice> ")?.unwrap_or_default()
        }
        _ => return Err(Failure::Misused("a dialog takes one choice".to_owned())),
    };
    Ok(json!({ "choice": word }))
}
