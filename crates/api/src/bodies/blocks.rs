//! Images and documents that stand in front of a message.
//!
//! Owns what of the wire's content blocks a client may send: what a person can paste or drop, and no calls and no results of
//! tools, which only an agent makes. They go on to the agent as they were sent.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::control::ControlError;

/// So many may stand in front of one message.
const MOST: usize = 32;

/// Pictures that models read.
const PICTURES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// Something in front of the text of a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum MessageBlock {
    /// More text.
    Text {
        /// The text.
        text: String,
    },
    /// A picture.
    Image {
        /// Where it is.
        source: BlockSource,
    },
    /// A document.
    Document {
        /// Where it is.
        source: BlockSource,
        /// What it is called.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        /// What the model should know of it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        context: Option<String>,
    },
}

/// Where a picture or a document is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum BlockSource {
    /// Here, in base64.
    Base64 {
        /// `image/png`, `image/jpeg`, `image/gif` or `image/webp`; `application/pdf` for a document.
        media_type: String,
        /// Its bytes.
        data: String,
    },
    /// Here, as text. Only for a document.
    Text {
        /// `text/plain`.
        media_type: String,
        /// The text.
        data: String,
    },
    /// Elsewhere: the model's provider fetches it.
    Url {
        /// Its address.
        url: String,
    },
}

impl MessageBlock {
    /// Whether these can stand in front of a message.
    ///
    /// # Errors
    /// What is wrong with which of them.
    pub fn check(blocks: &[Value]) -> Result<(), ControlError> {
        if blocks.len() > MOST {
            let why = format!("`blocks` takes at most {MOST} images and documents");
            return Err(ControlError::invalid(why));
        }
        for (number, block) in (1..).zip(blocks) {
            let bad = |why: &str| ControlError::invalid(format!("block {number} {why}"));
            let read = Self::deserialize(block)
                .map_err(|_| bad("is no `text`, `image` or `document` with a `source`"))?;
            read.sound().map_err(bad)?;
        }
        Ok(())
    }

    fn sound(&self) -> Result<(), &'static str> {
        match self {
            Self::Text { text } if text.is_empty() => Err("has no text"),
            Self::Text { .. } => Ok(()),
            Self::Image { source } => match source {
                BlockSource::Base64 { media_type, .. } if !PICTURES.contains(&&**media_type) => {
                    Err("is an image that models do not read: send PNG, JPEG, GIF or WebP")
                }
                BlockSource::Text { .. } => Err("is an image, and no text"),
                source => source.sound(),
            },
            Self::Document { source, .. } => match source {
                BlockSource::Base64 { media_type, .. } if media_type != "application/pdf" => {
                    Err("is a document that models do not read: send PDF or text, or upload it")
                }
                BlockSource::Text { media_type, .. } if media_type != "text/plain" => {
                    Err("is a text that is not `text/plain`")
                }
                source => source.sound(),
            },
        }
    }
}

impl BlockSource {
    fn sound(&self) -> Result<(), &'static str> {
        match self {
            Self::Base64 { data, .. } if !is_base64(data) => Err("is not in base64"),
            Self::Text { data, .. } if data.is_empty() => Err("has no text"),
            Self::Url { url } if !url.starts_with("https://") => {
                Err("is elsewhere than behind `https://`")
            }
            _ => Ok(()),
        }
    }
}

fn is_base64(text: &str) -> bool {
    let letters = text.trim_end_matches('=');
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    !letters.is_empty()
        && text.len().is_multiple_of(4)
        && text.len() - letters.len() < 3
        && letters.bytes().all(is_letter)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn image(media_type: &str, data: &str) -> Value {
        json!({"type": "image", "source": {"type": "base64", "media_type": media_type, "data": data}})
    }

    #[test]
    fn what_a_person_can_paste_may_stand_there_and_what_an_agent_makes_may_not() {
        let pdf = json!({"type": "document", "title": "Plan",
            "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERg=="}});
        let text = json!({"type": "document",
            "source": {"type": "text", "media_type": "text/plain", "data": "a"}});
        for good in [
            image("image/png", "iVBORw0="),
            pdf,
            text,
            json!({"type": "text", "text": "a"}),
        ] {
            assert_eq!(
                MessageBlock::check(std::slice::from_ref(&good)),
                Ok(()),
                "{good}"
            );
        }
        for bad in [
            json!("text"),
            json!({"type": "tool_result", "tool_use_id": "x", "content": "done"}),
            json!({"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}),
            image("image/svg+xml", "PHN2Zz4="),
            image("image/png", "no base64"),
            image("image/png", ""),
            image("image/png", "===="),
            json!({"type": "image", "source": {"type": "url", "url": "file:///etc/passwd"}}),
            json!({"type": "image", "source": {"type": "file", "file_id": "x"}}),
        ] {
            assert!(
                MessageBlock::check(std::slice::from_ref(&bad)).is_err(),
                "{bad}"
            );
        }
        let many = vec![json!({"type": "text", "text": "a"}); MOST + 1];
        assert!(MessageBlock::check(&many).is_err());
    }
}
