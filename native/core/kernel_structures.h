// clang-format off
// Made by anywarp/compiler/abi.py; change the table there instead.
#pragma once

#ifndef AW_DEVICE_CODE
#include <stddef.h>
#include <stdint.h>
#endif

// One per launch, the same for all its blocks, never written by kernels.
struct AwLaunch {
  uint32_t grid[3];  // 0   %nctaid
  uint32_t block[3];  // 12  %ntid
  uint32_t dynamic_shared;  // 24  bytes of dynamic shared memory
  uint32_t shared_total;  // 28  static + dynamic bytes
  const uint8_t* params;  // 32  parameter buffer, laid out as the artifact says
  uint8_t* module_data;  // 40  .global and .const variables of the module
  uint64_t grid_id;  // 48  %gridid
  uint64_t module_data_bytes;  // 56
  uint64_t grid_workspace;  // 64  what %envreg1 and %envreg2 name in a cooperative launch, else 0
  void* check;  // 72  state of the memory checker, for host services; null without it
};
#ifdef __cplusplus
static_assert(sizeof(AwLaunch) == 80);
static_assert(offsetof(AwLaunch, grid) == 0);
static_assert(offsetof(AwLaunch, block) == 12);
static_assert(offsetof(AwLaunch, dynamic_shared) == 24);
static_assert(offsetof(AwLaunch, shared_total) == 28);
static_assert(offsetof(AwLaunch, params) == 32);
static_assert(offsetof(AwLaunch, module_data) == 40);
static_assert(offsetof(AwLaunch, grid_id) == 48);
static_assert(offsetof(AwLaunch, module_data_bytes) == 56);
static_assert(offsetof(AwLaunch, grid_workspace) == 64);
static_assert(offsetof(AwLaunch, check) == 72);
#endif

// One per worker thread; what a block needs beside the launch. The kernel writes `ctaid` and `warp`
// as it goes (for fault reports), and before an access to global or generic memory what a fault
// handler needs to name the thread: the low byte of `access_kind` is 0 for none, 1 uniform (addresses[0]),
// 2 affine (addresses[0], stride), 3 addresses[32], 4 an array of addresses at addresses[0], 5 as many affine
// ones of one stride as its fourth byte says (addresses[0] and addresses[17] on), 6 addresses[0] and as many
// strides as an array of int32_t at addresses[31] says; its second byte
// is the warps of the gang from `warp` on, less one; with bit 16 the mask, a bit per lane of the gang, begins
// at addresses[1].
struct AwWorker {
  uint8_t* shared;  // 0   shared memory of the running block, 64-byte aligned, shared_total bytes
  uint8_t* frame;  // 8   warp states across barriers, 64-byte aligned, frame_bytes of the artifact
  uint8_t* local;  // 16  local memory, 64-byte aligned, local_bytes per thread of the block
  uint32_t ctaid[3];  // 24  block being run
  uint32_t warp;  // 36  warp being run
  uint32_t access_kind;  // 40
  uint32_t access_mask;  // 44  lanes taking part unless bit 16 of the kind is set (all ones: all)
  int64_t access_stride;  // 48
  uint32_t worker_id;  // 56  index of the worker thread (%smid)
  uint32_t line;  // 60  with AW_TRAP and AW_DEADLOCK: line of the PTX, 0 unknown
  uint64_t addresses[32];  // 64
  void* host;  // 320 for host services
  uint32_t trap_lane;  // 328 set with AW_TRAP
  uint32_t barrier_id;  // 332 set with AW_DEADLOCK
  uint32_t resume;  // 336 not 0: go on with the block in `ctaid`, whose states are in `frame`
  uint32_t reason;  // 340 with AW_TRAP: an AwReason
};
#ifdef __cplusplus
static_assert(sizeof(AwWorker) == 344);
static_assert(offsetof(AwWorker, shared) == 0);
static_assert(offsetof(AwWorker, frame) == 8);
static_assert(offsetof(AwWorker, local) == 16);
static_assert(offsetof(AwWorker, ctaid) == 24);
static_assert(offsetof(AwWorker, warp) == 36);
static_assert(offsetof(AwWorker, access_kind) == 40);
static_assert(offsetof(AwWorker, access_mask) == 44);
static_assert(offsetof(AwWorker, access_stride) == 48);
static_assert(offsetof(AwWorker, worker_id) == 56);
static_assert(offsetof(AwWorker, line) == 60);
static_assert(offsetof(AwWorker, addresses) == 64);
static_assert(offsetof(AwWorker, host) == 320);
static_assert(offsetof(AwWorker, trap_lane) == 328);
static_assert(offsetof(AwWorker, barrier_id) == 332);
static_assert(offsetof(AwWorker, resume) == 336);
static_assert(offsetof(AwWorker, reason) == 340);
#endif

// What a kernel returns.
enum AwStatus : int32_t {
  AW_OK = 0,
  AW_TRAP = 1,  // trap, or an assertion of the kernel
  AW_DEADLOCK = 2,  // lanes wait at a barrier that can never complete
  AW_PAUSED = 3,  // the block waits for another one; call again with `resume`
};

// Why a kernel trapped.
enum AwReason : uint32_t {
  AW_REASON_TRAP = 0,  // the kernel said so
  AW_REASON_NO_FUNCTION = 1,  // a call through a pointer to no function of the right kind
  AW_REASON_STACK = 2,  // a call or alloca for which the thread's stack has no room
  AW_REASON_TEXTURE = 3,  // and on: 2 + an HipTextureFault of core/hip_texture.h
};
