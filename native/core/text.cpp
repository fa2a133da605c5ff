#include "core/text.h"

#include <cerrno>
#include <cstdint>
#include <cstdlib>

#include "core/status.h"

namespace aw {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string percent_encode(std::string_view text) {
  static const char digits[] = "0123456789ABCDEF";
  std::string out;
  for (unsigned char c : text) {
    if (c > 0x20 && c < 0x7f && c != '%') {
      out += static_cast<char>(c);
    } else {
      out += '%';
      out += digits[c >> 4];
      out += digits[c & 15];
    }
  }
  return out;
}

std::string percent_decode(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    bool escape = text[i] == '%' && i + 2 < text.size();
    int high = escape ? hex_digit(text[i + 1]) : -1, low = escape ? hex_digit(text[i + 2]) : -1;
    if (high >= 0 && low >= 0) {
      out += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::vector<Line> parse_lines(std::string_view header) {
  std::vector<Line> lines;
  for (size_t begin = 0; begin < header.size();) {
    size_t end = header.find('\n', begin);
    if (end == std::string_view::npos) end = header.size();
    Line line;
    for (size_t at = begin; at < end;) {
      size_t space = header.substr(0, end).find(' ', at);
      if (space == std::string_view::npos) space = end;
      if (space > at) line.push_back(percent_decode(header.substr(at, space - at)));
      at = space + 1;
    }
    if (!line.empty()) lines.push_back(std::move(line));
    begin = end + 1;
  }
  return lines;
}

std::string render_lines(const std::vector<Line>& lines) {
  std::string out;
  for (auto& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) {
      if (i) out += ' ';
      out += percent_encode(line[i]);
    }
    out += '\n';
  }
  return out;
}

const Line* find_line(const std::vector<Line>& lines, std::string_view key) {
  for (auto& line : lines) {
    if (line[0] == key) return &line;
  }
  return nullptr;
}

uint64_t whole_number(const std::string& text) {
  char* end = nullptr;
  errno = 0;
  unsigned long long value = strtoull(text.c_str(), &end, 0);
  if (text.empty() || text[0] == '-' || *end || errno) {
    throw Failure(200, "a description holds " + text + " where a number should be");
  }
  return value;
}

std::string hexadecimal(const std::string& bytes) {
  static const char digits[] = "0123456789abcdef";
  std::string out;
  for (unsigned char c : bytes) out += digits[c >> 4], out += digits[c & 15];
  return out;
}

}  // namespace aw
