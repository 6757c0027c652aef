//! `countersign approve`: a call may run.

use clap::{Args, ValueEnum};
use countersign_api::control::approval::{Kind, Remember, Scope};
use countersign_api::control::{ApprovalView, Decide};

use crate::Outcome;
use crate::remote::{self, Failure, Long, Reach, decide, moment, question, words};
use crate::show::text;
use crate::term::style::Tone;

/// What stands behind `approve`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The question: some letters of the end or the beginning of its id, as `countersign inbox` shows it
    id: String,
    /// Allow what this rule means from now on, such as `Bash(npm test:*)`; can be given more than once
    #[arg(long, value_name = "RULE")]
    always: Vec<String>,
    /// Where the rule holds
    #[arg(long, value_enum, default_value = "session", requires = "always")]
    scope: Reaches,
    /// How long the rule holds, such as 2h or 7d
    #[arg(long = "for", value_name = "TIME", requires = "always")]
    long: Option<Long>,
    /// All open questions of the same session about the same tool, but for those that cannot be undone
    #[arg(long)]
    alike: bool,
    /// Do not ask again, also not about what cannot be undone
    #[arg(short, long)]
    yes: bool,
    /// The digest of what you have seen; what is asked by now is not decided if it is another
    #[arg(long, value_name = "DIGEST")]
    saw: Option<String>,
    #[command(flatten)]
    reach: Reach,
}

/// Where a rule holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Reaches {
    /// In this session
    Session,
    /// In this repository
    Repository,
    /// Everywhere
    Always,
}

pub(crate) fn run(arguments: Arguments) -> anyhow::Result<Outcome> {
    let Arguments {
        id,
        always,
        scope,
        long,
        alike,
        yes,
        saw,
        reach,
    } = arguments;
    let scope = match scope {
        Reaches::Session => Scope::Session,
        Reaches::Repository => Scope::Repository,
        Reaches::Always => Scope::Always,
    };
    remote::with(reach, |remote| async move {
        let view = decide::open(&remote, &id, saw.as_deref()).await?;
        fits(&view)?;
        let others = match alike {
            true => decide::others(&remote, &view).await?,
            false => Vec::new(),
        };
        // What cannot be undone is looked at one by one.
        let (others, harmful): (Vec<_>, Vec<_>) =
            others.into_iter().partition(|one| one.destroys().is_none());
        let is_shown = decide::is_open(&view) && !yes && !remote.json;
        if decide::is_open(&view) && !yes {
            decide::show(&remote, &view).await?;
            let now = words::now();
            let rows = others.iter().flat_map(|one| {
                let also = question::headline(one).after("also ", Tone::Dim);
                // From beginning to end, since each of them is allowed.
                std::iter::once(also).chain(question::full(one, now, 100))
            });
            let left = harmful
                .iter()
                .map(|one| question::headline(one).after("not this one: ", Tone::Dim));
            if !remote.json {
                remote.paper.print(&rows.chain(left).collect::<Vec<_>>())?;
            }
            decide::confirm(&remote, &asked(others.len(), &always), yes)?;
            decide::confirm_harm(&view, yes)?;
        }
        let remember = (!always.is_empty()).then(|| Remember {
            rules: always,
            scope,
            expires: long.map(|long| moment(words::now(), long)),
            also_cli: false,
        });
        let allow = Decide::Allow {
            updated_input: None,
            remember,
            mode: None,
            add_dirs: Vec::new(),
        };
        match alike {
            true => decide::send_alike(&remote, &view, &others, is_shown, allow, "allowed").await,
            false => decide::send(&remote, &view, allow, "allowed").await,
        }
    })
}

fn fits(view: &ApprovalView) -> Result<(), Failure> {
    let command = match view.kind {
        Kind::Plan => "plan",
        Kind::Questions | Kind::Elicitation | Kind::Dialog => "answer",
        _ => return Ok(()),
    };
    let id = remote::names::short(view.id);
    let what = question::headline(view).text();
    Err(Failure::Misused(format!(
        "{} needs more than a yes: `countersign {command} {id}`",
        text::one_row(&what, 60)
    )))
}

fn asked(others: usize, always: &[String]) -> String {
    let mut words = match others {
        0 => "Allow it".to_owned(),
        others => format!("Allow all {}", others + 1),
    };
    if !always.is_empty() {
        let rules = text::one_row(&always.join(", "), 200);
        words.push_str(&format!(", and from now on {rules}"));
    }
    words.push('?');
    words
}
