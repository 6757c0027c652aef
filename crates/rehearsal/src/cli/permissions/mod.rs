//! Whether a tool call runs, is refused or is asked about, as the CLI 2.1.325 was measured to decide it.
//!
//! Pure: rules, modes and folders in, a [`Decision`] with every field of `can_use_tool` out; the disk is asked two
//! questions through [`World`]. What a decision looks like for some thousand calls stands in `measured.jsonl`, taken
//! from the real CLI. Invariant: where the measured behaviour is not known, the call is asked about.

mod ask;
mod bench;
mod command;
mod decision;
mod files;
mod glob;
mod listing;
mod mode;
mod other;
mod paths;
mod rule;
mod rules;
mod setup;
#[cfg(test)]
#[cfg(unix)]
mod table;
#[cfg(test)]
#[cfg(unix)]
mod tests;
mod update;
mod wish;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

pub(in crate::cli) use decision::{Accepted, Decision, Refusal, answered_meta};
pub(in crate::cli) use mode::{ModeError, UNCHECKED_LIMIT};
#[cfg(test)]
use setup::World;
pub(in crate::cli) use setup::{Disk, Prompts, Setup};
#[cfg(test)]
use update::Applied;
pub(in crate::cli) use wish::{Mcp, Wish};

use super::source::Source;
use ask::{Asked, Free, Kind, Verdict};
use bench::Bench;
use paths::Places;
use rule::{Behavior, Rule};
use rules::{Rules, Touch};

const BY_HOOK: Accepted = Accepted {
    source: "hook",
    reason_type: Some("hook"),
};

/// The permissions of one session.
#[derive(Debug)]
pub(in crate::cli) struct Permit {
    mode: &'static str,
    /// The mode that a plan was begun in.
    before_plan: Option<&'static str>,
    /// The plan was begun by an update: then nothing is checked by a classifier.
    plan_by_update: bool,
    bypass_allowed: bool,
    prompts: Prompts,
    rules: Rules,
    /// Working folders beside the session's own.
    folders: Vec<(PathBuf, Source)>,
    /// What each source says about checking by a classifier while planning.
    auto_while_planning: Vec<(Source, bool)>,
    places: Places,
}

impl Permit {
    /// The permissions a session starts with.
    pub(in crate::cli) fn new(setup: Setup) -> Self {
        let mode = start_mode(&setup);
        let mut permit = Permit {
            mode: "default",
            before_plan: None,
            plan_by_update: false,
            bypass_allowed: setup.bypass_allowed || mode == "bypassPermissions",
            prompts: setup.prompts,
            rules: Rules::new(setup.trusted),
            folders: Vec::new(),
            auto_while_planning: Vec::new(),
            places: Places {
                root: paths::tidy(&setup.cwd),
                home: setup.home,
                config_dir: setup.config_dir,
                plan_file: setup.plan_file,
                world: setup.world,
            },
        };
        for (source, settings) in &setup.settings {
            permit.replace_settings(*source, settings);
        }
        permit
            .folders
            .extend(setup.dirs.into_iter().map(|dir| (dir, Source::CliArg)));
        for (texts, behavior) in [
            (setup.allowed, Behavior::Allow),
            (setup.disallowed, Behavior::Deny),
        ] {
            for rule in texts.iter().filter_map(|text| Rule::parse(text)) {
                permit.rules.add(Source::CliArg, behavior, rule);
            }
        }
        permit.switch(mode);
        permit
    }

    /// The mode, as it is named on the wire.
    pub(in crate::cli) fn mode(&self) -> &'static str {
        self.mode
    }

    /// Sets the mode, as `set_permission_mode` asks.
    pub(in crate::cli) fn set_mode(&mut self, name: &str) -> Result<(), ModeError> {
        let mode = mode::named(name).ok_or(ModeError::Unknown)?;
        if mode == "bypassPermissions" && !self.bypass_allowed {
            return Err(ModeError::NotLaunched);
        }
        self.switch(mode);
        Ok(())
    }

    fn switch(&mut self, mode: &'static str) {
        match (self.mode, mode) {
            ("plan", "plan") => {}
            (_, "plan") => self.before_plan = Some(self.mode),
            _ => self.before_plan = None,
        }
        self.mode = mode;
        self.plan_by_update = false;
        self.refresh();
    }

    /// Rules that would let anything run do not count where a classifier is meant to look.
    fn refresh(&mut self) {
        self.rules.wary =
            self.mode == "auto" || self.mode == "plan" && self.checks_while_planning();
    }

    /// Begins to plan.
    pub(in crate::cli) fn enter_plan(&mut self) {
        self.switch("plan");
    }

    /// Ends planning: back to the mode that was before.
    pub(in crate::cli) fn leave_plan(&mut self) {
        if self.mode == "plan" {
            let before = self.before_plan.unwrap_or("default");
            self.switch(before);
        }
    }

    /// Where the plan is written, from now on.
    pub(in crate::cli) fn set_plan_file(&mut self, file: Option<PathBuf>) {
        self.places.plan_file = file;
    }

    /// Takes what a source says now in place of what it said before.
    pub(in crate::cli) fn replace_settings(&mut self, source: Source, settings: &Value) {
        self.rules.replace(source, settings);
        self.folders.retain(|(_, from)| *from != source);
        let listed = settings["permissions"]["additionalDirectories"].as_array();
        for folder in listed.into_iter().flatten().filter_map(Value::as_str) {
            let path = self.places.absolute(&self.places.root, folder);
            let trusted = source != Source::Project || self.rules.trusted;
            if trusted && self.places.world.is_dir(&path) {
                self.folders.push((path, source));
            }
        }
        self.auto_while_planning.retain(|(from, _)| *from != source);
        if let Some(auto) = settings["useAutoModeDuringPlan"].as_bool() {
            self.auto_while_planning.push((source, auto));
        }
        self.refresh();
    }

    /// Whether the tool is taken out of the session by a rule.
    pub(in crate::cli) fn removed(&self, tool: &str) -> bool {
        self.rules
            .whole(Behavior::Deny, rule::today(tool))
            .is_some()
    }

    /// Why an agent of this type may not be started, in the CLI's words.
    pub(in crate::cli) fn agent_denied(&self, agent: &str) -> Option<String> {
        let entry = self
            .rules
            .fitting(Behavior::Deny, "Agent", |content| content == agent)?;
        let source = entry.source.name();
        Some(format!(
            "Agent type '{agent}' has been denied by permission rule 'Agent({agent})' from {source}."
        ))
    }

    /// The input as the CLI settles it: this is what runs and what the host is asked about.
    pub(in crate::cli) fn settle(
        &self,
        tool: &str,
        input: Value,
        shell_cwd: Option<&Path>,
    ) -> Value {
        wish::settle(
            &self.places,
            shell_cwd.unwrap_or(&self.places.root),
            tool,
            input,
        )
    }

    /// Who can be asked, from now on.
    pub(in crate::cli) fn set_prompts(&mut self, prompts: Prompts) -> Prompts {
        std::mem::replace(&mut self.prompts, prompts)
    }

    /// Decides about a call.
    pub(in crate::cli) fn decide(&self, wish: &Wish<'_>) -> Decision {
        let verdict = self.judged(wish, self.mode == "acceptEdits");
        match self.mode {
            "bypassPermissions" => self.bypassing(wish, verdict),
            "auto" => self.checked(wish, verdict),
            "plan" => self.planning(wish, verdict),
            _ => self.plainly(wish, verdict),
        }
    }

    /// Decides about a call that a hook wants to be asked about.
    pub(in crate::cli) fn ask_because(&self, wish: &Wish<'_>, reason: Option<&str>) -> Decision {
        match self.judged(wish, self.mode == "acceptEdits") {
            Verdict::Denied(refusal) => Decision::Refuse(refusal),
            Verdict::Asked(asked) if asked.danger || asked.personal => self.put(wish, &asked),
            _ => self.put(wish, &Asked::because(reason.unwrap_or(""), Kind::Hook)),
        }
    }

    /// Decides about a call that a hook allows: rules that deny or ask and safety checks still hold.
    pub(in crate::cli) fn hook_allows(&self, wish: &Wish<'_>) -> Decision {
        if self.mode == "plan" {
            return match self.decide(wish) {
                Decision::Run(_) => Decision::Run(BY_HOOK),
                held => held,
            };
        }
        match self.judged(wish, true) {
            Verdict::Denied(refusal) => Decision::Refuse(Refusal {
                event: None,
                ..refusal
            }),
            Verdict::Asked(asked) if asked.holds_against_hooks() => self.put(wish, &asked),
            _ => Decision::Run(BY_HOOK),
        }
    }

    fn judged(&self, wish: &Wish<'_>, edits_free: bool) -> Verdict {
        let folders: Vec<PathBuf> = self.folders.iter().map(|(path, _)| path.clone()).collect();
        let bench = self.bench(wish, &folders, edits_free);
        if matches!(wish.tool, "Bash" | "Monitor") {
            return command::judge(&bench, wish.text("command"));
        }
        match files::touch_of(wish.tool) {
            Some(touch) => files::judge(&bench, wish, touch),
            None => other::judge(&bench, wish),
        }
    }

    fn bench<'a>(&'a self, wish: &Wish<'a>, folders: &'a [PathBuf], edits_free: bool) -> Bench<'a> {
        let base = if self.mode == "plan" {
            self.before_plan.unwrap_or("default")
        } else {
            self.mode
        };
        Bench {
            rules: &self.rules,
            places: &self.places,
            dirs: folders,
            shell: wish.shell_cwd.unwrap_or(&self.places.root),
            edits_free,
            offer_edits: base == "default",
            offer_rule: wish.tool == "Bash",
        }
    }

    fn plainly(&self, wish: &Wish<'_>, verdict: Verdict) -> Decision {
        match verdict {
            Verdict::Free(free) => Decision::Run(free.accepted()),
            Verdict::Denied(refusal) => Decision::Refuse(refusal),
            Verdict::Asked(asked) => self.put(wish, &asked),
        }
    }

    fn bypassing(&self, wish: &Wish<'_>, verdict: Verdict) -> Decision {
        match verdict {
            Verdict::Denied(refusal) => Decision::Refuse(refusal),
            Verdict::Asked(asked) if asked.danger || asked.personal || asked.ruled() => {
                self.put(wish, &asked)
            }
            _ => Decision::Run(mode::by_mode()),
        }
    }

    /// `auto`: what would be asked needs a check that does not run here.
    fn checked(&self, wish: &Wish<'_>, verdict: Verdict) -> Decision {
        let asked = match verdict {
            Verdict::Asked(asked) => asked,
            Verdict::Free(_) if rule::today(wish.tool) == "Agent" => {
                return Decision::Refuse(Refusal::unchecked(wish.tool));
            }
            other => return self.plainly(wish, other),
        };
        if asked.personal || asked.ruled() {
            return self.put(wish, &asked);
        }
        if asked.danger {
            return Decision::Refuse(Refusal::removal(&asked));
        }
        let reads = files::touch_of(wish.tool) == Some(Touch::Read);
        let edits = self.mode == "auto" && matches!(self.judged(wish, true), Verdict::Free(_));
        if reads || edits {
            return Decision::Run(mode::by_mode());
        }
        Decision::Refuse(Refusal::unchecked(wish.tool))
    }

    fn planning(&self, wish: &Wish<'_>, verdict: Verdict) -> Decision {
        let edits = files::touch_of(wish.tool) == Some(Touch::Write);
        let acts = wish.mcp.is_some_and(|mcp| !mcp.read_only);
        let held = match &verdict {
            Verdict::Free(free) => *free != Free::Own && (edits || acts),
            Verdict::Asked(asked) => {
                (edits && asked.kind != Some(Kind::Safety) || acts) && !asked.ruled()
            }
            Verdict::Denied(_) => false,
        };
        if held {
            let tool = wish.tool;
            let asked = Asked {
                message: format!(
                    "Claude requested permissions to use {tool}, but you haven't granted it yet."
                ),
                kind: Some(Kind::Mode),
                ..Asked::default()
            };
            return self.put(wish, &asked);
        }
        if self.checks_while_planning() {
            self.checked(wish, verdict)
        } else {
            self.plainly(wish, verdict)
        }
    }

    fn checks_while_planning(&self) -> bool {
        let order = |source: &Source| Source::ALL.iter().position(|(_, known)| known == source);
        let said = self
            .auto_while_planning
            .iter()
            .max_by_key(|(source, _)| order(source));
        let begun = !self.plan_by_update && self.before_plan != Some("bypassPermissions");
        said.is_none_or(|(_, auto)| *auto) && begun
    }

    /// Puts the question to whoever can answer.
    fn put(&self, wish: &Wish<'_>, asked: &Asked) -> Decision {
        match self.prompts {
            _ if self.mode == "dontAsk" && asked.kind != Some(Kind::Hook) => {
                Decision::Refuse(Refusal::without_asking(wish.tool))
            }
            Prompts::Nobody => Decision::Refuse(Refusal::unasked(asked)),
            Prompts::Off => Decision::Refuse(Refusal::unanswerable(asked)),
            Prompts::Host => Decision::Ask(self.question(wish, asked)),
        }
    }

    fn question(&self, wish: &Wish<'_>, asked: &Asked) -> Value {
        let mut fields = asked.fields();
        fields.insert("display_name".into(), other::display_name(wish).into());
        if let Some(description) = other::description(&self.bench(wish, &[], false), wish) {
            fields.insert("description".into(), description.into());
        }
        if let Some(mcp) = wish.mcp {
            fields.insert(
                "mcp_server".into(),
                json!({"name": mcp.server, "source": mcp.source}),
            );
        }
        if asked.kind == Some(Kind::Hook) {
            fields.insert("decision_reason_hook_event".into(), "PreToolUse".into());
            fields.insert("decision_reason_hook_source".into(), "settings".into());
        }
        Value::Object(fields)
    }
}

/// The mode of the flag, else of the settings, else the usual one. What a folder says does not switch off the questions.
fn start_mode(setup: &Setup) -> &'static str {
    let told = |source: Source| {
        let (_, settings) = setup.settings.iter().find(|(from, _)| *from == source)?;
        let mode = mode::named(settings["permissions"]["defaultMode"].as_str()?)?;
        let of_folder = matches!(source, Source::Project | Source::Local);
        (mode != "bypassPermissions" || !of_folder).then_some(mode)
    };
    let sources = [
        Source::Policy,
        Source::Flag,
        Source::Local,
        Source::Project,
        Source::User,
    ];
    let by_flag = setup.mode.as_deref().and_then(mode::named);
    by_flag
        .or_else(|| sources.into_iter().find_map(told))
        .unwrap_or("default")
}
