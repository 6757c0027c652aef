//! Reads a surface off TypeScript declarations: `sdk.d.ts` has the messages, `sdk-tools.d.ts` the tools.
//!
//! Pure. Reads what the SDK's generators write, not any TypeScript: an object type is found by the literal of its tag.

use std::sync::LazyLock;

use regex::Regex;

use super::members::{Members, members};
use super::{Entry, Field, Fields, Kind, Surface};

/// The name and the body of an object type.
static TYPES: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?m)^(?:export )?(?:declare )?(?:type|interface) (\w+)(?: = | )(?:([\w.]+) & )?\{")
        .expect("the pattern is a constant")
});

/// Names of declared tool inputs whose tool is called differently.
const TOOL_NAMES: &[(&str, &str)] = &[
    ("FileEdit", "Edit"),
    ("FileRead", "Read"),
    ("FileWrite", "Write"),
    ("ListMcpResources", "ListMcpResourcesTool"),
    ("ReadMcpResource", "ReadMcpResourceTool"),
    ("ReadMcpResourceDir", "ReadMcpResourceDirTool"),
    ("Mcp", "mcp__<server>__<tool>"),
    ("ProposeSkills", "propose_skills"),
];

/// Reads the messages, control requests and hook events of `sdk.d.ts`.
pub(crate) fn read_message_types(text: &str) -> Surface {
    let mut surface = Surface::default();
    for (_, is_intersection, body) in types(text) {
        let tag = |name: &str| {
            body.value(name)
                .map(literals)
                .filter(|names| !names.is_empty())
        };
        let mut add = |kind, names: &[String]| {
            for name in names {
                surface.add(
                    kind,
                    name,
                    entry(
                        &body,
                        is_intersection,
                        &["type", "subtype", "hook_event_name"],
                    ),
                );
            }
        };
        match (tag("hook_event_name"), tag("type"), tag("subtype")) {
            (Some(events), _, _) => add(Kind::HookEvent, &events),
            (None, Some(types), Some(subtypes)) => {
                let names = subtypes
                    .iter()
                    .map(|subtype| format!("{}/{subtype}", types[0]));
                add(Kind::Message, &names.collect::<Vec<_>>());
            }
            // What several messages have in common, or what a transcript keeps of them.
            (None, Some(types), None)
                if types.len() > 1 || matches!(types[0].as_str(), "system" | "result") => {}
            (None, Some(types), None)
                if body.value("session_id").is_some() || body.value("request_id").is_some() =>
            {
                add(Kind::Message, &types);
            }
            (None, None, Some(subtypes)) if body.value("request_id").is_none() => {
                add(Kind::ControlRequest, &subtypes);
            }
            _ => {}
        }
    }
    surface
}

/// Reads the tools of `sdk-tools.d.ts`, with the fields of their inputs.
pub(crate) fn read_tool_types(text: &str) -> Surface {
    let mut surface = Surface::default();
    for (name, is_intersection, body) in types(text) {
        let Some(schema) = name.strip_suffix("Input") else {
            continue;
        };
        let known = TOOL_NAMES.iter().find(|(declared, _)| *declared == schema);
        let tool = known.map_or(schema, |(_, tool)| tool);
        surface.add(Kind::Tool, tool, entry(&body, is_intersection, &[]));
    }
    surface
}

/// Returns the object types of a file: name, whether it is joined with another type, members.
fn types(text: &str) -> impl Iterator<Item = (&str, bool, Members<'_>)> {
    TYPES.captures_iter(text).filter_map(|found| {
        let open = found.get(0)?.end() - 1;
        let name = found.get(1)?.as_str();
        Some((name, found.get(2).is_some(), members(&text[open..])?))
    })
}

/// The names in a union of literals: `'a' | 'b'`. Empty if it is anything else.
fn literals(value: &str) -> Vec<String> {
    let names = value.split('|').map(str::trim);
    let names = names.map(|name| {
        name.strip_prefix('\'')?
            .strip_suffix('\'')
            .map(str::to_owned)
    });
    names.collect::<Option<_>>().unwrap_or_default()
}

fn entry(body: &Members<'_>, is_open: bool, tags: &[&str]) -> Entry {
    let fields = body
        .list
        .iter()
        .filter(|member| !tags.contains(&member.name));
    let fields: Fields = fields
        .map(|member| {
            let field = Field {
                is_optional: Some(member.is_marked_optional),
                type_text: grammar(member.value),
                ..Field::default()
            };
            (member.name.to_owned(), field)
        })
        .collect();
    Entry {
        fields: Some(fields),
        is_open,
        offset: None,
    }
}

/// Returns a type in the grammar of the inventory: words, literals, lists and unions of them.
fn grammar(text: &str) -> Option<String> {
    let text = text.trim();
    if !text.contains(['{', '<', '(']) && text.contains('|') {
        let parts = text.split('|').filter(|part| !part.trim().is_empty());
        return parts
            .map(grammar)
            .collect::<Option<Vec<_>>>()
            .map(|parts| parts.join("|"));
    }
    if let Some(element) = text.strip_suffix("[]") {
        return Some(format!("array<{}>", grammar(element)?));
    }
    match text {
        "string" | "number" | "boolean" | "null" | "true" | "false" => Some(text.to_owned()),
        "unknown" | "any" => Some("any".to_owned()),
        "Record<string, unknown>" => Some("map<any>".to_owned()),
        "Record<string, string>" => Some("map<string>".to_owned()),
        "UUID" => Some("string".to_owned()),
        _ => {
            let literal = text.strip_prefix('\'')?.strip_suffix('\'')?;
            Some(format!("\"{literal}\""))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MESSAGES: &str = "\
export declare type SDKStatusMessage = {
    type: 'system';
    subtype: 'status';
    /** One of; these */
    status?: string;
    session_id: string;
};
declare type SDKControlSetModelRequest = {
    subtype: 'set_model';
    model?: string;
};
export declare type StopHookInput = BaseHookInput & {
    hook_event_name: 'Stop';
    stop_hook_active: boolean;
};
declare type Error = { subtype: 'error'; request_id: string; };
export declare type Result = {
    type: 'result';
    subtype: 'error_during_execution' | 'error_max_turns';
};
";

    #[test]
    fn messages_requests_and_hooks_are_found_by_their_tags() {
        let surface = read_message_types(MESSAGES);
        let names = |kind| surface.of(kind).map(|(name, _)| name).collect::<Vec<_>>();
        assert_eq!(
            names(Kind::Message),
            [
                "result/error_during_execution",
                "result/error_max_turns",
                "system/status"
            ]
        );
        assert_eq!(names(Kind::ControlRequest), ["set_model"]);
        assert_eq!(names(Kind::HookEvent), ["Stop"]);
        let status = surface.get(Kind::Message, "system/status").unwrap();
        let field = |is_optional| Field {
            is_optional: Some(is_optional),
            type_text: Some("string".into()),
            is_undeclared: false,
        };
        let expected = Fields::from([
            ("session_id".into(), field(false)),
            ("status".into(), field(true)),
        ]);
        assert_eq!(
            (status.fields.as_ref(), status.is_open),
            (Some(&expected), false)
        );
        assert!(surface.get(Kind::HookEvent, "Stop").unwrap().is_open);
    }

    #[test]
    fn types_are_written_as_the_inventory_writes_them() {
        let pairs = [
            ("string", Some("string")),
            ("'a' | 'b' | null", Some("\"a\"|\"b\"|null")),
            ("string[]", Some("array<string>")),
            ("Record<string, unknown>", Some("map<any>")),
            ("{ a: string; }", None),
            ("coreTypes.PermissionUpdate[]", None),
        ];
        for (text, expected) in pairs {
            assert_eq!(grammar(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn tools_have_the_names_that_calls_use() {
        let surface = read_tool_types(
            "export interface FileEditInput {\n  file_path: string;\n}\nexport interface BashInput {\n  timeout?: number;\n}\nexport interface BashOutput {\n}\n",
        );
        let names: Vec<_> = surface.of(Kind::Tool).map(|(name, _)| name).collect();
        assert_eq!(names, ["Bash", "Edit"]);
    }
}
