// Checks of calls: text, attributes, exceptions, oneway, references, callbacks, names, and much data.
#include "check.hpp"

using namespace Interop;

CHECK(ping) { for (int i = 0; i < 100; i++) x.peer->ping(); }
CHECK(add) { EXPECT(x.peer->add(40, 2) == 42); EXPECT(x.peer->add(-2000000000, 1) == -1999999999); }

// ---------------------------------------------------------------- text

// Sends and receives text as code points both ways.
static void exchange(Context& x, const CodePoints& points)
{
  std::string text = encode_native(points, x.utf8);
  ULongSeq_var seen = x.peer->code_points(text.c_str());
  EXPECT(seen->length() == points.size());
  for (size_t i = 0; i < points.size(); i++) EXPECT(seen[CORBA::ULong(i)] == points[i]);
  CORBA::String_var back = x.peer->from_code_points(seen);
  EXPECT(text == back.in());
  CORBA::String_var twice = x.peer->concat(text.c_str(), text.c_str());
  EXPECT(text + text == twice.in());
}
static const CodePoints latin1_text = { 'G', 'r', 0xFC, 0xDF, 'e', ' ', 0xA3, ' ', 0xE9, 0xFF, 0xA0 };

CHECK(text_ascii) { exchange(x, { 'p', 'l', 'a', 'i', 'n' }); }
CHECK(text_latin1)
{
  if (x.utf8 && x.giop_minor == 0) throw Skip{ "GIOP 1.0 has no code set negotiation" };
  exchange(x, latin1_text);
}
CHECK(text_beyond_latin1)
{
  if (!x.utf8) throw Skip{ "this client's code set is ISO-8859-1" };
  if (x.giop_minor == 0) throw Skip{ "GIOP 1.0 has no code set negotiation" };
  const CodePoints text = { 0x65E5, 0x672C, ' ', 0x20AC, ' ', 0x3A9, 0x1F600 };
  if (x.server_latin1) EXPECT_SYSTEM(DATA_CONVERSION, x.peer->code_points(encode_native(text, true).c_str()));
  else exchange(x, text);
}
CHECK(text_server_has_more)     // the server holds a text that this client's code set cannot
{
  if (x.utf8) throw Skip{ "this client's code set is UTF-8" };
  ULongSeq euro; euro.length(1); euro[0] = 0x20AC;
  EXPECT_SYSTEM(DATA_CONVERSION, CORBA::String_var(x.peer->from_code_points(euro)));
}
CHECK(char_latin1)
{
  if (x.utf8) throw Skip{ "0xE9 is no character of UTF-8" };
  CORBA::Char a = '\xE9', b = '\xFF', d = 'd';
  EXPECT(x.peer->rotate_char(a, b, 'c', d) == CORBA::Char('\xE9'));
  EXPECT(b == 'c' && d == CORBA::Char('\xFF'));
}

// ---------------------------------------------------------------- attributes

CHECK(attributes)
{
  CORBA::ULong before = x.peer->writes();
  x.peer->level(-70000); EXPECT(x.peer->level() == -70000);
  x.peer->wide_part(11); x.peer->high_part(-12);
  EXPECT(x.peer->wide_part() == 11 && x.peer->high_part() == -12);
  x.peer->heading("a heading"); EXPECT(!strcmp(CORBA::String_var(x.peer->heading()), "a heading"));
  Point p = { 5, -6 };
  x.peer->origin(p); EXPECT(same(x.peer->origin(), p));
  LongSeq s; s.length(2); s[0] = 8; s[1] = -9;
  x.peer->history(s); EXPECT(same(LongSeq_var(x.peer->history()).in(), s));
  Vector v = { 1, -2, 3, -4 };
  x.peer->setting(v); EXPECT(Vector_var(x.peer->setting())[3] == -4);
  x.peer->anything(x.peer);
  CORBA::Object_var o = x.peer->anything(); EXPECT(o->_is_equivalent(x.peer));
  x.peer->anything(CORBA::Object::_nil());
  o = x.peer->anything(); EXPECT(CORBA::is_nil(o));
  EXPECT(x.peer->favourite() == GREEN);
  EXPECT(x.peer->writes() == before + 9);
}

// ---------------------------------------------------------------- exceptions

CHECK(fail_empty)
{
  try { x.peer->fail_empty(); } catch (const Empty&) { return; }
  EXPECT(!"raised Empty");
}
CHECK(divide)
{
  CORBA::Long rest = 0;
  EXPECT(x.peer->divide(17, 5, rest) == 3 && rest == 2);
  try { x.peer->divide(1, 0, rest); EXPECT(!"raised DivideByZero"); } catch (const DivideByZero&) {}
  try { x.peer->divide(-3, 1, rest); EXPECT(!"raised Rejected"); }
  catch (const Rejected& e) { EXPECT(!strcmp(e.reason, "negative") && e.code == -3); }
}
CHECK(fail_detailed)
{
  Leaf item;
  item.text = "item"; item.values.length(2); item.values[0] = 1; item.values[1] = -1; item.tint = RED;
  for (int i = 0; i < 4; i++) item.numbers[i] = i;
  try { CORBA::String_var s = x.peer->fail_detailed("what it was", item); EXPECT(!"raised Detailed"); }
  catch (const Detailed& e) {
    EXPECT(!strcmp(e.what, "what it was") && same(e.item, item) && e.tint == BLUE);
    EXPECT(same(e.path, item.values) && e.where.x == 1 && e.where.y == 2);
  }
}
// The standard defines a minor code for a vendor's use as the vendor's id and 12 bits.
template <class E> static void expect_failure(Context& x, SystemFailure which, CORBA::ULong minor, Completion completed)
{
  try { x.peer->fail_system(which, minor, completed); }
  catch (const E& e) {
    EXPECT(e.minor() == minor && int(e.completed()) == int(completed));
    return;
  }
  throw Failure{ "did not raise the exception with index " + std::to_string(int(which)) };
}
CHECK(fail_system)
{
  expect_failure<CORBA::UNKNOWN>(x, FAIL_UNKNOWN, 1, COMPLETED_YES_VALUE);
  expect_failure<CORBA::BAD_PARAM>(x, FAIL_BAD_PARAM, 0, COMPLETED_NO_VALUE);
  expect_failure<CORBA::NO_MEMORY>(x, FAIL_NO_MEMORY, 0x4f4d0003, COMPLETED_MAYBE_VALUE);
  expect_failure<CORBA::IMP_LIMIT>(x, FAIL_IMP_LIMIT, 4, COMPLETED_NO_VALUE);
  expect_failure<CORBA::INV_OBJREF>(x, FAIL_INV_OBJREF, 0xffffffff, COMPLETED_YES_VALUE);
  expect_failure<CORBA::NO_PERMISSION>(x, FAIL_NO_PERMISSION, 6, COMPLETED_NO_VALUE);
  expect_failure<CORBA::INTERNAL>(x, FAIL_INTERNAL, 7, COMPLETED_MAYBE_VALUE);
  expect_failure<CORBA::NO_RESOURCES>(x, FAIL_NO_RESOURCES, 8, COMPLETED_NO_VALUE);
  expect_failure<CORBA::NO_IMPLEMENT>(x, FAIL_NO_IMPLEMENT, 9, COMPLETED_YES_VALUE);
  expect_failure<CORBA::BAD_INV_ORDER>(x, FAIL_BAD_INV_ORDER, 10, COMPLETED_NO_VALUE);
  expect_failure<CORBA::DATA_CONVERSION>(x, FAIL_DATA_CONVERSION, 11, COMPLETED_YES_VALUE);
}
CHECK(crash)
{
  EXPECT_SYSTEM(UNKNOWN, x.peer->crash());
  x.peer->ping();
}

// ---------------------------------------------------------------- requests that do not fit

static Impostor_ptr impostor(Context& x) { return Impostor::_unchecked_narrow(x.peer); }

CHECK(unknown_operation) { EXPECT_SYSTEM(BAD_OPERATION, Impostor_var(impostor(x))->no_such_operation(1)); }
CHECK(undeclared_exception) { EXPECT_SYSTEM(UNKNOWN, Impostor_var(impostor(x))->fail_empty()); }
CHECK(body_too_short) { EXPECT_SYSTEM(MARSHAL, Impostor_var(impostor(x))->add(1)); }
CHECK(no_such_enumerator)
{
  CORBA::ULong b = 1, d;
  EXPECT(Impostor_var(impostor(x))->rotate_colour(2, b, 0, d) == 2);
  EXPECT_SYSTEM(MARSHAL, Impostor_var(impostor(x))->rotate_colour(3, b, 0, d));
}
CHECK(string_over_its_bound)
{
  CORBA::String_var b = CORBA::string_dup("b"), d;
  EXPECT_SYSTEM(MARSHAL, CORBA::String_var(Impostor_var(impostor(x))->rotate_label("seventeen octets!", b.inout(), "c", d.out())));
}
CHECK(sequence_over_its_bound)
{
  LongSeq a, b, c; a.length(5);
  for (int i = 0; i < 5; i++) a[i] = i;
  LongSeq_var d;
  EXPECT_SYSTEM(MARSHAL, LongSeq_var(Impostor_var(impostor(x))->rotate_few_longs(a, b, c, d.out())));
}
CHECK(length_without_elements)
{
  EXPECT_SYSTEM(MARSHAL, Impostor_var(impostor(x))->sum_longs(1));
  EXPECT_SYSTEM(MARSHAL, Impostor_var(impostor(x))->sum_longs(0xffffffff));
  x.peer->ping();
}

// ---------------------------------------------------------------- oneway

CHECK(oneway)
{
  x.peer->reset_notes();
  for (int i = 1; i <= 50; i++) x.peer->note(i);
  LongSeq s; s.length(2); s[0] = 1000; s[1] = -1;
  x.peer->note_all("seven..", s);
  CORBA::ULong count = 0;
  CORBA::Long sum = 0;
  // The calls may use several connections, so nothing orders them but time.
  for (int i = 0; i < 100 && count < 51; i++) { sum = x.peer->noted(count); omni_thread::sleep(0, 20000000); }
  EXPECT(count == 51);
  EXPECT(sum == 1275 + 999 + 7);
}

// ---------------------------------------------------------------- references

CHECK(counter)
{
  Counter_var c = x.peer->make_counter(5);
  EXPECT(c->value() == 5);
  EXPECT(c->increase(7) == 12);
  EXPECT(c->value() == 12);
}
CHECK(destroyed_object)
{
  Counter_var c = x.peer->make_counter(5);
  EXPECT(!c->_non_existent());
  c->destroy();
  EXPECT_SYSTEM(OBJECT_NOT_EXIST, c->value());
  EXPECT(c->_non_existent());
}
CHECK(nil)
{
  Counter_var none = x.peer->no_counter();
  EXPECT(CORBA::is_nil(none));
  EXPECT(!strcmp(CORBA::String_var(x.peer->kind_of(CORBA::Object::_nil())), "nil"));
  EXPECT(x.peer->equivalent(CORBA::Object::_nil(), none));
}
CHECK(diamond)
{
  Bottom_var b = x.peer->make_bottom("Bob");
  EXPECT(!strcmp(CORBA::String_var(b->given_name()), "Bob"));
  EXPECT(!strcmp(CORBA::String_var(b->greet("Ann")), "Bob greets Ann"));
  EXPECT(b->twice(4) == 8 && b->square(5) == 25 && b->both(3) == 15);
  EXPECT(x.peer->use_left(b, 21) == 42);
  Named_var named = x.peer->widen(b);
  EXPECT(!strcmp(CORBA::String_var(named->given_name()), "Bob"));
  EXPECT(named->_is_equivalent(b));
  Bottom_var again = Bottom::_narrow(named);
  EXPECT(!CORBA::is_nil(again) && again->both(1) == 3);
}
CHECK(narrow)
{
  CORBA::Object_var o = x.peer->myself();
  EXPECT(!CORBA::is_nil(Interop::Peer_var(Interop::Peer::_narrow(o))));
  EXPECT(!CORBA::is_nil(Text_var(Text::_narrow(o))));
  EXPECT(CORBA::is_nil(Counter_var(Counter::_narrow(o))));
  EXPECT(CORBA::is_nil(Impostor_var(Impostor::_narrow(o))));
  EXPECT(o->_is_a("IDL:punctual.test/Interop/Peer:1.0"));
  EXPECT(o->_is_a("IDL:punctual.test/Interop/Basics:1.0"));
  EXPECT(o->_is_a("IDL:omg.org/CORBA/Object:1.0"));
  EXPECT(!o->_is_a("IDL:punctual.test/Interop/Counter:1.0"));
  EXPECT(!o->_is_a("nonsense"));
  EXPECT(!o->_non_existent());
}
// _is_a of omniORB answers from the reference's type id where it can: these are asked over the wire.
CHECK(is_a_remote)
{
  CORBA::Object_var o = x.peer->make_bottom("x");
  const char* kinds[] = { "bottom", "counter", "peer" };
  Counter_var c = x.peer->make_counter(1);
  CORBA::Object_ptr refs[] = { o, c, x.peer };
  for (int i = 0; i < 3; i++) EXPECT(!strcmp(CORBA::String_var(x.peer->kind_of(refs[i])), kinds[i]));
}
CHECK(equivalent_and_hash)
{
  CORBA::Object_var a = x.peer->myself(), b = x.peer->myself();
  Counter_var c = x.peer->make_counter(1), other = x.peer->make_counter(1);
  EXPECT(a->_is_equivalent(b) && a->_hash(1000000) == b->_hash(1000000));
  EXPECT(!c->_is_equivalent(other) && !a->_is_equivalent(c));
  EXPECT(x.peer->equivalent(a, b) && x.peer->equivalent(c, c) && !x.peer->equivalent(c, other));
  EXPECT(!x.peer->equivalent(c, CORBA::Object::_nil()));
}

static CORBA::Long value_of(Counter_ptr c) { return CORBA::is_nil(c) ? -1 : c->value(); }

CHECK(rotate_counter)
{
  Counter_var a = x.peer->make_counter(1), b = x.peer->make_counter(2), d;
  Counter_var r = x.peer->rotate_counter(a, b.inout(), Counter::_nil(), d.out());
  EXPECT(value_of(r) == 1 && CORBA::is_nil(b) && value_of(d) == 2);
}
CHECK(rotate_alias)
{
  Counter_var a = x.peer->make_counter(1), b, c = x.peer->make_counter(3), d;
  Counter_var r = x.peer->rotate_alias(a, b.inout(), c, d.out());
  EXPECT(value_of(r) == 1 && value_of(b) == 3 && CORBA::is_nil(d));
}
CHECK(rotate_object)
{
  CORBA::Object_var a = x.peer->make_counter(1), b = x.peer->make_bottom("b"), d;
  CORBA::Object_var r = x.peer->rotate_object(a, b.inout(), x.peer, d.out());
  EXPECT(r->_is_equivalent(a) && b->_is_equivalent(x.peer));
  EXPECT(!CORBA::is_nil(Bottom_var(Bottom::_narrow(d))));
}
CHECK(rotate_counters)
{
  CounterSeq a, b, c;
  a.length(3); a[0] = x.peer->make_counter(10); a[1] = Counter::_nil(); a[2] = x.peer->make_counter(12);
  c.length(1); c[0] = x.peer->make_counter(30);
  CounterSeq_var d, r = x.peer->rotate_counters(a, b, c, d.out());
  EXPECT(r->length() == 3 && value_of(r[0u]) == 10 && CORBA::is_nil(r[1u]) && value_of(r[2u]) == 12);
  EXPECT(b.length() == 1 && value_of(b[0]) == 30 && d->length() == 0);
  EXPECT(x.peer->total(a) == 22);
}
CHECK(rotate_holder)
{
  Holder a, b, c;
  a.text = "a"; a.counter_ref = x.peer->make_counter(1); a.any_ref = x.peer->myself(); a.after = 11;
  b.text = "b"; b.counter_ref = Counter::_nil(); b.any_ref = CORBA::Object::_nil(); b.after = 22;
  c.text = "c"; c.counter_ref = x.peer->make_counter(3); c.any_ref = CORBA::Object::_nil(); c.after = 33;
  Holder_var d, r = x.peer->rotate_holder(a, b, c, d.out());
  EXPECT(r->after == 11 && value_of(r->counter_ref) == 1 && r->any_ref->_is_equivalent(x.peer->myself()));
  EXPECT(b.after == 33 && value_of(b.counter_ref) == 3 && CORBA::is_nil(b.any_ref));
  EXPECT(d->after == 22 && CORBA::is_nil(d->counter_ref));
  EXPECT(x.peer->increase_held(a, 41) == 42 && a.after == 12 && value_of(a.counter_ref) == 42);
  EXPECT(x.peer->increase_held(d.inout(), 1) == -1 && d->after == 23);
}
CHECK(rotate_target)
{
  Target a, b, c;
  a.counter_ref(Counter_var(x.peer->make_counter(4)));
  b.any_ref(CORBA::Object_var(x.peer->myself()));
  c.any_ref(CORBA::Object::_nil());
  Target_var d, r = x.peer->rotate_target(a, b, c, d.out());
  EXPECT(r->_d() && value_of(r->counter_ref()) == 4);
  EXPECT(!b._d() && CORBA::is_nil(b.any_ref()));
  EXPECT(!d->_d() && !CORBA::is_nil(d->any_ref()));
}

// ---------------------------------------------------------------- the server calls the client

class Listener_i : public Here<POA_Interop::Listener>
{
public:
  Listener_i() : told_count(0), told_sum(0) {}
  CORBA::Long heard(CORBA::Long n, const char* text)
  {
    if (n == 2 && !strcmp(text, "reject")) throw Rejected(text, n);
    heard_values.push_back(n);
    return n * 10;
  }
  void told(CORBA::Long n) { omni_mutex_lock hold(lock); told_count++; told_sum += n; }
  std::vector<CORBA::Long> heard_values;
  omni_mutex lock;
  int told_count;
  CORBA::Long told_sum;
};

class Bouncer_i : public Here<POA_Interop::Bouncer>
{
public:
  CORBA::Long bounce(Bouncer_ptr other, CORBA::Long depth)
  {
    if (depth <= 0) return 0;
    Bouncer_var me = _this();
    return 1 + other->bounce(me, depth - 1);
  }
};

CHECK(call_back)
{
  PortableServer::Servant_var<Listener_i> servant = new Listener_i;
  Listener_var listener = servant->_this();
  EXPECT(x.peer->call_back(listener, 4, "text") == 60);
  EXPECT(servant->heard_values == (std::vector<CORBA::Long>{ 0, 1, 2, 3 }));
  try { x.peer->call_back(listener, 4, "reject"); EXPECT(!"passed Rejected on"); }
  catch (const Rejected& e) { EXPECT(!strcmp(e.reason, "reject") && e.code == 2); }
  x.peer->call_back_oneway(listener, 5);
  for (int i = 0; i < 100; i++) {
    { omni_mutex_lock hold(servant->lock); if (servant->told_count == 5) break; }
    omni_thread::sleep(0, 20000000);
  }
  omni_mutex_lock hold(servant->lock);
  EXPECT(servant->told_count == 5 && servant->told_sum == 10);
}
CHECK(own_references)       // references to this client's objects, given to the server and back
{
  Counter_var mine = new_counter(100);
  EXPECT(!strcmp(CORBA::String_var(x.peer->kind_of(mine)), "counter"));
  CounterSeq both; both.length(2); both[0] = mine; both[1] = x.peer->make_counter(11);
  EXPECT(x.peer->total(both) == 111);
  Counter_var b, d;
  Counter_var r = x.peer->rotate_counter(mine, b.inout(), mine, d.out());
  EXPECT(r->_is_equivalent(mine) && r->increase(1) == 101 && b->value() == 101 && CORBA::is_nil(d));
}
CHECK(nested_calls)
{
  PortableServer::Servant_var<Bouncer_i> servant = new Bouncer_i;
  Bouncer_var me = servant->_this();
  EXPECT(x.peer->bounce(me, 0) == 0);
  EXPECT(x.peer->bounce(me, 1) == 1);
  EXPECT(x.peer->bounce(me, 5) == 5);
}

// ---------------------------------------------------------------- names and repository ids

CHECK(reserved_words)
{
  EXPECT(x.peer->type(1) == 2);
  EXPECT(x.peer->match("a", "a") && !x.peer->match("a", "b"));
  EXPECT(x.peer->self(5) == -5);
  CORBA::ULong where = 0;
  EXPECT(x.peer->loop(21, where) == 42 && where == 21);
  Reserved crate; crate.type = 1; crate.match = "m"; crate.fn = true;
  Mood mood = async;
  Reserved_var r = x.peer->move(crate, mood);
  EXPECT(same(r.in(), crate) && mood == dyn);
  EXPECT(x.peer->fn(35).dyn == 42);
  EXPECT(!strcmp(CORBA::String_var(x.peer->clone()), "clone"));
  EXPECT(x.peer->drop(3) == 2);
  EXPECT(x.peer->interface(14) == 42);
  x.peer->yield(9);
  EXPECT(x.peer->yield() == 9);
}
CHECK(repository_ids)
{
  Prefixed::Versioned_var v = x.peer->make_versioned();
  EXPECT(!strcmp(CORBA::String_var(v->who()), "versioned"));
  EXPECT(v->_is_a("IDL:elsewhere.test/Versioned:2.3") && !v->_is_a("IDL:elsewhere.test/Versioned:1.0"));
  try { v->fail_odd(3); EXPECT(!"raised Odd"); } catch (const Prefixed::Odd& e) { EXPECT(e.number == 3); }
}

// ---------------------------------------------------------------- much data

static const CORBA::ULong megabytes = 4 * 1024 * 1024;

static CORBA::ULong checksum(const OctetSeq& s)
{
  CORBA::ULong sum = 0;
  for (CORBA::ULong i = 0; i < s.length(); i++) sum = sum * 31 + s[i];
  return sum;
}
static void fill(OctetSeq& s, CORBA::ULong count) { s.length(count); for (CORBA::ULong i = 0; i < count; i++) s[i] = i * 7; }
static void fill(LongSeq& s, CORBA::ULong count) { s.length(count); for (CORBA::ULong i = 0; i < count; i++) s[i] = i * 3 - 1000; }

CHECK(large_octets)
{
  for (CORBA::ULong count : { 0u, 1u, 8100u, 8192u, 20000u, megabytes }) {
    OctetSeq sent; fill(sent, count);
    EXPECT(x.peer->checksum(sent) == checksum(sent));
    OctetSeq_var got = x.peer->make_octets(count);
    EXPECT(got->length() == count);
    for (CORBA::ULong i = 0; i < count; i++) if (got[i] != i % 251) EXPECT(!"octet i is i % 251");
  }
}
CHECK(large_longs)
{
  for (CORBA::ULong count : { 2000u, 2047u, 2048u, megabytes / 4 }) {
    LongSeq sent; fill(sent, count);
    CORBA::LongLong n = count;
    EXPECT(x.peer->sum_longs(sent) == 3 * n * (n - 1) / 2 - 1000 * n);
    LongSeq_var got = x.peer->make_longs(count);
    EXPECT(same(got.in(), sent));
  }
}
CHECK(large_strings)
{
  StringSeq_var got = x.peer->make_words(100000);
  EXPECT(got->length() == 100000);
  for (CORBA::ULong i = 0; i < 100000; i++) if (std::string(got[i]) != "word-" + std::to_string(i)) EXPECT(!"word i is word-i");
  x.peer->reverse_strings(got.inout());
  EXPECT(got->length() == 100000 && !strcmp(got[0u], "word-99999") && !strcmp(got[99999u], "word-0"));
}
CHECK(large_string)
{
  std::string one(megabytes, 'x');
  CORBA::String_var back = x.peer->concat(one.c_str(), "end");
  EXPECT(one + "end" == back.in());
}
CHECK(large_doubles)
{
  DoubleSeq a, b, c;
  a.length(100000);
  for (CORBA::ULong i = 0; i < a.length(); i++) a[i] = i * 0.5;
  c = a;
  DoubleSeq_var d, r = x.peer->rotate_doubles(a, b, c, d.out());
  EXPECT(same(r.in(), a) && same(b, a) && d->length() == 0);
}
CHECK(large_inout)
{
  OctetSeq bytes; fill(bytes, 1000003);
  LongSeq numbers; fill(numbers, 300001);
  StringSeq_var words;
  EXPECT(x.peer->large(bytes, numbers, 5000, words.out()) == checksum(bytes));
  EXPECT(numbers.length() == 300001 && numbers[0] == 300000 * 3 - 1000 && numbers[300000] == -1000);
  EXPECT(words->length() == 5000 && !strcmp(words[4999u], "word-4999"));
}
CHECK(large_structs)
{
  LeafSeq a, b, c; a.length(5000);
  for (CORBA::ULong i = 0; i < a.length(); i++) {
    a[i].text = std::string(i % 50, 'y').c_str();
    fill(a[i].values, i % 30);
    a[i].tint = Colour(i % 3);
    for (int k = 0; k < 4; k++) a[i].numbers[k] = i + k;
  }
  LeafSeq_var d, r = x.peer->rotate_leaves(a, b, c, d.out());
  EXPECT(same(r.in(), a));
}
