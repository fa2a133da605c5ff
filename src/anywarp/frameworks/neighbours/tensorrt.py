"""TensorRT (`tensorrt`): its Python interface for ONNX models, which ONNX Runtime computes (`frameworks/tensorrt`)."""

# pyright: basic
from __future__ import annotations

from collections.abc import Iterator

from anywarp.frameworks.neighbours import installed
from anywarp.frameworks.neighbours.neighbour import Difference, Found, Ran

DISTRIBUTIONS = ("tensorrt", "tensorrt-cu13", "tensorrt-cu12")


class TensorRT:
    """The adapter: `frameworks/tensorrt/adapter.py` answers the import, this says so."""

    name = "tensorrt"
    ran = (
        Ran(
            "10.13 (interface)",
            "replaced by",
            "its Python interface for ONNX models, computed by ONNX Runtime: builder, parser, runtime, contexts, profiles; layers by hand, calibration and plugins are refused by name",
            "2026-11-29",
            "tests/clients/libraries/tensorrt_program.py",
        ),
    )

    def detect(self) -> Found:
        """Say what is installed of NVIDIA's package, without importing it."""
        found = installed.look(self.name, DISTRIBUTIONS, (), ())
        if found.state == "usable":
            return Found("machine code", found.version, f"{found.version} is machine code for NVIDIA's cards")
        return found

    def explain(self, found: Found) -> str:
        """Say what becomes of the import, and what is missing for it."""
        from anywarp.frameworks.tensorrt import needed

        if lacking := needed.missing():
            return f"imports are answered once {' and '.join(lacking)} are installed beside it"
        return "imports are answered, and ONNX models computed by ONNX Runtime"

    def activate(self) -> None:
        """Answer imports from now on."""
        from anywarp.frameworks.tensorrt import adapter

        adapter.install()

    def self_test(self) -> Iterator[Difference]:
        """Build an engine of x W + b, give it the addresses of tensors on `cuda`, and compare with double precision."""
        import torch

        from anywarp.frameworks.tensorrt import interface as trt
        from anywarp.frameworks.tensorrt import needed

        helper, kind = needed.onnx("helper"), needed.onnx().TensorProto.FLOAT
        draw = torch.Generator().manual_seed(1)
        x, weight, bias = (torch.randn(*shape, generator=draw) for shape in ((3, 5), (5, 4), (4,)))
        held = [
            needed.onnx("numpy_helper").from_array(each.numpy(), name) for name, each in (("w", weight), ("b", bias))
        ]
        ports = [helper.make_tensor_value_info(name, kind, shape) for name, shape in (("x", (3, 5)), ("y", (3, 4)))]
        graph = helper.make_graph([helper.make_node("Gemm", ["x", "w", "b"], ["y"])], "g", ports[:1], ports[1:], held)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        logger = trt.Logger(trt.Logger.ERROR)
        builder = trt.Builder(logger)
        network = builder.create_network()
        trt.OnnxParser(network, logger).parse(model.SerializeToString())
        plan = builder.build_serialized_network(network, builder.create_builder_config())
        engine = trt.Runtime(logger).deserialize_cuda_engine(plan)
        assert engine is not None
        context = engine.create_execution_context()
        given, result = x.cuda(), torch.empty(3, 4, device="cuda")
        context.set_tensor_address("x", given.data_ptr())
        context.set_tensor_address("y", result.data_ptr())
        context.execute_async_v3(torch.cuda.current_stream().cuda_stream)
        torch.cuda.synchronize()
        wanted = x.double() @ weight.double() + bias.double()
        yield Difference("an engine of one layer", float((result.cpu().double() - wanted).abs().max()), 1e-5)


NEIGHBOUR = TensorRT()
