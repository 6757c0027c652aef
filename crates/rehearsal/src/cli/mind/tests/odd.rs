//! Prompts that nobody would write.

use super::steps;

#[test]
fn no_prompt_breaks_it() {
    let long = "`\"'{[".repeat(20_000);
    let odd = [
        "`",
        "\"",
        "run `",
        "write :",
        "ask me",
        "use the tool",
        "é, then é",
        "plan:",
        "edit a.txt: replace",
        "write `x` to",
        "…\n`\n'a'",
        "use the agent",
        "say",
        "“",
        "“”",
        "count to 99999999999999999999",
        "wait 99999999999",
        "write 99999999 lines",
        "{",
        "[",
        long.as_str(),
    ];
    for prompt in odd {
        assert!(!steps(prompt).is_empty(), "{prompt}");
    }
}

#[test]
fn no_mixture_breaks_it() {
    let parts = [
        "run ",
        "write ",
        "edit ",
        "read ",
        "use the tool ",
        "use the agent ",
        "ask me ",
        "plan: ",
        "say ",
        "replace ",
        " with ",
        " to ",
        " in ",
        ": ",
        ", then ",
        "\n",
        "`",
        "\"",
        "'",
        "```",
        "{\"a\":",
        "}",
        "[",
        "é",
        "“",
        "”",
        "a.txt",
        "C:\\x",
        "~/",
        "..",
        " in the background",
        "please ",
        ".",
        "${result}",
        "\\n",
        " or ",
        "3",
        " everywhere",
        "(several)",
        "search for ",
    ];
    let mut state: u64 = 1;
    for _ in 0..20_000 {
        let mut prompt = String::new();
        for _ in 0..8 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            prompt.push_str(parts[(state >> 33) as usize % parts.len()]);
        }
        let steps = steps(&prompt);
        assert!(!steps.is_empty(), "{prompt}");
        // Of the user's own words nothing is filled in.
        let filled = steps.replace("$${result}", "").contains("${result}");
        assert!(!filled, "{prompt}: {steps}");
    }
}
