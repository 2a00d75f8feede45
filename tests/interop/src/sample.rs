//! Three sample values of every type. The second of every sequence and string is empty.

use punctual::{BoundedSeq, BoundedString};

use crate::interop::*;

/// A type with sample values.
pub trait Sample {
    /// Sample 0, 1 or 2.
    fn sample(i: usize) -> Self;
}

const TEXTS: [&str; 3] = ["hello world", "", "a longer text, of forty-two octets or more"];

macro_rules! samples {
    ($($value:ty: $first:expr, $second:expr, $third:expr;)*) => {
        $(impl Sample for $value {
            fn sample(i: usize) -> Self {
                [$first, $second, $third][i]
            }
        })*
    };
}

samples! {
    bool: false, true, false;
    char: 'q', '~', '\n';
    u8: b'q', 0, 255;
    i16: i16::MIN, i16::MAX, 258;
    u16: u16::MAX, 0, 258;
    i32: i32::MIN, i32::MAX, 0x0102_0304;
    u32: u32::MAX, 0, 0x0102_0304;
    i64: i64::MIN, -1, 0x0102_0304_0506_0708;
    u64: u64::MAX, 0, 0x0102_0304_0506_0708;
    f32: -0.25, f32::INFINITY, 3.4e38;
    f64: 6.022_140_76e23, -0.0, 5e-324;
    Colour: Colour::Blue, Colour::Green, Colour::Red;
}

impl Sample for String {
    fn sample(i: usize) -> Self {
        TEXTS[i].to_owned()
    }
}

impl Sample for BoundedString<16> {
    fn sample(i: usize) -> Self {
        bounded_text(["sixteen octets!!", "", "short"][i])
    }
}

fn bounded_text(text: &str) -> BoundedString<16> {
    text.to_owned().try_into().expect("no more than 16 octets")
}

impl<T: Sample, const N: usize> Sample for [T; N] {
    fn sample(i: usize) -> Self {
        std::array::from_fn(|k| T::sample((i + k) % 3))
    }
}

/// 3, 0 or 1 elements.
impl<T: Sample> Sample for Vec<T> {
    fn sample(i: usize) -> Self {
        (0..[3, 0, 1][i]).map(|k| T::sample((i + k) % 3)).collect()
    }
}

/// Full, empty, or of one element.
impl<T: Sample, const N: usize> Sample for BoundedSeq<T, N> {
    fn sample(i: usize) -> Self {
        let elements: Vec<T> = (0..[N, 0, 1][i]).map(|k| T::sample((i + k) % 3)).collect();
        elements.try_into().expect("no more than the bound")
    }
}

/// Structs, each member a sample of its own type.
macro_rules! structs {
    ($($name:ty { $($member:ident),* })*) => {
        $(impl Sample for $name {
            fn sample(i: usize) -> Self {
                Self { $($member: Sample::sample(i)),* }
            }
        })*
    };
}

structs! {
    Point { x, y }
    Mixed {
        flag, real, letter, small, raw, huge, usmall, single, normal, last, big, unormal, tint, r#where
    }
    Nothing { placeholder }
    Leaf { text, values, tint, numbers }
    Branch { tag, first, others, mark, table, lines, weights, nested }
    branch::Inner { deep, inner_name }
}

impl Sample for Shape {
    fn sample(i: usize) -> Self {
        match i {
            0 => Self::Width(-17),
            1 => Self::Caption("a caption".to_owned()),
            _ => Self::Corner(Colour::Blue, Point { x: 3, y: -4 }),
        }
    }
}

impl Sample for Maybe {
    fn sample(i: usize) -> Self {
        if i == 1 {
            Self::NoMember(false)
        } else {
            Self::Some(Leaf::sample(i))
        }
    }
}

impl Sample for Either {
    fn sample(i: usize) -> Self {
        if i == 1 {
            Self::LeftValue("left".to_owned())
        } else {
            Self::RightValue(i as f64 + 0.5)
        }
    }
}

impl Sample for Numbered {
    fn sample(i: usize) -> Self {
        match i {
            0 => Self::Small(2, -5),
            1 => Self::List(LongSeq::sample(0)),
            _ => Self::Whole(Leaf::sample(i)),
        }
    }
}

impl Sample for Lettered {
    fn sample(i: usize) -> Self {
        match i {
            0 => Self::One(200),
            1 => Self::Many('z', StringSeq::sample(0)),
            _ => Self::Many('k', StringSeq::sample(0)),
        }
    }
}

impl Sample for Wide {
    fn sample(i: usize) -> Self {
        if i == 1 {
            Self::None(true)
        } else {
            Self::Inner(Shape::sample(i))
        }
    }
}

impl Sample for Tiny {
    fn sample(i: usize) -> Self {
        match i {
            0 => Self::Lowest(255),
            1 => Self::Zero(-1.5),
            _ => Self::NoMember(77),
        }
    }
}

impl Sample for Tree {
    fn sample(i: usize) -> Self {
        let child = if i == 0 { 2 } else { 1 };
        Self {
            text: TEXTS[i].to_owned(),
            children: (0..[3, 0, 1][i]).map(|_| Self::sample(child)).collect(),
        }
    }
}

impl Sample for Chain {
    fn sample(i: usize) -> Self {
        let mut chain = Self {
            value: i as i32,
            ..Self::default()
        };
        if i > 0 {
            chain.next.push(Self::sample(i - 1)).expect("room for one");
        }
        chain
    }
}
