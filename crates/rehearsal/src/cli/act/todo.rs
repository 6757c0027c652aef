//! `TodoWrite`: a list that only the model and the host see.

use serde_json::{Value, json};

use super::ran::Ran;
use super::workbench::Workbench;

const SAVED: &str = "Todos have been modified successfully.";

/// Does it. A list of which all is done counts as empty from then on.
pub(super) fn run(bench: &Workbench, input: &Value) -> Ran {
    let new = input["todos"].clone();
    let all_done = new
        .as_array()
        .is_some_and(|todos| todos.iter().all(|todo| todo["status"] == "completed"));
    let kept = if all_done { json!([]) } else { new.clone() };
    let old = bench.replace_todos(kept);
    Ran::well(SAVED, json!({"oldTodos": old, "newTodos": new}))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_that_is_done_is_gone() {
        let bench = Workbench::new("/".into(), "/".into(), Vec::new());
        let list = |status: &str| json!({"todos": [{"content": "a", "status": status, "activeForm": "b"}]});
        let first = run(&bench, &list("pending")).structured;
        assert_eq!(first["oldTodos"], json!([]));
        let second = run(&bench, &list("completed")).structured;
        assert_eq!(second["oldTodos"], list("pending")["todos"]);
        let third = run(&bench, &list("pending")).structured;
        assert_eq!(third["oldTodos"], json!([]));
    }
}
