// Percent-encoding and splitting of the lines that cross process borders (docs/contracts.md,
// section 1).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace aw {

using Line = std::vector<std::string>;

// Encodes everything but printable ASCII without the space and the percent sign.
std::string percent_encode(std::string_view text);

// Undoes it; a percent sign without two hex digits stands for itself.
std::string percent_decode(std::string_view text);

// Splits header bytes into lines and each line at its spaces, decoded; empty values are dropped.
std::vector<Line> parse_lines(std::string_view header);

std::string render_lines(const std::vector<Line>& lines);

// Returns the first line that begins with `key`, or null.
const Line* find_line(const std::vector<Line>& lines, std::string_view key);

// Reads a whole number in C's notation; throws Failure (200) on anything else, so that no damaged
// header is believed.
uint64_t whole_number(const std::string& text);

std::string hexadecimal(const std::string& bytes);

}  // namespace aw
