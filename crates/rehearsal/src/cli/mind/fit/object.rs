//! The properties of an object: which ones, and what is in them.

use serde_json::{Map, Value};

use super::{Fitter, SPARSE, Spot};

impl Fitter<'_> {
    pub(super) fn object(&mut self, fields: &Map<String, Value>, spot: &Spot<'_>) -> Value {
        let empty = Map::new();
        let properties = fields
            .get("properties")
            .and_then(Value::as_object)
            .unwrap_or(&empty);
        let required = strings(fields.get("required"));
        let most = fields
            .get("maxProperties")
            .and_then(Value::as_u64)
            .unwrap_or(u64::MAX) as usize;
        let mut made = Map::new();
        for name in &required {
            let schema = properties.get(*name).or_else(|| unnamed(fields, name));
            let value = self.value(schema.unwrap_or(&Value::Bool(true)), &spot.property(name));
            made.insert((*name).to_owned(), value);
        }
        for (name, schema) in properties {
            let wanted = spot.depth < SPARSE && made.len() < most && *schema != Value::Bool(false);
            if wanted && !made.contains_key(name) {
                made.insert(name.clone(), self.value(schema, &spot.property(name)));
            }
        }
        self.fill_up(&mut made, fields, spot);
        Value::Object(made)
    }

    /// As many properties of no given name as the schema demands; one where only such are described.
    fn fill_up(
        &mut self,
        made: &mut Map<String, Value>,
        fields: &Map<String, Value>,
        spot: &Spot<'_>,
    ) {
        let least = fields
            .get("minProperties")
            .and_then(Value::as_u64)
            .unwrap_or(0);
        let described = fields
            .get("additionalProperties")
            .is_some_and(Value::is_object);
        let free = described && made.is_empty() && spot.depth < SPARSE;
        let least = least.max(u64::from(free)).min(super::MOST as u64) as usize;
        let names = fields
            .get("propertyNames")
            .and_then(|names| names["enum"].as_array());
        for number in 1..=least {
            if made.len() >= least {
                return;
            }
            let listed = names.and_then(|names| names.get(number - 1)?.as_str());
            let name = listed.map_or_else(|| format!("key{number}"), str::to_owned);
            let schema = unnamed(fields, &name).unwrap_or(&Value::Bool(true));
            let value = self.value(schema, &spot.property(&name));
            made.insert(name, value);
        }
    }
}

/// The schema of a property that has none of its own.
fn unnamed<'f>(fields: &'f Map<String, Value>, name: &str) -> Option<&'f Value> {
    let patterns = fields.get("patternProperties").and_then(Value::as_object);
    let begins = |pattern: &str| {
        pattern
            .strip_prefix('^')
            .is_some_and(|start| name.starts_with(start))
    };
    let by_pattern = patterns.and_then(|patterns| {
        patterns
            .iter()
            .find(|(pattern, _)| begins(pattern))
            .map(|(_, schema)| schema)
    });
    by_pattern.or_else(|| fields.get("additionalProperties"))
}

fn strings(value: Option<&Value>) -> Vec<&str> {
    let items = value.and_then(Value::as_array);
    items
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}
