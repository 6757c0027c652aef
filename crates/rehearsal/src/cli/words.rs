//! The words of the format, in one table: the parser's suggestions, the documentation's test and the parser agree on it.

/// Where a word may stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Above the first block.
    Header,
    /// At the beginning of a block.
    Block,
    /// Inside a block.
    Step,
    /// Above the first block and inside one.
    Anywhere,
}

/// One word of the format.
#[derive(Debug, Clone, Copy)]
pub struct Word {
    /// The word that begins the line.
    pub name: &'static str,
    /// How the whole line is written.
    pub form: &'static str,
    /// Where it may stand.
    pub place: Place,
}

const fn word(name: &'static str, place: Place, form: &'static str) -> Word {
    Word { name, form, place }
}

use Place::{Anywhere, Block, Header, Step};

/// Every word of the format.
pub const WORDS: &[Word] = &[
    word("version", Header, "version 2.0.75"),
    word("session", Header, "session UUID"),
    word("flags", Header, "flags --include-partial-messages …"),
    word("default", Anywhere, "default NAME on|off"),
    word(
        "reply",
        Anywhere,
        "reply normal|never|late 200ms|twice|misaddressed|error \"…\"|with {…} SUBTYPE|any",
    ),
    word("ignore", Anywhere, "ignore eof|sigterm|sigint|sighup"),
    word("start", Block, "start"),
    word("turn", Block, "turn [always|N times] [when \"text\"]"),
    word("unsolicited", Block, "unsolicited [after 200ms]"),
    word("on", Block, "on SUBTYPE|sigterm|sigint|sighup"),
    word("say", Step, "say \"…\" [with {…}] [without FIELD,…]"),
    word("think", Step, "think \"…\""),
    word("stream", Step, "stream \"…\""),
    word("block", Step, "block {\"type\":…}"),
    word("emit", Step, "emit {\"type\":…}"),
    word("pace", Step, "pace 50ms"),
    word(
        "usage",
        Step,
        "usage [input=N] [output=N] [cache_read=N] [cache_write=N] [cost=DOLLARS]",
    ),
    word(
        "tool",
        Step,
        "tool NAME {input} [gives \"…\"|fails \"…\"] [nowait]",
    ),
    word("together", Step, "together … end"),
    word(
        "agent",
        Step,
        "agent TYPE \"prompt\" [{input}] [background] … end",
    ),
    word("follow", Step, "follow [\"request\"]"),
    word("fail", Step, "fail STATUS [\"…\"]"),
    word(
        "if",
        Step,
        "if refused|result \"…\"|prompt \"…\"|mode NAME … [else …] end",
    ),
    word("else", Step, "else"),
    word(
        "ask",
        Step,
        "ask TOOL {input} [gives \"…\"] [as NAME] [id=ID] [nowait]",
    ),
    word("hook", Step, "hook EVENT {fields} [as NAME] [nowait]"),
    word("mcp", Step, "mcp SERVER {message} [as NAME] [nowait]"),
    word(
        "elicit",
        Step,
        "elicit SERVER \"…\" [{schema}] [as NAME] [nowait]",
    ),
    word("dialog", Step, "dialog KIND {payload} [as NAME] [nowait]"),
    word(
        "control",
        Step,
        "control SUBTYPE [{fields}] [as NAME] [id=ID] [nowait]",
    ),
    word("cancel", Step, "cancel NAME|ID"),
    word(
        "result",
        Step,
        "result [SUBTYPE] [with {…}] [without FIELD,…]",
    ),
    word("lose", Step, "lose result"),
    word("skip", Step, "skip COUNT"),
    word("answer", Step, "answer [error \"…\"|with {…}|twice|…]"),
    word("flood", Step, "flood COUNT [BYTES]"),
    word("big", Step, "big BYTES"),
    word("raw", Step, "raw TEXT TO THE END OF THE LINE"),
    word("rawbytes", Step, "rawbytes \"\\xff\\x00\\n\""),
    word("noise", Step, "noise \"…\""),
    word("partial", Step, "partial \"…\""),
    word("stderr", Step, "stderr \"…\"|flood BYTES"),
    word(
        "wait",
        Step,
        "wait 200ms|user|control SUBTYPE|answers [COUNT]|forever",
    ),
    word("fold", Step, "fold"),
    word(
        "expect",
        Step,
        "expect TYPE|SUBTYPE [{subset}|path=value|path~\"text\"…] [within 2s]",
    ),
    word("spawn", Step, "spawn [detached] \"shell command\""),
    word("stop", Step, "stop reading"),
    word("read", Step, "read slowly BYTES"),
    word("close", Step, "close stdout"),
    word("exit", Step, "exit CODE"),
    word("crash", Step, "crash [mid-line]"),
    word("repeat", Step, "repeat COUNT|forever … end"),
    word("end", Step, "end"),
];

/// The words that may begin a line here, as a list for people.
pub(super) fn allowed(in_block: bool) -> String {
    let names: Vec<&str> = WORDS
        .iter()
        .filter(|word| match word.place {
            Header => !in_block,
            Step => in_block,
            Block | Anywhere => true,
        })
        .map(|word| word.name)
        .collect();
    names.join(", ")
}

/// The one of `known` that `word` was probably meant to be.
pub(super) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|candidate| (strsim::osa_distance(word, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= 1 + candidate.len() / 4)
        .min()
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_recognised_and_another_word_is_not() {
        let names = || WORDS.iter().map(|word| word.name);
        assert_eq!(nearest("expct", names()), Some("expect"));
        assert_eq!(nearest("unsolicitd", names()), Some("unsolicited"));
        assert_eq!(nearest("sya", names()), Some("say"));
        assert_eq!(nearest("shout", names()), None);
    }

    #[test]
    fn no_word_stands_twice() {
        let mut names: Vec<&str> = WORDS.iter().map(|word| word.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), WORDS.len());
    }
}
