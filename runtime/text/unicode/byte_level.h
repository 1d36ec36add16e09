//===- byte_level.h - the printable alphabet of byte-level BPE ------------===//
// Byte-level vocabularies write each byte as one printable character: printable
// Latin-1 bytes as themselves, the 68 others as U+0100 upward in order of the
// byte.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace sol::text {

/// The character of each byte.
inline const std::array<char16_t, 256> &byteCharacters() {
  static const std::array<char16_t, 256> table = [] {
    std::array<char16_t, 256> made{};
    char16_t next = 0x100;
    for (int byte = 0; byte < 256; ++byte) {
      bool printable = (byte >= 0x21 && byte <= 0x7E) ||
                       (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
      made[byte] = printable ? static_cast<char16_t>(byte) : next++;
    }
    return made;
  }();
  return table;
}

/// The byte of `c`, or -1 if no byte is written so.
inline int byteOfCharacter(char32_t c) {
  static const std::array<int16_t, 0x144> table = [] {
    std::array<int16_t, 0x144> made{};
    made.fill(-1);
    for (int byte = 0; byte < 256; ++byte)
      made[byteCharacters()[byte]] = static_cast<int16_t>(byte);
    return made;
  }();
  return c < table.size() ? table[c] : -1;
}

/// `bytes` in the printable alphabet, as UTF-8.
inline std::string bytesToCharacters(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size() * 2);
  for (char byte : bytes) {
    char16_t c = byteCharacters()[static_cast<unsigned char>(byte)];
    if (c < 0x80) {
      out += static_cast<char>(c);
    } else { // never beyond U+0143, so two bytes
      out += static_cast<char>(0xC0 | (c >> 6));
      out += static_cast<char>(0x80 | (c & 0x3F));
    }
  }
  return out;
}

} // namespace sol::text
