// What both programs have: the ORB's defaults and the Counter servant.
#pragma once
#include "interop.hh"
#include <omnithread.h>
#include <cstring>

// The adapter of all objects.
inline PortableServer::POA_var& the_poa() { static PortableServer::POA_var poa; return poa; }

// Makes it: calls to its objects may come over connections that this program has opened, and its calls may use
// those that others have opened (bidirectional GIOP), if the ORB's options permit it.
inline void make_poa(CORBA::ORB_ptr orb)
{
  CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
  PortableServer::POA_var root = PortableServer::POA::_narrow(object);
  CORBA::PolicyList policies(2);
  policies.length(2);
  policies[0] = root->create_implicit_activation_policy(PortableServer::IMPLICIT_ACTIVATION);
  policies[1] = new BiDirPolicy::BidirectionalPolicy(BiDirPolicy::BOTH);
  PortableServer::POAManager_var manager = root->the_POAManager();
  the_poa() = root->create_POA("objects", manager, policies);
  manager->activate();
}

// A servant of the adapter.
template <class Skeleton> class Here : public Skeleton
{
  PortableServer::POA_ptr _default_POA() { return PortableServer::POA::_duplicate(the_poa()); }
};

// Interop::Counter.
class Counter_i : public Here<POA_Interop::Counter>
{
public:
  explicit Counter_i(CORBA::Long start) : value_(start) {}

  CORBA::Long value() { omni_mutex_lock hold(lock_); return value_; }
  CORBA::Long increase(CORBA::Long n) { omni_mutex_lock hold(lock_); return value_ += n; }
  void destroy()
  {
    PortableServer::ObjectId_var id = the_poa()->servant_to_id(this);
    the_poa()->deactivate_object(id);
  }

private:
  omni_mutex lock_;
  CORBA::Long value_;
};

// A reference to a new counter; the POA owns the servant from here on.
inline Interop::Counter_ptr new_counter(CORBA::Long start)
{
  PortableServer::Servant_var<Counter_i> servant = new Counter_i(start);
  return servant->_this();
}

// ORB_init with what the tests want; the command line is stronger.
// The endpoint is on the loopback interface, messages may have 64 MiB (omniORB's own default is 2 MiB).
inline CORBA::ORB_ptr init_orb(int& argc, char** argv)
{
  static const char* defaults[][2] = {
    { "giopMaxMsgSize", "67108864" }, { "endPoint", "giop:tcp:127.0.0.1:" }, { 0, 0 } };
  // An endpoint of the command line would be one more and does not replace the default.
  for (int i = 1; i < argc; i++)
    if (!strncmp(argv[i], "-ORBendPoint", 12)) defaults[1][0] = 0;
  return CORBA::ORB_init(argc, argv, "omniORB4", defaults);
}
