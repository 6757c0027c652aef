//! How the entries of a transcript hang together, and which of them are the conversation as it stands.
//!
//! Pure: it is fed entries and gives back positions. The CLI writes one entry a content block, so parallel tool calls
//! make the graph fork; whoever only walks from child to parent loses calls. Invariant: a branch names each entry
//! once, whatever loops or gaps the file has.

use std::collections::{HashMap, HashSet};

use super::entry::{Entry, Spoken};
use super::reader::Place;

/// What an entry is in the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    User,
    Assistant,
    System,
    Other,
}

/// An entry with a place in the conversation; its content stays in the file.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) place: Place,
    pub(super) role: Role,
    pub(super) meta: bool,
    uuid: Box<str>,
    parent: Option<Box<str>>,
    sidechain: bool,
    team: bool,
    tool_result: bool,
    /// The model's response that the entry is a block of.
    response: Option<Box<str>>,
}

/// All entries of a transcript that have an id.
#[derive(Debug, Default)]
pub(super) struct Graph {
    nodes: Vec<Node>,
    by_uuid: HashMap<Box<str>, usize>,
    /// Where a rewind set the conversation back to, and how many nodes there were before.
    rewound: Option<(Box<str>, usize)>,
}

impl Graph {
    pub(super) fn add(&mut self, entry: &Entry, place: Place) {
        let head = entry.head();
        if let (Some(leaf), Some(true)) = (&head.leaf_uuid, head.explicit) {
            self.rewound = Some((leaf.as_str().into(), self.nodes.len()));
        }
        let Some(uuid) = entry.uuid() else { return };
        let role = match entry.kind() {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            "system" => Role::System,
            _ => Role::Other,
        };
        let speaks = matches!(role, Role::User | Role::Assistant);
        let spoken = if speaks {
            entry.spoken()
        } else {
            Spoken::default()
        };
        self.by_uuid.insert(uuid.into(), self.nodes.len());
        self.nodes.push(Node {
            place,
            role,
            meta: entry.is_meta(),
            uuid: uuid.into(),
            parent: entry.parent_uuid().map(Into::into),
            sidechain: entry.is_sidechain(),
            team: head.team_name.is_some(),
            tool_result: role == Role::User && spoken.has_tool_result,
            response: spoken
                .id
                .filter(|_| role == Role::Assistant)
                .map(Into::into),
        });
    }

    pub(super) fn node(&self, index: usize) -> &Node {
        &self.nodes[index]
    }

    /// The conversation as it stands, oldest first: every entry on the way from its last message to its first, and
    /// what belongs to the same responses.
    pub(super) fn branch(&self, sidechain: bool) -> Vec<usize> {
        let Some(leaf) = self.leaf(sidechain) else {
            return Vec::new();
        };
        let mut chain: Vec<usize> = self.walk(leaf).collect();
        chain.reverse();
        self.with_siblings(chain, sidechain)
    }

    fn parent(&self, index: usize) -> Option<usize> {
        let parent = self.nodes[index].parent.as_ref()?;
        self.by_uuid.get(parent).copied()
    }

    /// An entry and its ancestors. Ends where the file does not go on, or goes in a circle.
    fn walk(&self, from: usize) -> impl Iterator<Item = usize> {
        let mut seen = HashSet::new();
        std::iter::successors(Some(from), |index| self.parent(*index))
            .take_while(move |index| seen.insert(*index))
    }

    /// The last message that nothing follows.
    fn leaf(&self, sidechain: bool) -> Option<usize> {
        let speaks = |index: usize| {
            let node = &self.nodes[index];
            matches!(node.role, Role::User | Role::Assistant)
                && !node.meta
                && !node.team
                && node.sidechain == sidechain
        };
        if let Some((leaf, before)) = &self.rewound {
            let spoken_since = (*before..self.nodes.len()).any(speaks);
            if let (false, Some(leaf)) = (spoken_since, self.by_uuid.get(leaf)) {
                return Some(*leaf);
            }
        }
        let parents: HashSet<&str> = self
            .nodes
            .iter()
            .filter_map(|node| node.parent.as_deref())
            .collect();
        let terminals =
            (0..self.nodes.len()).filter(|index| !parents.contains(&*self.nodes[*index].uuid));
        // What hangs on the last message (attachments, notes) belongs to the branch: the walk starts there.
        let with_message =
            terminals.filter_map(|end| Some((self.walk(end).find(|index| speaks(*index))?, end)));
        with_message.max().map(|(_, end)| end)
    }

    /// Puts the other blocks of each response, and the results of their tools, behind its last block on the chain.
    fn with_siblings(&self, chain: Vec<usize>, sidechain: bool) -> Vec<usize> {
        let on_chain: HashSet<usize> = chain.iter().copied().collect();
        let mut last_block: HashMap<&str, usize> = HashMap::new();
        for index in &chain {
            if let Some(response) = &self.nodes[*index].response {
                last_block.insert(response, *index);
            }
        }
        let mut missing: HashMap<usize, Vec<usize>> = HashMap::new();
        for (index, node) in self.nodes.iter().enumerate() {
            let current = self.by_uuid.get(&node.uuid) == Some(&index);
            if on_chain.contains(&index) || node.sidechain != sidechain || !current {
                continue;
            }
            let response = match (&node.response, node.tool_result) {
                (Some(response), _) => Some(&**response),
                (None, true) => self.answered(index),
                (None, false) => None,
            };
            if let Some(place) = response.and_then(|response| last_block.get(response)) {
                missing.entry(*place).or_default().push(index);
            }
        }
        let mut branch = Vec::with_capacity(chain.len());
        for index in chain {
            branch.push(index);
            branch.extend(missing.remove(&index).unwrap_or_default());
        }
        branch
    }

    /// The response whose tool call this result is for; results may hang on one another.
    fn answered(&self, result: usize) -> Option<&str> {
        let asked = self
            .walk(result)
            .find(|index| !self.nodes[*index].tool_result)?;
        self.nodes[asked].response.as_deref()
    }
}
