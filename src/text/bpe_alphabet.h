// The printable alphabet of byte-level vocabularies: each byte has one character (GPT-2's table), so that tokens are text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace camshaft::text {

// The character that stands for a byte, as UTF-8.
std::string printable_byte(unsigned char byte);
// The bytes that a token in printable form stands for; nothing when a character is not of the alphabet.
std::optional<std::string> bytes_of_printable(std::string_view token);

// The byte of a SentencePiece token written <0xNN>; nothing for any other text.
std::optional<unsigned char> byte_of_fallback_token(std::string_view token);

}  // namespace camshaft::text
