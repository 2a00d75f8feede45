// The interface of the examples in the documentation, which include this file. Written by hand like the code
// generated from
//
//     interface Doubler {
//         long twice(in long value);
//         oneway void wake();
//     };

use punctual_stub::rt::{
    AsyncCall, Decode, Encode, Interface, ObjectRef, Phase, Skeleton, SystemException, Upcall, one_result,
};

/// The servant.
pub struct Doubler;

/// A reference to an object that serves the interface.
#[derive(Clone, Debug, PartialEq)]
pub struct DoublerRef(ObjectRef);

impl DoublerRef {
    pub fn twice(&self, value: i32) -> Result<i32, SystemException> {
        let mut result = 0;
        self.0.call::<SystemException>("twice", |phase| match phase {
            Phase::Arguments(encoder) => value.encode(encoder),
            Phase::Results(decoder) => result.decode_into(decoder),
        })?;
        Ok(result)
    }

    #[allow(dead_code, reason = "not every example that includes this calls it")]
    pub fn twice_async(&self, value: i32) -> AsyncCall<i32, SystemException> {
        self.0
            .call_async("twice", &mut |encoder| value.encode(encoder), one_result)
    }
}

impl Interface for DoublerRef {
    const REPOSITORY_ID: &'static str = "IDL:Doubler:1.0";
    const SUPPORTED_IDS: &'static [&'static str] = &[Self::REPOSITORY_ID];

    fn from_object(object: ObjectRef) -> Self {
        Self(object)
    }

    fn as_object(&self) -> &ObjectRef {
        &self.0
    }
}

impl Skeleton<Doubler> for DoublerRef {
    fn dispatch(_: &Doubler, upcall: &mut Upcall<'_, '_>) -> Result<(), SystemException> {
        match upcall.operation() {
            "twice" => {
                let value: i32 = upcall.argument()?;
                upcall.reply(|reply| (value * 2).encode(reply))
            }
            "wake" => Ok(()),
            _ => Err(upcall.unknown_operation()),
        }
    }
}
