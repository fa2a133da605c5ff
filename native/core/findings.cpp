#include "core/findings.h"

#include <unistd.h>

#include <map>
#include <mutex>
#include <vector>

#include "core/log.h"
#include "core/report.h"
#include "core/text.h"

namespace aw {
namespace {

constexpr size_t kShown = 50, kKept = 1000;

struct Counted {
  Finding first;
  uint64_t count = 0;
};

struct Findings {
  std::mutex mutex;
  std::map<std::string, size_t> by_place;
  std::vector<Counted> all;
  uint64_t beyond = 0;  // occurrences of findings for which there was no room
};

Findings& findings() {
  static Findings& instance = *new Findings;
  return instance;
}

std::string triple(const uint32_t (&v)[3]) {
  return "(" + std::to_string(v[0]) + "," + std::to_string(v[1]) + "," + std::to_string(v[2]) + ")";
}

std::string source_place(const Finding& f) {
  std::string ptx = f.ptx_line ? "PTX line " + std::to_string(f.ptx_line) : "";
  if (f.file.empty()) return ptx;
  std::string text = f.file + ":" + std::to_string(f.line);
  if (!f.inlined_at.empty()) text += ", inlined at " + f.inlined_at;
  return ptx.empty() ? text : text + " (" + ptx + ")";
}

void tell(const Finding& f) {
  std::string text = "check: " + f.kind + ": " + f.text + "\n    kernel " + f.kernel + ", block " +
                     triple(f.block) + ", thread " + triple(f.thread);
  std::string where = source_place(f);
  if (!where.empty()) text += "\n    at " + where;
  if (!f.more.empty()) text += "\n    " + f.more;
  text = "anywarp: " + text + "\n";
  [[maybe_unused]] ssize_t written = write(STDERR_FILENO, text.data(), text.size());
}

// Loop unrolling and inlining make many places of one line; the user has one line to mend.
std::string key(const Finding& f) {
  std::string where = f.file.empty() ? std::to_string(f.ptx_line)
                                     : f.file + ":" + std::to_string(f.line) + f.inlined_at;
  return f.kind + "\n" + f.kernel + "\n" + where + "\n" + f.access;
}

}  // namespace

void add_finding(const Finding& f) {
  Findings& s = findings();
  std::unique_lock lock(s.mutex);
  auto [it, fresh] = s.by_place.try_emplace(key(f), s.all.size());
  if (!fresh) {
    ++s.all[it->second].count;
    return;
  }
  if (s.all.size() == kKept) {
    s.by_place.erase(it);
    ++s.beyond;
    return;
  }
  s.all.push_back({f, 1});
  if (s.all.size() <= kShown) tell(f);
  lock.unlock();
  write_report_now();  // a program that then crashes has told
}

std::string render_findings() {
  Findings& s = findings();
  std::lock_guard lock(s.mutex);
  std::string out;
  for (auto& [f, count] : s.all) {
    std::string line = "finding";
    for (const std::string& field :
         {f.check, f.kind, std::to_string(count), f.kernel, f.file, std::to_string(f.line),
          f.inlined_at, std::to_string(f.ptx_line), triple(f.block), triple(f.thread), f.access,
          f.space, std::to_string(f.address), std::to_string(f.size), f.text, f.more})
      line += "\t" + percent_encode(field);
    out += line + "\n";
  }
  return out;
}

void forget_findings() {
  Findings& s = findings();
  new (&s.mutex) std::mutex;
  s.by_place.clear();
  s.all.clear();
  s.beyond = 0;
}

}  // namespace aw
