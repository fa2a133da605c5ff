"""Calls while a kernel is expanded: in place, for real through a stack frame, or of a service of the runtime.

A function that is shared has one copy in the kernel's graph. Its caller puts arguments and a number for the place to return to
into a frame on the thread's stack and jumps; returning is a switch over those places, a call through a pointer a switch over the
functions it may mean.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from anywarp.compiler import codes
from anywarp.compiler.fold import INTEGERS
from anywarp.compiler.host_functions import HOST_FUNCTIONS
from anywarp.compiler.layout import align_up, size_and_alignment
from anywarp.compiler.scopes import Frame, frames, make_vector
from anywarp.compiler.skeleton import (
    FRAME_ALIGN,
    Activation,
    Assign,
    CopyPlace,
    Dispatch,
    Entity,
    FrameEnd,
    HostCall,
    ModuleView,
    StackCheck,
    StackRoom,
    Step,
    VectorRegister,
    register_type,
)
from anywarp.compiler.variables import Place, Register
from anywarp.compiler.walk import BAD_POINTER, STACK_OVERFLOW, Blocks, place_in
from anywarp.diagnostics import Span
from anywarp.ptx.isa.ops import Type
from anywarp.ptx.tree import CallPrototype, Function, Group, Instruction, Name, Operand, Sink, Targets, Variable, Vector

SERVICES: dict[str, str] = {
    "vprintf": "vprintf", "malloc": "malloc", "free": "free", "__assertfail": "assertfail", "anywarp_device_runtime": "device_runtime",
}  # fmt: skip
"""Functions of CUDA's device run time that the runtime supplies, by the name of the service."""

_HEADER = 8
"""Bytes at the start of a frame: the number of the place to return to, and the caller's frame."""


@dataclass(eq=False, slots=True)
class Shared:
    """A function with one copy: its frame, its first and last block, and the blocks behind its calls."""

    function: Function
    activation: Activation
    entry: int
    leaving: int
    params: list[Place]
    returns: list[Place]
    sites: list[int] = field(default_factory=list[int])


@dataclass(eq=False, slots=True)
class Site:
    """One call for real: the block that leaves, the one that comes back, and whose call it is (None: the kernel's)."""

    going: int
    back: int
    owner: Activation | None
    span: Span


@dataclass(frozen=True, slots=True)
class _Call:
    """A call taken apart."""

    results: tuple[Operand, ...]
    name: Name | None
    arguments: tuple[Operand, ...]
    prototype: Name | None
    span: Span
    form: str


@dataclass(frozen=True, slots=True)
class _Interface:
    """Parameters and results, where each lies in a frame, and where the variables behind them begin."""

    params: tuple[Variable, ...]
    returns: tuple[Variable, ...]
    param_places: list[Place]
    return_places: list[Place]
    end: int

    def sizes(self) -> tuple[list[int], list[int]]:
        """Return what two functions have in common that can be called by one prototype."""
        return [p.size for p in self.param_places], [p.size for p in self.return_places]


class Calls(Blocks):
    """Expands calls; `names` are the functions to be shared."""

    def __init__(self, module: ModuleView, names: frozenset[str], stack_bytes: int) -> None:
        super().__init__(module)
        self.names = names
        self.shared: dict[str, Shared] = {}
        self.waiting: list[Shared] = []
        self.sites: list[Site] = []
        self.base = Register("%frame", "i32")
        self.next = Register("%callee", "i32")
        self.room = StackRoom()
        self.stack_place = Place("%stack", "local", stack_bytes, FRAME_ALIGN, pinned=True)
        self.kernel = Activation("", self.base, stack=self.stack_place)

    def call(self, frame: Frame, instruction: Instruction, after: int | None) -> None:
        """Expand a call without guard; what follows it goes to block `after`."""
        call = _taken_apart(instruction)
        if call.name is None:
            self.scopes.fail(codes.WRONG_CALL, "a call without a function", call.span)
        after = self.node() if after is None else after
        entity = self.scopes.find(frame, call.name.name)
        if isinstance(entity, Register):
            self._indirect(frame, call, after)
            return
        callee = self.module.function(call.name.name)
        if callee is None or callee.body is None:
            self._host(frame, call, call.name.name, callee, after)
            return
        if len(call.arguments) != len(callee.params) or len(call.results) != len(callee.returns):
            self.scopes.fail(
                codes.WRONG_CALL,
                f"`{callee.name[:200]}` takes {len(callee.params)} arguments and returns {len(callee.returns)} values",
                call.span,
            )
        if callee.name in self.names:
            target = self._share(callee)
            back = self._go(frame, call, self._interface(callee.params, callee.returns))
            self._jump_into(target, back, call.span)
            self.current = back
            self.continue_at(after)
        else:
            self._inline(frame, call, callee, after)

    # --- in place -----------------------------------------------------------------------------------------------------

    def _inline(self, frame: Frame, call: _Call, callee: Function, after: int) -> None:
        self._check_recursion(frame, callee, call.span)
        inner = Frame(callee, self.node(), frame, owner=frame.owner)
        for formal, actual in zip(callee.params, call.arguments, strict=True):
            if formal.space == "reg" and formal.vector > 1:
                vector = make_vector(formal)
                inner.names[formal.name] = (0, vector)
                for element, part in zip(vector.elements, self._parts(frame, formal, actual, call.span), strict=True):
                    self.add(self._assign(frame, element, part, formal.type, call.span))
                continue
            entity = self._formal(frame, formal, actual, call.span)
            inner.names[formal.name] = (0, entity)
            if entity is not self._place(frame, actual):
                self.add(self._assign(frame, entity, self._source(frame, actual), formal.type, call.span))
        assert inner.after is not None
        done = self.nodes[inner.after]
        for formal, actual in zip(callee.returns, call.results, strict=True):
            if formal.space == "reg" and formal.vector > 1:
                vector = make_vector(formal)
                inner.names[formal.name] = (0, vector)
                for element, part in zip(vector.elements, self._parts(frame, formal, actual, call.span), strict=True):
                    target = self._target(frame, part, call.span)
                    if target is not None:
                        done.steps.append(self._assign(frame, target, element, formal.type, call.span))
                continue
            entity = self._formal(frame, formal, actual, call.span)
            inner.names[formal.name] = (0, entity)
            target = self._target(frame, actual, call.span)
            if target is not None and target is not entity:
                done.steps.append(self._assign(frame, target, entity, formal.type, call.span))
        done.kind, done.targets = "jump", [after]
        inner.resume = after
        self.continue_at(self.node())
        self.enter(callee, inner)

    def _parts(self, frame: Frame, formal: Variable, actual: Operand, span: Span) -> tuple[Operand, ...]:
        """Return the elements of what is passed for a vector in registers: of a vector register, or of a list."""
        parts = self.scopes.spread(frame, actual)
        if not isinstance(parts, Vector) or len(parts.elements) != formal.vector:
            words = f"`{formal.name[:200]}` is a vector of {formal.vector} registers"
            self.scopes.fail(codes.WRONG_CALL, words, span)
        return parts.elements

    def _check_recursion(self, frame: Frame, callee: Function, span: Span) -> None:
        walk: Frame | None = frame
        while walk is not None:
            if walk.function.name == callee.name:
                self.scopes.fail(codes.INTERNAL, f"`{callee.name[:200]}` is expanded within itself", span)
            walk = walk.caller

    def _place(self, frame: Frame, operand: Operand) -> Place | None:
        entity = self.scopes.find(frame, operand.name) if isinstance(operand, Name) else None
        return entity if isinstance(entity, Place) else None

    def _formal(self, frame: Frame, formal: Variable, actual: Operand, span: Span) -> Register | Place:
        """What a parameter's name means inside: a register, the caller's `.param` variable, or memory of its own."""
        if formal.space == "reg":
            return Register(formal.name, register_type(formal.type))
        size, _ = size_and_alignment(formal, self.module.source)
        place = self._place(frame, actual)
        if place is None:
            return self.scopes.local(formal, frame.owner)
        self._fits(place, size, formal.name, span)
        return place

    def _fits(self, place: Place, size: int, formal: str, span: Span) -> None:
        if place.size < size:
            message = f"`{place.name[:200]}` has {place.size} bytes, the parameter `{formal[:200]}` {size}"
            self.scopes.fail(codes.WRONG_CALL, message, span)

    def _source(self, frame: Frame, operand: Operand) -> Operand | Register | Place:
        place = self._place(frame, operand)
        return operand if place is None else place

    def _target(self, frame: Frame, operand: Operand, span: Span) -> Register | Place | None:
        if isinstance(operand, Sink):
            return None
        entity = self.scopes.find(frame, operand.name) if isinstance(operand, Name) else None
        if isinstance(entity, VectorRegister) and isinstance(operand, Name) and operand.member is not None:
            entity = entity.elements["xyzw".index(operand.member)]
        if not isinstance(entity, Register | Place):
            self.scopes.fail(codes.WRONG_CALL, "the result of a call goes to a register or a .param variable", span)
        return entity

    def _assign(
        self,
        frame: Frame,
        target: Register | Place,
        source: Operand | Register | Place,
        declared: str,
        span: Span,
    ) -> Step:
        names: dict[str, Entity] = {}
        reads: list[Register] = []
        if isinstance(source, Register):
            reads.append(source)
        elif not isinstance(source, Place):
            self.scopes.scan(frame, source, names, reads)
        reads += frames((target, source, *names.values()))
        writes = [target] if isinstance(target, Register) else []
        return Step(Assign(target, source, register_type(declared)), names, reads, writes, span)

    # --- for real -----------------------------------------------------------------------------------------------------

    def _share(self, callee: Function) -> Shared:
        """Return the one copy of a function; its body is walked when the kernel's has been."""
        known = self.shared.get(callee.name)
        if known is None:
            activation = Activation(callee.name, self.base)
            layout = self._interface(callee.params, callee.returns)
            activation.size = layout.end
            known = Shared(callee, activation, self.node(), self.node(), layout.param_places, layout.return_places)
            self.shared[callee.name] = known
            self.waiting.append(known)
        return known

    def _interface(self, params: tuple[Variable, ...], returns: tuple[Variable, ...]) -> _Interface:
        """Lay out parameters and results in a frame, the same wherever their sizes are the same."""
        offset = _HEADER
        places: list[Place] = []
        for variable in (*params, *returns):
            size, _ = size_and_alignment(variable, self.module.source)
            size = max(size, 1)
            offset = align_up(offset, 16 if size >= 16 else 8)
            places.append(place_in(self.base, offset, size, variable.name))
            offset += size
        return _Interface(params, returns, places[: len(params)], places[len(params) :], offset)

    def walk_shared(self) -> bool:
        """Begin the body of a shared function that is still to be walked; False if there is none."""
        if not self.waiting:
            return False
        one = self.waiting.pop()
        frame = Frame(one.function, one.leaving, None, owner=one.activation)
        span = one.function.span
        self.current = one.leaving
        for formal, place in zip(
            (*one.function.params, *one.function.returns), (*one.params, *one.returns), strict=True
        ):
            frame.names[formal.name] = (0, place)
            if formal.space == "reg":
                register = Register(formal.name, register_type(formal.type))
                frame.names[formal.name] = (0, register)
                if place in one.returns:
                    self.add(self._assign(frame, place, register, formal.type, span))
                else:
                    self.nodes[one.entry].steps.append(self._assign(frame, register, place, formal.type, span))
        self.nodes[one.leaving].span = span
        self.current = one.entry
        self.enter(one.function, frame)
        return True

    def _go(self, frame: Frame, call: _Call, interface: _Interface) -> int:
        """Make room for a frame and fill it with arguments; returns the block behind the call, which fetches the results."""
        owner, span = frame.owner, call.span
        self.do(FrameEnd(self.next, owner or self.kernel, False), [], [self.next], span)
        going, back = self.node(), self.node()
        check = Step(StackCheck(self.next, self.stack_place, self.room), {}, [self.next], [], span)
        self.end("branch", [self.trap(STACK_OVERFLOW, span), going], check, span=span)
        self.current = going
        for formal, place, actual in zip(interface.params, interface.param_places, call.arguments, strict=True):
            self._pass(frame, formal, self._seen(place), actual, span)
        if owner is not None:
            self.do(Assign(place_in(self.next, 4, 4), self.base, "i32"), [self.base, self.next], [], span)
        self.current = back
        self.do(Assign(self.next, self.base, "i32"), [self.base], [self.next], span)
        if owner is not None:
            self.do(Assign(self.base, place_in(self.next, 4, 4), "i32"), [self.next], [self.base], span)
        for formal, place, actual in zip(interface.returns, interface.return_places, call.results, strict=True):
            self._take_result(frame, formal, self._seen(place), actual, span)
        self.current = going
        self.sites.append(Site(going, back, owner, span))
        return back

    def _seen(self, place: Place) -> Place:
        """Return a variable of the called function's frame as its caller sees it."""
        return place_in(self.next, place.offset, place.size, place.name)

    def _pass(self, frame: Frame, formal: Variable, target: Place, actual: Operand, span: Span) -> None:
        source = self._place(frame, actual)
        if source is None:
            self.add(self._assign(frame, target, actual, self._scalar(formal, span), span))
        else:
            self._fits(source, target.size, target.name, span)
            self._copy(target, source, target.size, span)

    def _take_result(self, frame: Frame, formal: Variable, source: Place, actual: Operand, span: Span) -> None:
        target = self._target(frame, actual, span)
        if isinstance(target, Place):
            self._copy(target, source, min(target.size, source.size), span)
        elif target is not None:
            self.add(self._assign(frame, target, source, self._scalar(formal, span), span))

    def _scalar(self, formal: Variable, span: Span) -> str:
        """Return the type of a parameter that goes in or comes out as a register or constant."""
        if formal.dims or formal.vector > 1:
            self.scopes.fail(codes.WRONG_CALL, f"`{formal.name[:200]}` is an array; name a .param variable", span)
        return formal.type

    def _copy(self, target: Place, source: Place, size: int, span: Span) -> None:
        chunk = 8
        while size % chunk or min(target.align, source.align, 8) < chunk:
            chunk //= 2
        self.do(CopyPlace(target, source, size, chunk), frames((target, source)), [], span)

    def _jump_into(self, target: Shared, back: int, span: Span) -> None:
        """Leave for a function whose frame is filled."""
        number = Assign(place_in(self.next, 0, 4), len(target.sites), "i32")
        target.sites.append(back)
        self.do(number, [self.next], [], span)
        self.do(Assign(self.base, self.next, "i32"), [self.next], [self.base], span)
        self.end("jump", [target.entry], span=span)

    def _indirect(self, frame: Frame, call: _Call, after: int) -> None:
        """Call through a pointer: a switch over the functions whose address is taken and whose parameters have these sizes."""
        assert call.name is not None
        interface, candidates = self._candidates(frame, call)
        if len(call.arguments) != len(interface.params) or len(call.results) != len(interface.returns):
            words = f"the prototype has {len(interface.params)} parameters and {len(interface.returns)} results"
            self.scopes.fail(codes.WRONG_CALL, words, call.span)
        back = self._go(frame, call, interface)
        addresses = tuple(self.module.address_of_function(f.name) for f in candidates)
        names: dict[str, Entity] = {}
        reads: list[Register] = []
        self.scopes.scan(frame, call.name, names, reads)
        step = Step(Dispatch(call.name, addresses), names, reads, [], call.span)
        arms = [self.node() for _ in candidates]
        self.end("switch", [*arms, self.trap(BAD_POINTER, call.span)], step, span=call.span)
        for arm, function in zip(arms, candidates, strict=True):
            self.current = arm
            self._jump_into(self._share(function), back, call.span)
        self.current = back
        self.continue_at(after)

    def _candidates(self, frame: Frame, call: _Call) -> tuple[_Interface, list[Function]]:
        """Return parameters and results of a call through a pointer, and the functions that the pointer may mean."""
        listed = self.scopes.find(frame, call.prototype.name) if call.prototype is not None else None
        if isinstance(listed, CallPrototype):
            wanted, names = self._interface(listed.params, listed.returns), self.module.address_taken()
        elif isinstance(listed, Targets) and listed.kind == "calltargets":
            names = listed.names
            first = self.module.function(names[0]) if names else None
            if first is None:
                self.scopes.fail(codes.WRONG_CALL, "a list of functions to call without a function", call.span)
            wanted = self._interface(first.params, first.returns)
        else:
            words = f"`{call.form}` through a pointer, without a prototype or a list of functions that is declared here"
            self.scopes.fail(codes.INDIRECT_CALL, words, call.span)
        found: dict[str, Function] = {}
        for name in names:
            function = self.module.function(name)
            if function is None or function.kind != "func" or function.name not in self.names:
                continue
            if self._interface(function.params, function.returns).sizes() == wanted.sizes():
                found[function.name] = function
        return wanted, list(found.values())

    # --- the runtime's services ---------------------------------------------------------------------------------------

    def _host(self, frame: Frame, call: _Call, name: str, declared: Function | None, after: int) -> None:
        """Call a service of the runtime; each argument has the type of the declared parameter."""
        service = SERVICES.get(name)
        if service is None or declared is None or len(call.results) > 1 or len(call.results) != len(declared.returns):
            self.scopes.fail(
                codes.UNDEFINED_FUNCTION,
                f"the function `{name[:200]}` is called, but not defined in this module",
                call.span,
                "link the device code that defines it",
                function=name,
            )
        function = HOST_FUNCTIONS[f"aw_{service}"]
        types = [register_type(each.type) for each in (*declared.params, *declared.returns)]
        needed = len(function.parameters) - function.takes_worker
        if (
            len(declared.params) < needed
            or len(declared.returns) != (function.result != "void")
            or not all(type in INTEGERS for type in types)
        ):
            self.scopes.fail(codes.WRONG_CALL, f"`{name}` is declared otherwise than CUDA has it", call.span)
        if len(call.arguments) != len(declared.params):
            self.scopes.fail(codes.WRONG_CALL, f"`{name[:200]}` takes {len(declared.params)} arguments", call.span)
        names: dict[str, Entity] = {}
        reads: list[Register] = []
        passed: list[tuple[Operand | Place, Type]] = []
        for formal, actual in zip(declared.params, call.arguments, strict=True):
            place = self._place(frame, actual)
            if place is None:
                self.scopes.scan(frame, actual, names, reads)
            passed.append((actual if place is None else place, register_type(formal.type)))
        result = self._target(frame, call.results[0], call.span) if call.results else None
        kind = register_type(declared.returns[0].type) if call.results else None
        writes = [result] if isinstance(result, Register) else []
        reads += frames((result, *(p for p, _ in passed), *names.values()))
        self.add(Step(HostCall(service, tuple(passed), result, kind), names, reads, writes, call.span))
        if service == "assertfail":
            self.end("trap", [], span=call.span)
            self.current = after
        else:
            self.continue_at(after)


def _taken_apart(instruction: Instruction) -> _Call:
    """Take `call (results), name, (arguments), prototype` apart; results, arguments and prototype may be missing."""
    operands = list(instruction.operands)
    results = _group(operands)
    name = operands.pop(0) if operands else None
    arguments = _group(operands)
    last = operands[0] if operands else None
    return _Call(
        results,
        name if isinstance(name, Name) else None,
        arguments,
        last if isinstance(last, Name) else None,
        instruction.span,
        instruction.form,
    )


def _group(operands: list[Operand]) -> tuple[Operand, ...]:
    """Take a list in parentheses from the front, if there is one."""
    first = operands[0] if operands else None
    if not isinstance(first, Group):
        return ()
    del operands[0]
    return first.elements
