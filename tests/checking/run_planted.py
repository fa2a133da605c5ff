"""Launch every kernel of cases/planted.ptx so that its mistake comes about; print what the program sees of it.

python run_planted.py CASES_FOLDER
"""

import ctypes
import struct
import sys
from pathlib import Path

from driver import Driver

i32, u64 = ctypes.c_int32, ctypes.c_uint64


def words(*values):
    return struct.pack(f"{len(values)}i", *values)


def main():
    d = Driver()
    module = d.module(Path(sys.argv[1]) / "planted.ptx")
    ramp = words(*range(4096))

    def run(name, arguments, block=(64,), grid=(1,), shared=0):
        d.launch(d.function(module, name), grid, block, arguments, shared)
        d.call("cuCtxSynchronize")

    out = d.upload(ramp)
    hundred = d.upload(words(*range(100)))
    run("past_the_end_write", [hundred, i32(100)], grid=(2,))
    print("past_the_end_write", struct.unpack("100f", d.read(hundred, 400)) == (1.0,) * 100)
    hundred = d.upload(words(*range(100)))
    run("past_the_end_read", [hundred, out, i32(100)], block=(128,))
    print("past_the_end_read", struct.unpack("100i", d.read(out, 400)) == (*(2 * i + 1 for i in range(99)), 99))
    run("negative_index", [hundred, out, i32(100)], block=(128,))
    run("misaligned_vector", [d.upload(ramp), out], block=(32,))
    gone = d.upload(ramp)
    d.free(gone)
    run("use_after_free", [gone], block=(32,))
    run("shared_overrun", [out, i32(8)])
    run("dynamic_shared_overrun", [out], shared=4 * 100)
    run("local_overrun", [out, i32(10)], block=(32,))
    run("write_to_constant", [out, i32(0)], block=(32,))
    run("variable_overrun", [out, i32(3)], block=(32,))
    run("atomic_out_of_bounds", [d.upload(bytes(64)), d.upload(words(*(i % 17 for i in range(32))))], block=(32,))
    image, pitch = u64(), ctypes.c_size_t()
    d.call("cuMemAllocPitch_v2", ctypes.byref(image), ctypes.byref(pitch), ctypes.c_size_t(80), ctypes.c_size_t(4), 4)
    run("pitch_overrun", [image, pitch, i32(20), i32(4)], block=(32, 4))
    run("missing_syncthreads", [d.upload(struct.pack("128f", *range(128))), out], block=(128,))
    run("missing_syncwarp", [out], block=(32,))
    run("plain_counter", [out])
    run("unready_counters", [d.upload(ramp), out], block=(128,))
    run("overtaken_reader", [out])
    run("uninitialised_shared", [out])
    run("uninitialised_global", [d.allocate(256), out])
    part = d.allocate(256)
    d.write(part, words(*range(50)))
    run("partly_initialised", [part, out])
    run("divergent_barrier", [out])
    run("barrier_of_half_a_warp", [out])
    run("wrong_shuffle_mask", [out], block=(32,))
    run("counts_that_differ", [out], block=(96,))
    for name in ("wrong_barrier_count", "waits_for_ever", "names_who_waits_elsewhere"):
        try:
            run(name, [out])
        except RuntimeError as error:
            print(name, error)
        d.call("cuDevicePrimaryCtxReset_v2", 0)
        d = Driver()
        module, out = d.module(Path(sys.argv[1]) / "planted.ptx"), d.upload(ramp)


if __name__ == "__main__":
    main()
