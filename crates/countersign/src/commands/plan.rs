//! `countersign plan`: a plan is read, changed, approved or sent back.

use clap::Args;
use countersign_api::control::approval::{Kind, PlanDecision, Way};
use countersign_api::control::{ApprovalView, Decide, Mode, PlanVersion};

use crate::Outcome;
use crate::remote::{self, Done, Failure, Reach, Remote, ask, decide, names, words};
use crate::run;
use crate::show::text;
use crate::term::external;
use crate::term::style::{Line, Tone};

/// What stands behind `plan`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The plan: some letters of the end or the beginning of its id, as `countersign inbox` shows it
    id: String,
    /// Go on, and ask about each edit
    #[arg(long, group = "way")]
    manual: bool,
    /// Go on, and edit files without asking
    #[arg(long, group = "way")]
    accept_edits: bool,
    /// A fresh conversation with the plan
    #[arg(long, group = "way")]
    clear_context: bool,
    /// Not yet: what shall be different, or `-` for stdin
    #[arg(long, group = "way", value_name = "TEXT")]
    keep_planning: Option<String>,
    /// Change the plan in your editor first
    #[arg(long)]
    edit: bool,
    /// Allow the commands shown for a wish of the plan, by its number, in this session; can be given more than once
    #[arg(long, value_name = "N")]
    grant: Vec<usize>,
    /// Allow what this rule means in this session, such as 'Bash(npm test)'; can be given more than once
    #[arg(long, value_name = "RULE")]
    rule: Vec<String>,
    /// Compact the conversation before going on
    #[arg(long)]
    compact: bool,
    /// The mode of the fresh conversation: edits (without a word), ask or rules-only
    #[arg(long, value_name = "MODE", requires = "clear_context", value_parser = mode)]
    mode: Option<Mode>,
    /// Show all versions of the plan instead
    #[arg(long, conflicts_with = "way")]
    versions: bool,
    /// Do not ask again
    #[arg(short, long)]
    yes: bool,
    #[command(flatten)]
    reach: Reach,
}

/// The words of `countersign mode`, but for those a plan cannot be carried out in.
fn mode(text: &str) -> Result<Mode, String> {
    match text.parse::<run::Mode>() {
        Ok(run::Mode::Ask) => Ok(Mode::Ask),
        Ok(run::Mode::Edits) => Ok(Mode::Edits),
        Ok(run::Mode::RulesOnly) => Ok(Mode::RulesOnly),
        Ok(run::Mode::HandsOff(_)) => Err(
            "a plan is not approved into hands-off: choose edits, ask or rules-only, and say `countersign mode ID hands-off` of the session that goes on with it".to_owned(),
        ),
        Ok(run::Mode::Plan) | Err(_) => {
            Err("a plan is carried out in one of the modes edits, ask, rules-only".to_owned())
        }
    }
}

pub(crate) fn run(arguments: Arguments) -> anyhow::Result<Outcome> {
    let Arguments {
        id,
        manual,
        accept_edits,
        clear_context,
        keep_planning,
        edit,
        grant,
        mut rule,
        compact,
        mode,
        versions: all_versions,
        yes,
        reach,
    } = arguments;
    let way = [
        (manual, Way::Manual),
        (accept_edits, Way::AcceptEdits),
        (clear_context, Way::ClearContext),
        (keep_planning.is_some(), Way::KeepPlanning),
    ];
    let way = way
        .into_iter()
        .find_map(|(is_so, way)| is_so.then_some(way));
    remote::with(reach, |remote| async move {
        let view = decide::open(&remote, &id, None).await?;
        if view.kind != Kind::Plan {
            let id = names::short(view.id);
            return Err(Failure::Misused(format!(
                "this is no plan: `countersign show {id}`"
            )));
        }
        if all_versions {
            return versions(&remote, &view).await;
        }
        rule.extend(granted(&view, &grant)?);
        let feedback = keep_planning.map(ask::text).transpose()?;
        let decision = PlanDecision {
            choice: Way::Manual,
            mode,
            plan: None,
            rules: rule,
            allowed_prompts: Vec::new(),
            feedback,
            images: Vec::new(),
            comments: Vec::new(),
            compact,
        };
        decided(&remote, &view, way, decision, edit, yes).await
    })
}

async fn decided(
    remote: &Remote,
    view: &ApprovalView,
    way: Option<Way>,
    mut decision: PlanDecision,
    edit: bool,
    yes: bool,
) -> Done {
    if !yes || way.is_none() {
        decide::show(remote, view).await?;
    }
    if edit {
        decision.plan = edited(view)?;
    }
    decision.choice = match way {
        Some(way) => way,
        None => chosen(remote, view)?,
    };
    match decision.choice {
        Way::KeepPlanning if way.is_none() && decision.feedback.is_none() => {
            decision.feedback = ask::line("what shall be different> ")?;
        }
        Way::KeepPlanning => {}
        _ => {
            if way.is_none() && decision.rules.is_empty() {
                decision.rules = wished(view)?;
            }
            tell_rules(remote, &decision.rules)?;
            if way.is_some() || !decision.rules.is_empty() {
                decide::confirm(remote, &format!("{}?", said(decision.choice)), yes)?;
            }
        }
    }
    let said = said(decision.choice).to_lowercase();
    decide::send(remote, view, Decide::Plan(decision), &said).await
}

/// The rules that the wishes of these numbers were shown with.
fn granted(view: &ApprovalView, numbers: &[usize]) -> Result<Vec<String>, Failure> {
    let wishes = view.plan.as_ref().map_or(&[][..], |card| &card.wishes);
    let mut rules: Vec<String> = Vec::new();
    for number in numbers {
        let wish = wishes.get(*number).ok_or_else(|| {
            let count = wishes.len();
            Failure::Misused(format!(
                "the plan has no wish {number}: it has {count}, counted from 0"
            ))
        })?;
        if wish.offers.is_empty() {
            let prompt = text::one_row(&wish.prompt, 200);
            return Err(Failure::Misused(format!(
                "no command was found for \"{prompt}\", so there is nothing to grant: name one, such as --rule 'Bash(npm test)'"
            )));
        }
        rules.extend(wish.offers.iter().map(|offer| offer.text.clone()));
    }
    Ok(rules)
}

/// Says what will run unasked, also where nobody is asked to confirm it.
fn tell_rules(remote: &Remote, rules: &[String]) -> Result<(), Failure> {
    if rules.is_empty() || remote.json {
        return Ok(());
    }
    let mut lines = vec![Line::plain("In this session, these run without asking:")];
    lines.extend(
        rules
            .iter()
            .map(|rule| Line::of(text::one_row(rule, 300), Tone::Strong).after("  ", Tone::Plain)),
    );
    Ok(remote.paper.print(&lines)?)
}

/// Asks which of the plan's wishes are granted: numbers, or rules in the person's own words.
fn wished(view: &ApprovalView) -> Result<Vec<String>, Failure> {
    let has_wishes = view
        .plan
        .as_ref()
        .is_some_and(|card| !card.wishes.is_empty());
    if !has_wishes {
        return Ok(Vec::new());
    }
    let line = ask::line("grant a number or a rule, Enter for none> ")?.unwrap_or_default();
    let line = line.trim();
    match (line.is_empty(), line.parse::<usize>()) {
        (true, _) => Ok(Vec::new()),
        (false, Ok(number)) => granted(view, &[number]),
        (false, Err(_)) => Ok(vec![line.to_owned()]),
    }
}

fn said(way: Way) -> &'static str {
    match way {
        Way::ClearContext => "Go on in a fresh conversation",
        Way::AcceptEdits => "Go on, editing files without asking",
        Way::Manual => "Go on, asking about each edit",
        Way::KeepPlanning => "Keep planning",
    }
}

/// The plan as the person changed it, if they did.
fn edited(view: &ApprovalView) -> Result<Option<String>, Failure> {
    let text = view.plan.as_ref().and_then(|card| card.text.as_deref());
    let text = text.ok_or_else(|| {
        Failure::Misused("nobody knows the text of this plan: leave out --edit".to_owned())
    })?;
    if !ask::is_somebody_there() {
        return Err(Failure::NotSaid(
            "--edit needs a terminal: nothing was decided".to_owned(),
        ));
    }
    let editor = external::editor_command(|name| std::env::var(name).ok());
    external::edit_text(text, ".md", &editor).map_err(|error| Failure::Other(error.to_string()))
}

/// Lets the person choose a way.
fn chosen(remote: &Remote, view: &ApprovalView) -> Result<Way, Failure> {
    if remote.json || !decide::is_open(view) || !ask::is_somebody_there() {
        let why = "nothing was decided: name a way, such as --manual or --keep-planning TEXT";
        return Err(Failure::NotSaid(why.to_owned()));
    }
    let ways = view.plan.iter().flat_map(|card| &card.ways);
    let ways: Vec<_> = ways.collect();
    let lines = ways.iter().enumerate().map(|(at, way)| {
        Line::plain(format!("   {}  {}", at + 1, text::one_row(&way.label, 200))).hanging(6)
    });
    remote.paper.print(&lines.collect::<Vec<_>>())?;
    let line = ask::line("a number> ")?.unwrap_or_default();
    let at = line.parse::<usize>().ok().and_then(|at| at.checked_sub(1));
    let way = at.and_then(|at| ways.get(at));
    let none = || Failure::NotSaid("nothing was decided".to_owned());
    way.map(|way| way.way).ok_or_else(none)
}

async fn versions(remote: &Remote, view: &ApprovalView) -> Done {
    let versions = remote.client.plans(view.session).await?;
    let lines: Vec<Line> = versions.iter().flat_map(version).collect();
    remote.tell(&versions, &lines)?;
    Ok(Outcome::Fine)
}

fn version(version: &PlanVersion) -> Vec<Line> {
    let head = format!(
        "version {} by {} at {}",
        version.number,
        text::one_row(&version.by, 60),
        words::when(version.at)
    );
    let mut lines = vec![Line::of(head, Tone::Strong)];
    let (text, is_change) = match version.changes.is_empty() {
        true => (&version.text, false),
        false => (&version.changes, true),
    };
    lines.extend(text.lines().map(|row| {
        let tone = match (is_change, row.as_bytes().first()) {
            (true, Some(b'+')) => Tone::Good,
            (true, Some(b'-')) => Tone::Bad,
            _ => Tone::Plain,
        };
        Line::of(row, tone).after("  ", Tone::Plain)
    }));
    lines.push(Line::new());
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mode_is_one_that_a_plan_can_be_carried_out_in() {
        assert_eq!(mode("accept-edits"), Ok(Mode::Edits));
        assert_eq!(mode("rules-only"), Ok(Mode::RulesOnly));
        for word in ["hands-off", "hands-off=30m"] {
            let why = mode(word).unwrap_err();
            assert!(why.contains("not approved into hands-off"), "{word}: {why}");
        }
        for word in ["plan", "bypass", "x"] {
            assert!(!mode(word).unwrap_err().contains("hands-off"), "{word}");
        }
    }
}
