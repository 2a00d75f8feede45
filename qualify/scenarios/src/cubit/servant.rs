//! The servant of all benchmarks after TAO's Cubit tests.

use punctual::{
    Completion, Minor, SystemException, SystemExceptionKind,
    any::{Any, AnyView},
};
use punctual_os::alloc_counter;
use serde::{Deserialize, Serialize};

use super::cube::{cube, cube_many, cube_packet, cube_union};
use crate::idl::cubit::bench::{Cubit, Many, OneOf, RtiPacket, RtiPacketView};

/// Faults of client and server, under a control.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) enum Fault {
    /// The client makes two calls in the place of one, except with a struct, with which others are compared.
    Twice,
    /// Client and servant allocate at each call.
    Boxes,
    /// The servant adds 1 to its results.
    Wrong,
}

/// The servant of all benchmarks after TAO's Cubit tests.
pub(crate) struct Servant {
    /// Number that the servant adds to results: 0 without a fault.
    wrong: u8,
    allocates: bool,
}

impl Servant {
    pub(super) fn with(fault: Option<Fault>) -> Self {
        Self {
            wrong: u8::from(fault == Some(Fault::Wrong)),
            allocates: fault == Some(Fault::Boxes),
        }
    }

    fn begin(&self) {
        if self.allocates {
            drop(std::hint::black_box(Box::new(self.wrong)));
        }
    }

    fn cube_many(&self, values: &Many) -> Many {
        let cubed = cube_many(values);
        Many {
            o: cubed.o.wrapping_add(self.wrong),
            ..cubed
        }
    }
}

impl Cubit for Servant {
    fn cube_void(&self) -> Result<(), SystemException> {
        Ok(())
    }

    fn cube_octet(&self, o: u8) -> Result<u8, SystemException> {
        Ok(cube(o).wrapping_add(self.wrong))
    }

    fn cube_short(&self, s: i16) -> Result<i16, SystemException> {
        Ok(cube(s).wrapping_add(self.wrong.into()))
    }

    fn cube_long(&self, l: i32) -> Result<i32, SystemException> {
        self.begin();
        Ok(cube(l).wrapping_add(self.wrong.into()))
    }

    fn cube_struct(&self, values: &Many) -> Result<Many, SystemException> {
        Ok(self.cube_many(values))
    }

    fn cube_union(&self, value: &OneOf) -> Result<OneOf, SystemException> {
        Ok(cube_union(value))
    }

    fn cube_string(&self, text: &str) -> Result<String, SystemException> {
        Ok(text.to_owned())
    }

    fn cube_string_into(&self, text: &str, result: &mut String) -> Result<(), SystemException> {
        self.begin();
        result.push_str(text);
        if self.wrong > 0 {
            result.push('!');
        }
        Ok(())
    }

    fn cube_octet_sequence(&self, values: &[u8]) -> Result<Vec<u8>, SystemException> {
        Ok(values.iter().map(|&o| cube(o)).collect())
    }

    fn cube_octet_sequence_into(&self, values: &[u8], result: &mut Vec<u8>) -> Result<(), SystemException> {
        result.extend(values.iter().map(|&o| cube(o).wrapping_add(self.wrong)));
        Ok(())
    }

    fn cube_long_sequence(&self, values: &[i32]) -> Result<Vec<i32>, SystemException> {
        Ok(values.iter().map(|&l| cube(l)).collect())
    }

    fn cube_long_sequence_into(&self, values: &[i32], result: &mut Vec<i32>) -> Result<(), SystemException> {
        self.begin();
        let wrong = i32::from(self.wrong);
        result.extend(values.iter().map(|&l| cube(l).wrapping_add(wrong)));
        Ok(())
    }

    fn cube_many_sequence(&self, values: &[Many]) -> Result<Vec<Many>, SystemException> {
        Ok(values.iter().map(cube_many).collect())
    }

    fn cube_many_sequence_into(
        &self,
        values: &[Many],
        result: &mut Vec<Many>,
    ) -> Result<(), SystemException> {
        result.extend(values.iter().map(|values| self.cube_many(values)));
        Ok(())
    }

    fn cube_rti_data(&self, packet: RtiPacketView<'_>) -> Result<RtiPacket, SystemException> {
        Ok(cube_packet(packet.to_owned()))
    }

    fn cube_any(&self, value: AnyView<'_>) -> Result<Any, SystemException> {
        let cubed = if value.is::<u8>() {
            value.get::<u8>().and_then(|octet| Any::new(&cube(octet)))
        } else if value.is::<Many>() {
            value
                .get::<Many>()
                .and_then(|values| Any::new(&self.cube_many(&values)))
        } else {
            let longs = value.get::<&[i32]>();
            longs.and_then(|longs| Any::new(&longs.iter().map(|&l| cube(l)).collect::<Vec<_>>()))
        };
        cubed.map_err(|_| bad_param())
    }

    fn cube_oneway(&self) -> Result<(), SystemException> {
        Ok(())
    }

    fn send_octet(&self, _: u8) -> Result<(), SystemException> {
        Ok(())
    }

    fn send_short(&self, _: i16) -> Result<(), SystemException> {
        Ok(())
    }

    fn send_long(&self, _: i32) -> Result<(), SystemException> {
        Ok(())
    }

    fn send_struct(&self, _: &Many) -> Result<(), SystemException> {
        Ok(())
    }

    fn send_union(&self, _: &OneOf) -> Result<(), SystemException> {
        Ok(())
    }

    fn send_octet_sequence(&self, _: &[u8]) -> Result<(), SystemException> {
        Ok(())
    }

    fn send_long_sequence(&self, _: &[i32]) -> Result<(), SystemException> {
        Ok(())
    }

    fn send_many_sequence(&self, _: &[Many]) -> Result<(), SystemException> {
        Ok(())
    }

    fn send_rti_data(&self, _: RtiPacketView<'_>) -> Result<(), SystemException> {
        Ok(())
    }

    fn send_any(&self, _: AnyView<'_>) -> Result<(), SystemException> {
        Ok(())
    }

    fn allocations(&self) -> Result<u64, SystemException> {
        Ok(alloc_counter::allocations_of_this_thread())
    }
}

/// An `any` holds what the IDL does not name.
fn bad_param() -> SystemException {
    SystemException::new(SystemExceptionKind::BadParam, Minor::NONE, Completion::No)
}
