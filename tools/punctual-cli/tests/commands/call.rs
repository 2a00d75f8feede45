//! `punctual call`, against servers of this ORB, generated and dynamic, and against omniNames.

use std::{
    env, fs,
    net::TcpStream,
    os::unix::{fs::PermissionsExt, net::UnixListener},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
};

use punctual::{
    ObjectRef, Orb, Poa, Priority, SystemException, ThreadPool,
    any::{Any, Kind, TypeCode, Value, ValueModifier},
    dynamic::{DynamicServant, RequestError, Upcall},
};
use punctual_fixtures::{
    Folder, Missing, client_propagated, eventually,
    peer::port_to_tell,
    repository::{InterfaceDef, OperationDef},
    server::Server,
    skip,
};

use crate::command::{Run, file, run};

/// Calls with IDL; the arguments are those behind the reference.
fn call(reference: &str, idl: &Path, arguments: &[&str]) -> Run {
    let head = ["call", reference, "--idl"].map(str::to_owned);
    let head = head.into_iter().chain([idl.display().to_string()]);
    run(head.chain(arguments.iter().map(|argument| (*argument).to_owned())))
}

fn said(run: &Run) -> &str {
    assert_eq!((run.code, &run.complained[..]), (0, ""), "{}", run.said);
    run.said.trim_end()
}

fn conformance() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/idl/conformance.idl")
}

#[test]
fn a_reply_longer_than_the_stated_results_is_reported() {
    let server = Server::start();
    let idl = file(
        "other.idl",
        "module conformance { interface Probe { short greet(in string name); }; };",
    );
    let run = call(&server.probe.to_ior(), &idl, &["greet", "Ada"]);
    // "Hello, Ada" with its length and zero: 4 + 11 octets, of which the short takes 2.
    assert_eq!((run.code, run.said.trim_end()), (0, "11"), "{}", run.complained);
    assert!(
        run.complained
            .contains("13 octets of the reply to `short greet(in string name)`"),
        "{}",
        run.complained
    );
}

/// Root needs the right to pass through any folder, which the process gives up here.
#[test]
fn a_socket_that_this_user_may_not_reach_is_named_with_the_permissions_it_needs() {
    let folder = Folder::new("forbidden");
    let socket = folder.join("socket");
    let _listener = UnixListener::bind(&socket).unwrap();
    let permit = |mode| fs::set_permissions(&*folder, fs::Permissions::from_mode(mode)).unwrap();
    permit(0o000);
    let lacks = ["--bounding-set", "-dac_override,-dac_read_search"];
    let is_root = Command::new("setpriv").args(lacks).arg("true").status();
    let mut call = match is_root.is_ok_and(|status| status.success()) {
        true => {
            let mut call = Command::new("setpriv");
            call.args(lacks).arg(env!("CARGO_BIN_EXE_punctual"));
            call
        }
        false => Command::new(env!("CARGO_BIN_EXE_punctual")),
    };
    let url = socket.display().to_string().replace('/', "%2f");
    let ended = call
        .args(["call", &format!("corbaloc:uiop:{url}/X"), "_non_existent"])
        .output();
    permit(0o700);
    let said = String::from_utf8(ended.unwrap().stderr).unwrap();
    let expected = format!("(at uiop://{})", socket.display());
    assert!(
        said.contains("minor Punctual 153") && said.contains(&expected),
        "{said}"
    );
    assert!(said.contains("the right to write to its file (w)"), "{said}");
}

#[test]
fn results_of_generated_servants_are_printed_as_json() {
    let (server, idl) = (Server::start(), conformance());
    let probe = server.probe.to_ior();
    let rows: [(&[&str], &str); 9] = [
        (&["twice", "21"], "42"),
        (&["twice", "-21"], "-42"),
        (&["twice", "-0x15"], "-42"),
        (&["twice", "0x15"], "42"),
        (&["greet", "Ada Lovelace"], "\"Hello, Ada Lovelace\""),
        (&["invert", "TRUE"], "false"),
        (&["next", "green"], "\"blue\""),
        (&["reverse", "[1, 2, 3]"], "[3, 2, 1]"),
        (&["count", "{value: 1, children: [{1, []}, {2, [{3, []}]}]}"], "4"),
    ];
    for (arguments, expected) in rows {
        assert_eq!(said(&call(&probe, &idl, arguments)), expected, "{arguments:?}");
    }
    assert_eq!(
        said(&call(&probe, &idl, &["note", "7"])),
        "",
        "a oneway operation"
    );
    eventually("the note", || said(&call(&probe, &idl, &["noted"])) == "7");

    let published = server.orb.publish("Probe", &server.probe).unwrap();
    let orb = server.orb.clone();
    thread::spawn(move || orb.run());
    for reference in [&probe[..], &published] {
        assert_eq!(
            said(&call(reference, &idl, &["twice", "1", "--interface", "Probe"])),
            "2"
        );
        assert_eq!(said(&call(reference, &idl, &["twice", "1"])), "2", "{reference}");
    }
    let listed = call(&probe, &idl, &[]);
    let listed = said(&listed);
    assert!(
        listed.contains("string greet(in string name) raises (Refused)"),
        "{listed}"
    );
    assert!(listed.contains("oneway void note(in long value)"), "{listed}");
    let (_, types) = listed
        .split_once("\n\n")
        .expect("the types follow the operations");
    for declared in [
        "exception Refused { string reason; }",
        "enum Colour { red, green, blue }",
        "struct Node { long value; sequence<Node> children; }",
    ] {
        assert_eq!(types.matches(declared).count(), 1, "{declared}: {types}");
    }
}

#[test]
fn exceptions_show_their_members_and_have_exit_codes() {
    let (server, idl) = (Server::start(), conformance());
    let probe = server.probe.to_ior();
    let refused = call(&probe, &idl, &["greet", "\"\""]);
    assert_eq!((refused.code, &refused.said[..]), (1, ""));
    assert_eq!(
        refused.complained,
        "exception IDL:conformance/Refused:1.0 {\"reason\": \"no name\"}\n"
    );
    server.poa.deactivate(&server.probe).unwrap();
    let gone = call(&probe, &idl, &["twice", "1"]);
    assert_eq!(gone.code, 3);
    assert!(
        gone.complained.contains("OBJECT_NOT_EXIST"),
        "{}",
        gone.complained
    );
    assert_eq!(said(&run(["call", &probe, "_non_existent"])), "true");
    let nobody = run([
        "call",
        "corbaloc::127.0.0.1:1/Nobody",
        "_non_existent",
        "--timeout",
        "2",
    ]);
    assert_eq!(nobody.code, 3, "{}", nobody.complained);
}

#[test]
fn what_cannot_be_sent_is_explained() {
    let (server, idl) = (Server::start(), conformance());
    let probe = server.probe.to_ior();
    let rows: [(&[&str], &str); 9] = [
        (
            &["thrice", "1"],
            "has no operation or attribute `thrice`; it has twice, greet",
        ),
        (&["twice"], "`long twice(in long value)` takes 1 value, not 0"),
        (
            &["twice", "3000000000"],
            "`value`: `3000000000` is not a valid long, or out of its range",
        ),
        (&["twice", "many"], "`value`: `many` is not a long"),
        (&["next", "pink"], "`from`: `pink` is not one of red, green, blue"),
        (
            &["reverse", "[1, 2"],
            "expected `,` or `]` at character 6, found the end",
        ),
        (&["reverse", "[1, true]"], "in `1`: `true` is not a long"),
        (&["count", "{children: []}"], "member `value` is missing"),
        (
            &["twice", "1", "--interface", "Sonde"],
            "no interface `Sonde`; it has conformance::Probe",
        ),
    ];
    for (arguments, part) in rows {
        let wrong = call(&probe, &idl, arguments);
        assert_eq!(wrong.code, 2, "{arguments:?}: {}", wrong.complained);
        assert!(
            wrong.complained.contains(part),
            "{arguments:?}: {}",
            wrong.complained
        );
    }
    assert_eq!(server.seen(0).requests, 0, "nothing was sent");
    let untyped = run(["call", &probe, "twice", "1"]);
    assert_eq!(untyped.code, 2);
    assert!(
        untyped.complained.contains("--idl FILE"),
        "{}",
        untyped.complained
    );
    let value = run(["call", &probe, "twice", "--", "-1", "--idl", "x.idl"]);
    let hint = "state `--idl FILE` before `--`";
    assert!(value.complained.contains(hint), "{}", value.complained);
    let names = "module conformance { typedef sequence<string> Names; \
                 interface Probe { void enrol(in Names all); }; };";
    let unquoted = call(&probe, &file("names.idl", names), &["enrol", "[radar]"]);
    let advice = "`radar` is not a string; write it in quotes: \"radar\"";
    assert!(unquoted.complained.contains(advice), "{}", unquoted.complained);
    let broken = file("broken.idl", "interface A { lnog f(); };");
    let broken = call(&probe, &broken, &["f"]);
    assert!(
        broken.code == 2 && broken.complained.contains("lnog"),
        "{}",
        broken.complained
    );
}

#[test]
fn malformed_addresses_are_explained() {
    for (address, expected) in [
        ("", "use `corbaloc::host:port/Key`"),
        ("nonsense", "`nonsense` is not an object reference"),
        ("iiop://h:1/X", "did you mean `corbaloc::h:1/X`?"),
        (
            "corbaloc::h:0/X",
            "`0` is not a port; use a number from 1 to 65535",
        ),
        ("corbaloc::h:99999/X", "`99999` is not a port"),
        ("corbaloc::/X", "has no valid host"),
        ("corbaloc:foo:h:1/X", "names no known protocol"),
        ("corbaloc:uiop:/run/x/X", "a path has `%2f` instead of `/`"),
        ("corbaloc:iiop:3.1@h:1/X", "`3.1` is not an IIOP version"),
        ("corbaloc::h:1/%zz", "malformed object key `%zz`"),
        ("IOR:", "check that the text is complete"),
        ("IOR:zz", "pairs of hexadecimal digits; error at character 4"),
        ("file:relative", "write `file:///absolute/path`"),
    ] {
        let refused = run(["call", address, "_non_existent"]);
        let complained = refused.complained.replace("\n  ", " ");
        assert_eq!(refused.code, 2, "{address}: {complained}");
        assert!(complained.contains(expected), "{address}: {complained}");
    }
}

#[test]
fn operations_of_every_object_need_no_idl() {
    let server = Server::start();
    let probe = server.probe.to_ior();
    assert_eq!(
        said(&run(["call", &probe, "_is_a", "IDL:conformance/Probe:1.0"])),
        "true"
    );
    assert_eq!(said(&run(["call", &probe, "_is_a", "IDL:Other:1.0"])), "false");
    assert_eq!(said(&run(["call", &probe, "_non_existent"])), "false");
    assert_eq!(
        said(&run(["call", &probe, "_repository_id"])),
        "\"IDL:conformance/Probe:1.0\""
    );
    let interface = run(["call", &probe, "_interface"]);
    assert_eq!(interface.code, 3);
    assert!(
        interface.complained.contains("INTF_REPOS"),
        "{}",
        interface.complained
    );
}

const VALUES: &str = r#"
module Values {
  enum Colour { red, green };
  struct Point { long x; double y; };
  typedef sequence<Point> PathT;
  typedef long GridT[2][3];
  union ReportT switch (Colour) { case red: PathT path; default: string text; };
  union SparseT switch (short) { case 1: case 2: long number; };
  union SmallT switch (int8) { case 1: long number; };
  typedef fixed<6,2> PriceT;
  typedef sequence<octet> OctetsT;
  typedef sequence<long, 2> PairT;
  valuetype LabelT string;
  valuetype NodeT { public long id; public NodeT next; };
  valuetype TaggedT : NodeT { public LabelT tag; };
  typedef sequence<NodeT> NodesT;
  interface Base { readonly attribute string name; };
  interface Echo : Base {
    attribute Point origin;
    PathT path(in PathT value);
    GridT grid(in GridT value);
    ReportT report(in ReportT value);
    SparseT sparse(in SparseT value);
    SmallT small(in SmallT value);
    PriceT price(in PriceT value);
    OctetsT octets(in OctetsT value);
    PairT pair(in PairT value);
    any anything(in any value);
    wstring wide(in wstring value);
    long double exact(in long double value);
    unsigned long long large(in unsigned long long value);
    double real(in double value);
    char letter(in char value);
    Object reference(in Object value);
    TaggedT tagged(in TaggedT value);
    NodesT repeated(in NodesT value);
    void swap(inout long a, in Colour paint, out string b);
    void log(in long value) context ("USER*");
  };
};
"#;

fn node() -> TypeCode {
    let id = "IDL:Values/NodeT:1.0";
    let next = TypeCode::recursive(id);
    let members = [("id", TypeCode::basic(Kind::Long), true), ("next", next, true)];
    TypeCode::value(id, "NodeT", ValueModifier::None, None, members)
}

/// Answers with its argument, of types that are written by hand here.
#[derive(Default)]
struct Echo {
    /// Result of `_get_interface`.
    interface: Option<ObjectRef>,
}

impl Echo {
    fn type_of(operation: &str) -> Option<TypeCode> {
        let of = TypeCode::basic;
        let point = || {
            let members = [("x", of(Kind::Long)), ("y", of(Kind::Double))];
            TypeCode::structure("IDL:Values/Point:1.0", "Point", members)
        };
        let path = || TypeCode::sequence(point(), 0);
        Some(match operation {
            "_set_origin" => point(),
            "path" => path(),
            "grid" => TypeCode::array(TypeCode::array(of(Kind::Long), 3), 2),
            "report" => {
                let colour = TypeCode::enumeration("IDL:Values/Colour:1.0", "Colour", ["red", "green"]);
                let members = [(0, "path", path()), (0, "text", of(Kind::String))];
                TypeCode::union("IDL:Values/Report:1.0", "Report", colour, Some(1), members)
            }
            "sparse" => {
                let members = [1, 2].map(|label| (label, "number", of(Kind::Long)));
                TypeCode::union("IDL:Values/Sparse:1.0", "Sparse", of(Kind::Short), None, members)
            }
            "small" => {
                let member = (1, "number", of(Kind::Long));
                TypeCode::union("IDL:Values/SmallT:1.0", "SmallT", of(Kind::Octet), None, [member])
            }
            "price" => TypeCode::fixed(6, 2),
            "octets" => TypeCode::sequence(of(Kind::Octet), 0),
            "pair" => TypeCode::sequence(of(Kind::Long), 2),
            "anything" => of(Kind::Any),
            "wide" => of(Kind::WString),
            "exact" => of(Kind::LongDouble),
            "large" => of(Kind::ULongLong),
            "real" => of(Kind::Double),
            "letter" => of(Kind::Char),
            "reference" => of(Kind::ObjRef),
            "tagged" => {
                let label = TypeCode::value_box("IDL:Values/LabelT:1.0", "LabelT", of(Kind::String));
                let (id, tag) = ("IDL:Values/TaggedT:1.0", [("tag", label, true)]);
                TypeCode::value(id, "TaggedT", ValueModifier::None, Some(node()), tag)
            }
            "repeated" => TypeCode::sequence(node(), 0),
            _ => return None,
        })
    }
}

impl DynamicServant for Echo {
    fn repository_id(&self) -> String {
        "IDL:Values/Hidden:1.0".into()
    }

    fn interface(&self) -> Option<ObjectRef> {
        self.interface.clone()
    }

    fn supports(&self, repository_id: &str) -> bool {
        ["IDL:Values/Echo:1.0", "IDL:Values/Base:1.0"].contains(&repository_id)
    }

    fn invoke(&self, request: &mut Upcall<'_, '_>) -> Result<Vec<Any>, RequestError> {
        match request.operation() {
            "_get_name" => Ok(vec![Any::new("echo")?]),
            "_get_origin" => {
                let point = Self::type_of("_set_origin").expect("known");
                Ok(vec![Any::from_value(point.clone(), &Value::initial(&point)?)?])
            }
            "swap" => {
                let (a, paint): (i32, u32) = (request.argument()?, request.argument()?);
                Ok(vec![Any::new(&-a)?, Any::new(&format!("paint {paint}"))?])
            }
            "log" => {
                let (value, context): (i32, Vec<String>) = (request.argument()?, request.argument()?);
                assert_eq!(
                    (value, &context[..]),
                    (5, &["USER".to_owned(), "eva".to_owned()][..])
                );
                Ok(Vec::new())
            }
            "repeated" => {
                let nodes = Self::type_of("repeated").expect("known");
                let Value::Sequence(mut values) = request.argument_of(&nodes)?.value()? else {
                    unreachable!("a sequence")
                };
                values.extend(values.clone());
                Ok(vec![Any::from_value(nodes, &Value::Sequence(values))?])
            }
            operation => {
                let of = Self::type_of(operation).ok_or_else(|| request.unknown_operation())?;
                let value = request.argument_of(&of)?.to_owned();
                Ok(if operation == "_set_origin" {
                    Vec::new()
                } else {
                    vec![value]
                })
            }
        }
    }
}

/// A server of dynamic servants.
struct Dynamic {
    orb: Orb,
    poa: Poa,
    _pool: ThreadPool,
}

impl Dynamic {
    fn start() -> Self {
        let orb = Orb::builder()
            .listen("iiop://127.0.0.1:0")
            .lock_memory(false)
            .build()
            .unwrap();
        let pool = orb.threadpool().build().unwrap();
        let poa = orb.root_poa().child("dynamic").threadpool(&pool).build().unwrap();
        Self {
            orb,
            poa,
            _pool: pool,
        }
    }

    fn serve(&self, servant: impl DynamicServant) -> String {
        let object: ObjectRef = self.poa.activate(servant).unwrap();
        object.to_ior()
    }
}

impl Drop for Dynamic {
    fn drop(&mut self) {
        self.orb.shutdown_and_wait().unwrap();
    }
}

#[test]
fn values_of_every_type_are_read_and_printed() {
    let server = Dynamic::start();
    let (echo, idl) = (server.serve(Echo::default()), file("values.idl", VALUES));
    let object = format!("\"{echo}\"");
    let rows: [(&[&str], &str); 33] = [
        (
            &["path", "[{\"x\": 1, \"y\": 0.5}, {-2, 1e9}]"],
            "[{\"x\": 1, \"y\": 0.5}, {\"x\": -2, \"y\": 1000000000.0}]",
        ),
        (&["path", "{}"], "[]"),
        (&["grid", "[[1, 2, 3], {4, 5, 6}]"], "[[1, 2, 3], [4, 5, 6]]"),
        (&["report", "{path: []}"], "{\"switch\": \"red\", \"path\": []}"),
        (
            &["report", "{\"switch\": \"green\", \"text\": \"é\"}"],
            "{\"switch\": \"green\", \"text\": \"é\"}",
        ),
        (
            &["sparse", "{\"switch\": 2, \"number\": 9}"],
            "{\"switch\": 2, \"number\": 9}",
        ),
        (&["sparse", "{\"switch\": 5}"], "{\"switch\": 5}"),
        (&["small", "{\"number\": 9}"], "{\"switch\": 1, \"number\": 9}"),
        (&["price", "-12.5"], "\"-12.50\""),
        (&["price", "0.05D"], "\"0.05\""),
        (&["octets", "[0, 255]"], "[0, 255]"),
        (&["pair", "[1, 2]"], "[1, 2]"),
        (&["anything", "5"], "{\"type\": \"long\", \"value\": 5}"),
        (
            &["anything", "\"text\""],
            "{\"type\": \"string\", \"value\": \"text\"}",
        ),
        (
            &["anything", "5000000000"],
            "{\"type\": \"long long\", \"value\": 5000000000}",
        ),
        (
            &["anything", "{\"type\": \"Values::Colour\", \"value\": \"green\"}"],
            "{\"type\": \"enum Colour\", \"value\": \"green\"}",
        ),
        (
            &["anything", "{type: \"octet\", value: 7}"],
            "{\"type\": \"octet\", \"value\": 7}",
        ),
        (&["wide", "größer"], "\"größer\""),
        (&["exact", "0.1"], "0.1"),
        (&["large", "18446744073709551615"], "18446744073709551615"),
        (&["real", "NaN"], "\"NaN\""),
        (&["real", "-1e300"], "-1e300"),
        (&["letter", "q"], "\"q\""),
        (&["reference", "null"], "null"),
        (&["reference", &echo], &object),
        (&["swap", "3", "green"], "{\"a\": -3, \"b\": \"paint 1\"}"),
        (&["name"], "\"echo\""),
        (
            &["tagged", "{id: 1, next: {2, null}, tag: \"red\"}"],
            "{\"id\": 1, \"next\": {\"id\": 2, \"next\": null}, \"tag\": {\"value\": \"red\"}}",
        ),
        (
            &["tagged", "{1, null, {value: \"red\"}}"],
            "{\"id\": 1, \"next\": null, \"tag\": {\"value\": \"red\"}}",
        ),
        (&["tagged", "null"], "null"),
        (
            &["repeated", "[{1, null}, null]"],
            "[{\"id\": 1, \"next\": null}, null, {\"again\": 1}, null]",
        ),
        (&["origin"], "{\"x\": 0, \"y\": 0.0}"),
        (&["origin", "{1, 2}"], ""),
    ];
    for (arguments, expected) in rows {
        assert_eq!(said(&call(&echo, &idl, arguments)), expected, "{arguments:?}");
    }
    assert_eq!(
        said(&call(&echo, &idl, &["log", "5", "--context", "USER=eva"])),
        ""
    );
    let wrong: [(&[&str], &str); 11] = [
        (
            &["name", "bob"],
            "attribute `name` of interface `Values::Echo` is readonly",
        ),
        (&["origin", "1", "2"], "attribute `origin` takes 1 value, not 2"),
        (&["pair", "[1, 2, 3]"], "cannot have 3 elements"),
        (&["price", "1.234"], "is not a fixed<6,2>"),
        (
            &["report", "{\"text\": \"default\"}"],
            "\"switch\": DISCRIMINATOR",
        ),
        (&["letter", "qq"], "is not one character"),
        (
            &["anything", "{\"type\": \"Nothing\", \"value\": 1}"],
            "type `Nothing` is unknown",
        ),
        (&["reference", "IOR:00"], "IOR"),
        (&["reference", "nil"], "the nil reference is written `null`"),
        (&["tagged", "{id: 1, next: null}"], "member `tag` is missing"),
        (&["tagged", "7"], "written {\"MEMBER\": VALUE"),
    ];
    for (arguments, part) in wrong {
        let wrong = call(&echo, &idl, arguments);
        assert_eq!(wrong.code, 2, "{arguments:?}: {}", wrong.complained);
        assert!(
            wrong.complained.contains(part),
            "{arguments:?}: {}",
            wrong.complained
        );
    }
}

/// Answers every request with octets of its own.
struct Hostile(Vec<i32>);

impl DynamicServant for Hostile {
    fn repository_id(&self) -> String {
        "IDL:Values/Echo:1.0".into()
    }

    fn invoke(&self, _: &mut Upcall<'_, '_>) -> Result<Vec<Any>, RequestError> {
        self.0.iter().map(|number| Ok(Any::new(number)?)).collect()
    }
}

#[test]
fn malformed_results_are_errors() {
    let (server, idl) = (Dynamic::start(), file("values.idl", VALUES));
    // A length that is not there; a type code that refers to itself; one of 2³² arrays of nothing.
    for body in [&[i32::MAX, 1][..], &[-1, -4], &[20, 4, 0, 0]] {
        let hostile = server.serve(Hostile(body.to_vec()));
        for operation in ["path", "anything"] {
            let argument = if operation == "path" { "[]" } else { "1" };
            let run = call(&hostile, &idl, &[operation, argument]);
            assert_eq!((run.code, &run.said[..]), (3, ""), "{operation} {body:?}");
        }
    }
}

const NAMING: &str = r#"
#pragma prefix "omg.org"
module CosNaming {
  struct NameComponent { string id; string kind; };
  typedef sequence<NameComponent> Name;
  enum BindingType { nobject, ncontext };
  struct Binding { Name binding_name; BindingType binding_type; };
  typedef sequence<Binding> BindingList;
  interface BindingIterator { boolean next_one(out Binding b); void destroy(); };
  interface NamingContext {
    enum NotFoundReason { missing_node, not_context, not_object };
    exception NotFound { NotFoundReason why; Name rest_of_name; };
    exception InvalidName {};
    exception AlreadyBound {};
    void bind(in Name n, in Object obj) raises (NotFound, InvalidName, AlreadyBound);
    Object resolve(in Name n) raises (NotFound, InvalidName);
    void list(in unsigned long how_many, out BindingList bl, out BindingIterator bi);
  };
  interface NamingContextExt : NamingContext {
    string to_string(in Name n) raises (InvalidName);
    Name to_name(in string sn) raises (InvalidName);
  };
};
"#;

/// omniORB's naming service, which is a server of another ORB.
struct OmniNames {
    child: Child,
    folder: PathBuf,
    reference: String,
}

impl OmniNames {
    fn start() -> Option<Self> {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("omninames-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let port = port_to_tell();
        let started = Command::new("omniNames")
            .args(["-start", &port.to_string(), "-ignoreport", "-logdir"])
            .arg(&folder)
            .args(["-ORBendPoint", &format!("giop:tcp:127.0.0.1:{port}")])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let Ok(child) = started else {
            skip(
                Missing::Peer,
                "omniNames of omniORB is not installed (Debian: omniorb-nameserver)",
            );
            return None;
        };
        let reference = format!("corbaloc::127.0.0.1:{port}/NameService");
        let names = Self {
            child,
            folder,
            reference,
        };
        eventually("omniNames", || TcpStream::connect(("127.0.0.1", port)).is_ok());
        Some(names)
    }
}

impl Drop for OmniNames {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

#[test]
fn servers_of_omniorb_are_called() {
    let Some(names) = OmniNames::start() else {
        return;
    };
    let (server, idl) = (Server::start(), file("naming.idl", NAMING));
    let ask = |arguments: &[&str]| call(&names.reference, &idl, arguments);
    let probe = server.probe.to_ior();
    let name = "[{\"id\": \"probe\", \"kind\": \"test\"}]";
    assert_eq!(said(&ask(&["bind", name, &probe])), "");
    assert_eq!(said(&ask(&["to_string", name])), "\"probe.test\"");
    assert_eq!(
        said(&ask(&["to_name", "a.b/c"])),
        "[{\"id\": \"a\", \"kind\": \"b\"}, {\"id\": \"c\", \"kind\": \"\"}]"
    );
    let resolved = ask(&["resolve", "{{probe, test}}"]);
    assert_eq!(resolved.code, 2, "names are not texts: {}", resolved.complained);
    let resolved = ask(&["resolve", "{{\"probe\", \"test\"}}"]);
    let resolved = said(&resolved).trim_matches('"').to_owned();
    assert_eq!(
        said(&call(&resolved, &conformance(), &["twice", "4"])),
        "8",
        "what omniORB gives back works"
    );
    let listed = ask(&["list", "10"]);
    assert_eq!(
        said(&listed),
        "{\"bl\": [{\"binding_name\": [{\"id\": \"probe\", \"kind\": \"test\"}], \"binding_type\": \"nobject\"}], \
         \"bi\": null}"
    );
    let missing = ask(&["resolve", "[{\"id\": \"x\", \"kind\": \"\"}]"]);
    assert_eq!(missing.code, 1);
    assert_eq!(
        missing.complained,
        "exception IDL:omg.org/CosNaming/NamingContext/NotFound:1.0 {\"why\": \"missing_node\", \
         \"rest_of_name\": [{\"id\": \"x\", \"kind\": \"\"}]}\n"
    );
    assert_eq!(ask(&["bind", name, &probe]).code, 1, "already bound");
    assert_eq!(
        said(&run([
            "call",
            &names.reference,
            "_is_a",
            "IDL:omg.org/CosNaming/NamingContext:1.0"
        ])),
        "true"
    );
    assert_eq!(said(&run(["call", &names.reference, "_non_existent"])), "false");
}

/// A servant refuses what it does not know, and says so.
#[test]
fn the_objects_own_answer_decides_without_a_known_type() {
    let server = Dynamic::start();
    struct Other;
    impl DynamicServant for Other {
        fn repository_id(&self) -> String {
            "IDL:Other:1.0".into()
        }

        fn invoke(&self, request: &mut Upcall<'_, '_>) -> Result<Vec<Any>, RequestError> {
            let refused: SystemException = request.unknown_operation();
            Err(refused.into())
        }
    }
    let (other, idl) = (server.serve(Other), file("values.idl", VALUES));
    let unknown = call(&other, &idl, &["name"]);
    assert_eq!(unknown.code, 2);
    assert!(
        unknown.complained.contains("(IDL:Other:1.0)"),
        "{}",
        unknown.complained
    );
    let refused = call(&other, &idl, &["name", "--interface", "Values::Base"]);
    assert_eq!(refused.code, 3);
    assert!(
        refused.complained.contains("BAD_OPERATION"),
        "{}",
        refused.complained
    );
}

#[test]
fn without_a_lane_for_its_priority_the_option_is_named() {
    struct Silent;
    impl DynamicServant for Silent {
        fn repository_id(&self) -> String {
            "IDL:Silent:1.0".to_owned()
        }

        fn invoke(&self, _: &mut Upcall<'_, '_>) -> Result<Vec<Any>, RequestError> {
            Ok(Vec::new())
        }
    }
    let orb = Orb::builder().lock_memory(false).build().unwrap();
    let priority = Priority::new(5000).unwrap();
    let pool = orb.threadpool().lane(priority, 1).build().unwrap();
    let model = client_propagated(priority);
    let poa = orb
        .root_poa()
        .child("lanes")
        .threadpool(&pool)
        .priority_model(model);
    let object: ObjectRef = poa.build().unwrap().activate(Silent).unwrap();
    let (object, idl) = (
        object.to_ior(),
        file("silent.idl", "interface Silent { void f(); };"),
    );
    assert_eq!(
        said(&call(&object, &idl, &["f"])),
        "",
        "at the adapter's default priority"
    );
    let refused = call(&object, &idl, &["f", "--priority", "0"]);
    assert_eq!(refused.code, 3);
    assert!(
        refused.complained.contains("with `--priority`"),
        "{}",
        refused.complained
    );
    assert_eq!(said(&call(&object, &idl, &["f", "--priority", "5000"])), "");
    orb.shutdown_and_wait().unwrap();
}

#[test]
fn an_interface_repository_replaces_idl() {
    let server = Dynamic::start();
    let point = Echo::type_of("_set_origin").unwrap();
    let (long, string) = (TypeCode::basic(Kind::Long), TypeCode::basic(Kind::String));
    let colour = TypeCode::enumeration("IDL:Values/Colour:1.0", "Colour", ["red", "green"]);
    let failed = TypeCode::exception("IDL:Failed:1.0", "Failed", [("code", long.clone())]);
    let operation = |name: &str, returns: &TypeCode, parameters: &[(&str, &TypeCode, u32)]| OperationDef {
        name: name.into(),
        returns: returns.clone(),
        parameters: parameters
            .iter()
            .map(|(name, of, mode)| ((*name).into(), (*of).clone(), *mode))
            .collect(),
        raises: vec![failed.clone()],
    };
    let void = TypeCode::basic(Kind::Void);
    let path = Echo::type_of("path").unwrap();
    let description = InterfaceDef {
        id: "IDL:Values/Hidden:1.0".into(),
        attributes: vec![("origin".into(), point, vec![failed.clone()])],
        operations: vec![
            operation("path", &path, &[("value", &path, 0)]),
            operation(
                "swap",
                &void,
                &[("a", &long, 2), ("paint", &colour, 0), ("b", &string, 1)],
            ),
        ],
    };
    let interface: ObjectRef = server.poa.activate(description).unwrap();
    let echo = server.serve(Echo {
        interface: Some(interface.clone()),
    });
    let ask = |arguments: &[&str]| run(["call", &echo].iter().chain(arguments));
    assert_eq!(said(&ask(&["path", "[{1, 2}]"])), "[{\"x\": 1, \"y\": 2.0}]");
    assert_eq!(
        said(&ask(&["swap", "3", "green"])),
        "{\"a\": -3, \"b\": \"paint 1\"}"
    );
    assert_eq!(said(&ask(&["origin"])), "{\"x\": 0, \"y\": 0.0}");
    assert_eq!(
        said(&ask(&[])),
        "sequence<Point> path(in sequence<Point> value) raises (Failed)\n\
         void swap(inout long a, in Colour paint, out string b) raises (Failed)\n\
         readonly attribute Point origin raises (Failed)\n\n\
         exception Failed { long code; }\n\
         enum Colour { red, green }\n\
         struct Point { long x; double y; }"
    );
    assert_eq!(said(&ask(&["_interface"])).trim_matches('"'), interface.to_ior());
    let unknown = ask(&["origin", "{1, 2}"]);
    assert_eq!(unknown.code, 2, "it is read-only");
    assert!(
        unknown
            .complained
            .contains("attribute `origin` of interface `Described` is readonly"),
        "{}",
        unknown.complained
    );
    // What it names describes nothing.
    let wrong = server.serve(Echo {
        interface: Some(server.poa.activate(Echo::default()).unwrap()),
    });
    let wrong = run(["call", &wrong, "path", "[]"]);
    assert_eq!(wrong.code, 2);
    assert!(
        wrong
            .complained
            .contains("the interface repository does not answer"),
        "{}",
        wrong.complained
    );
}
