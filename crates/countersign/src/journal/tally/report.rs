//! The report that a [`Tally`] makes: what `--json` prints, and what the table shows.

use std::collections::BTreeMap;

use countersign_wire::recording::Header;
use serde::Serialize;

use super::{From, GenerationReport, QuestionReport, Spent, Summary, Tally, ToolReport};
use crate::journal::source::Form;

/// The whole report. Its fields are documented in docs/journal.md.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Report {
    pub(crate) form: Form,
    pub(crate) session: Option<String>,
    pub(crate) conversation: Option<String>,
    pub(crate) cli: Option<String>,
    pub(crate) records: u64,
    pub(crate) bytes: u64,
    /// Lines that are no record.
    pub(crate) damaged: u64,
    pub(crate) first_damage: Option<String>,
    pub(crate) span: Option<Span>,
    pub(crate) types: Vec<TypeReport>,
    pub(crate) turns: Turns,
    pub(crate) tools: Vec<ToolReport>,
    pub(crate) approvals: QuestionReport,
    /// Every other kind of question.
    pub(crate) questions: BTreeMap<String, QuestionReport>,
    pub(crate) cost: Cost,
    pub(crate) generations: Vec<GenerationReport>,
}

/// From the first record to the last.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Span {
    /// Microseconds of Unix time; of a recording since its beginning.
    pub(crate) first_at: u64,
    pub(crate) last_at: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct TypeReport {
    pub(crate) from: From,
    #[serde(rename = "type")]
    pub(crate) name: String,
    pub(crate) count: u64,
    pub(crate) bytes: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Turns {
    /// Messages of the host.
    pub(crate) prompts: u64,
    pub(crate) results: u64,
    pub(crate) failed: u64,
    /// Results by how the turn ended.
    pub(crate) ends: BTreeMap<String, u64>,
    /// How long they took, as the CLI tells.
    pub(crate) took: Option<Summary>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Cost {
    #[serde(flatten)]
    pub(crate) total: Spent,
    pub(crate) models: BTreeMap<String, Spent>,
}

impl Tally {
    /// What was counted in an input of this form.
    pub(crate) fn report(
        self,
        form: Form,
        session: Option<&str>,
        header: Option<&Header>,
    ) -> Report {
        let has_times = form.has_times();
        let told = header.map(|header| header.cli.clone());
        let mut questions = self.questions.report(has_times);
        let approvals = questions.remove(super::APPROVAL).unwrap_or_default();
        let mut types: Vec<TypeReport> = self
            .types
            .into_iter()
            .map(|((from, name), count)| TypeReport {
                from,
                name,
                count: count.count,
                bytes: count.bytes,
            })
            .collect();
        types.sort_by(|a, b| a.from.cmp(&b.from).then(b.bytes.cmp(&a.bytes)));
        let span = self.span.filter(|_| has_times);
        Report {
            form,
            session: session.map(str::to_owned),
            conversation: self.conversation,
            cli: self.cli.or(told),
            records: self.records,
            bytes: self.bytes,
            damaged: self.damaged,
            first_damage: self.first_damage,
            span: span.map(|(first_at, last_at)| Span { first_at, last_at }),
            types,
            turns: Turns {
                prompts: self.prompts,
                results: self.ends.values().sum(),
                failed: self.failed_turns,
                ends: self.ends,
                took: self.turn_times.summary(),
            },
            tools: self.calls.report(has_times),
            approvals,
            questions,
            cost: Cost {
                total: self.spending.total(),
                models: self.spending.models().clone(),
            },
            generations: self.generations.report(),
        }
    }
}
