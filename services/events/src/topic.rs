//! Topics: the types of events that carry a struct from IDL.

use punctual::any::{Any, AnyError, Typed};
use punctual_cdr::{CharSet, Decode, Decoder, Encode, Encoder, Endian};

use crate::{EventType, rtec::RtecEventData};

/// A type from IDL whose values are the content of events. [`topic!`](crate::topic) implements it.
pub trait Topic: Typed + Encode + for<'a> Decode<'a> + Send + 'static {
    /// Type of the events.
    const EVENT_TYPE: EventType;
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
    /// As a CDR encapsulation in the octets of the payload.
    #[default]
    Octets,
    /// As an `any`, with its type: consumers of any vendor can read it, and a wrong type is noticed.
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
    let Some(first) = data.payload.first() else {
        return data.any_value.get();
    };
    let endian = match first {
        0 => Endian::Big,
        _ => Endian::Little,
    };
    let mut decoder = Decoder::new(&data.payload, endian)
        .with_char_set(CharSet::Utf8)
        .at(1);
    Ok(T::decode(&mut decoder)?)
}
