//! What each tool takes, field by field, in the order in which the CLI looks at them. Data only.

/// What a value must be.
#[derive(Debug)]
pub(super) enum Kind {
    Text,
    /// A text of so many characters at least.
    Longer(usize),
    Url,
    Number,
    Int,
    Flag,
    One(&'static [&'static str]),
    /// A list of so many to so many.
    List(&'static Kind, usize, usize),
    Object(&'static Shape),
    Anything,
}

/// Whether a field may be left out.
#[derive(Debug)]
pub(super) enum Need {
    Must,
    May,
    /// May, and then it is false.
    OrFalse,
}

#[derive(Debug)]
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) need: Need,
}

/// What becomes of fields nobody declared.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Others {
    Refused,
    Dropped,
    Kept,
}

#[derive(Debug)]
pub(super) struct Shape {
    pub(super) fields: &'static [Field],
    pub(super) others: Others,
}

const ANY: usize = usize::MAX;

const fn must(name: &'static str, kind: Kind) -> Field {
    let need = Need::Must;
    Field { name, kind, need }
}

const fn may(name: &'static str, kind: Kind) -> Field {
    let need = Need::May;
    Field { name, kind, need }
}

const fn or_false(name: &'static str) -> Field {
    let (kind, need) = (Kind::Flag, Need::OrFalse);
    Field { name, kind, need }
}

const fn strict(fields: &'static [Field]) -> Shape {
    let others = Others::Refused;
    Shape { fields, others }
}

const fn lenient(fields: &'static [Field]) -> Shape {
    let others = Others::Dropped;
    Shape { fields, others }
}

/// The tool's own name and what it takes; nothing for tools whose inputs are not checked here.
pub(super) fn of(tool: &str) -> Option<(&'static str, &'static Shape)> {
    let name = match tool {
        "Task" => "Agent",
        "KillShell" | "KillBash" => "TaskStop",
        other => other,
    };
    let found = SHAPES.iter().find(|(known, _)| *known == name);
    found.map(|(known, shape)| (*known, shape))
}

static OPTION: Shape = lenient(&[
    must("label", Kind::Text),
    must("description", Kind::Text),
    may("preview", Kind::Text),
]);

static QUESTION: Shape = lenient(&[
    must("question", Kind::Text),
    must("header", Kind::Text),
    must("options", Kind::List(&Kind::Object(&OPTION), 2, 4)),
    or_false("multiSelect"),
]);

static PROMPT: Shape = lenient(&[
    must("tool", Kind::One(&["Bash"])),
    must("prompt", Kind::Text),
]);

static TODO: Shape = lenient(&[
    must("content", Kind::Longer(1)),
    must(
        "status",
        Kind::One(&["pending", "in_progress", "completed"]),
    ),
    must("activeForm", Kind::Longer(1)),
]);

static SHAPES: [(&str, Shape); 15] = [
    (
        "Agent",
        lenient(&[
            must("description", Kind::Text),
            must("prompt", Kind::Text),
            may("subagent_type", Kind::Text),
            may("model", Kind::One(&["sonnet", "opus", "haiku", "fable"])),
            may(
                "effort",
                Kind::One(&["low", "medium", "high", "xhigh", "max"]),
            ),
            may("run_in_background", Kind::Flag),
            may("name", Kind::Text),
            may("team_name", Kind::Text),
            may("mode", Kind::Text),
            may("isolation", Kind::One(&["worktree", "remote"])),
        ]),
    ),
    (
        "AskUserQuestion",
        strict(&[
            must("questions", Kind::List(&Kind::Object(&QUESTION), 1, 4)),
            may("answers", Kind::Anything),
            may("annotations", Kind::Anything),
            may("metadata", Kind::Anything),
        ]),
    ),
    (
        "Bash",
        strict(&[
            must("command", Kind::Text),
            may("timeout", Kind::Number),
            may("description", Kind::Text),
            may("run_in_background", Kind::Flag),
            may("dangerouslyDisableSandbox", Kind::Flag),
        ]),
    ),
    (
        "Edit",
        strict(&[
            must("file_path", Kind::Text),
            must("old_string", Kind::Text),
            must("new_string", Kind::Text),
            or_false("replace_all"),
        ]),
    ),
    ("EnterPlanMode", strict(&[])),
    (
        "ExitPlanMode",
        Shape {
            fields: &[may(
                "allowedPrompts",
                Kind::List(&Kind::Object(&PROMPT), 0, ANY),
            )],
            others: Others::Kept,
        },
    ),
    (
        "Glob",
        strict(&[must("pattern", Kind::Text), may("path", Kind::Text)]),
    ),
    (
        "Grep",
        strict(&[
            must("pattern", Kind::Text),
            may("path", Kind::Text),
            may("glob", Kind::Text),
            may(
                "output_mode",
                Kind::One(&["content", "files_with_matches", "count"]),
            ),
            may("-B", Kind::Number),
            may("-A", Kind::Number),
            may("-C", Kind::Number),
            may("context", Kind::Number),
            may("-n", Kind::Flag),
            may("-i", Kind::Flag),
            may("-o", Kind::Flag),
            may("type", Kind::Text),
            may("head_limit", Kind::Number),
            may("offset", Kind::Number),
            may("multiline", Kind::Flag),
        ]),
    ),
    (
        "NotebookEdit",
        strict(&[
            must("notebook_path", Kind::Text),
            may("cell_id", Kind::Text),
            must("new_source", Kind::Text),
            may("cell_type", Kind::One(&["code", "markdown"])),
            may("edit_mode", Kind::One(&["replace", "insert", "delete"])),
        ]),
    ),
    (
        "Read",
        strict(&[
            must("file_path", Kind::Text),
            may("offset", Kind::Int),
            may("limit", Kind::Int),
            may("pages", Kind::Text),
            may("allow_large", Kind::Flag),
        ]),
    ),
    (
        "TaskStop",
        strict(&[may("task_id", Kind::Text), may("shell_id", Kind::Text)]),
    ),
    (
        "TodoWrite",
        strict(&[must("todos", Kind::List(&Kind::Object(&TODO), 0, ANY))]),
    ),
    (
        "WebFetch",
        strict(&[
            must("url", Kind::Url),
            must("prompt", Kind::Text),
            may("offset", Kind::Int),
        ]),
    ),
    (
        "WebSearch",
        strict(&[
            must("query", Kind::Longer(2)),
            may("allowed_domains", Kind::List(&Kind::Text, 0, ANY)),
            may("blocked_domains", Kind::List(&Kind::Text, 0, ANY)),
        ]),
    ),
    (
        "Write",
        strict(&[must("file_path", Kind::Text), must("content", Kind::Text)]),
    ),
];
