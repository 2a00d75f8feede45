//! References to values in circles: of those inside, the ones that close a circle are weak, and each one
//! from outside keeps all values of the circle. Values are immutable once they are shared, so that a circle
//! neither grows nor shrinks: nothing is left behind, and nothing is gone too early.

use alloc::sync::{Arc, Weak};
use core::any::{Any, TypeId};
use std::sync::OnceLock;

use super::object::ValueObject;
use crate::{CdrError, CdrErrorKind, Encoder};

/// It keeps all values of a circle.
pub(super) type Keeper = dyn Any + Send + Sync;

/// A value to which others refer before it is complete.
pub struct Slot {
    ids: &'static [&'static str],
    bases: &'static [&'static str],
    object: OnceLock<Weak<dyn ValueObject>>,
    around: OnceLock<Around>,
}

enum Around {
    /// That of the circle.
    Keeper(Weak<Keeper>),
    /// A value further out, which leads back to this one.
    Slot(Arc<Slot>),
}

impl Slot {
    pub(crate) fn new(ids: &'static [&'static str], bases: &'static [&'static str]) -> Arc<Self> {
        Arc::new(Self {
            ids,
            bases,
            object: OnceLock::new(),
            around: OnceLock::new(),
        })
    }

    /// Completes the value, once. Without `around`, it keeps the circle, which begins with it.
    pub(crate) fn complete(&self, object: &Arc<dyn ValueObject>, around: Option<Arc<Self>>) {
        self.set(object);
        match around {
            Some(slot) => drop(self.around.set(Around::Slot(slot))),
            None => self.keep(&(Arc::clone(object) as Arc<Keeper>)),
        }
    }

    /// Sets the value, once.
    pub(super) fn set(&self, object: &Arc<dyn ValueObject>) {
        let _ = self.object.set(Arc::downgrade(object));
    }

    /// Sets what keeps the circle, once.
    pub(super) fn keep(&self, keeper: &Arc<Keeper>) {
        let _ = self.around.set(Around::Keeper(Arc::downgrade(keeper)));
    }

    pub(super) fn is_complete(&self) -> bool {
        self.object.get().is_some()
    }

    fn object(&self) -> Option<Arc<dyn ValueObject>> {
        self.object.get()?.upgrade()
    }

    /// The keeper of the circle, if it is complete and not being released.
    fn keeper(&self) -> Option<Arc<Keeper>> {
        let mut around = self.around.get()?;
        while let Around::Slot(slot) = around {
            around = slot.around.get()?;
        }
        match around {
            Around::Keeper(keeper) => keeper.upgrade(),
            Around::Slot(_) => None,
        }
    }
}

/// A reference to a value in a circle, in the place of the value itself.
pub enum Link {
    /// From outside.
    Kept {
        object: Arc<dyn ValueObject>,
        _keeper: Arc<Keeper>,
    },
    /// From inside, to a value further in, or to one that was added to a graph with its state.
    Part {
        object: Arc<dyn ValueObject>,
        circle: Arc<Slot>,
    },
    /// From inside, to a value further out: it closes a circle.
    Back(Arc<Slot>),
}

impl Link {
    fn object(&self) -> Option<Arc<dyn ValueObject>> {
        match self {
            Self::Kept { object, .. } | Self::Part { object, .. } => Some(Arc::clone(object)),
            Self::Back(slot) => slot.object(),
        }
    }

    fn kept(&self) -> Option<Arc<dyn ValueObject>> {
        let (object, keeper) = match self {
            Self::Kept { .. } => return None,
            Self::Part { object, circle } => (Arc::clone(object), circle.keeper()?),
            Self::Back(slot) => (slot.object()?, slot.keeper()?),
        };
        if Arc::as_ptr(&object).addr() == Arc::as_ptr(&keeper).addr() {
            return Some(object);
        }
        Some(Arc::new(Self::Kept {
            object,
            _keeper: keeper,
        }))
    }
}

fn link(object: &Arc<dyn ValueObject>) -> Option<&Link> {
    object.link()?.downcast_ref()
}

/// Whether a reference keeps its value.
pub(super) fn is_kept(object: &Arc<dyn ValueObject>) -> bool {
    !matches!(link(object), Some(Link::Back(_)))
}

/// The slot behind a reference inside of a circle.
pub(super) fn slot_inside(object: &Arc<dyn ValueObject>) -> Option<&Arc<Slot>> {
    match link(object)? {
        Link::Back(slot) | Link::Part { circle: slot, .. } => Some(slot),
        Link::Kept { .. } => None,
    }
}

/// Whether a reference is one inside of the circle with these slots.
pub(super) fn is_in_circle_of(object: &Arc<dyn ValueObject>, slots: &[Arc<Slot>]) -> bool {
    let Some(own) = slot_inside(object) else {
        return false;
    };
    slots.iter().any(|slot| Arc::ptr_eq(slot, own))
}

/// The value itself, `None` while it is being decoded or released.
pub(super) fn real(object: &Arc<dyn ValueObject>) -> Option<Arc<dyn ValueObject>> {
    match link(object) {
        None => Some(Arc::clone(object)),
        Some(link) => link.object(),
    }
}

/// A reference to the same value that keeps its circle, if it is inside of one.
pub(super) fn kept(object: &Arc<dyn ValueObject>) -> Arc<dyn ValueObject> {
    let kept = link(object).and_then(Link::kept);
    kept.unwrap_or_else(|| Arc::clone(object))
}

/// A number that no other value has at the same time.
pub(super) fn identity(object: &Arc<dyn ValueObject>) -> usize {
    match link(object) {
        None => Arc::as_ptr(object).addr(),
        Some(Link::Kept { object, .. } | Link::Part { object, .. }) => Arc::as_ptr(object).addr(),
        Some(Link::Back(slot)) => match slot.object.get() {
            Some(object) => object.as_ptr().addr(),
            None => Arc::as_ptr(slot).addr(),
        },
    }
}

impl ValueObject for Link {
    fn ids(&self) -> &'static [&'static str] {
        match self {
            Self::Back(slot) => slot.object().map_or(slot.ids, |object| object.ids()),
            Self::Kept { object, .. } | Self::Part { object, .. } => object.ids(),
        }
    }

    fn bases(&self) -> &'static [&'static str] {
        match self {
            Self::Back(slot) => slot.bases,
            Self::Kept { object, .. } | Self::Part { object, .. } => object.bases(),
        }
    }

    fn is_chunked(&self) -> bool {
        self.object().is_some_and(|object| object.is_chunked())
    }

    fn is_box(&self) -> bool {
        self.object().is_some_and(|object| object.is_box())
    }

    fn encode_state(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
        let object = self.object();
        let object = object.ok_or_else(|| encoder.error(CdrErrorKind::ValueReleased))?;
        object.encode_state(encoder)
    }

    fn part(&self, wanted: TypeId) -> Option<&dyn Any> {
        match self {
            Self::Kept { object, .. } | Self::Part { object, .. } => object.part(wanted),
            Self::Back(_) => None,
        }
    }

    fn link(&self) -> Option<&dyn Any> {
        Some(self)
    }
}
