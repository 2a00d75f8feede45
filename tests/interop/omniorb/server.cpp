// An omniORB server of Interop::Peer (see ../idl/interop.idl for what every operation does).
//
//   interop-server [--ior FILE] [-ORBoption value ...]
//
// Prints READY when it serves, after the IOR went to FILE (or to standard output). Ends by Peer::shutdown().
#include "interop.hh"
#include "objects.hpp"
#include "text.hpp"
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <stdexcept>

using namespace Interop;

static CORBA::ORB_var the_orb;
static bool native_is_utf8 = false;

// ---------------------------------------------------------------- rotate, for each kind of C++ mapping

#define ROTATE_VALUE(OP, T) \
  T OP(T a, T& b, T c, T& d) { d = b; b = c; return a; }
#define ROTATE_STRING(OP, OUT) \
  char* OP(const char* a, char*& b, const char* c, OUT d) \
  { d = CORBA::string_dup(b); CORBA::string_free(b); b = CORBA::string_dup(c); return CORBA::string_dup(a); }
#define ROTATE_FIXED(OP, T) \
  T OP(const T& a, T& b, const T& c, T& d) { d = b; b = c; return a; }
#define ROTATE_VARIABLE(OP, T) \
  T* OP(const T& a, T& b, const T& c, T##_out d) { d = new T(b); b = c; return new T(a); }
#define ROTATE_ARRAY(OP, T) \
  T##_slice* OP(const T a, T b, const T c, T d) { T##_copy(d, b); T##_copy(b, c); return T##_dup(a); }
#define ROTATE_VARIABLE_ARRAY(OP, T) \
  T##_slice* OP(const T a, T b, const T c, T##_out d) { d = T##_dup(b); T##_copy(b, c); return T##_dup(a); }
#define ROTATE_REFERENCE(OP, T, OUT) \
  T##_ptr OP(T##_ptr a, T##_ptr& b, T##_ptr c, OUT d) \
  { d = T::_duplicate(b); CORBA::release(b); b = T::_duplicate(c); return T::_duplicate(a); }

// ---------------------------------------------------------------- small objects

class Bottom_i : public Here<POA_Interop::Bottom>
{
public:
  explicit Bottom_i(const char* called) : name_(called) {}
  char* given_name() { return CORBA::string_dup(name_.c_str()); }
  char* greet(const char* whom) { return CORBA::string_dup((name_ + " greets " + whom).c_str()); }
  CORBA::Long twice(CORBA::Long n) { return 2 * n; }
  CORBA::Long square(CORBA::Long n) { return n * n; }
  CORBA::Long both(CORBA::Long n) { return twice(n) + square(n); }
private:
  std::string name_;
};

class Versioned_i : public Here<POA_Interop::Prefixed::Versioned>
{
public:
  char* who() { return CORBA::string_dup("versioned"); }
  void fail_odd(CORBA::Long number) { throw Prefixed::Odd(number); }
};

// ---------------------------------------------------------------- the main object

class Peer_i : public Here<POA_Interop::Peer>
{
public:
  Peer_i() : level_(0), wide_part_(0), high_part_(0), heading_(""), writes_(0), sum_(0), notes_(0), yield_(0)
  {
    origin_.x = origin_.y = 0;
    std::fill(setting_, setting_ + 4, 0);
  }

  // Basics

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

  void ping() {}
  CORBA::Long add(CORBA::Long a, CORBA::Long b) { return a + b; }

  Mixed collect(CORBA::Boolean flag, CORBA::Double real, CORBA::Char letter, CORBA::Short small, CORBA::Octet raw,
                CORBA::ULongLong huge, CORBA::UShort usmall, CORBA::Float single, CORBA::Long normal,
                CORBA::LongLong big, CORBA::ULong unormal)
  {
    Mixed m;
    m.flag = flag; m.real = real; m.letter = letter; m.small = small; m.raw = raw; m.huge = huge;
    m.usmall = usmall; m.single = single; m.normal = normal; m.last = raw; m.big = big; m.unormal = unormal;
    m.tint = BLUE; m.where.x = normal; m.where.y = normal + 1;
    return m;
  }
  void spread(const Mixed& m, CORBA::Boolean& flag, CORBA::Double& real, CORBA::Char& letter, CORBA::Short& small,
              CORBA::Octet& raw, CORBA::ULongLong& huge, CORBA::UShort& usmall, CORBA::Float& single,
              CORBA::Long& normal, CORBA::LongLong& big, CORBA::ULong& unormal)
  {
    flag = m.flag; real = m.real; letter = m.letter; small = m.small; raw = m.raw; huge = m.huge;
    usmall = m.usmall; single = m.single; normal = m.normal; big = m.big; unormal = m.unormal;
  }
  Constants* get_constants()
  {
    Constants* c = new Constants;
    c->yes_value = YES; c->no_value = NO; c->letter_value = LETTER; c->newline_value = NEWLINE;
    c->octet_top_value = OCTET_TOP; c->short_low_value = SHORT_LOW; c->ushort_top_value = USHORT_TOP;
    c->long_low_value = LONG_LOW; c->ulong_top_value = ULONG_TOP; c->longlong_low_value = LONGLONG_LOW;
    c->ulonglong_top_value = ULONGLONG_TOP; c->quarter_value = QUARTER; c->avogadro_value = AVOGADRO;
    c->greeting_value = GREETING; c->favourite_value = FAVOURITE; c->bits_value = BITS;
    c->arithmetic_value = ARITHMETIC; c->bound_value = BOUND; c->half_bits_value = HALF_BITS;
    c->inner_value = Interop::Basics::INNER;
    return c;
  }

  // Text

  ROTATE_STRING(rotate_string, CORBA::String_out)
  ROTATE_STRING(rotate_title, Title_out)
  ROTATE_STRING(rotate_label, Label_out)

  char* concat(const char* a, const char* b) { return CORBA::string_dup((std::string(a) + b).c_str()); }
  ULongSeq* code_points(const char* text)
  {
    CodePoints points = decode_native(text, native_is_utf8);
    ULongSeq* seq = new ULongSeq;
    seq->length(points.size());
    for (size_t i = 0; i < points.size(); i++) (*seq)[i] = points[i];
    return seq;
  }
  char* from_code_points(const ULongSeq& seq)
  {
    CodePoints points;
    for (CORBA::ULong i = 0; i < seq.length(); i++) points.push_back(seq[i]);
    try {
      return CORBA::string_dup(encode_native(points, native_is_utf8).c_str());
    } catch (const std::range_error&) {
      throw CORBA::DATA_CONVERSION(0, CORBA::COMPLETED_NO);
    }
  }

  // Constructed

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

  CORBA::ULong count_nodes(const Tree& root)
  {
    CORBA::ULong n = 1;
    for (CORBA::ULong i = 0; i < root.children.length(); i++) n += count_nodes(root.children[i]);
    return n;
  }
  char* describe_shape(const Shape& s)
  {
    std::string text = s._d() == RED   ? "width " + std::to_string(s.width())
                     : s._d() == GREEN ? "caption " + std::string(s.caption())
                     : "corner " + std::to_string(s.corner().x) + "," + std::to_string(s.corner().y);
    return CORBA::string_dup(text.c_str());
  }

  // Sequences

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

  CORBA::LongLong sum_longs(const LongSeq& values)
  {
    CORBA::LongLong sum = 0;
    for (CORBA::ULong i = 0; i < values.length(); i++) sum += values[i];
    return sum;
  }
  void reverse_strings(StringSeq& values)
  {
    for (CORBA::ULong i = 0, n = values.length(); i < n / 2; i++) {
      CORBA::String_var held = CORBA::string_dup(values[i]);
      values[i] = CORBA::string_dup(values[n - 1 - i]);
      values[n - 1 - i] = held._retn();
    }
  }

  // Arrays

  ROTATE_ARRAY(rotate_vector, Vector)
  ROTATE_ARRAY(rotate_digest, Digest)
  ROTATE_ARRAY(rotate_matrix, Matrix)
  ROTATE_ARRAY(rotate_triangle, Triangle)
  ROTATE_ARRAY(rotate_point_grid, PointGrid)
  ROTATE_VARIABLE_ARRAY(rotate_words, Words)
  ROTATE_VARIABLE_ARRAY(rotate_rows, Rows)

  Matrix_slice* make_matrix()
  {
    Matrix_slice* m = Matrix_alloc();
    for (int i = 0; i < 2; i++) for (int j = 0; j < 3; j++) m[i][j] = 10 * i + j;
    return m;
  }

  // Attributes

  CORBA::Long level() { return level_; }
  void level(CORBA::Long v) { level_ = v; writes_++; }
  CORBA::Short wide_part() { return wide_part_; }
  void wide_part(CORBA::Short v) { wide_part_ = v; writes_++; }
  CORBA::Short high_part() { return high_part_; }
  void high_part(CORBA::Short v) { high_part_ = v; writes_++; }
  char* heading() { return CORBA::string_dup(heading_.c_str()); }
  void heading(const char* v) { heading_ = v; writes_++; }
  Point origin() { return origin_; }
  void origin(const Point& v) { origin_ = v; writes_++; }
  LongSeq* history() { return new LongSeq(history_); }
  void history(const LongSeq& v) { history_ = v; writes_++; }
  Vector_slice* setting() { return Vector_dup(setting_); }
  void setting(const Vector v) { Vector_copy(setting_, v); writes_++; }
  CORBA::Object_ptr anything() { return CORBA::Object::_duplicate(anything_); }
  void anything(CORBA::Object_ptr v) { anything_ = CORBA::Object::_duplicate(v); writes_++; }
  Colour favourite() { return FAVOURITE; }
  CORBA::ULong writes() { return writes_; }

  // Failures

  void fail_empty() { throw Empty(); }
  CORBA::Long divide(CORBA::Long a, CORBA::Long b, CORBA::Long& remainder)
  {
    if (b == 0) throw DivideByZero();
    if (a < 0) throw Rejected("negative", a);
    remainder = a % b;
    return a / b;
  }
  char* fail_detailed(const char* what, const Leaf& item)
  {
    Point where = { 1, 2 };
    throw Detailed(what, item, BLUE, item.values, where);
  }
  void fail_system(SystemFailure which, CORBA::ULong minor, Completion completed)
  {
    CORBA::CompletionStatus status = CORBA::CompletionStatus(completed);
    switch (which) {
      case FAIL_UNKNOWN:         throw CORBA::UNKNOWN(minor, status);
      case FAIL_BAD_PARAM:       throw CORBA::BAD_PARAM(minor, status);
      case FAIL_NO_MEMORY:       throw CORBA::NO_MEMORY(minor, status);
      case FAIL_IMP_LIMIT:       throw CORBA::IMP_LIMIT(minor, status);
      case FAIL_INV_OBJREF:      throw CORBA::INV_OBJREF(minor, status);
      case FAIL_NO_PERMISSION:   throw CORBA::NO_PERMISSION(minor, status);
      case FAIL_INTERNAL:        throw CORBA::INTERNAL(minor, status);
      case FAIL_NO_RESOURCES:    throw CORBA::NO_RESOURCES(minor, status);
      case FAIL_NO_IMPLEMENT:    throw CORBA::NO_IMPLEMENT(minor, status);
      case FAIL_BAD_INV_ORDER:   throw CORBA::BAD_INV_ORDER(minor, status);
      case FAIL_DATA_CONVERSION: throw CORBA::DATA_CONVERSION(minor, status);
    }
  }
  void crash() { throw std::logic_error("crash was asked for"); }

  // Notes

  void note(CORBA::Long value) { omni_mutex_lock hold(lock_); sum_ += value; notes_++; }
  void note_all(const char* text, const LongSeq& values)
  {
    CORBA::LongLong sum = sum_longs(values);
    omni_mutex_lock hold(lock_);
    sum_ += CORBA::Long(strlen(text) + sum);
    notes_++;
  }
  CORBA::Long noted(CORBA::ULong& count) { omni_mutex_lock hold(lock_); count = notes_; return sum_; }
  void reset_notes() { omni_mutex_lock hold(lock_); sum_ = 0; notes_ = 0; }

  // References

  CORBA::Long bounce(Bouncer_ptr other, CORBA::Long depth)
  {
    if (depth <= 0) return 0;
    Peer_var me = _this();
    return 1 + other->bounce(me, depth - 1);
  }
  Counter_ptr make_counter(CORBA::Long start) { return new_counter(start); }
  Bottom_ptr make_bottom(const char* called)
  {
    PortableServer::Servant_var<Bottom_i> servant = new Bottom_i(called);
    return servant->_this();
  }
  CORBA::Object_ptr myself() { return _this(); }
  Counter_ptr no_counter() { return Counter::_nil(); }

  ROTATE_REFERENCE(rotate_counter, Counter, Counter_out)
  ROTATE_REFERENCE(rotate_alias, Counter, CounterAlias_out)
  ROTATE_REFERENCE(rotate_object, CORBA::Object, CORBA::Object_out)
  ROTATE_VARIABLE(rotate_counters, CounterSeq)
  ROTATE_VARIABLE(rotate_holder, Holder)
  ROTATE_VARIABLE(rotate_target, Target)

  CORBA::Long total(const CounterSeq& counters)
  {
    CORBA::Long sum = 0;
    for (CORBA::ULong i = 0; i < counters.length(); i++)
      if (!CORBA::is_nil(counters[i])) sum += counters[i]->value();
    return sum;
  }
  CORBA::Long increase_held(Holder& held, CORBA::Long by)
  {
    held.after++;
    return CORBA::is_nil(held.counter_ref) ? -1 : held.counter_ref->increase(by);
  }
  char* kind_of(CORBA::Object_ptr ref)
  {
    const char* kind = CORBA::is_nil(ref)                   ? "nil"
                     : ref->_is_a(Counter::_PD_repoId)      ? "counter"
                     : ref->_is_a(Bottom::_PD_repoId)       ? "bottom"
                     : ref->_is_a(LeftSide::_PD_repoId)     ? "left"
                     : ref->_is_a(Listener::_PD_repoId)     ? "listener"
                     : ref->_is_a(Interop::Peer::_PD_repoId) ? "peer" : "other";
    return CORBA::string_dup(kind);
  }
  CORBA::Boolean equivalent(CORBA::Object_ptr a, CORBA::Object_ptr b)
  {
    return CORBA::is_nil(a) ? CORBA::is_nil(b) : a->_is_equivalent(b);
  }
  CORBA::Long use_left(LeftSide_ptr side, CORBA::Long n) { return side->twice(n); }
  Named_ptr widen(Bottom_ptr whole) { return Named::_duplicate(whole); }

  CORBA::Long call_back(Listener_ptr who, CORBA::Long times, const char* text)
  {
    CORBA::Long sum = 0;
    for (CORBA::Long i = 0; i < times; i++) sum += who->heard(i, text);
    return sum;
  }
  void call_back_oneway(Listener_ptr who, CORBA::Long times)
  {
    for (CORBA::Long i = 0; i < times; i++) who->told(i);
  }

  // Bulk

  OctetSeq* make_octets(CORBA::ULong count)
  {
    OctetSeq* s = new OctetSeq; s->length(count);
    for (CORBA::ULong i = 0; i < count; i++) (*s)[i] = i % 251;
    return s;
  }
  LongSeq* make_longs(CORBA::ULong count)
  {
    LongSeq* s = new LongSeq; s->length(count);
    for (CORBA::ULong i = 0; i < count; i++) (*s)[i] = CORBA::Long(i) * 3 - 1000;
    return s;
  }
  StringSeq* make_words(CORBA::ULong count)
  {
    StringSeq* s = new StringSeq; s->length(count);
    for (CORBA::ULong i = 0; i < count; i++) (*s)[i] = ("word-" + std::to_string(i)).c_str();
    return s;
  }
  CORBA::ULong checksum(const OctetSeq& bytes)
  {
    CORBA::ULong sum = 0;
    for (CORBA::ULong i = 0; i < bytes.length(); i++) sum = sum * 31 + bytes[i];
    return sum;
  }
  CORBA::ULong large(const OctetSeq& bytes, LongSeq& numbers, CORBA::ULong count, StringSeq_out words)
  {
    if (numbers.length()) std::reverse(&numbers[0], &numbers[0] + numbers.length());
    words = make_words(count);
    return checksum(bytes);
  }
  void pause(CORBA::ULong ms) { omni_thread::sleep(ms / 1000, ms % 1000 * 1000000); }

  // Keywords

  CORBA::Long yield() { return yield_; }
  void yield(CORBA::Long v) { yield_ = v; }
  CORBA::Long type(CORBA::Long n) { return n + 1; }
  CORBA::Boolean match(const char* a, const char* b) { return !strcmp(a, b); }
  CORBA::Long self(CORBA::Long n) { return -n; }
  CORBA::ULong loop(CORBA::ULong n, CORBA::ULong& where) { where = n; return 2 * n; }
  Reserved* move(const Reserved& r, Mood& mood) { mood = dyn; return new Reserved(r); }
  impl::use fn(CORBA::Long n) { impl::use u; u.dyn = n + impl::unsafe; return u; }
  char* clone() { return CORBA::string_dup("clone"); }
  CORBA::Long drop(CORBA::Long n) { return n - 1; }
  CORBA::Long interface(CORBA::Long n) { return 3 * n; }

  // Peer

  Prefixed::Versioned_ptr make_versioned()
  {
    PortableServer::Servant_var<Versioned_i> servant = new Versioned_i;
    return servant->_this();
  }
  void shutdown() { the_orb->shutdown(false); }

private:
  omni_mutex lock_;
  CORBA::Long level_;
  CORBA::Short wide_part_, high_part_;
  std::string heading_;
  Point origin_;
  LongSeq history_;
  Vector setting_;
  CORBA::Object_var anything_;
  CORBA::ULong writes_;
  CORBA::Long sum_;
  CORBA::ULong notes_;
  CORBA::Long yield_;
};

int main(int argc, char** argv)
{
  try {
    native_is_utf8 = asks_for_utf8(argc, argv);
    the_orb = init_orb(argc, argv);
    std::string ior_file;
    for (int i = 1; i < argc; i++) {
      if (!strcmp(argv[i], "--ior") && i + 1 < argc) ior_file = argv[++i];
      else { std::cerr << "usage: " << argv[0] << " [--ior FILE] [-ORBoption value ...]\n"; return 2; }
    }

    make_poa(the_orb);
    PortableServer::Servant_var<Peer_i> servant = new Peer_i;
    Peer_var peer = servant->_this();

    // omniORB's POA of plain keys: what is active there answers to corbaloc:...:port/Interop.
    CORBA::Object_var plain = the_orb->resolve_initial_references("omniINSPOA");
    PortableServer::POA_var ins = PortableServer::POA::_narrow(plain);
    PortableServer::ObjectId_var id = PortableServer::string_to_ObjectId("Interop");
    ins->activate_object_with_id(id, servant);

    ins->the_POAManager()->activate();

    CORBA::String_var ior = the_orb->object_to_string(peer);
    if (ior_file.empty()) {
      std::cout << ior.in() << "\n";
    } else {
      // A reader never sees half of it.
      std::ofstream(ior_file + ".part") << ior.in() << "\n";
      if (std::rename((ior_file + ".part").c_str(), ior_file.c_str())) { std::perror(ior_file.c_str()); return 2; }
    }
    std::cout << "READY" << std::endl;
    the_orb->run();
    the_orb->destroy();
    return 0;
  } catch (const CORBA::Exception& e) {
    std::cerr << "interop-server: " << e._name() << "\n";
    return 1;
  }
}
