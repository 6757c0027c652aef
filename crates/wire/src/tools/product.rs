//! Inputs of tools that belong to the vendor's own services.

use countersign_wire_derive::Wire;

use crate::open::open_enum;
use crate::vocab::Effort;
use crate::{Extra, Json, Num};

open_enum! {
    /// Whether a finding holds.
    pub enum FindingVerdict {
        Confirmed = "CONFIRMED",
        Plausible = "PLAUSIBLE",
    }
}

open_enum! {
    /// What became of a finding.
    pub enum FindingOutcome {
        Fixed = "fixed",
        Skipped = "skipped",
        NoChangeNeeded = "no_change_needed",
    }
}

/// One finding of a review.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct Finding {
    /// The file.
    pub file: String,
    /// Line number.
    pub line: Option<Num>,
    /// A summary.
    pub summary: String,
    /// The summary in a few words.
    pub short_summary: Option<String>,
    /// How it goes wrong.
    pub failure_scenario: String,
    /// Its category.
    pub category: Option<String>,
    /// Whether it holds.
    pub verdict: Option<FindingVerdict>,
    /// What became of it.
    pub outcome: Option<FindingOutcome>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Reports the findings of a review.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ReportFindingsInput {
    /// Render level.
    pub level: Option<Effort>,
    /// The findings.
    pub findings: Vec<Finding>,
    /// Fields this build does not know.
    pub extra: Extra,
}

open_enum! {
    /// What kind of feedback it is.
    pub enum FeedbackType {
        Bug = "bug",
        Idea = "idea",
        MissingCapability = "missing_capability",
    }
}

open_enum! {
    /// What went wrong.
    pub enum FailureMode {
        InstructionFollowing = "instruction_following",
        DestructiveActions = "destructive_actions",
        CodeQuality = "code_quality",
        RepetitionAndLooping = "repetition_and_looping",
        ModelRegression = "model_regression",
        OverconfidenceAndHallucination = "overconfidence_and_hallucination",
        ContextAndMemory = "context_and_memory",
        Overeager = "overeager",
        OverCorrection = "over_correction",
        StoppingShort = "stopping_short",
        DisputeOrDecline = "dispute_or_decline",
        SubagentOverspawn = "subagent_overspawn",
        ToneOrPreachiness = "tone_or_preachiness",
        ExcessiveQuestions = "excessive_questions",
        UnwantedScope = "unwanted_scope",
        OtherWord = "other",
    }
}

open_enum! {
    /// What was being done.
    pub enum TaskCategory {
        CodeEdit = "code_edit",
        Debug = "debug",
        Explain = "explain",
        Plan = "plan",
        Shell = "shell",
        Search = "search",
        Review = "review",
        OtherWord = "other",
    }
}

/// Drafts feedback to the vendor.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct SendFeedbackInput {
    /// Its type.
    #[wire(rename = "type")]
    pub kind: FeedbackType,
    /// Its title.
    pub title: String,
    /// The details.
    pub details: String,
    /// Part of the product.
    pub area: Option<String>,
    /// What went wrong.
    pub failure_mode: Option<FailureMode>,
    /// What was being done.
    pub task_category: Option<TaskCategory>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Works with a design service.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ClaudeDesignInput {
    /// What to do.
    pub operation: String,
    /// Arguments of the call.
    pub arguments: Json,
    /// Fields this build does not know.
    pub extra: Extra,
}

open_enum! {
    /// What to do with a project.
    pub enum ProjectsMethod {
        ProjectInfo = "project_info",
        ProjectRead = "project_read",
        ProjectSearch = "project_search",
        ProjectWrite = "project_write",
        ProjectDelete = "project_delete",
        ProjectMemoryList = "project_memory_list",
        ProjectMemoryRead = "project_memory_read",
    }
}

/// Works with a project's documents.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ProjectsInput {
    /// What to do.
    pub method: ProjectsMethod,
    /// Path of the file or folder.
    pub path: Option<String>,
    /// Its content.
    pub content: Option<String>,
    /// A file on this machine.
    pub local_path: Option<String>,
    /// Show it to the person.
    pub present_to_user: Option<bool>,
    /// What to look for.
    pub query: Option<String>,
    /// How many.
    pub n: Option<Num>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Offers to set up the browser extension.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct OfferChromeSetupInput {
    /// Why.
    pub reason: Option<String>,
    /// Fields this build does not know.
    pub extra: Extra,
}

open_enum! {
    /// Whether a skill is new.
    pub enum SkillProposalKind {
        New = "new",
        Improvement = "improvement",
    }
}

/// A skill the model proposes.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct SkillProposal {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: SkillProposalKind,
    /// Skill to improve.
    pub target: Option<String>,
    /// What it is, in words.
    pub description: String,
    /// What speaks for it.
    pub evidence: Option<Vec<String>>,
    /// Changes to it.
    pub edits: Option<Json>,
    /// Text of the skill.
    #[wire(rename = "skillMd")]
    pub skill_md: Option<String>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Proposes skills.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct ProposeSkillsInput {
    /// The proposals.
    pub proposals: Vec<SkillProposal>,
    /// Fields this build does not know.
    pub extra: Extra,
}

open_enum! {
    /// What to do with artifacts.
    pub enum ArtifactAction {
        Publish = "publish",
        List = "list",
        Read = "read",
        ListTypes = "list_types",
        Watch = "watch",
        Unwatch = "unwatch",
        Status = "status",
        UploadAsset = "upload_asset",
        ListAssets = "list_assets",
        ReadAsset = "read_asset",
        DeleteAsset = "delete_asset",
        Pin = "pin",
        Unpin = "unpin",
    }
}

open_enum! {
    /// Whose artifacts are meant.
    pub enum ArtifactScope {
        Mine = "mine",
        Shared = "shared",
        All = "all",
    }
}

/// Publishes or reads artifacts.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct ArtifactInput {
    /// What is done.
    pub action: Option<ArtifactAction>,
    /// Path of the file.
    pub file_path: Option<String>,
    /// Its symbol.
    pub favicon: Option<String>,
    /// Its symbol.
    pub icon: Option<String>,
    /// How much at most.
    pub limit: Option<Num>,
    /// Where the next page begins.
    pub page_token: Option<String>,
    /// How far it reaches.
    pub scope: Option<ArtifactScope>,
    /// Its title.
    pub title: Option<String>,
    /// What it is, in words.
    pub description: Option<String>,
    /// Short text.
    pub label: Option<String>,
    /// Web address.
    pub url: Option<String>,
    /// The prompt.
    pub prompt: Option<String>,
    /// Overwrite without asking.
    pub force: Option<bool>,
    /// Keep it on top.
    pub pin: Option<bool>,
    /// Folder to write to.
    pub out_dir: Option<String>,
    /// Paths of files.
    pub file_paths: Option<Json>,
    /// The asset.
    pub asset_id: Option<String>,
    /// What comes after.
    pub after: Option<String>,
    /// What this CLI can do; an open set of words.
    pub capabilities: Option<Json>,
    /// Version of the contract.
    pub contract: Option<String>,
    /// Fields this build does not know.
    pub extra: Extra,
}
