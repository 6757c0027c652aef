//! What makes the CLI ask about every call, whatever it would let pass on its own.
//!
//! Owns the settings that `--settings` is to hold and the rules that are added once an agent says which tools it has.
//! Does not own the second half, a callback at `PreToolUse` that gives the verdict: rules alone are overruled by a hook
//! of the person's settings on 2.1.62 and 2.0.75 (docs/decisions/009-every-call-is-seen.md). Invariant: no setting goes
//! along that a pinned version may find wrong, since one wrong setting makes the CLI drop all of them without a word.

mod given;

use serde_json::{Map, Value, json};

use given::Sorted;
pub use given::is_taken_everywhere;

/// Whether rules about a tool of this name can ever mean a call: a tool of some version of the CLI, or of an MCP server.
pub fn is_known_tool(name: &str) -> bool {
    name.starts_with("mcp__") || ASKED_TOOLS.contains(&name) || name == "SetGoal"
}

/// Every tool that a pinned version knows or knew, by the names that rules use.
///
/// Tools whose names begin with a small letter are left to [`EVERY_TOOL`]: 2.0.75 takes no such rule.
pub const ASKED_TOOLS: &[&str] = &[
    "Agent",
    "Artifact",
    "AskUserQuestion",
    "Bash",
    "BashOutput",
    "ClaudeDesign",
    "CronCreate",
    "CronDelete",
    "CronList",
    "Edit",
    "EndConversation",
    "EnterPlanMode",
    "EnterWorktree",
    "ExitPlanMode",
    "ExitWorktree",
    "Glob",
    "Grep",
    "KillBash",
    "KillShell",
    "LS",
    "LSP",
    "ListAgents",
    "ListMcpResourcesTool",
    "Monitor",
    "MultiEdit",
    "NotebookEdit",
    "NotebookRead",
    "OfferChromeSetup",
    "PowerShell",
    "Projects",
    "ProposeGoal",
    "PushNotification",
    "Read",
    "ReadMcpResourceDirTool",
    "ReadMcpResourceTool",
    "ReadNotifications",
    "RefreshMcpTools",
    "RemoteTrigger",
    "ReportFindings",
    "ScheduleWakeup",
    "SendFeedback",
    "SendMessage",
    "SendUserFile",
    "SendUserMessage",
    "SetGoal",
    "ShareOnboardingGuide",
    "ShowOnboardingRolePicker",
    "Skill",
    "SlashCommand",
    "StructuredOutput",
    "SubagentHandback",
    "Task",
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskOutput",
    "TaskStop",
    "TaskUpdate",
    "TodoRead",
    "TodoWrite",
    "ToolSearch",
    "WaitForMcpServers",
    "WebFetch",
    "WebSearch",
    "Workflow",
    "Write",
];

/// The rule that means every tool, those of MCP servers among them. Only 2.1.325 takes it so; for older ones it means
/// nothing.
pub const EVERY_TOOL: &str = "*";

/// The settings that make the CLI ask about everything: `given`, what the person passes by flag, with our rules in it.
///
/// `more_tools` are tools and rules beside the known ones: the MCP rules of the person's own settings, the servers that
/// are configured, what an `init` listed. Shorthand for [`Watch::new`].
pub fn asks_about_everything(given: Option<&Value>, more_tools: &[String]) -> Value {
    Watch::new(given, more_tools).settings
}

/// What makes one agent ask about everything.
#[derive(Debug, Clone, PartialEq)]
pub struct Watch {
    /// What `--settings` is to hold. Only one such flag is read, so the person's own stand in it too.
    pub settings: Value,
    /// What the person gave beside that: no version could be trusted to take it without dropping the rest. To be sent by
    /// `apply_flag_settings` once the agent is greeted, which takes it whole or not at all. 2.0.75 has no such request.
    pub rest: Option<Value>,
    /// What stands in [`Watch::rest`], for a person to read: `sandbox`, `hooks.Setup`, `permissions.deny: bash`.
    pub left_out: Vec<String>,
}

impl Watch {
    /// The settings for an agent that is about to start.
    ///
    /// The person's allow and ask rules and their default mode are not passed on: they are weighed by policy, and in the
    /// CLI they would change nothing or, as `dontAsk` does, hide calls. Their deny rules are, as a second lock.
    pub fn new(given: Option<&Value>, more_tools: &[String]) -> Self {
        let Sorted {
            mut kept,
            mut rest,
            left_out,
        } = given::sort(given);
        let mut asks: Vec<String> = ASKED_TOOLS.iter().map(|tool| (*tool).to_owned()).collect();
        add(&mut asks, more_tools.iter().map(String::as_str));
        asks.push(EVERY_TOOL.to_owned());
        set_asks(&mut kept, &asks);
        if let Some(rest) = rest
            .as_mut()
            .filter(|rest| rest.contains_key("permissions"))
        {
            set_asks(rest, &asks);
        }
        kept.insert("useAutoModeDuringPlan".into(), false.into());
        Self {
            settings: Value::Object(kept),
            rest: rest.map(Value::Object),
            left_out,
        }
    }

    /// The rules that are missing for an agent with these tools, as `init` lists them.
    pub fn unwatched(&self, tools: &[String]) -> Vec<String> {
        let asks = self.asks();
        let mut missing: Vec<String> = Vec::new();
        for tool in tools {
            let is_asked = |rule: &str| covers(rule, tool);
            if !asks.iter().any(|rule| is_asked(rule)) && !missing.iter().any(|rule| is_asked(rule))
            {
                missing.push(rule_for(tool));
            }
        }
        missing
    }

    /// Adds what [`Watch::unwatched`] finds. What comes back is to be sent by `apply_flag_settings` (2.1.62 and later);
    /// `None` if every tool is asked about already.
    pub fn watch_also(&mut self, tools: &[String]) -> Option<Value> {
        let missing = self.unwatched(tools);
        if missing.is_empty() {
            return None;
        }
        let mut asks = self.asks();
        let before = asks.len();
        add(&mut asks, missing.iter().map(String::as_str));
        if asks.len() == before {
            return None;
        }
        let settings = self.settings.as_object_mut()?;
        set_asks(settings, &asks);
        Some(json!({"permissions": settings.get("permissions")}))
    }

    fn asks(&self) -> Vec<String> {
        let rules = self.settings["permissions"]["ask"]
            .as_array()
            .into_iter()
            .flatten();
        rules
            .filter_map(|rule| rule.as_str().map(str::to_owned))
            .collect()
    }
}

/// Adds the rules that every version takes; one it does not take would cost all of them.
fn add<'a>(asks: &mut Vec<String>, more: impl Iterator<Item = &'a str>) {
    for text in more {
        let rule = rule_for(text);
        if given::is_taken_everywhere(&rule) && !asks.contains(&rule) {
            asks.push(rule);
        }
    }
}

fn set_asks(settings: &mut Map<String, Value>, asks: &[String]) {
    let permissions = settings.entry("permissions").or_insert_with(|| json!({}));
    if let Some(permissions) = permissions.as_object_mut() {
        permissions.insert("ask".into(), json!(asks));
    }
}

/// The rule that asks about a tool, or about all that a rule means: for an MCP tool its whole server, else the tool
/// without what stands in brackets.
fn rule_for(text: &str) -> String {
    match mcp_server(text) {
        Some(server) => format!("mcp__{server}"),
        None => text.split('(').next().unwrap_or_default().trim().to_owned(),
    }
}

/// The server of `mcp__server__tool`, cut as the CLI cuts it.
fn mcp_server(tool: &str) -> Option<&str> {
    let rest = tool.strip_prefix("mcp__")?;
    let server = rest.split("__").next()?;
    (!server.is_empty() && server != "*").then_some(server)
}

/// Whether a whole-tool rule asks about a tool on every version. [`EVERY_TOOL`] does not.
fn covers(rule: &str, tool: &str) -> bool {
    let is_of_server =
        || rule.starts_with("mcp__") && mcp_server(tool).is_some_and(|server| rule[5..] == *server);
    rule == tool || is_of_server()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(rules: &[&str]) -> Vec<String> {
        rules.iter().map(|rule| (*rule).to_owned()).collect()
    }

    fn asks(settings: &Value) -> Vec<&str> {
        let rules = settings["permissions"]["ask"].as_array().unwrap();
        rules.iter().map(|rule| rule.as_str().unwrap()).collect()
    }

    #[test]
    fn the_known_tools_are_sorted_and_each_is_a_rule_that_every_version_takes() {
        assert!(ASKED_TOOLS.is_sorted());
        for tool in ASKED_TOOLS {
            assert!(given::is_taken_everywhere(tool), "{tool}");
        }
    }

    /// The lists that `init` printed on the pinned versions, MCP servers aside.
    #[test]
    fn no_tool_of_a_pinned_version_is_missing() {
        let watch = Watch::new(None, &[]);
        for tools in [
            "Task AskUserQuestion Bash CronCreate CronDelete CronList Edit EnterPlanMode EnterWorktree ExitPlanMode \
             ExitWorktree ListAgents Monitor NotebookEdit Read ReportFindings ScheduleWakeup SendMessage Skill TaskStop \
             ToolSearch WebFetch WebSearch Workflow Write Glob Grep TaskCreate TaskGet TaskList TaskUpdate \
             ListMcpResourcesTool ReadMcpResourceDirTool ReadMcpResourceTool",
            "Task TaskOutput Bash Glob Grep ExitPlanMode Read Edit Write NotebookEdit WebFetch TodoWrite WebSearch \
             TaskStop AskUserQuestion Skill EnterPlanMode EnterWorktree ToolSearch",
            "Task TaskOutput Bash Glob Grep ExitPlanMode Read Edit Write NotebookEdit WebFetch TodoWrite WebSearch \
             KillShell AskUserQuestion Skill EnterPlanMode LSP",
        ] {
            let tools: Vec<String> = tools.split_whitespace().map(str::to_owned).collect();
            assert_eq!(watch.unwatched(&tools), Vec::<String>::new());
        }
    }

    #[test]
    fn every_tool_is_asked_about_and_auto_mode_does_not_answer_for_the_host() {
        let settings = asks_about_everything(None, &[]);
        assert_eq!(settings["useAutoModeDuringPlan"], false);
        let asks = asks(&settings);
        assert!(ASKED_TOOLS.iter().all(|tool| asks.contains(tool)));
        assert_eq!(asks.last(), Some(&"*"));
    }

    #[test]
    fn more_tools_are_named_as_every_version_takes_them() {
        let more = texts(&[
            "mcp__calc__add",
            "mcp__calc",
            "mcp__git__*",
            "NewTool",
            "Bash(npm test)",
            "propose_skills",
            "mcp__*",
            "",
        ]);
        let settings = asks_about_everything(None, &more);
        let known = ASKED_TOOLS.len();
        assert_eq!(
            asks(&settings)[known..],
            ["mcp__calc", "mcp__git", "NewTool", "*"]
        );
    }

    #[test]
    fn what_a_new_tool_needs_is_sent_once() {
        let mut watch = Watch::new(None, &texts(&["mcp__calc"]));
        let tools = texts(&[
            "Bash",
            "mcp__calc__add",
            "mcp__git__log",
            "mcp__git__show",
            "Fresh",
        ]);
        assert_eq!(watch.unwatched(&tools), ["mcp__git", "Fresh"]);
        let sent = watch.watch_also(&tools).unwrap();
        let rules = asks(&sent);
        assert!(rules.contains(&"mcp__git") && rules.contains(&"Fresh") && rules.contains(&"Bash"));
        assert_eq!(watch.watch_also(&tools), None);
        assert_eq!(asks(&watch.settings), rules);
    }

    #[test]
    fn a_tool_that_no_rule_can_name_stays_unwatched() {
        let mut watch = Watch::new(None, &[]);
        let tools = texts(&["propose_skills"]);
        assert_eq!(watch.watch_also(&tools), None);
        assert_eq!(watch.unwatched(&tools), tools);
    }

    #[test]
    fn rules_of_the_person_and_ours_stand_in_one_object() {
        let given = json!({
            "permissions": {
                "allow": ["Bash"], "ask": ["Read"], "deny": ["Read(./.env)", "bash"],
                "defaultMode": "dontAsk", "additionalDirectories": ["../lib"]
            },
            "useAutoModeDuringPlan": true,
            "env": {"A": "1"}
        });
        let watch = Watch::new(Some(&given), &[]);
        let permissions = &watch.settings["permissions"];
        assert_eq!(permissions["deny"], json!(["Read(./.env)"]));
        assert_eq!(permissions["additionalDirectories"], json!(["../lib"]));
        assert_eq!(
            (permissions.get("allow"), permissions.get("defaultMode")),
            (None, None)
        );
        assert_eq!(watch.settings["useAutoModeDuringPlan"], false);
        assert_eq!(watch.settings["env"], json!({"A": "1"}));
        let rest = watch.rest.unwrap();
        assert_eq!(rest["permissions"]["deny"], json!(["Read(./.env)", "bash"]));
        assert_eq!(asks(&rest), asks(&watch.settings));
        assert_eq!(watch.left_out, ["permissions.deny: bash"]);
    }
}
