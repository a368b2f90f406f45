// The calendar is computed here: the C library's would read the locale and the time zone of the process.
#include "text/jinja/strftime.h"

#include "text/jinja/failure.h"

namespace camshaft::text::jinja {
namespace {

constexpr std::string_view kDays[] = {"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};
constexpr std::string_view kMonths[] = {"January", "February", "March",     "April",   "May",      "June",
                                        "July",    "August",   "September", "October", "November", "December"};

struct Calendar {
  int64_t year, month, day, hour, minute, second, weekday, yearday;  // month and day from 1, weekday from Sunday, yearday from 0
};

bool is_leap(int64_t year) { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; }

int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0); }

// Days of the Gregorian calendar since 1970-01-01, counted in years that start in March.
Calendar calendar_of(int64_t seconds) {
  // Years beyond 1 to 9999 have no date in Python either.
  if (seconds < -62135596800 || seconds > 253402300799) fail("strftime_now: the clock is outside of the years 1 to 9999");
  Calendar c{};
  const int64_t days = floor_div(seconds, 86400), rest = seconds - days * 86400;
  c.hour = rest / 3600;
  c.minute = rest / 60 % 60;
  c.second = rest % 60;
  c.weekday = ((days + 4) % 7 + 7) % 7;
  const int64_t shifted = days + 719468;
  const int64_t era = floor_div(shifted, 146097), day_of_era = shifted - era * 146097;
  const int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const int64_t march_month = (5 * day_of_year + 2) / 153;
  c.day = day_of_year - (153 * march_month + 2) / 5 + 1;
  c.month = march_month < 10 ? march_month + 3 : march_month - 9;
  c.year = year_of_era + era * 400 + (c.month <= 2);
  constexpr int64_t kBefore[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
  c.yearday = kBefore[c.month - 1] + c.day - 1 + (c.month > 2 && is_leap(c.year));
  return c;
}

struct IsoWeek {
  int64_t year, week;
};
IsoWeek iso_week(const Calendar& c) {
  const int64_t monday_based = (c.weekday + 6) % 7;
  int64_t week = (c.yearday - monday_based + 10) / 7;
  const auto weeks_in = [](int64_t year) {
    const auto december_31 = [](int64_t y) { return (y + y / 4 - y / 100 + y / 400) % 7; };
    return december_31(year) == 4 || december_31(year - 1) == 3 ? 53 : 52;
  };
  if (week < 1) return {c.year - 1, weeks_in(c.year - 1)};
  if (week > weeks_in(c.year)) return {c.year + 1, 1};
  return {c.year, week};
}

// A number with its width and blank; `flag` overrides the padding.
std::string number(int64_t value, int width, char flag, char padding = '0') {
  if (flag == '-') return std::to_string(value);
  if (flag == '_') padding = ' ';
  if (flag == '0') padding = '0';
  std::string digits = std::to_string(value);
  if (static_cast<int>(digits.size()) < width) digits.insert(0, static_cast<size_t>(width) - digits.size(), padding);
  return digits;
}

int64_t twelve(int64_t hour) { return hour % 12 == 0 ? 12 : hour % 12; }

std::string expand(char code, char flag, const Calendar& c, int64_t seconds) {
  switch (code) {
    case 'a': return std::string(kDays[c.weekday].substr(0, 3));
    case 'A': return std::string(kDays[c.weekday]);
    case 'b':
    case 'h': return std::string(kMonths[c.month - 1].substr(0, 3));
    case 'B': return std::string(kMonths[c.month - 1]);
    case 'C': return number(c.year / 100, 2, flag);
    case 'd': return number(c.day, 2, flag);
    case 'e': return number(c.day, 2, flag, ' ');
    case 'f': return "000000";
    case 'g': return number(iso_week(c).year % 100, 2, flag);
    case 'G': return number(iso_week(c).year, 1, flag);
    case 'H': return number(c.hour, 2, flag);
    case 'I': return number(twelve(c.hour), 2, flag);
    case 'j': return number(c.yearday + 1, 3, flag);
    case 'k': return number(c.hour, 2, flag, ' ');
    case 'l': return number(twelve(c.hour), 2, flag, ' ');
    case 'm': return number(c.month, 2, flag);
    case 'M': return number(c.minute, 2, flag);
    case 'n': return "\n";
    case 'p': return c.hour < 12 ? "AM" : "PM";
    case 'P': return c.hour < 12 ? "am" : "pm";
    case 's': return std::to_string(seconds);
    case 'S': return number(c.second, 2, flag);
    case 't': return "\t";
    case 'u': return std::to_string(c.weekday == 0 ? 7 : c.weekday);
    case 'U': return number((c.yearday + 7 - c.weekday) / 7, 2, flag);
    case 'V': return number(iso_week(c).week, 2, flag);
    case 'w': return std::to_string(c.weekday);
    case 'W': return number((c.yearday + 7 - (c.weekday + 6) % 7) / 7, 2, flag);
    case 'y': return number(c.year % 100, 2, flag);
    case 'Y': return number(c.year, 1, flag);
    case 'z':
    case 'Z': return "";  // a time without a zone, as in the reference
    case '%': return "%";
    default: fail(format("strftime_now: unknown code '%{}'", code));
  }
}

// Codes that stand for several others.
std::string_view composed(char code) {
  switch (code) {
    case 'c': return "%a %b %e %H:%M:%S %Y";
    case 'D':
    case 'x': return "%m/%d/%y";
    case 'F': return "%Y-%m-%d";
    case 'r': return "%I:%M:%S %p";
    case 'R': return "%H:%M";
    case 'T':
    case 'X': return "%H:%M:%S";
    default: return {};
  }
}

}  // namespace

std::string format_time(std::string_view pattern, int64_t unix_seconds) {
  const Calendar calendar = calendar_of(unix_seconds);
  std::string out;
  for (size_t at = 0; at < pattern.size(); ++at) {
    if (pattern[at] != '%' || at + 1 == pattern.size()) {
      out += pattern[at];
      continue;
    }
    char flag = 0;
    if (std::string_view("-_0^").find(pattern[++at]) != std::string_view::npos && at + 1 < pattern.size()) flag = pattern[at++];
    if (static_cast<uint8_t>(pattern[at]) >= 0x80) fail("strftime_now: unknown code behind '%'");
    const std::string_view parts = composed(pattern[at]);
    std::string text = parts.empty() ? expand(pattern[at], flag, calendar, unix_seconds) : format_time(parts, unix_seconds);
    if (flag == '^') {
      for (char& c : text) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
    }
    out += text;
  }
  return out;
}

}  // namespace camshaft::text::jinja
