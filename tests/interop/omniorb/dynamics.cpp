// An omniORB server of Dynamics::Exchange (see ../idl/dynamics.idl); with --proxy it passes all calls on.
//
//   dynamics-server --ior FILE [--proxy REFERENCE] [-ORBoption value ...]
#include "dynamics.hh"
#include <omnithread.h>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>

using namespace Dynamics;

static CORBA::ORB_var the_orb;

// ---------------------------------------------------------------- values

class Node_i : public virtual OBV_Dynamics::Node, public virtual CORBA::DefaultValueRefCountBase {};
class Special_i : public virtual OBV_Dynamics::Special, public virtual CORBA::DefaultValueRefCountBase {};
class Board_i : public virtual OBV_Dynamics::Board, public virtual CORBA::DefaultValueRefCountBase {};

template <class Base, class Value> class Factory : public Base
{
  CORBA::ValueBase* create_for_unmarshal() { return new Value; }
};

template <class Base, class Value> static void register_factory(const char* id)
{
  CORBA::ValueFactory factory = new Factory<Base, Value>;
  the_orb->register_value_factory(id, factory);
  factory->_remove_ref();
}

static void keep(CORBA::ValueBase* value) { if (value) value->_add_ref(); }

// ---------------------------------------------------------------- the object

// The copy constructor of omniORB's `fixed` leaves out its digits and scale, and a value without them cannot be
// sent: it ends in omniORB's fatal exception. Assignment keeps those of the target.
template <class T> static T* copied(const T& value) { T* copy = new T; *copy = value; return copy; }

#define ROTATE_VARIABLE(OP, T, OUT) \
  T* OP(const T& a, T& b, const T& c, OUT d) \
  { \
    if (!CORBA::is_nil(target_)) return target_->OP(a, b, c, d); \
    d = copied(b); b = c; return copied(a); \
  }
// The caller owns what it gives; what is returned has an owner of its own.
#define ROTATE_VALUE_TYPE(OP, T, OUT) \
  T* OP(T* a, T*& b, T* c, OUT d) \
  { \
    if (!CORBA::is_nil(target_)) return target_->OP(a, b, c, d); \
    keep(a); keep(c); d = b; b = c; return a; \
  }
#define ROTATE_COUNTED(OP, T, OUT) \
  T##_ptr OP(T##_ptr a, T##_ptr& b, T##_ptr c, OUT d) \
  { \
    if (!CORBA::is_nil(target_)) return target_->OP(a, b, c, d); \
    d = b; b = T::_duplicate(c); return T::_duplicate(a); \
  }

static omni_thread* ending;
static void* end_soon(void*) { omni_thread::sleep(0, 200000000); the_orb->shutdown(false); return 0; }

class Exchange_i : public POA_Dynamics::Exchange
{
public:
  explicit Exchange_i(Dynamics::Exchange_ptr target) : target_(Dynamics::Exchange::_duplicate(target)) {}

  ROTATE_VARIABLE(rotate_any, CORBA::Any, CORBA::Any_OUT_arg)
  ROTATE_VARIABLE(rotate_loaded, Loaded, Loaded_out)
  ROTATE_VARIABLE(rotate_family, Family, Family_out)
  ROTATE_VALUE_TYPE(rotate_label, Label, Label_out)
  ROTATE_VALUE_TYPE(rotate_node, Node, Node_out)
  ROTATE_COUNTED(rotate_figure, Figure, Figure_out)
  ROTATE_COUNTED(rotate_type, CORBA::TypeCode, CORBA::TypeCode_OUT_arg)

  CORBA::WChar rotate_wchar(CORBA::WChar a, CORBA::WChar& b, CORBA::WChar c, CORBA::WChar& d)
  {
    if (!CORBA::is_nil(target_)) return target_->rotate_wchar(a, b, c, d);
    d = b; b = c; return a;
  }
  CORBA::WChar* rotate_wstring(const CORBA::WChar* a, CORBA::WChar*& b, const CORBA::WChar* c,
                               CORBA::WString_out d)
  {
    if (!CORBA::is_nil(target_)) return target_->rotate_wstring(a, b, c, d);
    d = b; b = CORBA::wstring_dup(c); return CORBA::wstring_dup(a);
  }
  Amount rotate_amount(const Amount& a, Amount& b, const Amount& c, Amount& d)
  {
    if (!CORBA::is_nil(target_)) return target_->rotate_amount(a, b, c, d);
    d = b; b = c; return a;
  }

  Titled* echo_titled(Titled* value)
  {
    if (!CORBA::is_nil(target_)) return target_->echo_titled(value);
    keep(value); return value;
  }
  CORBA::ValueBase* echo_base(CORBA::ValueBase* value)
  {
    if (!CORBA::is_nil(target_)) return target_->echo_base(value);
    keep(value); return value;
  }

  char* property(const char* name, CORBA::Context_ptr context)
  {
    if (!CORBA::is_nil(target_)) return target_->property(name, context);
    CORBA::NVList_var found;
    try {
      context->get_values("", 0, name, found);
    } catch (const CORBA::BAD_CONTEXT&) {
      return CORBA::string_dup(""); // It has none of this name.
    }
    const char* value = "";
    *found->item(0)->value() >>= value;
    return CORBA::string_dup(value);
  }

  // Not before the answer was sent.
  void shutdown() { if (!ending) ending = omni_thread::create(end_soon); }

private:
  Dynamics::Exchange_var target_;
};

int main(int argc, char** argv)
{
  try {
    static const char* options[][2] = { { "endPoint", "giop:tcp:127.0.0.1:" }, { 0, 0 } };
    the_orb = CORBA::ORB_init(argc, argv, "omniORB4", options);
    std::string file, reference;
    for (int i = 1; i + 1 < argc; i += 2) {
      if (!strcmp(argv[i], "--ior")) file = argv[i + 1];
      else if (!strcmp(argv[i], "--proxy")) reference = argv[i + 1];
    }
    if (file.empty()) { std::cerr << "usage: " << argv[0] << " --ior FILE [--proxy REFERENCE]\n"; return 2; }
    register_factory<Node_init, Node_i>("IDL:Dynamics/Node:1.0");
    register_factory<CORBA::ValueFactoryBase, Board_i>("IDL:Dynamics/Board:1.0");
    register_factory<Special_init, Special_i>("IDL:Dynamics/Special:1.0");

    CORBA::Object_var object = the_orb->resolve_initial_references("RootPOA");
    PortableServer::POA_var poa = PortableServer::POA::_narrow(object);
    Exchange_var target;
    if (!reference.empty()) {
      CORBA::Object_var passed_to = the_orb->string_to_object(reference.c_str());
      target = Exchange::_narrow(passed_to);
    }
    PortableServer::Servant_var<Exchange_i> servant = new Exchange_i(target);
    Exchange_var exchange = servant->_this();
    PortableServer::POAManager_var manager = poa->the_POAManager();
    manager->activate();

    CORBA::String_var ior = the_orb->object_to_string(exchange);
    // A reader never sees half of it.
    std::ofstream(file + ".part") << ior.in() << "\n";
    if (std::rename((file + ".part").c_str(), file.c_str())) { std::perror(file.c_str()); return 2; }
    the_orb->run();
    if (ending) ending->join(0);
    the_orb->destroy();
    return 0;
  } catch (const CORBA::Exception& e) {
    std::cerr << "dynamics-server: " << e._name() << "\n";
    return 1;
  }
}
