//! Cubes, modulo the size of the type, as in TAO's Cubit tests. Servants return them, and clients check them.

use std::ops::Mul;

use crate::idl::cubit::bench::{Many, OneOf, RtiMessage, RtiPacket};

/// Returns the cube of an octet, a short or a long.
pub(crate) fn cube<T>(value: T) -> T
where
    T: Copy,
    std::num::Wrapping<T>: Mul<Output = std::num::Wrapping<T>>,
{
    let value = std::num::Wrapping(value);
    (value * value * value).0
}

/// Returns a struct with the cube of each member.
pub(crate) fn cube_many(values: &Many) -> Many {
    Many {
        o: cube(values.o),
        l: cube(values.l),
        s: cube(values.s),
    }
}

/// Returns a union with the cube of its member.
pub(crate) fn cube_union(value: &OneOf) -> OneOf {
    match value {
        OneOf::O(o) => OneOf::O(cube(*o)),
        OneOf::S(s) => OneOf::S(cube(*s)),
        OneOf::L(l) => OneOf::L(cube(*l)),
        OneOf::M(m) => OneOf::M(cube_many(m)),
    }
}

/// Returns the packet with every number cubed except discriminators and times.
pub(crate) fn cube_packet(mut packet: RtiPacket) -> RtiPacket {
    packet.header.serial = cube(packet.header.serial);
    for message in &mut packet.messages {
        match message {
            RtiMessage::Update(update) => {
                update.instance = cube(update.instance);
                for attribute in &mut update.attributes {
                    attribute.handle = cube(attribute.handle);
                    attribute.value.iter_mut().for_each(|octet| *octet = cube(*octet));
                }
            }
            RtiMessage::Interaction(interaction) => {
                let parameters = interaction.parameters.iter_mut();
                parameters.for_each(|parameter| *parameter = cube_many(parameter));
            }
            RtiMessage::Ticks(ticks) => *ticks = cube(*ticks),
        }
    }
    packet
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::idl::cubit::bench::{RtiAttribute, RtiHeader, RtiInteraction, RtiUpdate};

    #[test]
    fn cubes_wrap_around_as_in_c() {
        assert_eq!((cube(3_u8), cube(7_u8)), (27, 87));
        assert_eq!((cube(-3_i16), cube(100_i16)), (-27, 16_960));
        assert_eq!((cube(-30_i32), cube(2_000_i32)), (-27_000, -589_934_592));
    }

    #[test]
    fn all_numbers_in_a_packet_are_cubed() {
        let one = |o| Many { o, l: 3, s: 4 };
        let packet = RtiPacket {
            header: RtiHeader {
                version: 2,
                federate: 2,
                channel: 2,
                serial: 2,
            },
            messages: vec![
                RtiMessage::Update(RtiUpdate {
                    instance: 5,
                    time: 2.0,
                    attributes: vec![RtiAttribute {
                        handle: 2,
                        value: vec![2, 3],
                    }],
                }),
                RtiMessage::Interaction(RtiInteraction {
                    kind: 2,
                    parameters: vec![one(2)],
                }),
                RtiMessage::Ticks(-2),
            ],
        };
        let cubed = cube_packet(packet);
        assert_eq!((cubed.header.serial, cubed.header.channel), (8, 2));
        let [
            RtiMessage::Update(update),
            RtiMessage::Interaction(interaction),
            RtiMessage::Ticks(-8),
        ] = &cubed.messages[..]
        else {
            panic!("{cubed:?}");
        };
        assert_eq!((update.instance, update.attributes[0].handle), (125, 8));
        assert_eq!(update.attributes[0].value, [8, 27]);
        assert_eq!(interaction.parameters, [Many { o: 8, l: 27, s: 64 }]);
    }
}
