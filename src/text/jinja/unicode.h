// Code points of UTF-8 text as Python's str sees them: finding, case, classes. Text here is always valid UTF-8.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace camshaft::text::jinja {

// The code point at byte `at` (inside the text); sets its length.
char32_t decode(std::string_view text, uint64_t at, uint32_t* length);
// Byte offset of the character with this index; text.size() at or past the end.
uint64_t byte_of_char(std::string_view text, uint64_t index);

bool is_space(char32_t code);      // str.isspace, str.strip
bool is_printable(char32_t code);  // what repr() shows as it is
bool is_alpha(char32_t code);
bool is_digit(char32_t code);  // decimal digits of any script
bool is_upper(char32_t code);
bool is_lower(char32_t code);
bool is_line_end(char32_t code);  // what str.splitlines() breaks at

// Appends the lower, upper or title form (more than one code point for a few).
void append_lower(std::string& out, char32_t code);
void append_upper(std::string& out, char32_t code);
void append_title(std::string& out, char32_t code);

}  // namespace camshaft::text::jinja
