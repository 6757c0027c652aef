//! What the session may do: the permission core, in the words of the engine.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::deed::{Deed, Kind};
use super::report::Ending;
use super::{Engine, Launch, Output};
use crate::cli::args::Flags;
use crate::cli::permissions::{
    Decision, Disk, Mcp, ModeError, Permit, Prompts, Refusal, Setup, UNCHECKED_LIMIT, Wish,
};
use crate::cli::source::Source;
use crate::cli::version::Version;

/// Mode and rules of the session.
#[derive(Debug)]
pub(super) struct Rights {
    permit: Permit,
    /// A mode that only old versions take: any word.
    odd_mode: Option<String>,
}

impl Rights {
    /// What flags and settings give.
    pub(super) fn new(launch: &Launch, flags: &Flags) -> Self {
        let ground = launch.ground.as_ref();
        let prompts = match (flags.asks_host, flags.asks_nobody) {
            (_, true) => Prompts::Off,
            (true, false) => Prompts::Host,
            // Inside a test there are no flags, and the host is always there.
            (false, false) if ground.is_none() => Prompts::Host,
            (false, false) => Prompts::Nobody,
        };
        let home = PathBuf::from(&launch.home);
        let setup = Setup {
            mode: flags.mode.clone(),
            bypass_allowed: flags.bypass_allowed,
            prompts,
            cwd: PathBuf::from(&launch.cwd),
            config_dir: match ground {
                Some(ground) => ground.places.config_dir.clone(),
                None => home.join(".claude"),
            },
            home,
            dirs: flags.add_dirs.iter().map(PathBuf::from).collect(),
            allowed: flags.allowed.clone(),
            disallowed: flags.disallowed.clone(),
            settings: ground
                .map(|ground| ground.settings.sources.clone())
                .unwrap_or_default(),
            trusted: ground.is_none_or(|ground| ground.trusted),
            plan_file: None,
            world: Box::new(Disk),
        };
        Self {
            permit: Permit::new(setup),
            odd_mode: None,
        }
    }

    pub(super) fn mode(&self) -> &str {
        self.odd_mode
            .as_deref()
            .unwrap_or_else(|| self.permit.mode())
    }

    pub(super) fn enter_plan(&mut self) {
        self.odd_mode = None;
        self.permit.enter_plan();
    }

    pub(super) fn leave_plan(&mut self) {
        self.permit.leave_plan();
    }

    pub(super) fn set_plan_file(&mut self, path: &str) {
        self.permit.set_plan_file(Some(PathBuf::from(path)));
    }

    pub(super) fn set_mode(&mut self, mode: &str, version: Version) -> Result<(), ModeError> {
        self.odd_mode = None;
        match self.permit.set_mode(mode) {
            Err(ModeError::Unknown) if !version.checks_modes() => {
                self.odd_mode = Some(mode.to_owned());
                Ok(())
            }
            Err(ModeError::NotLaunched) if !version.guards_bypass() => {
                self.odd_mode = Some(mode.to_owned());
                Ok(())
            }
            other => other,
        }
    }

    pub(super) fn settle(&self, tool: &str, input: Value) -> Value {
        self.permit.settle(tool, input, None)
    }

    pub(super) fn removed(&self, tool: &str) -> bool {
        self.permit.removed(tool)
    }

    pub(super) fn agent_denied(&self, kind: &str) -> Option<String> {
        self.permit.agent_denied(kind)
    }

    pub(super) fn listing(&self) -> Value {
        self.permit.listing()
    }

    pub(super) fn replace_settings(&mut self, source: Source, settings: &Value) {
        self.permit.replace_settings(source, settings);
    }

    /// What the rules say of a call.
    pub(super) fn rule(&self, call: &Named<'_>, heard: Heard<'_>) -> Decision {
        // In the mode that only old versions take without a flag, nothing is asked.
        let mcp = call.server.map(|server| Mcp {
            server,
            source: "sdk",
            read_only: call.read_only,
        });
        let wish = Wish {
            mcp,
            ..Wish::new(call.name, call.input)
        };
        match heard {
            Heard::Nothing => self.permit.decide(&wish),
            Heard::Ask(reason) => self.permit.ask_because(&wish, reason),
            Heard::Allow => self.permit.hook_allows(&wish),
        }
    }

    /// What the host would be asked if there were one: callbacks may answer in its place.
    pub(super) fn rule_as_asked(&mut self, call: &Named<'_>) -> Option<Value> {
        let before = self.permit.set_prompts(Prompts::Host);
        let decision = self.rule(call, Heard::Nothing);
        self.permit.set_prompts(before);
        match decision {
            Decision::Ask(body) => Some(body),
            _ => None,
        }
    }

    /// The question of `ask`, which looks at no rules.
    pub(super) fn plain_question(&self, version: Version, name: &str, input: &Value) -> Value {
        let mut body = json!({
            "permission_suggestions": [
                {"type": "setMode", "mode": "acceptEdits", "destination": "session"},
            ],
        });
        if version.stamps_lines() {
            body["display_name"] = name.into();
            if let Some(description) = input.get("description") {
                body["description"] = description.clone();
            }
        }
        body
    }
}

/// A call, as the rules see it.
#[derive(Debug)]
pub(super) struct Named<'a> {
    pub(super) name: &'a str,
    pub(super) input: &'a Value,
    pub(super) server: Option<&'a str>,
    pub(super) read_only: bool,
}

/// What the callbacks before the tool said.
#[derive(Debug, Clone, Copy)]
pub(super) enum Heard<'a> {
    Nothing,
    Ask(Option<&'a str>),
    Allow,
}

impl Engine {
    /// What an answer of the host changes for the rest of the session, or for good.
    pub(super) fn take_updates(&mut self, updates: &[Value]) {
        let before = self.rights.mode().to_owned();
        if self.version.guards_bypass() {
            let applied = self.rights.permit.apply(updates);
            for edit in applied.edits {
                let deed = Deed(Kind::Edit(Box::new(edit)));
                self.out.push(Output::Do {
                    serial: u64::MAX,
                    deed,
                });
            }
        } else {
            self.take_updates_of_old(updates);
        }
        for update in updates {
            let folders = update["directories"].as_array();
            for folder in folders.into_iter().flatten().filter_map(Value::as_str) {
                let path = folder.to_owned();
                let deed = Deed(Kind::AddFolder { path });
                self.out.push(Output::Do {
                    serial: u64::MAX,
                    deed,
                });
            }
        }
        if self.rights.mode() != before && self.version.reports_mode_in_turn() {
            self.say_status();
        }
    }

    /// Old versions let an answer switch to any mode.
    fn take_updates_of_old(&mut self, updates: &[Value]) {
        let (modes, others): (Vec<&Value>, Vec<&Value>) = updates
            .iter()
            .partition(|update| update["type"] == "setMode");
        let others: Vec<Value> = others.into_iter().cloned().collect();
        self.rights.permit.apply(&others);
        for update in modes {
            if let Some(mode) = update["mode"].as_str() {
                // An unknown mode is taken by these versions.
                let _ = self.rights.set_mode(mode, self.version);
            }
        }
    }

    /// A rule refused the call: the host is told, and the model.
    pub(super) fn refuse_by_rule(&mut self, index: usize, refusal: &Refusal) {
        let last = self.is_last_unchecked(refusal);
        let ending = last.then_some(Ending::Unchecked);
        let refusal = match last {
            true => &Refusal::last_unchecked(&self.calls[index].name),
            false => refusal,
        };
        if let (true, Some(event)) = (self.version.stamps_lines(), &refusal.event) {
            let call = &self.calls[index];
            let mut line = json!({
                "subtype": "permission_denied",
                "tool_name": call.name,
                "tool_use_id": call.tool_use_id,
            });
            super::lines::merge(&mut line, event);
            if let Some(agent) = self.agent(call.talk) {
                line["agent_id"] = agent.task_id.clone().into();
            }
            self.say_system(line);
        }
        let meta = refusal.meta();
        self.calls[index].decision = meta["permission_decision"].clone();
        let mut report = super::report::Report::refusal(refusal.text.clone());
        report.not_run = refusal.kind;
        report.ending = ending;
        self.report(index, report);
    }

    /// Whether so many calls of the turn were refused for want of a check that it ends.
    fn is_last_unchecked(&mut self, refusal: &Refusal) -> bool {
        let Some(turn) = &mut self.turn else {
            return false;
        };
        turn.unchecked += usize::from(refusal.is_unchecked());
        refusal.is_unchecked() && turn.unchecked >= UNCHECKED_LIMIT
    }
}
