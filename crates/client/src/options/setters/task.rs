//! Setters of what the agent is to do, with which model and which rights.

/// Model, thinking and limits.
macro_rules! model_setters {
    ($type:ty) => {
        impl $type {
            /// The model: an alias such as `opus`, or a full name.
            #[must_use = "a setter gives the changed value back"]
            pub fn model(mut self, model: impl Into<String>) -> Self {
                self.options_mut().model.model = Some(model.into());
                self
            }

            /// A model to fall back to when the first is overloaded; may be called several times.
            #[must_use = "a setter gives the changed value back"]
            pub fn fallback_model(mut self, model: impl Into<String>) -> Self {
                self.options_mut().model.fallback.push(model.into());
                self
            }

            /// How much the model thinks.
            #[must_use = "a setter gives the changed value back"]
            pub fn thinking(mut self, thinking: $crate::options::Thinking) -> Self {
                self.options_mut().model.thinking = Some(thinking);
                self
            }

            /// What of the thinking is delivered; says nothing when thinking is off.
            #[must_use = "a setter gives the changed value back"]
            pub fn thinking_display(mut self, display: $crate::options::ThinkingDisplay) -> Self {
                self.options_mut().model.thinking_display = Some(display);
                self
            }

            /// How much work the model puts into an answer.
            #[must_use = "a setter gives the changed value back"]
            pub fn effort(mut self, effort: ::countersign_wire::vocab::Effort) -> Self {
                self.options_mut().model.effort = Some(effort);
                self
            }

            /// Most round trips of a turn; at least 1.
            #[must_use = "a setter gives the changed value back"]
            pub fn max_turns(mut self, turns: u32) -> Self {
                self.options_mut().model.max_turns = Some(turns);
                self
            }

            /// Most that the session may cost, in dollars; more than 0.
            #[must_use = "a setter gives the changed value back"]
            pub fn max_budget_usd(mut self, dollars: f64) -> Self {
                self.options_mut().model.max_budget_usd = Some(dollars);
                self
            }

            /// Tokens the model is told it may use for the task.
            #[must_use = "a setter gives the changed value back"]
            pub fn task_budget(mut self, tokens: u64) -> Self {
                self.options_mut().model.task_budget = Some(tokens);
                self
            }

            /// Beta features of the API to switch on.
            #[must_use = "a setter gives the changed value back"]
            pub fn betas(mut self, betas: impl IntoIterator<Item = impl Into<String>>) -> Self {
                self.options_mut()
                    .model
                    .betas
                    .extend(betas.into_iter().map(Into::into));
                self
            }

            /// A JSON schema that the result must fit.
            #[must_use = "a setter gives the changed value back"]
            pub fn json_schema(mut self, schema: impl Into<::countersign_wire::Json>) -> Self {
                self.options_mut().model.json_schema = Some(schema.into());
                self
            }
        }
    };
}
pub(crate) use model_setters;

/// What the model is told.
macro_rules! prompt_setters {
    ($type:ty) => {
        impl $type {
            /// Replaces the system prompt. Unset, the CLI's own is used.
            #[must_use = "a setter gives the changed value back"]
            pub fn system_prompt(mut self, prompt: impl Into<$crate::options::Prompt>) -> Self {
                self.options_mut().prompt.system = Some(prompt.into());
                self
            }

            /// Replaces the system prompt by what is in a file.
            #[must_use = "a setter gives the changed value back"]
            pub fn system_prompt_file(mut self, file: impl Into<::std::path::PathBuf>) -> Self {
                self.options_mut().prompt.system = Some($crate::options::Prompt::File(file.into()));
                self
            }

            /// Adds to the system prompt.
            #[must_use = "a setter gives the changed value back"]
            pub fn append_system_prompt(
                mut self,
                prompt: impl Into<$crate::options::Prompt>,
            ) -> Self {
                self.options_mut().prompt.append = Some(prompt.into());
                self
            }

            /// Adds what is in a file to the system prompt.
            #[must_use = "a setter gives the changed value back"]
            pub fn append_system_prompt_file(
                mut self,
                file: impl Into<::std::path::PathBuf>,
            ) -> Self {
                self.options_mut().prompt.append = Some($crate::options::Prompt::File(file.into()));
                self
            }

            /// Moves what differs between users from the system prompt to the first message, so that caches are shared.
            #[must_use = "a setter gives the changed value back"]
            pub fn exclude_dynamic_sections(mut self, on: bool) -> Self {
                self.options_mut().prompt.exclude_dynamic_sections = on;
                self
            }

            /// Whether the system prompt is recorded once and reused.
            #[must_use = "a setter gives the changed value back"]
            pub fn system_prompt_snapshot(mut self, on: bool) -> Self {
                self.options_mut().prompt.snapshot = Some(on);
                self
            }

            /// How to work in plan mode, instead of the CLI's own instructions.
            #[must_use = "a setter gives the changed value back"]
            pub fn plan_mode_instructions(mut self, instructions: impl Into<String>) -> Self {
                self.options_mut().prompt.plan_mode_instructions = Some(instructions.into());
                self
            }
        }
    };
}
pub(crate) use prompt_setters;

/// Who may do what.
macro_rules! permission_setters {
    ($type:ty) => {
        impl $type {
            /// How calls are treated that no rule decides; `default` when unset.
            #[must_use = "a setter gives the changed value back"]
            pub fn permission_mode(
                mut self,
                mode: ::countersign_wire::vocab::PermissionMode,
            ) -> Self {
                self.options_mut().permission.mode = Some(mode);
                self
            }

            /// An MCP tool that answers permission requests. Not together with a handler.
            #[must_use = "a setter gives the changed value back"]
            pub fn permission_prompt_tool(mut self, tool: impl Into<String>) -> Self {
                self.options_mut().permission.prompt_tool = Some(tool.into());
                self
            }

            /// Who decides what no rule decides.
            #[must_use = "a setter gives the changed value back"]
            pub fn permission_prompts(
                mut self,
                prompts: $crate::options::PermissionPrompts,
            ) -> Self {
                self.options_mut().permission.prompts = Some(prompts);
                self
            }

            /// Lets the session switch to `bypassPermissions` later.
            #[must_use = "a setter gives the changed value back"]
            pub fn allow_dangerously_skip_permissions(mut self, on: bool) -> Self {
                self.options_mut().permission.allow_skip = on;
                self
            }

            /// Skips all permission checks from the start.
            #[must_use = "a setter gives the changed value back"]
            pub fn dangerously_skip_permissions(mut self, on: bool) -> Self {
                self.options_mut().permission.skip = on;
                self
            }

            /// Adds rules of calls that run unasked, such as `Bash(git log:*)`.
            #[must_use = "a setter gives the changed value back"]
            pub fn allowed_tools(
                mut self,
                rules: impl IntoIterator<Item = impl Into<String>>,
            ) -> Self {
                self.options_mut()
                    .permission
                    .allowed
                    .extend(rules.into_iter().map(Into::into));
                self
            }

            /// Adds rules of calls that never run; a whole tool is taken away.
            #[must_use = "a setter gives the changed value back"]
            pub fn disallowed_tools(
                mut self,
                rules: impl IntoIterator<Item = impl Into<String>>,
            ) -> Self {
                self.options_mut()
                    .permission
                    .disallowed
                    .extend(rules.into_iter().map(Into::into));
                self
            }

            /// Which built-in tools there are; none when empty.
            #[must_use = "a setter gives the changed value back"]
            pub fn tools(mut self, tools: impl IntoIterator<Item = impl Into<String>>) -> Self {
                self.options_mut().permission.tools = Some($crate::options::Tools::Only(
                    tools.into_iter().map(Into::into).collect(),
                ));
                self
            }

            /// All built-in tools of the CLI's default set.
            #[must_use = "a setter gives the changed value back"]
            pub fn default_tools(mut self) -> Self {
                self.options_mut().permission.tools = Some($crate::options::Tools::Default);
                self
            }

            /// Sends calls of one tool to another.
            #[must_use = "a setter gives the changed value back"]
            pub fn tool_alias(mut self, from: impl Into<String>, to: impl Into<String>) -> Self {
                self.options_mut()
                    .permission
                    .tool_aliases
                    .insert(from.into(), to.into());
                self
            }

            /// Another folder the agent may work in.
            #[must_use = "a setter gives the changed value back"]
            pub fn add_dir(mut self, dir: impl Into<::std::path::PathBuf>) -> Self {
                self.options_mut().permission.add_dirs.push(dir.into());
                self
            }

            /// Starts without hooks, plugins, memory and other discoveries.
            #[must_use = "a setter gives the changed value back"]
            pub fn bare(mut self, on: bool) -> Self {
                self.options_mut().permission.bare = on;
                self
            }

            /// Starts without customisations, to find out which one is at fault.
            #[must_use = "a setter gives the changed value back"]
            pub fn safe_mode(mut self, on: bool) -> Self {
                self.options_mut().permission.safe_mode = on;
                self
            }

            /// Starts in the CLI's restricted mode.
            #[must_use = "a setter gives the changed value back"]
            pub fn restricted(mut self, on: bool) -> Self {
                self.options_mut().permission.restricted = on;
                self
            }

            /// Leaves Bash in plan mode to the CLI's own classifier. Off by default when a handler is there, so that it sees every call.
            #[must_use = "a setter gives the changed value back"]
            pub fn auto_mode_during_plan(mut self, on: bool) -> Self {
                self.options_mut().permission.auto_mode_during_plan = on;
                self
            }
        }
    };
}
pub(crate) use permission_setters;
