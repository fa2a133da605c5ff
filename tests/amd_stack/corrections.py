"""Where AMD's emulator rocjitsu departs from AMD's manuals, or does not build here: each correction with its reason. `python corrections.py FROM TO ISA...`
writes its sources so mended, without the instruction sets that are not named."""

from __future__ import annotations

import pathlib
import re
import sys

ISAS = "cdna1 cdna2 cdna3 cdna4 rdna1 rdna2 rdna3 rdna3_5 rdna4 gfx1250".split()
AMDGPU = "lib/rocjitsu/src/rocjitsu/isa/arch/amdgpu"
LOADER = "lib/rocjitsu/src/rocjitsu/config/config_loader.cpp"
GLUE = AMDGPU + "/shared/simd_glue.h"
SHARED = AMDGPU + "/shared/execute_shared.h"
SWITCHES = (
    "lib/rocjitsu/src/rocjitsu/isa/decoder.cpp",
    "lib/rocjitsu/src/rocjitsu/vm/amdgpu/compute_unit.cpp",
)  # what names every instruction set

# integer sums of VOP3: (expression, whether the sources are signed); CLAMP saturates them (CDNA3 ISA, 6.2.2, output modifiers)
SUMS = {
    "v_add_u32": ("a + b", False),
    "v_sub_u32": ("a - b", False),
    "v_subrev_u32": ("b - a", False),
    "v_add_i32": ("a + b", True),
    "v_sub_i32": ("a - b", True),
    "v_add_nc_u32": ("a + b", False),
    "v_sub_nc_u32": ("a - b", False),
    "v_subrev_nc_u32": ("b - a", False),
    "v_add_nc_i32": ("a + b", True),
    "v_sub_nc_i32": ("a - b", True),
}

# scalar operations that find a bit, by their names on GFX9 and on GFX11
POSITIONS = (
    *(f"s_{found}_i32_b{bits}" for found in ("ff0", "ff1", "flbit", "ctz") for bits in (32, 64)),
    *("s_flbit_i32", "s_flbit_i32_i64", "s_clz_i32_u32", "s_clz_i32_u64", "s_cls_i32", "s_cls_i32_i64"),
)

LANES = """  for (uint32_t lane = 0; lane < wf.wf_size(); ++lane) {
    if (!(wf.exec() >> lane & 1)) continue;
%s  }
}
"""


def body(text, name, write):
    """The text with another body of the shared function `name`; `write` makes it of the old one."""
    pattern = re.compile(rf"(inline void execute_{name}\([^{{]*\{{\n)(.*?\n)\}}\n", re.S)
    made, count = pattern.subn(lambda found: found[1] + write(found[2]), text)
    if count != 1:
        raise SystemExit(f"no longer applies: {name}")
    return made


def clamped_sum(expression, signed):
    cast, low, high = ("int32_t", "INT32_MIN", "INT32_MAX") if signed else ("uint32_t", "0", "UINT32_MAX")
    lane = f"""    const int64_t a = {cast}(inst.src0.read_lane(wf, lane)), b = {cast}(inst.src1.read_lane(wf, lane)), r = {expression};
    inst.vdst.write_lane(wf, lane, uint32_t(inst.inst_.clamp ? std::clamp<int64_t>(r, {low}, {high}) : r));
"""
    return lambda old: "  if (!inst.inst_.clamp)\n" + old[: old.index(";\n") + 2] + LANES % lane


BITS = "    inst.vdst.write_lane(wf, lane, std::popcount(uint32_t(inst.src0.read_lane(wf, lane))) + uint32_t(inst.src1.read_lane(wf, lane)));\n"


def converted(source, result, read, write, bits):
    return f"""    {source} v = std::bit_cast<{source}>(inst.src0.{read}(wf, lane));
    if (inst.inst_.abs & 1) v = std::fabs(v);
    if (inst.inst_.neg & 1) v = -v;
    {result} r = {result}(v);
    r = inst.inst_.omod == 1 ? r * 2 : inst.inst_.omod == 2 ? r * 4 : inst.inst_.omod == 3 ? r / 2 : r;
    if (inst.inst_.clamp) r = r > 0 ? r < 1 ? r : {result}(1) : {result}(0);
    inst.vdst.{write}(wf, lane, std::bit_cast<{bits}>(r));
"""


# quotients are scaled, and scaled back, by what corrected.h says: here what is denormal was judged in other formats, and the way back was by 2^32 (2^64)
DIVISIONS = {
    f"v_div_{what}_f{bits}": (what, ("float", "uint32_t", "") if bits == 32 else ("double", "uint64_t", "64"))
    for what in ("scale", "fmas")
    for bits in (32, 64)
}


def division(what, kind, word, lane):
    """The body of an instruction that prepares a quotient or ends it."""
    operands = "".join(
        f"""    {kind} s{n} = std::bit_cast<{kind}>({word}(inst.src{n}.read_lane{lane}(wf, lane)));
"""
        + ("" if what == "scale" else f"    if (inst.inst_.abs >> {n} & 1) s{n} = std::fabs(s{n});\n")
        + f"    if (inst.inst_.neg >> {n} & 1) s{n} = -s{n};\n"
        for n in range(3)
    )
    result = f"    inst.vdst.write_lane{lane}(wf, lane, std::bit_cast<{word}>(r));\n"
    if what == "fmas":
        return LANES % (
            operands + f"    const {kind} r = corrected::div_fmas(s0, s1, s2, wf.vcc() >> lane & 1);\n" + result
        )
    flagged = f"    bool flag;\n    const {kind} r = corrected::div_scale(s0, s1, s2, flag);\n    flags |= uint64_t(flag) << lane;\n"
    scalar = "  if (wf.wf_size() <= 32) inst.sdst.write_scalar(wf, uint32_t(flags));\n  else inst.sdst.write_scalar64(wf, flags);\n}\n"
    return "  uint64_t flags = 0;\n" + (LANES % (operands + flagged + result)).removesuffix("}\n") + scalar


def shared_functions(text):
    for name, (expression, signed) in SUMS.items():
        text = body(text, name + "_vop3", clamped_sum(expression, signed))
    for name, (what, form) in DIVISIONS.items():
        text = body(text, name + "_vop3", lambda old, what=what, form=form: division(what, *form))
    # positions of bits leave SCC as it is (CDNA3 ISA, 12.2, S_FF1_I32_B32 and its kin; S_BCNT alone writes it): what was compared before is chosen by behind
    for name in POSITIONS:
        text = body(text, name + "_sop1", lambda old: re.sub(r"  wf\.write_scc\([^\n]*\n", "", old) + "}\n")
    # D = S1 + the number of ones of S0 (CDNA3 ISA, V_BCNT_U32_B32)
    text = body(text, "v_bcnt_u32_b32_vop3", lambda old: LANES % BITS)
    # conversions obey NEG, ABS, OMOD and CLAMP (CDNA3 ISA, 6.2.2)
    text = body(
        text,
        "v_cvt_f32_f64_vop3",
        lambda old: LANES % converted("double", "float", "read_lane64", "write_lane", "uint32_t"),
    )
    return body(
        text,
        "v_cvt_f64_f32_vop3",
        lambda old: LANES % converted("float", "double", "read_lane", "write_lane64", "uint64_t"),
    )


def scalar_pairs(text):
    """A scalar source of packed operations on f32 is a pair of registers, and OP_SEL chooses of them (CDNA3 ISA, 6.7): here the first stood for both."""
    text = re.sub(
        r"inst\.(src\d)\.encoding_value_ >= 256 && inst\.\1\.encoding_value_ <= 511",
        r"(inst.\1.encoding_value_ < 124 || (inst.\1.encoding_value_ >= 256 && inst.\1.encoding_value_ <= 511))",
        text,
    )
    splat = "  const util::native<float> b = util::broadcast<float>(op.read_scalar(wf));\n  return {b, b};\n"
    pair = """  if (op.encoding_value_ < 124) {
    const uint64_t pair = op.read_lane64(wf, 0);
    return {util::broadcast<float>(uint32_t(pair)), util::broadcast<float>(uint32_t(pair >> 32))};
  }
"""
    return text.replace(splat, pair + splat)


def packed_moves(text):
    """V_PK_MOV_B32 takes its upper half from S1 by OP_SEL[1], and knows no OP_SEL_HI (CDNA3 ISA, VOP3P opcodes): here OP_SEL_HI chose."""
    text = text.replace("uint32_t hi = (inst.inst_.op_sel_hi & 2) ?", "uint32_t hi = (inst.inst_.op_sel & 2) ?")
    if (at := text.find("bool try_execute_vop3p_mov_b32_simd")) >= 0:
        old = "if (inst.inst_.op_sel != 0u || inst.inst_.op_sel_hi != 3u)"
        text = text[:at] + text[at:].replace(old, "if (inst.inst_.op_sel != 2u)", 1)
    return text


def modes(text):
    """Hardware register 1 is MODE (CDNA3 ISA, S_SETREG_B32): here it was STATUS, so that a rounding mode became a condition code."""

    def mend(found):
        return found[0].replace("status_raw", "mode_raw")

    return re.sub(r"  case 1:(?: \{)?\n(?:.*\n)*?    break;\n", mend, text)


EXECUTED = "  execute_instruction(inst, *active);\n"
ROUNDED = """  if (const uint32_t mode = active->mode_raw() & 15; mode == 0) [[likely]] {
    execute_instruction(inst, *active);
  } else {
    static constexpr int rounding[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    const std::string_view name(inst->mnemonic());
    const bool other = name.find("f64") != name.npos || name.find("f16") != name.npos;
    std::fesetround(rounding[other ? mode >> 2 : mode & 3]);
    execute_instruction(inst, *active);
    std::fesetround(FE_TONEAREST);
  }
"""


def rounding(text):
    """Arithmetic rounds as MODE says (CDNA3 ISA, MODE: FP_ROUND): it rounded to nearest always."""
    return "#include <cfenv>\n" + text.replace(EXECUTED, ROUNDED)


def zeros_and_nans(text):
    """Of -0 and +0 the latter is greater (CDNA3 ISA, V_MAX_F32), CLAMP makes +0 of -0 and, under DX10_CLAMP, of NaN (CDNA3 ISA, MODE): here zeros were equal, and
    both went through CLAMP as they were."""
    text = re.sub(r"\b(?:util::stdx|std)::fmax\(", "corrected::greater(", text)
    text = re.sub(r"\b(?:util::stdx|std)::fmin\(", "corrected::lesser(", text)
    text = re.sub(r"std::clamp\((\w+), 0\.0f?, 1\.0f?\)", r"corrected::clamp(\1)", text)
    return re.sub(r"where\((\w) < (T\(0\)|0\.0f|kZero), \1\)", r"where(!(\1 > \2), \1)", text)


def packed_ids(text):
    """gfx90a and GFX11 on, too, have all three ids of a lane in one register (LLVM's user guide for AMDGPU, initial kernel execution state)."""
    old = "bool packed = (arch == ROCJITSU_CODE_ARCH_CDNA3 ||"
    others = " || ".join(f"arch == ROCJITSU_CODE_ARCH_{isa.upper()}" for isa in ("cdna2", "rdna3", "rdna3_5", "rdna4"))
    return text.replace(old, f"bool packed = ({others} || arch == ROCJITSU_CODE_ARCH_CDNA3 ||")


def silent_atomics(text):
    """Atomics on shared memory without RTN return nothing (CDNA3 ISA, 11.2): these wrote register 0."""

    def mend(found):
        returns = re.search("Rtn|Consume|Append", found[1]) or "atomic_op" not in found[0]
        return found[0] if returns else found[0].replace("is_load = true", "is_load = false")

    return re.sub(r"void V?(Ds\w+)::execute_impl.*?\n}\n", mend, text, flags=re.S)


def high_literals(text):
    """A literal of 32 bits is the upper half of a double (CDNA3 ISA, 6.1.2)."""
    literal = r"Operand\(\s*64, OperandType::OPR_SIMM32,\s*static_cast<int>\(\s*(reinterpret_cast<const \w+ \*>\(inst\)->simm32)\)\)"

    def mend(found):
        return re.sub(literal, r"Operand(64, OperandType::OPR_SIMM32, uint64_t(\1) << 32, true)", found[0])

    return re.sub(r"\n(V\w*F64\w*)::\1\(.*?\n}\n", mend, text, flags=re.S)


def segments(text):
    """V_TRIG_PREOP_F64, which ended the process."""
    head = r"(void VTrigPreopF64Vop3::execute_impl\(amdgpu::Wavefront &wf\) \{\n).*?\n\}\n"
    lane = "    vdst.write_lane64(wf, lane, std::bit_cast<uint64_t>(corrected::trig_preop(src0.read_lane64(wf, lane), src1.read_lane(wf, lane))));\n"
    return re.sub(head, lambda found: found[1] + LANES % lane, text, flags=re.S)


def whole_waits(text):
    # DS_BPERMUTE, DS_PERMUTE and DS_SWIZZLE are done at once here and counted by nobody, where LGKM_CNT counts them (CDNA3 ISA, 4.4): a wait until one
    # operation is left, which is the permutation behind a read, did not wait for the read
    return re.sub(r"(  uint8_t lgkm = \(imm >> \d\) & ([\w:]+);\n)", r"\1  if (lgkm != \2) lgkm = 0;\n", text)


def loud_images(text):
    """Instructions for images end the process, as others that the emulator lacks: these did nothing, and a texture was what the register held before."""
    loud = "  (void)wf;\n  throw util::UnimplementedInst(mnemonic());\n"
    text = re.sub(r"  // Minimal image .*\n  \(void\)wf;\n", loud, text)
    return re.sub(r"  \(void\)wf; // Image pipeline not yet implemented\.\n", loud, text)


def without(text, isa):
    """The text without an instruction set: lines of its name, and cases of a switch."""
    name = f"ROCJITSU_CODE_ARCH_{isa.upper()}"
    text = re.sub(rf" *case {name}:\n *return std::make_unique<IsaDecoder<{isa}::Isa>>\(\);\n", "", text)
    lines = rf"\s*(rocjitsu_isa_{isa}|add_subdirectory\(arch/amdgpu/{isa}\)|#include \"rocjitsu/isa/arch/amdgpu/{isa}/isa\.h\"|ROCJITSU_CU_\w+\(.*\b{isa}::Isa\);)\s*"
    return "".join(line for line in text.splitlines(keepends=True) if not re.fullmatch(lines, line))


def build_file(text):
    text = text.replace(" -Werror", "")  # it is written for other compilers than the one at hand
    # its own tests are not built
    text = re.sub(r"FetchContent_Declare\(\s*googletest.*?\n\)\n", "", text, flags=re.S)
    return text.replace("FetchContent_MakeAvailable(googletest ", "FetchContent_MakeAvailable(")


MEMORY = "lib/rocjitsu/src/rocjitsu/vm/amdgpu/memory_pipeline.cpp"
PROCESSOR = "lib/rocjitsu/src/rocjitsu/vm/amdgpu/command_processor"
AGAIN = "engine()->schedule_event_now(&doorbell_event_);"
POLLED = "    if (scan_doorbells())\n      " + AGAIN
OTHER_PACKETS = "      } else {\n        constexpr uint32_t SIG_OFF = 56;\n"
BARRIER_VALUE = """        if (ext.amd_format == 2) {
          const uint64_t signal = read_gpu_u64(pkt_addr + 8, queue.process_id);
          const int64_t value = read_gpu_u64(pkt_addr + 16, queue.process_id), mask = read_gpu_u64(pkt_addr + 24, queue.process_id);
          const uint32_t condition = uint32_t(read_gpu_u64(pkt_addr + 32, queue.process_id));
          const int64_t now = signal ? int64_t(read_gpu_u64(signal + 8, queue.process_id)) & mask : 0;
          if (signal && !(condition == 0 ? now == value : condition == 1 ? now != value : condition == 2 ? now < value : now >= value)) {
            process_limit = read_idx;
            waiting_.store(true);
            break;
          }
        }
"""


def patient(path, text):
    """Queues that wait are asked again by the thread that polls doorbells. They asked themselves, without end, holding the lock that this thread needs to see
    the work that they wait for. Barriers for a value (hsa_ext_amd.h, hsa_amd_barrier_value_packet_t) wait, too: they were over at once."""
    if path.endswith(".h"):
        text = text.replace("#include <algorithm>\n", "#include <algorithm>\n#include <atomic>\n", 1)
        return text.replace(
            "  simdojo::Event doorbell_event_{",
            "  std::atomic<bool> waiting_{false};\n  simdojo::Event doorbell_event_{",
            1,
        )
    before, polled, after = text.partition(POLLED)
    head, other, rest = after.partition(OTHER_PACKETS)
    if not polled or not other or AGAIN not in head or AGAIN not in rest:
        raise SystemExit("the corrections no longer apply to " + path)
    polled = "    if (waiting_.exchange(false) | scan_doorbells())\n      " + AGAIN
    return before + polled + (head + other + BARRIER_VALUE + rest).replace(AGAIN, "waiting_.store(true);")


PLACED = """    uint64_t global_wave_idx = static_cast<uint64_t>(global_wg_id) * waves_per_wg + wf_index_in_wg;
    uint64_t wave_scratch = scratch_pool + global_wave_idx * per_wave_size;
"""
FREE = """    (void)global_wg_id;
    (void)wf_index_in_wg;
    std::vector<bool> taken;
    for (const auto *unit : cus_)
      for (size_t i = 0; i < unit->num_wf_slots(); ++i) {
        const Wavefront *other = unit->wf(i);
        const uint64_t first = other->scratch_base(), size = uint64_t(other->scratch_lane_size()) * cu->wf_size();
        if (size == 0 || first + size <= scratch_pool || (first > scratch_pool && (first - scratch_pool) / per_wave_size > 1 << 16))
          continue;
        const uint64_t last = (first + size - 1 - scratch_pool) / per_wave_size;
        if (taken.size() <= last)
          taken.resize(last + 1);
        for (uint64_t slot = first > scratch_pool ? (first - scratch_pool) / per_wave_size : 0; slot <= last; ++slot)
          taken[slot] = true;
      }
    const uint64_t free_slot = std::find(taken.begin(), taken.end(), false) - taken.begin();
    uint64_t wave_scratch = scratch_pool + free_slot * per_wave_size;
"""


def scratch(text):
    """A wave gets a piece of scratch memory that no other wave on the card has, as ROCr has memory for those alone (hsa/amd_hsa_queue.h, compute_tmpring_size). Each
    wave of a grid had its own, however many they were, and wrote past the end into what was there."""
    return text.replace(PLACED, FREE)


LOADED = "    cu.write_sgpr(d.dst_reg_base + i, d.response_data[i]);\n"
LOADED_VCC = """    if (const uint32_t half = d.dst_reg_base + i - wf.sgpr_alloc().base - 106; half < 2)
      wf.set_vcc((wf.vcc() & ~(0xFFFFFFFFull << 32 * half)) | uint64_t(d.response_data[i]) << 32 * half);
"""
MIRRORED = """static void mirror_vcc(amdgpu::Wavefront &wf) {
  const uint32_t at = wf.sgpr_alloc().base + 106;
  wf.cu().write_sgpr(at, uint32_t(wf.vcc()));
  wf.cu().write_sgpr(at + 1, uint32_t(wf.vcc() >> 32));
}

"""


def last_scalars(text):
    """From GFX10 on, scalar registers 102 and 103 are like the others (RDNA3 ISA, scalar operands: SGPR0 to SGPR105): here they were FLAT_SCRATCH."""
    return re.sub(r"  if \(ev == 10[23]\)(?: \{\n(?:    .*\n)*?  \}|\n    return .*;)\n", "", text)


def running_clock(text):
    """The message that asks for the time (RDNA3 ISA, S_SENDMSG_RTN_B64: GET_REALTIME, of 100 MHz) was answered by a clock that stood still while a wave ran."""
    old = "value = engine ? engine->global_time() : 0;"
    new = "(void)engine;\n    value = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count() / 10;"
    return "#include <chrono>\n" + text.replace(old, new) if old in text else text


def vcc_as_scalars(text):
    """VCC is scalar registers 106 and 107 for addresses and for what is loaded, too (CDNA3 ISA, scalar operands): these took registers of the next wave. That each
    wave has 128 registers is in cards.py."""
    if LOADED in text:
        return text.replace(LOADED, LOADED + LOADED_VCC)
    body = re.sub(
        r"(_calculate_address(?:es)?\(const \w+ &inst, amdgpu::Wavefront &wf(?:,\s+amdgpu::VectorMemState &d)?\) \{\n)",
        r"\1  mirror_vcc(wf);\n",
        text,
    )
    return re.sub(
        r"\n((?:uint64_t|void) \w+_calculate_address)", lambda found: "\n" + MIRRORED + found[1], body, count=1
    )


CORRECTED = pathlib.Path(__file__).with_name("corrected.h")
COUNTS = pathlib.Path(__file__).with_name("counts.cpp")
PLUGINS = "lib/rocjitsu/src/rocjitsu/vm/plugins/"
INTERPOSER = "lib/rocjitsu/src/rocjitsu/kmd/linux/interposer.cpp"


def with_counts(path, text):
    """The text with our plugin that counts instructions (counts.cpp) beside the emulator's own."""
    if path == PLUGINS + "CMakeLists.txt":
        return text.replace("    logging/plugin.cpp\n", "    logging/plugin.cpp\n    counts.cpp\n")
    logging = 'extern "C" rocjitsu::ExecutionPlugin *createKernelLoggingPlugin();\n'
    asked = "        rj_vm_->soc->set_plugin_group(pg);\n"
    if path == INTERPOSER:
        text = text.replace(logging, logging + 'extern "C" rocjitsu::ExecutionPlugin *create_counts();\n')
        made = '        if (std::getenv("RJ_COUNTS"))\n          pg->add(std::unique_ptr<rocjitsu::ExecutionPlugin>(create_counts()));\n'
        text = text.replace(asked, made + asked)
    return text


def others_descriptors(text):
    """The text in which a child of vfork, which has its parent's memory but descriptors of its own, closes those alone."""
    closing = "RJ_INTERPOSER_EXPORT int close(int fd) {\n  assert(InterposerContext::real().ready());\n"
    at_fork, drivers = "    in_construction = false;\n  }\n", "  LinuxKfd *driver() {"
    if not all(text.count(part) == 1 for part in (closing, at_fork, drivers)):
        raise SystemExit("the corrections no longer apply to " + INTERPOSER)
    elsewhere = "  if (getpid() != InterposerContext::ctx.process_)\n    return static_cast<int>(InterposerContext::real().close(fd));\n"
    text = text.replace(closing, closing + elsewhere).replace(at_fork, "    process_ = getpid();\n" + at_fork)
    return text.replace(drivers, "  pid_t process_ = getpid(); // whose memory this is\n" + drivers)


def mended(path, text, kept):
    """The text of the file at `path` (from the emulator's root), for these instruction sets."""
    if path.endswith(("CMakeLists.txt", ".cmake")):
        text = build_file(text)
    if path.endswith("CMakeLists.txt") or path in SWITCHES:
        for isa in set(ISAS) - set(kept):
            text = without(text, isa)
    if path == SHARED:
        text = shared_functions(text)
    if path in (SHARED, GLUE):
        text = text.replace("#include ", f'#include "{CORRECTED.name}"\n#include ', 1)
    if path in (SHARED, GLUE):
        text = zeros_and_nans(packed_moves(scalar_pairs(text)))
    if path == SWITCHES[1]:
        text = rounding(text)
    if path == LOADER:
        text = packed_ids(text)
    if path in (PROCESSOR + ".cpp", PROCESSOR + ".h"):
        text = patient(path, text)
        if path.endswith(".cpp") and PLACED not in text:
            raise SystemExit("the corrections no longer apply to " + path)
        text = scratch(text)
    if path in (PLUGINS + "CMakeLists.txt", INTERPOSER):
        text = with_counts(path, text)
    if path == INTERPOSER:
        text = others_descriptors(text)
    if path == MEMORY or re.fullmatch(AMDGPU + r"/\w+/addr_calc\.cpp", path):
        text = vcc_as_scalars(text)
    if re.fullmatch(AMDGPU + r"/\w+/sop1\.cpp", path):
        text = running_clock(text)
    if re.fullmatch(AMDGPU + r"/(rdna\w+|gfx1250)/operand\.cpp", path):
        text = last_scalars(text)
    if re.fullmatch(AMDGPU + r"/\w+/v?ds\.cpp", path):
        text = silent_atomics(text)
    if re.fullmatch(AMDGPU + r"/\w+/vop\w+\.cpp", path):
        text = zeros_and_nans(segments(high_literals(text)))
        if "corrected::" in text:
            text = f'#include "rocjitsu/isa/arch/amdgpu/shared/{CORRECTED.name}"\n' + text
    if re.fullmatch(AMDGPU + r"/\w+/(mimg|vimage|vsample)\.cpp", path):
        text = loud_images(text)
    if re.fullmatch(AMDGPU + r"/\w+/sopk\.cpp", path):
        text = modes(text)
    if re.fullmatch(AMDGPU + r"/\w+/sopp\.cpp", path):
        text = whole_waits(text)
    return text


def main(pristine, place, kept):
    changed = []
    for path in sorted(pristine.rglob("*")):
        if not path.is_file():
            continue
        name, old = str(path.relative_to(pristine)), path.read_bytes()
        made = mended(name, old.decode(), kept).encode() if path.suffix in (".txt", ".cmake", ".cpp", ".h") else old
        changed += [name] * (made != old)
        if (
            not (place / name).is_file() or (place / name).read_bytes() != made
        ):  # what stays as it is need not be compiled again
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_bytes(made)
    for ours, folder in ((COUNTS, PLUGINS), (CORRECTED, AMDGPU + "/shared")):
        copy = place / folder / ours.name
        if not copy.is_file() or copy.read_bytes() != ours.read_bytes():
            copy.write_bytes(ours.read_bytes())
    must = [
        *SWITCHES,
        SHARED,
        PLUGINS + "CMakeLists.txt",
        INTERPOSER,
        GLUE,
        LOADER,
        PROCESSOR + ".cpp",
        PROCESSOR + ".h",
        MEMORY,
        *(f"{AMDGPU}/{isa}/addr_calc.cpp" for isa in kept),
        *(f"{AMDGPU}/{isa}/operand.cpp" for isa in kept if not isa.startswith("cdna")),
        *(f"{AMDGPU}/{isa}/" + ("vds.cpp" if isa in ("rdna4", "gfx1250") else "ds.cpp") for isa in kept),
        *(f"{AMDGPU}/{isa}/sopp.cpp" for isa in kept if isa != "gfx1250"),
    ]
    if missing := [name for name in must if name not in changed]:
        raise SystemExit("the corrections no longer apply to " + ", ".join(missing))


if __name__ == "__main__":
    unknown = set(sys.argv[3:]) - set(ISAS)
    if unknown or len(sys.argv) < 4:
        raise SystemExit(f"which instruction sets? of {', '.join(ISAS)}")
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:])
