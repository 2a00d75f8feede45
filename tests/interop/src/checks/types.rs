//! Every type in every direction.

use punctual::SystemException;

use super::{Context, Outcome, checks, ensure, expect_eq};
use crate::{interop::*, sample::Sample};

macro_rules! rotate {
    ($($operation:ident: $value:ty, $pass:ident;)*) => {
        $(fn $operation(x: &Context) -> Outcome {
            let [a, mut b, c] = [0, 1, 2].map(<$value>::sample);
            let (result, d) = x.peer.$operation($pass!(a), &mut b, $pass!(c))?;
            expect_eq!(result, a);
            expect_eq!(b, c);
            expect_eq!(d, <$value>::sample(1));
            Ok(())
        })*
    };
}

/// Passed by value.
macro_rules! copy {
    ($value:ident) => {
        $value
    };
}

/// Passed as a reference.
macro_rules! lend {
    ($value:ident) => {
        &$value
    };
}

rotate! {
    rotate_boolean: bool, copy;
    rotate_char: char, copy;
    rotate_octet: u8, copy;
    rotate_short: i16, copy;
    rotate_ushort: u16, copy;
    rotate_long: i32, copy;
    rotate_ulong: u32, copy;
    rotate_longlong: i64, copy;
    rotate_ulonglong: u64, copy;
    rotate_float: f32, copy;
    rotate_double: f64, copy;
    rotate_colour: Colour, copy;
    rotate_distance: Distance, copy;
    rotate_string: String, lend;
    rotate_title: Title, lend;
    rotate_label: Label, lend;
    rotate_point: Point, lend;
    rotate_mixed: Mixed, lend;
    rotate_nothing: Nothing, lend;
    rotate_leaf: Leaf, lend;
    rotate_branch: Branch, lend;
    rotate_shape: Shape, lend;
    rotate_maybe: Maybe, lend;
    rotate_either: Either, lend;
    rotate_numbered: Numbered, lend;
    rotate_lettered: Lettered, lend;
    rotate_wide: Wide, lend;
    rotate_tiny: Tiny, lend;
    rotate_tree: Tree, lend;
    rotate_chain: Chain, lend;
    rotate_booleans: BooleanSeq, lend;
    rotate_chars: CharSeq, lend;
    rotate_octets: OctetSeq, lend;
    rotate_shorts: ShortSeq, lend;
    rotate_ushorts: UShortSeq, lend;
    rotate_longs: LongSeq, lend;
    rotate_ulongs: ULongSeq, lend;
    rotate_longlongs: LongLongSeq, lend;
    rotate_ulonglongs: ULongLongSeq, lend;
    rotate_floats: FloatSeq, lend;
    rotate_doubles: DoubleSeq, lend;
    rotate_strings: StringSeq, lend;
    rotate_colours: ColourSeq, lend;
    rotate_distances: DistanceSeq, lend;
    rotate_points: PointSeq, lend;
    rotate_mixeds: MixedSeq, lend;
    rotate_leaves: LeafSeq, lend;
    rotate_shapes: ShapeSeq, lend;
    rotate_long_rows: LongSeqSeq, lend;
    rotate_table: StringTable, lend;
    rotate_vectors: VectorSeq, lend;
    rotate_few_longs: FewLongs, lend;
    rotate_few_labels: FewLabels, lend;
    rotate_few_points: FewPoints, lend;
    rotate_vector: Vector, lend;
    rotate_digest: Digest, lend;
    rotate_matrix: Matrix, lend;
    rotate_triangle: Triangle, lend;
    rotate_point_grid: PointGrid, lend;
    rotate_words: Words, lend;
    rotate_rows: Rows, lend;
}

checks![
    rotate_boolean,
    rotate_char,
    rotate_octet,
    rotate_short,
    rotate_ushort,
    rotate_long,
    rotate_ulong,
    rotate_longlong,
    rotate_ulonglong,
    rotate_float,
    rotate_double,
    rotate_colour,
    rotate_distance,
    rotate_string,
    rotate_title,
    rotate_label,
    rotate_point,
    rotate_mixed,
    rotate_nothing,
    rotate_leaf,
    rotate_branch,
    rotate_shape,
    rotate_maybe,
    rotate_either,
    rotate_numbered,
    rotate_lettered,
    rotate_wide,
    rotate_tiny,
    rotate_tree,
    rotate_chain,
    rotate_booleans,
    rotate_chars,
    rotate_octets,
    rotate_shorts,
    rotate_ushorts,
    rotate_longs,
    rotate_ulongs,
    rotate_longlongs,
    rotate_ulonglongs,
    rotate_floats,
    rotate_doubles,
    rotate_strings,
    rotate_colours,
    rotate_distances,
    rotate_points,
    rotate_mixeds,
    rotate_leaves,
    rotate_shapes,
    rotate_long_rows,
    rotate_table,
    rotate_vectors,
    rotate_few_longs,
    rotate_few_labels,
    rotate_few_points,
    rotate_vector,
    rotate_digest,
    rotate_matrix,
    rotate_triangle,
    rotate_point_grid,
    rotate_words,
    rotate_rows,
    results_in_kept_memory,
    every_octet,
    union_labels,
    describe_shape,
    count_nodes,
    make_matrix,
    collect_and_spread,
    constants,
    sum_longs,
    reverse_strings,
];

/// The `_into` forms, with longer values before shorter ones in the same memory.
fn results_in_kept_memory(x: &Context) -> Outcome {
    let (mut result, mut d) = (Branch::default(), Branch::default());
    for round in [0, 2, 1, 0] {
        let mut b = Branch::sample(2 - round);
        let (a, c) = (Branch::sample(round), Branch::sample(1));
        x.peer.rotate_branch_into(&a, &mut b, &c, &mut result, &mut d)?;
        expect_eq!(result, a);
        expect_eq!(b, c);
        expect_eq!(d, Branch::sample(2 - round));
    }
    let mut union = Numbered::default();
    let mut before = Numbered::default();
    for round in [2, 0, 1, 2] {
        let value = Numbered::sample(round);
        let mut b = Numbered::sample(2 - round);
        x.peer
            .rotate_numbered_into(&value, &mut b, &value, &mut union, &mut before)?;
        expect_eq!(union, value);
        expect_eq!(before, Numbered::sample(2 - round));
    }
    let mut text = "what stood here before".to_owned();
    x.peer.concat_into("a", "b", &mut text)?;
    expect_eq!(text, "ab");
    Ok(())
}

fn every_octet(x: &Context) -> Outcome {
    let all: OctetSeq = (0..=255).collect();
    let (result, before) = x.peer.rotate_octets(&all, &mut Vec::new(), &[])?;
    expect_eq!(result, all);
    ensure!(before.is_empty());
    for octet in all.into_iter().step_by(51) {
        let mut same = octet;
        expect_eq!(x.peer.rotate_octet(octet, &mut same, octet)?, (octet, octet));
    }
    Ok(())
}

/// Each arm of a union and each label, not only the three samples.
fn union_labels(x: &Context) -> Outcome {
    let each = |a: Numbered, c: Numbered| -> Result<(Numbered, Numbered, Numbered), SystemException> {
        let mut b = a.clone();
        let (result, d) = x.peer.rotate_numbered(&a, &mut b, &c)?;
        Ok((result, b, d))
    };
    for label in 1..=3 {
        let value = Numbered::Small(label, 9);
        expect_eq!(
            each(value.clone(), value.clone())?,
            (value.clone(), value.clone(), value)
        );
    }
    let (numbers, none) = (Numbered::Numbers([1, 2, 3, 4]), Numbered::NoMember(12_345));
    expect_eq!(
        each(numbers.clone(), none.clone())?,
        (numbers.clone(), none, numbers)
    );
    Ok(())
}

fn describe_shape(x: &Context) -> Outcome {
    for (i, text) in ["width -17", "caption a caption", "corner 3,-4"]
        .iter()
        .enumerate()
    {
        expect_eq!(x.peer.describe_shape(&Shape::sample(i))?, *text);
    }
    Ok(())
}

fn count_nodes(x: &Context) -> Outcome {
    let mut tree = Tree::sample(0);
    expect_eq!(x.peer.count_nodes(&tree)?, 7);
    for _ in 0..20 {
        let text = "root".to_owned();
        let children = vec![tree];
        tree = Tree { text, children };
    }
    expect_eq!(x.peer.count_nodes(&tree)?, 27);
    Ok(())
}

fn make_matrix(x: &Context) -> Outcome {
    expect_eq!(x.peer.make_matrix()?, [[0., 1., 2.], [10., 11., 12.]]);
    Ok(())
}

fn collect_and_spread(x: &Context) -> Outcome {
    let normal = -70_000;
    let m = Mixed {
        normal,
        last: Mixed::sample(0).raw,
        tint: Colour::Blue,
        r#where: Point {
            x: normal,
            y: normal + 1,
        },
        ..Mixed::sample(0)
    };
    let collected = x.peer.collect(
        m.flag, m.real, m.letter, m.small, m.raw, m.huge, m.usmall, m.single, m.normal, m.big, m.unormal,
    )?;
    expect_eq!(collected, m);
    let spread = x.peer.spread(&m)?;
    let expected = (
        m.flag, m.real, m.letter, m.small, m.raw, m.huge, m.usmall, m.single, m.normal, m.big, m.unormal,
    );
    expect_eq!(spread, expected);
    Ok(())
}

fn constants(x: &Context) -> Outcome {
    let expected = Constants {
        yes_value: true,
        no_value: false,
        letter_value: 'q',
        newline_value: '\n',
        octet_top_value: 255,
        short_low_value: -32_768,
        ushort_top_value: 65_535,
        long_low_value: -2_147_483_647,
        ulong_top_value: 4_294_967_295,
        longlong_low_value: -9_223_372_036_854_775_807,
        ulonglong_top_value: 18_446_744_073_709_551_615,
        quarter_value: 0.25,
        avogadro_value: 6.022_140_76e23,
        greeting_value: "hello, world\t\"1\"".to_owned(),
        favourite_value: Colour::Green,
        bits_value: 43,
        arithmetic_value: -4,
        bound_value: 4,
        half_bits_value: 0.625,
        inner_value: -5,
    };
    expect_eq!(x.peer.get_constants()?, expected);
    Ok(())
}

fn sum_longs(x: &Context) -> Outcome {
    expect_eq!(x.peer.sum_longs(&[i32::MAX, i32::MAX, -5])?, 4_294_967_289);
    Ok(())
}

fn reverse_strings(x: &Context) -> Outcome {
    let mut words: StringSeq = ["one", "two", "three"].map(str::to_owned).to_vec();
    x.peer.reverse_strings(&mut words)?;
    expect_eq!(words, ["three", "two", "one"]);
    Ok(())
}
