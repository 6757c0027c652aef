//! What the model is offered: tools, sub-agents, commands, the plan file.

use serde_json::Value;

use super::Engine;
use super::deed::{Deed, Kind};
use crate::cli::disk::{self, Plugin};

impl Engine {
    /// The tools of this session, those of the host's servers last.
    pub(super) fn tool_names(&self) -> Vec<String> {
        let mut names = texts(&self.cast.line("init")["tools"]);
        if let Some(chosen) = &self.flags.tools {
            names = chosen.clone();
        }
        let banned = |name: &String| self.flags.disallowed.contains(name);
        let needs_host = |name: &String| {
            ["AskUserQuestion", "EnterPlanMode", "ExitPlanMode"].contains(&name.as_str())
        };
        if !self.flags.asks_host && self.scribe.is_some() {
            names.retain(|name| !needs_host(name));
        }
        names.retain(|name| !banned(name));
        if self.flags.schema.is_some() {
            insert(&mut names, "StructuredOutput");
        }
        names.extend(self.servers.tools());
        names
    }

    pub(super) fn agent_names(&self) -> Vec<String> {
        match &self.agents {
            Some(agents) => agents.names().into_iter().map(str::to_owned).collect(),
            None => texts(&self.cast.line("init")["agents"]),
        }
    }

    pub(super) fn knows_agent(&self, kind: &str) -> bool {
        self.agent_names().iter().any(|name| name == kind)
    }

    /// Commands and skills of this folder, its user and plugins beside those of the CLI, and the plugins.
    pub(super) fn offer_commands(&self, line: &mut Value) {
        let Some(commands) = &self.commands else {
            return;
        };
        if let Some(list) = line["slash_commands"].as_array().cloned() {
            line["slash_commands"] = commands.names(&list).into();
        }
        if let Some(list) = line["skills"].as_array().cloned() {
            line["skills"] = commands.skills(&list).into();
        }
        if let Some(list) = line["plugins"].as_array_mut() {
            list.splice(..0, self.plugins.iter().map(Plugin::info));
        }
    }

    /// The plan has one file in a session.
    pub(super) fn choose_plan_file(&mut self) {
        if self.plan_file.is_some() {
            return;
        }
        let prompt = self.turn.as_ref().map(|turn| turn.prompt.clone());
        let path = disk::plan_file(&self.config_dir, self.seed, prompt.as_deref());
        self.plan_file = Some(path.clone());
        self.permissions.set_plan_file(&path);
        self.order(Deed(Kind::Plan { path }));
    }
}

/// The list is in order, but for `Task` at its beginning.
fn insert(names: &mut Vec<String>, name: &str) {
    if names.iter().any(|known| known == name) {
        return;
    }
    let before = |known: &String| known == "Task" || known.as_str() < name;
    let index = names.iter().position(|known| !before(known));
    names.insert(index.unwrap_or(names.len()), name.to_owned());
}

fn texts(list: &Value) -> Vec<String> {
    let items = list.as_array().into_iter().flatten();
    items
        .filter_map(|item| Some(item.as_str()?.to_owned()))
        .collect()
}
