// GPT-2's rule: printable Latin-1 characters stand for themselves, the other bytes in order for U+0100 and up.
#include "text/bpe_alphabet.h"

#include <array>
#include <cstdint>

#include "base/utf8.h"

namespace camshaft::text {

namespace {

constexpr size_t kAlphabetEnd = 0x144;  // past the last character in use

constexpr bool stands_for_itself(unsigned byte) {
  return (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || (byte >= 174 && byte <= 255);
}

constexpr std::array<uint16_t, 256> make_characters() {
  std::array<uint16_t, 256> characters{};
  uint16_t next = 0x100;
  for (unsigned byte = 0; byte < 256; ++byte) characters[byte] = stands_for_itself(byte) ? static_cast<uint16_t>(byte) : next++;
  return characters;
}
constexpr std::array<uint16_t, 256> kCharacters = make_characters();

constexpr std::array<int16_t, kAlphabetEnd> make_bytes() {
  std::array<int16_t, kAlphabetEnd> bytes{};
  for (int16_t& byte : bytes) byte = -1;
  for (unsigned byte = 0; byte < 256; ++byte) bytes[kCharacters[byte]] = static_cast<int16_t>(byte);
  return bytes;
}
constexpr std::array<int16_t, kAlphabetEnd> kBytes = make_bytes();

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

std::string printable_byte(unsigned char byte) {
  std::string out;
  base::append_utf8(out, kCharacters[byte]);
  return out;
}

std::optional<std::string> bytes_of_printable(std::string_view token) {
  std::string out;
  for (size_t at = 0; at < token.size();) {
    const base::CodePoint c = base::decode_utf8(token, at);
    if (c.length == 0 || c.value >= kAlphabetEnd || kBytes[c.value] < 0) return std::nullopt;
    out += static_cast<char>(kBytes[c.value]);
    at += c.length;
  }
  return out;
}

std::optional<unsigned char> byte_of_fallback_token(std::string_view token) {
  if (token.size() != 6 || !token.starts_with("<0x") || token[5] != '>') return std::nullopt;
  const int high = hex_digit(token[3]);
  const int low = hex_digit(token[4]);
  if (high < 0 || low < 0) return std::nullopt;
  return static_cast<unsigned char>(high * 16 + low);
}

}  // namespace camshaft::text
