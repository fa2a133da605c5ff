// clang-format off
// Made by anywarp/compiler/abi.py; change the table there instead.
#pragma once

#ifndef AW_DEVICE_CODE
#include <stddef.h>
#include <stdint.h>
#endif

// What a launch on the device hip tells a kernel beside its parameters. One argument buffer per
// launch: CUDA's parameter buffer as it is, then, at the next multiple of 16, this.
struct AwHipHidden {
  uint32_t grid[3];  // 0
  uint32_t block[3];  // 12  CUDA's block, whatever workgroup is launched
  uint32_t dynamic_shared;  // 24  bytes that the launch asks for beyond the static ones
  uint32_t shared_total;  // 28  static and dynamic
  uint64_t module_data;  // 32  device address of the module's .global and .const variables
  uint64_t services;  // 40  AwHipServices, in memory that host and device see; 0: none
  uint64_t grid_id;  // 48
  uint64_t grid_workspace;  // 56  of a cooperative launch: what %envreg1 and %envreg2 tell; else 0
  uint32_t first_block[3];  // 64  added to the workgroup's number: large grids are launched in pieces
  uint32_t module_data_bytes;  // 76
};
#ifdef __cplusplus
static_assert(sizeof(AwHipHidden) == 80);
static_assert(offsetof(AwHipHidden, grid) == 0);
static_assert(offsetof(AwHipHidden, block) == 12);
static_assert(offsetof(AwHipHidden, dynamic_shared) == 24);
static_assert(offsetof(AwHipHidden, shared_total) == 28);
static_assert(offsetof(AwHipHidden, module_data) == 32);
static_assert(offsetof(AwHipHidden, services) == 40);
static_assert(offsetof(AwHipHidden, grid_id) == 48);
static_assert(offsetof(AwHipHidden, grid_workspace) == 56);
static_assert(offsetof(AwHipHidden, first_block) == 64);
static_assert(offsetof(AwHipHidden, module_data_bytes) == 76);
#endif

// One per context, in memory of the host that the device sees (coherent). Only `attention` is
// written by kernels: by a plain store, so that PCIe atomics are not needed.
struct AwHipServices {
  uint32_t version;  // 0   kAwHipServicesVersion
  uint32_t attention;  // 4   not 0: there are records, or a kernel has stopped; the host sets 0
  uint64_t state;  // 8   device address of AwHipState
  uint64_t records;  // 16  device address of the records, 0: none are kept
  uint64_t record_bytes;  // 24  a multiple of 16
  uint64_t heap;  // 32  device address of the heap, a multiple of 16; 0: malloc returns null
  uint64_t heap_bytes;  // 40
  uint64_t reserved[2];  // 48
};
#ifdef __cplusplus
static_assert(sizeof(AwHipServices) == 64);
static_assert(offsetof(AwHipServices, version) == 0);
static_assert(offsetof(AwHipServices, attention) == 4);
static_assert(offsetof(AwHipServices, state) == 8);
static_assert(offsetof(AwHipServices, records) == 16);
static_assert(offsetof(AwHipServices, record_bytes) == 24);
static_assert(offsetof(AwHipServices, heap) == 32);
static_assert(offsetof(AwHipServices, heap_bytes) == 40);
static_assert(offsetof(AwHipServices, reserved) == 48);
#endif

// In device memory, all 0 at first.
struct AwHipState {
  uint64_t written;  // 0   bytes of records that were given out since the beginning
  uint64_t consumed;  // 8   bytes that the host has read; only the host writes it
  uint64_t dropped;  // 16  records for which there was no room
  uint64_t frees;  // 24  calls of free with what malloc did not return, or has been freed
  uint32_t stopped;  // 32  an AwHipStop: the first reason that a kernel gave
  uint32_t reason;  // 36  with AW_HIP_TRAP: an AwReason
  uint32_t block[3];  // 40
  uint32_t thread[3];  // 52
  uint32_t line;  // 64  of the PTX, 0: not known
  uint32_t told;  // 68  1: the place above is complete
  uint64_t grid_id;  // 72  AwHipHidden.grid_id of the launch
  uint64_t heap_top;  // 80  bytes of the heap that were ever given out
  uint64_t wide_lock;  // 88  taken by atomic operations on 128 bits
  uint64_t reserved[4];  // 96
  uint64_t lists[64];  // 128 free blocks of each size: tag << 40 | (offset in the heap / 16 + 1)
};
#ifdef __cplusplus
static_assert(sizeof(AwHipState) == 640);
static_assert(offsetof(AwHipState, written) == 0);
static_assert(offsetof(AwHipState, consumed) == 8);
static_assert(offsetof(AwHipState, dropped) == 16);
static_assert(offsetof(AwHipState, frees) == 24);
static_assert(offsetof(AwHipState, stopped) == 32);
static_assert(offsetof(AwHipState, reason) == 36);
static_assert(offsetof(AwHipState, block) == 40);
static_assert(offsetof(AwHipState, thread) == 52);
static_assert(offsetof(AwHipState, line) == 64);
static_assert(offsetof(AwHipState, told) == 68);
static_assert(offsetof(AwHipState, grid_id) == 72);
static_assert(offsetof(AwHipState, heap_top) == 80);
static_assert(offsetof(AwHipState, wide_lock) == 88);
static_assert(offsetof(AwHipState, reserved) == 96);
static_assert(offsetof(AwHipState, lists) == 128);
#endif

// Why a kernel ended early.
enum AwHipStop {
  AW_HIP_RUNNING = 0,
  AW_HIP_TRAP = 1,
  AW_HIP_ASSERT = 2,
};

// What a record is.
enum AwHipRecordKind {
  AW_HIP_UNFINISHED = 0,
  AW_HIP_PRINT = 1,
  AW_HIP_ASSERTION = 2,
  AW_HIP_FILLER = 3,  // nothing: the rest of the buffer before records start at its beginning again
};

// One printf or assertion, at a multiple of 16 in the records. Of `bytes` the last ones are
// filling. A print goes on with: the format and its NUL, filled up to a multiple of 8; `arguments`
// bytes of the argument buffer as the kernel has laid it out, filled up likewise; then for each %s
// whose argument is not null, in order, u32 length and that many bytes, filled up to a multiple
// of 4. An assertion goes on with three texts, message, file and function, each u32 length and
// bytes filled up to a multiple of 4; `arguments` is the line.
struct AwHipRecord {
  uint32_t kind;  // 0   written last
  uint32_t bytes;  // 4
  uint64_t grid_id;  // 8
  uint32_t block[3];  // 16
  uint32_t thread[3];  // 28
  uint32_t format;  // 40  bytes of the format, NUL included
  uint32_t arguments;  // 44
};
#ifdef __cplusplus
static_assert(sizeof(AwHipRecord) == 48);
static_assert(offsetof(AwHipRecord, kind) == 0);
static_assert(offsetof(AwHipRecord, bytes) == 4);
static_assert(offsetof(AwHipRecord, grid_id) == 8);
static_assert(offsetof(AwHipRecord, block) == 16);
static_assert(offsetof(AwHipRecord, thread) == 28);
static_assert(offsetof(AwHipRecord, format) == 40);
static_assert(offsetof(AwHipRecord, arguments) == 44);
#endif

// In front of each block of the device's heap.
struct AwHipBlock {
  uint32_t mark;  // 0   kAwHipUsed, kAwHipFree
  uint32_t size;  // 4   which of the sizes: 16, 24, 32, 48, 64, ... (times 16 bytes from 1 on)
  uint64_t next;  // 8   free blocks: as in AwHipState.lists, without the tag
};
#ifdef __cplusplus
static_assert(sizeof(AwHipBlock) == 16);
static_assert(offsetof(AwHipBlock, mark) == 0);
static_assert(offsetof(AwHipBlock, size) == 4);
static_assert(offsetof(AwHipBlock, next) == 8);
#endif

// Who calls a service: the launch, the block in it and the thread in that.
struct AwHipPlace {
  uint64_t grid_id;  // 0
  uint32_t block[3];  // 8
  uint32_t thread[3];  // 20
};
#ifdef __cplusplus
static_assert(sizeof(AwHipPlace) == 32);
static_assert(offsetof(AwHipPlace, grid_id) == 0);
static_assert(offsetof(AwHipPlace, block) == 8);
static_assert(offsetof(AwHipPlace, thread) == 20);
#endif
