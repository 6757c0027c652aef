//! Where the strings of a line stand that routing looks for.
//!
//! Owns [`Places`] and the one look at a line that finds them; what they say is [`crate::route`]'s. Positions rather than
//! slices, so that they can be kept beside memory that moves from hand to hand.

use std::ops::Range;

use crate::route::{RouteError, Text};
use crate::scan::has_backslash;
use crate::walk::{Visit, walk};

/// A string of a line, between its quotes. It is not there where it starts at 0: no string does.
#[derive(Debug, Clone, Copy, Default)]
struct Spot {
    start: usize,
    end: usize,
}

impl Spot {
    #[inline]
    fn range(self) -> Option<Range<usize>> {
        (self.start != 0).then_some(self.start..self.end)
    }
}

/// What [`crate::route::Route`] has as texts, as places in the line.
#[derive(Debug, Clone, Copy)]
pub struct Places {
    spots: Spots,
    is_plain: bool,
}

/// One for each name that is kept, and one for all others, which nobody reads.
type Spots = [Spot; Name::KEPT + 1];

impl Places {
    /// Finds `type`, `subtype` and the ids of a line, wherever they stand in it.
    ///
    /// # Errors
    /// When the line is no object with one `type`.
    pub fn of(line: &[u8]) -> Result<Self, RouteError> {
        let mut finder = Finder {
            line,
            spots: Spots::default(),
            is_repeated: false,
            request: Inner::default(),
            response: Inner::default(),
            pending: Name::Other,
            inside: Name::Other,
            has_envelope: false,
            backslash: false,
        };
        walk(line, &mut finder).ok_or(RouteError::NotAnObject)?;
        if finder.is_repeated {
            return Err(RouteError::RepeatedType);
        }
        if finder.spots[Name::Type as usize].start == 0 {
            return Err(RouteError::NoType);
        }
        // Only a control line has an envelope; elsewhere such a key is just a field.
        if finder.has_envelope {
            finder.open();
        }
        Ok(Self {
            spots: finder.spots,
            is_plain: !finder.backslash,
        })
    }

    /// The line has no backslash, so that each text means what stands between its quotes.
    pub fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// The `type`.
    #[inline]
    pub fn kind(&self) -> Range<usize> {
        let kind = self.spots[Name::Type as usize];
        kind.start..kind.end
    }

    /// The `subtype`.
    #[inline]
    pub fn subtype(&self) -> Option<Range<usize>> {
        self.spots[Name::Subtype as usize].range()
    }

    /// The `request_id`.
    #[inline]
    pub fn request_id(&self) -> Option<Range<usize>> {
        self.spots[Name::RequestId as usize].range()
    }

    /// The `uuid`.
    #[inline]
    pub fn uuid(&self) -> Option<Range<usize>> {
        self.spots[Name::Uuid as usize].range()
    }

    /// The `session_id`.
    #[inline]
    pub fn session_id(&self) -> Option<Range<usize>> {
        self.spots[Name::SessionId as usize].range()
    }

    /// The `tool_use_id`.
    #[inline]
    pub fn tool_use_id(&self) -> Option<Range<usize>> {
        self.spots[Name::ToolUseId as usize].range()
    }

    /// The `parent_tool_use_id`.
    #[inline]
    pub fn parent_tool_use_id(&self) -> Option<Range<usize>> {
        self.spots[Name::ParentToolUseId as usize].range()
    }
}

/// A key that routing cares for. The first ones are kept.
#[derive(Clone, Copy, PartialEq)]
enum Name {
    Type,
    Subtype,
    RequestId,
    Uuid,
    SessionId,
    ToolUseId,
    ParentToolUseId,
    /// The envelope of a control line: its subtype and ids stand one level deeper, inside it.
    Request,
    Response,
    Other,
}

impl Name {
    const KEPT: usize = 7;

    /// By length first: most keys are none of ours, and their length says so.
    #[inline(always)]
    fn of(key: &[u8]) -> Self {
        match key.len() {
            4 if key == b"type" => Name::Type,
            4 if key == b"uuid" => Name::Uuid,
            7 if key == b"subtype" => Name::Subtype,
            7 if key == b"request" => Name::Request,
            8 if key == b"response" => Name::Response,
            10 if key == b"session_id" => Name::SessionId,
            10 if key == b"request_id" => Name::RequestId,
            11 if key == b"tool_use_id" => Name::ToolUseId,
            18 if key == b"parent_tool_use_id" => Name::ParentToolUseId,
            _ => Name::Other,
        }
    }
}

/// What stands inside an envelope.
#[derive(Default)]
struct Inner {
    subtype: Spot,
    request_id: Spot,
    tool_use_id: Spot,
}

/// Picks the strings that matter out of a walk over a line.
struct Finder<'a> {
    line: &'a [u8],
    spots: Spots,
    is_repeated: bool,
    request: Inner,
    response: Inner,
    /// The key whose value comes next.
    pending: Name,
    /// The envelope that is being looked into.
    inside: Name,
    has_envelope: bool,
    /// Whether there was a backslash, so that keys and texts may have escapes.
    backslash: bool,
}

impl Finder<'_> {
    #[cold]
    fn open(&mut self) {
        let kind = self.spots[Name::Type as usize];
        let kind = Text::of_raw(self.line.get(kind.start..kind.end).unwrap_or_default());
        if kind == "control_request" {
            self.spots[Name::Subtype as usize] = self.request.subtype;
            self.spots[Name::ToolUseId as usize] = self.request.tool_use_id;
        } else if kind == "control_response" {
            self.spots[Name::Subtype as usize] = self.response.subtype;
            self.spots[Name::RequestId as usize] = self.response.request_id;
        }
    }

    #[inline(never)]
    fn inner_text(&mut self, name: Name, spot: Spot) {
        let inner = match self.inside {
            Name::Request => &mut self.request,
            _ => &mut self.response,
        };
        match name {
            Name::Subtype => inner.subtype = spot,
            Name::RequestId => inner.request_id = spot,
            Name::ToolUseId => inner.tool_use_id = spot,
            _ => {}
        }
    }

    /// A key may be written with escapes; few are.
    #[cold]
    fn meant(&self, range: Range<usize>) -> Name {
        match has_backslash(self.line, range.clone()) {
            true => Name::of(Text::of_raw(&self.line[range]).get().as_bytes()),
            false => Name::Other,
        }
    }
}

impl Visit for Finder<'_> {
    #[inline(always)]
    fn key(&mut self, _: u32, range: Range<usize>) {
        let key = self.line.get(range.clone()).unwrap_or_default();
        self.pending = Name::of(key);
        if self.backslash && self.pending == Name::Other {
            self.pending = self.meant(range);
        }
    }

    #[inline(always)]
    fn text(&mut self, depth: u32, range: Range<usize>) {
        let spot = Spot {
            start: range.start,
            end: range.end,
        };
        let name = std::mem::replace(&mut self.pending, Name::Other);
        if depth > 1 {
            return self.inner_text(name, spot);
        }
        let slot = &mut self.spots[(name as usize).min(Name::KEPT)];
        self.is_repeated |= name == Name::Type && slot.start != 0;
        *slot = spot;
    }

    #[inline]
    fn backslash(&mut self) {
        self.backslash = true;
    }

    #[inline]
    fn enter(&mut self) -> bool {
        let name = std::mem::replace(&mut self.pending, Name::Other);
        let is_envelope = matches!(name, Name::Request | Name::Response);
        if is_envelope {
            self.inside = name;
            self.has_envelope = true;
        }
        is_envelope
    }
}
