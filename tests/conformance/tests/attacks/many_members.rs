//! Valid calls with structs, unions, exceptions and values of many small members, on small stacks.

use punctual::{Orb, Priority, SystemException, any::Any, rt::Skeleton};
use punctual_cdr::Shared;
use punctual_fixtures::{
    many_members::{
        Anys, AnysView, Atlas, Book, Calculator, CalculatorRef, Few, FewView, Field, Lost, Numbers, Registry,
        RegistryRef, Sheet, SheetView, Texts, TextsView, Volume, registry::PassVolumeError,
    },
    server::client,
};
use punctual_os::ThreadSpec;

struct Office;

/// Returns `given`, and `other` as the third; `other` becomes `given`.
macro_rules! exchanges {
    ($($method:ident($given:ty, $of:ty);)*) => {$(
        fn $method(&self, given: $given, other: &mut $of) -> Result<($of, $of), SystemException> {
            let third = std::mem::replace(other, given.to_owned());
            Ok((given.to_owned(), third))
        }
    )*};
}

impl Registry for Office {
    exchanges! {
        pass_texts(TextsView<'_>, Texts);
        pass_anys(AnysView<'_>, Anys);
        pass_sheets(SheetView<'_>, Sheet);
    }

    fn pass_volume(&self, given: Option<Shared<Volume>>) -> Result<Option<Shared<Volume>>, PassVolumeError> {
        let lost = || Lost {
            c99: Box::new(String::from("lost")),
            ..Lost::default()
        };
        given.map(Some).ok_or_else(|| lost().into())
    }
}

impl Calculator for Office {
    exchanges! {
        pass_few(FewView<'_>, Few);
        pass_numbers(&Numbers, Numbers);
        pass_fields(&Field, Field);
        pass_books(&Book, Book);
    }
}

/// Octets of all stacks here.
const STACK: usize = 256 << 10;
/// The most by which a call with three structs enlarges the used part of a stack, in a program that is not
/// optimised and has several copies of each.
const GROWTH: usize = 56 << 10;

/// The same with structs in parts.
const IN_PARTS: usize = 8 << 10;

/// Octets of its stack that a thread has used when this has run.
fn used(run: impl FnOnce() + Send + 'static) -> usize {
    let thread = ThreadSpec::new("client").stack_bytes(STACK).prefault_bytes(STACK);
    let thread = thread.spawn(run).unwrap();
    let stack = thread.stack().unwrap().clone();
    thread.join().unwrap();
    stack.used_bytes().unwrap()
}

fn server() -> Orb {
    let server = Orb::builder().listen("iiop://127.0.0.1:0").lock_memory(false);
    server.build().unwrap()
}

/// Serves the office on threads with small stacks, and returns a reference for a client that reads replies on
/// small stacks, too.
fn activated<R>(server: &Orb, client: &Orb) -> R
where
    R: Skeleton<Office> + std::ops::Deref<Target = punctual::ObjectRef> + 'static,
{
    let replies = client.threadpool().stack_bytes(STACK).lane(Priority::MAX, 1);
    client.set_reply_threadpool(&replies.build().unwrap()).unwrap();
    let pool = server.threadpool().stack_bytes(STACK).build().unwrap();
    let poa = server
        .root_poa()
        .child("office")
        .threadpool(&pool)
        .build()
        .unwrap();
    let object: R = poa.activate(Office).unwrap();
    client.resolve(&object.to_ior()).unwrap()
}

fn texts(text: &str) -> Texts {
    Texts {
        a00: Box::new(String::from(text)),
        c99: Box::new(String::from(text)),
        ..Texts::default()
    }
}

fn anys(text: &str) -> Anys {
    Anys {
        c99: Box::new(Any::new(text).unwrap()),
        ..Anys::default()
    }
}

/// Makes a call of each kind: with results returned, put in memory that the caller keeps, and in a future.
macro_rules! exchange {
    ($growth:expr, $office:expr, $method:ident, $into:ident, $asynchronous:ident, $a:expr, $b:expr) => {
        let [first, second, third] = [(); 3].map(|()| $office.clone());
        let without_call = used(move || {
            let (a, b) = (Box::new($a), Box::new($b));
            assert!(a != b);
        });
        let with_call = used(move || {
            let (a, mut b) = (Box::new($a), Box::new($b));
            let (result, other) = first.$method(&a, &mut b).unwrap();
            assert!(result == *a && *b == *a && other != *a);
        });
        let with_memory = used(move || {
            let (a, mut b) = (Box::new($a), Box::new($b));
            let (mut result, mut other) = (Box::new($b), Box::new($a));
            second.$into(&a, &mut b, &mut result, &mut other).unwrap();
            assert!(result == a && b == a && other != a);
        });
        let with_future = used(move || {
            let (a, b) = (Box::new($a), Box::new($b));
            let (result, inout, other) = third.$asynchronous(&a, &b).wait().unwrap();
            assert!(result == *a && inout == *a && other == *b);
        });
        // The future and the functions that return it have results of their own.
        let future = $growth * 5 / 3;
        for (used, growth) in [
            (with_call, $growth),
            (with_memory, $growth),
            (with_future, future),
        ] {
            assert!(
                used < without_call + growth,
                "{}: {used} octets, {without_call} without a call",
                stringify!($method)
            );
        }
    };
}

#[test]
fn structs_of_300_strings_or_anys_are_small() {
    let (server, client) = (server(), client());
    let office: RegistryRef = activated(&server, &client);
    exchange!(
        GROWTH,
        office,
        pass_texts,
        pass_texts_into,
        pass_texts_async,
        texts("a"),
        texts("b")
    );
    exchange!(
        GROWTH,
        office,
        pass_anys,
        pass_anys_into,
        pass_anys_async,
        anys("a"),
        anys("b")
    );
    exchange!(
        2 * GROWTH,
        office,
        pass_sheets,
        pass_sheets_into,
        pass_sheets_async,
        Sheet::Text(texts("a")),
        Sheet::Other(anys("b"))
    );
    server.shutdown_and_wait().unwrap();
}

#[test]
fn exceptions_and_states_of_300_strings_are_small() {
    let (server, client) = (server(), client());
    let office: RegistryRef = activated(&server, &client);
    let other = office.clone();
    let atlas = || {
        let mut atlas = Atlas::default();
        *atlas.base.c99 = String::from("base");
        *atlas.f99 = String::from("derived");
        Shared::new(atlas)
    };
    let without_call = used(move || assert_eq!(*atlas().base.c99, "base"));
    let lost = used(move || match office.pass_volume(None) {
        Err(PassVolumeError::Lost(lost)) => assert_eq!(*lost.c99, "lost"),
        other => panic!("{other:?}"),
    });
    let passed = used(move || {
        let returned = other.pass_volume(Some(&atlas().widen())).unwrap().unwrap();
        assert_eq!(*returned.c99, "base");
        assert_eq!(*returned.narrow::<Atlas>().unwrap().f99, "derived");
    });
    for used in [lost, passed] {
        assert!(
            used < without_call + GROWTH,
            "{used} octets, {without_call} without a call"
        );
    }
    server.shutdown_and_wait().unwrap();
}

#[test]
fn structs_of_500_numbers_are_small() {
    let (server, client) = (server(), client());
    let office: CalculatorRef = activated(&server, &client);
    let few = |number| Few {
        e99: number,
        ..Few::default()
    };
    exchange!(
        2 * GROWTH,
        office,
        pass_few,
        pass_few_into,
        pass_few_async,
        few(1.0),
        few(2.0)
    );
    server.shutdown_and_wait().unwrap();
}

/// Structs of more than 512 members are in parts with a box each, however many there are.
#[test]
fn structs_in_parts_need_no_stack() {
    let (server, client) = (server(), client());
    let office: CalculatorRef = activated(&server, &client);
    macro_rules! made {
        ($of:ident, $member:ident, $value:expr) => {{
            let mut made = $of::default();
            made.$member = $value.into();
            made
        }};
    }
    exchange!(
        IN_PARTS,
        office,
        pass_numbers,
        pass_numbers_into,
        pass_numbers_async,
        made!(Numbers, f99, 1.0),
        made!(Numbers, a00, 2.0)
    );
    exchange!(
        IN_PARTS,
        office,
        pass_fields,
        pass_fields_into,
        pass_fields_async,
        made!(Field, b999, 1.0),
        made!(Field, a000, 2.0)
    );
    exchange!(
        IN_PARTS,
        office,
        pass_books,
        pass_books_into,
        pass_books_async,
        made!(Book, b999, "a"),
        made!(Book, a00, "b")
    );
    server.shutdown_and_wait().unwrap();
}

/// Both forms of a struct take at most 4 KiB, and the one of a struct in parts as much as a box.
#[test]
fn structs_of_many_members_take_4_kib() {
    let sizes = [
        size_of::<Texts>(),
        size_of::<TextsView<'_>>(),
        size_of::<Anys>(),
        size_of::<AnysView<'_>>(),
        size_of::<Lost>(),
        size_of::<Volume>(),
        size_of::<Atlas>(),
    ];
    assert_eq!(
        sizes,
        [300 * 8, 300 * 8, 300 * 8, 300 * 8, 300 * 8, 300 * 8, 301 * 8]
    );
    let in_parts = [size_of::<Numbers>(), size_of::<Field>(), size_of::<Book>()];
    assert_eq!(in_parts, [size_of::<Box<()>>(); 3]);
}
