"""The parser of ONNX models, and what it says is wrong with one."""

# pyright: basic
from __future__ import annotations

import os
from typing import Any

from anywarp.frameworks.tensorrt import model as models
from anywarp.frameworks.tensorrt import needed
from anywarp.frameworks.tensorrt.enums import ErrorCode
from anywarp.frameworks.tensorrt.logger import ILogger, Told
from anywarp.frameworks.tensorrt.network import INetworkDefinition


class ParserError:
    """What is wrong with a model, and where."""

    __slots__ = ("_error",)

    def __init__(self, error: models.ModelError):
        self._error = error

    def code(self) -> Any:
        """Return the kind of error."""
        return ErrorCode[self._error.code]

    def desc(self) -> str:
        """Return what is wrong."""
        return str(self._error)

    def node(self) -> int:
        """Return the number of the node, -1 where it is none's."""
        return self._error.node

    def node_name(self) -> str:
        """Return the name of the node."""
        return self._error.name

    def node_operator(self) -> str:
        """Return the operator of the node."""
        return self._error.operator

    def file(self) -> str:
        """Return the source file that found it: there is none to name."""
        return ""

    def line(self) -> int:
        """Return the line in it."""
        return 0

    def func(self) -> str:
        """Return the function that found it."""
        return "parse"

    def local_function_stack(self) -> list[str]:
        """Return the functions of the model around the node."""
        return []

    def __repr__(self) -> str:
        where = (
            f"In node {self.node()} with name: {self.node_name()} and operator: {self.node_operator()}: "
            if self.node() >= 0
            else ""
        )
        return f"{where}{self.code().name}: {self.desc()}"


class OnnxParser(Told):
    """Fills a network from an ONNX model."""

    __slots__ = ("_errors", "_network", "flags")

    def __init__(self, network: INetworkDefinition, logger: ILogger):
        super().__init__(logger)
        self._network, self._errors, self.flags = network, [], 0

    num_errors = property(lambda self: len(self._errors))

    def parse(self, model: Any, path: str | None = None) -> bool:
        """Read a model from bytes; weights in other files are looked for beside `path`. False when there are errors."""
        if path is not None:
            return self._take("parse", lambda: _with_weights(bytes(model), str(path)))
        return self._take("parse", lambda: models.read(bytes(model)))

    def parse_from_file(self, model: str) -> bool:
        """Read a model from a file, with weights beside it. False when there are errors."""
        return self._take("parse_from_file", lambda: models.read_file(os.fspath(model)))

    parse_with_weight_descriptors = parse

    def supports_model(self, model: Any, path: str | None = None) -> Any:
        """Return whether a model can be read, and its nodes as one part that can be or not."""
        try:
            read = _with_weights(bytes(model), str(path)) if path else models.read(bytes(model))
        except models.ModelError as error:
            self._errors.append(ParserError(error))
            return False, []
        return True, [(list(range(len(read.graph.node))), True)]

    def supports_operator(self, op_name: str) -> bool:
        """Tell whether ONNX has an operator of that name."""
        return needed.onnx("defs").has(op_name)

    def _take(self, function: str, read: Any) -> bool:
        try:
            if self._network.model is not None:
                raise models.ModelError("the network already has a model", "INVALID_GRAPH")
            self._network.fill(read())
        except models.ModelError as error:
            self._errors.append(ParserError(error))
            self.error(f"OnnxParser.{function}", repr(self._errors[-1]))
            return False
        return True

    def get_error(self, index: int) -> ParserError | None:
        """Return an error by its number."""
        return self._errors[index] if 0 <= index < len(self._errors) else None

    def clear_errors(self) -> None:
        """Forget all errors."""
        self._errors.clear()

    def set_flag(self, flag: Any) -> None:
        """Set a flag; each is about how a GPU's code is made."""
        self.flags |= 1 << int(flag)

    def clear_flag(self, flag: Any) -> None:
        """Clear a flag."""
        self.flags &= ~(1 << int(flag))

    def get_flag(self, flag: Any) -> bool:
        """Tell whether a flag is set."""
        return bool(self.flags & 1 << int(flag))

    def get_used_vc_plugin_libraries(self) -> list[str]:
        """Return the plugin libraries in use: none."""
        return []


def _with_weights(data: bytes, path: str) -> Any:
    """Parse bytes whose weights lie beside a path."""
    onnx = needed.onnx()
    try:
        model = onnx.load_from_string(data)
        needed.onnx("external_data_helper").load_external_data_for_model(model, os.path.dirname(os.path.abspath(path)))
        whole = model.SerializeToString()
    except Exception as error:
        raise models.ModelError(f"the model cannot be read: {error}", "MODEL_DESERIALIZE_FAILED") from error
    return models.checked(model, whole)
