//! Finds what differs between two surfaces.
//!
//! Pure. Invariant: a field is called gone or new only where both sources list the fields of that name. Gone are only
//! fields that a complete list lacks; new are also those that stand in one of two incomplete lists.

use serde::Serialize;

use super::{Entry, Field, Fields, Kind, Surface};

/// One difference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Change {
    pub(crate) kind: Kind,
    pub(crate) name: String,
    #[serde(flatten)]
    pub(crate) difference: Difference,
    /// Where the name stands in the file that was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) offset: Option<u64>,
}

/// How the newer source differs from the older one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "change", rename_all = "kebab-case")]
pub(crate) enum Difference {
    New {
        #[serde(skip_serializing_if = "Vec::is_empty")]
        fields: Vec<NewField>,
    },
    Gone,
    Changed(FieldChanges),
}

/// A field that was not there before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct NewField {
    pub(crate) name: String,
    /// Its type in the grammar of the inventory, where it is declared in a form that is read.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub(crate) type_text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) optional: Option<bool>,
}

impl NewField {
    fn of((name, field): (&String, &Field)) -> Self {
        Self {
            name: name.clone(),
            type_text: field.type_text.clone(),
            optional: field.is_optional,
        }
    }
}

/// Fields that differ.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct FieldChanges {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) new_fields: Vec<NewField>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) gone_fields: Vec<String>,
    /// May be absent now, and had to be there before.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) now_optional: Vec<String>,
    /// Always there now.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) now_required: Vec<String>,
}

/// Lists what `new` has and `old` has not, the reverse, and what both have in different forms. Names of `ignored` are no
/// news, neither where they come nor where they go.
pub(crate) fn compare(old: &Surface, new: &Surface, ignored: &Surface) -> Vec<Change> {
    let mut changes = Vec::new();
    for kind in Kind::ALL {
        for (name, entry) in new.of(kind) {
            let difference = match old.get(kind, name) {
                Some(before) => {
                    let ignored = ignored
                        .get(kind, name)
                        .and_then(|entry| entry.fields.as_ref());
                    changed_fields(before, entry, ignored).map(Difference::Changed)
                }
                None if ignored.get(kind, name).is_some() => None,
                None => Some(Difference::New {
                    fields: entry.fields.iter().flatten().map(NewField::of).collect(),
                }),
            };
            changes.extend(difference.map(|difference| Change {
                kind,
                name: name.to_owned(),
                difference,
                offset: entry.offset,
            }));
        }
        let gone = old
            .of(kind)
            .filter(|(name, _)| new.get(kind, name).is_none() && ignored.get(kind, name).is_none());
        changes.extend(gone.map(|(name, _)| Change {
            kind,
            name: name.to_owned(),
            difference: Difference::Gone,
            offset: None,
        }));
    }
    changes
}

fn changed_fields(old: &Entry, new: &Entry, ignored: Option<&Fields>) -> Option<FieldChanges> {
    let (before, after) = (old.fields.as_ref()?, new.fields.as_ref()?);
    let is_ignored = |name: &str| ignored.is_some_and(|fields| fields.contains_key(name));
    // Two open lists are read in the same way, so what only the newer one has is new.
    let hides_fields = old.is_open && !new.is_open;
    let added = after
        .iter()
        .filter(|(name, _)| !hides_fields && !before.contains_key(*name) && !is_ignored(name));
    let removed = before
        .iter()
        .filter(|(name, field)| !new.is_open && !field.is_undeclared && !after.contains_key(*name))
        .map(|(name, _)| name);
    let turned = |is_optional: bool| -> Vec<String> {
        let both = after.iter().filter_map(|(name, now)| {
            Some((name, before.get(name)?.is_optional?, now.is_optional?))
        });
        let turned = both.filter(|(_, was, now)| was != now && *now == is_optional);
        turned.map(|(name, ..)| name.clone()).collect()
    };
    let changes = FieldChanges {
        new_fields: added.map(NewField::of).collect(),
        gone_fields: removed.cloned().collect(),
        now_optional: turned(true),
        now_required: turned(false),
    };
    (changes != FieldChanges::default()).then_some(changes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An entry as the tests write it: kind, name, fields with whether each is optional, and whether there may be more.
    type Written<'a> = (Kind, &'a str, Option<&'a [(&'a str, bool)]>, bool);

    fn surface(entries: &[Written<'_>]) -> Surface {
        let mut surface = Surface::default();
        for &(kind, name, fields, is_open) in entries {
            let field = |is_optional| Field {
                is_optional: Some(is_optional),
                ..Field::default()
            };
            let fields = fields.map(|fields| {
                fields
                    .iter()
                    .map(|&(name, optional)| (name.to_owned(), field(optional)))
                    .collect()
            });
            surface.add(
                kind,
                name,
                Entry {
                    fields,
                    is_open,
                    offset: Some(7),
                },
            );
        }
        surface
    }

    fn new_field(name: &str, optional: bool) -> NewField {
        NewField {
            name: name.to_owned(),
            type_text: None,
            optional: Some(optional),
        }
    }

    #[test]
    fn new_gone_and_changed_names_are_told_apart() {
        let old = surface(&[
            (Kind::Tool, "Bash", None, false),
            (
                Kind::Message,
                "system/init",
                Some(&[("cwd", false), ("old", false), ("model", false)]),
                false,
            ),
            (Kind::Message, "same", Some(&[("a", true)]), false),
        ]);
        let new = surface(&[
            (
                Kind::Message,
                "system/init",
                Some(&[("cwd", true), ("effort", true), ("model", false)]),
                false,
            ),
            (Kind::Message, "same", Some(&[("a", true)]), false),
            (Kind::Flag, "--new", None, false),
            (Kind::Flag, "--known", None, false),
        ]);
        let ignored = surface(&[(Kind::Flag, "--known", None, false)]);
        let changes = compare(&old, &new, &ignored);
        let names: Vec<_> = changes.iter().map(|change| change.name.as_str()).collect();
        assert_eq!(names, ["system/init", "Bash", "--new"]);
        assert_eq!(
            changes[0].difference,
            Difference::Changed(FieldChanges {
                new_fields: vec![new_field("effort", true)],
                gone_fields: vec!["old".into()],
                now_optional: vec!["cwd".into()],
                now_required: vec![],
            })
        );
        assert_eq!(changes[1].difference, Difference::Gone);
        let back = compare(&new, &old, &ignored);
        assert!(
            back.iter().all(|change| change.name != "--known"),
            "{back:?}"
        );
    }

    #[test]
    fn of_two_open_lists_what_only_the_newer_one_has_is_new() {
        let old = surface(&[(
            Kind::Message,
            "m",
            Some(&[("a", false), ("b", false)]),
            true,
        )]);
        let new = surface(&[(Kind::Message, "m", Some(&[("a", false), ("c", true)]), true)]);
        let expected = FieldChanges {
            new_fields: vec![new_field("c", true)],
            ..FieldChanges::default()
        };
        let changes = compare(&old, &new, &Surface::default());
        assert_eq!(changes[0].difference, Difference::Changed(expected));
    }

    #[test]
    fn an_open_list_of_fields_neither_lacks_nor_adds_any() {
        let closed = surface(&[(Kind::Message, "m", Some(&[("a", false)]), false)]);
        let open = surface(&[(Kind::Message, "m", Some(&[("b", false)]), true)]);
        let unknown = surface(&[(Kind::Message, "m", None, false)]);
        let none = Surface::default();
        assert_eq!(compare(&closed, &unknown, &none), []);
        let FieldChanges {
            new_fields,
            gone_fields,
            ..
        } = match &compare(&closed, &open, &none)[0].difference {
            Difference::Changed(changes) => changes.clone(),
            other => panic!("{other:?}"),
        };
        assert_eq!(
            (new_fields, gone_fields),
            (vec![new_field("b", false)], vec![])
        );
        assert_eq!(
            compare(&open, &closed, &none)[0].difference,
            Difference::Changed(FieldChanges {
                gone_fields: vec!["b".into()],
                ..FieldChanges::default()
            })
        );
    }
}
