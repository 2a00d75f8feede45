//! Topics: the types of events that carry a struct from IDL.

use punctual::any::{Any, AnyError, Typed};
use punctual_cdr::{CharSet, Decode, Decoder, Encode, Encoder, Endian};

use crate::{
    EventError, EventType,
    rtec::{
        RtecEventData,
        rtec_event_comm::{Event, EventView},
    },
};

/// A type from IDL whose values are the content of events. [`topic!`](crate::topic) implements it.
pub trait Topic: Typed + Encode + for<'a> Decode<'a> + Send + 'static {
    /// Type of the events.
    const EVENT_TYPE: EventType;

    /// Returns an event with this value in its payload, for [`RemoteSupplier::push`](crate::RemoteSupplier::push).
    /// Its source is 0; a `ttl` of 1 lets it pass no gateway.
    ///
    /// # Errors
    /// The value cannot be encoded.
    ///
    /// ```
    /// # mod idl { punctual::include_idl!("track"); }
    /// # use idl::Track;
    /// use punctual_events::Topic;
    ///
    /// punctual_events::topic!(Track = 16);
    /// let mut event = Track { number: 3, ..Track::default() }.to_event()?;
    /// event.header.source = 7;
    /// assert_eq!((event.header.r#type, event.header.ttl), (16, 1));
    /// # Ok::<(), punctual_events::EventError>(())
    /// ```
    fn to_event(&self) -> Result<Event, EventError> {
        let mut event = Event::default();
        event.header.r#type = Self::EVENT_TYPE.0;
        event.header.ttl = 1;
        write(self, Encoding::Octets, &mut event.data)?;
        Ok(event)
    }

    /// Reads the value of an event that a channel of another process has delivered to
    /// [`RemoteChannel::subscribe`](crate::RemoteChannel::subscribe), from the payload or, if that is empty,
    /// from the `any`.
    ///
    /// # Errors
    /// The event has another type, or its content is not such a value.
    ///
    /// See the guide "Events" for an example.
    fn from_event(event: &EventView<'_>) -> Result<Self, EventError> {
        if event.header.r#type != Self::EVENT_TYPE.0 {
            return Err(EventError::Content(AnyError::OtherType {
                held: format!("an event of type {}", event.header.r#type),
                wanted: format!("one of type {}", Self::EVENT_TYPE.0),
            }));
        }
        Ok(decode(event.data.payload, || event.data.any_value.get())?)
    }
}

/// Declares that events of this type carry values of a type from IDL.
///
/// ```
/// // `Track` comes from IDL in programs.
/// # mod idl { punctual::include_idl!("track"); }
/// # use idl::Track;
/// punctual_events::topic!(Track = 16);
/// ```
///
/// Types below 16 are the service's own:
/// ```compile_fail
/// # mod idl { punctual::include_idl!("track"); }
/// # use idl::Track;
/// punctual_events::topic!(Track = 4);
/// ```
#[macro_export]
macro_rules! topic {
    ($type:ty = $event_type:expr) => {
        impl $crate::Topic for $type {
            const EVENT_TYPE: $crate::EventType = $crate::EventType($event_type);
        }

        const _: () = assert!($event_type >= 16, "types of events below 16 are reserved");
    };
}

/// How a publisher encodes values.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Encoding {
    /// CDR encapsulation in the octets of the payload.
    #[default]
    Octets,
    /// An `any` with its type: consumers of any vendor can read it, and a wrong type is detected.
    Any,
}

/// Writes a value to the content of an event, whose payload and `any` are empty.
pub(crate) fn write<T: Topic>(
    value: &T,
    encoding: Encoding,
    data: &mut RtecEventData,
) -> Result<(), AnyError> {
    match encoding {
        Encoding::Any => data.any_value = Any::new(value)?,
        Encoding::Octets => {
            let mut encoder = Encoder::new(&mut data.payload, Endian::NATIVE).with_char_set(CharSet::Utf8);
            (Endian::NATIVE == Endian::Little).encode(&mut encoder)?;
            value.encode(&mut encoder)?;
        }
    }
    Ok(())
}

/// Reads a value from the content of an event: from the `any` if the payload is empty.
pub(crate) fn read<T: Topic>(data: &RtecEventData) -> Result<T, AnyError> {
    decode(&data.payload, || data.any_value.get())
}

/// Decodes a payload, or the `any` if the payload is empty.
fn decode<T: Topic>(payload: &[u8], any: impl FnOnce() -> Result<T, AnyError>) -> Result<T, AnyError> {
    let Some(first) = payload.first() else {
        return any();
    };
    let endian = match first {
        0 => Endian::Big,
        _ => Endian::Little,
    };
    let mut decoder = Decoder::new(payload, endian).with_char_set(CharSet::Utf8).at(1);
    Ok(T::decode(&mut decoder)?)
}
