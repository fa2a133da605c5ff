// NVTX for C++: ranges that end with their scope, domains, registered strings and named categories that are made once (NVTX C++ API reference).
#ifndef NVTX3_CPP_DEFINITIONS_V1_0
#define NVTX3_CPP_DEFINITIONS_V1_0
#define NVTX3_CPP_VERSION_MAJOR 1
#define NVTX3_CPP_VERSION_MINOR 0

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "nvToolsExt.h"

namespace nvtx3 {
inline namespace v1 {
namespace detail {

inline nvtxDomainHandle_t create(const char *name) { return nvtxDomainCreateA(name); }
inline nvtxDomainHandle_t create(const wchar_t *name) { return nvtxDomainCreateW(name); }
inline nvtxStringHandle_t enter(nvtxDomainHandle_t domain, const char *text) { return nvtxDomainRegisterStringA(domain, text); }
inline nvtxStringHandle_t enter(nvtxDomainHandle_t domain, const wchar_t *text) { return nvtxDomainRegisterStringW(domain, text); }
inline void call(nvtxDomainHandle_t domain, std::uint32_t id, const char *name) { nvtxDomainNameCategoryA(domain, id, name); }
inline void call(nvtxDomainHandle_t domain, std::uint32_t id, const wchar_t *name) { nvtxDomainNameCategoryW(domain, id, name); }

}  // namespace detail

class domain {
 public:
  struct global {};

  domain(const domain &) = delete;
  domain &operator=(const domain &) = delete;
  domain(domain &&) = delete;
  domain &operator=(domain &&) = delete;

  // The one of type D, which has a member `name`; made at the first call.
  template <class D = global>
  static const domain &get() noexcept {
    return of(static_cast<D *>(nullptr));
  }
  operator nvtxDomainHandle_t() const noexcept { return handle_; }

 private:
  domain() noexcept = default;
  template <class C>
  explicit domain(const C *name) noexcept : handle_(detail::create(name)) {}
  ~domain() { if (handle_) nvtxDomainDestroy(handle_); }

  static const domain &of(global *) noexcept {
    static const domain kept;
    return kept;
  }
  template <class D>
  static const domain &of(D *) noexcept {
    static const domain kept(D::name);
    return kept;
  }

  nvtxDomainHandle_t handle_ = nullptr;
};

class rgb {
 public:
  using component_type = std::uint8_t;
  constexpr rgb(component_type red_, component_type green_, component_type blue_) noexcept : red(red_), green(green_), blue(blue_) {}
  component_type red, green, blue;
};

class argb final : public rgb {
 public:
  constexpr argb(component_type alpha_, component_type red_, component_type green_, component_type blue_) noexcept
      : rgb(red_, green_, blue_), alpha(alpha_) {}
  component_type alpha;
};

class color {
 public:
  using value_type = std::uint32_t;
  constexpr explicit color(value_type argb_code) noexcept : value_(argb_code) {}
  constexpr color(argb c) noexcept
      : value_(value_type{c.alpha} << 24 | value_type{c.red} << 16 | value_type{c.green} << 8 | value_type{c.blue}) {}
  constexpr color(rgb c) noexcept : color(argb(0xFF, c.red, c.green, c.blue)) {}
  color() noexcept = delete;
  constexpr value_type get_value() const noexcept { return value_; }
  constexpr nvtxColorType_t get_type() const noexcept { return NVTX_COLOR_ARGB; }

 private:
  value_type value_;
};

class category {
 public:
  using id_type = std::uint32_t;
  constexpr explicit category(id_type id) noexcept : id_(id) {}
  category() = delete;
  constexpr id_type get_id() const noexcept { return id_; }

 private:
  id_type id_;
};

template <class D = domain::global>
class named_category_in final : public category {
 public:
  // The one of type C, which has members `id` and `name`; told to the tool at the first call.
  template <class C>
  static const named_category_in &get() noexcept {
    static const named_category_in kept(C::id, C::name);
    return kept;
  }
  template <class T>
  named_category_in(id_type id, const T *name) noexcept : category(id) {
    detail::call(domain::get<D>(), id, name);
  }
};
using named_category = named_category_in<domain::global>;

template <class D = domain::global>
class registered_string_in {
 public:
  // The one of type M, which has a member `message`; told to the tool at the first call.
  template <class M>
  static const registered_string_in &get() noexcept {
    static const registered_string_in kept(M::message);
    return kept;
  }
  explicit registered_string_in(const char *text) noexcept : handle_(detail::enter(domain::get<D>(), text)) {}
  explicit registered_string_in(const wchar_t *text) noexcept : handle_(detail::enter(domain::get<D>(), text)) {}
  explicit registered_string_in(const std::string &text) noexcept : registered_string_in(text.c_str()) {}
  explicit registered_string_in(const std::wstring &text) noexcept : registered_string_in(text.c_str()) {}
  registered_string_in() = delete;
  registered_string_in(const registered_string_in &) = delete;
  registered_string_in &operator=(const registered_string_in &) = delete;
  nvtxStringHandle_t get_handle() const noexcept { return handle_; }

 private:
  nvtxStringHandle_t handle_ = nullptr;
};
using registered_string = registered_string_in<domain::global>;

class message {
 public:
  using value_type = nvtxMessageValue_t;
  constexpr message(const char *text) noexcept : type_(NVTX_MESSAGE_TYPE_ASCII), value_() { value_.ascii = text; }
  constexpr message(const wchar_t *text) noexcept : type_(NVTX_MESSAGE_TYPE_UNICODE), value_() { value_.unicode = text; }
  message(const std::string &text) noexcept : message(text.c_str()) {}
  message(const std::wstring &text) noexcept : message(text.c_str()) {}
  message(std::string &&) = delete;  // the text must live as long as the message
  message(std::wstring &&) = delete;
  template <class D>
  message(const registered_string_in<D> &text) noexcept : message(text.get_handle()) {}
  constexpr message(nvtxStringHandle_t handle) noexcept : type_(NVTX_MESSAGE_TYPE_REGISTERED), value_() { value_.registered = handle; }
  constexpr message(nvtxMessageType_t type, const value_type &value) noexcept : type_(type), value_(value) {}
  constexpr value_type get_value() const noexcept { return value_; }
  constexpr nvtxMessageType_t get_type() const noexcept { return type_; }

 private:
  nvtxMessageType_t type_;
  value_type value_;
};

class payload {
 public:
  using value_type = nvtxEventAttributes_t::payload_t;
  explicit payload(std::int64_t v) noexcept : type_(NVTX_PAYLOAD_TYPE_INT64), value_() { value_.llValue = v; }
  explicit payload(std::int32_t v) noexcept : type_(NVTX_PAYLOAD_TYPE_INT32), value_() { value_.iValue = v; }
  explicit payload(std::uint64_t v) noexcept : type_(NVTX_PAYLOAD_TYPE_UNSIGNED_INT64), value_() { value_.ullValue = v; }
  explicit payload(std::uint32_t v) noexcept : type_(NVTX_PAYLOAD_TYPE_UNSIGNED_INT32), value_() { value_.uiValue = v; }
  explicit payload(long long v) noexcept : payload(static_cast<std::int64_t>(v)) {}
  explicit payload(unsigned long long v) noexcept : payload(static_cast<std::uint64_t>(v)) {}
  explicit payload(float v) noexcept : type_(NVTX_PAYLOAD_TYPE_FLOAT), value_() { value_.fValue = v; }
  explicit payload(double v) noexcept : type_(NVTX_PAYLOAD_TYPE_DOUBLE), value_() { value_.dValue = v; }
  payload(nvtxPayloadType_t type, const value_type &value) noexcept : type_(type), value_(value) {}
  value_type get_value() const noexcept { return value_; }
  nvtxPayloadType_t get_type() const noexcept { return type_; }

 private:
  nvtxPayloadType_t type_;
  value_type value_;
};

// What a range or mark says: any of message, colour, category and payload in any order; of two of a kind the first counts.
class event_attributes {
 public:
  using value_type = nvtxEventAttributes_t;
  event_attributes() noexcept : value_() {
    value_.version = NVTX_VERSION;
    value_.size = sizeof(value_type);
  }
  template <class... Args>
  event_attributes(const category &first, const Args &...rest) noexcept : event_attributes(rest...) {
    value_.category = first.get_id();
  }
  template <class... Args>
  event_attributes(const color &first, const Args &...rest) noexcept : event_attributes(rest...) {
    value_.color = first.get_value();
    value_.colorType = first.get_type();
  }
  template <class... Args>
  event_attributes(const rgb &first, const Args &...rest) noexcept : event_attributes(color(first), rest...) {}
  template <class... Args>
  event_attributes(const argb &first, const Args &...rest) noexcept : event_attributes(color(first), rest...) {}
  template <class... Args>
  event_attributes(const payload &first, const Args &...rest) noexcept : event_attributes(rest...) {
    value_.payload = first.get_value();
    value_.payloadType = first.get_type();
  }
  template <class... Args>
  event_attributes(const message &first, const Args &...rest) noexcept : event_attributes(rest...) {
    value_.message = first.get_value();
    value_.messageType = first.get_type();
  }
  const value_type *get() const noexcept { return &value_; }

 private:
  value_type value_;
};

// Functions for both sides may hold a range that only the host begins (CUB): clang wants its end to be for both, too.
#ifdef __CUDACC__
#define NVTX3_ENDS_ANYWHERE __attribute__((host, device))
#else
#define NVTX3_ENDS_ANYWHERE
#endif

template <class D = domain::global>
class scoped_range_in {
 public:
  explicit scoped_range_in(const event_attributes &attributes) noexcept { nvtxDomainRangePushEx(domain::get<D>(), attributes.get()); }
  template <class First, class... Args,
            class = typename std::enable_if<!std::is_same<event_attributes, typename std::decay<First>::type>::value>::type>
  explicit scoped_range_in(const First &first, const Args &...args) noexcept : scoped_range_in(event_attributes(first, args...)) {}
  scoped_range_in() noexcept : scoped_range_in(event_attributes()) {}
  void *operator new(std::size_t) = delete;  // ranges nest as scopes do
  scoped_range_in(const scoped_range_in &) = delete;
  scoped_range_in &operator=(const scoped_range_in &) = delete;
  NVTX3_ENDS_ANYWHERE ~scoped_range_in() noexcept {
#ifndef __CUDA_ARCH__
    nvtxDomainRangePop(domain::get<D>());
#endif
  }
};
using scoped_range = scoped_range_in<domain::global>;

struct range_handle {
  using value_type = nvtxRangeId_t;
  constexpr explicit range_handle(value_type id) noexcept : id_(id) {}
  constexpr range_handle() noexcept = default;
  constexpr range_handle(std::nullptr_t) noexcept {}
  constexpr explicit operator bool() const noexcept { return id_ != 0; }
  constexpr value_type get_value() const noexcept { return id_; }
  friend constexpr bool operator==(range_handle a, range_handle b) noexcept { return a.id_ == b.id_; }
  friend constexpr bool operator!=(range_handle a, range_handle b) noexcept { return a.id_ != b.id_; }

 private:
  value_type id_ = 0;
};

template <class D = domain::global>
range_handle start_range_in(const event_attributes &attributes) noexcept {
  return range_handle(nvtxDomainRangeStartEx(domain::get<D>(), attributes.get()));
}
template <class D = domain::global, class First, class... Args,
          class = typename std::enable_if<!std::is_same<event_attributes, typename std::decay<First>::type>::value>::type>
range_handle start_range_in(const First &first, const Args &...args) noexcept {
  return start_range_in<D>(event_attributes(first, args...));
}
template <class... Args>
range_handle start_range(const Args &...args) noexcept {
  return start_range_in<domain::global>(args...);
}
template <class D = domain::global>
void end_range_in(range_handle range) noexcept {
  nvtxDomainRangeEnd(domain::get<D>(), range.get_value());
}
inline void end_range(range_handle range) noexcept { end_range_in<domain::global>(range); }

template <class D = domain::global>
class unique_range_in {
 public:
  explicit unique_range_in(const event_attributes &attributes) noexcept : handle_(start_range_in<D>(attributes)) {}
  template <class First, class... Args,
            class = typename std::enable_if<!std::is_same<event_attributes, typename std::decay<First>::type>::value &&
                                            !std::is_same<unique_range_in, typename std::decay<First>::type>::value>::type>
  explicit unique_range_in(const First &first, const Args &...args) noexcept : unique_range_in(event_attributes(first, args...)) {}
  unique_range_in() noexcept : unique_range_in(event_attributes()) {}
  unique_range_in(unique_range_in &&other) noexcept : handle_(std::exchange(other.handle_, range_handle())) {}
  unique_range_in &operator=(unique_range_in &&other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~unique_range_in() noexcept { if (handle_) end_range_in<D>(handle_); }

 private:
  range_handle handle_;
};
using unique_range = unique_range_in<domain::global>;

template <class D = domain::global>
void mark_in(const event_attributes &attributes) noexcept {
  nvtxDomainMarkEx(domain::get<D>(), attributes.get());
}
template <class D = domain::global, class First, class... Args,
          class = typename std::enable_if<!std::is_same<event_attributes, typename std::decay<First>::type>::value>::type>
void mark_in(const First &first, const Args &...args) noexcept {
  mark_in<D>(event_attributes(first, args...));
}
template <class... Args>
void mark(const Args &...args) noexcept {
  mark_in<domain::global>(args...);
}

namespace detail {
// A range of a scope that may turn out not to be wanted.
template <class D>
class range_if {
 public:
  range_if() noexcept = default;
  range_if(const range_if &) = delete;
  range_if &operator=(const range_if &) = delete;
  void begin(const event_attributes &attributes) noexcept {
    nvtxDomainRangePushEx(domain::get<D>(), attributes.get());
    begun_ = true;
  }
  ~range_if() noexcept { if (begun_) nvtxDomainRangePop(domain::get<D>()); }

 private:
  bool begun_ = false;
};
}  // namespace detail

}  // namespace v1
}  // namespace nvtx3

// The name of the function that a thread is in, told to the tool once.
#define NVTX3_FUNC_RANGE_IN(D)                                                            \
  static const ::nvtx3::registered_string_in<D> nvtx3_name_of_function{__func__};         \
  const ::nvtx3::scoped_range_in<D> nvtx3_range_of_function{nvtx3_name_of_function}
#define NVTX3_FUNC_RANGE_IF_IN(D, C)                                                      \
  ::nvtx3::detail::range_if<D> nvtx3_range_of_function;                                   \
  if (C) {                                                                                \
    static const ::nvtx3::registered_string_in<D> nvtx3_name_of_function{__func__};       \
    nvtx3_range_of_function.begin(::nvtx3::event_attributes{nvtx3_name_of_function});     \
  }
#define NVTX3_FUNC_RANGE() NVTX3_FUNC_RANGE_IN(::nvtx3::domain::global)
#define NVTX3_FUNC_RANGE_IF(C) NVTX3_FUNC_RANGE_IF_IN(::nvtx3::domain::global, C)
#define NVTX3_V1_FUNC_RANGE_IN(D) NVTX3_FUNC_RANGE_IN(D)
#define NVTX3_V1_FUNC_RANGE_IF_IN(D, C) NVTX3_FUNC_RANGE_IF_IN(D, C)
#define NVTX3_V1_FUNC_RANGE() NVTX3_FUNC_RANGE()
#define NVTX3_V1_FUNC_RANGE_IF(C) NVTX3_FUNC_RANGE_IF(C)

#endif
