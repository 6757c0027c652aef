//! Whether a tool call runs, is refused or is asked about.
//!
//! Rules, modes and folders in, a [`Decision`] with every field of `can_use_tool` out. Of the disk it asks only whether a
//! path is a folder and where a link leads. Invariant: what is not known to be harmless is asked about.

mod calls;
mod decision;
mod parts;
mod places;
mod question;
mod rule;
mod rules;
mod shell;
#[cfg(test)]
mod tests;
mod update;

use std::path::{Path, PathBuf};

use serde_json::Value;

pub(in crate::cli) use calls::{Call, Mcp};
use calls::{Touch, touch_of};
pub(in crate::cli) use decision::{Accepted, Decision, ModeError, Refusal, answered_meta};
use decision::{MODES, named_mode};
use places::Places;
use question::{Firm, Question, Verdict};
use rule::{Behavior, Rule, today};
use rules::Rules;
pub(in crate::cli) use shell::only_looks;

use super::paths::tidy;
use super::source::Source;

/// What a session's permissions start from.
#[derive(Debug)]
pub(in crate::cli) struct Setup {
    /// `--permission-mode`; without one the settings' `permissions.defaultMode` holds.
    pub(in crate::cli) mode: Option<String>,
    /// Launched with a flag that lets the session switch to `bypassPermissions`.
    pub(in crate::cli) bypass_allowed: bool,
    /// The host can be asked, by `can_use_tool` (`--permission-prompt-tool stdio`).
    pub(in crate::cli) asks_host: bool,
    pub(in crate::cli) cwd: PathBuf,
    pub(in crate::cli) home: PathBuf,
    pub(in crate::cli) config_dir: PathBuf,
    /// `--add-dir`.
    pub(in crate::cli) dirs: Vec<PathBuf>,
    /// The rules of `--allowedTools` and `--disallowedTools`.
    pub(in crate::cli) allowed: Vec<String>,
    pub(in crate::cli) disallowed: Vec<String>,
    pub(in crate::cli) settings: Vec<(Source, Value)>,
    /// Without trust in the folder, what the project allows does not count.
    pub(in crate::cli) trusted: bool,
}

/// The permissions of one session.
#[derive(Debug, Default)]
pub(in crate::cli) struct Permissions {
    mode: String,
    /// The mode that a plan was begun in.
    before_plan: Option<String>,
    bypass_allowed: bool,
    asks_host: bool,
    rules: Rules,
    /// Working folders beside the session's own.
    folders: Vec<(PathBuf, Source)>,
    places: Places,
}

impl Permissions {
    /// The permissions a session starts with.
    pub(in crate::cli) fn new(setup: Setup) -> Self {
        let mode = start_mode(&setup);
        let mut permissions = Permissions {
            before_plan: (mode == "plan").then(|| "default".to_owned()),
            bypass_allowed: setup.bypass_allowed || mode == "bypassPermissions",
            mode: mode.to_owned(),
            asks_host: setup.asks_host,
            rules: Rules::new(setup.trusted),
            folders: Vec::new(),
            places: Places {
                root: tidy(&setup.cwd),
                home: setup.home,
                config_dir: setup.config_dir,
                plan_file: None,
            },
        };
        for (source, settings) in &setup.settings {
            permissions.replace_settings(*source, settings);
        }
        let dirs = setup.dirs.into_iter().map(|dir| (dir, Source::CliArg));
        permissions.folders.extend(dirs);
        for (texts, behavior) in [
            (setup.allowed, Behavior::Allow),
            (setup.disallowed, Behavior::Deny),
        ] {
            for rule in texts.iter().filter_map(|text| Rule::parse(text)) {
                permissions.rules.add(Source::CliArg, behavior, rule);
            }
        }
        permissions
    }

    /// The mode, as it is named on the wire.
    pub(in crate::cli) fn mode(&self) -> &str {
        &self.mode
    }

    /// Sets the mode, as `set_permission_mode` asks.
    pub(in crate::cli) fn set_mode(&mut self, name: &str) -> Result<(), ModeError> {
        let mode = named_mode(name).ok_or(ModeError::Unknown)?;
        if mode == "bypassPermissions" && !self.bypass_allowed {
            return Err(ModeError::NotLaunched);
        }
        self.switch(mode.to_owned());
        Ok(())
    }

    fn switch(&mut self, mode: String) {
        let before = std::mem::replace(&mut self.mode, mode);
        match (before.as_str(), self.mode.as_str()) {
            ("plan", "plan") => {}
            (_, "plan") => self.before_plan = Some(before),
            _ => self.before_plan = None,
        }
    }

    /// Begins to plan.
    pub(in crate::cli) fn enter_plan(&mut self) {
        self.switch("plan".to_owned());
    }

    /// Ends planning: back to the mode that was before.
    pub(in crate::cli) fn leave_plan(&mut self) {
        if self.mode == "plan" {
            let before = self.before_plan.take();
            self.switch(before.unwrap_or_else(|| "default".to_owned()));
        }
    }

    /// Says where the plan is written from now on.
    pub(in crate::cli) fn set_plan_file(&mut self, file: &str) {
        self.places.plan_file = Some(PathBuf::from(file));
    }

    /// Takes what a source says now in place of what it said before.
    pub(in crate::cli) fn replace_settings(&mut self, source: Source, settings: &Value) {
        self.rules.replace(source, settings);
        self.folders.retain(|(_, from)| *from != source);
        let listed = settings["permissions"]["additionalDirectories"].as_array();
        for folder in listed.into_iter().flatten().filter_map(Value::as_str) {
            let path = self.places.absolute(folder);
            let of_project = matches!(source, Source::Project | Source::Local);
            if (!of_project || self.rules.trusted) && path.is_dir() {
                self.folders.push((path, source));
            }
        }
    }

    /// Whether the tool is taken out of the session by a rule.
    pub(in crate::cli) fn is_removed(&self, tool: &str) -> bool {
        self.rules.whole(Behavior::Deny, today(tool)).is_some()
    }

    /// Why an agent of this type may not be started, in the CLI's words.
    pub(in crate::cli) fn agent_denied(&self, agent: &str) -> Option<String> {
        let source = (self.rules).fitting(Behavior::Deny, "Agent", |content| content == agent)?;
        let source = source.name();
        Some(format!(
            "Agent type '{agent}' has been denied by permission rule 'Agent({agent})' from {source}."
        ))
    }

    /// Fills in the input of a call: this is what runs and what the host is asked about.
    pub(in crate::cli) fn settle(&self, tool: &str, input: Value) -> Value {
        calls::settle(&self.places, tool, input)
    }

    /// What the host would be asked if there were one.
    pub(in crate::cli) fn would_ask(&mut self, call: &Call<'_>) -> Option<Value> {
        let before = std::mem::replace(&mut self.asks_host, true);
        let decision = self.decide(call);
        self.asks_host = before;
        match decision {
            Decision::Ask(fields) => Some(fields),
            _ => None,
        }
    }

    /// Decides about a call.
    pub(in crate::cli) fn decide(&self, call: &Call<'_>) -> Decision {
        let verdict = self.verdict(call, self.mode == "acceptEdits");
        let held = match self.mode.as_str() {
            "bypassPermissions" => match verdict {
                Verdict::Asked(asked) if asked.firm >= Firm::Rule => Verdict::Asked(asked),
                Verdict::Denied(refusal) => Verdict::Denied(refusal),
                _ => Verdict::Free(Accepted::MODE),
            },
            "plan" if self.held_by_plan(call, &verdict) => {
                Verdict::Asked(Question::by_mode(call.tool))
            }
            _ => verdict,
        };
        self.settled(call, held)
    }

    /// Decides about a call that a hook wants to be asked about.
    pub(in crate::cli) fn ask_because(&self, call: &Call<'_>, reason: Option<&str>) -> Decision {
        let verdict = match self.verdict(call, self.mode == "acceptEdits") {
            Verdict::Asked(asked) if asked.firm >= Firm::Danger => Verdict::Asked(asked),
            Verdict::Denied(refusal) => Verdict::Denied(refusal),
            _ => Verdict::Asked(Question::by_hook(reason.unwrap_or_default())),
        };
        self.settled(call, verdict)
    }

    /// Decides about a call that a hook allows: rules that deny or ask and safety checks still hold.
    pub(in crate::cli) fn hook_allows(&self, call: &Call<'_>) -> Decision {
        if self.mode == "plan" {
            return match self.decide(call) {
                Decision::Run(_) => Decision::Run(Accepted::HOOK),
                held => held,
            };
        }
        let verdict = match self.verdict(call, true) {
            Verdict::Denied(refusal) => Verdict::Denied(Refusal {
                event: None,
                ..refusal
            }),
            Verdict::Asked(asked) if asked.firm > Firm::Usual => Verdict::Asked(asked),
            _ => Verdict::Free(Accepted::HOOK),
        };
        self.settled(call, verdict)
    }

    /// The working folders beside the session's own.
    pub(in crate::cli) fn more_folders(&self) -> impl Iterator<Item = &Path> {
        self.folders.iter().map(|(folder, _)| folder.as_path())
    }

    /// What rules and folders say, before the mode has its say.
    fn verdict(&self, call: &Call<'_>, edits_free: bool) -> Verdict {
        let base = match self.mode.as_str() {
            "plan" => self.before_plan.as_deref().unwrap_or("default"),
            mode => mode,
        };
        let check = calls::Check {
            rules: &self.rules,
            places: &self.places,
            folders: &self.folders,
            edits_free,
            offers_edits: base == "default",
        };
        match call.tool {
            "Bash" | "Monitor" => shell::judge(&check, call.text("command")),
            _ => calls::judge(&check, call),
        }
    }

    fn held_by_plan(&self, call: &Call<'_>, verdict: &Verdict) -> bool {
        let edits = touch_of(call.tool) == Some(Touch::Write);
        let acts = call.mcp.is_some_and(|mcp| !mcp.read_only);
        match verdict {
            Verdict::Free(free) => *free != Accepted::OWN_FILE && (edits || acts),
            Verdict::Asked(asked) => match asked.firm {
                Firm::Usual => edits || acts,
                Firm::Safety => acts,
                _ => false,
            },
            Verdict::Denied(_) => false,
        }
    }

    /// Puts the question, if there is one, to whoever can answer.
    fn settled(&self, call: &Call<'_>, verdict: Verdict) -> Decision {
        let asked = match verdict {
            Verdict::Free(accepted) => return Decision::Run(accepted),
            Verdict::Denied(refusal) => return Decision::Refuse(refusal),
            Verdict::Asked(asked) => asked,
        };
        match self.asks_host {
            _ if self.mode == "dontAsk" && asked.kind() != Some("hook") => {
                Decision::Refuse(Refusal::without_asking(call.tool))
            }
            false => Decision::Refuse(Refusal::unasked(&asked)),
            true => Decision::Ask(calls::shown(&self.places, call, asked.fields)),
        }
    }
}

/// The mode of the flag, else of the settings, else the usual one. What a folder says does not switch off the questions.
fn start_mode(setup: &Setup) -> &'static str {
    let told = |source: Source| {
        let (_, settings) = setup.settings.iter().find(|(from, _)| *from == source)?;
        let mode = named_mode(settings["permissions"]["defaultMode"].as_str()?)?;
        let of_folder = matches!(source, Source::Project | Source::Local);
        (mode != "bypassPermissions" || !of_folder).then_some(mode)
    };
    let mut sources = Source::ALL.into_iter().rev().map(|(_, source)| source);
    let by_flag = setup.mode.as_deref().and_then(named_mode);
    by_flag
        .or_else(|| sources.find_map(told))
        .unwrap_or(MODES[0])
}
