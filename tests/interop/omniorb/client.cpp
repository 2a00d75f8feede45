// An omniORB client that checks a server of Interop::Peer (see ../idl/interop.idl).
//
//   interop-client REFERENCE [option ...] [-ORBoption value ...]
//
// REFERENCE is IOR:..., corbaloc:... or a file that holds one of them. Options:
//   --only TEXT        run only the checks whose name contains TEXT
//   --skip NAME        leave this check out (may be repeated)
//   --server-latin1    the server's text is ISO-8859-1 only
//   --idle-wait S      check the call after S seconds, in which the server closes the idle connection
//   --shutdown         end the server after the checks
//   --list             print the names of the checks
//
// Prints "ok NAME", "FAILED NAME: why" or "skipped NAME: why" for each check and "N passed, M failed" at the end.
// Exit code: 0 all passed, 1 some failed, 2 could not run.
#include "check.hpp"
#include <omniORB4/internal/orbParameters.h>
#include <algorithm>
#include <atomic>
#include <fstream>
#include <iostream>
#include <thread>

using namespace Interop;

// ---------------------------------------------------------------- checks of the ORB protocol itself

static std::string corbaloc(Context& x, int minor, const std::string& key)
{
  return "corbaloc:iiop:1." + std::to_string(minor) + "@" + x.host + ":" + std::to_string(x.port) + "/" + key;
}

CHECK(corbaloc)
{
  for (int minor = 0; minor <= x.giop_minor; minor++) {
    CORBA::Object_var o = x.orb->string_to_object(corbaloc(x, minor, "Interop").c_str());
    Interop::Peer_var peer = Interop::Peer::_narrow(o);
    EXPECT(!CORBA::is_nil(peer));
    EXPECT(peer->add(minor, 40) == minor + 40);
    OctetSeq_var much = peer->make_octets(100000);
    EXPECT(much->length() == 100000 && much[99999u] == 99999 % 251);
  }
}
CHECK(unknown_key)
{
  for (int minor = 0; minor <= x.giop_minor; minor++) {
    CORBA::Object_var o = x.orb->string_to_object(corbaloc(x, minor, "NoSuchObject").c_str());
    EXPECT(o->_non_existent());
    Interop::Peer_var peer = Interop::Peer::_unchecked_narrow(o);
    EXPECT_SYSTEM(OBJECT_NOT_EXIST, peer->ping());
  }
}
// omniORB sends LocateRequest of itself before the first call on a reference of known type; here it is asked to.
struct Locator : omniObjRef
{
  static void locate(CORBA::Object_ptr o) { (o->_PR_getobj()->*&Locator::_locateRequest)(); }
};
CHECK(locate_request)
{
  Locator::locate(x.peer);
  CORBA::Object_var plain = x.orb->string_to_object(corbaloc(x, x.giop_minor, "Interop").c_str());
  Locator::locate(plain);
  CORBA::Object_var o = x.orb->string_to_object(corbaloc(x, x.giop_minor, "NoSuchObject").c_str());
  EXPECT_SYSTEM(OBJECT_NOT_EXIST, Locator::locate(o));
}
CHECK(string_to_object_round_trip)
{
  Counter_var c = x.peer->make_counter(77);
  CORBA::String_var ior = x.orb->object_to_string(c);
  CORBA::Object_var o = x.orb->string_to_object(ior);
  Counter_var again = Counter::_narrow(o);
  EXPECT(again->value() == 77 && again->_is_equivalent(c));
}
// Eight threads at once: with -ORBoneCallPerConnection 0 -ORBmaxGIOPConnectionPerServer 1 over one connection.
CHECK(concurrent_calls)
{
  Counter_var counter = x.peer->make_counter(0);
  std::atomic<int> wrong(0);
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; t++)
    threads.emplace_back([&x, &counter, &wrong, t] {
      try {
        for (int i = 0; i < 50; i++) {
          if (x.peer->add(t * 1000, i) != t * 1000 + i) wrong++;
          counter->increase(1);
          if (i % 10 == t) x.peer->pause(t * 2);
          if (i % 25 == 0) {
            OctetSeq_var s = x.peer->make_octets(30000 + t);
            if (s->length() != CORBA::ULong(30000 + t)) wrong++;
          }
        }
      } catch (const CORBA::Exception& e) {
        std::cerr << "concurrent_calls: " << e._name() << "\n";
        wrong++;
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT(wrong == 0);
  EXPECT(counter->value() == 400);
}
// The client gives up on a call. The late reply must not disturb the calls that follow.
CHECK(call_timeout)
{
  omniORB::setClientCallTimeout(x.peer, 200);
  // On a busy machine the client may not run between the timeout and the reply, which then wins: call again.
  bool raised = false;
  for (int tries = 0; !raised && tries < 10; tries++) {
    try { x.peer->pause(600); }
    catch (const CORBA::TIMEOUT&) { raised = true; }
    catch (const CORBA::TRANSIENT&) { raised = true; }
  }
  omniORB::setClientCallTimeout(x.peer, 0);
  EXPECT(raised);
  EXPECT(x.peer->add(1, 2) == 3);
  omni_thread::sleep(0, 600000000);
  EXPECT(x.peer->add(3, 4) == 7);
}
// omniORB learns that an idle connection is closed only when it sends on it, and then reports COMM_FAILURE (the
// server's CloseConnection is lost when the server's TCP answers with a reset). It has at most 5 connections in its
// pool, so that no more than 5 calls fail before a new connection serves.
CHECK(call_after_idle_close)
{
  if (!x.idle_wait) throw Skip{ "no --idle-wait" };
  x.peer->ping();
  omni_thread::sleep(x.idle_wait);
  for (int failed = 0; ; failed++) {
    try {
      EXPECT(x.peer->add(20, 22) == 42);
      return;
    } catch (const CORBA::COMM_FAILURE&) { EXPECT(failed < 5); }
  }
}

// ---------------------------------------------------------------- the program

// Sets where the server is and the GIOP version that is spoken with it.
static void learn_address(Context& x)
{
  omniIOR_var ior = x.peer->_PR_getobj()->_getIOR();
  const IOP::TaggedProfileList& profiles = ior->iopProfiles();
  for (CORBA::ULong i = 0; i < profiles.length(); i++) {
    if (profiles[i].tag != IOP::TAG_INTERNET_IOP) continue;
    IIOP::ProfileBody body;
    IIOP::unmarshalProfile(profiles[i], body);
    x.host = body.address.host.in();
    x.port = body.address.port;
    x.giop_minor = std::min(int(body.version.minor), int(omni::orbParameters::maxGIOPVersion.minor));
    return;
  }
  throw Failure{ "the reference has no IIOP profile" };
}

static void run(const Check& check, Context& x, int& passed, int& failed)
{
  std::string why;
  try {
    check.run(x);
    std::cout << "ok " << check.name << std::endl;
    passed++;
    return;
  }
  catch (const Skip& s) { std::cout << "skipped " << check.name << ": " << s.why << std::endl; return; }
  catch (const Failure& f) { why = f.why; }
  catch (const CORBA::SystemException& e) { why = "raised " + describe(e); }
  catch (const CORBA::Exception& e) { why = std::string("raised ") + e._name(); }
  std::cout << "FAILED " << check.name << ": " << why << std::endl;
  failed++;
}

static int usage()
{
  std::cerr << "usage: interop-client REFERENCE [--only TEXT] [--skip NAME] [--server-latin1] [--idle-wait S]"
               " [--shutdown] [--list] [-ORBoption value ...]\n";
  return 2;
}

int main(int argc, char** argv)
{
  Context x = Context();
  std::string reference, only;
  std::set<std::string> skip;
  bool shutdown = false;
  int passed = 0, failed = 0;
  try {
    x.utf8 = asks_for_utf8(argc, argv);
    x.orb = init_orb(argc, argv);
    // A server that does not answer fails a check and does not hang the run.
    omniORB::setClientCallTimeout(20000);
    for (int i = 1; i < argc; i++) {
      std::string arg = argv[i];
      bool more = i + 1 < argc;
      if (arg == "--only" && more) only = argv[++i];
      else if (arg == "--skip" && more) skip.insert(argv[++i]);
      else if (arg == "--idle-wait" && more) x.idle_wait = atoi(argv[++i]);
      else if (arg == "--server-latin1") x.server_latin1 = true;
      else if (arg == "--shutdown") shutdown = true;
      else if (arg == "--list") { for (const Check& c : checks()) std::cout << c.name << "\n"; return 0; }
      else if (arg[0] != '-' && reference.empty()) reference = arg;
      else return usage();
    }
    if (reference.empty()) return usage();
    if (reference.compare(0, 4, "IOR:") && reference.compare(0, 8, "corbaloc")) {
      std::string file = reference;
      std::ifstream in(file);
      if (!(in >> reference)) { std::cerr << "interop-client: cannot read a reference from " << file << "\n"; return 2; }
    }

    make_poa(x.orb);

    CORBA::Object_var object = x.orb->string_to_object(reference.c_str());
    x.peer = Interop::Peer::_narrow(object);
    if (CORBA::is_nil(x.peer)) { std::cerr << "interop-client: the object is no Interop::Peer\n"; return 2; }
    learn_address(x);
    std::cout << "server " << x.host << ":" << x.port << ", GIOP 1." << x.giop_minor
              << ", native code set " << (x.utf8 ? "UTF-8" : "ISO-8859-1") << std::endl;

    for (const Check& check : checks())
      if (!skip.count(check.name) && std::string(check.name).find(only) != std::string::npos) run(check, x, passed, failed);
    if (shutdown) x.peer->shutdown();
    x.orb->destroy();
  }
  catch (const CORBA::SystemException& e) { std::cerr << "interop-client: " << describe(e) << "\n"; return 2; }
  catch (const CORBA::Exception& e) { std::cerr << "interop-client: " << e._name() << "\n"; return 2; }
  catch (const Failure& f) { std::cerr << "interop-client: " << f.why << "\n"; return 2; }
  std::cout << passed << " passed, " << failed << " failed" << std::endl;
  return failed ? 1 : 0;
}
