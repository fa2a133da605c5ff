#include "core/ptx_linker.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string_view>

#include "core/status.h"

namespace aw {
namespace {

constexpr int kInvalidPtx = 218;

bool is_word(char c) {
  return isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%';
}

// One statement of the module level: its text, and what it declares.
struct Statement {
  std::string text;
  std::vector<std::string>
      words;  // directives and names before the parameters, initialiser or body
  std::string name;
  bool is_function = false, has_body = false, is_variable = false;

  bool has(std::string_view word) const {
    return std::find(words.begin(), words.end(), word) != words.end();
  }
  bool is_declaration() const { return is_function ? !has_body : has(".extern"); }
  bool is_private() const {
    return !has(".extern") && !has(".visible") && !has(".weak") && !has(".common") &&
           !has(".entry");
  }
};

struct ParsedModule {
  std::string name;
  double version = 0;
  std::string version_text, target, address_size;
  std::vector<Statement> statements;
};

// Walks over PTX text; comments count as space.
class Scanner {
 public:
  explicit Scanner(const std::string& text) : text_(text) {}

  bool at_end() {
    skip_space();
    return at_ >= text_.size();
  }

  std::string line() {
    size_t begin = at_, end = text_.find('\n', at_);
    at_ = end == std::string::npos ? text_.size() : end + 1;
    std::string out = text_.substr(begin, (end == std::string::npos ? text_.size() : end) - begin);
    if (size_t comment = out.find("//"); comment != std::string::npos) out.resize(comment);
    return out;
  }

  bool starts_with(std::string_view word) const {
    return text_.compare(at_, word.size(), word) == 0 &&
           (at_ + word.size() >= text_.size() || !is_word(text_[at_ + word.size()]));
  }

  Statement statement() {
    Statement s;
    size_t begin = at_;
    bool in_head = true, initialised = false;
    int depth = 0, round = 0;
    while (at_ < text_.size()) {
      if (skip_comment()) continue;
      char c = text_[at_];
      if (c == '"') {
        skip_string();
        continue;
      }
      if (c == '=') in_head = false, initialised = true;
      if (c == '(') ++round;
      if (c == ')') --round;
      if (c == '{') in_head = false, ++depth;
      if (c == '}' && --depth < 0)
        throw Failure(kInvalidPtx, "a brace is closed that was never opened");
      if (in_head && round == 0 && (is_word(c) || c == '.')) {
        s.words.push_back(word());
        continue;
      }
      ++at_;
      bool ends_body = c == '}' && depth == 0 && !initialised;
      if (ends_body || (c == ';' && depth == 0)) {
        s.text = text_.substr(begin, at_ - begin);
        s.has_body = ends_body;
        return s;
      }
    }
    throw Failure(kInvalidPtx, "the PTX ends in the middle of a statement");
  }

 private:
  void skip_space() {
    while (at_ < text_.size() && (isspace(static_cast<unsigned char>(text_[at_])) ||
                                  text_[at_] == '\0' || skip_comment())) {
      if (at_ < text_.size() &&
          (isspace(static_cast<unsigned char>(text_[at_])) || text_[at_] == '\0'))
        ++at_;
    }
  }

  bool skip_comment() {
    if (text_.compare(at_, 2, "//") == 0) {
      at_ = std::min(text_.find('\n', at_), text_.size());
      return true;
    }
    if (text_.compare(at_, 2, "/*") == 0) {
      size_t end = text_.find("*/", at_ + 2);
      at_ = end == std::string::npos ? text_.size() : end + 2;
      return true;
    }
    return false;
  }

  void skip_string() {
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\') ++at_;
    }
    ++at_;
  }

  std::string word() {
    size_t begin = at_++;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  const std::string& text_;
  size_t at_ = 0;
};

// The name is the last word of the head that is no directive: `.visible .func (.param .b32 r) NAME
// (...)`,
// `.global .align 4 .b8 NAME[16]`. Words after the parameters (.maxntid 1, 1, 1) come behind the
// name.
void find_name(Statement& s) {
  s.is_function = s.has(".func") || s.has(".entry");
  s.is_variable = !s.is_function && (s.has(".global") || s.has(".const") || s.has(".shared"));
  if (!s.is_function && !s.is_variable) return;
  bool after_align = false;
  for (auto& word : s.words) {
    bool number = isdigit(static_cast<unsigned char>(word[0]));
    if (word[0] != '.' && !number) {
      s.name = word;
      return;
    }
    if (number && !after_align) return;
    after_align = word == ".align" || word == ".maxnreg";
  }
}

std::string argument(const std::string& line, size_t skip) {
  std::string out = line.substr(std::min(skip, line.size()));
  size_t begin = out.find_first_not_of(" \t\r"), end = out.find_last_not_of(" \t\r;");
  return begin == std::string::npos ? "" : out.substr(begin, end - begin + 1);
}

ParsedModule parse(const PtxInput& input) {
  ParsedModule m;
  m.name = input.name;
  Scanner in(input.text);
  while (!in.at_end()) {
    if (in.starts_with(".version")) {
      m.version_text = argument(in.line(), 8);
      m.version = strtod(m.version_text.c_str(), nullptr);
    } else if (in.starts_with(".target")) {
      m.target = argument(in.line(), 7);
    } else if (in.starts_with(".address_size")) {
      m.address_size = argument(in.line(), 13);
    } else if (in.starts_with(".file") || in.starts_with("#")) {
      in.line();  // of use to debuggers only
    } else {
      Statement s = in.statement();
      find_name(s);
      bool debug = !s.words.empty() && s.words[0] == ".section";
      if (!debug) m.statements.push_back(std::move(s));
    }
  }
  if (m.version_text.empty()) throw Failure(kInvalidPtx, input.name + ": this is not PTX");
  return m;
}

// Replaces whole words.
std::string renamed(const std::string& text, const std::map<std::string, std::string>& names) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    if (!is_word(text[i])) {
      out += text[i++];
      continue;
    }
    size_t end = i;
    while (end < text.size() && is_word(text[end])) ++end;
    std::string word = text.substr(i, end - i);
    auto it = names.find(word);
    bool directive = i > 0 && text[i - 1] == '.';
    out += it == names.end() || directive ? word : it->second;
    i = end;
  }
  return out;
}

// NVIDIA's device run time (libcudadevrt), which programs are linked with: ours is in the driver.
bool defines_device_runtime(const ParsedModule& m) {
  return std::any_of(m.statements.begin(), m.statements.end(), [](const Statement& s) {
    return s.is_function && !s.is_declaration() && s.name == "__cudaCDP2LaunchDeviceV2";
  });
}

// Private names that another module has too get a suffix, with which no module has them.
void keep_apart(std::vector<ParsedModule>& modules) {
  std::set<std::string> taken, all;
  for (auto& m : modules) {
    for (auto& s : m.statements) all.insert(s.name);
  }
  for (size_t i = 0; i < modules.size(); ++i) {
    std::map<std::string, std::string> names;
    for (auto& s : modules[i].statements) {
      bool mine = !s.name.empty() && s.is_private();
      if (!mine || !taken.count(s.name)) continue;
      std::string& fresh = names[s.name];
      size_t number = i;
      do fresh = s.name + "$" + std::to_string(number++);
      while (!all.insert(fresh).second);
    }
    for (auto& s : modules[i].statements) {
      if (!s.name.empty()) taken.insert(s.name);
      if (names.empty()) continue;
      s.text = renamed(s.text, names);
      if (auto it = names.find(s.name); it != names.end()) s.name = it->second;
    }
  }
}

// Which statement defines each name: a strong definition before weak ones.
std::map<std::string, const Statement*> definitions(const std::vector<ParsedModule>& modules) {
  std::map<std::string, const Statement*> out;
  for (auto& m : modules) {
    for (auto& s : m.statements) {
      if (s.name.empty() || s.is_declaration()) continue;
      const Statement*& now = out[s.name];
      bool strong = !s.has(".weak") && !s.has(".common");
      bool was_strong = now && !now->has(".weak") && !now->has(".common");
      if (strong && was_strong)
        throw Failure(kInvalidPtx, m.name + ": " + s.name + " is defined twice");
      if (!now || (strong && !was_strong)) now = &s;
    }
  }
  return out;
}

void replace_first(std::string& text, const std::string& what, const std::string& by) {
  size_t at = text.find(what);
  if (at != std::string::npos) text.replace(at, what.size(), by);
}

// A declaration of something that another module defines, as it must read in one module with the
// definition.
std::string as_prototype(const Statement& s, const Statement& definition) {
  std::string text = s.text;
  std::string linkage = definition.has(".weak")      ? ".weak"
                        : definition.has(".visible") ? ".visible"
                                                     : "";
  replace_first(text, ".extern", linkage);
  return text;
}

}  // namespace

std::string link_ptx(const std::vector<PtxInput>& inputs) {
  if (inputs.empty()) throw Failure(1, "there is nothing to link");
  if (inputs.size() == 1) return inputs[0].text.substr(0, inputs[0].text.find('\0'));
  std::vector<ParsedModule> modules;
  for (auto& input : inputs) {
    modules.push_back(parse(input));
    if (defines_device_runtime(modules.back())) modules.pop_back();
  }
  if (modules.empty()) throw Failure(1, "there is nothing to link");
  keep_apart(modules);
  auto defined = definitions(modules);
  auto newest = std::max_element(modules.begin(), modules.end(),
                                 [](auto& a, auto& b) { return a.version < b.version; });
  std::string variables, prototypes, rest;
  std::set<std::string> declared;
  for (auto& m : modules) {
    for (auto& s : m.statements) {
      auto it = s.name.empty() ? defined.end() : defined.find(s.name);
      bool known = it != defined.end();
      if (!s.name.empty() && s.is_declaration()) {
        bool fresh = declared.insert(s.name).second;
        if (s.is_function && fresh)
          prototypes += (known ? as_prototype(s, *it->second) : s.text) + "\n";
        if (s.is_variable && fresh && !known) variables += s.text + "\n";
      } else if (!known || it->second == &s) {
        (s.is_variable ? variables : rest) += s.text + "\n";
      }
    }
  }
  return ".version " + newest->version_text + "\n.target " + newest->target +
         "\n.address_size 64\n" + variables + prototypes + rest;
}

bool is_device_runtime(const std::string& bytes) {
  return bytes.rfind("!<arch>\n", 0) == 0 &&
         bytes.find("cuda_device_runtime.o/") != std::string::npos;
}

}  // namespace aw
