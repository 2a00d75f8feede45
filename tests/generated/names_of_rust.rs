//! IDL in which every construct has the names of Rust's prelude and keywords.

/// Names that differ by more than case; the underscore makes those legal that are keywords of IDL.
const NAMES: &[&str] = &[
    "Ok",
    "Err",
    "Some",
    "None",
    "Vec",
    "String",
    "Box",
    "Option",
    "Result",
    "Default",
    "Clone",
    "Copy",
    "Send",
    "Sync",
    "Sized",
    "Drop",
    "From",
    "Into",
    "Iterator",
    "ToString",
    "ToOwned",
    "AsRef",
    "Fn",
    "Eq",
    "PartialEq",
    "Debug",
    "Encode",
    "Decode",
    "Self",
    "Super",
    "Crate",
    "Type",
    "Match",
    "Dyn",
    "Async",
    "Move",
    "Ref",
    "Mut",
    "Std",
    "Core",
    "Alloc",
    "Rt",
    "Punctual",
];

/// Constructs that declare types, with `$` for the name.
const TYPES: &[(&str, &str)] = &[
    ("AsStruct", "struct $ { long a; string b; };"),
    (
        "AsUnion",
        "union $ switch (long) { case 1: long a; case 2: string b; };",
    ),
    ("AsEnum", "enum $ { a_$, b_$ };"),
    ("AsBitmask", "bitmask $ { a_$, b_$ };"),
    ("AsBitset", "bitset $ { bitfield<3> a; bitfield<1> b; };"),
    ("AsTypedef", "typedef sequence<string> $;"),
    ("AsMap", "typedef map<string, long> $;"),
    (
        "AsInterface",
        "interface $ { string f(in string a) raises (Fault); attribute long b; };",
    ),
    (
        "AsAbstractInterface",
        "abstract interface $ { string f(in string a) raises (Fault); };",
    ),
    (
        "AsValue",
        "valuetype $ { public string a; private long b; string f(); factory make(in string a); };",
    ),
    (
        "AsAbstractValue",
        "abstract valuetype $ { string f(in string a) raises (Fault); };",
    ),
    ("AsBox", "valuetype $ string;"),
    ("AsBoxOfStruct", "valuetype $ Pair;"),
];

/// Other constructs, which have no values that are sent.
const OTHERS: &[(&str, &str)] = &[
    ("AsException", "exception $ { string a; };"),
    ("AsConst", "const long $ = 1;"),
    (
        "AsLocalInterface",
        "local interface $ { string f(in string a) raises (Fault); };",
    ),
    ("AsNative", "native $;"),
    (
        "AsModule",
        "module $ { struct Inner { string a; }; interface Use { Inner f(); }; };",
    ),
];

/// One definition of each construct, whose code stands beside the names.
const BESIDE: &str = "
  struct Pair { long a; string b; };
  union Either switch (long) { case 1: Pair a; case 2: string b; };
  enum Colour { red, green };
  bitmask Flags { first, second };
  bitset Status { bitfield<3> level; };
  typedef sequence<Pair, 3> Pairs;
  typedef map<string, Pair> Named;
  typedef long Matrix[40][40];
  typedef fixed<5, 2> Price;
  exception Fault { string a; Pairs all; };
  const string NOTE = \"text\";
  abstract interface Shown { string show() raises (Fault); };
  valuetype Held supports Shown { public Held next; private Pairs all; factory make(in Pairs all); };
  valuetype Text wstring;
  local interface Near { Named f(inout Pairs a) raises (Fault); };
  interface Target {
    attribute Pairs all;
    readonly attribute any content raises (Fault);
    oneway void poke(in Pair a);
    Either f(in Pairs a, inout Named b, out Matrix c, in Held d, in Shown e, in Text g) raises (Fault);
    Status h(in Flags a, in Colour b, out Price c) context (\"user\");
  };
";

/// The text of the file.
pub fn idl() -> String {
    let mut idl = String::new();
    for (module, construct) in TYPES {
        let uses = each("  void f_$(in _$ a, inout _$ b, out _$ c) raises (Fault); _$ g_$();");
        let members = each("    _$ m_$;");
        idl += &format!(
            "module {module} {{{BESIDE}{}  interface User {{\n{uses}  }};\n  struct Whole {{\n{members}  }};\n}};\n",
            declared(construct)
        );
    }
    for (module, construct) in OTHERS {
        idl += &format!("module {module} {{{BESIDE}{}}};\n", declared(construct));
    }
    let cases: String = (1..)
        .zip(NAMES)
        .map(|(label, name)| format!("case {label}: string _{name};\n"))
        .collect();
    let each_as = |text: &str| each(text).trim_end().trim_end_matches(',').to_owned();
    idl + &format!(
        "module Inside {{{BESIDE}
           struct Members {{ {} }};
           exception Raised {{ {} }};
           valuetype State {{ {} {} }};
           union Cases switch (long) {{ {cases} }};
           enum Enumerators {{ {} }};
           @bit_bound(64) bitmask Bits {{ {} }};
           bitset Fields {{ {} }};
           interface Operations {{ {} }};
           interface Attributes {{ {} }};
           interface Parameters {{ void f({}) raises (Fault); void g({}); }};
           interface Raising {{ {} }};
         }};\n",
        each("string _$;"),
        each("string _$;"),
        each("public string _$;"),
        each("factory make_$(in string _$);"),
        each_as("_$,"),
        each_as("_$,"),
        each("bitfield<1> _$;"),
        each("Pair _$(in string _$) raises (Fault);"),
        each("attribute Pairs _$;"),
        each_as("in string _$,"),
        each_as("out string _$,"),
        each("void f_$() raises (AsException::_$);"),
    )
}

fn declared(construct: &str) -> String {
    // An underscore before a part of a name does not escape a keyword.
    each(
        &construct
            .replace("a_$", "a-$")
            .replace("b_$", "b-$")
            .replace('$', "_$")
            .replace("-_$", "_$"),
    )
}

/// A line for each name.
fn each(text: &str) -> String {
    NAMES.iter().map(|name| text.replace('$', name) + "\n").collect()
}
