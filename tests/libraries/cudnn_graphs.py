"""Graphs of cuDNN's backend interface for tests: tensors, operations by the names of the catalogue's constants, and running them."""

import ctypes
import re

import numpy as np

from .cudnn_tensors import TYPES, decoded, encoded

TYPE_OF = {"CONV_MODE": 7, "POINTWISE_MODE": 14, "REDUCTION_OPERATOR": 18, "RESAMPLE_MODE": 21, "RESAMPLE_PADDING_MODE": 22, "NORM_FWD_MODE": 27,
           "NORM_BWD_MODE": 27, "NORM_FWD_PHASE": 28, "RNG_DISTRIBUTION": 29, "RESHAPE_MODE": 31, "BN_FINALIZE_STATS_MODE": 17,
           "GENSTATS_MODE": 16, "NAN_PROPAGATION": 10, "ENGINEHEUR_MODE": 8}  # fmt: skip
HANDLE, DATA_TYPE, BOOLEAN, INT64, FLOAT, DOUBLE, POINTER, DESCRIPTOR, CHAR = 0, 1, 2, 3, 4, 5, 6, 15, 24


def constants(table, major=13):
    return {c.name: c.values[major] for group in table.constants.values() for c in group if major in c.values}


class Graph:
    """Operations over tensors; `run` returns what was asked for as float64. What has no values is virtual unless `out` names it."""

    def __init__(self, dnn, prefer="f32"):
        self.dnn, self.call, self.prefer = dnn, dnn.call, prefer
        self.number = constants(dnn.call.table)
        self.next, self.operations, self.data, self.keep = 1, [], {}, []

    # Descriptors

    def create(self, kind):
        made = ctypes.c_void_p()
        self.call("cudnnBackendCreateDescriptor", self.number[f"CUDNN_BACKEND_{kind}_DESCRIPTOR"], made)
        self.keep.append(made)
        return made.value

    def set(self, desc, name, value, kind=None):
        assert self.try_set(desc, name, value, kind) == 0, (name, value, self.error())

    def try_set(self, desc, name, value, kind=None):
        values = value if isinstance(value, (list, tuple, bytes)) else [value]
        if kind is None:
            kind = next((number for end, number in TYPE_OF.items() if name.endswith(end)), None)
        if kind is None:
            kind = DATA_TYPE if re.search(r"COMP_TYPE|MATH_PREC|DATA_TYPE", name) else INT64
        kinds = {BOOLEAN: ctypes.c_bool, INT64: ctypes.c_int64, FLOAT: ctypes.c_float, DOUBLE: ctypes.c_double, POINTER: ctypes.c_void_p,
                 DESCRIPTOR: ctypes.c_void_p, CHAR: ctypes.c_char, HANDLE: ctypes.c_void_p}  # fmt: skip
        array = (kinds.get(kind, ctypes.c_int) * len(values))(*values)
        return self.dnn.status(
            "cudnnBackendSetAttribute", desc, self.number[f"CUDNN_ATTR_{name}"], kind, len(values), array
        )

    def error(self):
        text = ctypes.create_string_buffer(500)
        self.call.file["cudnnGetLastErrorString"](text, ctypes.c_size_t(500))
        return text.value.decode()

    def finalize(self, desc):
        status = self.dnn.status("cudnnBackendFinalize", desc)
        assert status == 0, (status, self.error())
        return desc

    # Tensors

    def tensor(self, shape, values=None, kind=None, order=None, out=False, by_value=False, strides=None):
        """Return a tensor: (descriptor, shape, number, type). Virtual ones have neither values nor `out`."""
        kind = kind or self.prefer
        shape = tuple(int(n) for n in (np.shape(values) if values is not None and not by_value else shape))
        if strides is None:
            strides, step = [0] * len(shape), 1
            for axis in reversed(list(order or range(len(shape)))):
                strides[axis] = step
                step *= shape[axis]
        uid, self.next = self.next, self.next + 1
        desc = self.create("TENSOR")
        self.set(desc, "TENSOR_DATA_TYPE", TYPES[kind][0], DATA_TYPE)
        self.set(desc, "TENSOR_DIMENSIONS", list(shape))
        self.set(desc, "TENSOR_STRIDES", list(strides))
        self.set(desc, "TENSOR_UNIQUE_ID", uid)
        self.set(desc, "TENSOR_BYTE_ALIGNMENT", 16)
        self.set(desc, "TENSOR_IS_VIRTUAL", values is None and not out, BOOLEAN)
        self.set(desc, "TENSOR_IS_BY_VALUE", by_value, BOOLEAN)
        self.finalize(desc)
        if values is not None or out:
            memory = np.full(1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True)), 77, TYPES[kind][1])
            self.data[uid] = memory
            if values is not None:
                self.view(uid, shape, strides)[...] = encoded(kind, values)
        return desc, shape, uid, kind, strides

    def view(self, uid, shape, strides):
        memory = self.data[uid]
        return np.lib.stride_tricks.as_strided(memory, shape, [s * memory.itemsize for s in strides])

    def values(self, tensor):
        _, shape, uid, kind, strides = tensor
        return decoded(kind, self.view(uid, shape, strides))

    def scalar(self, value, kind="f32", rank=4):
        return self.tensor((1,) * rank, np.full((1,) * rank, value), kind, by_value=True)

    # Operations

    def descriptor(self, kind, prefix, **attributes):
        desc = self.create(kind)
        for name, value in attributes.items():
            self.attribute(desc, f"{prefix}_{name}" if prefix else name, value)
        return self.finalize(desc)

    def attribute(self, desc, name, value):
        if isinstance(value, tuple) and len(value) == 5:
            self.set(desc, name, value[0], DESCRIPTOR)
        elif isinstance(value, list) and value and isinstance(value[0], tuple):
            self.set(desc, name, [v[0] for v in value], DESCRIPTOR)
        elif name.endswith(("DESC", "PW_DESCRIPTOR")):
            self.set(desc, name, value, DESCRIPTOR)
        elif isinstance(value, float):
            self.set(desc, name, value, DOUBLE)
        else:
            self.set(desc, name, value)

    def operation(self, kind, prefix=None, **attributes):
        desc = self.descriptor(f"OPERATION_{kind}", f"OPERATION_{prefix or kind}", **attributes)
        self.operations.append(desc)
        return desc

    def pointwise(
        self, mode, x, b=None, t=None, out=None, shape=None, alpha1=None, alpha2=None, backward=False, **numbers
    ):
        what = self.descriptor(
            "POINTWISE", "POINTWISE", MODE=self.number[f"CUDNN_POINTWISE_{mode}"], MATH_PREC=0, **numbers
        )
        if out is None:
            shape = shape or np.broadcast_shapes(*(o[1] for o in (x, b, t) if o is not None))
            out = self.tensor(shape)
        more = {} if b is None else {"DYDESC" if backward else "BDESC": b}
        if t is not None:
            more["TDESC"] = t
        if alpha1 is not None:
            more["ALPHA1"] = alpha1
        if alpha2 is not None:
            more["ALPHA2"] = alpha2
        self.operation("POINTWISE", PW_DESCRIPTOR=what, XDESC=x, **{"DXDESC" if backward else "YDESC": out}, **more)
        return out

    def matmul(self, a, b, out=None, compute=0):
        what = self.descriptor("MATMUL", "MATMUL", COMP_TYPE=compute)
        out = out or self.tensor((*np.maximum(a[1][:-2], b[1][:-2]), a[1][-2], b[1][-1]))
        self.operation("MATMUL", ADESC=a, BDESC=b, CDESC=out, DESC=what)
        return out

    def reduction(self, op, x, shape, out=None):
        what = self.descriptor("REDUCTION", "REDUCTION", OPERATOR=self.number[f"CUDNN_REDUCE_TENSOR_{op}"], COMP_TYPE=0)
        out = out or self.tensor(shape)
        self.operation("REDUCTION", DESC=what, XDESC=x, YDESC=out)
        return out

    def convolution(self, way, pads, strides, dilations, mode=1, post=None, compute=0, **tensors):
        what = self.descriptor("CONVOLUTION", "CONVOLUTION", COMP_TYPE=compute, CONV_MODE=mode, DILATIONS=list(dilations), FILTER_STRIDES=list(strides),
                               PRE_PADDINGS=list(pads), POST_PADDINGS=list(post or pads), SPATIAL_DIMS=len(pads))  # fmt: skip
        kind = {"FORWARD": "FORWARD", "BWD_DATA": "BACKWARD_DATA", "BWD_FILTER": "BACKWARD_FILTER"}[way]
        self.operation(f"CONVOLUTION_{kind}", f"CONVOLUTION_{way}", CONV_DESC=what, **tensors)

    # Running

    def graph(self):
        return self.descriptor("OPERATIONGRAPH", "OPERATIONGRAPH", OPS=[(op, 0, 0, 0, 0) for op in self.operations])

    def get(self, desc, name, kind, count=0, array=None):
        found = ctypes.c_int64(-1)
        self.call("cudnnBackendGetAttribute", desc, self.number[f"CUDNN_ATTR_{name}"], kind, count, found, array)
        return found.value

    def configurations(self, mode=3):
        heuristic = self.descriptor("ENGINEHEUR", "ENGINEHEUR", OPERATION_GRAPH=(self.graph(), 0, 0, 0, 0), MODE=mode)
        count = self.get(heuristic, "ENGINEHEUR_RESULTS", DESCRIPTOR)
        made = [self.create("ENGINECFG") for _ in range(count)]
        array = (ctypes.c_void_p * max(count, 1))(*made)
        assert self.get(heuristic, "ENGINEHEUR_RESULTS", DESCRIPTOR, count, array) == count
        return made

    def plan(self):
        (config,) = self.configurations()
        plan = self.create("EXECUTION_PLAN")
        self.set(plan, "EXECUTION_PLAN_HANDLE", self.dnn.handle, HANDLE)
        self.set(plan, "EXECUTION_PLAN_ENGINE_CONFIG", config, DESCRIPTOR)
        return self.finalize(plan)

    def pack(self):
        pack = self.create("VARIANT_PACK")
        self.set(pack, "VARIANT_PACK_UNIQUE_IDS", list(self.data))
        self.set(pack, "VARIANT_PACK_DATA_POINTERS", [memory.ctypes.data for memory in self.data.values()], POINTER)
        self.set(pack, "VARIANT_PACK_WORKSPACE", None, POINTER)
        return self.finalize(pack)

    def run(self, *outputs):
        self.call("cudnnBackendExecute", self.dnn.handle, self.plan(), self.pack())
        found = [self.values(out) for out in outputs]
        return found[0] if len(found) == 1 else found

    def close(self):
        for desc in self.keep:
            self.call("cudnnBackendDestroyDescriptor", desc.value)
        self.keep = []
