//! The sub-agents a session knows: built in, from Markdown files, from `--agents` and from `initialize`.
//!
//! Owns who wins where two have one name, and how a list of them is told. What a sub-agent says is not known here.
//! Invariant: names are unique, and lists are in the order of names without regard to case.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::front;
use super::places::Places;
use super::plugins::Plugin;
use super::settings::Chosen;
use crate::cli::source::Source;

/// Where a sub-agent comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::cli) enum AgentSource {
    /// Part of the CLI.
    BuiltIn,
    /// `agents` in the configuration folder.
    User,
    /// `.claude/agents` of the project.
    Project,
    /// `--agents`, or `agents` of `initialize`.
    Flag,
}

/// A sub-agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) struct AgentDef {
    pub(in crate::cli) name: String,
    pub(in crate::cli) description: String,
    /// The tools it may use; all where it does not say.
    pub(in crate::cli) tools: Option<Vec<String>>,
    /// `inherit`, an alias or an id; the CLI's choice where it does not say.
    pub(in crate::cli) model: Option<String>,
    pub(in crate::cli) source: AgentSource,
}

/// All sub-agents of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::cli) struct Agents {
    list: Vec<AgentDef>,
}

impl Agents {
    /// The ones that are part of the CLI, from the list its `initialize` gives, and the ones in files.
    pub(in crate::cli) fn load(built_in: &Value, places: &Places, chosen: Chosen) -> Self {
        let mut agents = Self::default();
        for info in built_in.as_array().into_iter().flatten() {
            agents.add(built_in_agent(info));
        }
        let folders = [
            (Source::User, AgentSource::User),
            (Source::Project, AgentSource::Project),
        ];
        for (source, kind) in folders {
            let folder = places.claude_folder(source).filter(|_| chosen.has(source));
            for file in folder
                .iter()
                .flat_map(|folder| markdown_below(&folder.join("agents")))
            {
                let content = std::fs::read_to_string(&file).unwrap_or_default();
                agent_of_file(&content, kind)
                    .into_iter()
                    .for_each(|agent| agents.add(agent));
            }
        }
        agents
    }

    /// Adds the agents of a plugin.
    pub(in crate::cli) fn add_plugin(&mut self, plugin: &Plugin) {
        for file in markdown_below(&plugin.folder.join("agents")) {
            let content = std::fs::read_to_string(&file).unwrap_or_default();
            if let Some(mut agent) = agent_of_file(&content, AgentSource::User) {
                agent.name = plugin.named(&agent.name);
                self.add(agent);
            }
        }
    }

    /// Adds agents as `--agents` and `initialize` give them: an object with the names as keys. One that lacks its
    /// description or prompt is none.
    pub(in crate::cli) fn add_json(&mut self, agents: &Value) {
        for (name, body) in agents.as_object().into_iter().flatten() {
            agent_of_json(name, body)
                .into_iter()
                .for_each(|agent| self.add(agent));
        }
    }

    /// The sub-agent of this name.
    pub(in crate::cli) fn lookup(&self, name: &str) -> Option<&AgentDef> {
        self.list.iter().find(|agent| agent.name == name)
    }

    /// The names, for `init.agents`.
    pub(in crate::cli) fn names(&self) -> Vec<&str> {
        self.list.iter().map(|agent| &*agent.name).collect()
    }

    /// Name, description and model of each, for the reply to `initialize`.
    pub(in crate::cli) fn infos(&self) -> Vec<Value> {
        let info = |agent: &AgentDef| {
            let mut info = json!({"name": agent.name, "description": agent.description});
            if let Some(model) = &agent.model {
                info["model"] = (**model).into();
            }
            info
        };
        self.list.iter().map(info).collect()
    }

    /// The later of two with one name stays, unless it comes from a weaker source.
    fn add(&mut self, agent: AgentDef) {
        if let Some(known) = self.list.iter_mut().find(|known| known.name == agent.name) {
            if agent.source >= known.source {
                *known = agent;
            }
            return;
        }
        self.list.push(agent);
        self.list
            .sort_by_cached_key(|agent| (agent.name.to_lowercase(), agent.name.clone()));
    }
}

fn built_in_agent(info: &Value) -> AgentDef {
    let text = |key: &str| info[key].as_str().map(str::to_owned);
    AgentDef {
        name: text("name").unwrap_or_default(),
        description: text("description").unwrap_or_default(),
        tools: None,
        model: text("model"),
        source: AgentSource::BuiltIn,
    }
}

/// A file without a name or a description is no agent.
fn agent_of_file(content: &str, source: AgentSource) -> Option<AgentDef> {
    let parts = front::parse(content);
    let tools = parts
        .list("tools")
        .filter(|tools| !tools.iter().any(|tool| tool == "*"));
    Some(AgentDef {
        name: parts.text("name")?,
        description: parts.text("description")?,
        tools,
        model: parts.text("model"),
        source,
    })
}

fn agent_of_json(name: &str, body: &Value) -> Option<AgentDef> {
    let text = |key: &str| body[key].as_str().map(str::to_owned);
    text("prompt")?;
    let tools = body["tools"].as_array();
    let texts = |tools: &Vec<Value>| {
        let tools = tools.iter().filter_map(Value::as_str);
        tools.map(str::to_owned).collect()
    };
    Some(AgentDef {
        name: name.to_owned(),
        description: text("description")?,
        tools: tools.map(texts),
        model: text("model"),
        source: AgentSource::Flag,
    })
}

/// How deep folders are followed.
const DEPTH: usize = 8;

/// The `.md` files below a folder, in the order of their paths. None where there is no folder.
pub(super) fn markdown_below(folder: &Path) -> Vec<PathBuf> {
    fn walk(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        for path in entries.map(|entry| entry.path()) {
            if path.is_dir() && depth > 0 {
                walk(&path, depth - 1, files);
            } else if path.extension().is_some_and(|ending| ending == "md") {
                files.push(path);
            }
        }
    }
    let mut files = Vec::new();
    walk(folder, DEPTH, &mut files);
    files.sort();
    files
}

#[cfg(test)]
mod tests {
    use super::super::tests::places_with;
    use super::*;

    #[test]
    fn files_and_flags_are_listed_by_name_and_the_nearer_source_wins() {
        let files = [
            (
                "conf/agents/a.md",
                "name: alpha\ndescription: User alpha\nmodel: opus\ntools: Read, Grep",
            ),
            ("conf/agents/b.md", "name: beta\ndescription: User beta"),
            ("conf/agents/noname.md", "description: no name"),
            (
                "project/.claude/agents/sub/c.md",
                "name: beta\ndescription: Project beta\ntools: [Read, Bash]",
            ),
            (
                "project/.claude/agents/e.md",
                "name: multi\ndescription: Two\ntools: \"*\"",
            ),
        ];
        let files = files.map(|(path, head)| (path, format!("---\n{head}\n---\nYou are it.\n")));
        let (_root, places) = places_with(&files.each_ref().map(|(path, text)| (*path, &**text)));
        let built_in = json!([{"name": "claude", "description": "Catch-all"}, {"name": "Explore", "description": "Looks", "model": "inherit"}]);
        let mut agents = Agents::load(&built_in, &places, Chosen::ALL);
        let beta = agents.lookup("beta").unwrap();
        assert_eq!(beta.description, "Project beta");
        assert_eq!(beta.tools.as_deref().unwrap(), ["Read", "Bash"]);
        assert_eq!(agents.lookup("multi").unwrap().tools, None);
        agents.add_json(&json!({
            "delta": {"description": "Flag delta", "prompt": "You are delta", "model": "haiku"},
            "beta": {"description": "Flag beta", "prompt": "p"}, "nobody": {"prompt": "You are nobody"},
        }));
        let names = ["alpha", "beta", "claude", "delta", "Explore", "multi"];
        assert_eq!(agents.names(), names);
        let beta = json!({"name": "beta", "description": "Flag beta"});
        assert_eq!(agents.infos()[1], beta);
    }
}
