//! The second reader: tree-sitter's grammar of bash.
//!
//! Owns the comparison of what it sees with what our own reader saw: the same commands at the same places, with words cut at
//! the same places. It never adds a command; it can only cast doubt.

use std::collections::BTreeMap;
use std::ops::Range;

use tree_sitter::{Node as Tree, Parser};

use super::grammar::{Body, List, Node};

/// Whether both readers saw the same.
pub(super) fn agrees(text: &str, list: &List) -> Result<(), String> {
    let lost = || "the parser gave up on it".to_owned();
    let mut parser = Parser::new();
    parser
        .set_language(&tree_sitter_bash::LANGUAGE.into())
        .map_err(|_| lost())?;
    let tree = parser.parse(plain(text), None).ok_or_else(lost)?;
    let root = tree.root_node();
    if root.has_error() {
        return Err(format!(
            "the parser cannot read it near `{}`",
            excerpt(text, first_error(root))
        ));
    }
    let mut ours = Seen::new();
    collect_list(list, &mut ours);
    let mut theirs = Seen::new();
    collect_tree(root, &mut theirs)?;
    for (start, words) in &ours {
        let differs = match theirs.get(start) {
            None => true,
            Some(their) => their.iter().any(|span| !has(words, span)),
        };
        if differs {
            return Err(format!(
                "two parsers read it differently near `{}`",
                excerpt(text, *start)
            ));
        }
    }
    match theirs.keys().find(|start| !ours.contains_key(start)) {
        Some(start) => Err(format!(
            "two parsers read it differently near `{}`",
            excerpt(text, *start)
        )),
        None => Ok(()),
    }
}

/// The text as the other reader may see it. Its scanner asks the C library about characters in a way that reads beyond a
/// table for those outside of ASCII; they are letters to a shell, and as long in bytes as they were.
fn plain(text: &str) -> Vec<u8> {
    text.bytes()
        .map(|byte| if byte.is_ascii() { byte } else { b'x' })
        .collect()
}

/// Where each command begins, and where its words stand.
type Seen = BTreeMap<usize, Vec<Range<usize>>>;

/// Whether a span is one of these, which are in order.
fn has(words: &[Range<usize>], span: &Range<usize>) -> bool {
    words
        .binary_search_by_key(&span.start, |word| word.start)
        .is_ok_and(|at| words[at] == *span)
}

fn excerpt(text: &str, at: usize) -> String {
    let at = (0..=at.min(text.len()))
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(0);
    text[at..]
        .chars()
        .take(24)
        .flat_map(char::escape_debug)
        .collect()
}

fn first_error(root: Tree<'_>) -> usize {
    let mut node = root;
    loop {
        let mut cursor = node.walk();
        let bad = node
            .children(&mut cursor)
            .find(|child| child.has_error() || child.is_missing());
        match bad {
            Some(child) if !node.is_error() => node = child,
            _ => return node.start_byte(),
        }
    }
}

fn collect_list(list: &List, seen: &mut Seen) {
    for node in list
        .iter()
        .flat_map(|entry| &entry.parts)
        .flat_map(|(_, nodes)| nodes)
    {
        collect_node(node, seen);
    }
}

fn collect_node(node: &Node, seen: &mut Seen) {
    match &node.body {
        Body::Simple { words, .. } => {
            let spans: Vec<_> = words.iter().map(|word| word.span.clone()).collect();
            if let Some(first) = spans.first() {
                seen.insert(first.start, spans);
            }
        }
        Body::Test(words) => {
            let spans = words.iter().map(|word| word.span.clone()).collect();
            seen.insert(node.span.start, spans);
        }
        Body::Subshell(list) | Body::Group(list) => collect_list(list, seen),
        Body::If(lists) | Body::Loop { lists, .. } | Body::Case { lists, .. } => {
            lists.iter().for_each(|list| collect_list(list, seen));
        }
        Body::Function { body, .. } => collect_node(body, seen),
    }
}

/// The tree's commands, without those in substitutions, which are read as texts of their own.
fn collect_tree(root: Tree<'_>, seen: &mut Seen) -> Result<(), String> {
    let mut left = vec![root];
    while let Some(node) = left.pop() {
        match node.kind() {
            "command_substitution" | "process_substitution" => continue,
            "command" => {
                let Some(name) = node.child_by_field_name("name") else {
                    return Err("the parser sees a command without a name".to_owned());
                };
                let mut cursor = node.walk();
                let mut spans = vec![name.byte_range()];
                spans.extend(
                    node.children_by_field_name("argument", &mut cursor)
                        .map(|child| child.byte_range()),
                );
                seen.insert(name.start_byte(), spans);
            }
            "declaration_command" | "unset_command" => {
                let mut cursor = node.walk();
                let spans: Vec<_> = node
                    .children(&mut cursor)
                    .map(|child| child.byte_range())
                    .collect();
                seen.insert(node.start_byte(), spans);
            }
            "test_command" => {
                seen.insert(node.start_byte(), Vec::new());
            }
            kind if node.is_named() && !KNOWN.contains(&kind) => {
                return Err(format!("the parser sees an unknown `{kind}`"));
            }
            _ => {}
        }
        let mut cursor = node.walk();
        left.extend(node.children(&mut cursor));
    }
    Ok(())
}

/// The kinds of nodes that our own reader knows too.
const KNOWN: [&str; 52] = [
    "ansi_c_string",
    "arithmetic_expansion",
    "array",
    "binary_expression",
    "brace_expression",
    "case_item",
    "case_statement",
    "command_name",
    "comment",
    "compound_statement",
    "concatenation",
    "do_group",
    "elif_clause",
    "else_clause",
    "expansion",
    "extglob_pattern",
    "file_descriptor",
    "file_redirect",
    "for_statement",
    "function_definition",
    "heredoc_body",
    "heredoc_content",
    "heredoc_end",
    "heredoc_redirect",
    "heredoc_start",
    "herestring_redirect",
    "if_statement",
    "list",
    "negated_command",
    "number",
    "parenthesized_expression",
    "pipeline",
    "postfix_expression",
    "program",
    "raw_string",
    "redirected_statement",
    "regex",
    "simple_expansion",
    "special_variable_name",
    "string",
    "string_content",
    "subscript",
    "subshell",
    "ternary_expression",
    "test_operator",
    "translated_string",
    "unary_expression",
    "variable_assignment",
    "variable_assignments",
    "variable_name",
    "while_statement",
    "word",
];
