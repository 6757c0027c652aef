//! What every way of running an agent does with its events and questions.
//!
//! Owns the agent's handle, the desk and the ledger of one run. The terminal, the plain text and the NDJSON are shells
//! around this. Invariant: whatever becomes of a question about a
//! call that is answered here, an entry says so.

use std::path::PathBuf;
use std::time::SystemTime;

use countersign_client::wire::cli::SystemMessage;
use countersign_client::wire::content::ContentBlock;
use countersign_client::wire::tools::ToolInput;
use countersign_client::wire::{CliMessage, Json, TextOr};
use countersign_client::{
    Decision, ElicitationQuestion, Event, Handle, PermissionQuestion, Question, Subject,
};
use countersign_policy::{Effect, Profile, Scope};
use jiff::Timestamp;
use serde_json::Value;

use super::agent::Watching;
use super::desk::{Answers, Brief, Desk, Ruling};
use super::dialog::{Allow, Choice, PlanChoice, Reach, Remember, Way};
use super::ledger::{By, Decided, Entry, Ledger};
use super::mode::Mode;

/// One agent, its desk and its ledger.
#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) handle: Handle,
    pub(crate) desk: Desk,
    pub(crate) ledger: Ledger,
    answers: Answers,
    /// The person's own file of rules.
    rules_file: Option<PathBuf>,
    pub(crate) watching: Watching,
    /// The mode that the person chose at the start.
    begun_in: Mode,
}

/// What came of a question.
#[derive(Debug)]
pub(crate) enum Taken {
    /// It is settled.
    Settled(Box<Entry>),
    /// It was refused, in words.
    Refused(String),
    /// A person decides.
    Open(Open),
}

/// A question that a person decides.
#[derive(Debug)]
pub(crate) enum Open {
    Permission(PermissionQuestion, Box<Brief>),
    Elicitation(Box<ElicitationQuestion>),
}

impl Open {
    /// Whether the CLI has taken it back.
    pub(crate) fn interest(&self) -> countersign_client::Interest {
        match self {
            Open::Permission(question, _) => question.responder().interest(),
            Open::Elicitation(question) => question.responder().interest(),
        }
    }
}

/// What is to be done after a decision, beside telling it.
#[derive(Debug, Default, PartialEq)]
pub(crate) enum After {
    #[default]
    Nothing,
    /// A fresh conversation begins with this message.
    StartAfresh(String),
}

/// What a decision changes once it is given.
#[derive(Debug, Default)]
struct Upshot {
    is_sent_back: bool,
    plans: Option<bool>,
    profile: Option<Profile>,
    after: After,
}

pub(crate) fn now() -> Timestamp {
    Timestamp::try_from(SystemTime::now()).unwrap_or(Timestamp::UNIX_EPOCH)
}

impl Core {
    pub(crate) fn new(
        handle: Handle,
        watching: Watching,
        desk: Desk,
        answers: Answers,
        rules_file: Option<PathBuf>,
        begun_in: Mode,
    ) -> Self {
        Self {
            handle,
            desk,
            ledger: Ledger::default(),
            answers,
            rules_file,
            watching,
            begun_in,
        }
    }

    /// Returns the name of the mode in force, as far as it is ours: the CLI says whether it plans.
    pub(crate) fn mode_name(&self) -> &'static str {
        self.begun_in.name_in_force(self.desk.profile().at(now()))
    }

    /// Takes note of a line of the agent. Gives entries for calls that the CLI settled by itself.
    pub(crate) fn note(&mut self, event: &Event) -> Vec<Entry> {
        let Some(frame) = event.frame() else {
            return Vec::new();
        };
        match frame.message() {
            Ok(CliMessage::Assistant(message)) => {
                for block in &message.message.content {
                    if let ContentBlock::ToolUse(call) = block {
                        let input = call.input.to().unwrap_or(Value::Null);
                        self.ledger.called(call.id.as_str(), &call.name, &input);
                    }
                }
                Vec::new()
            }
            Ok(CliMessage::User(message)) => {
                let blocks = match &message.message.content {
                    TextOr::Rich(blocks) => blocks.as_slice(),
                    TextOr::Text(_) => &[],
                };
                let results = blocks.iter().filter_map(|block| match block {
                    ContentBlock::ToolResult(result) => Some(result),
                    _ => None,
                });
                let entries = results.filter_map(|result| {
                    self.ledger
                        .returned(result.tool_use_id.as_str(), result.is_error == Some(true))
                });
                let entries: Vec<Entry> = entries.collect();
                let mode = self.handle.permission_mode();
                let judged = entries.into_iter().map(|entry| Entry {
                    verdict: Some(self.desk.verdict_on(
                        &entry.tool,
                        &entry.input,
                        mode.as_deref(),
                        now(),
                    )),
                    ..entry
                });
                judged.collect()
            }
            Ok(CliMessage::System(message)) => {
                match message {
                    SystemMessage::Init(init) => self.begins(&init.tools),
                    SystemMessage::Status(status) if status.permission_mode.is_some() => {
                        self.desk.mode_told();
                    }
                    _ => {}
                }
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    /// A turn begins: the CLI says how things stand.
    fn begins(&mut self, tools: &[String]) {
        self.desk.mode_told();
        let Some(settings) = self.watching.learn(self.handle.version(), tools) else {
            return;
        };
        let handle = self.handle.clone();
        // Older versions do not take it; there the hook asks.
        tokio::spawn(async move { handle.apply_flag_settings(settings).await });
    }

    /// Takes a question: settles it by rule, or hands it back for a person.
    pub(crate) fn take(&mut self, question: Question) -> Taken {
        match question {
            Question::Permission(question) => self.take_call(question),
            Question::Elicitation(question) if self.answers == Answers::Person => {
                Taken::Open(Open::Elicitation(Box::new(question)))
            }
            Question::Elicitation(question) => {
                let server = question.request().mcp_server_name.clone();
                // A question that was withdrawn meanwhile needs no answer.
                let _ = question.decline();
                Taken::Refused(format!(
                    "The server `{server}` asked something; nobody is here to answer."
                ))
            }
            // Dropped, it is refused.
            other => Taken::Refused(format!(
                "The CLI asked `{}`, which cannot be answered here.",
                other.responder().subtype()
            )),
        }
    }

    fn take_call(&mut self, question: PermissionQuestion) -> Taken {
        let mode = self.handle.permission_mode();
        let ruling = self
            .desk
            .rule_on(question.request(), mode.as_deref(), now());
        match ruling {
            Ruling::Settled(decision, mut entry) => {
                self.ledger.name(&mut entry);
                Taken::Settled(Box::new(self.answer(question, decision, *entry)))
            }
            Ruling::Person(mut brief) => {
                self.ledger.name(&mut brief.entry);
                Taken::Open(Open::Permission(question, brief))
            }
        }
    }

    /// Gives the answer and enters it. What was withdrawn meanwhile is entered as such.
    fn answer(
        &mut self,
        question: PermissionQuestion,
        decision: Decision,
        mut entry: Entry,
    ) -> Entry {
        if question.answer(decision).is_err() {
            entry.decided = Decided::Withdrawn;
        }
        tracing::debug!(id = entry.tool_use_id, tool = entry.tool, decided = ?entry.decided, by = ?entry.by, "a call was decided");
        self.ledger.settle(&entry);
        entry
    }

    /// The CLI took a question back that was open.
    pub(crate) fn withdrawn(&mut self, open: Open) -> Option<Entry> {
        let Open::Permission(_, brief) = open else {
            return None;
        };
        let entry = Entry {
            decided: Decided::Withdrawn,
            by: By::Person,
            ..brief.entry
        };
        self.ledger.settle(&entry);
        Some(entry)
    }

    /// A person decided.
    ///
    /// # Errors
    /// When a rule that was to be remembered is none: the question stays open.
    pub(crate) fn decide(
        &mut self,
        open: Open,
        choice: Choice,
    ) -> Result<(Option<Entry>, After), (Open, String)> {
        match open {
            Open::Elicitation(question) => {
                // A question that was withdrawn meanwhile needs no answer.
                let _ = match choice {
                    Choice::Form(Value::Null) => question.accept(Json::default()),
                    Choice::Form(value) => question.accept(value.into()),
                    _ => question.decline(),
                };
                Ok((None, After::Nothing))
            }
            Open::Permission(question, brief) => self.decide_call(question, brief, choice),
        }
    }

    fn decide_call(
        &mut self,
        question: PermissionQuestion,
        brief: Box<Brief>,
        choice: Choice,
    ) -> Result<(Option<Entry>, After), (Open, String)> {
        let mut entry = Entry {
            by: By::Person,
            ..brief.entry.clone()
        };
        let mut upshot = Upshot::default();
        let decision = match choice {
            Choice::Allow(allow) => match self.allow(&question, allow, &mut entry, &mut upshot) {
                Ok(decision) => decision,
                Err(why) => return Err((Open::Permission(question, brief), why)),
            },
            Choice::Deny { message, stop } => {
                entry.message = Some(message.clone());
                match stop {
                    true => Decision::deny_and_stop(message),
                    false => Decision::deny(message),
                }
            }
            Choice::Plan(choice) => self.plan(&question, choice, &mut entry, &mut upshot),
            Choice::Answers(answers) => answered(&question, &answers, &mut entry),
            Choice::Form(_) | Choice::Decline | Choice::Trust(_) => {
                let message = "The person does not want to answer this now.".to_owned();
                entry.message = Some(message.clone());
                Decision::deny(message)
            }
        };
        entry.decided = match (decision.is_allow(), upshot.is_sent_back) {
            (true, _) => Decided::Allow,
            (false, true) => Decided::SentBack,
            (false, false) => Decided::Deny,
        };
        let entry = self.answer(question, decision, entry);
        // What was withdrawn meanwhile changes nothing.
        if entry.decided == Decided::Withdrawn {
            return Ok((Some(entry), After::Nothing));
        }
        if let Some(plans) = upshot.plans {
            self.desk.planning(plans);
        }
        if let Some(profile) = upshot.profile {
            self.desk.set_profile(profile);
        }
        Ok((Some(entry), upshot.after))
    }

    fn allow(
        &mut self,
        question: &PermissionQuestion,
        allow: Allow,
        entry: &mut Entry,
        upshot: &mut Upshot,
    ) -> Result<Decision, String> {
        if let Some(remember) = &allow.remember {
            self.remember(remember, question)?;
            entry.remembered.clone_from(&remember.rules);
        }
        upshot.profile = allow.accept_edits.then_some(Profile::Edits);
        upshot.plans = matches!(question.subject(), Subject::EnterPlanMode).then_some(true);
        Ok(match allow.input {
            None => Decision::allow(),
            Some(input) => {
                self.check_changed(question, &input)?;
                entry.changed = Some(input.clone());
                Decision::allow().with_input(input.into())
            }
        })
    }

    /// What was changed is another call: no rule may forbid it, and the tool must take it.
    fn check_changed(&self, question: &PermissionQuestion, input: &Value) -> Result<(), String> {
        let tool = question.tool_name.as_str();
        if input.as_object().is_none_or(serde_json::Map::is_empty) {
            return Err("an empty input would run the call as it was: nothing was sent".to_owned());
        }
        if let Err(error) = ToolInput::view(tool, &Json::from(input.clone())) {
            return Err(format!(
                "{tool} does not take this ({error}): nothing was sent"
            ));
        }
        let mode = self.handle.permission_mode();
        let verdict = self.desk.verdict_on(tool, input, mode.as_deref(), now());
        match verdict.effect {
            Effect::Deny => Err(format!("{} Nothing was sent.", verdict.reason.text)),
            Effect::Allow | Effect::Ask => Ok(()),
        }
    }

    fn remember(
        &mut self,
        remember: &Remember,
        question: &PermissionQuestion,
    ) -> Result<(), String> {
        let scope = match remember.reach {
            Reach::Session => Scope::Session,
            Reach::Repository => Scope::Repository(self.desk.repository()),
            Reach::Everywhere => Scope::Always,
        };
        let rules = self
            .desk
            .read_rules(&remember.rules, &scope)
            .map_err(|error| error.to_string())?;
        let mode = self.handle.permission_mode();
        if !self
            .desk
            .would_allow(&rules, question.request(), mode.as_deref(), now())
        {
            let rules = remember.rules.join(" and ");
            return Err(format!(
                "`{rules}` would not allow this call: nothing was decided"
            ));
        }
        if remember.reach != Reach::Session {
            let file = self
                .rules_file
                .as_deref()
                .ok_or("there is no folder to keep rules in: set HOME")?;
            countersign_policy::source::keep(file, &rules).map_err(|error| error.to_string())?;
        }
        self.desk.add_rules(rules);
        Ok(())
    }

    /// A plan that was changed goes back with the approval where this version writes it; else it is said as feedback.
    fn plan(
        &self,
        question: &PermissionQuestion,
        choice: PlanChoice,
        entry: &mut Entry,
        upshot: &mut Upshot,
    ) -> Decision {
        let Subject::Plan(plan) = question.subject() else {
            return Decision::deny("The plan could not be read.");
        };
        let text = choice
            .edited
            .clone()
            .or_else(|| plan.text().map(str::to_owned))
            .unwrap_or_default();
        if let (Some(edited), false) = (&choice.edited, writes_plans(&self.handle)) {
            let is_approval = matches!(choice.way, Way::AcceptEdits | Way::Manual);
            if is_approval {
                let message =
                    format!("The person changed the plan. Present this one instead:\n\n{edited}");
                entry.message = Some(message.clone());
                upshot.is_sent_back = true;
                return plan.keep_planning(message);
            }
        }
        match choice.way {
            Way::KeepPlanning(feedback) => {
                let message = match choice.edited {
                    Some(edited) => {
                        format!("{feedback}\n\nThe plan as the person changed it:\n\n{edited}")
                    }
                    None => feedback,
                };
                entry.message = Some(message.clone());
                upshot.is_sent_back = true;
                plan.keep_planning(message)
            }
            Way::ClearContext => {
                upshot.plans = Some(false);
                upshot.profile = Some(Profile::Edits);
                upshot.after = After::StartAfresh(format!("Carry out this plan:\n\n{text}"));
                let message = "The plan is carried out in a fresh conversation.".to_owned();
                entry.message = Some(message.clone());
                Decision::deny_and_stop(message)
            }
            way => {
                upshot.plans = Some(false);
                upshot.profile = (way == Way::AcceptEdits).then_some(Profile::Edits);
                let decision = match choice.edited {
                    Some(edited) => {
                        entry.changed = Some(serde_json::json!({"plan": edited}));
                        plan.approve_edited(edited)
                    }
                    None => plan.approve(),
                };
                // Accepting edits is ours, so that every call is still seen.
                decision.with_mode(countersign_client::PermissionMode::Default)
            }
        }
    }
}

fn answered(
    question: &PermissionQuestion,
    answers: &[(String, String)],
    entry: &mut Entry,
) -> Decision {
    let Subject::Questions(mut form) = question.subject() else {
        return Decision::deny("The questions could not be read.");
    };
    for (asked, answer) in answers {
        if let Err(error) = form.write(asked, answer.clone()) {
            return Decision::deny(error.to_string());
        }
    }
    entry.changed = Some(
        serde_json::json!({"answers": answers.iter().cloned().collect::<std::collections::BTreeMap<_, _>>()}),
    );
    form.submit()
}

/// Whether an approved plan that was changed is written to the plan file. Measured: 2.1.325 does, older ones do not.
pub(crate) fn writes_plans(handle: &Handle) -> bool {
    const FIRST: &str = "2.1.325";
    match (handle.version(), FIRST.parse()) {
        (Some(version), Ok(first)) => version >= first,
        _ => false,
    }
}
