// The image folder of `punctual bench case.image-transfer` on omniORB: it passes the requests for tiles on to
// the process that compresses them, and sends what that process answers to the client's display.
//
// Prints its reference, and then a line `NUMBER OCTETS` for each request. Reads a line `NUMBER HEX` for each
// compressed tile. Ends when its standard input ends.
#include "image.hh"
#include "programs.hh"
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <string>

class Folder_i : public POA_image::Folder
{
public:
  explicit Folder_i(CORBA::ULong capacity) : capacity_(capacity), outstanding_(0), refused_(0) {}

  CORBA::ULong open(image::Display_ptr screen)
  {
    std::lock_guard<std::mutex> lock(mutex_);
    screen_ = image::Display::_duplicate(screen);
    refused_ = 0;
    return capacity_;
  }

  void request(CORBA::ULong number, CORBA::ULong octets)
  {
    std::lock_guard<std::mutex> lock(mutex_);
    // One is being compressed, the others wait.
    if (outstanding_ > capacity_) {
      ++refused_;
      return;
    }
    ++outstanding_;
    std::cout << number << ' ' << octets << std::endl;
  }

  CORBA::ULong refused()
  {
    std::lock_guard<std::mutex> lock(mutex_);
    return refused_;
  }

  void send(CORBA::ULong number, const image::Octets& tile)
  {
    image::Display_var screen;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      --outstanding_;
      screen = image::Display::_duplicate(screen_);
    }
    try {
      if (!CORBA::is_nil(screen))
        screen->tile(number, tile);
    } catch (const CORBA::Exception& lost) {
      // A lost tile is a lost image: the client reports it.
      std::cerr << "tile " << number << " is lost: " << lost._name() << std::endl;
    }
  }

private:
  const CORBA::ULong capacity_;
  std::mutex mutex_;
  image::Display_var screen_;
  CORBA::ULong outstanding_;
  CORBA::ULong refused_;
};

static image::Octets octets_of(const std::string& hex)
{
  image::Octets octets;
  octets.length(hex.size() / 2);
  for (CORBA::ULong place = 0; place < octets.length(); ++place)
    octets[place] = std::strtoul(hex.substr(2 * place, 2).c_str(), 0, 16);
  return octets;
}

int folder(int argc, char** argv)
{
  CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
  if (argc < 2) {
    std::cerr << "usage: omniorb-peer folder CAPACITY [-ORBoption value ...]" << std::endl;
    return 2;
  }
  CORBA::Object_var root = orb->resolve_initial_references("RootPOA");
  PortableServer::POA_var poa = PortableServer::POA::_narrow(root);
  Folder_i* folder = new Folder_i(std::strtoul(argv[1], 0, 10));
  PortableServer::ObjectId_var id = poa->activate_object(folder);
  CORBA::Object_var reference = poa->id_to_reference(id);
  CORBA::String_var text = orb->object_to_string(reference);
  poa->the_POAManager()->activate();
  std::cout << text << std::endl;

  CORBA::ULong number;
  std::string hex;
  while (std::cin >> number >> hex)
    folder->send(number, octets_of(hex));
  // Threads may still be in calls.
  std::_Exit(0);
}
