//! Slash commands and skills of the user and the project, from Markdown files.
//!
//! Owns their names, how they are told in lists, and the text a call of one puts before the model. Those that are part
//! of the CLI are not known here. Invariant: of two with one name the user's stays, as in the real CLI.

use std::path::Path;

use serde_json::{Value, json};

use super::agents::markdown_below;
use super::front;
use super::places::Places;
use super::plugins::Plugin;
use super::settings::Chosen;
use crate::cli::source::Source;

/// A command or skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) struct CommandDef {
    /// How it is called: the file's or folder's name, with `:` for folders between.
    pub(in crate::cli) name: String,
    /// What its head calls it, where that is something else.
    shown: Option<String>,
    pub(in crate::cli) description: String,
    argument_hint: String,
    pub(in crate::cli) is_skill: bool,
    /// Whether the description is its own; else it was made from the text.
    described: bool,
    source: Source,
    plugin: Option<String>,
    body: String,
}

/// All of them, skills first; those of plugins apart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::cli) struct Commands {
    list: Vec<CommandDef>,
    of_plugins: Vec<CommandDef>,
}

impl Commands {
    /// Reads the files of the chosen sources.
    pub(in crate::cli) fn load(places: &Places, chosen: Chosen) -> Self {
        let mut all = Self::default();
        let sources = [Source::User, Source::Project];
        let folders = sources.into_iter().filter(|source| chosen.has(*source));
        let folders: Vec<_> = folders
            .filter_map(|source| Some((source, places.claude_folder(source)?)))
            .collect();
        for (source, folder) in &folders {
            all.add_skills(*source, &folder.join("skills"));
        }
        let skills = all.list.len();
        for (source, folder) in &folders {
            all.add_commands(*source, &folder.join("commands"));
        }
        all.list[skills..].sort_by(|a, b| a.name.cmp(&b.name));
        all
    }

    /// Adds what a plugin brings, commands first.
    pub(in crate::cli) fn add_plugin(&mut self, plugin: &Plugin) {
        let mut found = Self::default();
        found.add_commands(Source::User, &plugin.folder.join("commands"));
        found.add_skills(Source::User, &plugin.folder.join("skills"));
        let commands = found.list.into_iter();
        let commands = commands.map(|command| command.of_plugin(plugin));
        self.of_plugins.extend(commands);
    }

    /// With `commands` of the reply to `initialize`.
    pub(in crate::cli) fn infos(&self, of_the_cli: &[Value]) -> Vec<Value> {
        self.among(of_the_cli, CommandDef::info)
    }

    /// With `init.slash_commands`.
    pub(in crate::cli) fn names(&self, of_the_cli: &[Value]) -> Vec<Value> {
        self.among(of_the_cli, |command| command.name.as_str().into())
    }

    /// With `init.skills`.
    pub(in crate::cli) fn skills(&self, of_the_cli: &[Value]) -> Vec<Value> {
        let is_skill = |command: &CommandDef| command.is_skill && command.described;
        let only = |list: &[CommandDef]| list.iter().filter(|one| is_skill(one)).cloned().collect();
        let skills = Self {
            list: only(&self.list),
            of_plugins: only(&self.of_plugins),
        };
        skills.names(of_the_cli)
    }

    /// Those of files stand in front of the CLI's, those of plugins behind its first one.
    fn among(&self, of_the_cli: &[Value], told: impl Fn(&CommandDef) -> Value) -> Vec<Value> {
        let (first, rest) = of_the_cli.split_at(of_the_cli.len().min(1));
        let own = self.list.iter().map(&told).chain(first.iter().cloned());
        let of_plugins = self.of_plugins.iter().map(&told);
        own.chain(of_plugins).chain(rest.iter().cloned()).collect()
    }

    /// The command of this name, without its slash.
    pub(in crate::cli) fn lookup(&self, name: &str) -> Option<&CommandDef> {
        let named =
            |command: &&CommandDef| command.name == name || command.shown.as_deref() == Some(name);
        self.list.iter().chain(&self.of_plugins).find(named)
    }

    fn add(&mut self, command: CommandDef) {
        if !self.list.iter().any(|known| known.name == command.name) {
            self.list.push(command);
        }
    }

    fn add_skills(&mut self, source: Source, folder: &Path) {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        for name in names {
            let Ok(content) = std::fs::read_to_string(folder.join(&name).join("SKILL.md")) else {
                continue;
            };
            if front::parse(&content).text("user-invocable").as_deref() != Some("false") {
                self.add(CommandDef::read(name, &content, source, true));
            }
        }
    }

    fn add_commands(&mut self, source: Source, folder: &Path) {
        for file in markdown_below(folder) {
            let Ok(content) = std::fs::read_to_string(&file) else {
                continue;
            };
            let below = file
                .strip_prefix(folder)
                .unwrap_or(&file)
                .with_extension("");
            let parts: Vec<_> = below.iter().map(|part| part.to_string_lossy()).collect();
            self.add(CommandDef::read(parts.join(":"), &content, source, false));
        }
    }
}

impl CommandDef {
    fn read(name: String, content: &str, source: Source, is_skill: bool) -> Self {
        let parts = front::parse(content);
        let own = parts.text("description");
        let described = own.is_some();
        let first = parts.body.lines().find(|line| !line.trim().is_empty());
        let first = first.map(|line| line.trim_start_matches('#').trim().to_owned());
        let description = own.or(first).unwrap_or_else(|| "Custom command".to_owned());
        let shown = parts
            .text("name")
            .filter(|shown| is_skill && *shown != name);
        Self {
            shown,
            description: description.trim_end().to_owned(),
            argument_hint: parts.text("argument-hint").unwrap_or_default(),
            is_skill,
            described,
            source,
            plugin: None,
            body: parts.body.to_owned(),
            name,
        }
    }

    fn of_plugin(mut self, plugin: &Plugin) -> Self {
        let own = std::mem::take(&mut self.name);
        self.name = plugin.named(&own);
        self.plugin = Some(plugin.name.clone());
        self.shown = self.is_skill.then_some(own);
        self
    }

    fn info(&self) -> Value {
        let (name, alias) = match (&self.plugin, &self.shown) {
            (Some(_), shown) => (&self.name, shown.as_ref()),
            (None, Some(shown)) => (shown, Some(&self.name)),
            (None, None) => (&self.name, None),
        };
        let description = match (&self.plugin, self.source) {
            (Some(plugin), _) => format!("({plugin}) {}", self.description),
            (None, Source::User) => format!("{} (user)", self.description),
            (None, _) => format!("{} (project)", self.description),
        };
        let mut info =
            json!({"name": name, "description": description, "argumentHint": self.argument_hint});
        if let Some(alias) = alias {
            info["aliases"] = json!([alias]);
        }
        info
    }

    /// What the transcript holds as the user's message when it is called.
    pub(in crate::cli) fn call(&self, arguments: &str) -> String {
        let name = &self.name;
        let mut call = format!(
            "<command-message>{name}</command-message>\n<command-name>/{name}</command-name>"
        );
        if !arguments.is_empty() {
            call.push_str(&format!("\n<command-args>{arguments}</command-args>"));
        }
        call
    }

    /// What is put before the model: the text with the arguments in their place.
    pub(in crate::cli) fn text(&self, arguments: &str) -> String {
        if self.body.contains("$ARGUMENTS") {
            return self.body.replace("$ARGUMENTS", arguments);
        }
        let mut text = self.body.clone();
        let words: Vec<&str> = arguments.split_whitespace().collect();
        for number in 1..=9 {
            let place = format!("${number}");
            text = text.replace(&place, words.get(number - 1).copied().unwrap_or_default());
        }
        if text == self.body && !arguments.is_empty() {
            text.push_str(&format!("\n\nARGUMENTS: {arguments}"));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::places_with;
    use super::*;

    // The same files gave these names, in this order, on 2.1.325.
    #[test]
    fn skills_come_first_then_commands_by_name_and_a_call_takes_arguments() {
        let (_root, places) = places_with(&[
            (
                "project/.claude/skills/dirname/SKILL.md",
                "---\nname: other-name\ndescription: Project skill\nargument-hint: '[x]'\n---\nx\n",
            ),
            (
                "project/.claude/skills/hid/SKILL.md",
                "---\ndescription: hidden\nuser-invocable: false\n---\nx",
            ),
            ("conf/skills/zz/SKILL.md", "No front matter here\n"),
            ("conf/commands/omega.md", "x"),
            (
                "conf/commands/hello.md",
                "---\ndescription: Says hello\nargument-hint: [who]\n---\nSay hello to $ARGUMENTS\n",
            ),
            ("project/.claude/commands/hello.md", "hello of the project"),
            (
                "project/.claude/commands/x/deep.md",
                "# Heading here\n\n$2 before $1\n",
            ),
        ]);
        let commands = Commands::load(&places, Chosen::ALL);
        assert_eq!(
            commands.names(&[]),
            ["zz", "dirname", "hello", "omega", "x:deep"]
        );
        assert_eq!(commands.skills(&[]), ["dirname"]);
        let expected = [
            json!({"name": "zz", "description": "No front matter here (user)", "argumentHint": ""}),
            json!({"name": "other-name", "description": "Project skill (project)", "argumentHint": "[x]", "aliases": ["dirname"]}),
            json!({"name": "hello", "description": "Says hello (user)", "argumentHint": "who"}),
            json!({"name": "omega", "description": "x (user)", "argumentHint": ""}),
            json!({"name": "x:deep", "description": "Heading here (project)", "argumentHint": ""}),
        ];
        assert_eq!(commands.infos(&[]), expected);
        assert_eq!(commands.lookup("other-name").unwrap().name, "dirname");
        let text = |name: &str, arguments: &str| commands.lookup(name).unwrap().text(arguments);
        assert_eq!(text("hello", "bob"), "Say hello to bob\n");
        assert_eq!(text("omega", "a b"), "x\n\nARGUMENTS: a b");
        assert!(text("x:deep", "a b").ends_with("b before a\n"));
        let call = "<command-message>hello</command-message>\n<command-name>/hello</command-name>\n<command-args>bob</command-args>";
        assert_eq!(commands.lookup("hello").unwrap().call("bob"), call);
    }
}
