//! Each group of options, as flags or as fields of `initialize`.
//!
//! What the CLI takes in both places goes into `initialize`, where no size is too large and an older CLI ignores what it
//! does not know. Owns the interlocks between options; all of them are checked before anything starts.

use std::collections::BTreeMap;

use countersign_wire::mcp::McpServerConfig;
use countersign_wire::vocab::PermissionMode;
use serde_json::Value;

use super::{ArgValue, Draft, INLINE_LIMIT};
use crate::options::capability::Capabilities;
use crate::options::error::OptionError;
use crate::options::settings::object;
use crate::options::values::{Prompt, Settings, Skills, Thinking, Tools};
use crate::options::{Hidden, Needs, Options};

/// Flags that decide whether we understand the CLI; nobody else sets them.
const OWN: &[&str] = &[
    "--input-format",
    "--output-format",
    "--verbose",
    "--print",
    "--permission-prompt-tool",
    "--sdk-url",
];

/// Flags that no CLI has, and what does the same.
const NO_SUCH: &[(&str, &str)] = &[
    ("--cwd", "the option cwd"),
    ("--additional-directories", "the option add_dir"),
    (
        "--enable-file-checkpointing",
        "the option file_checkpointing",
    ),
];

fn on(switch: bool) -> Option<bool> {
    switch.then_some(true)
}

impl Draft {
    pub(super) fn stream(&mut self, options: &Options) -> Result<(), OptionError> {
        let stream = &options.stream;
        self.flag("--replay-user-messages", !stream.no_replay);
        self.flag("--include-partial-messages", stream.partial_messages);
        self.flag("--include-hook-events", stream.hook_events);
        self.flag("--enable-auth-status", stream.auth_status);
        // A file is a debug log with a place; both would be the same twice.
        self.flag("--debug", stream.debug && stream.debug_file.is_none());
        self.pair_if("--debug-file", stream.debug_file.as_ref());
        self.pair_if("--workload", stream.workload.as_ref());
        if stream.await_initialize {
            self.first_is_initialize();
        }
        let initialize = &mut self.initialize;
        initialize.forward_subagent_text = on(stream.forward_subagent_text);
        initialize.prompt_suggestions = on(stream.prompt_suggestions);
        initialize.agent_progress_summaries = on(stream.progress_summaries);
        initialize.per_task_stop_affordance = on(stream.per_task_stop);
        if !stream.dialog_kinds.is_empty() {
            initialize.supported_dialog_kinds = Some(stream.dialog_kinds.clone());
        }
        Ok(())
    }

    fn first_is_initialize(&mut self) {
        if !self.initialize_first {
            self.initialize_first = true;
            self.flag("--await-initialize", true);
        }
    }

    pub(super) fn model(&mut self, options: &Options) -> Result<(), OptionError> {
        let model = &options.model;
        self.pair_if("--model", model.model.as_ref());
        if let Some(same) = model
            .fallback
            .iter()
            .find(|name| Some(*name) == model.model.as_ref())
        {
            return Err(OptionError::FallbackIsModel(same.clone()));
        }
        self.list("--fallback-model", &model.fallback);
        let thinks = match model.thinking {
            None => true,
            Some(Thinking::Adaptive) => {
                self.pair("--thinking", "adaptive");
                true
            }
            Some(Thinking::Budget(tokens @ 1..)) => {
                self.pair("--max-thinking-tokens", tokens.to_string());
                true
            }
            Some(Thinking::Disabled | Thinking::Budget(0)) => {
                self.pair("--thinking", "disabled");
                false
            }
        };
        let display = model.thinking_display.filter(|_| thinks);
        self.pair_if(
            "--thinking-display",
            display.map(|display| display.as_str()),
        );
        self.pair_if(
            "--effort",
            model.effort.as_ref().map(|effort| effort.as_str()),
        );
        if model.max_turns == Some(0) {
            return Err(OptionError::NoTurns);
        }
        self.pair_if(
            "--max-turns",
            model.max_turns.map(|turns| turns.to_string()),
        );
        if let Some(budget) = model.max_budget_usd {
            if !budget.is_finite() || budget <= 0.0 {
                return Err(OptionError::NoBudget(budget));
            }
            self.pair("--max-budget-usd", budget.to_string());
        }
        self.pair_if(
            "--task-budget",
            model.task_budget.map(|tokens| tokens.to_string()),
        );
        self.list("--betas", &model.betas);
        if let Some(schema) = &model.json_schema {
            if object(schema, "json_schema").is_err() {
                return Err(OptionError::SchemaNotObject);
            }
            if schema.as_str().len() > INLINE_LIMIT {
                self.initialize.json_schema = Some(schema.clone());
            } else {
                self.pair("--json-schema", schema.as_str());
            }
        }
        Ok(())
    }

    /// Prompts go by flag: the field of `initialize` is a list on new CLIs and a string on older ones.
    pub(super) fn prompt(&mut self, options: &Options) {
        let prompt = &options.prompt;
        for (text, flag, file) in [
            (&prompt.system, "--system-prompt", "--system-prompt-file"),
            (
                &prompt.append,
                "--append-system-prompt",
                "--append-system-prompt-file",
            ),
        ] {
            match text {
                None => {}
                Some(Prompt::Text(text)) => self.text_or_file(flag, file, text, false),
                Some(Prompt::File(path)) => self.pair(file, path),
            }
        }
        self.initialize.exclude_dynamic_sections = on(prompt.exclude_dynamic_sections);
        self.initialize.system_prompt_snapshot = prompt.snapshot;
        self.initialize
            .plan_mode_instructions
            .clone_from(&prompt.plan_mode_instructions);
    }

    pub(super) fn permission(
        &mut self,
        options: &Options,
        needs: &Needs,
    ) -> Result<(), OptionError> {
        let permission = &options.permission;
        let mode = permission.mode.as_ref().unwrap_or(&PermissionMode::Default);
        self.pair("--permission-mode", mode.as_str());
        match &permission.prompt_tool {
            Some(tool) if needs.answers_permissions && tool != "stdio" => {
                return Err(OptionError::PromptToolWithHandler(tool.clone()));
            }
            Some(tool) => self.pair("--permission-prompt-tool", tool),
            None if needs.answers_permissions => self.pair("--permission-prompt-tool", "stdio"),
            None => {}
        }
        self.pair_if(
            "--permission-prompts",
            permission.prompts.map(|prompts| prompts.as_str()),
        );
        self.flag(
            "--allow-dangerously-skip-permissions",
            permission.allow_skip,
        );
        self.flag("--dangerously-skip-permissions", permission.skip);
        let mut allowed = permission.allowed.clone();
        match &options.extension.skills {
            None => {}
            Some(Skills::All) => allowed.push("Skill".to_owned()),
            Some(Skills::Only(names)) => {
                allowed.extend(names.iter().map(|name| format!("Skill({name})")));
                self.initialize.skills = Some(names.clone());
            }
        }
        self.list("--allowedTools", &allowed);
        self.list("--disallowedTools", &permission.disallowed);
        match &permission.tools {
            None => {}
            Some(Tools::Default) => self.pair("--tools", "default"),
            Some(Tools::Only(tools)) if tools.is_empty() => self.pair("--tools", ""),
            Some(Tools::Only(tools)) => self.list("--tools", tools),
        }
        for dir in &permission.add_dirs {
            self.pair("--add-dir", dir);
        }
        self.flag("--bare", permission.bare);
        self.flag("--safe-mode", permission.safe_mode);
        self.flag("--restricted", permission.restricted);
        if !permission.tool_aliases.is_empty() {
            self.initialize.tool_aliases = Some(permission.tool_aliases.clone());
        }
        Ok(())
    }

    pub(super) fn session(&mut self, options: &Options) -> Result<(), OptionError> {
        let session = &options.session;
        let takes_up = session.continue_latest || session.resume.is_some();
        if session.continue_latest && session.resume.is_some() {
            return Err(OptionError::ContinueAndResume);
        }
        if session
            .resume
            .as_deref()
            .is_some_and(|id| id.trim().is_empty())
        {
            return Err(OptionError::EmptyResume);
        }
        if session.resume_at.is_some() && session.resume.is_none() {
            return Err(OptionError::ResumeAtWithoutResume);
        }
        if let Some(id) = &session.session_id {
            // The crate also reads forms without hyphens, which the CLI refuses.
            if id.len() != 36 || uuid::Uuid::parse_str(id).is_err() {
                return Err(OptionError::SessionIdNotUuid(id.clone()));
            }
            if takes_up && !session.fork {
                return Err(OptionError::SessionIdWithoutFork);
            }
        }
        self.flag("--continue", session.continue_latest);
        self.pair_if("--resume", session.resume.as_ref());
        self.flag("--fork-session", session.fork);
        self.pair_if("--resume-session-at", session.resume_at.as_ref());
        self.pair_if("--resume-drops-turn", session.resume_drops_turn.as_ref());
        self.pair_if("--session-id", session.session_id.as_ref());
        self.flag("--no-session-persistence", session.no_persistence);
        self.flag("--session-mirror", session.mirror);
        self.pair_if("--name", session.name.as_ref());
        self.initialize.title.clone_from(&session.title);
        Ok(())
    }

    pub(super) fn extension(
        &mut self,
        options: &Options,
        needs: &Needs,
        capabilities: &Capabilities,
    ) -> Result<(), OptionError> {
        let extension = &options.extension;
        self.pair_if("--agent", extension.agent.as_ref());
        self.agents(options, capabilities)?;
        self.mcp(options, needs)?;
        self.flag("--strict-mcp-config", extension.strict_mcp);
        if extension.plugins_in_initialize && !extension.plugins.is_empty() {
            self.first_is_initialize();
            self.initialize.plugins = Some(extension.plugins.clone());
        } else {
            for plugin in &extension.plugins {
                let flag = match plugin.skip_mcp_discovery {
                    Some(true) => "--plugin-dir-no-mcp",
                    _ => "--plugin-dir",
                };
                self.pair(flag, &plugin.path);
            }
        }
        self.flag("--disable-slash-commands", extension.no_slash_commands);
        self.list("--channels", &extension.channels);
        Ok(())
    }

    /// Definitions travel in `initialize`. The one that runs the session itself is needed earlier: then they go by flag,
    /// unless they are too large for a CLI whose flag takes no file.
    fn agents(
        &mut self,
        options: &Options,
        capabilities: &Capabilities,
    ) -> Result<(), OptionError> {
        let extension = &options.extension;
        if extension.agents.is_empty() {
            return Ok(());
        }
        let agents: BTreeMap<_, _> = extension
            .agents
            .iter()
            .map(|(name, Hidden(agent))| (name.clone(), agent.clone()))
            .collect();
        let runs_session = extension
            .agent
            .as_ref()
            .is_some_and(|name| agents.contains_key(name));
        let text = to_json("agents", &agents)?;
        let fits = text.len() <= INLINE_LIMIT || capabilities.agents_flag_takes_file();
        if runs_session && fits {
            self.text_or_file("--agents", "--agents", &text, false);
        } else {
            self.initialize.agents = Some(agents);
        }
        Ok(())
    }

    fn mcp(&mut self, options: &Options, needs: &Needs) -> Result<(), OptionError> {
        let mut servers = BTreeMap::new();
        for (name, Hidden(server)) in &options.extension.mcp_servers {
            let served = needs.sdk_servers.contains(name);
            match (server, served) {
                (McpServerConfig::Sdk(_), true) => {}
                (McpServerConfig::Sdk(_), false) => {
                    return Err(OptionError::UnservedServer(name.clone()));
                }
                (_, true) => return Err(OptionError::DuplicateServer(name.clone())),
                (server, false) => {
                    servers.insert(name, server);
                }
            }
        }
        if !servers.is_empty() {
            let secret = servers.values().any(|server| holds_secrets(server));
            let text = to_json("mcp_server", &BTreeMap::from([("mcpServers", &servers)]))?;
            self.text_or_file("--mcp-config", "--mcp-config", &text, secret);
        }
        for file in &options.extension.mcp_files {
            self.pair("--mcp-config", file);
        }
        if !needs.sdk_servers.is_empty() {
            self.initialize.sdk_mcp_servers = Some(needs.sdk_servers.clone());
        }
        Ok(())
    }

    pub(super) fn settings(
        &mut self,
        options: &Options,
        needs: &Needs,
        capabilities: &Capabilities,
    ) -> Result<(), OptionError> {
        let settings = &options.settings;
        if let Some(sources) = &settings.sources {
            let names: Vec<_> = sources.iter().map(|source| source.as_str()).collect();
            self.pair("--setting-sources", names.join(","));
        }
        let plan_asks = needs.answers_permissions
            && !options.permission.auto_mode_during_plan
            && capabilities.plan_mode_hides_bash();
        match settings.merged(plan_asks)? {
            None => {}
            Some(Settings::File(path)) => self.pair("--settings", path),
            Some(Settings::Json(json)) => {
                let secret =
                    matches!(json.to_value(), Ok(Value::Object(o)) if o.contains_key("env"));
                self.text_or_file("--settings", "--settings", json.as_str(), secret);
            }
        }
        if let Some(Hidden(managed)) = &settings.managed {
            object(managed, "managed_settings")?;
            if settings.managed_in_initialize || managed.as_str().len() > INLINE_LIMIT {
                self.first_is_initialize();
                self.flag("--managed-settings-in-initialize", true);
                self.initialize
                    .extra
                    .set("managedSettings", managed.clone());
            } else {
                self.pair("--managed-settings", managed.as_str());
            }
        }
        self.pair_if(
            "--project-config-root",
            settings.project_config_root.as_ref(),
        );
        Ok(())
    }

    pub(super) fn extra(&mut self, options: &Options) -> Result<(), OptionError> {
        for (name, Hidden(value)) in &options.extra_args {
            let bare = name.trim_start_matches('-');
            let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
            if bare.is_empty() || !bare.chars().all(plain) {
                return Err(OptionError::NotAFlag(name.clone()));
            }
            let flag = format!("--{bare}");
            if let Some((_, instead)) = NO_SUCH.iter().find(|(wrong, _)| *wrong == flag) {
                return Err(OptionError::NoSuchFlag { flag, instead });
            }
            if OWN.contains(&flag.as_str()) {
                return Err(OptionError::OwnFlag(flag));
            }
            let value = match value {
                None => ArgValue::None,
                Some(value) => ArgValue::Inline(value.clone()),
            };
            self.push(flag, value);
        }
        Ok(())
    }
}

/// Environment and headers are where tokens stand.
fn holds_secrets(server: &McpServerConfig) -> bool {
    match server {
        McpServerConfig::Stdio(server) | McpServerConfig::Implied(server) => server.env.is_some(),
        McpServerConfig::Sse(server) | McpServerConfig::Http(server) => server.headers.is_some(),
        _ => true,
    }
}

fn to_json(option: &'static str, value: &impl serde::Serialize) -> Result<String, OptionError> {
    serde_json::to_string(value).map_err(|source| OptionError::Json { option, source })
}
