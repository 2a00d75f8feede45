// What the benchmarks run on omniORB:
//
//   omniorb-peer folder CAPACITY [-ORBoption value ...]     the image folder of case.image-transfer
//   omniorb-peer server CPU PRIORITY [-ORBoption value ...] the server of orb.peers
//   omniorb-peer client CPU PRIORITY REFERENCE              its client
#include "programs.hh"
#include <iostream>
#include <string>

int main(int argc, char** argv)
{
  const std::string name = argc > 1 ? argv[1] : "";
  // The ORB removes its options behind the name of the program.
  argv[1] = argv[0];
  if (name == "folder")
    return folder(argc - 1, argv + 1);
  if (name == "server")
    return server(argc - 1, argv + 1);
  if (name == "client")
    return client(argc - 1, argv + 1);
  std::cerr << "usage: omniorb-peer folder|server|client ARGUMENTS" << std::endl;
  return 2;
}
