//! `${name}` and `${name.path.to.field}` in the steps of a scenario. Pure.

use std::collections::BTreeMap;

use crate::json::Json;

/// Lines that `expect … as` and `control … as` named, and the sandbox's places.
#[derive(Debug, Default)]
pub(super) struct Vars(BTreeMap<String, Json>);

impl Vars {
    pub(super) fn set(&mut self, name: &str, value: Json) {
        self.0.insert(name.to_owned(), value);
    }

    pub(super) fn get(&self, name: &str) -> Result<&Json, String> {
        self.0.get(name).ok_or_else(|| {
            let known: Vec<&str> = self.0.keys().map(String::as_str).collect();
            format!(
                "nothing is named {name:?}; known here: {}",
                known.join(", ")
            )
        })
    }

    /// The text with each `${…}` replaced.
    pub(super) fn fill(&self, text: &str) -> Result<String, String> {
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("${") {
            let (path, behind) = after
                .split_once('}')
                .ok_or_else(|| format!("${{ without }} in {text:?}"))?;
            filled.push_str(before);
            filled.push_str(&self.lookup(path)?);
            rest = behind;
        }
        filled.push_str(rest);
        Ok(filled)
    }

    /// The JSON with each `${…}` in its texts replaced.
    pub(super) fn fill_json(&self, json: Json) -> Result<Json, String> {
        let mut failed = None;
        let filled = json.map_strings(&mut |text| match self.fill(&text) {
            Ok(filled) => filled,
            Err(error) => {
                failed.get_or_insert(error);
                text
            }
        });
        failed.map_or(Ok(filled), Err)
    }

    fn lookup(&self, path: &str) -> Result<String, String> {
        let (name, inner) = match path.split_once('.') {
            Some((name, inner)) => (name, Some(inner)),
            None => (path, None),
        };
        let value = self.get(name)?;
        match inner.map_or(Some(value), |inner| value.at(inner)) {
            Some(Json::String(text)) => Ok(text.clone()),
            Some(other) => Ok(other.to_string()),
            None => Err(format!("{name} has no {}", inner.unwrap_or_default())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vars() -> Vars {
        let mut vars = Vars::default();
        vars.set("cwd", Json::from("/p"));
        vars.set(
            "init",
            serde_json::from_str(r#"{"session_id":"s1","n":{"x":2}}"#).unwrap(),
        );
        vars
    }

    #[test]
    fn names_and_paths_are_replaced_in_texts_and_in_json() {
        assert_eq!(
            vars()
                .fill("a ${cwd}/b ${init.session_id} ${init.n.x}")
                .unwrap(),
            "a /p/b s1 2"
        );
        let json = serde_json::from_str(r#"{"f":["${cwd}"]}"#).unwrap();
        assert_eq!(
            vars().fill_json(json).unwrap().to_string(),
            r#"{"f":["/p"]}"#
        );
    }

    #[test]
    fn what_is_unknown_is_an_error_that_lists_the_known() {
        let error = vars().fill("${cdw}").unwrap_err();
        assert!(
            error.contains("cdw") && error.contains("cwd, init"),
            "{error}"
        );
        assert!(
            vars()
                .fill("${init.none}")
                .unwrap_err()
                .contains("init has no none")
        );
        assert!(vars().fill("${open").is_err());
    }
}
