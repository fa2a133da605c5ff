// Facts of NVIDIA's public interface, written by anywarp.catalogue.library_headers; change that instead.
#ifndef ANYWARP_CUFILE_H
#define ANYWARP_CUFILE_H

#include <stdlib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/socket.h>
#include "cuda.h"

#define CUFILEOP_BASE_ERR 5000

#ifdef __cplusplus
extern "C" {
#endif

typedef enum CUfileOpError {
  CU_FILE_SUCCESS = 0,
  CU_FILE_DRIVER_NOT_INITIALIZED = 5001,
  CU_FILE_DRIVER_INVALID_PROPS = 5002,
  CU_FILE_DRIVER_UNSUPPORTED_LIMIT = 5003,
  CU_FILE_DRIVER_VERSION_MISMATCH = 5004,
  CU_FILE_DRIVER_VERSION_READ_ERROR = 5005,
  CU_FILE_DRIVER_CLOSING = 5006,
  CU_FILE_PLATFORM_NOT_SUPPORTED = 5007,
  CU_FILE_IO_NOT_SUPPORTED = 5008,
  CU_FILE_DEVICE_NOT_SUPPORTED = 5009,
  CU_FILE_NVFS_DRIVER_ERROR = 5010,
  CU_FILE_CUDA_DRIVER_ERROR = 5011,
  CU_FILE_CUDA_POINTER_INVALID = 5012,
  CU_FILE_CUDA_MEMORY_TYPE_INVALID = 5013,
  CU_FILE_CUDA_POINTER_RANGE_ERROR = 5014,
  CU_FILE_CUDA_CONTEXT_MISMATCH = 5015,
  CU_FILE_INVALID_MAPPING_SIZE = 5016,
  CU_FILE_INVALID_MAPPING_RANGE = 5017,
  CU_FILE_INVALID_FILE_TYPE = 5018,
  CU_FILE_INVALID_FILE_OPEN_FLAG = 5019,
  CU_FILE_DIO_NOT_SET = 5020,
  CU_FILE_INVALID_VALUE = 5022,
  CU_FILE_MEMORY_ALREADY_REGISTERED = 5023,
  CU_FILE_MEMORY_NOT_REGISTERED = 5024,
  CU_FILE_PERMISSION_DENIED = 5025,
  CU_FILE_DRIVER_ALREADY_OPEN = 5026,
  CU_FILE_HANDLE_NOT_REGISTERED = 5027,
  CU_FILE_HANDLE_ALREADY_REGISTERED = 5028,
  CU_FILE_DEVICE_NOT_FOUND = 5029,
  CU_FILE_INTERNAL_ERROR = 5030,
  CU_FILE_GETNEWFD_FAILED = 5031,
  CU_FILE_NVFS_SETUP_ERROR = 5033,
  CU_FILE_IO_DISABLED = 5034,
  CU_FILE_BATCH_SUBMIT_FAILED = 5035,
  CU_FILE_GPU_MEMORY_PINNING_FAILED = 5036,
  CU_FILE_BATCH_FULL = 5037,
  CU_FILE_ASYNC_NOT_SUPPORTED = 5038,
  CU_FILE_INTERNAL_BATCH_SETUP_ERROR = 5039,
  CU_FILE_INTERNAL_BATCH_SUBMIT_ERROR = 5040,
  CU_FILE_INTERNAL_BATCH_GETSTATUS_ERROR = 5041,
  CU_FILE_INTERNAL_BATCH_CANCEL_ERROR = 5042,
  CU_FILE_NOMEM_ERROR = 5043,
  CU_FILE_IO_ERROR = 5044,
  CU_FILE_INTERNAL_BUF_REGISTER_ERROR = 5045,
  CU_FILE_HASH_OPR_ERROR = 5046,
  CU_FILE_INVALID_CONTEXT_ERROR = 5047,
  CU_FILE_NVFS_INTERNAL_DRIVER_ERROR = 5048,
  CU_FILE_BATCH_NOCOMPAT_ERROR = 5049,
  CU_FILE_IO_MAX_ERROR = 5050,
} CUfileOpError;
typedef enum CUfileDriverStatusFlags_t {
  CU_FILE_LUSTRE_SUPPORTED = 0,
  CU_FILE_WEKAFS_SUPPORTED = 1,
  CU_FILE_NFS_SUPPORTED = 2,
  CU_FILE_GPFS_SUPPORTED = 3,
  CU_FILE_NVME_SUPPORTED = 4,
  CU_FILE_NVMEOF_SUPPORTED = 5,
  CU_FILE_SCSI_SUPPORTED = 6,
  CU_FILE_SCALEFLUX_CSD_SUPPORTED = 7,
  CU_FILE_NVMESH_SUPPORTED = 8,
  CU_FILE_BEEGFS_SUPPORTED = 9,
  CU_FILE_NVME_P2P_SUPPORTED = 11,
  CU_FILE_SCATEFS_SUPPORTED = 12,
  CU_FILE_VIRTIOFS_SUPPORTED = 13,
  CU_FILE_PANFS_SUPPORTED = 14,
  CU_FILE_MAX_TARGET_TYPES = 15,
} CUfileDriverStatusFlags_t;
typedef enum CUfileDriverControlFlags_t {
  CU_FILE_USE_POLL_MODE = 0,
  CU_FILE_ALLOW_COMPAT_MODE = 1,
  CU_FILE_VANILLA_POSIX_IO_MODE = 2,
  CU_FILE_POSIX_IO_MODE = 2,
  CU_FILE_FALLBACK_IO_MODE = 4,
} CUfileDriverControlFlags_t;
typedef enum CUfileFeatureFlags_t {
  CU_FILE_DYN_ROUTING_SUPPORTED = 0,
  CU_FILE_BATCH_IO_SUPPORTED = 1,
  CU_FILE_STREAMS_SUPPORTED = 2,
  CU_FILE_PARALLEL_IO_SUPPORTED = 3,
  CU_FILE_P2P_SUPPORTED = 4,
} CUfileFeatureFlags_t;
typedef enum CUfileP2PFlags_t {
  CUFILE_P2PDMA = 0,
  CUFILE_NVFS = 1,
  CUFILE_DMABUF = 2,
  CUFILE_C2C = 3,
  CUFILE_NVIDIA_PEERMEM = 4,
} CUfileP2PFlags_t;
typedef enum CUfileOpcode_t {
  CUFILE_READ = 0,
  CUFILE_WRITE = 1,
} CUfileOpcode_t;
typedef enum CUfileStatus_t {
  CUFILE_WAITING = 1,
  CUFILE_PENDING = 2,
  CUFILE_INVALID = 4,
  CUFILE_CANCELED = 8,
  CUFILE_COMPLETE = 16,
  CUFILE_TIMEOUT = 32,
  CUFILE_FAILED = 64,
} CUfileStatus_t;
typedef enum CUfileBatchMode_t {
  CUFILE_BATCH = 1,
} CUfileBatchMode_t;
typedef enum CUFileSizeTConfigParameter_t {
  CUFILE_PARAM_PROFILE_STATS = 0,
  CUFILE_PARAM_EXECUTION_MAX_IO_QUEUE_DEPTH = 1,
  CUFILE_PARAM_EXECUTION_MAX_IO_THREADS = 2,
  CUFILE_PARAM_EXECUTION_MIN_IO_THRESHOLD_SIZE_KB = 3,
  CUFILE_PARAM_EXECUTION_MAX_REQUEST_PARALLELISM = 4,
  CUFILE_PARAM_PROPERTIES_MAX_DIRECT_IO_SIZE_KB = 5,
  CUFILE_PARAM_PROPERTIES_MAX_DEVICE_CACHE_SIZE_KB = 6,
  CUFILE_PARAM_PROPERTIES_PER_BUFFER_CACHE_SIZE_KB = 7,
  CUFILE_PARAM_PROPERTIES_MAX_DEVICE_PINNED_MEM_SIZE_KB = 8,
  CUFILE_PARAM_PROPERTIES_IO_BATCHSIZE = 9,
  CUFILE_PARAM_POLLTHRESHOLD_SIZE_KB = 10,
  CUFILE_PARAM_PROPERTIES_BATCH_IO_TIMEOUT_MS = 11,
} CUFileSizeTConfigParameter_t;
typedef enum CUFileBoolConfigParameter_t {
  CUFILE_PARAM_PROPERTIES_USE_POLL_MODE = 0,
  CUFILE_PARAM_PROPERTIES_ALLOW_COMPAT_MODE = 1,
  CUFILE_PARAM_FORCE_COMPAT_MODE = 2,
  CUFILE_PARAM_FS_MISC_API_CHECK_AGGRESSIVE = 3,
  CUFILE_PARAM_EXECUTION_PARALLEL_IO = 4,
  CUFILE_PARAM_PROFILE_NVTX = 5,
  CUFILE_PARAM_PROPERTIES_ALLOW_SYSTEM_MEMORY = 6,
  CUFILE_PARAM_USE_PCIP2PDMA = 7,
  CUFILE_PARAM_PREFER_IO_URING = 8,
  CUFILE_PARAM_FORCE_ODIRECT_MODE = 9,
  CUFILE_PARAM_SKIP_TOPOLOGY_DETECTION = 10,
  CUFILE_PARAM_STREAM_MEMOPS_BYPASS = 11,
  CUFILE_PARAM_PROPERTIES_POSIX_IO_MODE = 12,
  CUFILE_PARAM_GDS_FALLBACK_IO = 13,
} CUFileBoolConfigParameter_t;
typedef enum CUFileStringConfigParameter_t {
  CUFILE_PARAM_LOGGING_LEVEL = 0,
  CUFILE_PARAM_ENV_LOGFILE_PATH = 1,
  CUFILE_PARAM_LOG_DIR = 2,
  CUFILE_PARAM_RDMA_TRANSPORT = 3,
} CUFileStringConfigParameter_t;
typedef enum CUFileArrayConfigParameter_t {
  CUFILE_PARAM_POSIX_POOL_SLAB_SIZE_KB = 0,
  CUFILE_PARAM_POSIX_POOL_SLAB_COUNT = 1,
  CUFILE_PARAM_GPU_BOUNCE_BUFFER_SLAB_SIZE_KB = 2,
  CUFILE_PARAM_GPU_BOUNCE_BUFFER_SLAB_COUNT = 3,
} CUFileArrayConfigParameter_t;
typedef enum CUfileFileHandleType {
  CU_FILE_HANDLE_TYPE_OPAQUE_FD = 1,
  CU_FILE_HANDLE_TYPE_OPAQUE_WIN32 = 2,
  CU_FILE_HANDLE_TYPE_USERSPACE_FS = 3,
} CUfileFileHandleType;
typedef void* CUfileHandle_t;
typedef void* CUfileBatchHandle_t;
typedef struct CUfileDrvProps_t { struct { unsigned int major_version; unsigned int minor_version; size_t poll_thresh_size; size_t max_direct_io_size; unsigned int dstatusflags; unsigned int dcontrolflags; } nvfs; unsigned int fflags; unsigned int max_device_cache_size; unsigned int per_buffer_cache_size; unsigned int max_device_pinned_mem_size; unsigned int max_batch_io_size; unsigned int max_batch_io_timeout_msecs; } CUfileDrvProps_t;
typedef struct cufileRDMAInfo_t { int version; int desc_len; const char *desc_str; } cufileRDMAInfo_t;
typedef struct CUfileIOVec_t { void *base; size_t len; } CUfileIOVec_t;
typedef struct CUfileOpCounter_t { uint64_t ok; uint64_t err; } CUfileOpCounter_t;
typedef struct CUfilePerGpuStats_t { char uuid[16]; uint64_t read_bytes; uint64_t read_bw_bytes_per_sec; uint64_t read_utilization; uint64_t read_duration_us; uint64_t n_total_reads; uint64_t n_p2p_reads; uint64_t n_nvfs_reads; uint64_t n_posix_reads; uint64_t n_unaligned_reads; uint64_t n_dr_reads; uint64_t n_sparse_regions; uint64_t n_inline_regions; uint64_t n_reads_err; uint64_t writes_bytes; uint64_t write_bw_bytes_per_sec; uint64_t write_utilization; uint64_t write_duration_us; uint64_t n_total_writes; uint64_t n_p2p_writes; uint64_t n_nvfs_writes; uint64_t n_posix_writes; uint64_t n_unaligned_writes; uint64_t n_dr_writes; uint64_t n_writes_err; uint64_t n_mmap; uint64_t n_mmap_ok; uint64_t n_mmap_err; uint64_t n_mmap_free; uint64_t reg_bytes; } CUfilePerGpuStats_t;
typedef struct sockaddr sockaddr_t;
typedef struct CUfileError_t { CUfileOpError err; CUresult cu_err; } CUfileError_t;
typedef struct CUfileFSOps_t { const char* (*fs_type) (const void *handle); int (*getRDMADeviceList)(const void *handle, sockaddr_t **hostaddrs); int (*getRDMADevicePriority)(const void *handle, char*, size_t, loff_t, const sockaddr_t* hostaddr); ssize_t (*read) (const void *handle, char*, size_t, loff_t, const cufileRDMAInfo_t*); ssize_t (*write) (const void *handle, const char *, size_t, loff_t , const cufileRDMAInfo_t*); } CUfileFSOps_t;
typedef struct CUfileIOParams_t { CUfileBatchMode_t mode; union { struct { void *devPtr_base; off_t file_offset; off_t devPtr_offset; size_t size; }batch; }u; CUfileHandle_t fh; CUfileOpcode_t opcode; void *cookie; } CUfileIOParams_t;
typedef struct CUfileIOEvents_t { void *cookie; CUfileStatus_t status; size_t ret; } CUfileIOEvents_t;
typedef struct CUfileStatsLevel1_t { CUfileOpCounter_t read_ops; CUfileOpCounter_t write_ops; CUfileOpCounter_t hdl_register_ops; CUfileOpCounter_t hdl_deregister_ops; CUfileOpCounter_t buf_register_ops; CUfileOpCounter_t buf_deregister_ops; uint64_t read_bytes; uint64_t write_bytes; uint64_t read_bw_bytes_per_sec; uint64_t write_bw_bytes_per_sec; uint64_t read_lat_avg_us; uint64_t write_lat_avg_us; uint64_t read_ops_per_sec; uint64_t write_ops_per_sec; uint64_t read_lat_sum_us; uint64_t write_lat_sum_us; CUfileOpCounter_t batch_submit_ops; CUfileOpCounter_t batch_complete_ops; CUfileOpCounter_t batch_setup_ops; CUfileOpCounter_t batch_cancel_ops; CUfileOpCounter_t batch_destroy_ops; CUfileOpCounter_t batch_enqueued_ops; CUfileOpCounter_t batch_posix_enqueued_ops; CUfileOpCounter_t batch_processed_ops; CUfileOpCounter_t batch_posix_processed_ops; CUfileOpCounter_t batch_nvfs_submit_ops; CUfileOpCounter_t batch_p2p_submit_ops; CUfileOpCounter_t batch_aio_submit_ops; CUfileOpCounter_t batch_iouring_submit_ops; CUfileOpCounter_t batch_mixed_io_submit_ops; CUfileOpCounter_t batch_total_submit_ops; uint64_t batch_read_bytes; uint64_t batch_write_bytes; uint64_t batch_read_bw_bytes; uint64_t batch_write_bw_bytes; uint64_t batch_submit_lat_avg_us; uint64_t batch_completion_lat_avg_us; uint64_t batch_submit_ops_per_sec; uint64_t batch_complete_ops_per_sec; uint64_t batch_submit_lat_sum_us; uint64_t batch_completion_lat_sum_us; uint64_t last_batch_read_bytes; uint64_t last_batch_write_bytes; CUfileOpCounter_t readv_ops; CUfileOpCounter_t writev_ops; uint64_t readv_bytes; uint64_t writev_bytes; uint64_t readv_bw_bytes_per_sec; uint64_t writev_bw_bytes_per_sec; uint64_t readv_lat_avg_us; uint64_t writev_lat_avg_us; uint64_t readv_ops_per_sec; uint64_t writev_ops_per_sec; uint64_t readv_lat_sum_us; uint64_t writev_lat_sum_us; } CUfileStatsLevel1_t;
typedef struct CUfileDescr_t { enum CUfileFileHandleType type; union { int fd; void *handle; } handle; const CUfileFSOps_t *fs_ops; } CUfileDescr_t;
typedef struct CUfileStatsLevel2_t { CUfileStatsLevel1_t basic; uint64_t read_size_kb_hist[32]; uint64_t write_size_kb_hist[32]; } CUfileStatsLevel2_t;
typedef struct CUfileStatsLevel3_t { CUfileStatsLevel2_t detailed; uint32_t num_gpus; CUfilePerGpuStats_t per_gpu_stats[16]; } CUfileStatsLevel3_t;

CUfileError_t cuFileBatchIOCancel(CUfileBatchHandle_t batch_idp);
void cuFileBatchIODestroy(CUfileBatchHandle_t batch_idp);
CUfileError_t cuFileBatchIOGetStatus(CUfileBatchHandle_t batch_idp, unsigned min_nr, unsigned* nr, CUfileIOEvents_t* iocbp, struct timespec* timeout);
CUfileError_t cuFileBatchIOSetUp(CUfileBatchHandle_t* batch_idp, unsigned nr);
CUfileError_t cuFileBatchIOSubmit(CUfileBatchHandle_t batch_idp, unsigned nr, CUfileIOParams_t* iocbp, unsigned int flags);
CUfileError_t cuFileBufDeregister(const void* bufPtr_base);
CUfileError_t cuFileBufRegister(const void* bufPtr_base, size_t length, int flags);
CUfileError_t cuFileDriverClose(void);
CUfileError_t cuFileDriverClose_v2(void);
CUfileError_t cuFileDriverGetP2PFlags(CUfileDriverStatusFlags_t status_flag, CUfileP2PFlags_t* p2p_flags);
CUfileError_t cuFileDriverGetProperties(CUfileDrvProps_t* props);
CUfileError_t cuFileDriverOpen(void);
CUfileError_t cuFileDriverSetMaxCacheSize(size_t max_cache_size);
CUfileError_t cuFileDriverSetMaxDirectIOSize(size_t max_direct_io_size);
CUfileError_t cuFileDriverSetMaxPinnedMemSize(size_t max_pinned_size);
CUfileError_t cuFileDriverSetP2PFlags(CUfileDriverStatusFlags_t status_flag, CUfileP2PFlags_t p2p_flags);
CUfileError_t cuFileDriverSetPollMode(bool poll, size_t poll_threshold_size);
CUfileError_t cuFileExportPCIeTopology(const char* filename);
CUfileError_t cuFileGetBARSizeInKB(int gpuIndex, size_t* barSize);
CUfileError_t cuFileGetParameterBool(CUFileBoolConfigParameter_t param, bool* value);
CUfileError_t cuFileGetParameterGpuBounceBufferSlabArray(size_t* size_values, size_t* count_values, int len);
CUfileError_t cuFileGetParameterMinMaxValue(CUFileSizeTConfigParameter_t param, size_t* min_value, size_t* max_value);
CUfileError_t cuFileGetParameterPosixPoolSlabArray(size_t* size_values, size_t* count_values, int len);
CUfileError_t cuFileGetParameterSizeT(CUFileSizeTConfigParameter_t param, size_t* value);
CUfileError_t cuFileGetParameterString(CUFileStringConfigParameter_t param, char* desc_str, int len);
CUfileError_t cuFileGetStatsL1(CUfileStatsLevel1_t* stats);
CUfileError_t cuFileGetStatsL2(CUfileStatsLevel2_t* stats);
CUfileError_t cuFileGetStatsL3(CUfileStatsLevel3_t* stats);
CUfileError_t cuFileGetStatsLevel(int* level);
CUfileError_t cuFileGetVersion(int* version);
void cuFileHandleDeregister(CUfileHandle_t fh);
CUfileError_t cuFileHandleRegister(CUfileHandle_t* fh, CUfileDescr_t* descr);
ssize_t cuFileRead(CUfileHandle_t fh, void* bufPtr_base, size_t size, off_t file_offset, off_t bufPtr_offset);
CUfileError_t cuFileReadAsync(CUfileHandle_t fh, void* bufPtr_base, size_t* size_p, off_t* file_offset_p, off_t* bufPtr_offset_p, ssize_t* bytes_read_p, CUstream stream);
ssize_t cuFileReadv(CUfileHandle_t fh, const CUfileIOVec_t* iov, size_t iovcnt, off_t file_offset, unsigned flags);
CUfileError_t cuFileSetParameterBool(CUFileBoolConfigParameter_t param, bool value);
CUfileError_t cuFileSetParameterGpuBounceBufferSlabArray(const size_t* size_values, const size_t* count_values, int len);
CUfileError_t cuFileSetParameterPosixPoolSlabArray(const size_t* size_values, const size_t* count_values, int len);
CUfileError_t cuFileSetParameterSizeT(CUFileSizeTConfigParameter_t param, size_t value);
CUfileError_t cuFileSetParameterString(CUFileStringConfigParameter_t param, const char* desc_str);
CUfileError_t cuFileSetStatsLevel(int level);
CUfileError_t cuFileStatsReset(void);
CUfileError_t cuFileStatsStart(void);
CUfileError_t cuFileStatsStop(void);
CUfileError_t cuFileStreamDeregister(CUstream stream);
CUfileError_t cuFileStreamRegister(CUstream stream, unsigned flags);
long cuFileUseCount(void);
ssize_t cuFileWrite(CUfileHandle_t fh, const void* bufPtr_base, size_t size, off_t file_offset, off_t bufPtr_offset);
CUfileError_t cuFileWriteAsync(CUfileHandle_t fh, void* bufPtr_base, size_t* size_p, off_t* file_offset_p, off_t* bufPtr_offset_p, ssize_t* bytes_written_p, CUstream stream);
ssize_t cuFileWritev(CUfileHandle_t fh, const CUfileIOVec_t* iov, size_t iovcnt, off_t file_offset, unsigned flags);

#ifdef __cplusplus
}
#endif

#define cuFileDriverClose cuFileDriverClose_v2

#define IS_CUFILE_ERR(err) (abs((err)) > CUFILEOP_BASE_ERR)
#define CUFILE_ERRSTR(err) cufileop_status_error((CUfileOpError)abs((err)))
#define IS_CUDA_ERR(status) ((status).err == CU_FILE_CUDA_DRIVER_ERROR)
#define CU_FILE_CUDA_ERR(status) ((status).cu_err)

static inline const char *cufileop_status_error(CUfileOpError status) {
  switch (status) {
    case CU_FILE_SUCCESS: return "CU_FILE_SUCCESS";
    case CU_FILE_DRIVER_NOT_INITIALIZED: return "CU_FILE_DRIVER_NOT_INITIALIZED";
    case CU_FILE_DRIVER_INVALID_PROPS: return "CU_FILE_DRIVER_INVALID_PROPS";
    case CU_FILE_DRIVER_UNSUPPORTED_LIMIT: return "CU_FILE_DRIVER_UNSUPPORTED_LIMIT";
    case CU_FILE_DRIVER_VERSION_MISMATCH: return "CU_FILE_DRIVER_VERSION_MISMATCH";
    case CU_FILE_DRIVER_VERSION_READ_ERROR: return "CU_FILE_DRIVER_VERSION_READ_ERROR";
    case CU_FILE_DRIVER_CLOSING: return "CU_FILE_DRIVER_CLOSING";
    case CU_FILE_PLATFORM_NOT_SUPPORTED: return "CU_FILE_PLATFORM_NOT_SUPPORTED";
    case CU_FILE_IO_NOT_SUPPORTED: return "CU_FILE_IO_NOT_SUPPORTED";
    case CU_FILE_DEVICE_NOT_SUPPORTED: return "CU_FILE_DEVICE_NOT_SUPPORTED";
    case CU_FILE_NVFS_DRIVER_ERROR: return "CU_FILE_NVFS_DRIVER_ERROR";
    case CU_FILE_CUDA_DRIVER_ERROR: return "CU_FILE_CUDA_DRIVER_ERROR";
    case CU_FILE_CUDA_POINTER_INVALID: return "CU_FILE_CUDA_POINTER_INVALID";
    case CU_FILE_CUDA_MEMORY_TYPE_INVALID: return "CU_FILE_CUDA_MEMORY_TYPE_INVALID";
    case CU_FILE_CUDA_POINTER_RANGE_ERROR: return "CU_FILE_CUDA_POINTER_RANGE_ERROR";
    case CU_FILE_CUDA_CONTEXT_MISMATCH: return "CU_FILE_CUDA_CONTEXT_MISMATCH";
    case CU_FILE_INVALID_MAPPING_SIZE: return "CU_FILE_INVALID_MAPPING_SIZE";
    case CU_FILE_INVALID_MAPPING_RANGE: return "CU_FILE_INVALID_MAPPING_RANGE";
    case CU_FILE_INVALID_FILE_TYPE: return "CU_FILE_INVALID_FILE_TYPE";
    case CU_FILE_INVALID_FILE_OPEN_FLAG: return "CU_FILE_INVALID_FILE_OPEN_FLAG";
    case CU_FILE_DIO_NOT_SET: return "CU_FILE_DIO_NOT_SET";
    case CU_FILE_INVALID_VALUE: return "CU_FILE_INVALID_VALUE";
    case CU_FILE_MEMORY_ALREADY_REGISTERED: return "CU_FILE_MEMORY_ALREADY_REGISTERED";
    case CU_FILE_MEMORY_NOT_REGISTERED: return "CU_FILE_MEMORY_NOT_REGISTERED";
    case CU_FILE_PERMISSION_DENIED: return "CU_FILE_PERMISSION_DENIED";
    case CU_FILE_DRIVER_ALREADY_OPEN: return "CU_FILE_DRIVER_ALREADY_OPEN";
    case CU_FILE_HANDLE_NOT_REGISTERED: return "CU_FILE_HANDLE_NOT_REGISTERED";
    case CU_FILE_HANDLE_ALREADY_REGISTERED: return "CU_FILE_HANDLE_ALREADY_REGISTERED";
    case CU_FILE_DEVICE_NOT_FOUND: return "CU_FILE_DEVICE_NOT_FOUND";
    case CU_FILE_INTERNAL_ERROR: return "CU_FILE_INTERNAL_ERROR";
    case CU_FILE_GETNEWFD_FAILED: return "CU_FILE_GETNEWFD_FAILED";
    case CU_FILE_NVFS_SETUP_ERROR: return "CU_FILE_NVFS_SETUP_ERROR";
    case CU_FILE_IO_DISABLED: return "CU_FILE_IO_DISABLED";
    case CU_FILE_BATCH_SUBMIT_FAILED: return "CU_FILE_BATCH_SUBMIT_FAILED";
    case CU_FILE_GPU_MEMORY_PINNING_FAILED: return "CU_FILE_GPU_MEMORY_PINNING_FAILED";
    case CU_FILE_BATCH_FULL: return "CU_FILE_BATCH_FULL";
    case CU_FILE_ASYNC_NOT_SUPPORTED: return "CU_FILE_ASYNC_NOT_SUPPORTED";
    case CU_FILE_INTERNAL_BATCH_SETUP_ERROR: return "CU_FILE_INTERNAL_BATCH_SETUP_ERROR";
    case CU_FILE_INTERNAL_BATCH_SUBMIT_ERROR: return "CU_FILE_INTERNAL_BATCH_SUBMIT_ERROR";
    case CU_FILE_INTERNAL_BATCH_GETSTATUS_ERROR: return "CU_FILE_INTERNAL_BATCH_GETSTATUS_ERROR";
    case CU_FILE_INTERNAL_BATCH_CANCEL_ERROR: return "CU_FILE_INTERNAL_BATCH_CANCEL_ERROR";
    case CU_FILE_NOMEM_ERROR: return "CU_FILE_NOMEM_ERROR";
    case CU_FILE_IO_ERROR: return "CU_FILE_IO_ERROR";
    case CU_FILE_INTERNAL_BUF_REGISTER_ERROR: return "CU_FILE_INTERNAL_BUF_REGISTER_ERROR";
    case CU_FILE_HASH_OPR_ERROR: return "CU_FILE_HASH_OPR_ERROR";
    case CU_FILE_INVALID_CONTEXT_ERROR: return "CU_FILE_INVALID_CONTEXT_ERROR";
    case CU_FILE_NVFS_INTERNAL_DRIVER_ERROR: return "CU_FILE_NVFS_INTERNAL_DRIVER_ERROR";
    case CU_FILE_BATCH_NOCOMPAT_ERROR: return "CU_FILE_BATCH_NOCOMPAT_ERROR";
    case CU_FILE_IO_MAX_ERROR: return "CU_FILE_IO_MAX_ERROR";
  }
  return "unknown cufile error";
}

#endif
