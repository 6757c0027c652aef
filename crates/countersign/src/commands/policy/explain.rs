//! `countersign policy explain`: what would be decided about a call, and why.

use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use countersign_policy::rule::Effect;
use countersign_policy::source::{At, Example};
use countersign_policy::{Call, Explanation, Origin, Policy, Rule};
use serde_json::{Value, json};

use super::here::{Here, ProfileName, misnamed};
use super::shown::{self, short};
use crate::Outcome;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The tool, such as Bash, Edit or mcp__server__tool
    tool: String,
    /// Its input as a JSON object, or `-` to read it from standard input; for Bash the command alone will do
    #[arg(value_name = "JSON", allow_hyphen_values = true)]
    input: String,
    /// The folder the agent works in
    #[arg(short = 'C', value_name = "DIR")]
    dir: Option<PathBuf>,
    /// A file of rules, in place of those that count here; may be given several times
    #[arg(long, value_name = "FILE")]
    rules: Vec<PathBuf>,
    /// A rule that allows, in addition
    #[arg(long, value_name = "RULE")]
    allow: Vec<String>,
    /// A rule that wants a person asked, in addition
    #[arg(long, value_name = "RULE")]
    ask: Vec<String>,
    /// A rule that denies, in addition
    #[arg(long, value_name = "RULE")]
    deny: Vec<String>,
    /// The mode the session is in
    #[arg(long, value_enum, default_value_t = Mode::Default)]
    mode: Mode,
    /// What holds where no rule speaks; without it, what your own file says
    #[arg(long, value_enum)]
    profile: Option<ProfileName>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Mode {
    /// Every call is decided by rules, the profile and a person
    Default,
    /// The session plans: nothing is changed by rule
    Plan,
}

/// The rules a question is put to.
struct Ground {
    policy: Policy,
    add_dirs: Vec<PathBuf>,
    withheld: usize,
}

pub(super) fn run(arguments: Arguments) -> anyhow::Result<Outcome> {
    if let Some(message) = misnamed(&arguments.rules) {
        return super::usage(&message);
    }
    let call = match call(&arguments)? {
        Ok(call) => call,
        Err(message) => return super::usage(&message),
    };
    let here = Here::at(arguments.dir.as_deref())?;
    let mut ground = ground(&arguments, &here)?;
    match given(&arguments, &here.sources.cwd) {
        Ok(rules) => ground.policy.rules.extend(rules),
        Err(message) => return super::usage(&message),
    }
    let place = here.place(&here.sources.cwd, &ground.add_dirs);
    let explanation = ground.policy.explain(&call, &place, here.now);
    let mut out = io::stdout().lock();
    match arguments.json {
        true => writeln!(out, "{}", as_json(&call, &explanation, ground.withheld))?,
        false => write!(out, "{}", as_text(&call, &explanation, ground.withheld))?,
    }
    Ok(Outcome::Fine)
}

/// The call that is asked about; within, an error of whoever wrote the command line.
fn call(arguments: &Arguments) -> anyhow::Result<Result<Call, String>> {
    let mut text = arguments.input.clone();
    if text == "-" {
        text.clear();
        io::stdin()
            .lock()
            .read_to_string(&mut text)
            .context("cannot read the input of the call from standard input")?;
    }
    let tool = arguments.tool.as_str();
    let object = serde_json::from_str::<Value>(&text)
        .ok()
        .filter(Value::is_object);
    let call = match object {
        Some(input) => Ok(Call::new(tool, input)),
        None if text.trim_start().starts_with('{') && tool != "Bash" => Err(format!(
            "the input of {tool} is no JSON object: {}",
            broken(&text)
        )),
        None => {
            let example = Example {
                input: Value::String(text.trim_end_matches('\n').to_owned()),
                is_match: true,
                at: At {
                    file: PathBuf::new(),
                    line: None,
                    column: None,
                },
            };
            let named = match tool.starts_with("mcp__") {
                true => Err("write its input as a JSON object, {} if it has none".to_owned()),
                false => example.call(tool),
            };
            named.map_err(|_| format!("the input of {tool} is a JSON object: write '{{\"name\": …}}', or '{{}}' if it has none"))
        }
    };
    Ok(call.map(|call| Call {
        in_plan_mode: arguments.mode == Mode::Plan,
        ..call
    }))
}

fn broken(text: &str) -> String {
    serde_json::from_str::<Value>(text)
        .err()
        .map(|error| error.to_string())
        .unwrap_or_default()
}

fn ground(arguments: &Arguments, here: &Here) -> anyhow::Result<Ground> {
    let chosen = arguments.profile.map(|profile| profile.at(here.now));
    let (rules, profile, add_dirs, withheld) = match arguments.rules.is_empty() {
        true => {
            let loaded = here.load();
            if !loaded.is_safe() {
                return Err(shown::unusable(&loaded.problems));
            }
            let withheld = loaded.withheld.len();
            (loaded.rules, loaded.profile, loaded.add_dirs, withheld)
        }
        false => {
            let read = here.usable(&arguments.rules)?;
            (read.rules, read.profile, read.add_dirs, 0)
        }
    };
    let profile = chosen.or(profile).unwrap_or_default();
    Ok(Ground {
        policy: Policy { rules, profile },
        add_dirs,
        withheld,
    })
}

/// The rules of the command line.
fn given(arguments: &Arguments, base: &Path) -> Result<Vec<Rule>, String> {
    let lists = [
        (Effect::Allow, "--allow", &arguments.allow),
        (Effect::Ask, "--ask", &arguments.ask),
        (Effect::Deny, "--deny", &arguments.deny),
    ];
    let all = lists.into_iter().flat_map(|(effect, flag, texts)| {
        texts.iter().map(move |text| {
            Rule::parse(effect, text, base, Origin::CommandLine)
                .map_err(|error| format!("{flag}: {error}"))
        })
    });
    all.collect()
}

fn as_text(call: &Call, explanation: &Explanation, withheld: usize) -> String {
    let verdict = &explanation.verdict;
    let mut text = format!("{}: {}\n", verdict.effect, verdict.reason.text);
    if let Some(rule) = &verdict.reason.rule {
        text += &format!("\nrule   {rule}\nfrom   {}\n", rule.origin);
        if let Some(note) = &rule.note {
            text += &format!("note   {note}\n");
        }
        if let Some(end) = rule.expires {
            text += &format!("until  {end}\n");
        }
    }
    if !explanation.steps.is_empty() {
        text += "\nWhat it would do:\n";
    }
    for step in &explanation.steps {
        let effect = step.verdict.effect.to_string();
        let part = short(&step.part, 100);
        text += &format!("  {effect:<5}  {:<8}  {part}", step.kind);
        if !step.through.is_empty() {
            text += &format!("  (through {})", step.through.join(", "));
        }
        text += &format!("\n                   {}\n", step.verdict.reason.text);
    }
    if !explanation.changes.is_empty() {
        text += "\nWhat would change it:\n";
    }
    for change in &explanation.changes {
        text += &format!("  {change}\n");
    }
    if withheld > 0 && verdict.effect != Effect::Deny && call.tool != "AskUserQuestion" {
        let rules = shown::count(withheld, "rule");
        text += &format!(
            "\n{rules} of this repository would allow more, and you have not trusted the folder.\n"
        );
    }
    text
}

fn as_json(call: &Call, explanation: &Explanation, withheld: usize) -> Value {
    let mut report = shown::verdict_json(&explanation.verdict);
    let parts = explanation.steps.iter().map(|step| {
        let mut part = shown::verdict_json(&step.verdict);
        part["part"] = step.part.clone().into();
        part["kind"] = step.kind.into();
        part["through"] = step.through.clone().into();
        part
    });
    report["parts"] = parts.collect();
    report["changes"] = explanation.changes.clone().into();
    report["tool"] = call.tool.clone().into();
    report["input"] = call.input.clone();
    report["withheld"] = json!(withheld);
    report
}
