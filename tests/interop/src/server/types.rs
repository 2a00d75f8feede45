//! The interfaces of types: `rotate_x` for each type x, and what shows that both sides see the same value.

use std::mem;

use punctual::{BoundedSlice, BoundedStr, Completion, Minor, SystemException, SystemExceptionKind};

use super::PeerServant;
use crate::interop::*;

/// One operation: the type of its `in` parameters, that of the others, and how the former becomes the latter.
macro_rules! rotate {
    ($operation:ident, $lent:ty => $owned:ty, $own:expr) => {
        fn $operation(
            &self,
            a: $lent,
            b: &mut $owned,
            c: $lent,
        ) -> Result<($owned, $owned), SystemException> {
            let before = mem::replace(b, $own(c));
            Ok(($own(a), before))
        }
    };
}

/// Types that are passed by value.
macro_rules! values {
    ($($operation:ident: $value:ty),* $(,)?) => {
        $(rotate!($operation, $value => $value, <$value>::from);)*
    };
}

/// Types that are lent as `&T`.
macro_rules! borrowed {
    ($($operation:ident: $value:ty),* $(,)?) => {
        $(rotate!($operation, &$value => $value, <$value>::clone);)*
    };
}

/// Types that are lent as a view.
macro_rules! views {
    ($($operation:ident: $view:ident => $value:ty),* $(,)?) => {
        $(rotate!($operation, $view<'_> => $value, <$value>::from);)*
    };
}

/// Sequences that are lent as a slice of what they hold.
macro_rules! slices {
    ($($operation:ident: $element:ty),* $(,)?) => {
        $(rotate!($operation, &[$element] => Vec<$element>, <[$element]>::to_vec);)*
    };
}

impl Basics for PeerServant {
    values! {
        rotate_boolean: bool,
        rotate_char: char,
        rotate_octet: u8,
        rotate_short: i16,
        rotate_ushort: u16,
        rotate_long: i32,
        rotate_ulong: u32,
        rotate_longlong: i64,
        rotate_ulonglong: u64,
        rotate_float: f32,
        rotate_double: f64,
        rotate_colour: Colour,
        rotate_distance: Distance,
    }

    fn ping(&self) -> Result<(), SystemException> {
        Ok(())
    }

    fn add(&self, a: i32, b: i32) -> Result<i32, SystemException> {
        Ok(a + b)
    }

    fn collect(
        &self,
        flag: bool,
        real: f64,
        letter: char,
        small: i16,
        raw: u8,
        huge: u64,
        usmall: u16,
        single: f32,
        normal: i32,
        big: i64,
        unormal: u32,
    ) -> Result<Mixed, SystemException> {
        let r#where = Point {
            x: normal,
            y: normal + 1,
        };
        Ok(Mixed {
            flag,
            real,
            letter,
            small,
            raw,
            huge,
            usmall,
            single,
            normal,
            last: raw,
            big,
            unormal,
            tint: Colour::Blue,
            r#where,
        })
    }

    fn spread(
        &self,
        value: &Mixed,
    ) -> Result<(bool, f64, char, i16, u8, u64, u16, f32, i32, i64, u32), SystemException> {
        Ok((
            value.flag,
            value.real,
            value.letter,
            value.small,
            value.raw,
            value.huge,
            value.usmall,
            value.single,
            value.normal,
            value.big,
            value.unormal,
        ))
    }

    fn get_constants(&self) -> Result<Constants, SystemException> {
        Ok(Constants {
            yes_value: YES,
            no_value: NO,
            letter_value: LETTER,
            newline_value: NEWLINE,
            octet_top_value: OCTET_TOP,
            short_low_value: SHORT_LOW,
            ushort_top_value: USHORT_TOP,
            long_low_value: LONG_LOW,
            ulong_top_value: ULONG_TOP,
            longlong_low_value: LONGLONG_LOW,
            ulonglong_top_value: ULONGLONG_TOP,
            quarter_value: QUARTER,
            avogadro_value: AVOGADRO,
            greeting_value: GREETING.to_owned(),
            favourite_value: FAVOURITE,
            bits_value: BITS,
            arithmetic_value: ARITHMETIC,
            bound_value: BOUND,
            half_bits_value: HALF_BITS,
            inner_value: basics::INNER,
        })
    }
}

impl Text for PeerServant {
    rotate!(rotate_string, &str => String, str::to_owned);
    rotate!(rotate_title, &str => Title, str::to_owned);
    rotate!(rotate_label, BoundedStr<'_, 16> => Label, |text: BoundedStr<'_, 16>| text.to_bounded_string());

    fn concat(&self, a: &str, b: &str) -> Result<String, SystemException> {
        Ok([a, b].concat())
    }

    fn code_points(&self, text: &str) -> Result<ULongSeq, SystemException> {
        Ok(text.chars().map(u32::from).collect())
    }

    fn from_code_points(&self, points: &[u32]) -> Result<String, SystemException> {
        let character = |point: &u32| char::from_u32(*point).filter(|character| *character != '\0');
        let text: Option<String> = points.iter().map(character).collect();
        text.ok_or_else(|| {
            SystemException::new(SystemExceptionKind::DataConversion, Minor::NONE, Completion::No)
        })
    }
}

impl Constructed for PeerServant {
    borrowed! {
        rotate_point: Point,
        rotate_mixed: Mixed,
        rotate_nothing: Nothing,
        rotate_tiny: Tiny,
    }
    views! {
        rotate_leaf: LeafView => Leaf,
        rotate_branch: BranchView => Branch,
        rotate_shape: ShapeView => Shape,
        rotate_maybe: MaybeView => Maybe,
        rotate_either: EitherView => Either,
        rotate_numbered: NumberedView => Numbered,
        rotate_lettered: LetteredView => Lettered,
        rotate_wide: WideView => Wide,
        rotate_tree: TreeView => Tree,
        rotate_chain: ChainView => Chain,
    }

    fn count_nodes(&self, root: TreeView<'_>) -> Result<u32, SystemException> {
        fn count(tree: &TreeView<'_>) -> u32 {
            1 + tree.children.iter().map(count).sum::<u32>()
        }
        Ok(count(&root))
    }

    fn describe_shape(&self, value: ShapeView<'_>) -> Result<String, SystemException> {
        Ok(match value {
            ShapeView::Width(width) => format!("width {width}"),
            ShapeView::Caption(caption) => format!("caption {caption}"),
            ShapeView::Corner(_, Point { x, y }) => format!("corner {x},{y}"),
        })
    }
}

impl Sequences for PeerServant {
    slices! {
        rotate_booleans: bool,
        rotate_chars: char,
        rotate_octets: u8,
        rotate_shorts: i16,
        rotate_ushorts: u16,
        rotate_longs: i32,
        rotate_ulongs: u32,
        rotate_longlongs: i64,
        rotate_ulonglongs: u64,
        rotate_floats: f32,
        rotate_doubles: f64,
        rotate_colours: Colour,
        rotate_distances: Distance,
        rotate_points: Point,
        rotate_mixeds: Mixed,
        rotate_vectors: Vector,
    }
    rotate!(rotate_strings, &[&str] => StringSeq, owned_strings);
    rotate!(rotate_leaves, &[LeafView<'_>] => LeafSeq, owned);
    rotate!(rotate_shapes, &[ShapeView<'_>] => ShapeSeq, owned);
    rotate!(rotate_long_rows, &[&[i32]] => LongSeqSeq, owned);
    rotate!(rotate_table, &[&[&str]] => StringTable, owned_table);
    rotate!(rotate_few_longs, BoundedSlice<'_, i32, 4> => FewLongs, few);
    rotate!(rotate_few_labels, BoundedSlice<'_, BoundedStr<'_, 16>, 3> => FewLabels, few_labels);
    rotate!(rotate_few_points, BoundedSlice<'_, Point, 2> => FewPoints, few);

    fn sum_longs(&self, values: &[i32]) -> Result<i64, SystemException> {
        Ok(values.iter().map(|value| i64::from(*value)).sum())
    }

    fn reverse_strings(&self, values: &mut StringSeq) -> Result<(), SystemException> {
        values.reverse();
        Ok(())
    }
}

impl Arrays for PeerServant {
    borrowed! {
        rotate_vector: Vector,
        rotate_digest: Digest,
        rotate_matrix: Matrix,
        rotate_triangle: Triangle,
        rotate_point_grid: PointGrid,
    }
    rotate!(rotate_words, [&str; 2] => Words, |words: [&str; 2]| words.map(str::to_owned));
    rotate!(rotate_rows, [&[i32]; 2] => Rows, |rows: [&[i32]; 2]| rows.map(<[i32]>::to_vec));

    fn make_matrix(&self) -> Result<Matrix, SystemException> {
        Ok([[0., 1., 2.], [10., 11., 12.]])
    }
}

fn owned<V: Clone + Into<T>, T>(lent: &[V]) -> Vec<T> {
    lent.iter().cloned().map(V::into).collect()
}

fn owned_strings(lent: &[&str]) -> StringSeq {
    owned(lent)
}

fn owned_table(lent: &[&[&str]]) -> StringTable {
    lent.iter().copied().map(owned_strings).collect()
}

fn few<T: Clone, const N: usize>(lent: BoundedSlice<'_, T, N>) -> punctual::BoundedSeq<T, N> {
    lent.to_bounded_seq(T::clone)
}

fn few_labels(lent: BoundedSlice<'_, BoundedStr<'_, 16>, 3>) -> FewLabels {
    lent.to_bounded_seq(BoundedStr::to_bounded_string)
}
