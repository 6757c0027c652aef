//! Which flags and which fields of `initialize` a version has.
//!
//! A flag it does not have ends the CLI with exit code 1 and a line on stderr; a field it does not have is ignored in
//! silence. Owns both tables.

use super::measured::*;
use super::{Capabilities, Span, Support};
use crate::options::version::Version;

/// Not in any version, though they are often passed.
const NEVER: &[&str] = &[
    "--cwd",
    "--additional-directories",
    "--enable-file-checkpointing",
];

/// In 2.0.75, not in 1.0.128.
const SINCE_2_0_75: &[&str] = &["--allow-dangerously-skip-permissions"];

/// In 2.1.62, not in 2.0.75.
const SINCE_2_1_62: &[&str] = &["--thinking", "--effort", "--debug-file", "--worktree"];

/// In 2.1.325, not in 2.1.62.
const SINCE_2_1_325: &[&str] = &[
    "--append-subagent-system-prompt",
    "--autocompact",
    "--await-claim",
    "--await-initialize",
    "--bare",
    "--channels",
    "--exclude-dynamic-system-prompt-sections",
    "--forward-subagent-text",
    "--include-hook-events",
    "--managed-settings",
    "--managed-settings-in-initialize",
    "--name",
    "--permission-prompts",
    "--plan-mode-instructions",
    "--plugin-dir-no-mcp",
    "--project-config-root",
    "--prompt-suggestions",
    "--restricted",
    "--resume-drops-turn",
    "--safe-mode",
    "--session-mirror",
    "--system-prompt-snapshot",
    "--task-budget",
    "--thinking-display",
    "--workload",
];

/// Fields of `initialize` that 2.0.75 reads already.
const OLD_FIELDS: &[&str] = &[
    "hooks",
    "sdkMcpServers",
    "jsonSchema",
    "systemPrompt",
    "appendSystemPrompt",
    "agents",
];

fn flag_span(flag: &str) -> Span {
    if SINCE_2_0_75.contains(&flag) {
        Span::new(V1_0_128, V2_0_75)
    } else if SINCE_2_1_62.contains(&flag) {
        Span::new(V2_0_75, V2_1_62)
    } else if SINCE_2_1_325.contains(&flag) {
        Span::new(V2_1_62, V2_1_325)
    } else {
        Span::ALWAYS
    }
}

impl Capabilities {
    /// Whether this CLI has a flag. A flag that no table lists is in every version measured, or the caller's business.
    pub fn flag_supported(&self, flag: &str) -> Support {
        if NEVER.contains(&flag) {
            return Support::No;
        }
        flag_span(flag).support(self.version)
    }

    /// The first version that is known to have a flag which others lack.
    pub fn flag_since(flag: &str) -> Option<Version> {
        flag_span(flag).with
    }

    /// Whether a field of `initialize` is read rather than ignored.
    pub fn initialize_reads(&self, field: &str) -> Support {
        let span = if OLD_FIELDS.contains(&field) {
            Span::ALWAYS
        } else if field == "promptSuggestions" {
            Span::new(V2_0_75, V2_1_62)
        } else {
            Span::new(V2_1_62, V2_1_325)
        };
        span.support(self.version)
    }

    /// Whether `--agents` also takes the path of a file; before, only JSON.
    pub fn agents_flag_takes_file(&self) -> bool {
        self.since(V2_1_325)
    }
}
