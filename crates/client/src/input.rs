//! What is sent to the agent: text, images, documents, blocks.
//!
//! Owns [`Prompt`]. Invariants: every message has a uuid, so that its turn can be told; what would hang or kill an older
//! CLI (empty content) is not sent.

use countersign_wire::cli::{MessageOrigin, UserMessage};
use countersign_wire::content::{
    Content, ContentBlock, DocumentBlock, ImageBlock, InlineSource, Source, TextBlock, UrlSource,
};
use countersign_wire::vocab::Priority;
use countersign_wire::{Bare, Extra, Nullable};

/// A message to the agent. Made from text by `into()`, or put together from blocks.
#[derive(Clone, Default)]
pub struct Prompt {
    blocks: Vec<ContentBlock>,
    plain: Option<String>,
    uuid: Option<String>,
    priority: Option<Priority>,
    is_verbatim: bool,
    without_turn: bool,
    is_human: bool,
}

impl std::fmt::Debug for Prompt {
    /// What is in a prompt is nobody's business in a log.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Prompt")
            .field("uuid", &self.uuid)
            .field(
                "characters",
                &self.plain.as_ref().map(|text| text.chars().count()),
            )
            .field("blocks", &self.blocks.len())
            .finish_non_exhaustive()
    }
}

impl Prompt {
    /// An empty message, to be filled.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds text.
    #[must_use]
    pub fn text(mut self, text: impl Into<String>) -> Self {
        let text = text.into();
        if self.blocks.is_empty() && self.plain.is_none() {
            self.plain = Some(text);
            return self;
        }
        self.block(ContentBlock::Text(text_block(text)))
    }

    /// Adds an image, base64-encoded; `media_type` is such as `image/png`.
    #[must_use]
    pub fn image_base64(self, media_type: impl Into<String>, data: impl Into<String>) -> Self {
        self.image(Source::Base64(inline(media_type.into(), data.into())))
    }

    /// Adds an image by its address.
    #[must_use]
    pub fn image_url(self, url: impl Into<String>) -> Self {
        self.image(Source::Url(UrlSource {
            url: url.into(),
            extra: Extra::default(),
        }))
    }

    fn image(self, source: Source) -> Self {
        self.block(ContentBlock::Image(ImageBlock {
            source,
            cache_control: None,
            extra: Extra::default(),
        }))
    }

    /// Adds a document, base64-encoded; `media_type` is such as `application/pdf`.
    #[must_use]
    pub fn document_base64(self, media_type: impl Into<String>, data: impl Into<String>) -> Self {
        let source = Source::Base64(inline(media_type.into(), data.into()));
        self.document(source, None)
    }

    /// Adds a document of plain text, with a title.
    #[must_use]
    pub fn document_text(self, title: impl Into<String>, text: impl Into<String>) -> Self {
        let source = Source::Text(inline("text/plain".to_owned(), text.into()));
        self.document(source, Some(title.into()))
    }

    fn document(self, source: Source, title: Option<String>) -> Self {
        self.block(ContentBlock::Document(DocumentBlock {
            source,
            title: title.map_or(Nullable::Absent, Nullable::Value),
            context: Nullable::Absent,
            citations: None,
            cache_control: None,
            extra: Extra::default(),
        }))
    }

    /// Adds any block.
    #[must_use]
    pub fn block(mut self, block: ContentBlock) -> Self {
        if let Some(text) = self.plain.take() {
            self.blocks.push(ContentBlock::Text(text_block(text)));
        }
        self.blocks.push(block);
        self
    }

    /// Names the message. Sent twice under one name it runs once.
    #[must_use]
    pub fn uuid(mut self, uuid: impl Into<String>) -> Self {
        self.uuid = Some(uuid.into());
        self
    }

    /// When it is taken up if a turn is running (2.1.325).
    #[must_use]
    pub fn priority(mut self, priority: Priority) -> Self {
        self.priority = Some(priority);
        self
    }

    /// Delivers the text as it is: no `@path`, no slash command (2.1.325).
    #[must_use]
    pub fn verbatim(mut self) -> Self {
        self.is_verbatim = true;
        self
    }

    /// Adds the message to the conversation without starting a turn (2.1.325). Its turn ends with an empty success.
    #[must_use]
    pub fn without_turn(mut self) -> Self {
        self.without_turn = true;
        self
    }

    /// Says that a person typed it.
    #[must_use]
    pub fn from_human(mut self) -> Self {
        self.is_human = true;
        self
    }

    /// Whether there is nothing in it. Empty content hangs 2.0.75 for good.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty() && self.plain.is_none()
    }

    pub(crate) fn starts_turn(&self) -> bool {
        !self.without_turn
    }

    /// The uuid, if one was chosen.
    pub(crate) fn chosen_uuid(&self) -> Option<&str> {
        self.uuid.as_deref()
    }

    /// The message as it is written, under `uuid`.
    pub(crate) fn into_message(self, uuid: &str) -> UserMessage {
        let content = match self.plain {
            Some(text) => Content::from(text),
            None => Content::from(self.blocks),
        };
        let mut message = UserMessage::prompt(content);
        message.uuid = Some(uuid.into());
        message.session_id = Some("".into());
        message.priority = self.priority;
        message.client_composed = self.is_verbatim.then_some(true);
        message.should_query = self.without_turn.then_some(false);
        message.origin = self.is_human.then(|| MessageOrigin::Human(Bare::default()));
        message
    }
}

fn text_block(text: String) -> TextBlock {
    TextBlock {
        text,
        citations: Nullable::Absent,
        cache_control: None,
        extra: Extra::default(),
    }
}

fn inline(media_type: String, data: String) -> InlineSource {
    InlineSource {
        media_type,
        data,
        extra: Extra::default(),
    }
}

impl From<&str> for Prompt {
    fn from(text: &str) -> Self {
        Self::new().text(text)
    }
}

impl From<String> for Prompt {
    fn from(text: String) -> Self {
        Self::new().text(text)
    }
}

impl From<Vec<ContentBlock>> for Prompt {
    fn from(blocks: Vec<ContentBlock>) -> Self {
        Self {
            blocks,
            ..Self::default()
        }
    }
}
