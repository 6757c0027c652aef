//! Reads the surface of an installed CLI off its program: a bundle of JavaScript, or an executable that holds one.
//!
//! The CLI declares its messages as schemas, `{type:T("system"),subtype:T("init"),cwd:r(),…}`, whose helpers are renamed
//! by every build; what stays are the names of types and fields. Versions before 2.1 declare little and are read by
//! what they send and compare: that gives names without fields. Memory is bounded by [`WINDOW`], whatever the file's size.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::sync::LazyLock;

use regex::bytes::Regex;
use serde::Serialize;

use super::members::{MAX_OBJECT, Members, calls_any, floor_boundary, members};
use super::{ARROW, Entry, Field, Fields, Kind, Surface};

/// What was read of a program.
#[derive(Debug, Default)]
pub(crate) struct Program {
    /// The version it says it has.
    version: Option<String>,
    pub(crate) surface: Surface,
}

impl Program {
    /// Returns a name for it: its version, else that of the file.
    pub(crate) fn label(&self, path: &Path) -> String {
        let file = || path.display().to_string();
        self.version.clone().unwrap_or_else(file)
    }
}

/// Bytes held at a time, without the overlap.
const WINDOW: usize = 8 << 20;
/// Methods of a schema that allow a member to be absent.
const OPTIONAL: &[&str] = &["optional", "nullish", "default", "catch"];
/// Methods that add the object in their argument to another one.
const EXTENDING: &[&[u8]] = &[b".extend(", b".and(", b".merge(", b".safeExtend("];
/// Bytes of context on either side of a hit.
const CONTEXT: usize = 240;

/// Where an interesting piece of code begins. The first group that matched says what it is.
static ANCHORS: LazyLock<Regex> = LazyLock::new(|| {
    let pieces = [
        r#"(?P<object>\{(?:type|subtype|hook_event_name):(?:[A-Za-z_$][\w$]*(?:\.literal)?\()?"[A-Za-z_]+")"#,
        r#"(?:\.option\(|new [\w$.]+\()"(?:-\w, )?(?P<flag>--[a-z][\w-]+)"#,
        r#"(?:\.request\.subtype===?|equest\(\{subtype:)"(?P<request>[a-z_]+)""#,
        r#"VERSION:"(?P<version>\d+\.\d+\.\d+)""#,
        r#"\[(?P<tools>"A[A-Za-z]+"(?:,"[A-Za-z_]+"){25,})\]"#,
        r#"\{(?P<aliases>Task:"Agent"(?:,[A-Za-z]+:"[A-Za-z_]+")*)\}"#,
        r#"\[(?P<hooks>"PreToolUse","PostToolUse"[",A-Za-z]+)\]"#,
    ];
    Regex::new(&format!("(?-u){}", pieces.join("|"))).expect("the pattern is a constant")
});

/// Groups of [`ANCHORS`] that name things without their fields.
const LISTS: &[(&str, Kind)] = &[
    ("flag", Kind::Flag),
    ("request", Kind::ControlRequest),
    ("hooks", Kind::HookEvent),
    ("tools", Kind::Tool),
    ("aliases", Kind::ToolAlias),
];

/// `T("init")`, `"init"` or `E(["a","b"])` at the start of a value. Group 1: it is a schema.
static LITERALS: LazyLock<regex::Regex> = LazyLock::new(|| {
    regex::Regex::new(r#"^([A-Za-z_$][\w$.]*\()?(?:"([A-Za-z_]+)"|\[((?:"[A-Za-z_]+",?)+)\])"#)
        .expect("the pattern is a constant")
});

/// One place where a text was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Hit {
    pub(crate) offset: u64,
    pub(crate) context: String,
}

/// Reads the surface of the program at `path`. `progress` is told how many bytes were read.
///
/// # Errors
/// When the file cannot be read.
pub(crate) fn scan(path: &Path, mut progress: impl FnMut(u64)) -> io::Result<Program> {
    let mut program = Program::default();
    for_each_window(path, &mut |window| {
        let Program { version, surface } = &mut program;
        for found in ANCHORS.captures_iter(window.bytes) {
            let whole = found.get(0).map_or(0..0, |found| found.range());
            if whole.start >= window.own {
                break;
            }
            let offset = window.base + whole.start as u64;
            let text = |name| {
                let group = found.name(name)?;
                std::str::from_utf8(group.as_bytes()).ok()
            };
            let is_list = LISTS.iter().any(|(group, kind)| {
                let list = text(group);
                list.inspect(|list| add_list(surface, *kind, list, offset))
                    .is_some()
            });
            if is_list {
                continue;
            }
            if let Some(text) = text("version") {
                version.get_or_insert_with(|| text.to_owned());
            } else {
                let is_extending = EXTENDING
                    .iter()
                    .any(|call| window.bytes[..whole.start].ends_with(call));
                add_object(
                    surface,
                    text_from(window.bytes, whole.start),
                    offset,
                    is_extending,
                );
            }
        }
        progress(window.own as u64);
    })?;
    Ok(program)
}

/// Finds up to `limit` places where `needle` stands in the file, and the number of all of them.
///
/// # Errors
/// When the file cannot be read.
pub(crate) fn find_text(path: &Path, needle: &str, limit: usize) -> io::Result<(u64, Vec<Hit>)> {
    let mut count = 0;
    let mut hits = Vec::new();
    for_each_window(path, &mut |window| {
        let found = memchr::memmem::find_iter(window.bytes, needle.as_bytes());
        for at in found.take_while(|at| *at < window.own) {
            count += 1;
            if hits.len() < limit {
                hits.push(Hit {
                    offset: window.base + at as u64,
                    context: context(window.bytes, at, needle.len()),
                });
            }
        }
    })?;
    Ok((count, hits))
}

/// Adds the names that `before` has and `surface` lacks, where the program at `path` has them as a text: not every name is
/// declared in a form that is read.
///
/// # Errors
/// When the file cannot be read.
pub(crate) fn add_contained(
    path: &Path,
    before: &Surface,
    surface: &mut Surface,
) -> io::Result<()> {
    let mut missing = Vec::new();
    for kind in Kind::ALL {
        for (name, _) in before
            .of(kind)
            .filter(|(name, _)| surface.get(kind, name).is_none())
        {
            let word = name.rsplit('/').next().unwrap_or(name);
            let text = match kind {
                Kind::Flag => word.to_owned(),
                Kind::ToolAlias => name.replace(ARROW, ":\"") + "\"",
                _ => format!("\"{word}\""),
            };
            missing.push((kind, name, text));
        }
    }
    let texts: Vec<&str> = missing.iter().map(|(.., text)| text.as_str()).collect();
    let found = contained(path, &texts)?;
    for (kind, name, text) in &missing {
        if found.contains(&text.as_str()) {
            surface.add(*kind, name, Entry::default());
        }
    }
    Ok(())
}

/// Returns which of these texts stand in the file.
fn contained<'a>(path: &Path, needles: &[&'a str]) -> io::Result<Vec<&'a str>> {
    let mut found = Vec::new();
    let mut missing = needles.to_vec();
    for_each_window(path, &mut |window| {
        missing.retain(|needle| {
            let is_here = memchr::memmem::find(window.bytes, needle.as_bytes()).is_some();
            if is_here {
                found.push(*needle);
            }
            !is_here
        });
    })?;
    Ok(found)
}

/// A part of a file.
struct Window<'a> {
    /// Offset of its first byte in the file.
    base: u64,
    /// Bytes that belong to this window; what is behind them comes again in the next one.
    own: usize,
    bytes: &'a [u8],
}

fn for_each_window(path: &Path, each: &mut dyn FnMut(Window<'_>)) -> io::Result<()> {
    let mut file = File::open(path)?;
    let mut base = 0;
    let mut buffer = Vec::new();
    loop {
        file.seek(SeekFrom::Start(base))?;
        buffer.clear();
        let most = (WINDOW + MAX_OBJECT) as u64;
        file.by_ref().take(most).read_to_end(&mut buffer)?;
        let is_last = (buffer.len() as u64) < most;
        let own = match is_last {
            true => buffer.len(),
            false => WINDOW,
        };
        each(Window {
            base,
            own,
            bytes: &buffer,
        });
        if is_last {
            return Ok(());
        }
        base += WINDOW as u64;
    }
}

/// Returns the text that begins at `start` and ends where the bytes are no text any more.
fn text_from(bytes: &[u8], start: usize) -> &str {
    let end = bytes.len().min(start + MAX_OBJECT);
    match std::str::from_utf8(&bytes[start..end]) {
        Ok(text) => text,
        Err(error) => {
            std::str::from_utf8(&bytes[start..start + error.valid_up_to()]).unwrap_or_default()
        }
    }
}

fn context(bytes: &[u8], at: usize, length: usize) -> String {
    let range = at.saturating_sub(CONTEXT)..bytes.len().min(at + length + CONTEXT);
    let text = String::from_utf8_lossy(&bytes[range]);
    text.chars()
        .map(|c| match c.is_control() {
            true => ' ',
            false => c,
        })
        .collect()
}

/// Adds the names of a list, separated by commas.
fn add_list(surface: &mut Surface, kind: Kind, list: &str, offset: u64) {
    // Other lists begin with an A and are long, too.
    if kind == Kind::Tool && !list.contains("\"Read\"") {
        return;
    }
    for name in list.split(',') {
        let name = name.replace('"', "").replace(':', ARROW);
        surface.add(kind, &name, named(offset));
    }
}

fn named(offset: u64) -> Entry {
    Entry {
        offset: Some(offset),
        ..Entry::default()
    }
}

/// The names in a value, and whether it is a schema rather than a value that is sent.
struct Literals<'a> {
    names: Vec<&'a str>,
    is_schema: bool,
}

fn literals(value: &str) -> Option<Literals<'_>> {
    let found = LITERALS.captures(value)?;
    let is_schema = found.get(1).is_some();
    let names = match (found.get(2), found.get(3)) {
        (Some(one), _) => vec![one.as_str()],
        (None, Some(list)) => list
            .as_str()
            .split(',')
            .map(|name| name.trim_matches('"'))
            .collect(),
        (None, None) => return None,
    };
    Some(Literals { names, is_schema })
}

/// Adds what an object declares or sends, if it is a message, a control request or a hook's input.
fn add_object(surface: &mut Surface, text: &str, offset: u64, is_extending: bool) {
    let text = &text[..floor_boundary(text, MAX_OBJECT)];
    let Some(read) = members(text) else {
        return;
    };
    let of = |name| read.value(name).and_then(literals);
    if let Some(event) = of("hook_event_name") {
        add_all(surface, Kind::HookEvent, &event, &read, offset, true);
        return;
    }
    match (of("type"), of("subtype")) {
        (Some(kind), Some(subtype)) => {
            let names = subtype
                .names
                .iter()
                .map(|subtype| format!("{}/{subtype}", kind.names[0]));
            let names: Vec<String> = names.collect();
            let message = Literals {
                names: names.iter().map(String::as_str).collect(),
                is_schema: kind.is_schema,
            };
            if matches!(kind.names[0], "system" | "result") {
                add_all(
                    surface,
                    Kind::Message,
                    &message,
                    &read,
                    offset,
                    is_extending,
                );
            }
        }
        // What several messages have in common, or what a transcript keeps of them.
        (Some(kind), None)
            if kind.names.len() > 1 || matches!(kind.names[0], "system" | "result") => {}
        (Some(kind), None) if is_message(&read, kind.is_schema) => {
            add_all(surface, Kind::Message, &kind, &read, offset, is_extending);
        }
        (None, Some(subtype)) if subtype.is_schema && read.value("request_id").is_none() => {
            add_all(
                surface,
                Kind::ControlRequest,
                &subtype,
                &read,
                offset,
                is_extending,
            );
        }
        _ => {}
    }
}

/// Whether an object with a type and no subtype crosses the wire: blocks, sources and rules have types as well.
fn is_message(read: &Members<'_>, is_schema: bool) -> bool {
    let has = |name| read.value(name).is_some();
    match is_schema {
        true => has("session_id") || has("request_id"),
        false => has("session_id") && has("uuid"),
    }
}

fn add_all(
    surface: &mut Surface,
    kind: Kind,
    names: &Literals<'_>,
    read: &Members<'_>,
    offset: u64,
    is_open: bool,
) {
    let fields: Option<Fields> = names.is_schema.then(|| {
        let tags = ["type", "subtype", "hook_event_name"];
        let fields = read
            .list
            .iter()
            .filter(|member| !tags.contains(&member.name));
        let field = |value| Field {
            // Without such a call it may refer to a schema that is optional by itself.
            is_optional: calls_any(value, OPTIONAL).then_some(true),
            ..Field::default()
        };
        fields
            .map(|member| (member.name.to_owned(), field(member.value)))
            .collect()
    });
    for name in &names.names {
        let entry = Entry {
            fields: fields.clone(),
            // What one place sends says nothing of how much the schema lists.
            is_open: names.is_schema && (is_open || read.has_spread),
            offset: Some(offset),
        };
        surface.add(kind, name, entry);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    /// A program with bytes that are no text around these pieces of code.
    fn program(pieces: &[&str]) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        for piece in pieces {
            file.write_all(&[0xff, 0x00, 0xfe]).unwrap();
            file.write_all(piece.as_bytes()).unwrap();
        }
        file.write_all(&[0xff; 9]).unwrap();
        file.flush().unwrap();
        file
    }

    fn read(pieces: &[&str]) -> Surface {
        scan(program(pieces).path(), |_| ()).unwrap().surface
    }

    fn names(surface: &Surface, kind: Kind) -> Vec<&str> {
        surface.of(kind).map(|(name, _)| name).collect()
    }

    #[test]
    fn schemas_of_old_and_new_builds_are_read_with_their_fields() {
        let surface = read(&[
            r#"a=m(()=>c({type:T("system"),subtype:T("status"),status:r().nullable(),hint:r().describe("x, y").optional(),session_id:r()}).describe("d"))"#,
            r#"L1(()=>B.object({type:B.literal("rate_limit_event"),rate_limit_info:d8Y(),uuid:ZO(),session_id:B.string()}))"#,
            r#"c({type:T("result"),subtype:ze(["error_max_turns","error_during_execution"]),...base})"#,
            r#"c({subtype:T("set_model"),model:r().default("x")})"#,
            r#"H().and(c({hook_event_name:T("Stop"),stop_hook_active:O()}))"#,
        ]);
        let expected = [
            "rate_limit_event",
            "result/error_during_execution",
            "result/error_max_turns",
            "system/status",
        ];
        assert_eq!(names(&surface, Kind::Message), expected);
        let status = surface.get(Kind::Message, "system/status").unwrap();
        let fields = status.fields.as_ref().unwrap();
        let optional: Vec<_> = fields
            .iter()
            .map(|(name, field)| (name.as_str(), field.is_optional))
            .collect();
        assert_eq!(
            optional,
            [("hint", Some(true)), ("session_id", None), ("status", None)]
        );
        assert!(
            surface
                .get(Kind::Message, "result/error_max_turns")
                .unwrap()
                .is_open
        );
        assert!(
            surface
                .get(Kind::ControlRequest, "set_model")
                .unwrap()
                .fields
                .as_ref()
                .unwrap()["model"]
                .is_optional
                == Some(true)
        );
        assert_eq!(names(&surface, Kind::HookEvent), ["Stop"]);
    }

    #[test]
    fn what_is_sent_leaves_a_complete_list_complete() {
        let surface = read(&[
            r#"c({type:T("system"),subtype:T("task_notification"),task_id:r(),session_id:r()})"#,
            r#"let s={type:"system",subtype:"task_notification",task_id:e,...n&&{reason:n}}"#,
        ]);
        let entry = surface
            .get(Kind::Message, "system/task_notification")
            .unwrap();
        assert!(!entry.is_open);
        assert_eq!(entry.fields.as_ref().unwrap().len(), 2);
    }

    #[test]
    fn what_old_builds_send_and_compare_is_named_without_fields() {
        let surface = read(&[
            r#"q.enqueue({type:"system",subtype:"hook_started",uuid:a(),session_id:b()})"#,
            r#"if(r.request.subtype==="interrupt"){}this.sendRequest({subtype:"can_use_tool",tool_name:A})"#,
            r#"x({type:"text",text:t})"#,
        ]);
        assert_eq!(names(&surface, Kind::Message), ["system/hook_started"]);
        assert_eq!(
            names(&surface, Kind::ControlRequest),
            ["can_use_tool", "interrupt"]
        );
        assert_eq!(
            surface
                .get(Kind::Message, "system/hook_started")
                .unwrap()
                .fields,
            None
        );
    }

    #[test]
    fn flags_events_tools_and_aliases_are_found_by_their_lists() {
        let tools: Vec<String> = (0..30)
            .map(|n| format!("\"Tool{}\"", char::from(b'a' + n % 26)))
            .collect();
        let tools = format!("[\"Agent\",\"Read\",{}]", tools.join(","));
        let surface = read(&[
            r#".option("-p, --print","Print").addOption(new zH("--permission-prompt-tool <tool>","x"))"#,
            r#"var e=["PreToolUse","PostToolUse","Stop"]"#,
            &tools,
            r#"{Task:"Agent",ProposeGoal:"SetGoal"}"#,
        ]);
        assert_eq!(
            names(&surface, Kind::Flag),
            ["--permission-prompt-tool", "--print"]
        );
        assert_eq!(
            names(&surface, Kind::HookEvent),
            ["PostToolUse", "PreToolUse", "Stop"]
        );
        assert_eq!(names(&surface, Kind::Tool)[..2], ["Agent", "Read"]);
        assert_eq!(
            names(&surface, Kind::ToolAlias),
            ["ProposeGoal → SetGoal", "Task → Agent"]
        );
    }

    #[test]
    fn offsets_point_into_the_file_and_hits_show_the_code_around() {
        let file = program(&["first", "if(x.subtype===\"can_use_tool\")y()"]);
        let (count, hits) = find_text(file.path(), "can_use_tool", 5).unwrap();
        assert_eq!(count, 1);
        let bytes = std::fs::read(file.path()).unwrap();
        let at = usize::try_from(hits[0].offset).unwrap();
        assert_eq!(&bytes[at..at + 12], b"can_use_tool");
        assert!(
            hits[0].context.contains("if(x.subtype==="),
            "{}",
            hits[0].context
        );
    }

    #[test]
    fn a_piece_that_crosses_two_windows_is_read_once() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let padding = vec![b' '; WINDOW - 20];
        file.write_all(&padding).unwrap();
        file.write_all(br#"c({type:T("system"),subtype:T("status"),a:r(),session_id:r()})"#)
            .unwrap();
        file.write_all(&padding).unwrap();
        let surface = scan(file.path(), |_| ()).unwrap().surface;
        let status = surface.get(Kind::Message, "system/status").unwrap();
        assert_eq!(status.offset, Some(WINDOW as u64 - 18));
        assert_eq!(status.fields.as_ref().unwrap().len(), 2);
        assert_eq!(find_text(file.path(), "status", 5).unwrap().0, 1);
    }

    #[test]
    fn a_name_that_is_not_declared_is_there_if_its_text_is() {
        let mut before = Surface::default();
        for name in ["system/old", "system/gone"] {
            before.add(Kind::Message, name, Entry::default());
        }
        let mut now = Surface::default();
        add_contained(program(&[r#"case"old":"#]).path(), &before, &mut now).unwrap();
        assert_eq!(names(&now, Kind::Message), ["system/old"]);
    }
}
