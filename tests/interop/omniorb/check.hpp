// The client's table of checks and what a check needs.
#pragma once
#include "interop.hh"
#include "objects.hpp"
#include "text.hpp"
#include <omniORB4/codeSets.h>
#include <set>
#include <string>
#include <vector>

// What the checks know about this run.
struct Context
{
  CORBA::ORB_var orb;
  Interop::Peer_var peer;
  std::string host;              // of the server, from its reference
  unsigned short port;
  int giop_minor;                // of the GIOP version that is spoken: 0, 1 or 2
  bool utf8;                     // this program's native code set is UTF-8, else ISO-8859-1
  bool server_latin1;            // the server holds only ISO-8859-1 (--server-latin1)
  unsigned idle_wait;            // seconds to wait for the server to close an idle connection, 0: not tested
};

struct Failure { std::string why; };      // the check failed
struct Skip { std::string why; };         // the check does not apply to this run

struct Check { const char* name; void (*run)(Context&); };
inline std::vector<Check>& checks() { static std::vector<Check> all; return all; }
struct Registered { Registered(const char* name, void (*run)(Context&)) { checks().push_back(Check{ name, run }); } };

// CHECK(name) { body }: enters the check into the table.
#define CHECK(NAME) \
  static void check_##NAME(Context&); \
  static Registered registered_##NAME(#NAME, check_##NAME); \
  static void check_##NAME(Context& x)

#define EXPECT(CONDITION) \
  do { if (!(CONDITION)) throw Failure{ std::string("line ") + std::to_string(__LINE__) + ": not so: " #CONDITION }; } while (0)

inline std::string describe(const CORBA::SystemException& e)
{
  const char* status = e.completed() == CORBA::COMPLETED_YES ? "YES" : e.completed() == CORBA::COMPLETED_NO ? "NO" : "MAYBE";
  char minor[16];
  snprintf(minor, sizeof minor, "0x%x", unsigned(e.minor()));
  return std::string(e._name()) + " minor " + minor + " COMPLETED_" + status;
}

// The call must raise exactly this system exception.
#define EXPECT_SYSTEM(EXCEPTION, CALL) \
  do { \
    bool raised = false; \
    try { CALL; } \
    catch (const CORBA::EXCEPTION&) { raised = true; } \
    catch (const CORBA::SystemException& e) { throw Failure{ #CALL ": " + describe(e) + " and not " #EXCEPTION }; } \
    if (!raised) throw Failure{ #CALL " did not raise " #EXCEPTION }; \
  } while (0)

// Whether two values of a generated type are the same: their CDR is.
template <class T> bool same(const T& a, const T& b)
{
  cdrMemoryStream left(0u, 1), right(0u, 1);   // 1: gaps are zeroes
  // Any code set will do; without one GIOP 1.0 streams take no text that is not ISO-8859-1.
  static const GIOP::Version v12 = { 1, 2 };
  left.TCS_C(omni::omniCodeSet::getTCS_C(omni::omniCodeSet::ID_UTF_8, v12));
  right.TCS_C(left.TCS_C());
  a >>= left;
  b >>= right;
  return left.bufSize() == right.bufSize() && !memcmp(left.bufPtr(), right.bufPtr(), left.bufSize());
}
