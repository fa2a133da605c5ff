#include "exported.h"

namespace awt {

LastError& last_error() noexcept {
  thread_local LastError error;
  return error;
}

namespace {

Raised note(const c10::Error& error, Raised raised) {
  last_error().words = error.what_without_backtrace();
  last_error().code = 0;
  return raised;
}

}  // namespace

Raised note_exception() noexcept {
  try {
    try {
      throw;
    } catch (const c10::OutOfMemoryError& error) {
      return note(error, Raised::memory);
#if AWT_TORCH >= 208
    } catch (const c10::AcceleratorError& error) {
      note(error, Raised::accelerator);
      last_error().code = error.get_error_code();
      return Raised::accelerator;
#endif
    } catch (const c10::IndexError& error) {
      return note(error, Raised::index);
    } catch (const c10::ValueError& error) {
      return note(error, Raised::value);
    } catch (const c10::TypeError& error) {
      return note(error, Raised::type);
    } catch (const c10::NotImplementedError& error) {
      return note(error, Raised::missing);
    } catch (const c10::Error& error) {
      return note(error, Raised::runtime);
    } catch (const std::exception& error) {
      last_error() = {error.what(), 0};
    } catch (...) {
      last_error() = {"unknown exception", 0};
    }
  } catch (...) {
    // No memory for the words.
  }
  return Raised::runtime;
}

}  // namespace awt

AWT_EXPORT const char* awt_error_words() { return awt::last_error().words.c_str(); }
AWT_EXPORT int awt_error_code() { return awt::last_error().code; }
