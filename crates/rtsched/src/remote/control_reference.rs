//! The reference to the control of an endsystem, in the references of its objects.

use punctual_cdr::{Decode, Decoder, Encode, Encoder, Endian, Ior, TaggedComponent, decode_encapsulation};
use punctual_giop::PUNCTUAL_ORB_TYPE;
use punctual_stub::{Interface, ObjectRef};

use super::thread_control::ThreadControlRef;

/// Our component in profiles of all protocols: an encapsulation of the control's IOR. Not registered with the
/// OMG.
const TAG_THREAD_CONTROL: u32 = PUNCTUAL_ORB_TYPE + 2;

/// Returns the component for references to objects of the endsystem with this control.
pub(super) fn component(control: &ThreadControlRef) -> TaggedComponent {
    let mut data = Vec::new();
    let mut encoder = Encoder::new(&mut data, Endian::NATIVE);
    let written = Endian::NATIVE
        .flag()
        .encode(&mut encoder)
        .and_then(|()| control.as_object().ior().encode(&mut encoder));
    debug_assert!(written.is_ok(), "what has been decoded can be encoded");
    TaggedComponent {
        tag: TAG_THREAD_CONTROL,
        data,
    }
}

impl ThreadControlRef {
    /// Returns the control of the endsystem of an object, if its reference, or the one that it was forwarded
    /// to, contains it. Makes no call.
    ///
    /// ```
    /// # mod punctual { pub(crate) use {punctual_orb::*, punctual_rtsched as rtscheduling}; }
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_stub::Interface;
    /// use punctual::{Orb, rtscheduling::{RtScheduling, remote::{ThreadControlRef, ThreadControlSpec}}};
    ///
    /// let server = Orb::builder().listen("iiop://127.0.0.1").build()?;
    /// let before: DoublerRef = server.root_poa().activate(Doubler)?;
    /// let control = RtScheduling::builder().build()?.open_control(&server, ThreadControlSpec::default())?;
    /// let doubler: DoublerRef = server.root_poa().activate(Doubler)?;
    /// assert_eq!(ThreadControlRef::of(doubler.as_object()).as_ref(), Some(control.reference()));
    /// assert_eq!(ThreadControlRef::of(before.as_object()), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of(object: &ObjectRef) -> Option<Self> {
        let forwarded = object.forwarded();
        let mut profiles = object.orb().profiles(forwarded.as_ref().unwrap_or(object.ior()));
        let component = profiles.find_map(|profile| {
            let mut components = profile.components.into_iter();
            components.find(|component| component.tag == TAG_THREAD_CONTROL)
        })?;
        let outer = Decoder::new(&[], Endian::NATIVE);
        let ior = Ior::decode(&mut decode_encapsulation(&outer, &component.data).ok()?).ok()?;
        if ior.is_nil() {
            return None;
        }
        let target = object.orb().0.bind(ior).ok()?;
        Some(ThreadControlRef::from_object(ObjectRef::new(target)))
    }
}
