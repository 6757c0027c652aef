//! `get_context_usage`: how full the context is.

use countersign_wire_derive::Wire;

use crate::cli::{ContextCategoryKind, ContextMemoryFile};
use crate::open::open_enum;
use crate::{Extra, Nullable, Num};

open_enum! {
    /// How much detail is wanted.
    pub enum ContextDetail {
        Summary = "summary",
        Full = "full",
    }
}

/// Asks how full the context is.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct GetContextUsage {
    /// Details.
    pub detail: Option<ContextDetail>,
    /// Fields this build does not know.
    pub extra: Extra,
}

open_enum! {
    /// Which share of the context it is.
    pub enum ContextShareId {
        SystemPrompt = "system_prompt",
        SystemTools = "system_tools",
        McpTools = "mcp_tools",
        McpInstructions = "mcp_instructions",
        McpToolsDeferred = "mcp_tools_deferred",
        SystemToolsDeferred = "system_tools_deferred",
        CustomAgents = "custom_agents",
        MemoryFiles = "memory_files",
        Skills = "skills",
        Messages = "messages",
        AutocompactBuffer = "autocompact_buffer",
        CompactBuffer = "compact_buffer",
        FreeSpace = "free_space",
    }
}

/// One share of the context window, as shown.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ContextShare {
    /// Its id.
    pub id: Option<ContextShareId>,
    /// Its name.
    pub name: String,
    /// Tokens it takes.
    pub tokens: Num,
    /// Colour name.
    pub color: String,
    /// Loaded on demand.
    #[wire(rename = "isDeferred")]
    pub is_deferred: Option<bool>,
    /// Its kind.
    pub kind: ContextCategoryKind,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// One square of the picture the CLI draws.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ContextSquare {
    /// Colour name.
    pub color: String,
    /// Whether it is filled.
    #[wire(rename = "isFilled")]
    pub is_filled: bool,
    /// Share it belongs to.
    #[wire(rename = "categoryName")]
    pub category_name: String,
    /// Tokens it takes.
    pub tokens: Num,
    /// How full, in percent.
    pub percentage: Num,
    /// How full it is.
    #[wire(rename = "squareFullness")]
    pub square_fullness: Num,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// What the description of one MCP tool takes.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ContextMcpToolShare {
    /// Its name.
    pub name: String,
    /// Name of the MCP server.
    #[wire(rename = "serverName")]
    pub server_name: String,
    /// Tokens it takes.
    pub tokens: Num,
    /// Whether it is loaded.
    #[wire(rename = "isLoaded")]
    pub is_loaded: Option<bool>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// What the instructions of one MCP server take.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ContextMcpInstructions {
    /// Name of the MCP server.
    #[wire(rename = "serverName")]
    pub server_name: String,
    /// Tokens it takes.
    pub tokens: Num,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A tool whose description is loaded on demand.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ContextDeferredTool {
    /// Its name.
    pub name: String,
    /// Tokens it takes.
    pub tokens: Num,
    /// Whether it is loaded.
    #[wire(rename = "isLoaded")]
    pub is_loaded: bool,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A name and what it takes.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct NamedTokens {
    /// Its name.
    pub name: String,
    /// Tokens it takes.
    pub tokens: Num,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// What the description of one sub-agent takes.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ContextAgentShare {
    /// Type of the sub-agent.
    #[wire(rename = "agentType")]
    pub agent_type: String,
    /// Where it comes from.
    pub source: String,
    /// Plugin it belongs to.
    #[wire(rename = "pluginId")]
    pub plugin_id: Option<String>,
    /// Path of the file or folder.
    pub path: Option<String>,
    /// Tokens it takes.
    pub tokens: Num,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// What slash commands take.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ContextCommands {
    /// Commands there are.
    #[wire(rename = "totalCommands")]
    pub total_commands: Num,
    /// Commands the model knows of.
    #[wire(rename = "includedCommands")]
    pub included_commands: Num,
    /// Tokens it takes.
    pub tokens: Num,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// What one skill takes.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ContextSkillShare {
    /// Its name.
    pub name: String,
    /// Where it comes from.
    pub source: String,
    /// Plugin it belongs to.
    #[wire(rename = "pluginName")]
    pub plugin_name: Option<String>,
    /// Plugin it belongs to.
    #[wire(rename = "pluginId")]
    pub plugin_id: Option<String>,
    /// Path of the file or folder.
    pub path: Option<String>,
    /// Tokens it takes.
    pub tokens: Num,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// What skills take.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ContextSkills {
    /// Skills there are.
    #[wire(rename = "totalSkills")]
    pub total_skills: Num,
    /// Skills the model knows of.
    #[wire(rename = "includedSkills")]
    pub included_skills: Num,
    /// Tokens it takes.
    pub tokens: Num,
    /// What each skill takes.
    #[wire(rename = "skillFrontmatter")]
    pub skill_frontmatter: Vec<ContextSkillShare>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// What the calls of one tool take.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ContextToolCalls {
    /// Its name.
    pub name: String,
    /// Calls.
    #[wire(rename = "callTokens")]
    pub call_tokens: Num,
    /// Results.
    #[wire(rename = "resultTokens")]
    pub result_tokens: Num,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// What the messages take.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ContextMessages {
    /// Tool calls.
    #[wire(rename = "toolCallTokens")]
    pub tool_call_tokens: Num,
    /// Tool results.
    #[wire(rename = "toolResultTokens")]
    pub tool_result_tokens: Num,
    /// Attachments.
    #[wire(rename = "attachmentTokens")]
    pub attachment_tokens: Num,
    /// Texts of the model.
    #[wire(rename = "assistantMessageTokens")]
    pub assistant_message_tokens: Num,
    /// Texts of the person.
    #[wire(rename = "userMessageTokens")]
    pub user_message_tokens: Num,
    /// Redirected context.
    #[wire(rename = "redirectedContextTokens")]
    pub redirected_context_tokens: Num,
    /// The rest.
    #[wire(rename = "unattributedTokens")]
    pub unattributed_tokens: Num,
    /// Tool calls by tool.
    #[wire(rename = "toolCallsByType")]
    pub tool_calls_by_type: Vec<ContextToolCalls>,
    /// Attachments by kind.
    #[wire(rename = "attachmentsByType")]
    pub attachments_by_type: Vec<NamedTokens>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Token counts of the last API call.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ContextApiUsage {
    /// Tokens sent, without those from the cache.
    pub input_tokens: Num,
    /// Tokens the model wrote.
    pub output_tokens: Num,
    /// Tokens written to the prompt cache.
    pub cache_creation_input_tokens: Num,
    /// Tokens read from the prompt cache.
    pub cache_read_input_tokens: Num,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// How full the context is, share by share.
#[derive(Debug, Clone, PartialEq, Wire)]
#[wire(internal("coldResumeQuota",))]
pub struct GetContextUsageReply {
    /// The shares.
    pub categories: Vec<ContextShare>,
    /// Tokens in use.
    #[wire(rename = "totalTokens")]
    pub total_tokens: Num,
    /// Tokens there is room for.
    #[wire(rename = "maxTokens")]
    pub max_tokens: Num,
    /// Size of the context window.
    #[wire(rename = "rawMaxTokens")]
    pub raw_max_tokens: Num,
    /// How full, in percent.
    pub percentage: Num,
    /// The picture, row by row.
    #[wire(rename = "gridRows")]
    pub grid_rows: Vec<Vec<ContextSquare>>,
    /// The model.
    pub model: String,
    /// Memory files and what they take.
    #[wire(rename = "memoryFiles")]
    pub memory_files: Vec<ContextMemoryFile>,
    /// MCP tools and what they take.
    #[wire(rename = "mcpTools")]
    pub mcp_tools: Vec<ContextMcpToolShare>,
    /// Instructions of MCP servers.
    #[wire(rename = "mcpInstructions")]
    pub mcp_instructions: Option<Vec<ContextMcpInstructions>>,
    /// Built-in tools loaded on demand.
    #[wire(rename = "deferredBuiltinTools")]
    pub deferred_builtin_tools: Option<Vec<ContextDeferredTool>>,
    /// Built-in tools.
    #[wire(rename = "systemTools")]
    pub system_tools: Option<Vec<NamedTokens>>,
    /// Sections of the system prompt.
    #[wire(rename = "systemPromptSections")]
    pub system_prompt_sections: Option<Vec<NamedTokens>>,
    /// Sub-agents.
    pub agents: Vec<ContextAgentShare>,
    /// Slash commands.
    #[wire(rename = "slashCommands")]
    pub slash_commands: Option<ContextCommands>,
    /// Skills.
    pub skills: Option<ContextSkills>,
    /// Tokens at which it compacts.
    #[wire(rename = "autoCompactThreshold")]
    pub auto_compact_threshold: Option<Num>,
    /// Whether it compacts by itself.
    #[wire(rename = "isAutoCompactEnabled")]
    pub is_auto_compact_enabled: bool,
    /// What the messages take.
    #[wire(rename = "messageBreakdown")]
    pub message_breakdown: Option<ContextMessages>,
    /// Counts of the last API call.
    #[wire(rename = "apiUsage")]
    pub api_usage: Nullable<ContextApiUsage>,
    /// Who set the threshold (2.1.325).
    #[wire(rename = "autocompactSource")]
    pub autocompact_source: Option<String>,
    /// Fields this build does not know.
    pub extra: Extra,
}
