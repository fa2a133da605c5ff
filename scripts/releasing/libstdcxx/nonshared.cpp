// What code compiled with libstdc++ 12's headers calls and the libstdc++ of GCC 8 does not have
// (GLIBCXX_3.4.24 is the newest that manylinux_2_28 allows): here, hidden in each library, by means
// of what GCC 8 has. releasing/standins.py names what is missing.
//
// Each is a free function under the member's own name: in the Itanium C++ ABI `this` is an argument
// like others. Compiled as C++17, in which the classes have the older members.
#include <pthread.h>

#include <condition_variable>
#include <exception>
#include <ios>
#include <mutex>
#include <new>
#include <sstream>
#include <string>

#define HIDDEN [[gnu::visibility("hidden"), gnu::used]]

using Stream = std::ostringstream;

// std::exception_ptr's copy constructor and destructor are inline in the headers and call what is
// defined below, so that they cannot be used here, whichever library's copy the loader would take.
// These two are in the library alone: the constructor that counts one more reference, and the
// destructor of what holds one.
void hold(void** pointer, void* exception) __asm__("_ZNSt15__exception_ptr13exception_ptrC1EPv");
void destroy(void* nested) __asm__("_ZNSt16nested_exceptionD1Ev");
struct Nested {  // std::nested_exception
  const void* table;
  void* pointer;
};

// std::__throw_bad_array_new_length(), GLIBCXX_3.4.29
HIDDEN void throw_bad_array_new_length() __asm__("_ZSt28__throw_bad_array_new_lengthv");
void throw_bad_array_new_length() { throw std::bad_array_new_length(); }

// std::condition_variable::wait(std::unique_lock<std::mutex>&), GLIBCXX_3.4.30
HIDDEN void wait(std::condition_variable* self, std::unique_lock<std::mutex>* lock) __asm__(
    "_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE");
void wait(std::condition_variable* self, std::unique_lock<std::mutex>* lock) {
  pthread_cond_wait(self->native_handle(), lock->mutex()->native_handle());
}

// Constructors without arguments of std::ostringstream, std::stringstream and std::stringbuf,
// GLIBCXX_3.4.26
HIDDEN void construct(Stream* self) __asm__(
    "_ZNSt7__cxx1119basic_ostringstreamIcSt11char_traitsIcESaIcEEC1Ev");
void construct(Stream* self) { ::new (self) Stream(std::ios_base::out); }
HIDDEN void construct_both(std::stringstream* self) __asm__(
    "_ZNSt7__cxx1118basic_stringstreamIcSt11char_traitsIcESaIcEEC1Ev");
void construct_both(std::stringstream* self) {
  ::new (self) std::stringstream(std::ios_base::in | std::ios_base::out);
}
HIDDEN void construct_buffer(std::stringbuf* self) __asm__(
    "_ZNSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEEC1Ev");
void construct_buffer(std::stringbuf* self) {
  ::new (self) std::stringbuf(std::ios_base::in | std::ios_base::out);
}

// std::ostringstream::str() const&, std::stringbuf::str() const& and &&, GLIBCXX_3.4.29
HIDDEN std::string text(const Stream* self) __asm__(
    "_ZNKRSt7__cxx1119basic_ostringstreamIcSt11char_traitsIcESaIcEE3strEv");
std::string text(const Stream* self) { return self->str(); }
HIDDEN std::string text_of_buffer(const std::stringbuf* self) __asm__(
    "_ZNKRSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEE3strEv");
std::string text_of_buffer(const std::stringbuf* self) { return self->str(); }
HIDDEN std::string text_moved(std::stringbuf* self) __asm__(
    "_ZNOSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEE3strEv");
std::string text_moved(std::stringbuf* self) {
  std::string all = self->str();
  self->str(std::string());
  return all;
}

// std::exception_ptr::_M_addref(), CXXABI_1.3.13
HIDDEN void add_reference(void** self) __asm__("_ZNSt15__exception_ptr13exception_ptr9_M_addrefEv");
void add_reference(void** self) {
  void* copy = nullptr;
  if (*self) hold(&copy, *self);
}

// std::exception_ptr::_M_release(), CXXABI_1.3.13
HIDDEN void release(void** self) __asm__("_ZNSt15__exception_ptr13exception_ptr10_M_releaseEv");
void release(void** self) {
  Nested nested{nullptr, *self};
  if (*self) destroy(&nested);
  *self = nullptr;
}
