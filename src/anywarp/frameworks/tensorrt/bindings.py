"""The interface up to TensorRT 9: inputs and outputs by number instead of by name. Everything is said by what has names."""

# pyright: basic
from __future__ import annotations

from typing import Any

from anywarp.frameworks.tensorrt.enums import TensorIOMode


class EngineBindings:
    """What an engine has beside names. With several profiles each has its own numbers, one after another."""

    __slots__ = ()
    num_bindings = property(lambda self: len(self.ports) * self.num_optimization_profiles)

    def named(self, binding: Any) -> Any:
        """Return the name for a number or a name."""
        return binding if isinstance(binding, str) else self.get_tensor_name(binding % len(self.ports))  # type: ignore[attr-defined]

    def get_binding_name(self: Any, index: int) -> Any:
        """Return the name of a number."""
        if not 0 <= index < self.num_bindings:
            return None
        profile = index // len(self.ports)
        return self.named(index) + (f" [profile {profile}]" if profile else "")

    def get_binding_index(self: Any, name: str) -> int:
        """Return the number of a name, -1 for none."""
        return next((number for number, port in enumerate(self.ports) if port.name == name), -1)

    def get_binding_shape(self: Any, binding: Any) -> Any:
        """Return the shape as built."""
        return self.get_tensor_shape(self.named(binding))

    def get_binding_dtype(self: Any, binding: Any) -> Any:
        """Return the type of the elements."""
        return self.get_tensor_dtype(self.named(binding))

    def binding_is_input(self: Any, binding: Any) -> bool:
        """Tell whether it is an input."""
        return self.get_tensor_mode(self.named(binding)) is TensorIOMode.INPUT

    def is_execution_binding(self, binding: Any) -> bool:
        """Say that each has an address."""
        return True

    def is_shape_binding(self, binding: Any) -> bool:
        """Say that none lies on the host."""
        return False

    def get_profile_shape(self: Any, profile_index: int, binding: Any) -> Any:
        """Return the three shapes of an input in a profile."""
        return self.get_tensor_profile_shape(self.named(binding), profile_index)


class ContextBindings:
    """What a context has beside names."""

    __slots__ = ()

    def set_binding_shape(self: Any, binding: int, shape: Any) -> bool:
        """Set the shape of an input."""
        return self.set_input_shape(self.engine.named(binding), shape)

    def get_binding_shape(self: Any, binding: int) -> Any:
        """Return the shape with the inputs' shapes as set."""
        return self.get_tensor_shape(self.engine.named(binding))

    def execute_async_v2(self: Any, bindings: Any, stream_handle: int, input_consumed: Any = None) -> bool:
        """Execute in a stream with an address for each number."""
        if input_consumed is not None:
            self.set_input_consumed_event(int(input_consumed))
        return self.take_addresses(bindings, "execute_async_v2") and self.execute_async_v3(stream_handle)

    def execute_async(
        self: Any, batch_size: int = 1, bindings: Any = (), stream_handle: int = 0, input_consumed: Any = None
    ) -> bool:
        """Refuse: a batch that is no dimension of the model."""
        self.engine.error(
            "IExecutionContext.execute_async",
            "implicit batches are not served: call execute_async_v2 or execute_async_v3",
        )
        return False

    def execute(self: Any, batch_size: int = 1, bindings: Any = ()) -> bool:
        """Refuse: a batch that is no dimension of the model."""
        self.engine.error("IExecutionContext.execute", "implicit batches are not served: call execute_v2")
        return False
