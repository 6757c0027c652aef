//! Words that several messages use: modes, reasons, levels.
//!
//! Each is a set that may grow; a word this build does not know is kept.

use crate::open::open_enum;

open_enum! {
    /// How the CLI treats calls that no rule decides.
    pub enum PermissionMode {
        Default = "default",
        AcceptEdits = "acceptEdits",
        BypassPermissions = "bypassPermissions",
        Plan = "plan",
        DontAsk = "dontAsk",
        Auto = "auto",
    }
}

open_enum! {
    /// What kind of failure an assistant line or a retry reports.
    pub enum AssistantErrorKind {
        AuthenticationFailed = "authentication_failed",
        OauthOrgNotAllowed = "oauth_org_not_allowed",
        AccountOnHold = "account_on_hold",
        VerificationRequired = "verification_required",
        BillingError = "billing_error",
        RateLimit = "rate_limit",
        Overloaded = "overloaded",
        InvalidRequest = "invalid_request",
        ModelNotFound = "model_not_found",
        ServerError = "server_error",
        Unknown = "unknown",
        MaxOutputTokens = "max_output_tokens",
        CloudCredentialError = "cloud_credential_error",
    }
}

open_enum! {
    /// Why the loop of a turn stopped.
    pub enum TerminalReason {
        BlockingLimit = "blocking_limit",
        RapidRefillBreaker = "rapid_refill_breaker",
        PromptTooLong = "prompt_too_long",
        ImageError = "image_error",
        ModelError = "model_error",
        ApiError = "api_error",
        MalformedToolUseExhausted = "malformed_tool_use_exhausted",
        AbortedStreaming = "aborted_streaming",
        AbortedTools = "aborted_tools",
        StopHookPrevented = "stop_hook_prevented",
        HookStopped = "hook_stopped",
        ToolDeferred = "tool_deferred",
        MaxTurns = "max_turns",
        BackgroundRequested = "background_requested",
        Completed = "completed",
        BudgetExhausted = "budget_exhausted",
        StructuredOutputRetryExhausted = "structured_output_retry_exhausted",
        ToolDeferredUnavailable = "tool_deferred_unavailable",
        TurnSetupFailed = "turn_setup_failed",
    }
}

open_enum! {
    /// Why the CLI refused to start.
    pub enum StartupFailureReason {
        OrgPinApiKeyConflict = "org_pin_api_key_conflict",
        ProviderNotAllowed = "provider_not_allowed",
        OrgVerifyFailed = "org_verify_failed",
        OrgPinMismatch = "org_pin_mismatch",
        ManagedSettingsInvalid = "managed_settings_invalid",
        RemoteSettingsRequiredUnavailable = "remote_settings_required_unavailable",
        GatewaySigninRequired = "gateway_signin_required",
        GatewayAccessDenied = "gateway_access_denied",
        ProxyInvalid = "proxy_invalid",
        TempDirUnusable = "temp_dir_unusable",
        CwdUnavailable = "cwd_unavailable",
        ShellToolMissing = "shell_tool_missing",
        SessionHeldByBackground = "session_held_by_background",
        WorktreeResumeRefused = "worktree_resume_refused",
        WorktreeUnverified = "worktree_unverified",
        CliVersionTooOld = "cli_version_too_old",
        BypassRoot = "bypass_root",
        OrgConfigRequiredUnavailable = "org_config_required_unavailable",
        OrgConfigRefused = "org_config_refused",
        SandboxRequiredUnavailable = "sandbox_required_unavailable",
        InitializeNotFirst = "initialize_not_first",
        ConfigFileInvalid = "config_file_invalid",
        ManagedSettingsNotDelivered = "managed_settings_not_delivered",
    }
}

open_enum! {
    /// Whether fast mode is in use.
    pub enum FastModeState {
        Off = "off",
        Cooldown = "cooldown",
        On = "on",
    }
}

open_enum! {
    /// What stands in the way of fast mode.
    pub enum FastModeDisabledReason {
        Free = "free",
        Preference = "preference",
        ExtraUsageDisabled = "extra_usage_disabled",
        NetworkError = "network_error",
        Unknown = "unknown",
        NotFirstParty = "not_first_party",
        DisabledByEnv = "disabled_by_env",
        ModelNotAllowed = "model_not_allowed",
        SdkOptInRequired = "sdk_opt_in_required",
        Pending = "pending",
    }
}

open_enum! {
    /// How much work the model should put into an answer.
    pub enum Effort {
        Low = "low",
        Medium = "medium",
        High = "high",
        Xhigh = "xhigh",
        Max = "max",
    }
}

open_enum! {
    /// When a queued message is taken up.
    pub enum Priority {
        Now = "now",
        Next = "next",
        Later = "later",
    }
}

open_enum! {
    /// Whether a person or the CLI itself set something off.
    pub enum Trigger {
        Manual = "manual",
        Auto = "auto",
    }
}
