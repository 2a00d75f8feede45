//! The operations of IDL_Cubit, with their arguments and results.

use punctual::{
    Completion, Minor, SystemException, SystemExceptionKind,
    any::{Any, Typed},
};
use punctual_cdr::{Encode, Encoder, Endian};
use serde::{Deserialize, Serialize};

use crate::{
    cubit::cube::{cube, cube_many, cube_packet, cube_union},
    error::Error,
    idl::cubit::bench::{
        CubitRef, Many, OneOf, RtiAttribute, RtiHeader, RtiInteraction, RtiMessage, RtiPacket, RtiUpdate,
    },
};

/// A test of IDL_Cubit.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(super) enum Operation {
    Void,
    Short,
    Octet,
    Long,
    Struct,
    Union,
    SmallOctetSequence,
    LargeOctetSequence,
    SmallLongSequence,
    LargeLongSequence,
    SmallStructSequence,
    LargeStructSequence,
    RtiPacket,
    /// All operations before it in turn.
    Mixin,
    AnyOctet,
    AnyStruct,
    AnySequence,
}

/// An operation with or without a reply.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(super) struct Call {
    pub(super) operation: Operation,
    /// Sends the argument only.
    pub(super) is_oneway: bool,
}

impl Operation {
    /// All operations, in the order of the rows.
    pub(super) const ALL: [Self; 17] = [
        Self::Void,
        Self::Short,
        Self::Octet,
        Self::Long,
        Self::Struct,
        Self::Union,
        Self::SmallOctetSequence,
        Self::LargeOctetSequence,
        Self::SmallLongSequence,
        Self::LargeLongSequence,
        Self::SmallStructSequence,
        Self::LargeStructSequence,
        Self::RtiPacket,
        Self::Mixin,
        Self::AnyOctet,
        Self::AnyStruct,
        Self::AnySequence,
    ];
    /// Number of operations of [`Self::Mixin`]: all before it.
    const MIXED: usize = 13;

    /// Name in rows, after TAO's test.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Void => "void",
            Self::Short => "short",
            Self::Octet => "octet",
            Self::Long => "long",
            Self::Struct => "struct",
            Self::Union => "union",
            Self::SmallOctetSequence => "octet sequence of 16",
            Self::LargeOctetSequence => "octet sequence of 4096",
            Self::SmallLongSequence => "long sequence of 4",
            Self::LargeLongSequence => "long sequence of 1024",
            Self::SmallStructSequence => "struct sequence of 4",
            Self::LargeStructSequence => "struct sequence of 1024",
            Self::RtiPacket => "RTI packet",
            Self::Mixin => "all in turn",
            Self::AnyOctet => "any with an octet",
            Self::AnyStruct => "any with a struct",
            Self::AnySequence => "any with a long sequence of 1024",
        }
    }
}

impl Call {
    /// Returns all operations in the order of the rows: two-way, then one-way.
    pub(super) fn all() -> impl Iterator<Item = Self> + Clone {
        [false, true]
            .into_iter()
            .flat_map(|is_oneway| Operation::ALL.map(|operation| Self { operation, is_oneway }))
    }

    /// Name of its mode in rows.
    pub(super) fn mode(self) -> &'static str {
        if self.is_oneway { "oneway" } else { "twoway" }
    }
}

/// Arguments as in IDL_Cubit, and results.
pub(super) struct Values {
    octets: [Vec<u8>; 2],
    longs: [Vec<i32>; 2],
    structs: [Vec<Many>; 2],
    packet: RtiPacket,
    octet_results: Vec<u8>,
    long_results: Vec<i32>,
    struct_results: Vec<Many>,
    any_result: Any,
    packet_result: RtiPacket,
}

/// Returns the argument of the i-th call, before truncation to its type. Source: `func` of TAO's IDL_Cubit.
fn func(i: u32) -> i32 {
    (i as i32).wrapping_sub(117)
}

/// An `any` with this value.
fn any(value: &(impl Typed + Encode)) -> Result<Any, SystemException> {
    Any::new(value)
        .map_err(|_| SystemException::new(SystemExceptionKind::Marshal, Minor::NONE, Completion::No))
}

fn many(i: u32) -> Many {
    Many {
        o: func(i) as u8,
        l: func(i),
        s: func(i) as i16,
    }
}

fn one_of(i: u32) -> OneOf {
    match i % 4 {
        0 => OneOf::O(func(i) as u8),
        1 => OneOf::S(func(i) as i16),
        2 => OneOf::L(func(i)),
        _ => OneOf::M(many(i)),
    }
}

impl Values {
    pub(super) fn new() -> Self {
        let octets = |length: u32| (0..length).map(|i| func(i) as u8).collect();
        let structs = |length: u32| (0..length).map(many).collect();
        let update = |instance| {
            let attribute = |handle: u8| RtiAttribute {
                handle: handle.into(),
                value: (0..16).map(|i| i * handle).collect(),
            };
            RtiMessage::Update(RtiUpdate {
                instance,
                time: 0.25,
                attributes: (1..=3).map(attribute).collect(),
            })
        };
        let interaction = RtiMessage::Interaction(RtiInteraction {
            kind: 1,
            parameters: structs(2),
        });
        Self {
            octets: [16, 4096].map(octets),
            longs: [4, 1024].map(|length: u32| (0..length).map(func).collect()),
            structs: [4, 1024].map(structs),
            packet: RtiPacket {
                header: RtiHeader {
                    version: 1,
                    federate: 2,
                    channel: 3,
                    serial: 0,
                },
                messages: vec![update(7), interaction, RtiMessage::Ticks(10), update(8)],
            },
            octet_results: Vec::new(),
            long_results: Vec::new(),
            struct_results: Vec::new(),
            any_result: Any::default(),
            packet_result: RtiPacket::default(),
        }
    }

    /// Makes the i-th call; returns whether the result is correct. Of sequences and packets, the first
    /// element varies and is compared, as in IDL_Cubit.
    pub(super) fn call(
        &mut self,
        cubit: &CubitRef,
        operation: Operation,
        i: u32,
    ) -> Result<bool, SystemException> {
        let long = func(i);
        let (octet, short) = (long as u8, long as i16);
        Ok(match operation {
            Operation::Void => cubit.cube_void().map(|()| true)?,
            Operation::Short => cubit.cube_short(short)? == cube(short),
            Operation::Octet => cubit.cube_octet(octet)? == cube(octet),
            Operation::Long => cubit.cube_long(long)? == cube(long),
            Operation::Struct => cubit.cube_struct(&many(i))? == cube_many(&many(i)),
            Operation::Union => {
                let value = one_of(i);
                cubit.cube_union(&value)? == cube_union(&value)
            }
            Operation::SmallOctetSequence | Operation::LargeOctetSequence => {
                let octets = &mut self.octets[usize::from(operation == Operation::LargeOctetSequence)];
                octets[0] = octet;
                cubit.cube_octet_sequence_into(octets, &mut self.octet_results)?;
                self.octet_results.len() == octets.len() && self.octet_results[0] == cube(octet)
            }
            Operation::SmallLongSequence | Operation::LargeLongSequence => {
                let longs = &mut self.longs[usize::from(operation == Operation::LargeLongSequence)];
                longs[0] = long;
                cubit.cube_long_sequence_into(longs, &mut self.long_results)?;
                self.long_results.len() == longs.len() && self.long_results[0] == cube(long)
            }
            Operation::SmallStructSequence | Operation::LargeStructSequence => {
                let structs = &mut self.structs[usize::from(operation == Operation::LargeStructSequence)];
                structs[0] = many(i);
                cubit.cube_many_sequence_into(structs, &mut self.struct_results)?;
                self.struct_results.len() == structs.len() && self.struct_results[0] == cube_many(&many(i))
            }
            Operation::RtiPacket => {
                self.packet.header.serial = long;
                cubit.cube_rti_data_into(&self.packet, &mut self.packet_result)?;
                self.packet_result.messages.len() == self.packet.messages.len()
                    && self.packet_result.header.serial == cube(long)
            }
            Operation::Mixin => {
                let one = Operation::ALL[i as usize % Operation::MIXED];
                return self.call(cubit, one, i);
            }
            Operation::AnyOctet => {
                cubit.cube_any_into(&any(&octet)?, &mut self.any_result)?;
                self.any_result.get() == Ok(cube(octet))
            }
            Operation::AnyStruct => {
                cubit.cube_any_into(&any(&many(i))?, &mut self.any_result)?;
                self.any_result.get() == Ok(cube_many(&many(i)))
            }
            Operation::AnySequence => {
                let longs = &mut self.longs[1];
                longs[0] = long;
                cubit.cube_any_into(&any(longs)?, &mut self.any_result)?;
                let cubes: Vec<i32> = self.any_result.get().unwrap_or_default();
                cubes.len() == longs.len() && cubes[0] == cube(long)
            }
        })
    }

    /// Makes a call without a reply.
    pub(super) fn send(
        &mut self,
        cubit: &CubitRef,
        operation: Operation,
        i: u32,
    ) -> Result<(), SystemException> {
        let long = func(i);
        let (octet, short) = (long as u8, long as i16);
        match operation {
            Operation::Void => cubit.cube_oneway(),
            Operation::Short => cubit.send_short(short),
            Operation::Octet => cubit.send_octet(octet),
            Operation::Long => cubit.send_long(long),
            Operation::Struct => cubit.send_struct(&many(i)),
            Operation::Union => cubit.send_union(&one_of(i)),
            Operation::SmallOctetSequence => cubit.send_octet_sequence(&self.octets[0]),
            Operation::LargeOctetSequence => cubit.send_octet_sequence(&self.octets[1]),
            Operation::SmallLongSequence => cubit.send_long_sequence(&self.longs[0]),
            Operation::LargeLongSequence => cubit.send_long_sequence(&self.longs[1]),
            Operation::SmallStructSequence => cubit.send_many_sequence(&self.structs[0]),
            Operation::LargeStructSequence => cubit.send_many_sequence(&self.structs[1]),
            Operation::RtiPacket => cubit.send_rti_data(&self.packet),
            Operation::Mixin => self.send(cubit, Operation::ALL[i as usize % Operation::MIXED], i),
            Operation::AnyOctet => cubit.send_any(&any(&octet)?),
            Operation::AnyStruct => cubit.send_any(&any(&many(i))?),
            Operation::AnySequence => cubit.send_any(&any(&self.longs[1])?),
        }
    }

    /// Returns whether every element of the last result is correct.
    pub(super) fn is_whole(&self, operation: Operation) -> bool {
        let [small_octets, large_octets] = &self.octets;
        let [small_longs, large_longs] = &self.longs;
        let [small_structs, large_structs] = &self.structs;
        let octets = |values: &[u8]| {
            values
                .iter()
                .map(|&o| cube(o))
                .eq(self.octet_results.iter().copied())
        };
        let longs = |values: &[i32]| {
            values
                .iter()
                .map(|&l| cube(l))
                .eq(self.long_results.iter().copied())
        };
        let structs = |values: &[Many]| {
            values
                .iter()
                .map(cube_many)
                .eq(self.struct_results.iter().cloned())
        };
        match operation {
            Operation::SmallOctetSequence => octets(small_octets),
            Operation::LargeOctetSequence => octets(large_octets),
            Operation::SmallLongSequence => longs(small_longs),
            Operation::LargeLongSequence => longs(large_longs),
            Operation::SmallStructSequence => structs(small_structs),
            Operation::LargeStructSequence => structs(large_structs),
            Operation::RtiPacket => cube_packet(self.packet.clone()) == self.packet_result,
            Operation::AnySequence => {
                let cubes: Vec<i32> = large_longs.iter().map(|&l| cube(l)).collect();
                self.any_result.get() == Ok(cubes)
            }
            // Compared in every call.
            _ => true,
        }
    }

    /// Returns the octets of the encoded argument, or their mean if they vary; the result is as long.
    pub(super) fn octets(&self, operation: Operation) -> Result<f64, Error> {
        fn encoded(value: &(impl Encode + ?Sized)) -> Result<f64, Error> {
            let mut octets = Vec::new();
            value.encode(&mut Encoder::new(&mut octets, Endian::NATIVE))?;
            Ok(octets.len() as f64)
        }
        let mean = |octets: Vec<f64>| octets.iter().sum::<f64>() / octets.len() as f64;
        let [small_octets, large_octets] = &self.octets;
        let [small_longs, large_longs] = &self.longs;
        let [small_structs, large_structs] = &self.structs;
        match operation {
            Operation::Void => Ok(0.0),
            Operation::Short => encoded(&0_i16),
            Operation::Octet => encoded(&0_u8),
            Operation::Long => encoded(&0_i32),
            Operation::Struct => encoded(&many(0)),
            Operation::Union => {
                let values = [OneOf::O(0), OneOf::S(0), OneOf::L(0), OneOf::M(many(0))];
                Ok(mean(values.iter().map(encoded).collect::<Result<_, _>>()?))
            }
            Operation::SmallOctetSequence => encoded(&small_octets[..]),
            Operation::LargeOctetSequence => encoded(&large_octets[..]),
            Operation::SmallLongSequence => encoded(&small_longs[..]),
            Operation::LargeLongSequence => encoded(&large_longs[..]),
            Operation::SmallStructSequence => encoded(&small_structs[..]),
            Operation::LargeStructSequence => encoded(&large_structs[..]),
            Operation::RtiPacket => encoded(&self.packet),
            Operation::AnyOctet => encoded(&any(&0_u8)?),
            Operation::AnyStruct => encoded(&any(&many(0))?),
            Operation::AnySequence => encoded(&any(large_longs)?),
            Operation::Mixin => {
                let mixed = Operation::ALL[..Operation::MIXED].iter();
                Ok(mean(
                    mixed.map(|one| self.octets(*one)).collect::<Result<_, _>>()?,
                ))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mix_contains_every_operation_before_it() {
        assert_eq!(Operation::ALL[Operation::MIXED], Operation::Mixin);
    }

    #[test]
    fn octets_are_counted_as_encoded_in_cdr() {
        let values = Values::new();
        let octets = |operation| values.octets(operation).unwrap();
        assert_eq!(octets(Operation::Struct), 10.0);
        assert_eq!(octets(Operation::LargeOctetSequence), 4100.0);
        assert_eq!(octets(Operation::LargeLongSequence), 4100.0);
        // A discriminator of four octets, then one, two, four, and a struct of ten.
        assert_eq!(octets(Operation::Union), (5.0 + 6.0 + 8.0 + 14.0) / 4.0);
        assert!(octets(Operation::RtiPacket) > 200.0);
    }

    #[test]
    fn a_wrong_element_is_found() {
        let mut values = Values::new();
        values.long_results = values.longs[0].iter().map(|&l| cube(l)).collect();
        assert!(values.is_whole(Operation::SmallLongSequence));
        values.long_results[3] += 1;
        assert!(!values.is_whole(Operation::SmallLongSequence));
    }

    #[test]
    fn arguments_are_those_of_idl_cubit() {
        assert_eq!((func(0), func(117), many(118).o), (-117, 0, 1));
    }
}
