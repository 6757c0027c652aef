//! A stream as a working session with partial messages prints it, turn after turn.
//!
//! A turn is modelled, not mixed by lot: the model thinks, writes and calls a tool in a few hundred deltas, each
//! completed block comes once more as a line, the tool is asked for and its result is a few kilobytes. The shapes are
//! those of CLI 2.1.325; ids, texts and numbers come from a fixed generator, so every run reads the same bytes.

use std::fmt::Write;

const SESSION: &str = "5b1f6a52-1d0c-4c3e-9a55-0c7f1f2f9d10";

const WORDS: [&str; 16] = [
    "the",
    "parser",
    "keeps",
    "what",
    "it\\ndoes",
    "not",
    "know",
    "größer",
    "→",
    "\\\"quoted\\\"",
    "src/lib.rs",
    "and",
    "writes",
    "lines",
    "to",
    "disk",
];

/// `count` lines, each with its newline.
pub(crate) fn stream(count: usize) -> Vec<u8> {
    let mut session = Session {
        random: 0x5eed,
        text: String::with_capacity(count * 400),
        lines: 0,
        most: count,
    };
    while session.lines < count {
        session.turn();
    }
    session.text.into_bytes()
}

struct Session {
    random: u64,
    text: String,
    lines: usize,
    most: usize,
}

impl Session {
    /// One turn: three model calls, the first two with a tool.
    fn turn(&mut self) {
        self.init();
        for call in 0..3 {
            self.event(r#"{"type":"message_start","message":{"model":"claude-sonnet-4-5","id":"msg_011111111111111111111111","type":"message","role":"assistant","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":3,"cache_creation_input_tokens":0,"cache_read_input_tokens":18400,"output_tokens":1,"service_tier":"standard"}}}"#);
            self.block(0, "thinking", 30, |text| {
                format!(r#"{{"type":"thinking_delta","thinking":"{text}"}}"#)
            });
            self.block(1, "text", 120, |text| {
                format!(r#"{{"type":"text_delta","text":"{text}"}}"#)
            });
            if call < 2 {
                self.block(2, "tool_use", 25, |text| {
                    format!(r#"{{"type":"input_json_delta","partial_json":"{text}"}}"#)
                });
                self.question();
                self.tool_result();
            }
            self.event(r#"{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":91}}"#);
            self.event(r#"{"type":"message_stop"}"#);
        }
        self.result();
    }

    fn block(&mut self, index: u32, kind: &str, deltas: u64, delta: impl Fn(String) -> String) {
        let empty = match kind {
            "thinking" => r#"{"type":"thinking","thinking":"","signature":""}"#,
            "text" => r#"{"type":"text","text":""}"#,
            _ => {
                r#"{"type":"tool_use","id":"toolu_0111111111111111111111","name":"Bash","input":{}}"#
            }
        };
        self.event(&format!(
            r#"{{"type":"content_block_start","index":{index},"content_block":{empty}}}"#
        ));
        let mut whole = String::new();
        for step in 0..deltas / 2 + self.below(deltas) {
            let count = self.below(3) + 1;
            let text = self.words(count);
            whole.push_str(&text);
            self.event(&format!(
                r#"{{"type":"content_block_delta","index":{index},"delta":{}}}"#,
                delta(text)
            ));
            if kind == "thinking" && step % 4 == 0 {
                self.status(step);
            }
        }
        self.assistant(kind, &whole);
        self.event(&format!(
            r#"{{"type":"content_block_stop","index":{index}}}"#
        ));
    }

    fn event(&mut self, event: &str) {
        let uuid = self.uuid();
        self.line(format_args!(
            r#"{{"type":"stream_event","event":{event},"session_id":"{SESSION}","parent_tool_use_id":null,"uuid":"{uuid}"}}"#
        ));
    }

    fn status(&mut self, tokens: u64) {
        let uuid = self.uuid();
        self.line(format_args!(
            r#"{{"type":"system","subtype":"thinking_tokens","estimated_tokens":{tokens},"estimated_tokens_delta":7,"session_id":"{SESSION}","uuid":"{uuid}"}}"#
        ));
    }

    fn init(&mut self) {
        let uuid = self.uuid();
        self.line(format_args!(
            r#"{{"type":"system","subtype":"init","cwd":"/project","session_id":"{SESSION}","tools":["Task","Bash","Edit","Read","Write","WebFetch","WebSearch","Skill"],"mcp_servers":[],"model":"claude-sonnet-4-5","permissionMode":"default","slash_commands":["compact","context","cost","init","review"],"apiKeySource":"ANTHROPIC_API_KEY","claude_code_version":"2.1.325","output_style":"default","agents":["general-purpose","Explore"],"skills":[],"plugins":[],"capabilities":["interrupt_receipt_v1","msg_lifecycle_v1"],"uuid":"{uuid}"}}"#
        ));
    }

    fn assistant(&mut self, kind: &str, text: &str) {
        let (uuid, id) = (self.uuid(), self.next());
        let block = match kind {
            "thinking" => format!(
                r#"{{"type":"thinking","thinking":"{text}","signature":"EqQBCgIYAhIM1gbcDa9GJwZA2b3hGgxBdjrkzLoky3dl1pk"}}"#
            ),
            "text" => format!(r#"{{"type":"text","text":"{text}"}}"#),
            _ => format!(
                r#"{{"type":"tool_use","id":"toolu_{id:024}","name":"Bash","input":{{"command":"cargo test -p wire","description":"{text}"}}}}"#
            ),
        };
        self.line(format_args!(
            r#"{{"type":"assistant","message":{{"model":"claude-sonnet-4-5","id":"msg_{id:024}","type":"message","role":"assistant","content":[{block}],"stop_reason":null,"stop_sequence":null,"usage":{{"input_tokens":{id},"cache_creation_input_tokens":0,"cache_read_input_tokens":18400,"cache_creation":{{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0}},"output_tokens":1,"service_tier":"standard"}},"context_management":null}},"parent_tool_use_id":null,"session_id":"{SESSION}","uuid":"{uuid}","request_id":"req_{id:024}"}}"#
        ));
    }

    fn question(&mut self) {
        let (uuid, id, text) = (self.uuid(), self.next(), self.words(6));
        self.line(format_args!(
            r#"{{"type":"control_request","request_id":"{uuid}","request":{{"subtype":"can_use_tool","tool_name":"Bash","display_name":"Bash","input":{{"command":"touch x.txt","description":"{text}"}},"description":"{text}","permission_suggestions":[{{"type":"addRules","rules":[{{"toolName":"Bash","ruleContent":"touch x.txt"}}],"behavior":"allow","destination":"localSettings"}},{{"type":"setMode","mode":"acceptEdits","destination":"session"}}],"blocked_path":"/project/x.txt","tool_use_id":"toolu_{id:024}"}}}}"#
        ));
    }

    fn tool_result(&mut self) {
        let words = self.below(900) + 40;
        let (uuid, id, text) = (self.uuid(), self.next(), self.words(words));
        self.line(format_args!(
            r#"{{"type":"user","message":{{"role":"user","content":[{{"tool_use_id":"toolu_{id:024}","type":"tool_result","content":"{text}","is_error":false}}]}},"parent_tool_use_id":null,"session_id":"{SESSION}","uuid":"{uuid}","timestamp":"2026-01-01T00:00:00.000Z","tool_use_result":{{"stdout":"{text}","stderr":"","interrupted":false,"isImage":false}}}}"#
        ));
    }

    fn result(&mut self) {
        let (uuid, cost, text) = (self.uuid(), self.below(9000), self.words(60));
        // As on the real wire, `type` does not come first here.
        self.line(format_args!(
            r#"{{"duration_ms":{cost},"duration_api_ms":{cost},"is_error":false,"num_turns":3,"result":"{text}","stop_reason":"end_turn","type":"result","subtype":"success","session_id":"{SESSION}","total_cost_usd":0.{cost:04},"usage":{{"input_tokens":3,"cache_creation_input_tokens":0,"cache_read_input_tokens":18400,"output_tokens":91,"server_tool_use":{{"web_search_requests":0,"web_fetch_requests":0}},"service_tier":"standard"}},"modelUsage":{{"claude-sonnet-4-5":{{"inputTokens":3,"outputTokens":91,"cacheReadInputTokens":18400,"cacheCreationInputTokens":0,"webSearchRequests":0,"costUSD":0.01,"contextWindow":200000,"maxOutputTokens":64000}}}},"permission_denials":[],"terminal_reason":"completed","uuid":"{uuid}"}}"#
        ));
    }

    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        if self.lines < self.most {
            // Writing to a string does not fail.
            let _ = writeln!(self.text, "{line}");
            self.lines += 1;
        }
    }

    /// A small generator; the sequence matters less than that it never changes.
    fn next(&mut self) -> u64 {
        self.random = self
            .random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        self.random >> 33
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn words(&mut self, count: u64) -> String {
        let mut text = String::new();
        for _ in 0..count {
            text.push_str(WORDS[self.below(16) as usize]);
            text.push(' ');
        }
        text
    }

    fn uuid(&mut self) -> String {
        let (a, b) = (self.next(), self.next());
        format!(
            "{a:08x}-{:04x}-4{:03x}-8{:03x}-{b:012x}",
            b & 0xffff,
            a & 0xfff,
            b & 0xfff
        )
    }
}
