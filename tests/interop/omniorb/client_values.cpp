// Checks of every type in every direction: rotate_x for each x of ../idl/interop.idl.
#include "check.hpp"
#include <limits>

using namespace Interop;

// ---------------------------------------------------------------- sample values: sample(value, 0 .. 2)
// The second of every sequence and string is empty.

static const char* const texts[] = { "hello world", "", "a longer text, of forty-two octets or more" };

static void sample(CORBA::Boolean& v, int i) { v = i == 1; }
static void sample(CORBA::Octet& v, int i) { v = "q~\n"[i]; }      // char too: one C++ type
static void sample(CORBA::Short& v, int i) { v = i == 0 ? -32768 : i == 1 ? 32767 : 258; }
static void sample(CORBA::UShort& v, int i) { v = i == 0 ? 65535 : i == 1 ? 0 : 258; }
static void sample(CORBA::Long& v, int i) { v = i == 0 ? std::numeric_limits<CORBA::Long>::min() : i == 1 ? 2147483647 : 0x01020304; }
static void sample(CORBA::ULong& v, int i) { v = i == 0 ? 4294967295u : i == 1 ? 0 : 0x01020304; }
static void sample(CORBA::LongLong& v, int i) { v = i == 0 ? std::numeric_limits<CORBA::LongLong>::min() : i == 1 ? -1 : 0x0102030405060708ll; }
static void sample(CORBA::ULongLong& v, int i) { v = i == 0 ? 18446744073709551615ull : i == 1 ? 0 : 0x0102030405060708ull; }
static void sample(CORBA::Float& v, int i) { v = i == 0 ? -0.25f : i == 1 ? std::numeric_limits<float>::infinity() : 3.4e38f; }
static void sample(CORBA::Double& v, int i) { v = i == 0 ? 6.02214076e23 : i == 1 ? -0.0 : 5e-324; }
static void sample(Colour& v, int i) { v = Colour(2 - i); }
static void sample(CORBA::String_member& v, int i) { v = texts[i]; }
static void sample(_CORBA_String_element v, int i) { v = texts[i]; }
static void sample(Point& v, int i) { sample(v.x, i); v.y = -i; }
static void sample(Mixed& v, int i)
{
  sample(v.flag, i); sample(v.real, i); sample(v.letter, i); sample(v.small, i); sample(v.raw, i); sample(v.huge, i);
  sample(v.usmall, i); sample(v.single, i); sample(v.normal, i); sample(v.last, i); sample(v.big, i);
  sample(v.unormal, i); sample(v.tint, i); sample(v.where, i);
}
static void sample(Nothing& v, int i) { v.placeholder = i == 1; }

template <class T, size_t N> static void sample(T (&array)[N], int i)
{
  for (size_t k = 0; k < N; k++) sample(array[k], int(i + k) % 3);
}
static void sample(Leaf&, int);
static void sample(Shape&, int);
// A sequence of 3, 0 or 1 elements.
template <class Seq> static void fill(Seq& v, int i)
{
  v.length(i == 0 ? 3 : i == 1 ? 0 : 1);
  for (CORBA::ULong k = 0; k < v.length(); k++) sample(v[k], int(i + k) % 3);
}
#define SAMPLE_SEQUENCE(T) static void sample(T& v, int i) { fill(v, i); }
SAMPLE_SEQUENCE(BooleanSeq)
SAMPLE_SEQUENCE(CharSeq)
SAMPLE_SEQUENCE(OctetSeq)
SAMPLE_SEQUENCE(ShortSeq)
SAMPLE_SEQUENCE(UShortSeq)
SAMPLE_SEQUENCE(LongSeq)
SAMPLE_SEQUENCE(ULongSeq)
SAMPLE_SEQUENCE(LongLongSeq)
SAMPLE_SEQUENCE(ULongLongSeq)
SAMPLE_SEQUENCE(FloatSeq)
SAMPLE_SEQUENCE(DoubleSeq)
SAMPLE_SEQUENCE(DistanceSeq)
SAMPLE_SEQUENCE(ColourSeq)
SAMPLE_SEQUENCE(PointSeq)
SAMPLE_SEQUENCE(MixedSeq)
SAMPLE_SEQUENCE(StringSeq)
SAMPLE_SEQUENCE(LongSeqSeq)
static void sample(VectorSeq& v, int i)
{
  v.length(2 - i);
  for (CORBA::ULong k = 0; k < v.length(); k++) for (int n = 0; n < 4; n++) sample(v[k][n], int(i + n) % 3);
}
// Bounded ones are full at first.
static void sample(FewLongs& v, int i)
{
  v.length(i == 0 ? BOUND : i == 1 ? 0 : 1);
  for (CORBA::ULong k = 0; k < v.length(); k++) sample(v[k], int(i + k) % 3);
}
static void sample(FewPoints& v, int i)
{
  v.length(i == 0 ? 2 : i == 1 ? 0 : 1);
  for (CORBA::ULong k = 0; k < v.length(); k++) sample(v[k], int(i + k) % 3);
}
static void sample(FewLabels& v, int i)
{
  v.length(i == 0 ? 3 : i == 1 ? 0 : 1);
  for (CORBA::ULong k = 0; k < v.length(); k++) v[k] = k == 1 ? "sixteen octets!!" : "short";
}
static void sample(StringTable& v, int i)
{
  v.length(i == 0 ? 3 : i == 1 ? 0 : 1);
  for (CORBA::ULong k = 0; k < v.length(); k++) {
    v[k].length(k);
    for (CORBA::ULong n = 0; n < k; n++) v[k][n] = texts[(n + k) % 3];
  }
}
static void sample(Leaf& v, int i) { v.text = texts[i]; sample(v.values, i); sample(v.tint, i); sample(v.numbers, i); }
SAMPLE_SEQUENCE(LeafSeq)
static void sample(Branch& v, int i)
{
  v.tag = 7 + i;
  sample(v.first, (i + 1) % 3);
  sample(v.others, i);
  v.mark = i == 1 ? "" : "sixteen octets!!";
  for (int r = 0; r < 2; r++) for (int c = 0; c < 3; c++) v.table[r][c] = i + r * 0.5 - c;
  v.lines[0] = texts[i]; v.lines[1] = texts[(i + 1) % 3];
  v.weights.length(i == 0 ? 4 : i == 1 ? 0 : 2);
  for (CORBA::ULong k = 0; k < v.weights.length(); k++) v.weights[k] = k + 0.125;
  v.nested.deep = -i; v.nested.inner_name = texts[i];
}
static void sample(Shape& v, int i)
{
  Point p = { 3, -4 };
  if (i == 0) v.width(-17); else if (i == 1) v.caption("a caption"); else v.corner(p);
}
SAMPLE_SEQUENCE(ShapeSeq)
static void sample(Maybe& v, int i) { Leaf l; sample(l, i); if (i == 1) v._default(); else v.some(l); }
static void sample(Either& v, int i) { if (i == 1) v.left_value("left"); else v.right_value(i + 0.5); }
static void sample(Numbered& v, int i)
{
  Leaf l; sample(l, i);
  LongSeq s; sample(s, 0);
  if (i == 0) { v.small(-5); v._d(2); } else if (i == 1) v.list(s); else v.whole(l);
}
static void sample(Lettered& v, int i)
{
  StringSeq s; sample(s, 0);
  if (i == 0) v.one(200); else { v.many(s); v._d(i == 1 ? 'z' : 'k'); }
}
static void sample(Wide& v, int i) { Shape s; sample(s, i); if (i == 1) v.none(true); else v.inner(s); }
static void sample(Tiny& v, int i) { if (i == 0) v.lowest(255); else if (i == 1) v.zero(-1.5); else { v._default(); v._d(77); } }
static void sample(Tree& v, int i)
{
  v.text = texts[i];
  v.children.length(i == 0 ? 3 : i == 1 ? 0 : 1);
  for (CORBA::ULong k = 0; k < v.children.length(); k++) sample(v.children[k], i == 0 ? 2 : 1);
}
static void sample(Chain& v, int i)
{
  v.value = i;
  if (i == 0) return;
  v.next.length(1);
  sample(v.next[0], i - 1);
}
// ---------------------------------------------------------------- rotate, for each kind of C++ mapping

#define ROTATE_VALUE(OP, T) CHECK(OP) { \
  T a, b, c, d; sample(a, 0); sample(b, 1); sample(c, 2); sample(d, 0); \
  const T first = b; \
  T r = x.peer->OP(a, b, c, d); \
  EXPECT(r == a); EXPECT(b == c); EXPECT(d == first); }
#define ROTATE_STRING(OP, C_TEXT) CHECK(OP) { \
  CORBA::String_var b = CORBA::string_dup(""), d; \
  CORBA::String_var r = x.peer->OP("hello world", b.inout(), C_TEXT, d.out()); \
  EXPECT(!strcmp(r, "hello world")); EXPECT(!strcmp(b, C_TEXT)); EXPECT(!strcmp(d, "")); }
#define ROTATE_FIXED(OP, T) CHECK(OP) { \
  T a, b, c, d; sample(a, 0); sample(b, 1); sample(c, 2); sample(d, 0); \
  const T first = b; \
  T r = x.peer->OP(a, b, c, d); \
  EXPECT(same(r, a)); EXPECT(same(b, c)); EXPECT(same(d, first)); }
#define ROTATE_VARIABLE(OP, T) CHECK(OP) { \
  T a, b, c; sample(a, 0); sample(b, 1); sample(c, 2); \
  const T first = b; \
  T##_var d; \
  T##_var r = x.peer->OP(a, b, c, d.out()); \
  EXPECT(same(r.in(), a)); EXPECT(same(b, c)); EXPECT(same(d.in(), first)); }
// Arrays travel in a struct of the test's own to be compared: EQUAL(p, q) compares two elements.
#define ROTATE_ARRAY(OP, T, N, EQUAL) CHECK(OP) { \
  T a, b, c, d, first; sample(a, 0); sample(b, 1); sample(c, 2); sample(d, 0); T##_copy(first, b); \
  T##_var r = x.peer->OP(a, b, c, d); \
  for (int i = 0; i < N; i++) { EXPECT(EQUAL(r[i], a[i])); EXPECT(EQUAL(b[i], c[i])); EXPECT(EQUAL(d[i], first[i])); } }
#define ROTATE_VARIABLE_ARRAY(OP, T, N, EQUAL) CHECK(OP) { \
  T a, b, c, first; sample(a, 0); sample(b, 1); sample(c, 2); T##_copy(first, b); \
  T##_var d; \
  T##_var r = x.peer->OP(a, b, c, d.out()); \
  for (int i = 0; i < N; i++) { EXPECT(EQUAL(r[i], a[i])); EXPECT(EQUAL(b[i], c[i])); EXPECT(EQUAL(d[i], first[i])); } }

ROTATE_VALUE(rotate_boolean, CORBA::Boolean)
ROTATE_VALUE(rotate_char, CORBA::Char)
ROTATE_VALUE(rotate_octet, CORBA::Octet)
ROTATE_VALUE(rotate_short, CORBA::Short)
ROTATE_VALUE(rotate_ushort, CORBA::UShort)
ROTATE_VALUE(rotate_long, CORBA::Long)
ROTATE_VALUE(rotate_ulong, CORBA::ULong)
ROTATE_VALUE(rotate_longlong, CORBA::LongLong)
ROTATE_VALUE(rotate_ulonglong, CORBA::ULongLong)
ROTATE_VALUE(rotate_float, CORBA::Float)
ROTATE_VALUE(rotate_double, CORBA::Double)
ROTATE_VALUE(rotate_colour, Colour)
ROTATE_VALUE(rotate_distance, CORBA::Long)

ROTATE_STRING(rotate_string, "a longer text, of forty-two octets or more")
ROTATE_STRING(rotate_title, "title")
ROTATE_STRING(rotate_label, "sixteen octets!!")

ROTATE_FIXED(rotate_point, Point)
ROTATE_FIXED(rotate_mixed, Mixed)
ROTATE_FIXED(rotate_nothing, Nothing)
ROTATE_VARIABLE(rotate_leaf, Leaf)
ROTATE_VARIABLE(rotate_branch, Branch)
ROTATE_VARIABLE(rotate_shape, Shape)
ROTATE_VARIABLE(rotate_maybe, Maybe)
ROTATE_VARIABLE(rotate_either, Either)
ROTATE_VARIABLE(rotate_numbered, Numbered)
ROTATE_VARIABLE(rotate_lettered, Lettered)
ROTATE_VARIABLE(rotate_wide, Wide)
ROTATE_FIXED(rotate_tiny, Tiny)
ROTATE_VARIABLE(rotate_tree, Tree)
ROTATE_VARIABLE(rotate_chain, Chain)

ROTATE_VARIABLE(rotate_booleans, BooleanSeq)
ROTATE_VARIABLE(rotate_chars, CharSeq)
ROTATE_VARIABLE(rotate_octets, OctetSeq)
ROTATE_VARIABLE(rotate_shorts, ShortSeq)
ROTATE_VARIABLE(rotate_ushorts, UShortSeq)
ROTATE_VARIABLE(rotate_longs, LongSeq)
ROTATE_VARIABLE(rotate_ulongs, ULongSeq)
ROTATE_VARIABLE(rotate_longlongs, LongLongSeq)
ROTATE_VARIABLE(rotate_ulonglongs, ULongLongSeq)
ROTATE_VARIABLE(rotate_floats, FloatSeq)
ROTATE_VARIABLE(rotate_doubles, DoubleSeq)
ROTATE_VARIABLE(rotate_strings, StringSeq)
ROTATE_VARIABLE(rotate_colours, ColourSeq)
ROTATE_VARIABLE(rotate_distances, DistanceSeq)
ROTATE_VARIABLE(rotate_points, PointSeq)
ROTATE_VARIABLE(rotate_mixeds, MixedSeq)
ROTATE_VARIABLE(rotate_leaves, LeafSeq)
ROTATE_VARIABLE(rotate_shapes, ShapeSeq)
ROTATE_VARIABLE(rotate_long_rows, LongSeqSeq)
ROTATE_VARIABLE(rotate_table, StringTable)
ROTATE_VARIABLE(rotate_vectors, VectorSeq)
ROTATE_VARIABLE(rotate_few_longs, FewLongs)
ROTATE_VARIABLE(rotate_few_labels, FewLabels)
ROTATE_VARIABLE(rotate_few_points, FewPoints)

template <class T> static bool equal(const T& a, const T& b) { return a == b; }
static bool text_equal(const char* a, const char* b) { return !strcmp(a, b); }
static bool row_equal(const CORBA::Double* a, const CORBA::Double* b) { return a[0] == b[0] && a[1] == b[1] && a[2] == b[2]; }
static bool point_row_equal(const Point* a, const Point* b) { return same(a[0], b[0]) && same(a[1], b[1]); }

ROTATE_ARRAY(rotate_vector, Vector, 4, equal)
ROTATE_ARRAY(rotate_digest, Digest, 16, equal)
ROTATE_ARRAY(rotate_matrix, Matrix, 2, row_equal)
ROTATE_ARRAY(rotate_triangle, Triangle, 3, same)
ROTATE_ARRAY(rotate_point_grid, PointGrid, 2, point_row_equal)
ROTATE_VARIABLE_ARRAY(rotate_words, Words, 2, text_equal)
ROTATE_VARIABLE_ARRAY(rotate_rows, Rows, 2, same)

CHECK(every_octet)
{
  OctetSeq a, b, c;
  a.length(256);
  for (int i = 0; i < 256; i++) {
    CORBA::Octet octet = i, again = i, d = 0;
    if (i % 51 == 0) EXPECT(x.peer->rotate_octet(octet, again, octet, d) == i && d == i);
    a[i] = octet;
  }
  OctetSeq_var d, r = x.peer->rotate_octets(a, b, c, d.out());
  EXPECT(same(r.in(), a));
}
// Each arm of a union and each label, not only the three samples.
CHECK(union_labels)
{
  Numbered n, out; n.small(9);
  for (CORBA::Long label = 1; label <= 3; label++) {
    n._d(label);
    Numbered b = n;
    Numbered_var d, r = x.peer->rotate_numbered(n, b, n, d.out());
    EXPECT(r->_d() == label && r->small() == 9);
  }
  Vector v = { 1, 2, 3, 4 };
  n.numbers(v);
  Numbered b = n, none; none._default(); none._d(12345);
  Numbered_var d, r = x.peer->rotate_numbered(n, b, none, d.out());
  EXPECT(r->_d() == 100 && r->numbers()[3] == 4);
  EXPECT(b._d() == 12345);
}
CHECK(describe_shape)
{
  const char* expected[] = { "width -17", "caption a caption", "corner 3,-4" };
  for (int i = 0; i < 3; i++) {
    Shape s; sample(s, i);
    CORBA::String_var text = x.peer->describe_shape(s);
    EXPECT(!strcmp(text, expected[i]));
  }
}
CHECK(count_nodes)
{
  Tree t; sample(t, 0);
  EXPECT(x.peer->count_nodes(t) == 7);
  for (int depth = 0; depth < 20; depth++) {
    Tree root; root.text = "root"; root.children.length(1); root.children[0] = t;
    t = root;
  }
  EXPECT(x.peer->count_nodes(t) == 27);
}
CHECK(make_matrix)
{
  Matrix_var m = x.peer->make_matrix();
  for (int i = 0; i < 2; i++) for (int j = 0; j < 3; j++) EXPECT(m[i][j] == 10 * i + j);
}
CHECK(collect_and_spread)
{
  Mixed m; sample(m, 0);
  m.last = m.raw; m.tint = BLUE; m.normal = -70000; m.where.x = -70000; m.where.y = -69999;
  Mixed r = x.peer->collect(m.flag, m.real, m.letter, m.small, m.raw, m.huge, m.usmall, m.single, m.normal, m.big, m.unormal);
  EXPECT(same(r, m));
  Mixed s = m;
  sample(s, 1);
  s.last = m.last; s.tint = m.tint; s.where = m.where;
  x.peer->spread(m, s.flag, s.real, s.letter, s.small, s.raw, s.huge, s.usmall, s.single, s.normal, s.big, s.unormal);
  EXPECT(same(s, m));
}
CHECK(constants)
{
  Constants_var c = x.peer->get_constants();
  EXPECT(c->yes_value && !c->no_value);
  EXPECT(c->letter_value == 'q' && c->newline_value == '\n');
  EXPECT(c->octet_top_value == 255 && c->short_low_value == -32768 && c->ushort_top_value == 65535);
  EXPECT(c->long_low_value == -2147483647 && c->ulong_top_value == 4294967295u);
  EXPECT(c->longlong_low_value == -9223372036854775807ll && c->ulonglong_top_value == 18446744073709551615ull);
  EXPECT(c->quarter_value == 0.25f && c->avogadro_value == 6.02214076e23);
  EXPECT(!strcmp(c->greeting_value, "hello, world\t\"1\""));
  EXPECT(c->favourite_value == GREEN && c->bits_value == 43 && c->arithmetic_value == -4 && c->bound_value == 4);
  EXPECT(c->half_bits_value == 0.625 && c->inner_value == -5);
}
CHECK(sum_longs) { LongSeq s; s.length(3); s[0] = 2147483647; s[1] = 2147483647; s[2] = -5; EXPECT(x.peer->sum_longs(s) == 4294967289ll); }
CHECK(reverse_strings)
{
  StringSeq s; s.length(3); s[0] = "one"; s[1] = "two"; s[2] = "three";
  x.peer->reverse_strings(s);
  EXPECT(s.length() == 3 && !strcmp(s[0], "three") && !strcmp(s[1], "two") && !strcmp(s[2], "one"));
}
