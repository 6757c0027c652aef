//! One block of Markdown as lines.
//!
//! Owns what headings, lists, quotes, code and inline text look like. The block is complete; where blocks end is
//! decided in `markdown.rs`. What is not understood (HTML, broken links) is shown as it was written.

use pulldown_cmark::{Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd};
use unicode_width::UnicodeWidthStr as _;

use super::table::Table;
use crate::show::gutter;
use crate::term::style::{Line, Tone};

const CODE_BAR: &str = "│ ";
const QUOTE_BAR: &str = "▎ ";
const RULE: usize = 24;

/// The lines of one top-level block. `number` is what the first item of an ordered list counts from.
pub(super) fn render(block: &str, width: usize, number: Option<u64>) -> Vec<Line> {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut render = Render::new(width.max(4), number);
    for event in Parser::new_ext(block, options) {
        render.event(event);
    }
    render.flush();
    render.out
}

/// Lines of code behind their bar.
pub(super) fn code(text: &str, width: usize) -> Vec<Line> {
    gutter::barred(vec![Line::of(text, Tone::Code)], CODE_BAR, width)
}

/// What stands left of the lines of a container.
enum Edge {
    Item { mark: String, is_used: bool },
    Quote,
}

impl Edge {
    fn width(&self) -> usize {
        match self {
            Self::Item { mark, .. } => mark.width(),
            Self::Quote => QUOTE_BAR.width(),
        }
    }
}

struct Render {
    width: usize,
    out: Vec<Line>,
    /// The line that is being made.
    parts: Vec<(String, Tone)>,
    tones: Vec<Tone>,
    edges: Vec<Edge>,
    /// The next number of each open list.
    lists: Vec<Option<u64>>,
    links: Vec<Link>,
    table: Option<Table>,
    code: Option<String>,
    /// The next block stands apart.
    has_gap: bool,
    first_number: Option<u64>,
}

struct Link {
    address: String,
    /// Where its text begins in the line.
    from: usize,
    is_image: bool,
    is_plain: bool,
}

impl Render {
    fn new(width: usize, first_number: Option<u64>) -> Self {
        Self {
            width,
            out: Vec::new(),
            parts: Vec::new(),
            tones: Vec::new(),
            edges: Vec::new(),
            lists: Vec::new(),
            links: Vec::new(),
            table: None,
            code: None,
            has_gap: false,
            first_number,
        }
    }

    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => match &mut self.code {
                Some(code) => code.push_str(&text),
                None => self.add(&text),
            },
            Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.put(&text, Tone::Code)
            }
            Event::Html(text) | Event::InlineHtml(text) => self.html(&text),
            Event::FootnoteReference(name) => self.add(&format!("[^{name}]")),
            Event::SoftBreak => self.add(" "),
            Event::HardBreak => self.flush(),
            Event::Rule => {
                self.gap();
                self.emit(Line::of("─".repeat(RULE.min(self.room())), Tone::Dim));
                self.has_gap = true;
            }
            Event::TaskListMarker(is_done) => self.task(is_done),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph | Tag::HtmlBlock => self.gap(),
            Tag::Heading { level, .. } => {
                self.gap();
                let is_high = matches!(level, HeadingLevel::H1 | HeadingLevel::H2);
                self.tones
                    .push(if is_high { Tone::Heading } else { Tone::Strong });
            }
            Tag::BlockQuote(_) => {
                self.gap();
                self.edges.push(Edge::Quote);
            }
            Tag::CodeBlock(_) => {
                self.flush();
                self.gap();
                self.code = Some(String::new());
            }
            Tag::List(number) => self.list(number),
            Tag::Item => self.item(),
            Tag::Table(alignment) => {
                self.gap();
                self.table = Some(Table::new(alignment));
            }
            Tag::TableRow | Tag::TableHead => {
                if let Some(table) = &mut self.table {
                    table.row();
                }
            }
            Tag::Emphasis => self.tones.push(Tone::Soft),
            Tag::Strong => self.tones.push(Tone::Strong),
            Tag::Strikethrough => self.tones.push(Tone::Dim),
            Tag::Link {
                link_type,
                dest_url,
                ..
            } => {
                let is_plain = matches!(link_type, LinkType::Autolink | LinkType::Email);
                self.link(dest_url.to_string(), false, is_plain);
            }
            Tag::Image { dest_url, .. } => {
                self.link(dest_url.to_string(), true, false);
                self.add("[image: ");
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock => {
                self.flush();
                self.has_gap = true;
            }
            TagEnd::Heading(_) => {
                self.flush();
                self.tones.pop();
                self.has_gap = true;
            }
            TagEnd::BlockQuote(_) => {
                self.flush();
                self.edges.pop();
                self.has_gap = true;
            }
            TagEnd::CodeBlock => {
                let text = self.code.take().unwrap_or_default();
                let room = self.room();
                for line in text.lines() {
                    code(line, room)
                        .into_iter()
                        .for_each(|line| self.emit(line));
                }
                self.has_gap = true;
            }
            TagEnd::List(_) => {
                self.lists.pop();
                self.has_gap |= self.lists.is_empty();
            }
            TagEnd::Item => self.end_item(),
            TagEnd::TableCell => {
                let cell = self.take_line();
                if let Some(table) = &mut self.table {
                    table.cell(cell);
                }
            }
            TagEnd::Table => {
                let room = self.room();
                let lines = self.table.take().map(|table| table.lines(room));
                lines.into_iter().flatten().for_each(|line| self.emit(line));
                self.has_gap = true;
            }
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => {
                self.tones.pop();
            }
            TagEnd::Link | TagEnd::Image => self.end_link(),
            _ => {}
        }
    }

    fn list(&mut self, number: Option<u64>) {
        // In a tight item the list follows the text at once.
        self.flush();
        if self.lists.is_empty() {
            self.gap();
        }
        let is_first = self.lists.is_empty() && self.out.is_empty();
        self.lists
            .push(number.map(|number| self.first_number.filter(|_| is_first).unwrap_or(number)));
    }

    fn item(&mut self) {
        self.flush();
        self.gap();
        let bullet = if self.lists.len() > 1 { "◦ " } else { "• " };
        let mark = match self.lists.last_mut() {
            Some(Some(number)) => {
                let mark = format!("{number}. ");
                *number = number.saturating_add(1);
                mark
            }
            _ => bullet.to_owned(),
        };
        self.edges.push(Edge::Item {
            mark,
            is_used: false,
        });
    }

    fn end_item(&mut self) {
        self.flush();
        if let Some(Edge::Item { is_used: false, .. }) = self.edges.last() {
            self.emit(Line::new());
        }
        self.edges.pop();
    }

    fn task(&mut self, is_done: bool) {
        if let Some(Edge::Item {
            mark,
            is_used: false,
        }) = self.edges.last_mut()
        {
            *mark = if is_done { "[x] " } else { "[ ] " }.to_owned();
        }
    }

    fn link(&mut self, address: String, is_image: bool, is_plain: bool) {
        self.links.push(Link {
            address,
            from: self.parts.len(),
            is_image,
            is_plain,
        });
        self.tones.push(Tone::Link);
    }

    /// The address is always shown: a text must not lie about where it leads.
    fn end_link(&mut self) {
        self.tones.pop();
        let Some(link) = self.links.pop() else { return };
        if link.is_image {
            self.add("]");
        }
        let shown: String = self
            .parts
            .get(link.from..)
            .unwrap_or_default()
            .iter()
            .map(|(text, _)| text.as_str())
            .collect();
        if !link.is_plain && shown != link.address && !link.address.is_empty() {
            self.put(&format!(" ({})", link.address), Tone::Dim);
        }
    }

    fn html(&mut self, text: &str) {
        for line in text.split_inclusive('\n') {
            self.add(line.trim_end_matches(['\n', '\r']));
            if line.ends_with('\n') {
                self.flush();
            }
        }
    }

    fn add(&mut self, text: &str) {
        let tone = self.tones.last().copied().unwrap_or_default();
        self.put(text, tone);
    }

    fn put(&mut self, text: &str, tone: Tone) {
        // The text of a link begins a part of its own, so that it can be told from what is before it.
        let is_apart = self
            .links
            .last()
            .is_some_and(|link| link.from == self.parts.len());
        match self.parts.last_mut() {
            Some((last, last_tone)) if *last_tone == tone && !is_apart => last.push_str(text),
            _ => self.parts.push((text.to_owned(), tone)),
        }
    }

    fn take_line(&mut self) -> Line {
        let parts = std::mem::take(&mut self.parts);
        parts
            .into_iter()
            .fold(Line::new(), |line, (text, tone)| line.add(text, tone))
    }

    /// Ends the line that is being made.
    fn flush(&mut self) {
        if !self.parts.is_empty() {
            let line = self.take_line();
            self.emit(line);
        }
    }

    fn gap(&mut self) {
        if std::mem::take(&mut self.has_gap) {
            self.emit_blank();
        }
    }

    /// The columns inside all containers.
    fn room(&self) -> usize {
        let edges: usize = self.edges.iter().map(Edge::width).sum();
        self.width.saturating_sub(edges).max(4)
    }

    fn emit_blank(&mut self) {
        let is_quoted = self.edges.iter().any(|edge| matches!(edge, Edge::Quote));
        self.out.push(match is_quoted {
            true => Line::of(QUOTE_BAR.trim_end(), Tone::Dim),
            false => Line::new(),
        });
    }

    /// Puts a line behind the edges of its containers, from the inside out.
    fn emit(&mut self, line: Line) {
        let mut lines = vec![line];
        let mut room = self.room();
        for edge in self.edges.iter_mut().rev() {
            room += edge.width();
            match edge {
                Edge::Quote => lines = gutter::barred(lines, QUOTE_BAR, room),
                Edge::Item { mark, is_used } => {
                    for line in &mut lines {
                        let here = match std::mem::replace(is_used, true) {
                            false => mark.clone(),
                            true => " ".repeat(mark.width()),
                        };
                        *line = std::mem::take(line).after(&here, Tone::Accent);
                    }
                }
            }
        }
        self.out.extend(lines);
    }
}
