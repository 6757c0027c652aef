//! `countersign policy test`: recorded questions, put to other rules.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use countersign_policy::rule::Effect;
use countersign_policy::{Policy, Verdict};
use serde_json::{Value, json};

use super::here::{Here, ProfileName, misnamed};
use super::replay::{self, Answer, Question};
use super::shown::{self, count, short};
use crate::Outcome;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The file of rules: *.toml of ours, or *.json of Claude Code
    #[arg(value_name = "RULES")]
    rules: PathBuf,
    /// The recordings, or files with what the CLI printed
    #[arg(value_name = "RECORDING", required = true)]
    recordings: Vec<PathBuf>,
    /// Another file of rules; may be given several times
    #[arg(long = "rules", value_name = "FILE")]
    more: Vec<PathBuf>,
    /// The folder of the sessions, where it is not to be the recorded one
    #[arg(short = 'C', value_name = "DIR")]
    dir: Option<PathBuf>,
    /// What holds where no rule speaks; without it, what the file says
    #[arg(long, value_enum)]
    profile: Option<ProfileName>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// A question whose verdict is not the answer it got.
struct Different {
    recording: PathBuf,
    question: Question,
    verdict: Verdict,
}

#[derive(Default)]
struct Report {
    recordings: usize,
    totals: BTreeMap<(Answer, Effect), usize>,
    different: Vec<Different>,
    malformed: Vec<(PathBuf, u64, String)>,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let files: Vec<PathBuf> = std::iter::once(&arguments.rules)
        .chain(&arguments.more)
        .cloned()
        .collect();
    if let Some(message) = misnamed(&files) {
        return super::usage(&message);
    }
    let here = Here::at(arguments.dir.as_deref())?;
    let policy = policy(&here, &files, arguments.profile)?;
    let mut report = Report::default();
    for recording in &arguments.recordings {
        report.add(&here, &policy, recording, arguments.dir.is_some())?;
    }
    let mut out = io::stdout().lock();
    match arguments.json {
        true => writeln!(out, "{}", report.json())?,
        false => write!(out, "{}", report.text())?,
    }
    Ok(match report.different.iter().any(Different::contradicts) {
        true => Outcome::Found,
        false => Outcome::Fine,
    })
}

fn policy(here: &Here, files: &[PathBuf], chosen: Option<ProfileName>) -> anyhow::Result<Policy> {
    let read = here.usable(files)?;
    let chosen = chosen.map(|profile| profile.at(here.now));
    Ok(Policy {
        rules: read.rules,
        profile: chosen.or(read.profile).unwrap_or_default(),
    })
}

impl Report {
    fn add(
        &mut self,
        here: &Here,
        policy: &Policy,
        recording: &Path,
        is_here: bool,
    ) -> anyhow::Result<()> {
        let cannot = || {
            format!(
                "cannot read {}: give a recording, or what the CLI printed",
                recording.display()
            )
        };
        let input = File::open(recording).with_context(cannot)?;
        let recorded = replay::questions(input).with_context(cannot)?;
        self.recordings += 1;
        let malformed = recorded.malformed.into_iter();
        self.malformed
            .extend(malformed.map(|(line, reason)| (recording.to_owned(), line, reason)));
        for question in recorded.questions {
            let then = question.cwd.clone().filter(|_| !is_here);
            let cwd = then.unwrap_or_else(|| here.sources.cwd.clone());
            let verdict = policy.decide(&question.call, &here.place(&cwd, &[]), here.now);
            *self
                .totals
                .entry((question.answer, verdict.effect))
                .or_default() += 1;
            let is_same = matches!(
                (question.answer, verdict.effect),
                (Answer::Allowed, Effect::Allow) | (Answer::Denied, Effect::Deny)
            );
            if !is_same {
                self.different.push(Different {
                    recording: recording.to_owned(),
                    question,
                    verdict,
                });
            }
        }
        Ok(())
    }

    fn total(&self, answer: Answer, effect: Effect) -> usize {
        self.totals
            .get(&(answer, effect))
            .copied()
            .unwrap_or_default()
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for different in &self.different {
            text += &different.text();
        }
        for (recording, line, reason) in &self.malformed {
            text += &format!(
                "{}:{line}: passed over: {}\n",
                recording.display(),
                short(reason, 100)
            );
        }
        if !text.is_empty() {
            text += "\n";
        }
        text += &format!(
            "{:<12}{:>10}{:>10}{:>10}\n",
            "", "now allow", "now ask", "now deny"
        );
        for answer in Answer::ALL {
            let numbers =
                [Effect::Allow, Effect::Ask, Effect::Deny].map(|effect| self.total(answer, effect));
            let [allow, ask, deny] = numbers;
            text += &format!("{:<12}{allow:>10}{ask:>10}{deny:>10}\n", answer.name());
        }
        let questions = self.totals.values().sum();
        let against = self
            .different
            .iter()
            .filter(|different| different.contradicts())
            .count();
        text += &format!(
            "\n{} in {}, {against} decided the other way\n",
            count(questions, "question"),
            count(self.recordings, "recording")
        );
        text
    }

    fn json(&self) -> Value {
        let mut totals = serde_json::Map::new();
        for answer in Answer::ALL {
            let of = |effect| self.total(answer, effect);
            let numbers = json!({"allow": of(Effect::Allow), "ask": of(Effect::Ask), "deny": of(Effect::Deny)});
            totals.insert(answer.name().to_owned(), numbers);
        }
        let malformed = self.malformed.iter().map(
            |(recording, line, reason)| json!({"recording": recording, "line": line, "reason": reason}),
        );
        json!({
            "recordings": self.recordings,
            "questions": self.totals.values().sum::<usize>(),
            "totals": totals,
            "different": self.different.iter().map(Different::json).collect::<Vec<_>>(),
            "malformed": malformed.collect::<Vec<_>>(),
        })
    }
}

impl Different {
    /// Whether a rule decides the other way; a question that is asked again is only asked again.
    fn contradicts(&self) -> bool {
        matches!(
            (self.question.answer, self.verdict.effect),
            (Answer::Allowed, Effect::Deny) | (Answer::Denied, Effect::Allow)
        )
    }

    fn text(&self) -> String {
        let call = &self.question.call;
        let about = [
            "command",
            "file_path",
            "notebook_path",
            "url",
            "path",
            "pattern",
        ];
        let about = about
            .iter()
            .find_map(|field| call.text(field))
            .map(str::to_owned);
        let about = about.unwrap_or_else(|| call.input.to_string());
        format!(
            "{}:{}: {} then, now {}: {} {}\n    {}\n",
            self.recording.display(),
            self.question.line,
            self.question.answer.name(),
            self.verdict.effect,
            call.tool,
            short(&about, 80),
            self.verdict.reason.text,
        )
    }

    fn json(&self) -> Value {
        let mut report = shown::verdict_json(&self.verdict);
        report["recording"] = json!(self.recording);
        report["line"] = self.question.line.into();
        report["request_id"] = self.question.request_id.clone().into();
        report["tool"] = self.question.call.tool.clone().into();
        report["input"] = self.question.call.input.clone();
        report["then"] = self.question.answer.name().into();
        report["decided_the_other_way"] = self.contradicts().into();
        report
    }
}
