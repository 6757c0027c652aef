//! Messages of the model's API and the blocks they are made of, as they appear inside the wire.
//!
//! Assistant lines carry one block each; user lines any number. A block this build does not know is kept whole,
//! since hiding what an agent said is worse than showing it raw.

use countersign_wire_derive::Wire;

use crate::ids::{ApiMessageId, ToolUseId};
use crate::open::open_enum;
use crate::usage::Usage;
use crate::{Bare, Extra, Json, Kept, Nullable, TextOr};

open_enum! {
    /// Why the model stopped.
    pub enum StopReason {
        EndTurn = "end_turn",
        MaxTokens = "max_tokens",
        StopSequence = "stop_sequence",
        ToolUse = "tool_use",
        PauseTurn = "pause_turn",
        Compaction = "compaction",
        Refusal = "refusal",
        ModelContextWindowExceeded = "model_context_window_exceeded",
    }
}

/// A message of the model.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ApiMessage {
    /// Shared by all lines of one message.
    pub id: Option<ApiMessageId>,
    /// Always `message`.
    #[wire(rename = "type")]
    pub kind: Option<String>,
    /// Always `assistant`.
    pub role: String,
    /// The model; `<synthetic>` for texts the CLI made itself.
    pub model: String,
    /// The blocks; one on a line of the CLI.
    pub content: Vec<ContentBlock>,
    /// Why the model stopped; null on lines, since the message was not over yet.
    pub stop_reason: Nullable<StopReason>,
    /// The sequence that stopped it.
    pub stop_sequence: Nullable<String>,
    /// More on why it stopped.
    pub stop_details: Option<Json>,
    /// Token counts at the start of the message; take totals from the result.
    pub usage: Option<Usage>,
    /// Container of server-side tools.
    pub container: Option<Json>,
    /// What the API did to the context.
    pub context_management: Option<Json>,
    /// What the CLI knows of a failed call (2.1.325).
    pub diagnostics: Option<Json>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// The message inside a user line.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct UserPayload {
    /// Always `user`; the CLI dies on anything else.
    pub role: String,
    /// A text, or blocks.
    pub content: Content,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A bare text, or a list of blocks.
pub type Content = TextOr<Vec<ContentBlock>>;

/// A piece of a message.
#[derive(Debug, Clone, PartialEq, Wire)]
#[wire(tag = "type")]
#[non_exhaustive]
pub enum ContentBlock {
    /// Text.
    #[wire("text")]
    Text(TextBlock),
    /// Thinking.
    #[wire("thinking")]
    Thinking(ThinkingBlock),
    /// Thinking that is not shown.
    #[wire("redacted_thinking")]
    RedactedThinking(RedactedThinkingBlock),
    /// A tool call.
    #[wire("tool_use")]
    ToolUse(ToolUseBlock),
    /// The result of a tool call.
    #[wire("tool_result")]
    ToolResult(ToolResultBlock),
    /// A picture.
    #[wire("image")]
    Image(ImageBlock),
    /// A document.
    #[wire("document")]
    Document(DocumentBlock),
    /// A search result handed to the model.
    #[wire("search_result")]
    SearchResult(SearchResultBlock),
    /// A tool that was found by a tool search.
    #[wire("tool_reference")]
    ToolReference(ToolReferenceBlock),
    /// A call of a tool that the API runs itself.
    #[wire("server_tool_use")]
    ServerToolUse(ToolUseBlock),
    /// Result of the API's web search.
    #[wire("web_search_tool_result")]
    WebSearchToolResult(ServerToolResultBlock),
    /// Result of the API's web fetch.
    #[wire("web_fetch_tool_result")]
    WebFetchToolResult(ServerToolResultBlock),
    /// Answer of the advisor model.
    #[wire("advisor_tool_result")]
    AdvisorToolResult(ServerToolResultBlock),
    /// Result of the API's code execution.
    #[wire("code_execution_tool_result")]
    CodeExecutionToolResult(ServerToolResultBlock),
    /// Result of the API's shell.
    #[wire("bash_code_execution_tool_result")]
    BashCodeExecutionToolResult(ServerToolResultBlock),
    /// Result of the API's editor.
    #[wire("text_editor_code_execution_tool_result")]
    TextEditorCodeExecutionToolResult(ServerToolResultBlock),
    /// Result of the API's tool search.
    #[wire("tool_search_tool_result")]
    ToolSearchToolResult(ServerToolResultBlock),
    /// A call of an MCP tool that the API made itself.
    #[wire("mcp_tool_use")]
    McpToolUse(McpToolUseBlock),
    /// Its result.
    #[wire("mcp_tool_result")]
    McpToolResult(McpToolResultBlock),
    /// A file in the API's container.
    #[wire("container_upload")]
    ContainerUpload(ContainerUploadBlock),
    /// A compaction the API made.
    #[wire("compaction")]
    Compaction(CompactionBlock),
    /// The API changed to another model.
    #[wire("fallback")]
    Fallback(FallbackBlock),
    /// A system text in the middle of a conversation.
    #[wire("mid_conv_system")]
    MidConversationSystem(Bare),
    /// A block this build does not know.
    #[wire(unknown)]
    Unknown(Kept),
}

/// Text.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct TextBlock {
    /// The text.
    pub text: String,
    /// Where statements come from.
    pub citations: Nullable<Vec<Json>>,
    /// Prompt-cache mark.
    pub cache_control: Option<Json>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Thinking.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ThinkingBlock {
    /// The text; may be empty where thinking is not shown.
    pub thinking: String,
    /// Proof for the API that it is its own.
    pub signature: Option<String>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Thinking that is not shown.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct RedactedThinkingBlock {
    /// Encrypted thinking.
    pub data: String,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A tool call.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ToolUseBlock {
    /// The call's id.
    pub id: ToolUseId,
    /// Name of the tool.
    pub name: String,
    /// The input as the model wrote it; typed views are in [`crate::tools`].
    pub input: Json,
    /// What made the call.
    pub caller: Option<Json>,
    /// Tool set it belongs to.
    pub toolset_name: Nullable<String>,
    /// Prompt-cache mark.
    pub cache_control: Option<Json>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// The result of a tool call.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ToolResultBlock {
    /// The call.
    pub tool_use_id: ToolUseId,
    /// What the model sees.
    pub content: Option<Content>,
    /// The call failed or was denied.
    pub is_error: Option<bool>,
    /// Prompt-cache mark.
    pub cache_control: Option<Json>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Where the bytes of a picture or document are.
#[derive(Debug, Clone, PartialEq, Wire)]
#[wire(tag = "type")]
#[non_exhaustive]
pub enum Source {
    /// In the message, base64.
    #[wire("base64")]
    Base64(InlineSource),
    /// In the message, as text.
    #[wire("text")]
    Text(InlineSource),
    /// In the message, as blocks.
    #[wire("content")]
    Content(ContentSource),
    /// At an address.
    #[wire("url")]
    Url(UrlSource),
    /// A file the API holds.
    #[wire("file")]
    File(FileSource),
    /// A place this build does not know.
    #[wire(unknown)]
    Unknown(Kept),
}

/// Bytes or text inside the message.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct InlineSource {
    /// Media type.
    pub media_type: String,
    /// The data.
    pub data: String,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Blocks inside the message.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ContentSource {
    /// The blocks.
    pub content: Content,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Bytes at an address.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct UrlSource {
    /// The address.
    pub url: String,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A file the API holds.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct FileSource {
    /// Its id.
    pub file_id: String,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A picture.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ImageBlock {
    /// Where it is.
    pub source: Source,
    /// Prompt-cache mark.
    pub cache_control: Option<Json>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A document.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct DocumentBlock {
    /// Where it is.
    pub source: Source,
    /// Its title.
    pub title: Nullable<String>,
    /// What it is about.
    pub context: Nullable<String>,
    /// Whether it may be cited.
    pub citations: Option<Json>,
    /// Prompt-cache mark.
    pub cache_control: Option<Json>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A search result handed to the model.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct SearchResultBlock {
    /// Where it was found.
    pub source: String,
    /// Its title.
    pub title: String,
    /// Its text.
    pub content: Vec<ContentBlock>,
    /// Whether it may be cited.
    pub citations: Option<Json>,
    /// Prompt-cache mark.
    pub cache_control: Option<Json>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A tool that was found by a tool search.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ToolReferenceBlock {
    /// Name of the tool.
    pub tool_name: String,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// The result of a tool that the API ran itself.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ServerToolResultBlock {
    /// The call.
    pub tool_use_id: ToolUseId,
    /// What it gave back.
    pub content: Json,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A call of an MCP tool that the API made itself.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct McpToolUseBlock {
    /// The call's id.
    pub id: ToolUseId,
    /// Name of the tool.
    pub name: String,
    /// Name of the MCP server.
    pub server_name: String,
    /// The input.
    pub input: Json,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// The result of an MCP tool that the API called itself.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct McpToolResultBlock {
    /// The call.
    pub tool_use_id: ToolUseId,
    /// The call failed.
    pub is_error: bool,
    /// What it gave back.
    pub content: Json,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A file in the API's container.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ContainerUploadBlock {
    /// Its id.
    pub file_id: String,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// A compaction the API made.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct CompactionBlock {
    /// The summary.
    pub content: Nullable<String>,
    /// The summary, encrypted.
    pub encrypted_content: Nullable<String>,
    /// Proof for the API that it is its own.
    pub signature: Option<String>,
    /// What happened to tools.
    pub tool_changes: Option<Json>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// The API changed to another model.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct FallbackBlock {
    /// Model before.
    pub from: Json,
    /// Model after.
    pub to: Json,
    /// Why.
    pub trigger: Option<Json>,
    /// Fields this build does not know.
    pub extra: Extra,
}
