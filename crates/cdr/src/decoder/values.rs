//! The values of a received message, and the chunks of their states.
//!
//! In a chunked state, a decoder sees the octets up to the end of the present chunk only. A read that fails
//! there continues in the next chunk: reading without chunks has no additional step.

use alloc::{collections::BTreeMap, rc::Rc, sync::Arc, vec::Vec};
use core::{
    any::TypeId,
    cell::{Cell, RefCell},
    fmt, mem,
};

use super::value_header::{ValueHeader, ValueTag};
use crate::{
    CdrError, CdrErrorKind, Decode, Decoder, ValueFactory, ValueObject,
    value::{
        circle::{Link, Slot},
        tags::TAG,
    },
};

/// Shared state of the decoders of one message for its values.
pub(crate) struct Received<'a> {
    /// The whole message.
    octets: &'a [u8],
    /// Chunked values around the present position.
    level: Cell<usize>,
    /// By position.
    values: RefCell<BTreeMap<usize, Known>>,
    /// Least position of a value around the present one to which something in it refers, that of the present
    /// one if nothing does.
    leads_to: Cell<usize>,
    /// The fewest levels of nesting that were left in the present value, those of earlier values to which it
    /// refers included.
    least_left: Cell<u16>,
}

/// A value of the message.
enum Known {
    /// The present one, or one around it.
    Around {
        factory: &'static ValueFactory,
        /// Whether its type is circular.
        is_circular: bool,
        /// For references that close a circle.
        slot: Option<Arc<Slot>>,
        /// Types of which it has to contain the state.
        expected: Vec<TypeId>,
    },
    /// It has been decoded.
    Complete {
        object: Arc<dyn ValueObject>,
        /// Levels of nesting in it.
        height: u16,
        /// The value further out to which something in it refers, and its position: both are in a circle.
        circle: Option<(usize, Arc<Slot>)>,
    },
}

/// A value at an earlier position.
pub(crate) enum Earlier {
    /// It has been decoded.
    Complete(Arc<dyn ValueObject>),
    /// It contains the present position, and is made by this factory.
    Around {
        factory: &'static ValueFactory,
        is_circular: bool,
    },
}

#[cfg(test)]
std::thread_local! {
    /// Values on the ways from earlier values to what keeps them.
    pub(crate) static STEPS: Cell<usize> = const { Cell::new(0) };
}

impl fmt::Debug for Received<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Received(level {})", self.level.get())
    }
}

/// Finding in a state that is passed over.
pub(super) enum Part<'a> {
    /// A value, and the position behind its header.
    Value(ValueHeader<'a>, usize),
    /// Position of an end tag.
    EndTag(usize),
}

/// Octets counted for a value, besides its state.
const VALUE: usize = 128;

/// Octets counted for a reference to an earlier value.
const LINK: usize = 64;

/// A value of `Decoder::fragments` inside of a chunked value: alignment may continue in another chunk.
const IN_CHUNKS: &[usize] = &[0];

impl<'a> Decoder<'a> {
    fn received(&mut self) -> &Rc<Received<'a>> {
        let octets = self.place.octets;
        self.values.get_or_insert_with(|| {
            Rc::new(Received {
                octets,
                level: Cell::new(0),
                values: RefCell::default(),
                leads_to: Cell::new(usize::MAX),
                least_left: Cell::new(u16::MAX),
            })
        })
    }

    /// Chunked values around the present position.
    pub(super) fn level(&self) -> usize {
        self.values.as_ref().map_or(0, |received| received.level.get())
    }

    /// The whole message, if a chunk limits what is seen of it.
    pub(crate) fn behind_chunk(&self) -> Option<&'a [u8]> {
        let received = self.values.as_ref()?;
        (received.level.get() > 0).then_some(received.octets)
    }

    /// Between chunks, a tag or the size of the next chunk follows. Returns whether it is a tag.
    pub(super) fn before_value_tag(&mut self) -> Result<bool, CdrError> {
        self.received();
        if self.level() == 0 || self.remaining() > self.padding() {
            return Ok(false);
        }
        let tag = self.next_number()?;
        if (1..TAG).contains(&tag) {
            return self.next_chunk().map(|()| false);
        }
        self.outside_chunks();
        Ok(true)
    }

    /// Octets to the next tag: some peers count them to the chunk before.
    fn padding(&self) -> usize {
        self.place.at.next_multiple_of(4) - self.place.at
    }

    /// Sees the whole message: tags and what belongs to them are in no chunk.
    pub(super) fn outside_chunks(&mut self) {
        if let Some(octets) = self.behind_chunk() {
            (self.place.octets, self.place.fragments) = (octets, &[]);
        }
    }

    /// Sees nothing before the next chunk, inside of a chunked value.
    pub(super) fn between_chunks(&mut self) {
        if let Some(octets) = self.behind_chunk() {
            (self.place.octets, self.place.fragments) = (&octets[..self.place.at], IN_CHUNKS);
        }
    }

    /// The number behind the present chunk.
    fn next_number(&self) -> Result<u32, CdrError> {
        let mut ahead = self.clone();
        ahead.outside_chunks();
        u32::decode(&mut ahead)
    }

    /// Continues with the next chunk.
    pub(crate) fn next_chunk(&mut self) -> Result<(), CdrError> {
        let truncated = self.error(CdrErrorKind::Truncated);
        self.outside_chunks();
        let size = u32::decode(self)?;
        let end = self.place.at.saturating_add(size as usize);
        if !(1..TAG).contains(&size) || end > self.place.octets.len() {
            return Err(truncated);
        }
        (self.place.octets, self.place.fragments) = (&self.place.octets[..end], IN_CHUNKS);
        Ok(())
    }

    /// Aligns inside of a chunk, or in the next one: `None` outside of chunks.
    pub(crate) fn align_in_chunk(&mut self, alignment: usize) -> Option<Result<(), CdrError>> {
        self.behind_chunk()?;
        let aligned = self.place.at.next_multiple_of(alignment);
        if aligned < self.place.octets.len() {
            self.place.at = aligned;
            return Some(Ok(()));
        }
        Some(self.next_chunk().and_then(|()| {
            self.place.at = self.place.at.next_multiple_of(alignment);
            if self.place.at > self.place.octets.len() {
                return Err(self.error(CdrErrorKind::Truncated));
            }
            Ok(())
        }))
    }

    /// Octets that several chunks contain, joined in the arena.
    pub(crate) fn octets_of_chunks(&mut self, count: usize) -> Result<&'a [u8], CdrError> {
        let Some(octets) = self.behind_chunk() else {
            return Err(self.error(CdrErrorKind::Truncated));
        };
        if count > octets.len() - self.place.at {
            return Err(self.error(CdrErrorKind::Truncated));
        }
        if self.remaining() == 0 {
            self.next_chunk()?;
            if count <= self.remaining() {
                return self.octets(count);
            }
        }
        self.reserve(count)?;
        let unsupported = self.error(CdrErrorKind::TypeUnsupported);
        let mut joined = bumpalo::collections::Vec::new_in(self.arena().map_err(|_| unsupported)?);
        while joined.len() < count {
            if self.remaining() == 0 {
                self.next_chunk()?;
            }
            let part = self.octets((count - joined.len()).min(self.remaining()))?;
            joined.extend_from_slice(part);
        }
        Ok(joined.into_bump_slice())
    }

    /// Reads the state of a value with `read`, and passes over what it leaves out of a truncated one.
    pub fn value_state<R>(
        &mut self,
        header: &ValueHeader<'_>,
        is_truncated: bool,
        read: impl FnOnce(&mut Self) -> Result<R, CdrError>,
    ) -> Result<R, CdrError> {
        if header.is_chunked {
            return self.chunked_state(&mut |_| (), is_truncated, read);
        }
        // Inside of a chunked value, all are.
        match self.level() {
            0 => read(self),
            _ => Err(self.error(CdrErrorKind::ValueMalformed)),
        }
    }

    /// Reads a state in chunks. The values and end tags behind what is read are noted.
    pub(super) fn chunked_state<R>(
        &mut self,
        note: &mut dyn FnMut(Part<'a>),
        is_truncated: bool,
        read: impl FnOnce(&mut Self) -> Result<R, CdrError>,
    ) -> Result<R, CdrError> {
        let level = self.level();
        let fragments = self.place.fragments;
        if level == 0 && !fragments.is_empty() {
            return Err(self.error(CdrErrorKind::TypeUnsupported));
        }
        self.received().level.set(level + 1);
        self.between_chunks();
        let state = read(self).and_then(|state| {
            self.end_of_chunks(level + 1, is_truncated, note)?;
            Ok(state)
        });
        self.outside_chunks();
        self.received().level.set(level);
        self.between_chunks();
        state
    }

    /// Passes over chunks and values up to the end tag of the value at this level.
    fn end_of_chunks(
        &mut self,
        level: usize,
        is_truncated: bool,
        note: &mut dyn FnMut(Part<'a>),
    ) -> Result<(), CdrError> {
        let malformed = self.error(CdrErrorKind::ValueMalformed);
        if self.remaining() > self.padding() && !is_truncated {
            return Err(malformed);
        }
        self.place.at = self.place.octets.len();
        self.outside_chunks();
        let mut inside = level;
        loop {
            let tag = self.next_number()?;
            let is_end = tag >= 0x8000_0000;
            if !is_end && !is_truncated {
                return Err(malformed);
            }
            if is_end {
                // One end tag ends the values of all levels from its own on.
                let ended = (tag as i32).unsigned_abs() as usize;
                if ended > inside {
                    return Err(malformed);
                }
                if ended < level {
                    return Ok(());
                }
                u32::decode(self)?;
                note(Part::EndTag(self.position() - 4));
                if ended == level {
                    return Ok(());
                }
                inside = ended - 1;
            } else if tag >= TAG {
                // Values that are left out cannot be referred to.
                if let ValueTag::Value(header) = self.value_tag()? {
                    note(Part::Value(header, self.position()));
                }
                inside += 1;
            } else {
                u32::decode(self)?;
                self.octets(tag as usize)?;
            }
        }
    }

    /// Decodes the value at this position with `read`, and keeps it for references to it.
    #[doc(hidden)]
    pub fn known_value(
        &mut self,
        position: usize,
        factory: &'static ValueFactory,
        read: impl FnOnce(&mut Self) -> Result<Arc<dyn ValueObject>, CdrError>,
    ) -> Result<Arc<dyn ValueObject>, CdrError> {
        self.reserve(VALUE)?;
        let depth_left = self.place.depth_left;
        let received = Rc::clone(self.received());
        let known = Known::Around {
            factory,
            is_circular: false,
            slot: None,
            expected: Vec::new(),
        };
        received.values.borrow_mut().insert(position, known);
        let around = received.least_left.replace(depth_left);
        let further_out = received.leads_to.replace(position);
        let object = read(self);
        let least_left = received.least_left.get();
        received.least_left.set(least_left.min(around));
        let leads_to = received.leads_to.replace(further_out);
        received.leads_to.set(further_out.min(leads_to));
        let known = received.values.borrow_mut().remove(&position);
        let (object, height) = (object?, depth_left - least_left);
        let mut circle = None;
        if leads_to < position {
            circle = Some((leads_to, received.slot(leads_to).ok_or_else(|| self.malformed())?));
        }
        if let Some(Known::Around { slot, expected, .. }) = known {
            if expected.into_iter().any(|of| object.part(of).is_none()) {
                return Err(self.error(CdrErrorKind::ValueTypeUnknown));
            }
            if let Some(slot) = slot {
                slot.complete(&object, circle.as_ref().map(|(_, slot)| Arc::clone(slot)));
            }
        }
        if circle.is_some() {
            self.reserve(LINK)?;
        }
        let link = circle.as_ref().map(|(_, circle)| Link::Part {
            object: Arc::clone(&object),
            circle: Arc::clone(circle),
        });
        let known = Known::Complete {
            object: Arc::clone(&object),
            height,
            circle,
        };
        received.values.borrow_mut().insert(position, known);
        Ok(link.map_or(object, |link| Arc::new(link)))
    }

    /// The value at an earlier position. One that has been decoded is as if it were nested here: of
    /// references, values could otherwise form a chain of any length, and releasing, encoding or reading it
    /// recurses.
    pub(crate) fn earlier_value(&mut self, position: usize) -> Result<Earlier, CdrError> {
        self.reserve(LINK)?;
        let received = self.values.as_ref().ok_or_else(|| self.malformed())?;
        let values = received.values.borrow();
        let known = values.get(&position).ok_or_else(|| self.malformed())?;
        let (object, mut height, circle) = match known {
            Known::Around {
                factory, is_circular, ..
            } => {
                let (factory, is_circular) = (*factory, *is_circular);
                return Ok(Earlier::Around { factory, is_circular });
            }
            Known::Complete {
                object,
                height,
                circle,
            } => {
                let circle = circle.as_ref().map(|(_, slot)| Arc::clone(slot));
                (Arc::clone(object), *height, circle)
            }
        };
        drop(values);
        let mut link = None;
        if let Some(circle) = circle {
            let outer = received.outermost(position);
            let object = Arc::clone(&object);
            link = Some(match received.values.borrow().get(&outer) {
                Some(Known::Around { .. }) => {
                    received.leads_to.set(received.leads_to.get().min(outer));
                    Link::Part { object, circle }
                }
                // What is released with the reference is the whole circle.
                Some(Known::Complete {
                    object: keeper,
                    height: all,
                    ..
                }) => {
                    height = height.max(*all);
                    let _keeper = Arc::clone(keeper) as _;
                    Link::Kept { object, _keeper }
                }
                None => return Err(self.malformed()),
            });
        }
        let left = self.place.depth_left.checked_sub(height);
        received.saw(left.ok_or_else(|| self.error(CdrErrorKind::NestingTooDeep))?);
        Ok(Earlier::Complete(link.map_or(object, |link| Arc::new(link))))
    }

    /// A reference to a value that contains the present position: it closes a circle. If it is of a
    /// `concrete` type, the value must contain the state of that type.
    pub(crate) fn value_around(
        &mut self,
        position: usize,
        concrete: Option<TypeId>,
    ) -> Result<Arc<dyn ValueObject>, CdrError> {
        self.reserve(size_of::<Slot>())?;
        let received = self.values.as_ref().ok_or_else(|| self.malformed())?;
        received.leads_to.set(received.leads_to.get().min(position));
        let slot = received.slot(position).ok_or_else(|| self.malformed())?;
        if let Some(Known::Around { expected, .. }) = received.values.borrow_mut().get_mut(&position)
            && let Some(concrete) = concrete
            && !expected.contains(&concrete)
        {
            expected.push(concrete);
        }
        Ok(Arc::new(Link::Back(slot)))
    }

    /// References may close circles at the value whose state follows.
    pub(crate) fn may_be_in_circles(&mut self) {
        if let Some(received) = &self.values
            && let Some(Known::Around { is_circular, .. }) =
                received.values.borrow_mut().get_mut(&received.leads_to.get())
        {
            *is_circular = true;
        }
    }

    fn malformed(&self) -> CdrError {
        self.error(CdrErrorKind::ValueMalformed)
    }
}

impl Received<'_> {
    /// Returns the position of the outermost value to which the value at this position leads: the one that
    /// keeps the circle, or one around the present position. All values on the way lead there directly
    /// afterwards, so that many references to nested circles do not walk the same way again.
    fn outermost(&self, position: usize) -> usize {
        let mut values = self.values.borrow_mut();
        let mut outer = position;
        while let Some(Known::Complete {
            circle: Some((further, _)),
            ..
        }) = values.get(&outer)
        {
            #[cfg(test)]
            STEPS.set(STEPS.get() + 1);
            outer = *further;
        }
        let mut on_the_way = position;
        while let Some(Known::Complete {
            circle: Some((further, _)),
            ..
        }) = values.get_mut(&on_the_way)
        {
            on_the_way = mem::replace(further, outer);
        }
        outer
    }

    /// That of the value around the present position which is at this one.
    fn slot(&self, position: usize) -> Option<Arc<Slot>> {
        match self.values.borrow_mut().get_mut(&position)? {
            Known::Around { factory, slot, .. } => {
                let new = || Slot::new(core::slice::from_ref(&factory.id), factory.bases);
                Some(Arc::clone(slot.get_or_insert_with(new)))
            }
            Known::Complete { .. } => None,
        }
    }

    /// Notes how many levels of nesting are left at a place.
    pub(super) fn saw(&self, depth_left: u16) {
        self.least_left.set(self.least_left.get().min(depth_left));
    }
}
