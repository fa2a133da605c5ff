// Where a factorisation or a solution met a pivot of zero: found when the work runs, told by the
// functions ..._zeroPivot.
#pragma once

#include <atomic>

#include "libraries/cusparse/entries.h"

namespace aw::cusparse {

struct PivotInfo {
  std::shared_ptr<std::atomic<int64_t>> position;  // the row, -1: none
  int64_t block = 1;
  int base = 0;
  // numericBoost: pivots that are no larger than `tolerance` become `boost`; both may lie on the
  // device.
  bool boosted = false, on_device = false;
  const double* tolerance = nullptr;
  const void* boost = nullptr;
  double tolerance_now = 0;
  alignas(16) char boost_now[16] = {};

  std::shared_ptr<std::atomic<int64_t>> begin(int64_t block_size, int index_base) {
    position = std::make_shared<std::atomic<int64_t>>(-1);
    block = block_size, base = index_base;
    return position;
  }
};

// The first row without an element on the diagonal; -1: there is none.
inline int64_t first_missing(const SpMat& a) {
  std::vector<char> there(static_cast<size_t>(a.rows));
  for_entries(a, 0, [&](int64_t r, int64_t c, int64_t) {
    if (r == c) there[static_cast<size_t>(r)] = 1;
  });
  auto it = std::find(there.begin(), there.end(), 0);
  return it == there.end() ? -1 : it - there.begin();
}

// As documented it waits for the work before.
inline cusparseStatus_t tell_pivot(const cusparseContext& context, const PivotInfo* info,
                                   int* position) {
  require(info && position);
  wait(context);
  int64_t row = info->position ? info->position->load() : -1;
  *position = row < 0 ? -1 : static_cast<int>(row / info->block) + info->base;
  return row < 0 ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_ZERO_PIVOT;
}

}  // namespace aw::cusparse

#define AW_INFO_FUNCTIONS(Name, name)                                                        \
  AW_EXPORT cusparseStatus_t cusparseCreate##Name##Info(name##Info_t* info) {                \
    return api<"cusparseCreate" #Name "Info">([&] {                                          \
      require(info);                                                                         \
      *info = new name##Info{};                                                              \
    });                                                                                      \
  }                                                                                          \
  AW_EXPORT cusparseStatus_t cusparseDestroy##Name##Info(name##Info_t info) {                \
    return api<"cusparseDestroy" #Name "Info">([&] { delete info; });                        \
  }                                                                                          \
  AW_EXPORT cusparseStatus_t cusparseX##name##_zeroPivot(cusparseHandle_t handle,            \
                                                         name##Info_t info, int* position) { \
    return api<"cusparseX" #name "_zeroPivot">(                                              \
        [&] { return tell_pivot(use(handle), info, position); });                            \
  }
