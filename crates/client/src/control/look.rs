//! Calls that look things up, reload them, or keep house: settings, usage, tasks, files.

use std::path::Path;

use countersign_wire::control::{
    ApplyFlagSettings, BackgroundTasks, BackgroundTasksReply, ContextDetail, FileSuggestions,
    FileSuggestionsReply, GetBinaryVersion, GetBinaryVersionReply, GetContextUsage,
    GetContextUsageReply, GetHooksListing, GetHooksListingReply, GetSessionCost, GetSettings,
    GetSettingsReply, GetTaskOutput, GetTaskOutputReply, GetUsage, GetUsageReply, ListModels,
    ListPermissionRules, ListPermissionRulesReply, ModelInfo, ReadFile, ReadFileReply,
    RegisterRepoRoot, RegisterRepoRootReply, ReloadOutputStyles, ReloadPlugins, ReloadPluginsReply,
    ReloadSkills, RenameSession, SeedReadState, SetColor, SetHasSubscribers, SlashCommand,
    StopTask, UpdateSettings, WritableSettings,
};
use countersign_wire::{Extra, Json, Nullable, Num};

use crate::error::Result;
use crate::session::Handle;

impl Handle {
    /// How full the context is, and with what (2.1.325). Takes about a second.
    ///
    /// # Errors
    /// As [`Handle::call`].
    pub async fn context_usage(
        &self,
        detail: Option<ContextDetail>,
    ) -> Result<GetContextUsageReply> {
        let extra = Extra::default();
        self.call_if_known(GetContextUsage { detail, extra }).await
    }

    /// The settings in force and where they come from (2.1.325).
    ///
    /// # Errors
    /// As [`Handle::call`].
    pub async fn settings(&self) -> Result<GetSettingsReply> {
        self.call_if_known(GetSettings::default()).await
    }

    /// Lays settings over those of the command line; null clears a key.
    ///
    /// # Errors
    /// As [`Handle::call`].
    pub async fn apply_flag_settings(&self, settings: Json) -> Result<()> {
        let extra = Extra::default();
        self.call_if_known(ApplyFlagSettings { settings, extra })
            .await
            .map(drop)
    }

    /// Writes to a settings file (2.1.325).
    ///
    /// # Errors
    /// As [`Handle::call`].
    pub async fn update_settings(&self, source: WritableSettings, settings: Json) -> Result<()> {
        let request = UpdateSettings {
            source,
            settings,
            extra: Extra::default(),
        };
        self.call_if_known(request).await.map(drop)
    }

    /// All hooks that are configured (2.1.325).
    ///
    /// # Errors
    /// As [`Handle::call`].
    pub async fn hooks_listing(&self) -> Result<GetHooksListingReply> {
        self.call_if_known(GetHooksListing::default()).await
    }

    /// All permission rules (2.1.325).
    ///
    /// # Errors
    /// As [`Handle::call`].
    pub async fn permission_rules(&self) -> Result<ListPermissionRulesReply> {
        self.call_if_known(ListPermissionRules::default()).await
    }

    /// Ends a background task.
    ///
    /// # Errors
    /// As [`Handle::call`]; 2.1.62 refuses an unknown task, newer ones do not.
    pub async fn stop_task(&self, task: &str) -> Result<()> {
        let request = StopTask {
            task_id: task.into(),
            extra: Extra::default(),
        };
        self.call_if_known(request).await?;
        // 2.1.62 says no more about a task that was stopped.
        self.shared()
            .known()
            .task_stopped(task, tokio::time::Instant::now());
        self.shared().touch();
        Ok(())
    }

    /// Moves what runs in the foreground to the background: one call, or all (2.1.325).
    ///
    /// # Errors
    /// As [`Handle::call`].
    pub async fn background_tasks(&self, tool_use: Option<&str>) -> Result<BackgroundTasksReply> {
        let request = BackgroundTasks {
            tool_use_id: tool_use.map(Into::into),
            extra: Extra::default(),
        };
        self.call_if_known(request).await
    }

    /// What a background task has printed (2.1.325).
    ///
    /// # Errors
    /// As [`Handle::call`].
    pub async fn task_output(&self, task: &str) -> Result<GetTaskOutputReply> {
        let request = GetTaskOutput {
            task_id: task.into(),
            extra: Extra::default(),
        };
        self.call_if_known(request).await
    }

    /// Gives the session a title (2.1.325).
    ///
    /// # Errors
    /// As [`Handle::call`].
    pub async fn rename_session(&self, title: &str) -> Result<()> {
        let request = RenameSession {
            title: title.to_owned(),
            source: None,
            session_id: None,
            extra: Extra::default(),
        };
        self.call_if_known(request).await.map(drop)
    }

    /// Gives the session a colour. Declared by the CLI; 2.1.325 refuses it.
    ///
    /// # Errors
    /// As [`Handle::call`].
    pub async fn set_color(&self, color: &str) -> Result<()> {
        let request = SetColor {
            color: color.to_owned(),
            extra: Extra::default(),
        };
        self.call(request).await.map(drop)
    }

    /// What the session has cost, as text for people (2.1.325).
    ///
    /// # Errors
    /// As [`Handle::call`].
    pub async fn session_cost(&self) -> Result<String> {
        Ok(self.call_if_known(GetSessionCost::default()).await?.text)
    }

    /// What was used, of the session and of the plan (2.1.325).
    ///
    /// # Errors
    /// As [`Handle::call`].
    pub async fn usage(&self) -> Result<GetUsageReply> {
        self.call_if_known(GetUsage::default()).await
    }

    /// The models that can be chosen (2.1.325; older ones tell them in the handshake only).
    ///
    /// # Errors
    /// As [`Handle::call`].
    pub async fn models(&self) -> Result<Vec<ModelInfo>> {
        Ok(self.call_if_known(ListModels::default()).await?.models)
    }

    /// The version of the binary (2.1.325).
    ///
    /// # Errors
    /// As [`Handle::call`].
    pub async fn binary_version(&self) -> Result<GetBinaryVersionReply> {
        self.call_if_known(GetBinaryVersion::default()).await
    }

    /// Files that fit what somebody types (2.1.325).
    ///
    /// # Errors
    /// As [`Handle::call`].
    pub async fn file_suggestions(&self, query: &str) -> Result<FileSuggestionsReply> {
        let request = FileSuggestions {
            query: query.to_owned(),
            extra: Extra::default(),
        };
        self.call_if_known(request).await
    }

    /// Reads a file with the agent's eyes (2.1.325).
    ///
    /// # Errors
    /// As [`Handle::call`].
    pub async fn read_file(&self, path: &Path) -> Result<ReadFileReply> {
        let request = ReadFile {
            path: path.to_string_lossy().into_owned(),
            max_bytes: None,
            encoding: None,
            extra: Extra::default(),
        };
        self.call_if_known(request).await
    }

    /// Says that the agent has read a file in the state of `mtime`, milliseconds since 1970 (2.1.325).
    ///
    /// # Errors
    /// As [`Handle::call`].
    pub async fn seed_read_state(&self, path: &Path, mtime: u64) -> Result<()> {
        let request = SeedReadState {
            path: path.to_string_lossy().into_owned(),
            mtime: Num::from(mtime),
            extra: Extra::default(),
        };
        self.call_if_known(request).await.map(drop)
    }

    /// Makes a folder a root of the project (2.1.325).
    ///
    /// # Errors
    /// As [`Handle::call`].
    pub async fn register_repo_root(
        &self,
        request: RegisterRepoRoot,
    ) -> Result<RegisterRepoRootReply> {
        self.call_if_known(request).await
    }

    /// Reads plugins again (2.1.325).
    ///
    /// # Errors
    /// As [`Handle::call`].
    pub async fn reload_plugins(&self, request: ReloadPlugins) -> Result<ReloadPluginsReply> {
        self.call_if_known(request).await
    }

    /// Reads skills again (2.1.325).
    ///
    /// # Errors
    /// As [`Handle::call`].
    pub async fn reload_skills(&self) -> Result<Vec<SlashCommand>> {
        Ok(self.call_if_known(ReloadSkills::default()).await?.skills)
    }

    /// Reads output styles again (2.1.325).
    ///
    /// # Errors
    /// As [`Handle::call`].
    pub async fn reload_output_styles(&self) -> Result<Vec<String>> {
        let reply = self.call_if_known(ReloadOutputStyles::default()).await?;
        Ok(reply.available_output_styles)
    }

    /// Says whether anybody watches; `None` leaves it to the CLI (2.1.325).
    ///
    /// # Errors
    /// As [`Handle::call`].
    pub async fn set_has_subscribers(&self, has_subscribers: Option<bool>) -> Result<()> {
        let request = SetHasSubscribers {
            has_subscribers: has_subscribers.map_or(Nullable::Null, Nullable::Value),
            extra: Extra::default(),
        };
        self.call_if_known(request).await.map(drop)
    }
}
