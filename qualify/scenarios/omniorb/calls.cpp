// Server and client of `punctual bench orb.peers` on omniORB: calls with an octet, of which the client takes
// the times. Both run on one CPU, at one priority of SCHED_FIFO (0: in the default class).
#include "load.hh"
#include "programs.hh"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <sched.h>
#include <time.h>
#include <vector>

// The ORB's threads inherit both.
static bool schedule(const char* cpu, const char* priority)
{
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(std::atoi(cpu), &cpus);
  if (sched_setaffinity(0, sizeof cpus, &cpus) != 0) {
    std::perror("sched_setaffinity");
    return false;
  }
  sched_param param = {};
  param.sched_priority = std::atoi(priority);
  if (param.sched_priority > 0 && sched_setscheduler(0, SCHED_FIFO, &param) != 0) {
    std::perror("sched_setscheduler");
    return false;
  }
  return true;
}

class Load_i : public POA_bench::Load
{
public:
  void method(CORBA::ULong, CORBA::ULong, CORBA::ULong) {}
  void swallow(const bench::OctetSeq&) {}
  CORBA::Octet cube_octet(CORBA::Octet o) { return o * o * o; }

  // The priority of the thread that serves the client, in place of octets.
  bench::OctetSeq* produce(CORBA::ULong)
  {
    sched_param param = {};
    sched_getparam(0, &param);
    bench::OctetSeq_var octets = new bench::OctetSeq();
    octets->length(param.sched_priority);
    return octets._retn();
  }
};

// Prints its reference. Ends when its standard input ends.
int server(int argc, char** argv)
{
  if (argc < 3 || !schedule(argv[1], argv[2]))
    return 2;
  CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
  CORBA::Object_var root = orb->resolve_initial_references("RootPOA");
  PortableServer::POA_var poa = PortableServer::POA::_narrow(root);
  PortableServer::ObjectId_var id = poa->activate_object(new Load_i());
  CORBA::Object_var reference = poa->id_to_reference(id);
  CORBA::String_var text = orb->object_to_string(reference);
  poa->the_POAManager()->activate();
  std::cout << text << std::endl;
  std::cin.ignore(1);
  std::_Exit(0);
}

static long nanoseconds()
{
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000L + now.tv_nsec;
}

// Prints the priority at which it is served. Reads lines with a number of calls, and prints a line for each:
// the number of wrong results, and the times in nanoseconds.
int client(int argc, char** argv)
{
  if (argc < 4 || !schedule(argv[1], argv[2]))
    return 2;
  CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
  CORBA::Object_var object = orb->string_to_object(argv[3]);
  bench::Load_var load = bench::Load::_narrow(object);
  if (CORBA::is_nil(load))
    return 1;
  bench::OctetSeq_var octets = load->produce(0);
  std::cout << octets->length() << std::endl;
  size_t calls;
  std::vector<long> times;
  while (std::cin >> calls) {
    times.resize(calls);
    size_t wrong = 0;
    for (size_t call = 0; call < calls; ++call) {
      const CORBA::Octet argument = call;
      const long start = nanoseconds();
      const CORBA::Octet cube = load->cube_octet(argument);
      times[call] = nanoseconds() - start;
      wrong += cube != CORBA::Octet(argument * argument * argument);
    }
    std::cout << wrong;
    for (long time : times)
      std::cout << ' ' << time;
    std::cout << std::endl;
  }
  std::_Exit(0);
}
