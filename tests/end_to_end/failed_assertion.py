"""Fail an assertion in a module of about BYTES bytes of data; print what the launch and the wait for it returned.

python failed_assertion.py BYTES
"""

import ctypes
import sys

PTX = """.version 8.0
.target sm_80
.address_size 64
.extern .func __assertfail (.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);
.global .align 1 .b8 message[6] = {{110, 32, 60, 32, 55, 0}};
.global .align 8 .b8 room[{bytes}];
.global .align 1 .b8 file[10] = {{107, 101, 114, 110, 101, 108, 46, 99, 117, 0}};
.global .align 1 .b8 function[6] = {{99, 104, 101, 99, 107, 0}};
.visible .entry check()
{{
  .reg .b32 %r<2>; .reg .b64 %rd<4>; .reg .pred %p<2>;
  mov.u32 %r1, %tid.x; setp.ne.u32 %p1, %r1, 7; @%p1 bra DONE;
  mov.u64 %rd1, message; cvta.global.u64 %rd1, %rd1;
  mov.u64 %rd2, file; cvta.global.u64 %rd2, %rd2;
  mov.u64 %rd3, function; cvta.global.u64 %rd3, %rd3;
  call.uni __assertfail, (%rd1, %rd2, 42, %rd3, 1);
DONE:
  ret;
}}
"""

cuda = ctypes.CDLL("libcuda.so.1")
assert cuda.cuInit(0) == 0
context, module, function = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
assert cuda.cuCtxCreate_v2(ctypes.byref(context), 0, 0) == 0
assert cuda.cuModuleLoadData(ctypes.byref(module), PTX.format(bytes=sys.argv[1]).encode()) == 0
assert cuda.cuModuleGetFunction(ctypes.byref(function), module, b"check") == 0
launched = cuda.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, None, None, None)
print(launched or cuda.cuCtxSynchronize())
