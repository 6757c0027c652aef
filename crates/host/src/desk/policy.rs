//! The desk of one session: where its questions are settled by rule, or laid before a person.
//!
//! Owns the rules of a session from all their places, its mode and what the mode means, and the plan files. Invariants:
//! while rules cannot be read nothing is allowed by rule; what a person changed is another call; a mode that asks nobody
//! denies what no rule allows.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use countersign_client::Json;
use countersign_client::wire::control::CanUseTool;
use countersign_client::wire::tools::ToolInput;
use countersign_policy::source::{self, Trust};
use countersign_policy::{
    Call, Effect, Explanation, Place, Policy, Profile, Rule, Verdict, Why, suggest,
};
use jiff::Timestamp;
use serde_json::Value;

use super::error::DeskError;
use super::files::Files;
use super::grounds::Grounds;
use super::kept::{KeptRule, moment};
use super::plan_files::PlanFiles;
use super::ruling::{Because, Ruling};
use super::time_box::TimeBox;
use crate::approval::{KeptFile, changed_path};
use crate::control::{ControlError, Mode};

/// The desk of one session and one agent.
#[derive(Debug)]
pub struct Desk {
    grounds: Grounds,
    files: Files,
    kept: Vec<KeptRule>,
    /// All rules that count, whoever made them, and what the mode means at the last ruling.
    policy: Policy,
    /// Why nothing is allowed by rule, if it is so.
    closed: Option<String>,
    /// A folder of the session that leads to another one by now.
    elsewhere: Option<PathBuf>,
    add_dirs: Vec<PathBuf>,
    mode: Mode,
    hands_off: Option<TimeBox>,
    /// What is known of plan mode before the CLI says so: older versions do not.
    plans: Option<bool>,
    plan_files: PlanFiles,
    begun: Instant,
}

/// What a repository brings and nobody has trusted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Withheld {
    /// Rules that would allow something.
    pub rules: Vec<String>,
    /// Folders that would count as inside.
    pub folders: Vec<PathBuf>,
    /// What the CLI would start.
    pub programs: Vec<String>,
}

impl Withheld {
    /// Whether there is nothing to trust.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty() && self.folders.is_empty() && self.programs.is_empty()
    }
}

impl Desk {
    /// Hands-off lasts so long at most.
    pub const LONGEST_HANDS_OFF: Duration = super::time_box::LONGEST;

    /// Whether hands-off may end then.
    ///
    /// # Errors
    /// When it would be over already, or last too long.
    pub fn check_until(until: u64, now: u64) -> Result<(), ControlError> {
        let longest = Self::LONGEST_HANDS_OFF.as_micros() as u64;
        match until > now && until - now <= longest {
            true => Ok(()),
            false => Err(ControlError::invalid(
                "hands-off must end within a day from now",
            )),
        }
    }

    /// Opens the desk of a session. `mode` is the one in force for this very agent: for one that is about to be started
    /// it is [`Mode::for_next_agent`].
    pub fn open(grounds: Grounds, kept: Vec<KeptRule>, mode: Mode, now: u64) -> Self {
        let files = Files::read(&grounds.sources, timestamp(now));
        let mut desk = Self {
            files,
            kept,
            policy: Policy::default(),
            closed: None,
            elsewhere: None,
            add_dirs: Vec::new(),
            mode: Mode::Ask,
            hands_off: None,
            plans: None,
            plan_files: PlanFiles::default(),
            begun: Instant::now(),
            grounds,
        };
        desk.put_together();
        desk.set_mode(mode, now);
        desk
    }

    /// Where the session works.
    pub fn grounds(&self) -> &Grounds {
        &self.grounds
    }

    /// The mode at this moment: hands-off that is over is *ask*.
    pub fn mode(&self, now: u64) -> Mode {
        match self.hands_off {
            Some(time_box) if time_box.is_over(now, self.up()) => Mode::Ask,
            _ => self.mode,
        }
    }

    /// Another mode from now on.
    pub fn set_mode(&mut self, mode: Mode, now: u64) {
        self.mode = mode;
        self.hands_off = match mode {
            Mode::HandsOff { until } => Some(TimeBox::begin(until, now, self.up())),
            _ => None,
        };
        self.plans = None;
    }

    /// How long hands-off still holds, if it was given.
    pub fn hands_off_left(&self, now: u64) -> Option<Duration> {
        let time_box = self.hands_off?;
        Some(time_box.left(now, self.up()))
    }

    /// This desk takes the place of another one of the same agent: hands-off is not given anew, so that a clock that was set
    /// back meanwhile prolongs nothing.
    pub fn go_on_from(&mut self, before: &Self) {
        if self.mode == before.mode {
            self.hands_off = before.hands_off;
            self.begun = before.begun;
        }
        self.grounds.led_as(&before.grounds);
    }

    /// The next agent is about to be started: what was granted to this one is over.
    pub fn next_agent(&mut self, now: u64) {
        self.set_mode(self.mode.for_next_agent(), now);
    }

    /// Whether nobody is asked: elicitations and dialogs are declined then.
    pub fn asks_nobody(&self, now: u64) -> bool {
        self.mode(now) == Mode::RulesOnly
    }

    /// A person let the agent into plan mode or out of it. Holds until the CLI says more.
    pub fn planning(&mut self, plans: bool) {
        self.plans = Some(plans);
    }

    /// The CLI told its mode: what was assumed is over.
    pub fn mode_told(&mut self) {
        self.plans = None;
    }

    /// A plan file that this session has written before; `agent` is the sub-agent that did.
    pub fn remember_plan_file(&mut self, agent: Option<String>, file: PathBuf) {
        let folder = self.grounds.plans.as_ref();
        self.plan_files.remember(agent, &file, folder);
    }

    /// A plan file that an agent before this one has written in this session. This one may name another.
    pub fn remember_earlier_plan_file(&mut self, agent: Option<String>, file: PathBuf) {
        let folder = self.grounds.plans.as_ref();
        self.plan_files.remember_earlier(agent, &file, folder);
    }

    /// Rules on a question. `cli_mode` is the CLI's mode, as it last said.
    pub fn rule_on(&mut self, ask: &CanUseTool, cli_mode: Option<&str>, now: u64) -> Ruling {
        self.refresh(now);
        let call = self.call_of(ask, cli_mode);
        let verdict = self.decide(&call, now);
        if verdict.effect == Effect::Deny {
            let message = verdict.reason.text.clone();
            let because = Because::of(&verdict);
            return Ruling::Deny { message, because };
        }
        let because = match &self.closed {
            Some(why) => Because::plain(Because::UNREADABLE, why.clone()),
            None if verdict.effect == Effect::Allow => return Ruling::Allow(Because::of(&verdict)),
            None => Because::of(&verdict),
        };
        if self.asks_nobody(now) {
            return refused(&call.tool, &because);
        }
        if self.closed.is_some() {
            return Ruling::Ask {
                because,
                suggestions: Vec::new(),
                edits_would_do: false,
            };
        }
        Ruling::Ask {
            because,
            suggestions: suggest(&self.policy, &call, &self.place(), timestamp(now)),
            edits_would_do: self.edits_allow(&call, now),
        }
    }

    /// Whether the call would be allowed if these rules held, too.
    ///
    /// # Errors
    /// When a text is no rule.
    pub fn would_allow(
        &mut self,
        rules: &[KeptRule],
        ask: &CanUseTool,
        cli_mode: Option<&str>,
        now: u64,
    ) -> Result<bool, DeskError> {
        self.refresh(now);
        let call = self.call_of(ask, cli_mode);
        let mut wider = Policy {
            profile: self.profile(now),
            rules: self.policy.rules.clone(),
        };
        for rule in rules {
            wider.rules.push(self.rule(rule)?);
        }
        let verdict = wider.decide(&call, &self.place(), timestamp(now));
        Ok(self.closed.is_none() && verdict.effect == Effect::Allow)
    }

    /// Judges an input that a person changed: it is another call, that no rule may forbid and the tool must take.
    ///
    /// # Errors
    /// Why it cannot be sent.
    pub fn check_changed(
        &mut self,
        ask: &CanUseTool,
        input: &Value,
        cli_mode: Option<&str>,
        now: u64,
    ) -> Result<(), String> {
        let tool = ask.tool_name.as_str();
        if input.as_object().is_none_or(serde_json::Map::is_empty) {
            return Err("an empty input would run the call as it was: nothing was sent".to_owned());
        }
        if let Err(error) = ToolInput::view(tool, &Json::from(input.clone())) {
            return Err(format!(
                "{tool} does not take this ({error}): nothing was sent"
            ));
        }
        self.refresh(now);
        let mut call = Call::new(tool, input.clone());
        call.in_plan_mode = self.is_planning(cli_mode);
        let verdict = self.decide(&call, now);
        match verdict.effect {
            Effect::Deny => Err(format!("{} Nothing was sent.", verdict.reason.text)),
            Effect::Allow | Effect::Ask => Ok(()),
        }
    }

    /// What it would say about a call, part by part, and what would change that.
    pub fn explain(&mut self, call: &Call, now: u64) -> Explanation {
        self.refresh(now);
        self.policy.profile = self.profile(now);
        self.policy.explain(call, &self.place(), timestamp(now))
    }

    /// The file that a call would change, as it is now. One that this session may not read is not read for its question.
    pub fn file_as_asked(&mut self, tool: &str, input: &Value, now: u64) -> Option<KeptFile> {
        let path = changed_path(tool, input, &self.grounds.sources.cwd)?;
        let read = Call::new("Read", serde_json::json!({"file_path": path}));
        let verdict = self.explain(&read, now).verdict;
        let is_closed = verdict.effect == Effect::Deny || verdict.reason.why == Why::Protected;
        Some(match is_closed {
            true => KeptFile::withheld(
                path,
                format!("The file is not read: {}", verdict.reason.text),
            ),
            false => KeptFile::read(tool, input, path),
        })
    }

    /// These hold from now on, beside the others.
    pub fn add_rules(&mut self, rules: Vec<KeptRule>) {
        self.kept.extend(rules);
        self.put_together();
    }

    /// The kept rules are these, and no others.
    pub fn set_rules(&mut self, rules: Vec<KeptRule>) {
        self.kept = rules;
        self.put_together();
    }

    /// More folders count as inside from now on.
    pub fn add_dirs(&mut self, folders: impl IntoIterator<Item = PathBuf>) {
        let cwd = self.grounds.sources.cwd.clone();
        let before = self.grounds.add_dirs.len();
        for folder in folders.into_iter().map(|folder| cwd.join(folder)) {
            if !self.grounds.add_dirs.contains(&folder) {
                self.grounds.add_dirs.push(folder);
            }
        }
        if self.grounds.add_dirs.len() > before {
            self.grounds.note_where_they_lead();
            self.put_together();
        }
    }

    /// Reads the files again if one has changed, and looks whether the session's folders are what they were. True if anything
    /// is new; a ruling does this by itself.
    pub fn refresh(&mut self, now: u64) -> bool {
        let elsewhere = self.grounds.leads_elsewhere().map(PathBuf::from);
        let mut changed = elsewhere != self.elsewhere;
        self.elsewhere = elsewhere;
        changed |= self.files.refresh(&self.grounds.sources, timestamp(now));
        if changed {
            self.put_together();
        }
        changed
    }

    /// Why nothing is allowed by rule, while rules cannot be read.
    pub fn closed(&self) -> Option<&str> {
        self.closed.as_deref()
    }

    /// What the repository brings and nobody has trusted.
    pub fn withheld(&self) -> Withheld {
        let loaded = &self.files.loaded;
        Withheld {
            rules: loaded.withheld.iter().map(ToString::to_string).collect(),
            folders: loaded.withheld_dirs.clone(),
            programs: loaded.withheld_programs.clone(),
        }
    }

    /// A person trusts what the repository brings, as it is now. Programs of it run from the next agent on.
    ///
    /// # Errors
    /// When there is nothing to trust, or it cannot be written down.
    pub fn trust(&mut self, now: u64) -> Result<(), DeskError> {
        self.refresh(now);
        let offer = match (&self.files.loaded.offer, self.files.loaded.trust) {
            (Some(offer), Trust::Untrusted | Trust::Changed) => offer,
            _ => {
                return Err(DeskError::NotTrusted(
                    "there is nothing to trust".to_owned(),
                ));
            }
        };
        let file = self.grounds.sources.trust_file();
        let file = file.ok_or_else(|| {
            DeskError::NotTrusted("there is no folder to keep this in: set HOME".to_owned())
        })?;
        source::trust_folder(&file, offer, timestamp(now))
            .map_err(|error| DeskError::NotTrusted(error.to_string()))?;
        self.files = Files::read(&self.grounds.sources, timestamp(now));
        self.grounds.find_plans();
        self.put_together();
        Ok(())
    }

    /// The rules of MCP servers among the session's.
    pub(super) fn mcp_tools(&self) -> impl Iterator<Item = &str> {
        let rules = self.policy.rules.iter();
        let tools = rules.map(|rule| rule.matcher.tool.as_str());
        tools.filter(|tool| tool.starts_with("mcp__"))
    }

    /// Folders that a person added to the session; those of settings files the CLI finds by itself.
    pub(super) fn added(&self) -> &[PathBuf] {
        &self.grounds.add_dirs
    }

    /// What is wrong with rules of files that can be read all the same: those that name no existing tool.
    pub(crate) fn findings(&self) -> Vec<String> {
        self.files.findings()
    }

    /// Brings the rules of all places together.
    fn put_together(&mut self) {
        let mut unreadable = self.files.unreadable();
        let mut rules = self.files.rules();
        for kept in &self.kept {
            match self.rule(kept) {
                Ok(rule) => rules.push(rule),
                // One that allows is not missed; it only asks more.
                Err(error) if kept.effect == Effect::Allow => {
                    tracing::warn!(rule = kept.text, %error, "a kept rule cannot be read");
                }
                Err(error) => unreadable.push(error.to_string()),
            }
        }
        self.policy.rules = rules;
        self.closed = match &self.elsewhere {
            Some(folder) => Some(format!(
                "{} leads to another folder than when the agent began, so everything is asked: stop the agent, and resume it \
                 if that folder is meant.",
                folder.display()
            )),
            None => (!unreadable.is_empty()).then(|| {
                format!(
                    "Rules that may forbid something cannot be read, so everything is asked: {}",
                    unreadable.join("; ")
                )
            }),
        };
        let of_files = self.files.loaded.add_dirs.iter();
        let of_person = self.grounds.add_dirs.iter().chain(&self.grounds.uploads);
        self.add_dirs = of_files.chain(of_person).cloned().collect();
    }

    fn rule(&self, kept: &KeptRule) -> Result<Rule, DeskError> {
        let sources = &self.grounds.sources;
        kept.rule(&sources.cwd, sources.copy_of.as_deref())
    }

    fn call_of(&mut self, ask: &CanUseTool, cli_mode: Option<&str>) -> Call {
        let mut call = Call::asked(ask);
        call.in_plan_mode = self.is_planning(cli_mode);
        let agent = ask.agent_id.as_ref().map(|id| id.as_str());
        let folder = self.grounds.plans.as_ref();
        call.plan_file = self.plan_files.of(agent, &call, folder);
        call
    }

    /// A person's word holds before the CLI has heard it; that it plans no more is for the CLI to say.
    fn is_planning(&self, cli_mode: Option<&str>) -> bool {
        match (self.plans, self.mode) {
            (Some(plans), _) => plans,
            (None, Mode::Plan) => true,
            (None, _) => cli_mode == Some("plan"),
        }
    }

    fn decide(&mut self, call: &Call, now: u64) -> Verdict {
        self.policy.profile = self.profile(now);
        self.policy.decide(call, &self.place(), timestamp(now))
    }

    fn place(&self) -> Place<'_> {
        self.grounds.place(&self.add_dirs)
    }

    /// What holds where no rule speaks. A file may say so for the mode that asks.
    fn profile(&self, now: u64) -> Profile {
        match self.mode(now) {
            Mode::Plan | Mode::RulesOnly => Profile::Careful,
            Mode::Ask => self.files.loaded.profile.unwrap_or_default(),
            Mode::Edits => Profile::Edits,
            Mode::HandsOff { until } => Profile::HandsOff {
                until: timestamp(until),
            },
        }
    }

    /// Whether the mode *edits* would allow it.
    fn edits_allow(&mut self, call: &Call, now: u64) -> bool {
        let profile = std::mem::replace(&mut self.policy.profile, Profile::Edits);
        let verdict = self.policy.decide(call, &self.place(), timestamp(now));
        self.policy.profile = profile;
        verdict.effect == Effect::Allow
    }

    /// What a clock shows that nobody sets.
    fn up(&self) -> Duration {
        self.begun.elapsed()
    }
}

/// The moment for the policy. One that no clock shows is the last there is: whatever has an end has ended.
fn timestamp(micros: u64) -> Timestamp {
    moment(micros).unwrap_or(Timestamp::MAX)
}

/// What the model is told where nobody is asked.
fn refused(tool: &str, because: &Because) -> Ruling {
    let message = match tool {
        "AskUserQuestion" => {
            "Nobody is here to answer. Decide by yourself, or say what you would need to know."
                .to_owned()
        }
        "ExitPlanMode" => "Nobody is here to approve a plan.".to_owned(),
        _ => format!(
            "This was not allowed: the session does only what rules allow. {}",
            because.text
        ),
    };
    Ruling::Deny {
        because: Because {
            kind: Because::NOBODY.into(),
            ..because.clone()
        },
        message,
    }
}
