"""A libamd_smi with two cards, whose answers are laid out as the headers of amdsmi 26 (ROCm 7) say."""

from __future__ import annotations

from pathlib import Path

from fakes.rocm.table_fake import build

SOURCE = r"""
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
typedef void* handle;
typedef struct { char market_name[256]; uint32_t vendor_id; char vendor_name[256]; uint32_t subvendor_id; uint64_t device_id;
  uint32_t rev_id; char asic_serial[256]; uint32_t oam_id, num_of_compute_units; uint64_t target_graphics_version;
  uint32_t subsystem_id, reserved[21]; } asic_info;
typedef struct { char version[256], date[256], name[256]; } driver_info;
typedef struct { uint32_t drm_render, drm_card, hsa_id, hip_id; char hip_uuid[256]; } enumeration_info;
typedef struct { uint32_t total, used, reserved[2]; } vram_usage;
typedef struct { uint32_t gfx, umc, mm, reserved[13]; } engine_usage;
typedef struct { uint64_t socket_power; uint32_t current, average; uint64_t gfx, soc, mem; uint32_t limit; uint64_t reserved[18]; } power_info;
typedef struct { uint64_t cap, default_cap, dpm, min, max, reserved[3]; } cap_info;
typedef struct { uint32_t clk, min, max; uint8_t locked, sleep; uint32_t reserved[4]; } clk_info;
typedef struct { char name[256]; uint32_t pid; uint64_t mem; struct { uint64_t gfx, enc; uint32_t r[12]; } engine;
  struct { uint64_t gtt, cpu, vram; uint32_t r[10]; } memory; char container[256]; uint32_t cu_occupancy, reserved[11]; } proc_info;
typedef struct { struct { uint16_t width; uint32_t speed, version, slot, max_version; uint64_t r[9]; } fixed;
  struct { uint16_t width; uint32_t speed, bandwidth; uint64_t replay, l0, roll, sent, received; uint32_t lc; uint64_t r[12]; } metric;
  uint64_t reserved[32]; } pcie_info;
typedef struct { uint64_t correctable, uncorrectable, deferred, reserved[5]; } error_count;
static char sockets[2], cards[2], cpu;
static int n_of(handle h) { return h == &cards[1]; }
#define NO (getenv("FAKE_SMI_NO") && strstr(getenv("FAKE_SMI_NO"), __func__)) return 2
int amdsmi_init(uint64_t flags) { if (getenv("FAKE_SMI_NO_DRIVER")) return 34; return flags == 2 ? 0 : 1; }
int amdsmi_shut_down(void) { return 0; }
int amdsmi_get_socket_handles(uint32_t* n, handle* to) { *n = 2; if (to) to[0] = &sockets[0], to[1] = &sockets[1]; return 0; }
int amdsmi_get_processor_handles(handle s, uint32_t* n, handle* to) {
  *n = s == &sockets[0] ? 2 : 1;
  if (to) { to[0] = &cards[s == &sockets[1]]; if (*n == 2) to[1] = &cpu; }
  return 0;
}
int amdsmi_get_processor_type(handle p, unsigned* t) { *t = p == &cpu ? 2 : 1; return 0; }
// The first card that amdsmi tells of has the higher place on the bus.
int amdsmi_get_gpu_device_bdf(handle p, uint64_t* bdf) { *bdf = n_of(p) ? (1ull << 16 | 0x0c << 8 | 3 << 3 | 0) : (1ull << 16 | 0xe5 << 8 | 0 << 3 | 1); return 0; }
int amdsmi_get_gpu_device_uuid(handle p, unsigned* n, char* to) { strcpy(to, n_of(p) ? "ffff74a1-0000-1000-8011-000000000001" : "ffff74a1-0000-1000-8011-000000000002"); return 0; }
int amdsmi_get_gpu_asic_info(handle p, asic_info* i) { memset(i, 0, sizeof *i); strcpy(i->market_name, n_of(p) ? "AMD Instinct MI300X" : "AMD Radeon RX 7900 XTX"); i->num_of_compute_units = 304; return 0; }
int amdsmi_get_gpu_driver_info(handle p, driver_info* i) { memset(i, 0, sizeof *i); strcpy(i->version, "6.14.14"); return 0; }
int amdsmi_get_gpu_enumeration_info(handle p, enumeration_info* i) { memset(i, 0, sizeof *i); strcpy(i->hip_uuid, n_of(p) ? "GPU-0123456789abcdef" : "GPU-short"); return 0; }
int amdsmi_get_gpu_vram_usage(handle p, vram_usage* u) { u->total = n_of(p) ? 196592 : 24560, u->used = 1234; return 0; }
int amdsmi_get_gpu_memory_total(handle p, unsigned kind, uint64_t* b) { *b = kind == 1 ? 256ull << 30 : 0; return 0; }
int amdsmi_get_gpu_memory_usage(handle p, unsigned kind, uint64_t* b) { *b = kind == 1 ? 3ull << 20 : 0; return 0; }
int amdsmi_get_gpu_activity(handle p, engine_usage* u) { u->gfx = 73, u->umc = 41, u->mm = 0xFFFF; return 0; }
int amdsmi_get_temp_metric(handle p, unsigned sensor, unsigned metric, int64_t* to) {
  if (sensor == 0 && n_of(p)) return 2;  // no edge on servers
  *to = metric == 0 ? 40 + 5 * sensor : metric == 5 ? 100 + sensor : metric == 7 ? 110 + sensor : 0;
  return 0;
}
int amdsmi_get_power_info(handle p, power_info* i) { memset(i, 0xFF, sizeof *i); i->socket_power = 612; if (n_of(p)) i->current = 611; else i->average = 333; return 0; }
int amdsmi_get_power_cap_info(handle p, uint32_t s, cap_info* i) { i->cap = 750000000, i->default_cap = 740000000, i->min = 0, i->max = 760000000; return s ? 1 : 0; }
int amdsmi_get_energy_count(handle p, uint64_t* e, float* r, uint64_t* t) { *e = 2000000, *r = 15.25f, *t = 1; return 0; }
int amdsmi_get_clock_info(handle p, unsigned kind, clk_info* i) { memset(i, 0xFF, sizeof *i); i->clk = 1000 + kind, i->max = 2000 + kind; if (kind == 6) i->clk = 0xFFFFFFFF; return 0; }
int amdsmi_get_gpu_fan_speed(handle p, uint32_t s, int64_t* v) { if (n_of(p)) return 2; *v = 102; return 0; }
int amdsmi_get_gpu_fan_speed_max(handle p, uint32_t s, uint64_t* v) { *v = 255; return 0; }
int amdsmi_get_gpu_process_list(handle p, uint32_t* n, proc_info* to) {
  if (!to) { *n = 2; return 0; }
  memset(to, 0, 2 * sizeof *to);
  to[0].pid = 4321, to[0].memory.vram = 7ull << 30, to[0].mem = 1, to[1].pid = 99, to[1].memory.vram = 512 << 20;
  *n = n_of(p) ? 2 : 0;
  return 0;
}
int amdsmi_get_pcie_info(handle p, pcie_info* i) { memset(i, 0, sizeof *i); i->fixed.width = 16, i->fixed.speed = 32000, i->metric.width = 8, i->metric.speed = 16000, i->metric.replay = 77; return 0; }
int amdsmi_topo_get_link_type(handle a, handle b, uint64_t* hops, unsigned* type) { *hops = 1, *type = getenv("FAKE_SMI_PCIE") ? 1 : 2; return 0; }
int amdsmi_topo_get_numa_node_number(handle p, uint32_t* n) { *n = n_of(p) ? 1 : 0; return 0; }
int amdsmi_is_P2P_accessible(handle a, handle b, bool* ok) { *ok = true; return 0; }
int amdsmi_get_gpu_total_ecc_count(handle p, error_count* c) { c->correctable = 11, c->uncorrectable = 3, c->deferred = 5; return 0; }
"""


def build_all(folder: Path) -> Path:
    """Compile the fake into `folder`."""
    build(SOURCE, folder / "libamd_smi.so.26")
    return folder
