// Text of the program's native code set (-ORBnativeCharCodeSet) as Unicode code points, and back.
#pragma once
#include <omniORB4/CORBA.h>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

typedef std::vector<CORBA::ULong> CodePoints;

// Whether the command line makes UTF-8 the native code set. omniORB's default is ISO-8859-1.
// To be asked before ORB_init, which takes the -ORB arguments away.
inline bool asks_for_utf8(int argc, char** argv)
{
  for (int i = 1; i + 1 < argc; i++)
    if (!strcmp(argv[i], "-ORBnativeCharCodeSet") && !strcmp(argv[i + 1], "UTF-8")) return true;
  return false;
}

// The native text of these code points. Throws std::range_error for one that the code set cannot hold.
inline std::string encode_native(const CodePoints& points, bool utf8)
{
  std::string text;
  for (size_t i = 0; i < points.size(); i++) {
    CORBA::ULong c = points[i];
    if (c == 0 || c > 0x10FFFF || (!utf8 && c > 0xFF)) throw std::range_error("not in the native code set");
    if (!utf8 || c < 0x80) text += char(c);
    else if (c < 0x800) { text += char(0xC0 | c >> 6); text += char(0x80 | (c & 0x3F)); }
    else if (c < 0x10000) {
      text += char(0xE0 | c >> 12); text += char(0x80 | (c >> 6 & 0x3F)); text += char(0x80 | (c & 0x3F));
    } else {
      text += char(0xF0 | c >> 18); text += char(0x80 | (c >> 12 & 0x3F));
      text += char(0x80 | (c >> 6 & 0x3F)); text += char(0x80 | (c & 0x3F));
    }
  }
  return text;
}

// The code points of native text. The text comes from the ORB, which has checked it.
inline CodePoints decode_native(const char* text, bool utf8)
{
  CodePoints points;
  for (const unsigned char* p = reinterpret_cast<const unsigned char*>(text); *p; ) {
    CORBA::ULong c = *p++;
    int more = !utf8 || c < 0x80 ? 0 : c < 0xE0 ? 1 : c < 0xF0 ? 2 : 3;
    if (more) c &= 0x3F >> more;
    for (; more > 0 && *p; more--) c = c << 6 | (*p++ & 0x3F);
    points.push_back(c);
  }
  return points;
}
