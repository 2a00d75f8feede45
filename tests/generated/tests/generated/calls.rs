//! References and skeletons end to end: every kind of parameter, result and failure, through an ORB in
//! memory.

use std::{
    fmt::Debug,
    mem,
    sync::{
        Arc, Mutex,
        atomic::{AtomicI32, AtomicUsize, Ordering},
    },
};

use punctual_cdr::{BoundedSeq, BoundedSlice, BoundedStr, BoundedString, Decode, Encode, Endian, LongDouble};
use punctual_generated_tests::{
    MemoryOrb,
    cubit::{self, Cubit, CubitFactory, CubitFactoryRef, CubitRef},
    features::{features::*, units::Axis},
    names::std::{self as own_std, Locals as _},
};
use punctual_stub::{Interface, ObjectRef, Phase, servant};
use punctual_types::{Completion, Minor, SystemException, SystemExceptionKind};

type Outcome<T> = Result<T, SystemException>;

const ORDERS: [Endian; 2] = [Endian::Big, Endian::Little];

fn failure() -> SystemException {
    SystemException::new(SystemExceptionKind::NoPermission, Minor(5), Completion::No)
}

/// Gives back `a`; `c` becomes what `b` was, `b` becomes `a`.
struct Mover;

/// Methods of [`Mover`] for types that travel by value, or by reference in both columns of the mapping.
macro_rules! moves {
    ($($method:ident($given:ty => $owned:ty) $convert:expr;)*) => {$(
        fn $method(&self, a: $given, b: &mut $owned) -> Outcome<($owned, $owned)> {
            let convert: fn($given) -> $owned = $convert;
            let a = convert(a);
            let c = mem::replace(b, a.clone());
            Ok((a, c))
        }
    )*};
}

impl FixedValues for Mover {
    moves! {
        move_boolean(bool => bool) |a| a;
        move_char(char => char) |a| a;
        move_octet(u8 => u8) |a| a;
        move_short(i16 => i16) |a| a;
        move_ushort(u16 => u16) |a| a;
        move_long(i32 => i32) |a| a;
        move_ulong(u32 => u32) |a| a;
        move_longlong(i64 => i64) |a| a;
        move_ulonglong(u64 => u64) |a| a;
        move_float(f32 => f32) |a| a;
        move_double(f64 => f64) |a| a;
        move_longdouble(LongDouble => LongDouble) |a| a;
        move_axis(Axis => Axis) |a| a;
        move_basics(&Basics => Basics) Basics::clone;
        move_grid(&Grid => Grid) Grid::clone;
        move_block(&Block => Block) Block::clone;
        move_full(&Full => Full) Full::clone;
    }
}

impl Variable for Mover {
    moves! {
        move_string(&str => String) str::to_owned;
        move_label(BoundedStr<'_, 8> => Label) |a| a.to_bounded_string();
        move_longs(&[i32] => LongSeq) <[i32]>::to_vec;
        move_texts(&[&str] => Texts) |a| a.iter().map(|text| String::from(*text)).collect();
        move_rows(&[&[i32]] => LongRows) |a| a.iter().map(|row| row.to_vec()).collect();
        move_pairs(&[Pair] => Pairs) <[Pair]>::to_vec;
        move_few(BoundedSlice<'_, i32, 3> => Few) |a| a.to_bounded_seq(|n| *n);
        move_labels(BoundedSlice<'_, BoundedStr<'_, 8>, 2> => FewLabels)
            |a| a.to_bounded_seq(|text| text.to_bounded_string());
        move_words([&str; 2] => Words) |a| a.map(String::from);
        move_wall([&str; 40] => Wall) |a| a.map(String::from);
        move_track(TrackView<'_> => Track) |a| a.to_owned();
        move_tracks(&[TrackView<'_>] => Tracks) |a| a.iter().map(TrackView::to_owned).collect();
        move_one_label(OneLabelView<'_> => OneLabel) |a| a.to_owned();
        move_several(SeveralView<'_> => Several) |a| a.to_owned();
        move_only(OnlyView<'_> => Only) |a| a.to_owned();
        move_deep(DeepView<'_> => Deep) |a| a.to_owned();
        move_node(NodeView<'_> => Node) |a| a.to_owned();
        move_chain(ChainView<'_> => Chain) |a| a.to_owned();
    }

    fn upper_case(&self, a: BoundedSlice<'_, &str, 2>) -> Outcome<Vec<String>> {
        Ok(a.iter().map(|text| text.to_uppercase()).collect())
    }
}

impl References for Mover {
    moves! {
        move_counter(Option<CounterRef> => Option<CounterRef>) |a| a;
        move_object(Option<ObjectRef> => Option<ObjectRef>) |a| a;
        move_counters(&[Option<CounterRef>] => Counters) <[_]>::to_vec;
        move_holder(&Holder => Holder) Holder::clone;
        move_holders(&[Holder] => Holders) <[Holder]>::to_vec;
        move_perhaps(&Perhaps => Perhaps) Perhaps::clone;
        move_counter_pair(&CounterPair => CounterPair) CounterPair::clone;
    }

    fn use_counter(&self, which: Option<CounterRef>, n: i32) -> Outcome<i32> {
        which.map_or(Ok(-1), |counter| counter.increase(n))
    }
}

#[derive(Default)]
struct Counting(AtomicI32);

impl Counter for Counting {
    fn increase(&self, n: i32) -> Outcome<i32> {
        Ok(self.0.fetch_add(n, Ordering::Relaxed) + n)
    }
}

/// Checks the contract of [`Mover`], of the call that waits and of the one that does not; `$a` and `$b` are
/// owned values, `$given` turns one into the argument of the client.
macro_rules! check_moves {
    ($object:expr; $($method:ident, $asynchronous:ident($given:expr) $a:expr, $b:expr;)*) => {$({
        let (a, b) = ($a, $b);
        let mut inout = b.clone();
        let (result, out) = $object.$method($given(&a), &mut inout).unwrap();
        assert_eq!((&result, &inout, &out), (&a, &a, &b), stringify!($method));
        // What is `inout` is given as `in`, and comes back among the results.
        let call = $object.$asynchronous($given(&a), $given(&b));
        assert_eq!(call.wait().unwrap(), (a.clone(), a, b), stringify!($asynchronous));
    })*};
}

/// Like [`check_moves`], and with results in memory that the caller keeps.
macro_rules! check_moves_into {
    ($object:expr; $($method:ident, $into:ident, $asynchronous:ident($given:expr) $a:expr, $b:expr;)*) => {$(
        check_moves! { $object; $method, $asynchronous($given) $a, $b; }
        let (a, b) = ($a, $b);
        let (mut inout, mut result, mut out) = (b.clone(), b.clone(), a.clone());
        // Twice: the second time the lane's own values have been used before.
        for _ in 0..2 {
            inout.clone_from(&b);
            $object.$into($given(&a), &mut inout, &mut result, &mut out).unwrap();
            assert_eq!((&result, &inout, &out), (&a, &a, &b), stringify!($into));
        }
    )*};
}

fn copied<T: Copy>(value: &T) -> T {
    *value
}

fn same<T: ?Sized>(value: &T) -> &T {
    value
}

fn bounded<const N: usize>(text: &str) -> BoundedString<N> {
    String::from(text).try_into().unwrap()
}

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().copied().map(String::from).collect()
}

fn track(name: &str) -> Track {
    Track {
        name: String::from(name),
        hits: vec![1, 2],
        notes: strings(&["é"]),
        mark: bounded("m"),
        ..Track::default()
    }
}

#[test]
fn fixed_values_travel_in_all_directions() {
    for endian in ORDERS {
        let orb = MemoryOrb::new(endian);
        let object: FixedValuesRef = orb.activate(Mover);
        check_moves! { object;
            move_boolean, move_boolean_async(copied) true, false;
            move_char, move_char_async(copied) 'a', 'b';
            move_octet, move_octet_async(copied) 1, 2;
            move_short, move_short_async(copied) -1, 2;
            move_ushort, move_ushort_async(copied) 1, 2;
            move_long, move_long_async(copied) -1, 2;
            move_ulong, move_ulong_async(copied) 1, 2;
            move_longlong, move_longlong_async(copied) -1, 2;
            move_ulonglong, move_ulonglong_async(copied) 1, 2;
            move_float, move_float_async(copied) 1.5, 2.0;
            move_double, move_double_async(copied) 1.5, 2.0;
            move_longdouble, move_longdouble_async(copied) LongDouble(1), LongDouble(2);
            move_axis, move_axis_async(copied) Axis::ZAxis, Axis::YAxis;
            move_basics, move_basics_async(same) Basics { normal: 1, ..Basics::default() },
                Basics { flag: true, ..Basics::default() };
            move_grid, move_grid_async(same) [[1, 2, 3], [4, 5, 6]], [[7; 3]; 2];
            move_block, move_block_async(same) [1; 40], [2; 40];
            move_full, move_full_async(same) Full::Yes(1.0), Full::No(2);
        }
    }
}

#[test]
fn variable_values_travel_in_all_directions() {
    let node = |name: &str| Node {
        name: String::from(name),
        children: vec![Node::default(); 2],
    };
    let chain = |value| Chain {
        value,
        next: BoundedSeq::default(),
    };
    for endian in ORDERS {
        let orb = MemoryOrb::new(endian);
        let object: VariableRef = orb.activate(Mover);
        check_moves_into! { object;
            move_string, move_string_into, move_string_async(String::as_str) String::from("Grüße"),
                String::from("b");
            move_label, move_label_into, move_label_async(same) bounded("a"), bounded("8 octets");
            move_longs, move_longs_into, move_longs_async(Vec::as_slice) vec![1, 2, 3], vec![4];
            move_texts, move_texts_into, move_texts_async(Vec::as_slice) strings(&["a", "é"]),
                strings(&["", "b", "c"]);
            move_rows, move_rows_into, move_rows_async(Vec::as_slice) vec![vec![1], vec![]], vec![vec![2, 3]];
            move_pairs, move_pairs_into, move_pairs_async(Vec::as_slice) vec![Pair::default(); 2],
                vec![Pair { a: 1, ..Pair::default() }];
            move_few, move_few_into, move_few_async(same) BoundedSeq::try_from(vec![1, 2, 3]).unwrap(),
                BoundedSeq::default();
            move_labels, move_labels_into, move_labels_async(same)
                BoundedSeq::try_from(vec![bounded("x")]).unwrap(), BoundedSeq::default();
            move_words, move_words_into, move_words_async(same) [String::from("a"), String::new()],
                [String::from("b"), String::from("c")];
            move_wall, move_wall_into, move_wall_async(same)
                std::array::from_fn(|n| n.to_string()), std::array::from_fn(|n| (n + 100).to_string());
            move_track, move_track_into, move_track_async(same) track("a"), track("another");
            move_tracks, move_tracks_into, move_tracks_async(Vec::as_slice) vec![track("a"), track("b")],
                vec![track("another")];
            move_one_label, move_one_label_into, move_one_label_async(same)
                OneLabel::Text(String::from("a")), OneLabel::Number(1);
            move_several, move_several_into, move_several_async(same) Several::Text(2, String::from("a")),
                Several::NoMember(9);
            move_only, move_only_into, move_only_async(same) Only::Seen('x', track("a")), Only::A(1);
            move_deep, move_deep_into, move_deep_async(same) Deep::More(vec![Deep::NoMember(0)]),
                Deep::NoMember(3);
            move_node, move_node_into, move_node_async(same) node("a"), node("another");
            move_chain, move_chain_into, move_chain_async(same) chain(1), chain(2);
        }
        let few = BoundedSeq::try_from(strings(&["a", "b"])).unwrap();
        assert_eq!(object.upper_case(&few).unwrap(), ["A", "B"]);
        // A sequence of strings is given as any slice of text.
        assert_eq!(object.move_texts(&["a"], &mut Texts::new()).unwrap().0, ["a"]);
    }
}

#[test]
fn references_travel_in_all_directions() {
    fn as_option<T>(value: &Option<T>) -> Option<&T> {
        value.as_ref()
    }
    for endian in ORDERS {
        let orb = MemoryOrb::new(endian);
        let object: ReferencesRef = orb.activate(Mover);
        let counter: CounterRef = orb.activate(Counting::default());
        let some = || Some(counter.clone());
        let holder = |text: &str| Holder {
            text: String::from(text),
            held: some(),
            any_object: Some(object.as_object().clone()),
        };
        check_moves! { object;
            move_counter, move_counter_async(as_option) some(), None;
            move_object, move_object_async(as_option) Some(object.as_object().clone()), None;
        }
        check_moves_into! { object;
            move_counters, move_counters_into, move_counters_async(Vec::as_slice) vec![some(), None],
                vec![None];
            move_holder, move_holder_into, move_holder_async(same) holder("a"), Holder::default();
            move_holders, move_holders_into, move_holders_async(Vec::as_slice)
                vec![holder("a"), Holder::default()], vec![];
            move_perhaps, move_perhaps_into, move_perhaps_async(same) Perhaps::Held(some()),
                Perhaps::NoMember(false);
            move_counter_pair, move_counter_pair_into, move_counter_pair_async(same) [some(), None],
                [None, some()];
        }
        assert_eq!(object.use_counter(None, 1).unwrap(), -1);
        assert_eq!(object.use_counter(Some(&counter), 2).unwrap(), 2);
        assert_eq!(counter.increase(3).unwrap(), 5);
    }
}

/// References that a servant was given must not stay behind in the lane's memory.
#[test]
fn references_are_dropped_with_the_upcall() {
    let orb = MemoryOrb::new(Endian::NATIVE);
    let object: ReferencesRef = orb.activate(Mover);
    let counter: CounterRef = orb.activate(Counting::default());
    let before = Arc::strong_count(&orb.context().0);
    let holder = || Holder {
        text: String::new(),
        held: Some(counter.clone()),
        any_object: None,
    };
    object
        .move_holders(&[holder(), holder()], &mut vec![holder()])
        .unwrap();
    object
        .move_counters(&[Some(counter.clone())], &mut vec![])
        .unwrap();
    assert_eq!(Arc::strong_count(&orb.context().0), before);
}

#[derive(Default)]
struct Diamond {
    notes: Mutex<Vec<String>>,
    level: AtomicI32,
    right: AtomicI32,
}

impl Top for Diamond {
    fn title(&self) -> Outcome<String> {
        Ok(String::from("diamond"))
    }

    fn depth(&self) -> Outcome<i32> {
        Ok(2)
    }
}

impl Left for Diamond {
    fn turn_left(&self, n: i32) -> Result<i32, left::TurnLeftError> {
        match n {
            0 => Err(Refused {
                reason: String::from("zero"),
                code: n,
            }
            .into()),
            1 => Err(failure().into()),
            n => Ok(n * 2),
        }
    }
}

impl Right for Diamond {
    fn turn_right(&self, n: i32) -> Outcome<()> {
        self.right.fetch_add(n, Ordering::Relaxed);
        if n < 0 { Err(failure()) } else { Ok(()) }
    }
}

impl Bottom for Diamond {
    fn go_down(&self, value: bottom::OwnView<'_>) -> Result<bottom::Own, bottom::GoDownError> {
        match value.text {
            "local" => Err(bottom::Inner { n: 1 }.into()),
            "refused" => Err(Refused::default().into()),
            "empty" => Err(Empty {}.into()),
            "system" => Err(System { code: 4 }.into()),
            "corba" => Err(failure().into()),
            text => Ok(bottom::Own { text: text.repeat(2) }),
        }
    }

    fn level(&self) -> Outcome<i32> {
        Ok(self.level.load(Ordering::Relaxed))
    }

    fn set_level(&self, value: i32) -> Outcome<()> {
        self.level.store(value, Ordering::Relaxed);
        Ok(())
    }

    fn notes(&self) -> Outcome<Texts> {
        Ok(self.notes.lock().unwrap().clone())
    }

    fn set_notes(&self, value: &[&str]) -> Outcome<()> {
        *self.notes.lock().unwrap() = strings(value);
        Ok(())
    }

    fn guarded(&self) -> Result<i32, bottom::GuardedError> {
        Err(Empty {}.into())
    }

    fn limited(&self) -> Result<i16, bottom::LimitedError> {
        Ok(9)
    }

    fn set_limited(&self, value: i16) -> Result<(), bottom::SetLimitedError> {
        if value > 9 {
            Err(Refused {
                reason: String::from("limit"),
                code: 9,
            })?
        }
        Ok(())
    }

    fn fail(&self, kind: &str) -> Result<(), bottom::FailError> {
        if kind == "empty" {
            Err(Empty {})?
        }
        Err(failure())?
    }

    fn returned_and_out(&self, n: i32) -> Outcome<(i32, String, i32)> {
        Ok((n, n.to_string(), n * 2))
    }

    fn with_context(&self, n: i32) -> Outcome<i32> {
        Ok(n)
    }
}

#[test]
fn inherited_operations_reach_the_trait_that_declares_them() {
    let orb = MemoryOrb::new(Endian::Big);
    let object: BottomRef = orb.activate(Diamond::default());
    assert_eq!(object.title().unwrap(), "diamond");
    assert_eq!(object.depth().unwrap(), 2);
    assert_eq!(object.turn_left(21).unwrap(), 42);
    object.turn_right(3).unwrap();

    let left = LeftRef::from(object.clone());
    assert_eq!(left.turn_left(4).unwrap(), 8);
    let top: TopRef = object.clone().into();
    assert_eq!(top.title().unwrap(), "diamond");
    assert_eq!(top, TopRef::from(left));
}

#[test]
fn references_know_their_interfaces() {
    let orb = MemoryOrb::new(Endian::Big);
    let object: BottomRef = orb.activate(Diamond::default());
    assert_eq!(BottomRef::REPOSITORY_ID, "IDL:punctual.test/Features/Bottom:1.0");
    let mut supported = BottomRef::SUPPORTED_IDS.to_vec();
    supported.sort_unstable();
    let ids = ["Bottom", "Left", "Right", "Top"].map(|name| format!("IDL:punctual.test/Features/{name}:1.0"));
    assert_eq!(supported, ids);

    let top = object.narrow::<TopRef>().unwrap().expect("it has this base");
    assert_eq!(top.narrow::<BottomRef>().unwrap().unwrap().depth().unwrap(), 2);
    assert!(object.narrow::<CounterRef>().unwrap().is_none());
    let wrong = object.unchecked::<CounterRef>().increase(1).unwrap_err();
    assert_eq!(
        (wrong.kind, wrong.minor),
        (SystemExceptionKind::BadOperation, Minor::OPERATION_UNKNOWN)
    );
    let nothing = servant::<NothingRef, _>(Silent);
    assert!(nothing.is_a(NothingRef::REPOSITORY_ID) && !nothing.is_a(TopRef::REPOSITORY_ID));
}

struct Silent;

impl Nothing for Silent {}

#[test]
fn exceptions_arrive_as_what_was_raised() {
    let orb = MemoryOrb::new(Endian::Little);
    let object: BottomRef = orb.activate(Diamond::default());
    let refused = Refused {
        reason: String::from("zero"),
        code: 0,
    };
    assert_eq!(object.turn_left(0), Err(left::TurnLeftError::Refused(refused)));
    assert_eq!(object.turn_left(1), Err(left::TurnLeftError::System(failure())));

    let bottom = |text: &str| {
        object.go_down(&bottom::Own {
            text: String::from(text),
        })
    };
    assert_eq!(
        bottom("local"),
        Err(bottom::GoDownError::Inner(bottom::Inner { n: 1 }))
    );
    assert_eq!(
        bottom("refused"),
        Err(bottom::GoDownError::Refused(Refused::default()))
    );
    assert_eq!(bottom("empty"), Err(bottom::GoDownError::Empty(Empty {})));
    // An exception that is called System in IDL.
    assert_eq!(
        bottom("system"),
        Err(bottom::GoDownError::System_(System { code: 4 }))
    );
    assert_eq!(bottom("corba"), Err(bottom::GoDownError::System(failure())));
    assert_eq!(bottom("ab").unwrap().text, "abab");

    assert_eq!(object.fail("empty"), Err(bottom::FailError::Empty(Empty {})));
    let error = object.fail("other").unwrap_err();
    assert_eq!(error, bottom::FailError::System(failure()));
    assert_eq!(error.to_string(), failure().to_string());
    // Its text is the exception's, which therefore is no source of it.
    assert!(std::error::Error::source(&error).is_none());
}

#[test]
fn attributes_are_read_and_written() {
    let orb = MemoryOrb::new(Endian::Little);
    let object: BottomRef = orb.activate(Diamond::default());
    object.set_level(5).unwrap();
    assert_eq!(object.level().unwrap(), 5);
    object.set_notes(&["a", "b"]).unwrap();
    assert_eq!(object.notes().unwrap(), ["a", "b"]);
    let mut notes = strings(&["kept"]);
    object.notes_into(&mut notes).unwrap();
    assert_eq!(notes, ["a", "b"]);
    assert_eq!(object.guarded(), Err(bottom::GuardedError::Empty(Empty {})));
    assert_eq!(object.limited().unwrap(), 9);
    object.set_limited(3).unwrap();
    assert!(matches!(
        object.set_limited(10),
        Err(bottom::SetLimitedError::Refused(Refused { code: 9, .. }))
    ));
}

#[test]
fn fixed_results_beside_variable_ones_come_along() {
    let orb = MemoryOrb::new(Endian::Little);
    let object: BottomRef = orb.activate(Diamond::default());
    assert_eq!(object.returned_and_out(4).unwrap(), (4, String::from("4"), 8));
    let (mut result, mut text, mut twice) = (0, String::from("kept"), 0);
    object
        .returned_and_out_into(6, &mut result, &mut text, &mut twice)
        .unwrap();
    assert_eq!((result, text.as_str(), twice), (6, "6", 12));
}

#[test]
fn an_operation_with_context_has_an_empty_one_in_its_request() {
    let orb = MemoryOrb::new(Endian::Little);
    let object: BottomRef = orb.activate(Diamond::default());
    assert_eq!(object.with_context(5).unwrap(), 5);
    // As a peer sends it that has a value for the name in the clause.
    let mut result = 0_i32;
    let call = object.call::<SystemException>("with_context", |phase| match phase {
        Phase::Arguments(encoder) => (7_i32, ["user", "me"].as_slice()).encode(encoder),
        Phase::Results(decoder) => result.decode_into(decoder),
    });
    assert_eq!((call, result), (Ok(()), 7));
    let without = object.call::<SystemException>("with_context", |phase| match phase {
        Phase::Arguments(encoder) => 7_i32.encode(encoder),
        Phase::Results(_) => Ok(()),
    });
    assert_eq!(without.unwrap_err().kind, SystemExceptionKind::Marshal);
}

#[test]
fn oneway_calls_bring_nothing_back() {
    let orb = MemoryOrb::new(Endian::Little);
    let diamond: RightRef = orb.activate(Diamond::default());
    diamond.turn_right(1).unwrap();
    // Its servant fails, which goes nowhere.
    diamond.turn_right(-1).unwrap();
}

/// A servant that the test keeps a hand on.
#[derive(Clone, Default)]
struct Shared(Arc<Frugal>);

/// Place that [`Shared`] looked at: where the lane's memory is.
#[derive(Default)]
struct Frugal {
    seen: Mutex<Vec<(usize, usize)>>,
    failing: AtomicUsize,
}

impl Cubit for Shared {
    fn cube_void(&self) -> Outcome<()> {
        Ok(())
    }

    fn cube_octet(&self, o: u8) -> Outcome<u8> {
        Ok(o.wrapping_mul(o).wrapping_mul(o))
    }

    fn cube_short(&self, s: i16) -> Outcome<i16> {
        Ok(s * s * s)
    }

    fn cube_long(&self, l: i32) -> Outcome<i32> {
        Ok(l * l * l)
    }

    fn cube_struct(&self, values: &cubit::cubit::Many) -> Outcome<cubit::cubit::Many> {
        let &cubit::cubit::Many { o, l, s } = values;
        Ok(cubit::cubit::Many {
            o: self.cube_octet(o)?,
            l: self.cube_long(l)?,
            s: self.cube_short(s)?,
        })
    }

    fn cube_union(&self, values: &cubit::cubit::Oneof) -> Outcome<cubit::cubit::Oneof> {
        use cubit::cubit::Oneof;
        Ok(match values {
            Oneof::O(o) => Oneof::O(self.cube_octet(*o)?),
            Oneof::S(s) => Oneof::S(self.cube_short(*s)?),
            Oneof::L(l) => Oneof::L(self.cube_long(*l)?),
            Oneof::Cm(many) => Oneof::Cm(self.cube_struct(many)?),
        })
    }

    fn cube_long_sequence(&self, _: &[i32]) -> Outcome<Vec<i32>> {
        panic!("the skeleton calls cube_long_sequence_into")
    }

    fn cube_long_sequence_into(&self, input: &[i32], output: &mut Vec<i32>) -> Outcome<()> {
        assert!(output.is_empty(), "the lane resets what it lends");
        self.0
            .seen
            .lock()
            .unwrap()
            .push((output.as_ptr() as usize, output.capacity()));
        output.extend(input.iter().map(|l| l * l * l));
        if self.0.failing.load(Ordering::Relaxed) > 0 {
            Err(failure())
        } else {
            Ok(())
        }
    }

    fn cube_octet_sequence(&self, input: &[u8]) -> Outcome<Vec<u8>> {
        input.iter().map(|o| self.cube_octet(*o)).collect()
    }

    fn cube_many_sequence(&self, input: &[cubit::cubit::Many]) -> Outcome<Vec<cubit::cubit::Many>> {
        input.iter().map(|many| self.cube_struct(many)).collect()
    }

    fn cube_rti_data(&self, input: cubit::cubit::RtiPacketView<'_>) -> Outcome<cubit::cubit::RtiPacket> {
        Ok(input.to_owned())
    }

    fn ping(&self) -> Outcome<()> {
        Ok(())
    }

    fn cube_oneway(&self) -> Outcome<()> {
        Ok(())
    }

    fn shutdown(&self) -> Outcome<()> {
        Ok(())
    }
}

struct Factory(CubitRef);

impl CubitFactory for Factory {
    fn make_cubit(&self) -> Outcome<Option<CubitRef>> {
        Ok(Some(self.0.clone()))
    }
}

#[test]
fn the_cubit_computes_cubes() {
    use cubit::cubit::{HandleValuePair, Many, MessageUnion, Oneof, RtiObjectUpdateMessageHeader, RtiPacket};
    for endian in ORDERS {
        let orb = MemoryOrb::new(endian);
        let made: CubitRef = orb.activate(Shared::default());
        let factory: CubitFactoryRef = orb.activate(Factory(made));
        let object = factory.make_cubit().unwrap().expect("not nil");
        object.cube_void().unwrap();
        object.ping().unwrap();
        object.cube_oneway().unwrap();
        assert_eq!(object.cube_octet(5).unwrap(), 125);
        assert_eq!(object.cube_short(-3).unwrap(), -27);
        assert_eq!(object.cube_long(3).unwrap(), 27);
        assert_eq!(
            object.cube_struct(&Many { o: 2, l: 3, s: 4 }).unwrap(),
            Many { o: 8, l: 27, s: 64 }
        );
        assert_eq!(object.cube_union(&Oneof::L(2)).unwrap(), Oneof::L(8));
        assert_eq!(object.cube_long_sequence(&[1, 2]).unwrap(), [1, 8]);
        assert_eq!(object.cube_octet_sequence(&[1, 2]).unwrap(), [1, 8]);
        let many = Many { o: 1, l: 1, s: 1 };
        assert_eq!(
            object.cube_many_sequence(std::slice::from_ref(&many)).unwrap(),
            [many]
        );
        let header = RtiObjectUpdateMessageHeader {
            user_tag: String::from("tag"),
            message_payload: vec![HandleValuePair {
                handle: 1,
                data: vec![1, 2, 3],
            }],
            ..Default::default()
        };
        let packet = RtiPacket {
            msgs: vec![MessageUnion::Oumh(header)],
            ..Default::default()
        };
        assert_eq!(object.cube_rti_data(&packet).unwrap(), packet);
        let mut echoed = RtiPacket::default();
        object.cube_rti_data_into(&packet, &mut echoed).unwrap();
        assert_eq!(echoed, packet);
    }
}

#[test]
fn the_lane_lends_the_same_memory_again_also_after_errors() {
    let orb = MemoryOrb::new(Endian::NATIVE);
    let shared = Shared::default();
    let frugal = &shared.0;
    let object: CubitRef = orb.activate(shared.clone());
    let mut output = Vec::new();
    object.cube_long_sequence_into(&[1, 2, 3], &mut output).unwrap();
    assert_eq!(output, [1, 8, 27]);
    object.cube_long_sequence_into(&[1], &mut output).unwrap();
    assert_eq!(output, [1]);
    frugal.failing.store(1, Ordering::Relaxed);
    assert_eq!(object.cube_long_sequence(&[1]), Err(failure()));
    frugal.failing.store(0, Ordering::Relaxed);
    // The request ends too early for its sequence: the skeleton fails before the servant is called.
    let malformed = object
        .call::<SystemException>("cube_long_sequence", |_| Ok(()))
        .unwrap_err();
    assert_eq!(
        (malformed.kind, malformed.completed),
        (SystemExceptionKind::Marshal, Completion::No)
    );
    object.cube_long_sequence_into(&[2], &mut output).unwrap();
    let seen = frugal.seen.lock().unwrap();
    assert_eq!(seen.len(), 4);
    assert!(seen[0].1 == 0 && seen[1].1 >= 3);
    assert!(seen[2..].iter().all(|memory| *memory == seen[1]), "{seen:?}");
}

struct Talker;

impl own_std::Locals for Talker {
    #[allow(clippy::too_many_arguments)]
    fn all(
        &self,
        phase: &str,
        encoder: &str,
        decoder: &mut String,
        servant: i32,
        upcall: i32,
        reply: i32,
        error: i32,
        outcome: i32,
        serve: i32,
    ) -> Outcome<(String, String, own_std::Vec)> {
        decoder.push_str(encoder);
        let sum = servant + upcall + reply + error + outcome + serve;
        Ok((String::from(phase), sum.to_string(), own_std::Vec::default()))
    }

    fn several(
        &self,
        one: own_std::SView<'_>,
        two: &mut own_std::Vec,
    ) -> Result<(own_std::S, own_std::Options), own_std::locals::SeveralError> {
        two.items.push(String::from("item"));
        Ok((one.to_owned(), vec![own_std::Option { some_value: 1 }]))
    }

    fn clone(&self) -> Outcome<String> {
        Ok(String::from("clone"))
    }

    fn drop(&self, n: i32) -> Outcome<i32> {
        Ok(n - 1)
    }

    fn dispatch(&self, n: i32) -> Outcome<i32> {
        Ok(n)
    }

    fn deref(&self) -> Outcome<i32> {
        Ok(3)
    }

    fn call(&self, operation: &str) -> Outcome<String> {
        Ok(String::from(operation))
    }

    fn new(&self) -> Outcome<()> {
        Ok(())
    }

    fn into(&self, n: i32) -> Outcome<i32> {
        Ok(n)
    }
}

#[test]
fn names_that_generated_code_uses_itself_are_free() {
    fn unambiguous<T: Debug>(value: &T) -> String {
        format!("{value:?}")
    }
    let orb = MemoryOrb::new(Endian::NATIVE);
    let object: own_std::LocalsRef = orb.activate(Talker);
    let mut decoder = String::from("d");
    let (returned, result, rt) = object.all("p", "e", &mut decoder, 1, 2, 3, 4, 5, 6).unwrap();
    assert_eq!(
        (
            returned.as_str(),
            decoder.as_str(),
            result.as_str(),
            rt.items.len()
        ),
        ("p", "de", "21", 0)
    );
    let mut v = own_std::Vec::default();
    let (s, options) = object
        .several(
            &own_std::S {
                text: String::from("s"),
            },
            &mut v,
        )
        .unwrap();
    assert_eq!((s.text.as_str(), options.len(), v.items.len()), ("s", 1, 1));
    assert_eq!(object.clone().unwrap(), "clone");
    assert_eq!(object.drop(2).unwrap(), 1);
    assert_eq!(object.dispatch(2).unwrap(), 2);
    assert_eq!(object.deref().unwrap(), 3);
    assert_eq!(object.call("o").unwrap(), "o");
    object.new().unwrap();
    // `into` of the prelude takes its receiver by value and so comes first in the search for a method.
    assert_eq!(own_std::LocalsRef::into(&object, 4).unwrap(), 4);
    assert_eq!(Talker.deref().unwrap(), 3);
    assert!(unambiguous(&object).starts_with("LocalsRef"));
}
