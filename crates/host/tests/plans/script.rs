//! What the model says, as the text of a model script.
//!
//! Owns the few kinds of replies that these tests need. Plans are written where the CLI says that they belong, as a model
//! does.

use serde_json::{Value, json};

/// A model script, one reply after the other.
#[derive(Debug, Default, Clone)]
pub(crate) struct Script {
    text: String,
    /// Only for conversations that began with these words.
    within: Option<String>,
    /// Where the plan is written, for a model that is not told.
    file: Option<String>,
}

impl Script {
    /// The replies that follow are for conversations whose first message holds these words.
    pub(crate) fn within(mut self, words: &str) -> Self {
        self.within = Some(words.to_owned());
        self
    }

    /// Plans are written there, rather than where the CLI says that they belong.
    pub(crate) fn plans_at(mut self, file: &str) -> Self {
        self.file = Some(file.to_owned());
        self
    }

    fn reply(mut self, steps: &str) -> Self {
        let condition = self
            .within
            .as_ref()
            .map(|words| format!(" in {}", json!(words)));
        let condition = condition.unwrap_or_default();
        self.text += &format!("reply{condition}\n{steps}");
        self
    }

    fn tool(self, name: &str, input: &Value) -> Self {
        self.reply(&format!("  tool {name} {input}\n"))
    }

    /// The plan is written to its file.
    fn draft(self, plan: &str) -> Self {
        if let Some(path) = &self.file {
            let input = json!({"file_path": path, "content": plan});
            return self.tool("Write", &input);
        }
        // Each conversation has a file of its own.
        let of = self.within.as_deref().unwrap_or("plan").replace(' ', "_");
        let path = format!("${{home}}/.claude/plans/${{{of}}}.md");
        let input = json!({"file_path": path, "content": plan});
        self.reply(&format!(
            "  take {of} after \"/.claude/plans/\" until \".md\"\n  tool Write {input}\n"
        ))
    }

    /// A plan is written to its file and put before the person.
    pub(crate) fn plan(self, plan: &str) -> Self {
        self.draft(plan).plan_again(plan)
    }

    /// A plan that stands in its file is put before the person.
    pub(crate) fn plan_again(self, plan: &str) -> Self {
        self.tool("ExitPlanMode", &json!({"plan": plan}))
    }

    /// A plan is put before the person, by a model that has read so much.
    pub(crate) fn plan_after_reading(self, plan: &str, tokens: u64) -> Self {
        let input = json!({"plan": plan});
        let cached = tokens - 20_000;
        self.draft(plan).reply(&format!(
            "  usage input=10000 cache_read={cached} cache_write=10000\n  tool ExitPlanMode {input}\n"
        ))
    }

    /// A plan with wishes for permission.
    pub(crate) fn plan_with_wishes(self, plan: &str, wishes: &[&str]) -> Self {
        let wish = |wish: &&str| json!({"tool": "Bash", "prompt": wish});
        let wishes: Vec<Value> = wishes.iter().map(wish).collect();
        let input = json!({"plan": plan, "allowedPrompts": wishes});
        self.draft(plan).tool("ExitPlanMode", &input)
    }

    /// The model wants to leave plan mode, and has written no plan.
    pub(crate) fn leave_without_plan(self) -> Self {
        self.tool("ExitPlanMode", &json!({}))
    }

    pub(crate) fn enter_plan_mode(self) -> Self {
        self.tool("EnterPlanMode", &json!({}))
    }

    /// A file of the project is written.
    pub(crate) fn write(self, name: &str) -> Self {
        let input = json!({"file_path": format!("${{cwd}}/{name}"), "content": "as planned\n"});
        self.tool("Write", &input)
    }

    pub(crate) fn bash(self, command: &str) -> Self {
        self.tool(
            "Bash",
            &json!({"command": command, "description": "As planned"}),
        )
    }

    pub(crate) fn say(self, text: &str) -> Self {
        self.reply(&format!("  say {}\n", json!(text)))
    }

    /// Whenever the CLI wants a summary, it gets this one. Newer versions ask more than once for it.
    pub(crate) fn summary(mut self, text: &str) -> Self {
        let asked = json!("summary of the conversation so far");
        self.text += &format!("reply always when {asked}\n  say {}\n", json!(text));
        self
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }
}
