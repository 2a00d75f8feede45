//! Values in circles: what keeps them, that nothing remains of them, and hostile ones.

use std::{cell::Cell, thread_local};

use alloc::{collections::BTreeMap, vec, vec::Vec};
use core::any::{Any, TypeId};

use crate::decoder::STEPS;
use crate::value::{Inherits, Reserved, Shared, ValueGraph, ValueObject, ValueType, circle::Slot};
use crate::{CdrError, CdrErrorKind, Decode, Decoder, Encode, Encoder, Endian, ValueFactory};

thread_local! {
    static ALIVE: Cell<isize> = const { Cell::new(0) };
}

/// Counts the states that contain it.
#[derive(Debug)]
struct Counted;

impl Default for Counted {
    fn default() -> Self {
        ALIVE.set(ALIVE.get() + 1);
        Self
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        ALIVE.set(ALIVE.get() - 1);
    }
}

/// `valuetype Member { long id; Member parent; sequence<Member> others; Room room; };`
#[derive(Debug, Default)]
struct Member {
    id: i32,
    parent: Option<Shared<Member>>,
    others: Vec<Option<Shared<Member>>>,
    room: Option<Shared<Room>>,
    _alive: Counted,
}

/// `valuetype Room { Member owner; };`, which is not circular.
#[derive(Debug, Default)]
struct Room {
    owner: Option<Shared<Member>>,
}

impl Drop for Member {
    /// A value that is being released has no state, and nothing fails.
    fn drop(&mut self) {
        for other in self.others.iter().chain([&self.parent]).flatten() {
            let _ = other.state().map(|state| state.id);
            assert!(other.is_same(other));
        }
    }
}

macro_rules! value {
    ($type:ty, $id:literal, $circular:literal, $factories:expr, [$($member:ident),*]) => {
        impl ValueType for $type {
            const REPOSITORY_ID: &'static str = $id;
            const CIRCULAR: bool = $circular;

            fn factories() -> &'static [ValueFactory] {
                $factories
            }
        }

        impl ValueObject for $type {
            fn ids(&self) -> &'static [&'static str] {
                &[$id]
            }

            fn is_chunked(&self) -> bool {
                false
            }

            fn encode_state(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
                $(self.$member.encode(encoder)?;)*
                Ok(())
            }

            fn part(&self, wanted: TypeId) -> Option<&dyn Any> {
                (wanted == TypeId::of::<Self>()).then_some(self)
            }
        }

        impl<'a> Decode<'a> for $type {
            const MIN_SIZE: usize = 0;

            fn decode(decoder: &mut Decoder<'a>) -> Result<Self, CdrError> {
                let mut new = Self::default();
                $(new.$member = Decode::decode(decoder)?;)*
                Ok(new)
            }
        }
    };
}

macro_rules! factory {
    ($type:ty) => {
        ValueFactory {
            id: <$type as ValueType>::REPOSITORY_ID,
            bases: <$type as ValueType>::BASES,
            decode: |decoder| ValueFactory::decode::<$type>(decoder),
        }
    };
}

static MEMBER: &[ValueFactory] = &[factory!(Member)];
static ROOM: &[ValueFactory] = &[factory!(Room)];

value!(Member, "IDL:M:1.0", true, MEMBER, [id, parent, others, room]);
value!(Room, "IDL:R:1.0", false, ROOM, [owner]);
impl Inherits<Anything> for Member {}

/// Other code for the same `valuetype Case { Drawer drawer; }; valuetype Drawer { Case around; };`
#[derive(Debug, Default)]
struct Case {
    drawer: Option<Shared<Drawer>>,
}

#[derive(Debug, Default)]
struct OtherCase {
    drawer: Option<Shared<Drawer>>,
}

#[derive(Debug, Default)]
struct Drawer {
    around: Option<Shared<OtherCase>>,
}

static CASE: &[ValueFactory] = &[factory!(Case)];
static OTHER_CASE: &[ValueFactory] = &[factory!(OtherCase)];
static DRAWER: &[ValueFactory] = &[factory!(Drawer)];

value!(Case, "IDL:C:1.0", true, CASE, [drawer]);
value!(OtherCase, "IDL:C:1.0", true, OTHER_CASE, [drawer]);
value!(Drawer, "IDL:D:1.0", false, DRAWER, [around]);

/// The abstract base of all.
#[derive(Debug)]
enum Anything {}

impl ValueType for Anything {
    const REPOSITORY_ID: &'static str = "IDL:omg.org/CORBA/ValueBase:1.0";
    const CIRCULAR: bool = true;

    fn factories() -> &'static [ValueFactory] {
        ANYTHING
    }
}

/// `valuetype Tin { ValueBase content; };`, which is not circular.
#[derive(Debug, Default)]
struct Tin {
    content: Option<Shared<Anything>>,
}

/// `valuetype Can { ValueBase content; };`
#[derive(Debug, Default)]
struct Can {
    content: Option<Shared<Anything>>,
}

static TIN: &[ValueFactory] = &[factory!(Tin)];
static CAN: &[ValueFactory] = &[factory!(Can)];

value!(Tin, "IDL:T:1.0", false, TIN, [content]);
value!(Can, "IDL:Can:1.0", true, CAN, [content]);
impl Inherits<Anything> for Tin {}
impl Inherits<Anything> for Can {}

static ANYTHING: &[ValueFactory] = &[factory!(Member), factory!(Tin), factory!(Can)];

type Many = Vec<Option<Shared<Member>>>;

fn encoded<T: Encode>(value: &T) -> Vec<u8> {
    let mut octets = Vec::new();
    value
        .encode(&mut Encoder::new(&mut octets, Endian::Little))
        .unwrap();
    octets
}

fn decoded<'a, T: Decode<'a>>(octets: &'a [u8]) -> Result<T, CdrErrorKind> {
    T::decode(&mut Decoder::new(octets, Endian::Little)).map_err(|error| error.kind)
}

fn received(values: Many) -> Many {
    decoded(&encoded(&values)).unwrap()
}

/// The id of a value, and those of its parent and of the others to which it refers.
type Ids = (i32, Option<i32>, Vec<Option<i32>>);

fn described(member: &Shared<Member>) -> Ids {
    let id = |of: &Option<Shared<Member>>| Some(of.as_ref()?.state().expect("it is kept").id);
    let state = member.state().expect("it is kept");
    (state.id, id(&state.parent), state.others.iter().map(id).collect())
}

/// The values that a value reaches, each through references from one to the next, which keep it.
fn reached(member: &Shared<Member>) -> BTreeMap<i32, Ids> {
    let (mut found, mut open) = (BTreeMap::new(), vec![member.clone()]);
    while let Some(member) = open.pop() {
        let state = member.state().expect("it is kept");
        if found.insert(state.id, described(&member)).is_none() {
            open.extend(state.others.iter().chain([&state.parent]).flatten().cloned());
        }
    }
    found
}

fn other(member: &Shared<Member>, index: usize) -> Shared<Member> {
    member.state().unwrap().others[index].clone().unwrap()
}

fn state(id: i32, parent: Option<Shared<Member>>, others: Many) -> Member {
    let mut new = Member::default();
    (new.id, new.parent, new.others) = (id, parent, others);
    new
}

/// A parent with two children, which refer to it and to each other.
fn family() -> Shared<Member> {
    let mut graph = ValueGraph::default();
    let members: [Reserved<Member>; 3] = core::array::from_fn(|_| graph.reserve());
    let [a, b, c] = [0, 1, 2].map(|index: usize| members[index].shared());
    let links = [(None, [&b, &c]), (Some(&a), [&c, &b]), (Some(&a), [&b, &b])];
    for (id, (member, (parent, others))) in (1..).zip(members.into_iter().zip(links)) {
        let others = others.map(|other| Some(other.clone()));
        graph.set(member, state(id, parent.cloned(), others.to_vec()));
    }
    graph.close(&a)
}

#[test]
fn a_value_that_refers_to_itself_is_released() {
    let octets: &[i32] = &[0x7fff_ff00, 7, -1, -12, 0, 0];
    let octets: Vec<u8> = octets.iter().flat_map(|number| number.to_le_bytes()).collect();
    let one: Option<Shared<Member>> = decoded(&octets).unwrap();
    let one = one.unwrap();
    let same = one.state().unwrap().parent.clone().unwrap();
    assert!(same.is_same(&one) && same == one);
    assert_eq!(encoded(&Some(same.clone())), octets);
    drop(one);
    assert_eq!((same.state().unwrap().id, ALIVE.get()), (7, 1));
    drop(same);
    assert_eq!(ALIVE.get(), 0);
}

#[test]
fn each_value_keeps_all_of_its_circle() {
    for sent in [family(), other(&family(), 0)] {
        let first = received(vec![Some(sent)]).pop().flatten().unwrap();
        assert_eq!(ALIVE.get(), 3 + 3 * isize::from(ALIVE.get() > 3));
        for steps in 0..12 {
            let mut one = first.clone();
            for step in 0..steps {
                let next = other(&one, step % 2);
                one = next;
            }
            let (id, parent, others) = described(&one);
            let expected = match id {
                1 => (None, [2, 3]),
                2 => (Some(1), [3, 2]),
                _ => (Some(1), [2, 2]),
            };
            assert_eq!((parent, others), (expected.0, expected.1.map(Some).to_vec()));
        }
        let (child, all) = (other(&first, 1), ALIVE.get());
        drop(first);
        assert_eq!(ALIVE.get(), all);
        let parent = child
            .state()
            .unwrap()
            .parent
            .clone()
            .map(|parent| described(&parent).0);
        assert_eq!(parent, Some(1));
    }
    assert_eq!(ALIVE.get(), 0);
}

/// References from outside into a circle that is complete, and from a second circle into the first.
#[test]
fn references_into_a_circle_keep_it() {
    let first = family();
    let mut graph = ValueGraph::default();
    let second: Reserved<Member> = graph.reserve();
    let to_second = second.shared();
    let others = vec![Some(other(&first, 0)), Some(to_second.clone())];
    graph.set(second, state(9, None, others));
    let second = graph.close(&to_second);
    let sent = vec![
        Some(first.clone()),
        Some(other(&first, 1)),
        Some(second),
        Some(first),
    ];
    let mut found = received(sent);
    assert_eq!(ALIVE.get(), 4, "those that were sent are released");
    assert!(found[0] == found[3]);
    let third = found.remove(1).unwrap();
    assert!(third.is_same(&other(found[0].as_ref().unwrap(), 1)));
    let second = found.remove(1).unwrap();
    drop(found);
    assert_eq!(described(&third), (3, Some(1), vec![Some(2), Some(2)]));
    drop(third);
    assert_eq!(described(&second), (9, None, vec![Some(2), Some(9)]));
    drop(second);
    assert_eq!(ALIVE.get(), 0);
}

/// A member of another type that cannot close circles may lie in one.
#[test]
fn values_of_other_types_are_inside_of_circles() {
    // A member with a room that it owns.
    let octets: &[i32] = &[0x7fff_ff00, 7, 0, 0, 0x7fff_ff00, -1, -24];
    let octets: Vec<u8> = octets.iter().flat_map(|number| number.to_le_bytes()).collect();
    let owner: Option<Shared<Member>> = decoded(&octets).unwrap();
    let room = owner.unwrap().state().unwrap().room.clone().unwrap();
    assert_eq!(ALIVE.get(), 1);
    assert_eq!(described(room.owner.as_ref().unwrap()).0, 7);
    drop(room);
    assert_eq!(ALIVE.get(), 0);
    // A room whose owner is in it: its own type cannot close the circle.
    let octets: &[i32] = &[0x7fff_ff00, 0x7fff_ff00, 7, 0, 0, -1, -24];
    let octets: Vec<u8> = octets.iter().flat_map(|number| number.to_le_bytes()).collect();
    let refused = decoded::<Option<Shared<Room>>>(&octets).unwrap_err();
    assert_eq!((refused, ALIVE.get()), (CdrErrorKind::ValueCyclic, 0));
    // A member whose parent is the room around it.
    let octets: &[i32] = &[0x7fff_ff00, 0x7fff_ff00, 7, -1, -16, 0, 0];
    let octets: Vec<u8> = octets.iter().flat_map(|number| number.to_le_bytes()).collect();
    let refused = decoded::<Option<Shared<Room>>>(&octets).unwrap_err();
    assert_eq!((refused, ALIVE.get()), (CdrErrorKind::ValueTypeUnknown, 0));
}

#[test]
fn a_circle_closes_at_a_value_of_the_same_code_only() {
    let octets: &[i32] = &[0x7fff_ff00, 0x7fff_ff00, -1, -12];
    let octets: Vec<u8> = octets.iter().flat_map(|number| number.to_le_bytes()).collect();
    let same = decoded::<Option<Shared<OtherCase>>>(&octets).unwrap().unwrap();
    assert!(same.state().unwrap().drawer.as_ref().unwrap().around.as_ref() == Some(&same));
    let refused = decoded::<Option<Shared<Case>>>(&octets).unwrap_err();
    assert_eq!(refused, CdrErrorKind::ValueTypeUnknown);
}

#[test]
fn references_of_abstract_types_find_the_state() {
    let first = received(vec![Some(family())]).pop().flatten().unwrap();
    let any: Shared<Anything> = first.state().unwrap().others[0].clone().unwrap().widen();
    assert_eq!(any.repository_id(), "IDL:M:1.0");
    drop(first);
    assert_eq!(described(&any.narrow().unwrap()).0, 2);
    assert!(any.narrow::<Room>().is_none());
    drop(any);
    assert_eq!(ALIVE.get(), 0);
}

/// A reader of a type that is not circular does not expect to meet its values again.
#[test]
fn references_of_abstract_types_close_circles_at_circular_values_only() {
    let octets: Vec<u8> = [0x7fff_ff00, -1, -8_i32]
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect();
    let refused = decoded::<Option<Shared<Tin>>>(&octets).unwrap_err();
    assert_eq!(refused, CdrErrorKind::ValueCyclic);
    let can: Shared<Can> = decoded::<Option<_>>(&octets).unwrap().unwrap();
    let same = can.state().unwrap().content.clone().unwrap();
    assert!(same.narrow::<Can>().unwrap().is_same(&can));
    // Through a value of a type that is not circular, from both sides.
    let mut graph = ValueGraph::default();
    let can = graph.reserve::<Can>();
    let outer = can.shared();
    let tin = graph.add(Tin {
        content: Some(outer.clone().widen()),
    });
    let content = Some(tin.clone().widen());
    graph.set(can, Can { content });
    let outer = graph.close(&outer);
    let again: Shared<Can> = decoded::<Option<_>>(&encoded(&Some(outer))).unwrap().unwrap();
    let inner: Shared<Tin> = again.state().unwrap().content.as_ref().unwrap().narrow().unwrap();
    assert!(inner.content.as_ref().unwrap().is_same(&again));
    let refused = decoded::<Option<Shared<Tin>>>(&encoded(&Some(inner))).unwrap_err();
    assert_eq!(refused, CdrErrorKind::ValueCyclic);
}

#[test]
fn nothing_remains_of_a_circle_with_an_error() {
    let octets = encoded(&vec![Some(family())]);
    for length in 0..octets.len() {
        decoded::<Many>(&octets[..length]).unwrap_err();
        assert_eq!(ALIVE.get(), 0, "{length}");
    }
}

/// Any graph: each value that is sent arrives with all that it reaches, and is sent again as the same
/// octets; nothing of it remains.
#[test]
fn any_graph_arrives() {
    let mut random = 1_u32;
    let mut next = |below: usize| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (random >> 16) as usize % below
    };
    for round in 0..500 {
        let mut graph = ValueGraph::default();
        let members: Vec<Reserved<Member>> = (0..1 + round % 9).map(|_| graph.reserve()).collect();
        let shared: Vec<_> = members.iter().map(Reserved::shared).collect();
        for (id, member) in members.into_iter().enumerate() {
            let mut one = || shared.get(next(shared.len() + 2)).cloned();
            graph.set(member, state(id as i32, one(), vec![one(), one()]));
        }
        let first = graph.close(&shared[0]);
        let sent: Many = shared.iter().map(|one| Some(one.clone())).collect();
        drop(first);
        let octets = encoded(&sent);
        let mut found: Many = decoded(&octets).unwrap();
        let expected: Vec<_> = sent.iter().flatten().map(reached).collect();
        drop(sent);
        drop(shared);
        assert_eq!(encoded(&found), octets);
        while !found.is_empty() {
            let one = found.swap_remove(next(found.len())).unwrap();
            let all = reached(&one);
            assert_eq!(all, expected[described(&one).0 as usize]);
            if found.is_empty() {
                assert_eq!(
                    ALIVE.get(),
                    all.len() as isize,
                    "it keeps what it reaches, and nothing else"
                );
            }
        }
        assert_eq!(ALIVE.get(), 0, "round {round}");
    }
}

/// Each circle refers to the inner value of the one before, and keeps all of it.
#[test]
fn circles_that_refer_to_earlier_ones_are_nested() {
    let circles = |count| {
        let (mut all, mut inner) = (Vec::new(), None);
        for id in 0..count {
            let mut graph = ValueGraph::default();
            let (head, child) = (graph.reserve(), graph.reserve());
            let (to_head, to_child): (Shared<Member>, Shared<Member>) = (head.shared(), child.shared());
            graph.set(child, state(id, Some(to_head.clone()), vec![]));
            graph.set(head, state(id, Some(to_child.clone()), vec![inner]));
            all.push(Some(graph.close(&to_head)));
            inner = Some(to_child.clone());
        }
        encoded(&all)
    };
    assert_eq!(decoded::<Many>(&circles(40)).unwrap().len(), 40);
    assert_eq!(
        decoded::<Many>(&circles(80)).unwrap_err(),
        CdrErrorKind::NestingTooDeep
    );
    assert_eq!(ALIVE.get(), 0);
}

/// The way from a value to what keeps it is as long as the nesting is deep for the first reference only.
#[test]
fn references_to_values_in_nested_circles_take_few_steps() {
    const LEVELS: usize = 40;
    const LEAVES: usize = 500;
    let mut graph = ValueGraph::default();
    let members: Vec<Reserved<Member>> = (0..LEVELS + LEAVES).map(|_| graph.reserve()).collect();
    let shared: Vec<_> = members.iter().map(|one| Some(one.shared())).collect();
    for (id, member) in members.into_iter().enumerate() {
        let parent = shared[id.min(LEVELS).saturating_sub(1)].clone();
        let others = match id {
            id if id + 1 < LEVELS => shared[id + 1..id + 2].to_vec(),
            id if id < LEVELS => shared[LEVELS..].to_vec(),
            _ => Vec::new(),
        };
        graph.set(member, state(id as i32, parent, others));
    }
    let first = Some(graph.close(shared[0].as_ref().unwrap()));
    let leaves = || shared[LEVELS..].iter().cloned();
    let octets = encoded(
        &core::iter::once(first)
            .chain(leaves())
            .chain(leaves())
            .collect::<Many>(),
    );
    let before = STEPS.get();
    let found: Many = decoded(&octets).unwrap();
    let steps = STEPS.get() - before;
    assert!((LEVELS..=LEVELS + 2 * 2 * LEAVES).contains(&steps), "{steps}");
    assert_eq!(found.len(), 1 + 2 * LEAVES);
    let leaf = found[LEAVES].clone().unwrap();
    drop(found);
    assert_eq!(reached(&leaf).len(), LEVELS + LEAVES);
}

/// Values that are added with their states are in the circle, whatever their types.
#[test]
fn values_that_are_added_keep_their_circle() {
    for begins_with_room in [false, true] {
        let mut graph = ValueGraph::default();
        let owner: Reserved<Member> = graph.reserve();
        let to_owner = owner.shared();
        let room = graph.add(Room {
            owner: Some(to_owner.clone()),
        });
        let guest = graph.add(state(8, Some(to_owner.clone()), vec![]));
        let mut new = state(7, None, vec![Some(guest.clone()), Some(guest)]);
        new.room = Some(room.clone());
        graph.set(owner, new);
        let room = match begins_with_room {
            true => graph.close(&room),
            false => graph.close(&to_owner).state().unwrap().room.clone().unwrap(),
        };
        drop(to_owner);
        assert_eq!(ALIVE.get(), 2);
        let owner = room.owner.clone().unwrap();
        drop(room);
        assert_eq!(described(&owner), (7, None, vec![Some(8), Some(8)]));
        let guest = other(&owner, 0);
        assert!(guest.is_same(&other(&owner, 1)));
        let octets = encoded(&Some(owner));
        assert_eq!(described(&guest), (8, Some(7), vec![]));
        drop(guest);
        assert_eq!(ALIVE.get(), 0);
        let again = decoded::<Option<Shared<Member>>>(&octets).unwrap();
        assert_eq!(encoded(&again), octets);
    }
    assert_eq!(ALIVE.get(), 0);
}

/// It would keep nothing of the graph: the graph's owner learns of it at once, however far in it is.
#[test]
#[should_panic = "a value of IDL:R:1.0 refers into the graph and is no part of it: make it with"]
fn values_outside_of_a_graph_must_not_refer_into_it() {
    let mut graph = ValueGraph::default();
    let owner: Reserved<Member> = graph.reserve();
    let to_owner = owner.shared();
    let room = Shared::new(Room {
        owner: Some(to_owner.clone()),
    });
    let mut outer = state(8, None, vec![]);
    outer.room = Some(room);
    graph.set(owner, state(7, Some(Shared::new(outer)), vec![]));
    graph.close(&to_owner);
}

#[test]
fn values_outside_of_a_graph_may_refer_to_others() {
    let (guest, family) = (Some(Shared::new(state(9, None, vec![]))), Some(family()));
    let mut graph = ValueGraph::default();
    let owner: Reserved<Member> = graph.reserve();
    let to_owner = owner.shared();
    let parent = Shared::new(state(8, guest.clone(), vec![guest.clone(), family]));
    graph.set(owner, state(7, Some(parent), vec![guest, Some(to_owner.clone())]));
    let owner = graph.close(&to_owner);
    assert_eq!(described(&owner), (7, Some(8), vec![Some(9), Some(7)]));
}

#[test]
fn what_keeps_nothing_is_not_sent() {
    let mut graph = ValueGraph::default();
    let one: Reserved<Member> = graph.reserve();
    let weak = one.shared();
    graph.set(one, Member::default());
    drop(graph.close(&weak));
    assert!(weak.state().is_none());
    let mut octets = Vec::new();
    let error = Some(weak).encode(&mut Encoder::new(&mut octets, Endian::Big));
    assert_eq!(error.unwrap_err().kind, CdrErrorKind::ValueReleased);
}

#[test]
#[should_panic = "of another graph: set it there"]
fn a_state_is_set_in_the_graph_of_its_value() {
    let (mut one, mut other) = (ValueGraph::default(), ValueGraph::default());
    let value: Reserved<Member> = one.reserve();
    drop(other.reserve::<Member>());
    other.set(value, Member::default());
}

/// References to closed graphs and values without one are refused, too: they would not keep this graph.
#[test]
#[should_panic = "of another graph: close its own one"]
fn a_graph_is_closed_with_one_of_its_values() {
    let mut graph = ValueGraph::default();
    let one: Reserved<Member> = graph.reserve();
    let shared = one.shared();
    graph.set(one, Member::default());
    let kept = graph.close(&shared);
    ValueGraph::default().close(&kept);
}

/// Slot and link of a reference that closes a circle count, besides the value.
#[test]
fn references_that_close_circles_count_as_memory() {
    let needed = |parent: &[i32]| {
        let octets = [&[0x7fff_ff00, 7], parent, &[0, 0]].concat();
        let octets: Vec<u8> = octets.iter().flat_map(|number| number.to_le_bytes()).collect();
        let fits = |limit: &usize| {
            let mut decoder = Decoder::new(&octets, Endian::Little).with_decoded_limit(*limit);
            Option::<Shared<Member>>::decode(&mut decoder).is_ok()
        };
        (0..10_000).find(fits).unwrap()
    };
    let (circle, null) = (needed(&[-1, -12]), needed(&[0]));
    assert!(
        circle >= null + size_of::<Slot>() + 64,
        "{circle} and {null} octets"
    );
}

#[test]
#[should_panic = "has no state"]
fn each_value_of_a_graph_needs_a_state() {
    let mut graph = ValueGraph::default();
    let one: Reserved<Member> = graph.reserve();
    let shared = one.shared();
    graph.close(&shared);
}
