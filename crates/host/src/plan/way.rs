//! A decision about a plan → what it comes to.
//!
//! Owns the four ways on, for an agent that waits and for one that has gone. Invariants: the CLI leaves plan mode for its
//! default mode only, so that every call is still seen (accepting edits is ours); a plan that was changed reaches the
//! agent on every version; what a plan wishes for is granted by rules of ours that a person named, and never by its prose.
//!
//! *Compact first* works the same on every version: in the middle of a turn `/compact` would be read as words, so the turn
//! is ended by a denial, `/compact` goes when the agent is idle, and then a message that carries the plan, since a summary
//! may have lost it.

use countersign_client::Update;
use countersign_client::options::Version;
use countersign_wire::Json;
use countersign_wire::tools::ExitPlanModeInput;
use countersign_wire::vocab::PermissionMode;
use serde_json::Value;

use super::feedback;
use super::wish::Wish;
use crate::approval::deny;
use crate::approval::{
    After, Agent, Answer, Asked, Consequence, Known, NewRule, message_id, session_id,
};
use crate::control::approval::{Effect, PlanDecision, Scope, Way};
use crate::control::{ControlError, Decide, Message, Mode};

/// The first version that writes an approved plan which was changed to the plan file.
const FIRST_TO_WRITE_PLANS: Version = Version::new(2, 1, 325);

/// The first version of which it was measured that a message which joins a running turn keeps its images. 2.0.75 tells
/// the model the text alone.
const FIRST_TO_KEEP_IMAGES: Version = Version::new(2, 1, 62);

/// Maximum number of rules that go along with a decision.
const MOST_RULES: usize = 32;

/// The command that compacts a conversation.
const COMPACT: &str = "/compact";

/// What the model reads when there is no plan to approve.
const NO_PLAN: &str =
    "The person said no: no plan came with the question. Write the plan first, then present it.";

/// Whether an approved plan that was changed is taken. Measured: 2.1.325 does, older ones do not.
pub(super) fn writes_plans(version: Option<Version>) -> bool {
    version.is_some_and(|version| version >= FIRST_TO_WRITE_PLANS)
}

/// What a plan wants permission for.
pub(super) fn wishes(asked: &Asked) -> Vec<Wish> {
    let input: ExitPlanModeInput = Json::from(asked.input.clone()).to().unwrap_or_default();
    let wishes = input.allowed_prompts.into_iter().flatten();
    wishes
        .map(|wish| Wish {
            tool: wish.tool,
            prompt: wish.prompt,
            offers: Vec::new(),
        })
        .collect()
}

/// What a decision about a plan comes to.
///
/// # Errors
/// When it does not fit the plan.
pub(crate) fn decide(
    asked: &Asked,
    decide: &Decide,
    known: &Known,
) -> Result<Consequence, ControlError> {
    match decide {
        Decide::Plan(choice) => Review::new(asked, choice, known)?.come(),
        // A plain yes is the most careful one.
        plain if *plain == Decide::allow() => {
            let choice = choice(Way::Manual);
            Review::new(asked, &choice, known)?.come()
        }
        Decide::Deny { message, interrupt } => no(asked, message.as_deref(), *interrupt, known),
        Decide::Allow { .. } | Decide::Answer { .. } | Decide::Decline { .. } => {
            Err(ControlError::invalid(
                "this is a plan: decide `plan` with one of clear-context, accept-edits, manual, keep-planning",
            ))
        }
    }
}

fn choice(way: Way) -> PlanDecision {
    PlanDecision {
        choice: way,
        mode: None,
        plan: None,
        rules: Vec::new(),
        allowed_prompts: Vec::new(),
        feedback: None,
        images: Vec::new(),
        comments: Vec::new(),
        compact: false,
    }
}

/// No. With words it is *keep planning*; without, it must end the turn, or the agent would not know what to do.
fn no(
    asked: &Asked,
    message: Option<&str>,
    stop: bool,
    known: &Known,
) -> Result<Consequence, ControlError> {
    let said = message.map(str::trim).filter(|said| !said.is_empty());
    match (said, stop, known.agent) {
        (Some(said), false, _) => {
            let choice = PlanDecision {
                feedback: Some(said.to_owned()),
                ..choice(Way::KeepPlanning)
            };
            Review::new(asked, &choice, known)?.come()
        }
        (_, _, Agent::Gone) => Ok(Consequence::without_answer(
            Effect::Deny,
            said.unwrap_or("The person said no."),
        )),
        (None, false, Agent::Waits) if asked.plan_text().is_some() => Err(nothing_said()),
        (None, false, Agent::Waits) => Ok(Consequence {
            way: Some(Way::KeepPlanning),
            ..deny(Some(NO_PLAN), false, known)
        }),
        (said, true, Agent::Waits) => Ok(deny(said, true, known)),
    }
}

/// What is said about a plan, as a message of its own: it is no command of the CLI, however it begins.
fn as_words(said: &str) -> String {
    match said.starts_with('/') {
        true => format!("About the plan: {said}"),
        false => said.to_owned(),
    }
}

fn nothing_said() -> ControlError {
    ControlError::invalid(
        "say what shall be different: `feedback`, `comments`, `images` or a changed `plan`",
    )
}

/// One decision about one plan.
struct Review<'a> {
    asked: &'a Asked,
    choice: &'a PlanDecision,
    known: &'a Known,
    /// The plan as the person changed it.
    edited: Option<&'a str>,
    /// The plan as it is to be carried out.
    text: Option<&'a str>,
    /// What the person says about it.
    said: Option<String>,
}

impl<'a> Review<'a> {
    fn new(
        asked: &'a Asked,
        choice: &'a PlanDecision,
        known: &'a Known,
    ) -> Result<Self, ControlError> {
        let shown = asked.plan_text();
        let edited = choice.plan.as_deref();
        if edited.is_some_and(|text| text.trim().is_empty()) {
            return Err(ControlError::invalid(
                "the changed plan is empty: leave it out, or keep planning",
            ));
        }
        let edited = edited.filter(|text| Some(text.trim()) != shown.map(str::trim));
        let is_image = |block: &Value| block.get("type").and_then(Value::as_str) == Some("image");
        if !choice.images.iter().all(is_image) {
            return Err(ControlError::invalid(
                "`images` takes content blocks of the type `image` only",
            ));
        }
        if choice.mode.is_some() && choice.choice != Way::ClearContext {
            return Err(ControlError::invalid(
                "only a fresh conversation takes a `mode`: the other ways say it themselves",
            ));
        }
        if !choice.allowed_prompts.is_empty() {
            return Err(ControlError::invalid(
                "a wish of a plan is prose and allows nothing: name in `rules` what it shall allow, such as one of the \
                 wish's `offers`",
            ));
        }
        Ok(Self {
            said: feedback::said(choice, shown)?,
            text: edited.or(shown),
            asked,
            choice,
            known,
            edited,
        })
    }

    fn come(&self) -> Result<Consequence, ControlError> {
        let mut come = match self.choice.choice {
            Way::ClearContext => self.clear_context()?,
            Way::AcceptEdits if self.text.is_none() => {
                return Err(ControlError::invalid(
                    "there is no text of a plan: choose `manual` or `keep-planning`",
                ));
            }
            Way::AcceptEdits => self.approve(Mode::Edits)?,
            Way::Manual => self.approve(Mode::Ask)?,
            Way::KeepPlanning => self.keep_planning()?,
        };
        // Where the agent has to present it again, it goes on planning first.
        come.way = come.way.or(Some(self.choice.choice));
        come.edited_plan = self.edited.map(str::to_owned);
        self.grant(&mut come)?;
        Ok(come)
    }

    /// The rules that go along hold once the plan is approved, whichever conversation carries it out.
    fn grant(&self, come: &mut Consequence) -> Result<(), ControlError> {
        let rules = &self.choice.rules;
        if rules.is_empty() {
            return Ok(());
        }
        if self.choice.choice == Way::KeepPlanning {
            return Err(ControlError::invalid(
                "nothing is granted while the plan is not approved: leave out `rules`",
            ));
        }
        if rules.len() > MOST_RULES {
            return Err(ControlError::invalid(format!(
                "at most {MOST_RULES} rules go along with a plan"
            )));
        }
        if come.effect == Effect::Deny {
            come.notes.push(
                "The rules that were chosen are not made yet: choose them again when the changed plan is presented."
                    .to_owned(),
            );
            return Ok(());
        }
        let rule = |text: &String| NewRule {
            text: text.trim().to_owned(),
            scope: Scope::Session,
            expires: None,
        };
        come.rules = rules.iter().map(rule).collect();
        Ok(())
    }

    /// A fresh conversation with the plan. The wire says no, and the turn ends.
    fn clear_context(&self) -> Result<Consequence, ControlError> {
        let text = self.text.ok_or_else(|| {
            ControlError::invalid(
                "there is no text of a plan to begin a fresh conversation with: choose `manual` or `keep-planning`",
            )
        })?;
        if self.choice.compact {
            return Err(ControlError::invalid(
                "a fresh conversation has nothing to compact: leave out `compact`",
            ));
        }
        let mode = self.choice.mode.unwrap_or(Mode::Edits);
        if matches!(mode, Mode::Plan | Mode::HandsOff { .. }) {
            return Err(ControlError::invalid(
                "a plan is carried out in one of the modes edits, ask, rules-only",
            ));
        }
        let message = "The plan is carried out in a fresh conversation.";
        let mut come = self.ending_the_turn(Effect::Allow, message);
        come.after = After::ClearContext {
            session: session_id(self.known.approval),
            prompt: self.message(0, self.with_said(format!("Carry out this plan:\n\n{text}"))),
            mode,
        };
        Ok(come)
    }

    /// The plan is approved, and the conversation goes on.
    fn approve(&self, mode: Mode) -> Result<Consequence, ControlError> {
        if self.known.agent == Agent::Gone || self.choice.compact || self.needs_turn_for_images() {
            return self.approve_by_message(mode);
        }
        match self.edited {
            Some(edited) if !writes_plans(self.known.version) => Ok(self.present_again(edited)),
            edited => Ok(self.approve_on_the_wire(mode, edited)),
        }
    }

    fn approve_on_the_wire(&self, mode: Mode, edited: Option<&str>) -> Consequence {
        let input = edited.map(|edited| {
            let mut input = self.asked.input.as_object().cloned().unwrap_or_default();
            input.insert("plan".to_owned(), Value::from(edited));
            Value::Object(input)
        });
        let updates = vec![Update::mode(PermissionMode::Default).into()];
        let mut come = Consequence::of(Answer::Allow { input, updates }, "The plan is approved.");
        come.mode = Some(mode);
        if self.said.is_some() || !self.choice.images.is_empty() {
            let text = self
                .said
                .as_deref()
                .unwrap_or("Images for the plan that was approved.");
            let messages = vec![self.message(0, text.to_owned())];
            come.after = After::Then { messages };
        }
        come
    }

    /// The agent has gone, or the context is to be compacted first: the approval is a message that carries the plan.
    fn approve_by_message(&self, mode: Mode) -> Result<Consequence, ControlError> {
        let told = match self.text {
            Some(text) => format!("The plan is approved. Carry it out:\n\n{text}"),
            None => "Leaving plan mode is approved. Go on.".to_owned(),
        };
        let messages = self.compacted(self.with_said(told));
        let message = match (self.choice.compact, self.known.agent) {
            (true, _) => "The plan is approved. The conversation is compacted before it goes on.",
            (false, Agent::Gone) => "The plan is approved. Another agent carries it out.",
            (false, Agent::Waits) => "The plan is approved. The next message says how it goes on.",
        };
        let mut come = self.ending_the_turn(Effect::Allow, message);
        come.mode = Some(mode);
        come.after = self.later(Some(mode), mode, messages);
        Ok(come)
    }

    /// An older version would carry out the plan as it was: the agent has to present the changed one.
    fn present_again(&self, edited: &str) -> Consequence {
        let message = self.with_said(format!(
            "The person changed the plan. Present this one instead:\n\n{edited}"
        ));
        Consequence {
            way: Some(Way::KeepPlanning),
            ..self.deny_and_go_on(message)
        }
    }

    fn keep_planning(&self) -> Result<Consequence, ControlError> {
        let changed = self
            .edited
            .map(|edited| format!("The plan as the person changed it:\n\n{edited}"));
        let parts: Vec<&str> = [self.said.as_deref(), changed.as_deref()]
            .into_iter()
            .flatten()
            .collect();
        let message = match (parts.is_empty(), self.choice.images.is_empty()) {
            (true, true) => return Err(nothing_said()),
            (true, false) => "What the person says about the plan follows as images.".to_owned(),
            (false, _) => parts.join("\n\n"),
        };
        let is_by_message = self.choice.compact || self.needs_turn_for_images();
        if self.known.agent == Agent::Waits && !is_by_message {
            return Ok(self.deny_and_go_on(message));
        }
        let messages = self.compacted(as_words(&message));
        let mut come = self.ending_the_turn(Effect::Deny, &message);
        come.after = self.later(None, Mode::Plan, messages);
        Ok(come)
    }

    /// No; the agent goes on planning. Images follow as one message.
    fn deny_and_go_on(&self, message: String) -> Consequence {
        let answer = Answer::Deny {
            message: message.clone(),
            stop: false,
        };
        let mut come = Consequence::of(answer, message);
        if !self.choice.images.is_empty() {
            let text = "Images for what was said about the plan.".to_owned();
            come.after = After::Then {
                messages: vec![self.message(0, text)],
            };
        }
        come
    }

    /// There are images, and this version would lose them in the middle of a turn: they go when it has ended.
    fn needs_turn_for_images(&self) -> bool {
        let keeps = |version| version >= FIRST_TO_KEEP_IMAGES;
        !self.choice.images.is_empty() && !self.known.version.is_some_and(keeps)
    }

    /// The turn ends with a denial, if there is one to end.
    fn ending_the_turn(&self, effect: Effect, message: &str) -> Consequence {
        let answer = Answer::Deny {
            message: message.to_owned(),
            stop: true,
        };
        Consequence {
            answer: (self.known.agent == Agent::Waits).then_some(answer),
            ..Consequence::without_answer(effect, message)
        }
    }

    /// These messages go when the turn has ended, or when an agent is there again.
    fn later(&self, changed: Option<Mode>, mode: Mode, messages: Vec<Message>) -> After {
        match self.known.agent {
            Agent::Waits => After::OnceIdle {
                mode: changed,
                messages,
            },
            Agent::Gone => After::Resume { mode, messages },
        }
    }

    fn compacted(&self, text: String) -> Vec<Message> {
        let mut messages = Vec::new();
        if self.choice.compact {
            messages.push(Message {
                id: message_id(self.known.approval, 1),
                text: COMPACT.to_owned(),
                blocks: Vec::new(),
            });
        }
        messages.push(self.message(0, text));
        messages
    }

    /// A message to the agent, with the images.
    fn message(&self, number: u32, text: String) -> Message {
        Message {
            id: message_id(self.known.approval, number),
            text,
            blocks: self.choice.images.clone(),
        }
    }

    fn with_said(&self, text: String) -> String {
        match &self.said {
            Some(said) => format!("{text}\n\nThe person adds:\n\n{said}"),
            None => text,
        }
    }
}
