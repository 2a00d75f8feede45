//! Bad input: which code, and where.

use std::collections::BTreeSet;

use punctual_idl::{Code, Options, Severity, compile_text};

use super::support::{findings, outcome};

/// Text, and all its findings.
const REFUSED: &[(&str, &[&str])] = &[
    // Local types.
    (
        "local interface L {}; interface I { void f(in L x); };",
        &["IDL0089 1:49"],
    ),
    ("local interface L {}; interface I { L f(); };", &["IDL0089 1:39"]),
    (
        "local interface L {}; interface I { attribute L x; };",
        &["IDL0089 1:49"],
    ),
    (
        "local interface L {}; struct S { L x; }; typedef sequence<S> T; interface I { void f(in T x); };",
        &["IDL0089 1:91"],
    ),
    (
        "local interface L {}; exception X { L y; }; interface I { void f() raises (X); };",
        &["IDL0089 1:64"],
    ),
    (
        "local interface L {}; valuetype V { public L x; };",
        &["IDL0089 1:46"],
    ),
    (
        "local interface L {}; valuetype V sequence<L>;",
        &["IDL0089 1:33"],
    ),
    (
        "local interface L {}; exception X { L y; }; interface I { attribute long a getraises (X); };",
        &["IDL0089 1:74"],
    ),
    (
        "local interface L {}; exception X { L y; }; interface I { attribute long a setraises (X); };",
        &["IDL0089 1:74"],
    ),
    (
        "struct S; struct T; local interface L {}; typedef sequence<T> Q; \
         struct S { Q x; }; struct T { L y; }; interface I { void f(in S x); };",
        &["IDL0089 1:130"],
    ),
    // A name keeps its meaning to the end of the scopes around its use.
    (
        "typedef long A; interface I { struct S { struct T { A x; } y; }; typedef string A; };",
        &["IDL0044 1:81"],
    ),
    (
        "typedef long T; interface I { void f(in T x); typedef short T; };",
        &["IDL0044 1:61"],
    ),
    (
        "typedef long T; interface I { void f(in T x); attribute short T; };",
        &["IDL0044 1:63"],
    ),
    (
        "typedef long T; interface I { void f(in T x); void t(); };",
        &["IDL0044 1:52"],
    ),
    (
        "typedef long T; valuetype V { factory f(in T x); typedef short T; };",
        &["IDL0044 1:64"],
    ),
    (
        "interface B { typedef long T; }; interface I : B { void f(in T x); typedef short T; };",
        &["IDL0044 1:82"],
    ),
    (
        "interface B { typedef long T; }; valuetype V supports B { void f(in T x); void T(); };",
        &["IDL0044 1:80"],
    ),
    // Annotations.
    ("struct S { @min(2) @max(1) long a; };", &["IDL0075 1:25"]),
    ("struct S { @range(min=5,max=1) long a; };", &["IDL0075 1:29"]),
    ("struct S { @range(-1, 7) octet a; };", &["IDL0070 1:19"]),
    (
        "struct S { @default(9) @range(min=1, max=5) short a; };",
        &["IDL0075 1:42"],
    ),
    ("struct S { @min(1) @default(0.5) double a; };", &["IDL0075 1:29"]),
    (
        "struct S { @default(2.25d) @max(2.2d) fixed<5, 2> a; };",
        &["IDL0075 1:33"],
    ),
    ("exception X { @default(\"text\") long a; };", &["IDL0074 1:24"]),
    ("struct S { @default(\"text\") string<3> a; };", &["IDL0070 1:21"]),
    ("struct S { @max(300) octet a; };", &["IDL0070 1:17"]),
    ("struct S { @min(Missing) long a; };", &["IDL0040 1:17"]),
    (
        "struct S { @min(TRUE) @max(FALSE) boolean a; };",
        &["IDL0075 1:28"],
    ),
    ("struct S { @default(1) sequence<long> a; };", &["IDL0075 1:21"]),
    ("valuetype V { @default(-1) public octet a; };", &["IDL0070 1:24"]),
    ("struct S { @range(foo=5, max=7) long a; };", &["IDL0075 1:19"]),
    ("struct S { @range(min=5) long a; };", &["IDL0075 1:13"]),
    ("struct S { @range(min=5, min=6) long a; };", &["IDL0075 1:26"]),
    ("struct S { @min long a; };", &["IDL0075 1:13"]),
    ("struct S { @min() long a; };", &["IDL0075 1:13"]),
    ("struct S { @max(1, 2) long a; };", &["IDL0075 1:20"]),
    (
        "@unit(5) struct S { @unit long a; };",
        &["IDL0075 1:7", "IDL0075 1:22"],
    ),
    ("struct S { @unit(unknown=\"m\") long a; };", &["IDL0075 1:18"]),
    (
        "module M { @annotation A { long b default 1; long c; }; @M::A(c=1, d=(2, 3)) struct S { long a; }; };",
        &["IDL0075 1:68"],
    ),
    ("@annotation A {}; @A(1) struct S { long a; };", &["IDL0075 1:22"]),
    ("@range(min=9, max=3) typedef long T;", &["IDL0075 1:19"]),
    (
        "@unit(\"m\" struct S { long a; };",
        &["IDL0075 1:6", "IDL0030 1:7"],
    ),
    ("struct S { long a; @final };", &["IDL0075 1:21"]),
    ("struct S { long a; }; @final", &["IDL0075 1:24"]),
    ("@max(300) typedef octet T;", &["IDL0070 1:6"]),
    (
        "interface I { void f(@range(min=9, max=3) in long a); };",
        &["IDL0075 1:40"],
    ),
    (
        "interface I { @range(min=9, max=3) readonly attribute long a; };",
        &["IDL0075 1:33"],
    ),
    (
        "union U switch (boolean) { case TRUE: @max(1) @min(2) long a; };",
        &["IDL0075 1:52"],
    ),
    ("struct S { @id(-1) long a; };", &["IDL0075 1:16"]),
    ("struct S { @id(4294967296) long a; };", &["IDL0075 1:16"]),
    ("struct S { @id(value=\"x\") long a; };", &["IDL0075 1:22"]),
    ("struct S { @id(1 << TRUE) long a; };", &["IDL0075 1:16"]),
    ("struct S { @id long a; };", &["IDL0075 1:13"]),
    ("struct S { @key(1) long a; };", &["IDL0075 1:17"]),
    (
        "struct S { @optional(true) long a; };",
        &["IDL0076! 1:13", "IDL0075 1:22"],
    ),
    (
        "struct S { @optional long a; @optional(FALSE) long b; };",
        &["IDL0076! 1:13"],
    ),
    ("struct S { @must_understand(\"x\") long a; };", &["IDL0075 1:29"]),
    ("struct S { @external(TRUE, FALSE) long a; };", &["IDL0075 1:28"]),
    ("@final(1) struct S { long a; };", &["IDL0075 1:8"]),
    ("@extensibility(LOOSE) struct S { long a; };", &["IDL0075 1:16"]),
    ("@extensibility struct S { long a; };", &["IDL0075 1:2"]),
    ("@autoid(2) struct S { long a; };", &["IDL0075 1:9"]),
    (
        "@verbatim(placement=NOWHERE, text=\"x\") struct S { long a; };",
        &["IDL0075 1:21"],
    ),
    (
        "@verbatim(language=\"rust\") struct S { long a; };",
        &["IDL0075 1:2"],
    ),
    ("@service(platform=3) interface I {};", &["IDL0075 1:19"]),
    ("enum E { @value A, B };", &["IDL0075 1:11"]),
    ("@bit_bound(33) enum E { A };", &["IDL0075 1:12"]),
    ("@bit_bound(0) enum E { A };", &["IDL0075 1:12"]),
    ("@bit_bound(65536) bitmask M { A };", &["IDL0075 1:12"]),
    ("@bit_bound(1.5) bitmask M { A };", &["IDL0075 1:12"]),
    (
        "@bit_bound(0) bitmask M { A };",
        &["IDL0068 1:23", "IDL0068 1:27"],
    ),
    (
        "const short N = 8; @bit_bound(N) bitmask M { A };",
        &["IDL0075 1:31"],
    ),
    ("@bit_bound(value=0x2) bitmask M { A, B, C };", &["IDL0068 1:41"]),
    ("bitmask M { @position(\"1\") A };", &["IDL0075 1:23"]),
    (
        "struct S { @range(1 2) long a; };",
        &["IDL0075 1:13", "IDL0030 1:21"],
    ),
    (
        "exception T {}; interface I { void f() raises (T); typedef short T; };",
        &["IDL0044 1:66"],
    ),
    (
        "exception T {}; interface I { void f() raises (T); void t(); };",
        &["IDL0044 1:57"],
    ),
    (
        "exception T {}; interface I { readonly attribute long a raises (T); typedef short T; };",
        &["IDL0044 1:83"],
    ),
    (
        "exception T {}; interface I { attribute long a setraises (T); exception T { long x; }; };",
        &["IDL0044 1:73"],
    ),
    (
        "exception T {}; valuetype V { factory f() raises (T); typedef short T; };",
        &["IDL0044 1:69"],
    ),
    (
        "interface B {}; module M { interface I : B {}; interface B {}; };",
        &["IDL0044 1:58"],
    ),
    (
        "interface B {}; module M { valuetype V supports B {}; interface B {}; };",
        &["IDL0044 1:65"],
    ),
    (
        "valuetype B {}; module M { valuetype V : B {}; valuetype B {}; };",
        &["IDL0044 1:58"],
    ),
    (
        "bitset B { bitfield<1> a; }; module M { bitset C : B {}; typedef long B; };",
        &["IDL0044 1:71"],
    ),
    (
        "module N { interface B {}; }; module M { interface I : N::B {}; interface N {}; };",
        &["IDL0044 1:75"],
    ),
    // Value types.
    ("custom valuetype B {}; valuetype V : B {};", &["IDL0092 1:38"]),
    (
        "custom valuetype B {}; valuetype V : truncatable B {};",
        &["IDL0092 1:50"],
    ),
    ("abstract valuetype V { public long a; };", &["IDL0092 1:36"]),
    ("abstract valuetype V { factory make(); };", &["IDL0092 1:32"]),
    (
        "interface A {}; interface B {}; valuetype V supports A, B {};",
        &["IDL0092 1:43"],
    ),
    (
        "interface A {}; interface B {}; valuetype V supports A {}; valuetype W : V supports B {};",
        &["IDL0092 1:70"],
    ),
    (
        "valuetype V { public long a; }; valuetype W : V { private short a; };",
        &["IDL0092 1:65"],
    ),
    (
        "interface A {}; interface B {}; valuetype V supports A {}; valuetype W : V {};\
         valuetype X : W supports B {};",
        &["IDL0092 1:89"],
    ),
    (
        "interface A {}; interface B {}; abstract valuetype V supports A {};\
         abstract valuetype W supports B {}; valuetype X : V, W {};",
        &["IDL0092 1:114"],
    ),
    (
        "valuetype V { public long a; }; valuetype W : V { void A(); };",
        &["IDL0092 1:56"],
    ),
    (
        "valuetype V { public long a; }; valuetype W : V { attribute long a; };",
        &["IDL0092 1:66"],
    ),
    (
        "valuetype V { public long a; }; valuetype W : V { typedef long a; };",
        &["IDL0092 1:64"],
    ),
    (
        "valuetype V { void f(); }; valuetype W : V { public long f; };",
        &["IDL0082 1:58"],
    ),
    (
        "interface I { void f(); }; valuetype V supports I { public long f; };",
        &["IDL0082 1:65"],
    ),
    (
        "abstract valuetype A {}; valuetype V : truncatable A {};",
        &["IDL0080 1:52"],
    ),
    (
        "valuetype V { public long a; }; typedef V T; valuetype B T;",
        &["IDL0046 1:58"],
    ),
    ("valuetype V; eventtype V {};", &["IDL0087 1:24"]),
    ("eventtype E; valuetype E {};", &["IDL0087 1:24"]),
    ("custom valuetype V;", &["IDL0030 1:19"]),
    ("eventtype E {}; valuetype V : E {};", &["IDL0080 1:31"]),
    // Fixed-point types.
    ("typedef fixed T;", &["IDL0062 1:9"]),
    ("struct S { fixed x; };", &["IDL0062 1:12"]),
    ("typedef sequence<fixed> T;", &["IDL0062 1:18"]),
    ("typedef fixed<0, 0> T;", &["IDL0062 1:15"]),
    ("typedef fixed<5> T;", &["IDL0030 1:16"]),
    ("typedef fixed<5.0, 2> T;", &["IDL0074 1:15"]),
    // Interfaces.
    (
        "exception X {}; interface I { readonly attribute long a, b raises (X); };",
        &["IDL0030 1:60"],
    ),
    (
        "struct S; typedef sequence<S> T; interface I { void f(in T x); }; struct S { long a; };",
        &["IDL0060 1:58"],
    ),
    (
        "struct S; typedef sequence<S> T; struct R { T x; }; interface I { R f(); }; struct S { long a; };",
        &["IDL0060 1:67"],
    ),
    (
        "interface A { void f(); }; interface B : A { enum E { f }; };",
        &["IDL0082 1:55"],
    ),
    (
        "exception X {}; interface I { attribute long a, b setraises (X); };",
        &["IDL0030 1:51"],
    ),
    (
        "interface A { void f(); }; interface B : A { typedef long f; };",
        &["IDL0082 1:59"],
    ),
    ("interface I { void f() context (\"9a\"); };", &["IDL0093 1:33"]),
    ("interface I { void f() context (\"a*b\"); };", &["IDL0093 1:33"]),
    ("struct S { long a; }; typeprefix S \"p\";", &["IDL0046 1:34"]),
    // Declared, and never defined.
    (
        "interface I; interface J { void f(in I x); };",
        &["IDL0050! 1:11"],
    ),
    ("valuetype V;", &["IDL0050! 1:11"]),
    // Preprocessing.
    ("#include \"none.idl\"", &["IDL0002 1:1"]),
    ("#include none", &["IDL0004 1:1"]),
    ("#define", &["IDL0004 1:1"]),
    ("#define F(a) #b", &["IDL0004 1:14"]),
    ("#define F(a) # a #", &["IDL0004 1:18"]),
    ("#define F(a) ## a", &["IDL0004 1:14"]),
    ("#define A b ##", &["IDL0004 1:13"]),
    ("#define F(a, ..) a", &["IDL0004 1:1"]),
    ("#define F(..., a) a", &["IDL0004 1:1"]),
    ("#define F(, ...) a", &["IDL0004 1:1"]),
    ("#inclde \"x\"", &["IDL0005 1:1"]),
    ("#if 1\nconst long x = 1;", &["IDL0006 1:1"]),
    ("#endif", &["IDL0006 1:1"]),
    ("#if 0\n#else\n#else\n#endif", &["IDL0006 3:1"]),
    ("#if 1 +\n#endif", &["IDL0007 1:1"]),
    ("#if 1 / 0\n#endif", &["IDL0007 1:1"]),
    ("#error nothing works", &["IDL0008 1:1"]),
    ("#warning careful", &["IDL0009! 1:1"]),
    ("#define F(a, b) a b\nF(1)", &["IDL0010 2:1"]),
    ("#define F(a) a\n  F(1", &["IDL0010 2:3"]),
    ("#define F(a, b, ...) a\nF(1)", &["IDL0010 2:1"]),
    (
        "#define F(a) a ## +\ntypedef F(long) T;",
        &["IDL0030 2:9", "IDL0010 2:11"],
    ),
    ("#define F(a) #a\nconst string x = F(\\);", &["IDL0010 1:14"]),
    ("#define A 1\n#define A 2", &["IDL0011! 2:9"]),
    ("#pragma prefix omg.org", &["IDL0013! 1:1"]),
    // Lexical elements.
    ("const long x = 1; $", &["IDL0020 1:19"]),
    ("/* never closed", &["IDL0021 1:1"]),
    ("const string s = \"open;\n", &["IDL0022 1:18", "IDL0030 2:1"]),
    ("const long x = 08;", &["IDL0023 1:16"]),
    ("const long x = 12abc;", &["IDL0023 1:16"]),
    ("const long x = 0x;", &["IDL0023 1:16"]),
    ("const string s = \"\\q\";", &["IDL0024 1:18"]),
    ("const string s = \"a\\0b\";", &["IDL0024 1:18"]),
    ("const char c = 'ab';", &["IDL0024 1:16"]),
    ("const char c = '\\u1234';", &["IDL0024 1:16"]),
    (
        "const unsigned long long x = 18446744073709551616;",
        &["IDL0025 1:30"],
    ),
    (
        "const fixed f = 12345678901234567890123456789012d;",
        &["IDL0025 1:17"],
    ),
    ("const double f = 1e999;", &["IDL0025 1:18"]),
    ("const long double f = 1e4933;", &["IDL0025 1:23"]),
    (
        "const long double l = 1e999; const double f = l;",
        &["IDL0070 1:47"],
    ),
    ("const long double f = 1e4900 * 1e100;", &["IDL0073 1:30"]),
    ("const long double f = 1. / 0.0;", &["IDL0071 1:26"]),
    ("const long double f = 1. | 2.;", &["IDL0074 1:26"]),
    ("const long double f = 1;", &["IDL0074 1:23"]),
    (
        "struct S { @min(0.2) @default(0.1) long double a; };",
        &["IDL0075 1:31"],
    ),
    (
        "const wstring s = L\"\\uD83D\"; const wstring t = L\"\\uDE00\\uD83D\";",
        &["IDL0024 1:19", "IDL0024 1:48", "IDL0024 1:48"],
    ),
    ("const wchar c = L'\\uD83Dx';", &["IDL0024 1:17"]),
    // Syntax.
    (
        "interface I { void f();; };; struct S { ; long a; };;;",
        &[
            "IDL0036! 1:24",
            "IDL0036! 1:28",
            "IDL0036! 1:41",
            "IDL0036! 1:53",
            "IDL0036! 1:54",
        ],
    ),
    ("interface I { void f() };", &["IDL0030 1:23"]),
    ("struct S { long a; }", &["IDL0030 1:21"]),
    ("interface I {", &["IDL0030 1:13"]),
    (
        "module M {\n  struct S { long a;\n  interface J { void f(); };\n",
        &["IDL0030 2:12", "IDL0030 3:3"],
    ),
    ("long x;", &["IDL0030 1:1"]),
    ("interface I { void f(long x); };", &["IDL0030 1:22"]),
    ("interface I { interface J {}; };", &["IDL0030 1:15"]),
    ("};", &["IDL0030 1:1"]),
    ("enum E { a, };", &["IDL0030 1:13"]),
    (
        "interface I { void f(in long a,); void g(in long); };",
        &["IDL0030 1:32", "IDL0030 1:49"],
    ),
    ("struct S { long interface; };", &["IDL0030 1:17"]),
    ("struct S { long Interface; };", &["IDL0031 1:17"]),
    ("interface I { void f(in sequence<long> a); };", &["IDL0061 1:25"]),
    ("const fixed<5,2> X = 1.5d;", &["IDL0061 1:7"]),
    ("interface I { attribute bitmask B { a } c; };", &["IDL0061 1:25"]),
    ("const string s = \"a\" L\"b\";", &["IDL0034 1:22"]),
    ("struct S {};", &["IDL0035 1:8"]),
    ("module M {};", &["IDL0035 1:8"]),
    // Names.
    ("typedef Missing T;", &["IDL0040 1:9"]),
    ("module M { typedef long A; }; typedef M::B T;", &["IDL0040 1:42"]),
    ("typedef long T; typedef short T;", &["IDL0041 1:31"]),
    ("interface I { void f(); long f(); };", &["IDL0041 1:30"]),
    ("struct S { long a, a; };", &["IDL0041 1:20"]),
    ("enum E { a, a };", &["IDL0041 1:13"]),
    ("typedef long T; typedef short t;", &["IDL0042 1:31"]),
    (
        "interface I { void f(in long x, in long X); };",
        &["IDL0042 1:41"],
    ),
    // Repository ids.
    (
        "interface I {}; interface J {}; typeid I \"IDL:X:1.0\"; typeid J \"IDL:X:1.0\";",
        &["IDL0090 1:64"],
    ),
    (
        "struct S { long a; };\n#pragma ID S \"IDL:T:1.0\"\nunion T switch (long) { case 1: long a; };",
        &["IDL0090 2:1"],
    ),
    // Annotations without effect.
    (
        "@default(1) typedef long T; interface I { void f(@default(2) in T a); @default(3) attribute T b; };",
        &["IDL0076! 1:10", "IDL0076! 1:59", "IDL0076! 1:80"],
    ),
    (
        "union U switch (long) { case 1: @default(1) long a; };",
        &["IDL0076! 1:42"],
    ),
    (
        "@bit_bound(8) enum E { @value(1) a, @default_literal b };",
        &["IDL0076! 1:2", "IDL0076! 1:25", "IDL0076! 1:38"],
    ),
    // Keys, flags and bit fields of IDL 4.2.
    ("typedef map<double, long> T;", &["IDL0067 1:13"]),
    ("struct S { long x; }; typedef map<S, long> T;", &["IDL0067 1:35"]),
    ("@bit_bound(65) bitmask M { A };", &["IDL0068 1:24"]),
    ("@bit_bound(2) bitmask M { A, B, C };", &["IDL0068 1:33"]),
    ("bitmask M { @position(3) A, @position(3) B };", &["IDL0068 1:42"]),
    ("bitmask M { A, a };", &["IDL0042 1:16"]),
    ("bitset B { bitfield<65> a; };", &["IDL0068 1:21"]),
    ("bitset B { bitfield<2, boolean> a; };", &["IDL0068 1:24"]),
    ("bitset B { bitfield<2, double> a; };", &["IDL0068 1:24"]),
    ("bitset B { bitfield<60> a; bitfield<5> c; };", &["IDL0068 1:8"]),
    (
        "bitset B { bitfield<1> a; }; bitset C : B { bitfield<1> A; };",
        &["IDL0041 1:57"],
    ),
    (
        "struct S { long x; }; bitset B : S { bitfield<1> a; };",
        &["IDL0046 1:34"],
    ),
    ("const int8 N = 128;", &["IDL0070 1:16"]),
    ("typedef long Thing; typedef thing T;", &["IDL0043 1:29"]),
    ("typedef long T; struct S { T t; };", &["IDL0044 1:30"]),
    ("const long N = 3; struct S { long n[N]; };", &["IDL0044 1:35"]),
    (
        "typedef long T; module M { typedef T U; typedef short T; };",
        &["IDL0044 1:55"],
    ),
    (
        "interface A { typedef long T; }; interface B { typedef short T; }; interface C : A, B { void f(in T x); };",
        &["IDL0045 1:99"],
    ),
    ("exception E {}; typedef E T;", &["IDL0046 1:25"]),
    ("module M { const long c = 1; }; typedef M T;", &["IDL0046 1:41"]),
    ("const long a = 1; typedef a T;", &["IDL0046 1:27"]),
    ("typedef long T; const long x = T;", &["IDL0046 1:32"]),
    ("enum E { a }; const E c = E::a;", &["IDL0047 1:27"]),
    ("module M { struct m { long x; }; };", &["IDL0048 1:19"]),
    ("struct S; typedef sequence<S> T;", &["IDL0049 1:8"]),
    // Types.
    ("struct S { S next; };", &["IDL0060 1:12"]),
    (
        "struct S; struct T { S a; }; struct S { long x; };",
        &["IDL0060 1:22"],
    ),
    ("union U switch (long) { case 1: U next; };", &["IDL0060 1:33"]),
    (
        "interface I; interface J : I {}; interface I {};",
        &["IDL0060 1:28"],
    ),
    ("interface I { void f(in sequence<long> x); };", &["IDL0061 1:25"]),
    ("interface I { struct S { long a; } f(); };", &["IDL0030 1:35"]),
    ("typedef long T[0];", &["IDL0062 1:16"]),
    ("typedef sequence<long, -1> T;", &["IDL0062 1:24"]),
    ("typedef string<0> T;", &["IDL0062 1:16"]),
    ("typedef fixed<32, 2> T;", &["IDL0062 1:15"]),
    ("typedef fixed<4, 5> T;", &["IDL0062 1:18"]),
    ("union U switch (float) { case 1: long x; };", &["IDL0063 1:17"]),
    ("union U switch (uint8) { case 256: long x; };", &["IDL0065 1:31"]),
    ("union U switch (wchar) { case 'a': long x; };", &["IDL0065 1:31"]),
    (
        "union U switch (wchar) { case L'a': long x; case L'\\x61': long y; };",
        &["IDL0064 1:50"],
    ),
    ("union U switch (int8) { case 128: long x; };", &["IDL0065 1:30"]),
    (
        "union U switch (string) { case \"a\": long x; };",
        &["IDL0063 1:17"],
    ),
    (
        "union U switch (long) { case 1: long x; case 2 - 1: long y; };",
        &["IDL0064 1:46"],
    ),
    (
        "union U switch (long) { default: long x; default: long y; };",
        &["IDL0064 1:42"],
    ),
    ("union U switch (long) { case 'a': long x; };", &["IDL0065 1:30"]),
    (
        "union U switch (short) { case 40000: long x; };",
        &["IDL0065 1:31"],
    ),
    (
        "enum E { a }; enum F { b }; union U switch (E) { case b: long x; };",
        &["IDL0065 1:55"],
    ),
    (
        "union U switch (boolean) { case TRUE: long x; case FALSE: long y; default: long z; };",
        &["IDL0066 1:67"],
    ),
    // Constants.
    ("const octet x = 256;", &["IDL0070 1:17"]),
    ("const unsigned short x = -1;", &["IDL0070 1:26"]),
    ("const float x = 1e300;", &["IDL0070 1:17"]),
    ("const string<2> s = \"abc\";", &["IDL0070 1:21"]),
    ("typedef fixed<3, 1> F; const F c = 123.4d;", &["IDL0070 1:36"]),
    ("const long x = 1 / 0;", &["IDL0071 1:18"]),
    ("const long x = 5 % (2 - 2);", &["IDL0071 1:18"]),
    ("const double x = 1.0 / 0.0;", &["IDL0071 1:22"]),
    ("const long x = 1 << 64;", &["IDL0072 1:18"]),
    ("const long x = 1 >> -1;", &["IDL0072 1:18"]),
    (
        "const long x = 0x7fffffffffffffff * 0x7fffffffffffffff;",
        &["IDL0073 1:35"],
    ),
    ("const double x = 1e300 * 1e300;", &["IDL0073 1:24"]),
    ("const long x = 1.5;", &["IDL0074 1:16"]),
    ("const double x = 1;", &["IDL0074 1:18"]),
    ("const long x = 1 + TRUE;", &["IDL0074 1:18"]),
    ("const wstring s = \"narrow\";", &["IDL0074 1:19"]),
    ("const any x = 1;", &["IDL0074 1:7"]),
    // Interfaces and value types.
    ("struct S { long x; }; interface I : S {};", &["IDL0046 1:37"]),
    ("local interface L {}; interface I : L {};", &["IDL0080 1:37"]),
    ("interface P {}; abstract interface A : P {};", &["IDL0080 1:40"]),
    (
        "valuetype V { public long x; }; abstract valuetype A : V {};",
        &["IDL0080 1:56"],
    ),
    ("interface A {}; interface B : A, A {};", &["IDL0081 1:34"]),
    (
        "interface A { void f(); }; interface B : A { void f(); };",
        &["IDL0082 1:51"],
    ),
    (
        "interface A { void f(); }; interface B { attribute long F; }; interface C : A, B {};",
        &["IDL0082 1:73"],
    ),
    ("interface I { oneway long f(); };", &["IDL0083 1:22"]),
    ("interface I { oneway void f(out long x); };", &["IDL0084 1:29"]),
    ("interface I { oneway void f(inout long x); };", &["IDL0084 1:29"]),
    (
        "exception E {}; interface I { oneway void f() raises (E); };",
        &["IDL0085 1:55"],
    ),
    (
        "struct S { long x; }; interface I { void f() raises (S); };",
        &["IDL0086 1:54"],
    ),
    (
        "exception E {}; interface I { void f() raises (E, E); };",
        &["IDL0088! 1:51"],
    ),
    ("interface I; struct I { long x; };", &["IDL0087 1:21"]),
    ("interface I; local interface I {};", &["IDL0087 1:30"]),
    // Repository ids.
    (
        "interface I {};\n#pragma ID I \"IDL:a:1.0\"\n#pragma ID I \"IDL:b:1.0\"",
        &["IDL0090 3:1"],
    ),
    (
        "interface I {};\n#pragma version I 1.1\n#pragma version I 1.2",
        &["IDL0090 3:1"],
    ),
    (
        "#pragma prefix \"a\"\ninterface I;\n#pragma prefix \"b\"\ninterface I {};",
        &["IDL0090 4:11"],
    ),
    (
        "#pragma prefix \"a\"\nmodule M { interface I; };\n#pragma prefix \"b\"\nmodule M { interface I {}; };",
        &["IDL0090 4:22"],
    ),
    ("interface I {}; typeid I \"nonsense\";", &["IDL0091 1:26"]),
    ("interface I {}; typeprefix I \"p q\";", &["IDL0091 1:30"]),
    ("interface I {};\n#pragma version I 1", &["IDL0091 2:1"]),
    ("#pragma version Missing 1.1", &["IDL0040 1:17"]),
];

#[test]
fn every_error_has_its_code_and_place() {
    let mut wrong = Vec::new();
    for (text, expected) in REFUSED {
        let outcome = outcome(text);
        let found = findings(&outcome);
        if found != *expected {
            wrong.push(format!("{text}\n  expected {expected:?}\n  found {found:?}"));
        }
        let failed = outcome
            .diagnostics
            .iter()
            .any(|diagnostic| diagnostic.severity == Severity::Error);
        assert_eq!(outcome.specification.is_none(), failed, "{text}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_error_says_what_to_try_next() {
    // A syntax error says what is expected, and the author of `#error` what there is to say.
    let own_words = [Code::ErrorDirective, Code::WarningDirective, Code::Syntax];
    let mut silent = Vec::new();
    for (text, _) in REFUSED {
        for diagnostic in outcome(text).diagnostics {
            if diagnostic.help.is_none() && !own_words.contains(&diagnostic.code) {
                silent.push(format!("{text}: {}", diagnostic.message));
            }
        }
    }
    assert!(silent.is_empty(), "{}", silent.join("\n"));
}

/// Codes that the table above cannot show: they need files, many tokens or the generator.
const ELSEWHERE: &[Code] = &[
    Code::UnreadableFile,
    Code::IncludeDepth,
    Code::LimitExceeded,
    Code::Omitted,
    Code::LateKeyword,
    Code::NestingTooDeep,
    Code::NotGenerated,
];

#[test]
fn every_code_is_shown_by_a_test() {
    let shown: BTreeSet<String> = REFUSED
        .iter()
        .flat_map(|(_, findings)| findings.iter())
        .map(|finding| finding[..7].to_owned())
        .chain(ELSEWHERE.iter().map(Code::to_string))
        .collect();
    let all: BTreeSet<String> = Code::ALL.iter().map(Code::to_string).collect();
    assert_eq!(shown, all);
}

/// Names whose use fixes their meaning only in another scope, or not at all: they are qualified.
#[test]
fn a_name_gets_another_meaning_where_it_was_not_noted() {
    for text in [
        "exception T {}; interface I { void f() raises (::T); typedef short T; };",
        "exception T {}; module M { interface I { void f() raises (T); }; typedef short T; };",
        "interface B {}; interface I : B { typedef short B; };",
        "interface B {}; module M { interface I : ::B {}; interface B {}; };",
        "interface B {}; module M { module N { interface I : B {}; }; interface B {}; };",
        "valuetype B {}; valuetype V : B { typedef short B; };",
        "typedef long T; interface I { void f(in T x); void g(in long T); struct S { short T; }; };",
        "typedef long T; module M { interface I { void f(in T x); }; typedef short T; };",
        "custom valuetype B {}; custom valuetype V : B {};",
        "valuetype B {}; custom valuetype V : B {};",
    ] {
        assert_eq!(findings(&outcome(text)), [""; 0], "{text}");
    }
}

#[test]
fn what_breaks_only_lenient_rules_can_be_accepted() {
    let lenient: Vec<Code> = Code::ALL
        .iter()
        .copied()
        .filter(|code| code.can_be_warning())
        .collect();
    let options = Options {
        warn: Code::ALL.to_vec(),
        ..Options::default()
    };
    let mut accepted = BTreeSet::new();
    for (text, found) in REFUSED {
        let codes = found.iter().map(|finding| finding[..7].parse::<Code>().unwrap());
        let codes: BTreeSet<Code> = codes.collect();
        let outcome = compile_text("test.idl", text, &options);
        assert_eq!(outcome.diagnostics.len(), found.len(), "{text}");
        let is_lenient = codes
            .iter()
            .all(|code| code.severity() == Severity::Warning || lenient.contains(code));
        assert_eq!(outcome.specification.is_some(), is_lenient, "{text}");
        accepted.extend(codes.into_iter().filter(|_| is_lenient));
    }
    assert!(lenient.iter().all(|code| accepted.contains(code)), "{accepted:?}");
}

#[test]
fn one_error_does_not_hide_the_next() {
    let text = "\
        interface A {\n\
          void f(in long);\n\
          void g(in Missing x);\n\
        };\n\
        struct S { lnog a; }\n\
        typedef S T;\n";
    assert_eq!(
        findings(&outcome(text)),
        ["IDL0030 2:15", "IDL0040 3:11", "IDL0040 5:12", "IDL0030 5:21"]
    );
}

#[test]
fn what_could_not_be_read_is_not_unknown_as_well() {
    let text = "struct S { long a b; };\nstruct T struct { long a; };\ntypedef T U;\n";
    assert_eq!(findings(&outcome(text)), ["IDL0030 1:18", "IDL0030 2:10"]);
}

#[test]
fn a_declaration_after_use_is_labelled_with_both_places() {
    let text = "typedef long T; interface I { void f(in T x); typedef short T; };";
    let labels = &outcome(text).diagnostics[0].labels;
    let shown = labels.iter().map(|label| (label.span.start, label.text.as_str()));
    let shown: Vec<_> = shown.collect();
    assert_eq!(shown, [(60, "declared here"), (40, "first used here")]);
}

#[test]
fn an_unclosed_brace_is_named_even_if_that_of_another_scope_closes_it() {
    let text = "module M {\n  interface I {\n    void f();\n\n  struct S { long a; };\n};\n";
    assert_eq!(findings(&outcome(text)), ["IDL0030 2:15"]);
    // Braces on lines of their own, and a base on a line of its own, are no mistakes.
    let text = [
        "module M",
        "{",
        "  interface A {};",
        "  interface I : A,",
        "                Missing {",
        "  };",
        "  struct S",
        "  {",
        "    long a;",
        "  };",
    ]
    .join("\n");
    assert_eq!(findings(&outcome(&text))[0], "IDL0030 2:1");
}

#[test]
fn an_error_in_a_macro_is_shown_where_it_is_used_and_where_it_is_written() {
    let places = |text: &str| -> Vec<(usize, usize)> {
        let outcome = outcome(text);
        let labels = outcome.diagnostics[0].labels.iter();
        labels
            .map(|label| outcome.files[0].line_and_column(label.span.start))
            .collect()
    };
    assert_eq!(
        places("#define BAD(x) typedef Missing x;\ntypedef long A;\nBAD(foo)\n"),
        [(3, 1), (1, 24)]
    );
    assert_eq!(
        places("#define INNER Missing\n#define OUTER INNER\ntypedef OUTER T;\n"),
        [(3, 9), (1, 15)]
    );
    assert_eq!(
        places("#define TWO(x) struct x { long a b; };\nTWO(S)\n"),
        [(2, 4), (1, 32)]
    );
}

/// Codes whose cause lies in files, in the size of a source or in the number of diagnostics, and the one of
/// the code generator.
const WITHOUT_EXAMPLE: [Code; 6] = [
    Code::UnreadableFile,
    Code::IncludeDepth,
    Code::LimitExceeded,
    Code::Omitted,
    Code::NestingTooDeep,
    Code::NotGenerated,
];

#[test]
fn each_code_has_an_example_that_is_reported_with_it() {
    let mut wrong = Vec::new();
    for code in Code::ALL {
        let Some(example) = code.example() else {
            assert!(WITHOUT_EXAMPLE.contains(code), "{code} has no example");
            continue;
        };
        assert!(!WITHOUT_EXAMPLE.contains(code), "{code}");
        let found = findings(&outcome(example));
        if !found.iter().any(|finding| finding.starts_with(&code.to_string())) {
            wrong.push(format!("{code}: {found:?}\n{example}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The warning for a misspelt keyword says only that it is taken for a name.
#[test]
fn a_name_that_may_collide_with_a_keyword_must_still_be_known() {
    let options = Options {
        warn: vec![Code::KeywordAsIdentifier],
        ..Options::default()
    };
    let outcome = compile_text("test.idl", "struct S { Long a; };", &options);
    assert_eq!(findings(&outcome), ["IDL0031! 1:12", "IDL0040 1:12"]);
    let outcome = compile_text("test.idl", "struct S { long Interface; };", &options);
    assert!(outcome.specification.unwrap().find("S").is_some());
}

#[test]
fn two_definitions_with_one_repository_id_are_both_named() {
    let text = "interface I {}; module M { interface J {}; typeid J \"IDL:I:1.0\"; };";
    let outcome = outcome(text);
    let found = &outcome.diagnostics[0];
    assert_eq!(
        found.message,
        "`I` and `M::J` have the same repository id `IDL:I:1.0`"
    );
    let places: Vec<u32> = found.labels.iter().map(|label| label.span.start).collect();
    assert_eq!(places, [52, 10, 37]);
}

#[test]
fn the_advice_for_what_is_only_declared_suits_its_kind() {
    let help = |text: &str| outcome(text).diagnostics[0].help.clone().unwrap();
    assert!(help("interface I;").starts_with("its references can be passed on"));
    assert!(help("valuetype V;").starts_with("there are no values of it here"));
}
