//! `ValueBase` in typedefs, members and elements.

use punctual_cdr::{Endian, Shared};
use punctual_generated_tests::{
    MemoryOrb,
    value_base::{
        ValueBase,
        bases::{AllLabelled, Bag, BagRef, Either, First, Labelled, Number, Pair, Several},
    },
};
use punctual_types::SystemException;

struct Reversing;

impl Bag for Reversing {
    fn fill(
        &self,
        values: &[Option<Shared<ValueBase>>],
        two: &mut Pair,
    ) -> Result<(Several, AllLabelled), SystemException> {
        two.reverse();
        let labelled = values.iter().enumerate().map(|(position, value)| Labelled {
            label: position.to_string(),
            value: value.clone(),
        });
        Ok((values.iter().rev().cloned().collect(), labelled.collect()))
    }

    fn choose(&self, chosen: &Either) -> Result<Either, SystemException> {
        Ok(chosen.clone())
    }
}

fn number(n: i32) -> Option<Shared<ValueBase>> {
    Some(Shared::new(Number { n, next: None }).widen())
}

fn as_number(value: &Option<Shared<ValueBase>>) -> i32 {
    value
        .clone()
        .and_then(|value| value.narrow::<Number>())
        .map_or(-1, |number| number.n)
}

#[test]
fn values_of_any_type_travel_in_members_and_elements() {
    for endian in [Endian::Big, Endian::Little] {
        let orb = MemoryOrb::new(endian);
        let object: BagRef = orb.activate(Reversing);
        let mut pair: Pair = [number(1), None];
        let (reversed, labelled) = object.fill(&[number(2), None, number(3)], &mut pair).unwrap();
        assert_eq!(reversed.iter().map(as_number).collect::<Vec<_>>(), [3, -1, 2]);
        assert_eq!(pair.each_ref().map(as_number), [-1, 1]);
        assert_eq!(
            (labelled[2].label.as_str(), as_number(&labelled[2].value)),
            ("2", 3)
        );
        let Either::Value(value) = object.choose(&Either::Value(number(7))).unwrap() else {
            panic!("not a value");
        };
        assert_eq!(as_number(&value), 7);
        let first = Either::Other(First { a: 5 });
        assert_eq!(object.choose(&first).unwrap(), first);
    }
}
