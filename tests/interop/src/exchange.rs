//! Values that carry their type, are shared, or are wide: a servant of `Dynamics::Exchange`, and a client
//! that checks such a server.

mod circles;
mod undeclared;

use std::{fmt::Debug, thread, time::Duration};

use punctual::{
    Limits, Orb, OrbBuilder, SystemException, WChar, WString,
    any::{Any, AnyView, TypeCode, Typed},
    value::{Abstract, Shared},
};

use self::{
    circles::{any_circular, circles, references_into_a_circle},
    undeclared::{
        abstract_values, any_derived, any_figure, figure_references, figure_values, type_codes, value_base,
    },
};
use crate::{
    dynamics::{
        Amount, Board, Choice, Colour, Exchange, ExchangeRef, Family, FigureRef, Label, Loaded, Node, Point,
        Reading, Refused, Special, Titled, Tree,
    },
    generated_dynamics::ValueBase,
};

type OneFigure = Option<Abstract<FigureRef>>;

/// The servant.
pub struct ExchangeServant {
    orb: Orb,
}

macro_rules! rotate {
    ($name:ident, $given:ty, $owned:ty, $into:expr) => {
        fn $name(&self, a: $given, b: &mut $owned, c: $given) -> Result<($owned, $owned), SystemException> {
            let into: fn($given) -> $owned = $into;
            let d = std::mem::replace(b, into(c));
            Ok((into(a), d))
        }
    };
}

impl Exchange for ExchangeServant {
    fn rotate_any(&self, a: AnyView<'_>, b: &mut Any, c: AnyView<'_>) -> Result<(Any, Any), SystemException> {
        let d = std::mem::replace(b, c.to_owned());
        Ok((a.to_owned(), d))
    }

    rotate!(rotate_wchar, WChar, WChar, |value| value);
    rotate!(rotate_wstring, &WString, WString, Clone::clone);
    rotate!(rotate_amount, Amount, Amount, |value| value);
    rotate!(rotate_loaded, &Loaded, Loaded, Clone::clone);
    rotate!(
        rotate_label,
        Option<Shared<Label>>,
        Option<Shared<Label>>,
        |value| value
    );
    rotate!(rotate_node, Option<Shared<Node>>, Option<Shared<Node>>, |value| {
        value
    });
    rotate!(rotate_family, &Family, Family, Clone::clone);
    rotate!(rotate_figure, OneFigure, OneFigure, |value| value);
    rotate!(rotate_type, &TypeCode, TypeCode, Clone::clone);
    rotate!(
        rotate_reading,
        Option<Shared<Reading>>,
        Option<Shared<Reading>>,
        |value| value
    );

    fn echo_titled(&self, value: Option<Shared<Titled>>) -> Result<Option<Shared<Titled>>, SystemException> {
        Ok(value)
    }

    fn echo_base(
        &self,
        value: Option<Shared<ValueBase>>,
    ) -> Result<Option<Shared<ValueBase>>, SystemException> {
        Ok(value)
    }

    fn property(&self, name: &str) -> Result<String, SystemException> {
        let properties = self.orb.current().context_properties();
        Ok(properties.get(name).unwrap_or_default().to_owned())
    }

    fn shutdown(&self) -> Result<(), SystemException> {
        self.orb.shutdown();
        Ok(())
    }
}

/// A running server of ours. Ends when dropped.
pub struct ExchangeServer {
    orb: Orb,
    /// The object.
    pub exchange: ExchangeRef,
    running: Option<thread::JoinHandle<()>>,
}

impl ExchangeServer {
    /// Starts one on a free port of the loopback interface.
    ///
    /// # Panics
    /// If that is impossible.
    pub fn start() -> Self {
        Self::of(Orb::builder())
    }

    /// Like [`Self::start`], with an ORB that has something of its own.
    ///
    /// # Panics
    /// If that is impossible.
    pub fn of(builder: OrbBuilder) -> Self {
        let orb = orb(builder);
        let exchange = orb.root_poa().activate(ExchangeServant { orb: orb.clone() });
        let runner = orb.clone();
        Self {
            exchange: exchange.expect("an object in the root adapter"),
            orb,
            running: Some(thread::spawn(move || runner.run())),
        }
    }
}

impl Drop for ExchangeServer {
    fn drop(&mut self) {
        self.orb.shutdown();
        self.running.take().map(thread::JoinHandle::join);
    }
}

fn orb(builder: OrbBuilder) -> Orb {
    // Values of it are in an `any` whose type code describes an abstract interface.
    let builder = builder.listen("iiop://127.0.0.1:0").value_type::<Board>();
    let builder = builder
        .call_timeout(Duration::from_secs(20))
        .limits(Limits::default());
    builder
        .build()
        .expect("an ORB on a free port of the loopback interface")
}

/// Checks a server, but for what is skipped; returns the number of checks that passed.
///
/// # Panics
/// If one fails.
pub fn check(reference: &str, skipped: &[(&str, &str)]) -> usize {
    let orb = orb(Orb::builder());
    let exchange: ExchangeRef = orb.resolve(reference).expect("the server's reference");
    let mut failed = Vec::new();
    let mut passed = 0;
    for (name, check) in CHECKS {
        if skipped.iter().any(|(skipped, _)| skipped == name) {
            continue;
        }
        match check(&exchange) {
            Ok(()) => passed += 1,
            Err(failure) => failed.push(format!("{name}: {failure}")),
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    passed
}

type Check = fn(&ExchangeRef) -> Result<(), String>;

/// All checks, by name.
const CHECKS: &[(&str, Check)] = &[
    ("any_basic", any_basic),
    ("any_struct", |exchange| {
        anys(exchange, [&POINT, &Point::default(), &POINT])
    }),
    ("any_sequence", |exchange| {
        anys(exchange, [&vec![POINT; 3], &Vec::new(), &vec![POINT]])
    }),
    ("any_union", any_union),
    ("any_enum", |exchange| {
        anys(exchange, [&Colour::Red, &Colour::Green, &Colour::Blue])
    }),
    ("any_recursive", |exchange| {
        anys(exchange, [&tree(3), &tree(0), &tree(1)])
    }),
    ("any_exception", any_exception),
    ("any_nested", any_nested),
    ("any_wide", |exchange| {
        anys::<WString>(exchange, [&"größer".into(), &"".into(), &"€".into()])
    }),
    ("any_fixed", |exchange| {
        anys(
            exchange,
            [&amount("123456.78"), &amount("-100000.01"), &amount("999999.99")],
        )
    }),
    ("any_empty", |exchange| {
        rotated(
            exchange,
            ExchangeRef::rotate_any,
            [&Any::default(), &any(&1), &Any::default()],
        )
    }),
    ("any_value", any_value),
    ("any_boxed", any_boxed),
    ("wchar", wchar),
    ("wstring", wstring),
    ("fixed", fixed),
    ("short_fixed", short_fixed),
    ("loaded", loaded),
    ("any_derived", any_derived),
    ("any_figure", any_figure),
    ("any_circular", any_circular),
    ("type_codes", type_codes),
    ("figure_values", figure_values),
    ("figure_references", figure_references),
    ("abstract_values", abstract_values),
    ("value_base", value_base),
    ("boxed", boxed),
    ("node", node),
    ("truncatable", truncatable),
    ("truncatable_with_null", truncatable_with_null),
    ("truncatable_in_truncatable", truncatable_in_truncatable),
    ("sharing", sharing),
    ("circles", circles),
    ("references_into_a_circle", references_into_a_circle),
];

const POINT: Point = Point { x: -7, y: 0.5 };

/// A call of a `rotate_x`.
type Rotate<T> = fn(&ExchangeRef, &T, &mut T, &T) -> Result<(T, T), SystemException>;

fn rotated<T: Clone + Debug + PartialEq>(
    exchange: &ExchangeRef,
    rotate: Rotate<T>,
    [a, b, c]: [&T; 3],
) -> Result<(), String> {
    let mut inout = b.clone();
    let (result, d) = rotate(exchange, a, &mut inout, c).map_err(|error| error.to_string())?;
    let (found, expected) = ((&result, &inout, &d), (a, c, b));
    match found == expected {
        true => Ok(()),
        false => Err(format!("{found:?}, not {expected:?}")),
    }
}

fn any(value: &(impl Typed + punctual::value::Encode)) -> Any {
    Any::new(value).expect("a value that can be sent")
}

fn anys<T: Typed + punctual::value::Encode>(exchange: &ExchangeRef, values: [&T; 3]) -> Result<(), String> {
    let [a, b, c] = values.map(any);
    rotated(exchange, ExchangeRef::rotate_any, [&a, &b, &c])
}

fn any_basic(exchange: &ExchangeRef) -> Result<(), String> {
    anys(exchange, [&true, &false, &true])?;
    anys(exchange, [&-3_i16, &i16::MAX, &0])?;
    anys(exchange, [&u32::MAX, &0, &7])?;
    anys(exchange, [&i64::MIN, &0, &7])?;
    anys(exchange, [&0.25_f32, &f32::MAX, &0.0])?;
    anys(exchange, [&0.25_f64, &f64::MIN, &-1.0])?;
    anys(exchange, [&200_u8, &0, &7])?;
    anys(exchange, [&'a', &'~', &' '])?;
    anys(
        exchange,
        [&String::from("one"), &String::new(), &String::from("three")],
    )
}

fn any_union(exchange: &ExchangeRef) -> Result<(), String> {
    let values = [
        Choice::Number(-9),
        Choice::Text("t".into()),
        Choice::Place(Colour::Blue, POINT),
    ];
    anys(exchange, values.each_ref())
}

fn tree(depth: usize) -> Tree {
    Tree {
        text: format!("depth {depth}"),
        children: (0..depth).map(tree).collect(),
    }
}

fn any_exception(exchange: &ExchangeRef) -> Result<(), String> {
    let refused = |code| Refused {
        reason: "why".into(),
        code,
    };
    anys(exchange, [&refused(1), &refused(2), &refused(3)])
}

fn any_nested(exchange: &ExchangeRef) -> Result<(), String> {
    let nested = any(&any(&any(&tree(2))));
    let mixed = any(&vec![any(&POINT), any(&7_i16), any(&String::from("x"))]);
    rotated(
        exchange,
        ExchangeRef::rotate_any,
        [&nested, &mixed, &any(&any(&1))],
    )
}

fn any_value(exchange: &ExchangeRef) -> Result<(), String> {
    let mut inout = any(&Some(chain(3)));
    let (result, d) = exchange
        .rotate_any(&any(&Some(chain(1))), &mut inout, &any(&None::<Shared<Node>>))
        .map_err(|error| error.to_string())?;
    for (any, length) in [(result, 1), (d, 3)] {
        let node = any.get().map_err(|error| error.to_string())?;
        if described(&node) != described(&Some(chain(length))) {
            return Err(described(&node));
        }
    }
    match inout.get::<Option<Shared<Node>>>() {
        Ok(None) => Ok(()),
        other => Err(format!("{other:?}, not null")),
    }
}

fn any_boxed(exchange: &ExchangeRef) -> Result<(), String> {
    let label = |text: &str| any(&Some(Shared::new(Label(text.into()))));
    let mut inout = label("");
    let (result, d) = exchange
        .rotate_any(&label("a"), &mut inout, &label("c"))
        .map_err(|error| error.to_string())?;
    // A value may be sent with its repository id or without: the octets differ.
    for (any, text) in [(result, "a"), (inout, "c"), (d, "")] {
        let label: Option<Shared<Label>> = any.get().map_err(|error| error.to_string())?;
        if label.as_ref().map(|label| &label.0[..]) != Some(text) {
            return Err(format!("{label:?}, not {text:?}"));
        }
    }
    Ok(())
}

fn wchar(exchange: &ExchangeRef) -> Result<(), String> {
    let rotate: Rotate<WChar> = |exchange, a, b, c| exchange.rotate_wchar(*a, b, *c);
    rotated(exchange, rotate, [&WChar('a'), &WChar('€'), &WChar('ö')])
}

fn wstring(exchange: &ExchangeRef) -> Result<(), String> {
    rotated(
        exchange,
        ExchangeRef::rotate_wstring,
        [&"größer".into(), &"".into(), &"a€\u{ffee}".into()],
    )?;
    rotated(
        exchange,
        ExchangeRef::rotate_wstring,
        [&"💧".into(), &"x".repeat(5000).into(), &"".into()],
    )
}

fn amount(text: &str) -> Amount {
    text.parse().expect("an amount")
}

const ROTATE_AMOUNT: Rotate<Amount> = |exchange, a, b, c| exchange.rotate_amount(*a, b, *c);

fn fixed(exchange: &ExchangeRef) -> Result<(), String> {
    let values = ["123456.78", "-999999.99", "100000.01"].map(amount);
    rotated(exchange, ROTATE_AMOUNT, values.each_ref())
}

fn short_fixed(exchange: &ExchangeRef) -> Result<(), String> {
    let values = ["0", "-1", "0.01"].map(amount);
    rotated(exchange, ROTATE_AMOUNT, values.each_ref())
}

fn loaded(exchange: &ExchangeRef) -> Result<(), String> {
    let loaded = |words: &str, last| Loaded {
        words: words.into(),
        sign: WChar('§'),
        few: WString::new("größer").expect("six characters"),
        total: amount("-765432.10"),
        more: any(&tree(1)),
        last,
    };
    rotated(
        exchange,
        ExchangeRef::rotate_loaded,
        [&loaded("ä", 1), &loaded("", 2), &loaded("xyz", 3)],
    )
}

fn chain(length: i32) -> Shared<Node> {
    let next = (length > 1).then(|| chain(length - 1));
    Shared::new(Node {
        id: length,
        text: format!("node {length}"),
        next,
    })
}

fn next(node: &Shared<Node>) -> Option<Shared<Node>> {
    node.state()?.next.clone()
}

/// The values behind references: two of them are equal only if they are one.
fn described(node: &Option<Shared<Node>>) -> String {
    let Some(node) = node else {
        return "null".into();
    };
    let special = node.narrow::<Special>().map(|special| {
        let special = special.state().expect("no circle");
        let tag = special.tag.as_ref().map(|tag| tag.0.clone());
        format!("{} {tag:?}", special.weight)
    });
    let node = node.state().expect("no circle");
    format!(
        "{} {:?} {special:?} > {}",
        node.id,
        node.text,
        described(&node.next)
    )
}

fn nodes(exchange: &ExchangeRef, [a, b, c]: [Option<Shared<Node>>; 3]) -> Result<(), String> {
    let mut inout = b.clone();
    let (result, d) = exchange
        .rotate_node(a.as_ref(), &mut inout, c.as_ref())
        .map_err(|error| error.to_string())?;
    let found = [&result, &inout, &d].map(described);
    let expected = [&a, &c, &b].map(described);
    match found == expected {
        true => Ok(()),
        false => Err(format!("{found:?}, not {expected:?}")),
    }
}

fn boxed(exchange: &ExchangeRef) -> Result<(), String> {
    let label = |text: &str| Shared::new(Label(text.into()));
    let mut inout = Some(label("b"));
    let (result, d) = exchange
        .rotate_label(Some(&label("a")), &mut inout, None)
        .map_err(|error| error.to_string())?;
    let text = |label: Option<Shared<Label>>| label.map(|label| label.0.clone());
    let found = [result, inout, d].map(text);
    match found == [Some("a".into()), None, Some("b".into())] {
        true => Ok(()),
        false => Err(format!("{found:?}")),
    }
}

fn node(exchange: &ExchangeRef) -> Result<(), String> {
    nodes(exchange, [Some(chain(1)), Some(chain(5)), None])?;
    nodes(exchange, [None, None, Some(chain(2))])
}

fn special(id: i32, tag: Option<&str>, next: Option<Shared<Node>>) -> Shared<Node> {
    let special = Special {
        base: Node {
            id,
            text: "special".into(),
            next,
        },
        weight: 0.25,
        tag: tag.map(|tag| Shared::new(Label(tag.into()))),
    };
    Shared::new(special).widen()
}

fn truncatable(exchange: &ExchangeRef) -> Result<(), String> {
    let values = [1, 2, 3].map(|id| Some(special(id, Some("red"), None)));
    nodes(exchange, values)
}

fn truncatable_with_null(exchange: &ExchangeRef) -> Result<(), String> {
    nodes(exchange, [Some(special(1, None, None)), None, Some(chain(1))])
}

fn truncatable_in_truncatable(exchange: &ExchangeRef) -> Result<(), String> {
    let inner = special(2, Some("inner"), Some(chain(2)));
    nodes(
        exchange,
        [Some(special(3, Some("outer"), Some(inner))), None, None],
    )
}

fn sharing(exchange: &ExchangeRef) -> Result<(), String> {
    let common = chain(2);
    let family = |last| Family {
        oldest: Some(common.clone()),
        others: vec![
            Some(common.clone()),
            None,
            next(&common),
            Some(special(9, Some("t"), Some(common.clone()))),
        ],
        last,
    };
    let mut inout = family(2);
    let (result, _) = exchange
        .rotate_family(&family(1), &mut inout, &family(3))
        .map_err(|error| error.to_string())?;
    for (family, last) in [(&result, 1), (&inout, 3)] {
        let oldest = family.oldest.as_ref().ok_or("no value")?;
        let [same, none, next, special] = &family.others[..] else {
            return Err(format!("{family:?}"));
        };
        let behind = special.as_ref().and_then(self::next);
        let is_shared = *same == family.oldest && *next == self::next(oldest) && behind == family.oldest;
        if !is_shared || none.is_some() || family.last != last {
            return Err(format!("what was one value is several: {family:?}"));
        }
    }
    Ok(())
}
