// What kernels on the device hip and the driver share so that printf, assertions, traps and the
// device's malloc work with no host thread that answers. compiler/amdgpu/services.py mirrors the
// structures, native/hip/device/services.c is the kernels' side, native/hip/services.cpp the
// host's.
//
// Plain C: the kernels' side is compiled as C for AMD GPUs.
#pragma once

#ifndef AW_DEVICE_CODE
#include <stddef.h>
#include <stdint.h>
#endif

// One per context, in memory of the host that the device sees (coherent). Only `attention` is
// written by kernels: by a plain store, so that PCIe atomics are not needed.
struct AwHipServices {
  uint32_t version;       // kAwHipServicesVersion
  uint32_t attention;     // not 0: there are records, or a kernel has stopped; the host sets 0
  uint64_t state;         // device address of AwHipState
  uint64_t records;       // device address of the records, 0: none are kept
  uint64_t record_bytes;  // a multiple of 16
  uint64_t heap;          // device address of the heap, a multiple of 16; 0: malloc returns null
  uint64_t heap_bytes;
  uint64_t reserved[2];
};

// In device memory, all 0 at first.
struct AwHipState {
  uint64_t written;    // 0   bytes of records that were given out since the beginning
  uint64_t consumed;   // 8   bytes that the host has read; only the host writes it
  uint64_t dropped;    // 16  records for which there was no room
  uint64_t frees;      // 24  calls of free with what malloc did not return, or has been freed
  uint32_t stopped;    // 32  an AwHipStop: the first reason that a kernel gave
  uint32_t reason;     // 36  with AW_HIP_TRAP: an AwReason of kernel_abi.h
  uint32_t block[3];   // 40
  uint32_t thread[3];  // 52
  uint32_t line;       // 64  of the PTX, 0: not known
  uint32_t told;       // 68  1: the place above is complete
  uint64_t grid_id;    // 72  AwHipHidden.grid_id of the launch
  uint64_t heap_top;   // 80  bytes of the heap that were ever given out
  uint64_t wide_lock;  // 88  taken by atomic operations on 128 bits
  uint64_t reserved[4];
  uint64_t lists[64];  // 128 free blocks of each size: tag << 40 | (offset in the heap / 16 + 1)
};

enum AwHipStop { AW_HIP_RUNNING = 0, AW_HIP_TRAP = 1, AW_HIP_ASSERT = 2 };

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
  uint32_t kind;  // written last
  uint32_t bytes;
  uint64_t grid_id;
  uint32_t block[3];
  uint32_t thread[3];
  uint32_t format;  // bytes of the format, NUL included
  uint32_t arguments;
};

// In front of each block of the device's heap.
struct AwHipBlock {
  uint32_t mark;  // kAwHipUsed, kAwHipFree
  uint32_t size;  // which of the sizes: 16, 24, 32, 48, 64, ... (times 16 bytes from 1 on)
  uint64_t next;  // free blocks: as in AwHipState.lists, without the tag
};

#define kAwHipServicesVersion 1u
#define kAwHipUsed 0x75E5A11Cu
#define kAwHipFree 0xF4EEB10Cu
#define kAwHipLongestText 1024u  // of a format or a %s; what is longer is cut

#ifdef __cplusplus
static_assert(sizeof(AwHipServices) == 64 && offsetof(AwHipServices, heap) == 32);
static_assert(sizeof(AwHipState) == 640 && offsetof(AwHipState, grid_id) == 72 &&
              offsetof(AwHipState, lists) == 128);
static_assert(sizeof(AwHipRecord) == 48 && sizeof(AwHipBlock) == 16);
#endif
