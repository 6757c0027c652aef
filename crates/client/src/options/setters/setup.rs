//! Setters of what is added to the CLI and how its process is started.

/// Agents, servers, plugins, skills, settings.
macro_rules! extension_setters {
    ($type:ty) => {
        impl $type {
            /// The agent that runs the session, one of the CLI's or of [`Self::agents`].
            #[must_use = "a setter gives the changed value back"]
            pub fn agent(mut self, name: impl Into<String>) -> Self {
                self.options_mut().extension.agent = Some(name.into());
                self
            }

            /// Adds a sub-agent.
            #[must_use = "a setter gives the changed value back"]
            pub fn agents(
                mut self,
                name: impl Into<String>,
                agent: ::countersign_wire::control::AgentDefinition,
            ) -> Self {
                self.options_mut()
                    .extension
                    .agents
                    .insert(name.into(), $crate::options::Hidden(agent));
                self
            }

            /// Adds an MCP server that the CLI starts or reaches itself.
            #[must_use = "a setter gives the changed value back"]
            pub fn mcp_server(
                mut self,
                name: impl Into<String>,
                server: ::countersign_wire::mcp::McpServerConfig,
            ) -> Self {
                self.options_mut()
                    .extension
                    .mcp_servers
                    .insert(name.into(), $crate::options::Hidden(server));
                self
            }

            /// Adds the MCP servers of a file.
            #[must_use = "a setter gives the changed value back"]
            pub fn mcp_config_file(mut self, file: impl Into<::std::path::PathBuf>) -> Self {
                self.options_mut().extension.mcp_files.push(file.into());
                self
            }

            /// Uses no MCP servers but those given here.
            #[must_use = "a setter gives the changed value back"]
            pub fn strict_mcp_config(mut self, on: bool) -> Self {
                self.options_mut().extension.strict_mcp = on;
                self
            }

            /// Loads a plugin.
            #[must_use = "a setter gives the changed value back"]
            pub fn plugin(mut self, plugin: ::countersign_wire::control::PluginConfig) -> Self {
                self.options_mut().extension.plugins.push(plugin);
                self
            }

            /// Names the plugins in `initialize` rather than on the command line.
            #[must_use = "a setter gives the changed value back"]
            pub fn plugins_in_initialize(mut self, on: bool) -> Self {
                self.options_mut().extension.plugins_in_initialize = on;
                self
            }

            /// Which skills may be used unasked.
            #[must_use = "a setter gives the changed value back"]
            pub fn skills(mut self, skills: $crate::options::Skills) -> Self {
                self.options_mut().extension.skills = Some(skills);
                self
            }

            /// Takes slash commands and skills away.
            #[must_use = "a setter gives the changed value back"]
            pub fn disable_slash_commands(mut self, on: bool) -> Self {
                self.options_mut().extension.no_slash_commands = on;
                self
            }

            /// Servers whose messages may start turns.
            #[must_use = "a setter gives the changed value back"]
            pub fn channels(
                mut self,
                servers: impl IntoIterator<Item = impl Into<String>>,
            ) -> Self {
                self.options_mut()
                    .extension
                    .channels
                    .extend(servers.into_iter().map(Into::into));
                self
            }

            /// Settings for this run, above those of the files.
            #[must_use = "a setter gives the changed value back"]
            pub fn settings(mut self, settings: impl Into<$crate::options::Settings>) -> Self {
                self.options_mut().settings.settings = Some(settings.into());
                self
            }

            /// The sandbox of the CLI: the key `sandbox` of the settings.
            #[must_use = "a setter gives the changed value back"]
            pub fn sandbox(mut self, sandbox: impl Into<::countersign_wire::Json>) -> Self {
                self.options_mut().settings.sandbox = Some(sandbox.into());
                self
            }

            /// Settings that nothing else can change.
            #[must_use = "a setter gives the changed value back"]
            pub fn managed_settings(
                mut self,
                settings: impl Into<::countersign_wire::Json>,
            ) -> Self {
                self.options_mut().settings.managed =
                    Some($crate::options::Hidden(settings.into()));
                self
            }

            /// Sends the managed settings in `initialize` rather than on the command line.
            #[must_use = "a setter gives the changed value back"]
            pub fn managed_settings_in_initialize(mut self, on: bool) -> Self {
                self.options_mut().settings.managed_in_initialize = on;
                self
            }

            /// Which files of settings are read; none when empty, all when unset.
            #[must_use = "a setter gives the changed value back"]
            pub fn setting_sources(
                mut self,
                sources: impl IntoIterator<Item = $crate::options::SettingSource>,
            ) -> Self {
                self.options_mut().settings.sources = Some(sources.into_iter().collect());
                self
            }

            /// Where the project's settings are looked for, if not in the working directory.
            #[must_use = "a setter gives the changed value back"]
            pub fn project_config_root(mut self, dir: impl Into<::std::path::PathBuf>) -> Self {
                self.options_mut().settings.project_config_root = Some(dir.into());
                self
            }
        }
    };
}
pub(crate) use extension_setters;

/// The process: which CLI, where, in which environment.
macro_rules! process_setters {
    ($type:ty) => {
        impl $type {
            /// Which CLI to run; a text is a path. Searched for when unset.
            #[must_use = "a setter gives the changed value back"]
            pub fn cli(mut self, cli: impl Into<$crate::options::Cli>) -> Self {
                self.options_mut().cli = cli.into();
                self
            }

            /// The CLI as a command line, such as `npx -y @anthropic-ai/claude-code@2.0.75`.
            #[must_use = "a setter gives the changed value back"]
            pub fn cli_command(mut self, line: impl Into<String>) -> Self {
                self.options_mut().cli = $crate::options::Cli::Line(line.into());
                self
            }

            /// The working directory.
            #[must_use = "a setter gives the changed value back"]
            pub fn cwd(mut self, dir: impl Into<::std::path::PathBuf>) -> Self {
                self.options_mut().cwd = Some(dir.into());
                self
            }

            /// Sets a variable of the CLI's environment, above all else.
            #[must_use = "a setter gives the changed value back"]
            pub fn env(
                mut self,
                name: impl Into<::std::ffi::OsString>,
                value: impl Into<::std::ffi::OsString>,
            ) -> Self {
                self.options_mut()
                    .env
                    .changes
                    .push($crate::options::EnvChange::Set(name.into(), value.into()));
                self
            }

            /// Keeps a variable from the CLI.
            #[must_use = "a setter gives the changed value back"]
            pub fn env_remove(mut self, name: impl Into<::std::ffi::OsString>) -> Self {
                self.options_mut()
                    .env
                    .changes
                    .push($crate::options::EnvChange::Remove(name.into()));
                self
            }

            /// Inherits nothing: the CLI sees only what is set here.
            #[must_use = "a setter gives the changed value back"]
            pub fn env_clear(mut self) -> Self {
                self.options_mut()
                    .env
                    .changes
                    .push($crate::options::EnvChange::Clear);
                self
            }

            /// What kind of host the CLI takes this for; `sdk-cli` when unset.
            #[must_use = "a setter gives the changed value back"]
            pub fn entrypoint(mut self, word: impl Into<String>) -> Self {
                self.options_mut().env.entrypoint = Some(word.into());
                self
            }

            /// Name and version of the application, for the User-Agent.
            #[must_use = "a setter gives the changed value back"]
            pub fn client_app(mut self, app: impl Into<String>) -> Self {
                self.options_mut().env.client_app = Some(app.into());
                self
            }

            /// The CLI's folder for sessions and settings, if not `~/.claude`.
            #[must_use = "a setter gives the changed value back"]
            pub fn config_dir(mut self, dir: impl Into<::std::path::PathBuf>) -> Self {
                self.options_mut().env.config_dir = Some(dir.into());
                self
            }

            /// Keeps copies of files, so that they can be rewound.
            #[must_use = "a setter gives the changed value back"]
            pub fn file_checkpointing(mut self, on: bool) -> Self {
                self.options_mut().env.file_checkpointing = on;
                self
            }

            /// Format of previews in questions: `markdown` or `html`.
            #[must_use = "a setter gives the changed value back"]
            pub fn question_previews(mut self, format: impl Into<String>) -> Self {
                self.options_mut().env.question_previews = Some(format.into());
                self
            }

            /// How long the CLI waits for background work at its end; zero is for ever.
            #[must_use = "a setter gives the changed value back"]
            pub fn background_wait(mut self, limit: ::std::time::Duration) -> Self {
                self.options_mut().env.background_wait = Some(limit);
                self
            }

            /// Time limit of a call to an MCP tool.
            #[must_use = "a setter gives the changed value back"]
            pub fn mcp_tool_timeout(mut self, limit: ::std::time::Duration) -> Self {
                self.options_mut().env.mcp_tool_timeout = Some(limit);
                self
            }

            /// How often a failed call of the API is repeated.
            #[must_use = "a setter gives the changed value back"]
            pub fn max_retries(mut self, times: u32) -> Self {
                self.options_mut().env.max_retries = Some(times);
                self
            }

            /// The trace this run belongs to, as a W3C `traceparent`.
            #[must_use = "a setter gives the changed value back"]
            pub fn trace_parent(mut self, value: impl Into<String>) -> Self {
                self.options_mut().env.trace_parent = Some(value.into());
                self
            }

            /// The W3C `tracestate` beside it.
            #[must_use = "a setter gives the changed value back"]
            pub fn trace_state(mut self, value: impl Into<String>) -> Self {
                self.options_mut().env.trace_state = Some(value.into());
                self
            }

            /// Any other flag, without a value.
            #[must_use = "a setter gives the changed value back"]
            pub fn extra_flag(mut self, flag: impl Into<String>) -> Self {
                self.options_mut()
                    .extra_args
                    .push((flag.into(), $crate::options::Hidden(None)));
                self
            }

            /// Any other flag, with its value.
            #[must_use = "a setter gives the changed value back"]
            pub fn extra_arg(
                mut self,
                flag: impl Into<String>,
                value: impl Into<::std::ffi::OsString>,
            ) -> Self {
                self.options_mut()
                    .extra_args
                    .push((flag.into(), $crate::options::Hidden(Some(value.into()))));
                self
            }
        }
    };
}
pub(crate) use process_setters;
