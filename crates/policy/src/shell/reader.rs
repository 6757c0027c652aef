//! The grammar of a text → what it would do, in order.
//!
//! Owns what flows from one command to the next: the folder, and whether names still mean what they meant. Invariant:
//! where a folder or a name may or may not have changed, it counts as changed.

use std::sync::Arc;

use super::grammar::{Body, Entry, Link, List, Node, Placed, Redirected};
use super::lex::{Inner, Piece};
use super::state::{Around, State};
use super::wrap::{self, Step};
use super::{
    Folder, Outer, Reading, Redirect, Simple, Word, builtin, folder, grammar, hide, lex, vars,
    witness,
};

/// So many texts may stand in one another: `sh -c` in `$(…)` in `eval`.
const MOST_DEPTH: usize = 12;
/// So many bytes are read, those of inner texts counted again.
const MOST_BYTES: usize = 256 * 1024;
/// So many commands are listed.
const MOST_COMMANDS: usize = 1000;

/// Reads a whole text.
pub(super) fn read(text: &str) -> Reading {
    let mut reader = Reader {
        out: Reading::default(),
        state: State {
            folder: Folder::Start,
            moved: None,
            obstacle: None,
            hides: None,
        },
        visited: vec![Folder::Start],
        later: Vec::new(),
        depth: 0,
        bytes: 0,
    };
    reader.text(text, &Around::default());
    reader.catch_up();
    let is_empty = reader.out.commands.is_empty() && reader.out.redirects.is_empty();
    if is_empty && reader.out.unclear.is_empty() {
        reader.unclear("it has no command");
    }
    reader.out
}

struct Reader {
    out: Reading,
    state: State,
    /// Every folder that the text moves to.
    visited: Vec<Folder>,
    /// The commands that may run in any of them.
    later: Vec<usize>,
    depth: usize,
    bytes: usize,
}

impl Reader {
    fn unclear(&mut self, why: impl Into<String>) {
        let why = why.into();
        if self.out.unclear.len() < 20 && !self.out.unclear.contains(&why) {
            self.out.unclear.push(why);
        }
    }

    fn text(&mut self, text: &str, around: &Around) {
        self.bytes += text.len();
        if self.depth >= MOST_DEPTH || self.bytes > MOST_BYTES {
            return self.unclear("texts stand in one another too deeply");
        }
        self.depth += 1;
        let parsed = lex::lex(text).and_then(|(tokens, problems)| {
            let list = grammar::parse(text, tokens)?;
            Ok((list, problems))
        });
        match parsed {
            Ok((list, problems)) => {
                for problem in problems {
                    self.unclear(problem);
                }
                if let Err(why) = witness::agrees(text, &list) {
                    self.unclear(why);
                }
                self.list(text, &list, around);
            }
            Err(why) => self.unclear(why),
        }
        self.depth -= 1;
    }

    /// Runs something whose changes end with it.
    fn apart(&mut self, run: impl FnOnce(&mut Self)) {
        let before = self.state.clone();
        run(self);
        self.state = before;
    }

    fn inner(&mut self, inner: &[Inner], around: &Around) {
        for inner in inner {
            self.apart(|reader| reader.text(&inner.text, &around.with(inner.how)));
        }
    }

    fn list(&mut self, text: &str, list: &List, around: &Around) {
        for entry in list {
            let before = self.state.clone();
            self.entry(text, entry, around);
            if entry.in_background {
                self.state = before;
            } else {
                self.settle(&before);
            }
        }
    }

    /// The folder is known only if nothing has moved it.
    fn settle(&mut self, before: &State) {
        let moved = self.state.moved.take();
        if moved.is_none() && self.state.folder == before.folder {
            return;
        }
        let mut now = folder::either(&before.folder, &self.state.folder);
        if let Some(moved) = moved {
            now = folder::either(&now, &moved);
        }
        if matches!(&now, Folder::Unknown(list) if list.len() > folder::MOST) {
            self.unclear("it changes its folder too often");
        }
        self.state.folder = now;
    }

    /// What runs later runs where the text has gone by then.
    fn catch_up(&mut self) {
        for at in std::mem::take(&mut self.later) {
            let command = &mut self.out.commands[at];
            for folder in &self.visited {
                command.folder = folder::either(&command.folder, folder);
            }
        }
    }

    /// The shell gives a value to a variable.
    fn set(&mut self, name: &str, value: &Word) {
        if let Some(why) = vars::calculates(name, value) {
            self.unclear(why);
        }
        self.holds(name, value);
    }

    /// A variable is given a value somewhere.
    fn holds(&mut self, name: &str, value: &Word) {
        if self.out.values.len() >= MOST_COMMANDS {
            return self.unclear("it sets too many variables");
        }
        let value = (name.to_owned(), value.clone());
        if !value.1.shown().is_empty() && !self.out.values.contains(&value) {
            self.out.values.push(value);
        }
    }

    fn entry(&mut self, text: &str, entry: &Entry, around: &Around) {
        let before = self.state.clone();
        for (link, nodes) in &entry.parts {
            match (link, self.state.moved.take()) {
                (Link::And, Some(folder)) => self.state.folder = folder,
                (Link::And | Link::First, None) => {}
                (_, moved) => {
                    self.state.moved = moved;
                    self.settle(&before);
                }
            }
            match &nodes[..] {
                [node] => self.node(text, node, around),
                _ => self.pipeline(text, nodes, around),
            }
        }
    }

    /// Each part is a shell of its own; in zsh, the last is not.
    fn pipeline(&mut self, text: &str, nodes: &[Node], around: &Around) {
        let before = self.state.clone();
        for node in nodes {
            self.state = before.clone();
            self.node(text, node, around);
        }
        self.settle(&before);
    }

    fn node(&mut self, text: &str, node: &Node, around: &Around) {
        self.redirects(text, &node.redirects, around);
        let from = (self.out.commands.len(), self.out.redirects.len());
        let before = self.state.clone();
        match &node.body {
            Body::Simple { assigns, words } => {
                self.simple(&text[node.span.clone()], assigns, words, around);
            }
            Body::Test(words) => self.test(&text[node.span.clone()], words, around),
            Body::Subshell(list) => self.apart(|reader| reader.list(text, list, around)),
            Body::Group(list) => self.list(text, list, around),
            Body::If(lists) => self.branches(text, lists, &before, around),
            Body::Case { words, lists } => {
                self.pieces(words, around);
                self.branches(text, lists, &before, around);
            }
            Body::Loop { sets, words, lists } => {
                self.pieces(words, around);
                if let Some(name) = sets {
                    self.state.set(name, &Word::Unknown(String::new()));
                    for piece in words {
                        self.set(name, &piece.word);
                    }
                }
                self.branches(text, lists, &before, around);
                self.come_round(from, &before);
            }
            Body::Function { name, body } => {
                self.unclear(format!("it defines the function `{name}`"));
                self.state
                    .obstacle
                    .get_or_insert(format!("`{name}` is defined anew before it"));
                self.state.folder = folder::somewhere(&before.folder);
                let mut inside = around.with("a function");
                inside.is_later = true;
                self.node(text, body, &inside);
                self.state.folder = before.folder;
            }
        }
    }

    fn branches(&mut self, text: &str, lists: &[List], before: &State, around: &Around) {
        for list in lists {
            self.list(text, list, around);
            self.settle(before);
        }
    }

    /// What a loop has changed holds for its next round.
    fn come_round(&mut self, from: (usize, usize), before: &State) {
        let is_moved = self.state.folder != before.folder;
        let end = &self.state.folder;
        for command in &mut self.out.commands[from.0..] {
            if is_moved {
                command.folder = folder::again(&command.folder, end);
            }
            if command.obstacle.is_none() {
                command.obstacle.clone_from(&self.state.obstacle);
            }
            if command.hides.is_none() {
                command.hides.clone_from(&self.state.hides);
            }
        }
        for redirect in self.out.redirects[from.1..].iter_mut().filter(|_| is_moved) {
            redirect.folder = folder::again(&redirect.folder, end);
        }
    }

    fn pieces(&mut self, pieces: &[Piece], around: &Around) {
        for piece in pieces {
            self.inner(&piece.inner, around);
        }
    }

    fn folder(&self, around: &Around) -> Folder {
        around
            .folder
            .clone()
            .unwrap_or_else(|| self.state.folder.clone())
    }

    fn redirects(&mut self, text: &str, redirects: &[Redirected], around: &Around) {
        for redirect in redirects {
            self.inner(&redirect.target.inner, around);
            let target = &redirect.target.word;
            let literal = target.literal();
            let is_copy = |op: &str| {
                redirect.operator == op
                    && literal.is_some_and(|t| {
                        t.trim_end_matches('-').chars().all(|c| c.is_ascii_digit())
                    })
            };
            if redirect.operator == "<<<" {
                self.holds("", target);
            }
            let is_text = redirect.operator.starts_with("<<") || is_process(&redirect.target);
            if is_text || is_copy(">&") || is_copy("<&") || literal.is_some_and(is_stream) {
                continue;
            }
            if literal.is_some_and(|t| t.starts_with("/dev/tcp") || t.starts_with("/dev/udp")) {
                self.unclear("it opens a connection by a redirection");
            }
            let folder = self.folder(around);
            self.out.redirects.push(Redirect {
                writes: redirect.operator != "<" && redirect.operator != "<&",
                target: target.clone(),
                folder,
                text: text[redirect.span.clone()].to_owned(),
            });
        }
    }

    fn test(&mut self, text: &str, words: &[Placed], around: &Around) {
        for word in words {
            self.inner(&word.piece.inner, around);
        }
        let mut all = vec![Word::Literal("[[".to_owned())];
        all.extend(words.iter().map(|word| word.piece.word.clone()));
        if let Some(why) = builtin::test_runs(&all) {
            self.unclear(why);
        }
        self.emit(all, text, around, None);
    }

    fn simple(&mut self, text: &str, assigns: &[Piece], words: &[Placed], around: &Around) {
        self.pieces(assigns, around);
        for word in words {
            self.inner(&word.piece.inner, around);
        }
        let mut around = around.clone();
        let outside = around.obstacle.clone();
        for assign in assigns.iter().filter_map(|piece| piece.assign.as_ref()) {
            self.set(&assign.name, &assign.value);
            match words.is_empty() {
                true => self.state.set(&assign.name, &assign.value),
                false => around.set(&assign.name, &assign.value),
            }
        }
        let words: Vec<Word> = words.iter().map(|word| word.piece.word.clone()).collect();
        if !assigns.is_empty() && !words.is_empty() {
            around.outer.push(Arc::new(Outer {
                words: assigns
                    .iter()
                    .map(|piece| &piece.word)
                    .chain(&words)
                    .cloned()
                    .collect(),
                named: assigns.len() + 1,
                runs_text: false,
                obstacle: outside.or_else(|| self.state.obstacle.clone()),
            }));
        }
        if !words.is_empty() {
            self.command(words, text, around);
        }
    }

    /// Takes the wrappers off, one by one.
    fn command(&mut self, mut words: Vec<Word>, text: &str, mut around: Around) {
        for _ in 0..MOST_DEPTH {
            match wrap::step(&words) {
                Step::Plain => return self.emit(words, text, &around, None),
                Step::Lost(why) => return self.emit(words, text, &around, Some(why)),
                Step::Into(inner) => {
                    self.put_on(&mut around, words, inner.named, inner.label);
                    around.obstacle = around.obstacle.or(inner.obstacle);
                    for (name, value) in &inner.assigns {
                        self.holds(name, value);
                        around.set(name, value);
                    }
                    if let Some(change) = inner.folder {
                        let from = self.folder(&around);
                        around.folder = Some(folder::join(&from, &change));
                    }
                    words = inner.words;
                }
                Step::Text(inner) => {
                    self.put_on(&mut around, words, inner.named, inner.label);
                    for outer in &mut around.outer {
                        Arc::make_mut(outer).runs_text = true;
                    }
                    around.obstacle = around.obstacle.or(inner.obstacle);
                    if inner.is_later {
                        around.folder = Some(folder::somewhere(&self.state.folder));
                        around.is_later = true;
                    }
                    return match inner.is_apart {
                        true => self.apart(|reader| reader.text(&inner.text, &around)),
                        false => self.text(&inner.text, &around),
                    };
                }
                Step::Also(inners) => {
                    for inner in inners {
                        let mut around = around.clone();
                        self.put_on(&mut around, words.clone(), inner.named, inner.label);
                        around.obstacle = around.obstacle.or(inner.obstacle);
                        if inner.folder.is_some() {
                            around.folder = Some(folder::somewhere(&self.folder(&around)));
                        }
                        self.depth += 1;
                        match self.depth < MOST_DEPTH {
                            true => self.command(inner.words, text, around),
                            false => self.unclear("texts stand in one another too deeply"),
                        }
                        self.depth -= 1;
                    }
                    return self.emit(words, text, &around, None);
                }
            }
        }
        self.unclear("it has too many wrappers");
    }

    fn put_on(&self, around: &mut Around, words: Vec<Word>, named: usize, label: String) {
        let obstacle = around
            .obstacle
            .clone()
            .or_else(|| self.state.obstacle.clone());
        // What stands around words has to name the innermost command.
        let words_only = around.outer.iter_mut().rev();
        for outer in words_only.take_while(|outer| !outer.runs_text) {
            Arc::make_mut(outer).named += named - 1;
        }
        around.outer.push(Arc::new(Outer {
            words,
            named,
            runs_text: false,
            obstacle,
        }));
        around.through.push(label);
    }

    fn emit(&mut self, words: Vec<Word>, text: &str, around: &Around, lost: Option<String>) {
        if self.out.commands.len() >= MOST_COMMANDS {
            return self.unclear("it has too many commands");
        }
        // Words of the grammar that stand before a command: alone, most of what follows cannot be parsed.
        let is_option = |word: &Word| word.shown().starts_with('-');
        let is_alone = matches!(
            words.first().and_then(Word::literal),
            Some("coproc" | "time")
        ) && words[1..].iter().all(is_option);
        if words.is_empty() || is_alone {
            return self.unclear("a wrapper has nothing to run");
        }
        let base = self.folder(around);
        let effect = builtin::effect(&words);
        let hides = lost
            .clone()
            .or_else(|| effect.hides.clone())
            .or_else(|| hide::why(&words))
            .or_else(|| around.hides.clone())
            .or_else(|| self.state.hides.clone());
        let obstacle = around
            .obstacle
            .clone()
            .or_else(|| self.state.obstacle.clone());
        for (name, value) in builtin::values(&words) {
            self.set(&name, &value);
        }
        if around.is_later {
            self.later.push(self.out.commands.len());
        }
        self.out.commands.push(Simple {
            folder: folder::of(&words, &base),
            text: text.to_owned(),
            through: around.through.clone(),
            obstacle: obstacle.or(lost),
            hides,
            outer: around.outer.clone(),
            words,
        });
        if let Some(change) = effect.moves {
            let mut moved = folder::join(&base, &change);
            if change.literal().is_none() {
                // `cd -` and `popd` go back.
                let mut others = self.visited.clone();
                let words = self.out.commands.last().map(|command| &command.words[..]);
                let words = words.unwrap_or_default();
                others.extend(folder::by_values(&base, words, &self.out.values));
                for other in &others {
                    moved = folder::either(&moved, other);
                }
            }
            self.visited.push(moved.clone());
            self.state.moved = Some(moved);
        }
        if let Some(why) = effect.obstacle_after {
            self.state.obstacle.get_or_insert(why);
        }
        if let Some(why) = effect.hides_after {
            self.state.hides.get_or_insert(why);
        }
    }
}

/// Whether a target is a process substitution and nothing else: a pipe, not a file.
fn is_process(target: &Piece) -> bool {
    match (&target.word, &target.inner[..]) {
        (Word::Unknown(source), [inner]) => {
            source.starts_with(['<', '>']) && source.len() == inner.text.len() + "<()".len()
        }
        _ => false,
    }
}

/// Targets that are no files.
fn is_stream(target: &str) -> bool {
    matches!(
        target,
        "/dev/null" | "/dev/zero" | "/dev/stdin" | "/dev/stdout" | "/dev/stderr"
    ) || target
        .strip_prefix("/dev/fd/")
        .is_some_and(|n| n.chars().all(|c| c.is_ascii_digit()))
}
