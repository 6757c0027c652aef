//! The surface that we know: the inventory of the wire, which the types are held against.
//!
//! Pure. Names that stand in a CLI's code and never cross the wire are listed in the inventory as `elsewhere`.

use countersign_wire::INVENTORY;
use serde_json::Value;

use super::{ARROW, Entry, Field, Fields, Kind, Surface};

/// Our list, and what is known not to belong there.
#[derive(Debug)]
pub(crate) struct Inventory {
    /// The version of the CLI that it describes.
    pub(crate) version: String,
    pub(crate) surface: Surface,
    /// Names that are no news where they are found.
    pub(crate) elsewhere: Surface,
}

/// Reads the inventory.
pub(crate) fn inventory() -> Inventory {
    // The file is part of the program, and a test reads it.
    let value: Value = serde_json::from_str(INVENTORY).unwrap_or_default();
    let mut surface = Surface::default();
    for list in ["stdout", "stdin"] {
        for message in entries(&value[list]) {
            let name = match message["subtype"].as_str() {
                Some(subtype) => format!("{}/{subtype}", text(&message["type"])),
                None => text(&message["type"]).to_owned(),
            };
            surface.add(Kind::Message, &name, entry(&message["fields"], false));
        }
    }
    for direction in ["host_to_cli", "cli_to_host"] {
        for request in entries(&value["control_requests"][direction]) {
            surface.add(
                Kind::ControlRequest,
                text(&request["subtype"]),
                entry(&request["request"], false),
            );
        }
    }
    for hook in entries(&value["hooks"]) {
        let event = text(&hook["event"]);
        surface.add(Kind::HookEvent, event, entry(&hook["input"], true));
        surface.add(
            Kind::HookEvent,
            event,
            every_hook(&value["hook_base_input"]),
        );
    }
    for tool in entries(&value["tools"]) {
        surface.add(
            Kind::Tool,
            text(&tool["name"]),
            entry(&tool["input"], false),
        );
    }
    for (alias, tool) in value["tool_aliases"].as_object().into_iter().flatten() {
        surface.add(
            Kind::ToolAlias,
            &format!("{alias}{ARROW}{}", text(tool)),
            Entry::default(),
        );
    }
    // `--<extra>` stands for any.
    let flags = entries(&value["flags"]).filter(|flag| !text(&flag["flag"]).contains('<'));
    for flag in flags {
        surface.add(Kind::Flag, text(&flag["flag"]), Entry::default());
    }
    Inventory {
        version: text(&value["meta"]["cli_version"]).to_owned(),
        surface,
        elsewhere: elsewhere(&value["elsewhere"]),
    }
}

fn elsewhere(value: &Value) -> Surface {
    let mut surface = Surface::default();
    let lists = [
        (Kind::Message, "messages"),
        (Kind::ControlRequest, "control_requests"),
        (Kind::Flag, "flags"),
    ];
    for (kind, list) in lists {
        for name in entries(&value[list]) {
            surface.add(kind, text(name), Entry::default());
        }
    }
    for (request, fields) in value["fields"].as_object().into_iter().flatten() {
        let fields = entries(fields).map(|name| (text(name).to_owned(), Field::default()));
        let entry = Entry {
            fields: Some(fields.collect()),
            ..Entry::default()
        };
        surface.add(Kind::ControlRequest, request, entry);
    }
    surface
}

fn entries(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// What every hook is told: programs declare it once, and some of it again with an event.
fn every_hook(fields: &Value) -> Entry {
    let mut entry = entry(fields, true);
    for field in entry.fields.iter_mut().flat_map(Fields::values_mut) {
        field.is_undeclared = true;
        // Each event may say otherwise.
        field.is_optional = None;
    }
    entry
}

fn entry(fields: &Value, is_open: bool) -> Entry {
    let fields: Option<Fields> = fields.as_object().map(|fields| {
        let field = |field: &Value| Field {
            is_optional: field["optional"].as_bool(),
            is_undeclared: field["tier"] == "undeclared",
            type_text: field["type"].as_str().map(str::to_owned),
        };
        fields
            .iter()
            .map(|(name, value)| (name.clone(), field(value)))
            .collect()
    });
    Entry {
        fields,
        is_open,
        offset: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inventory_is_read_whole() {
        let inventory = inventory();
        assert!(inventory.version.starts_with("2."), "{}", inventory.version);
        for (kind, name) in [
            (Kind::Message, "system/init"),
            (Kind::Message, "user"),
            (Kind::ControlRequest, "set_model"),
            (Kind::ControlRequest, "can_use_tool"),
            (Kind::HookEvent, "PreToolUse"),
            (Kind::Tool, "Bash"),
            (Kind::Flag, "--permission-mode"),
        ] {
            assert!(inventory.surface.get(kind, name).is_some(), "{name}");
        }
        let init = inventory.surface.get(Kind::Message, "system/init").unwrap();
        assert!(init.fields.as_ref().unwrap().contains_key("permissionMode"));
        let start = inventory.surface.get(Kind::HookEvent, "SessionStart");
        let fields = start.unwrap().fields.as_ref().unwrap();
        assert!(fields["cwd"].is_undeclared && !fields["source"].is_undeclared);
    }
}
