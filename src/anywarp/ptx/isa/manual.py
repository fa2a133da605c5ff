"""The instructions of the PTX manual, version 9.3, chapter by chapter: what is implemented, what is refused and why.

Pure data beside two look-ups. A test holds it against what the meanings declare; `coverage` makes a page of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

_TABLE = """
# Integer arithmetic and bits
add	add.s32 add.sat.u16x2 add.u8x4
sub	sub.u64 sub.sat.s8x4
mul	mul.wide.u16 mul.hi.s64
mad	mad.lo.s32 mad.hi.sat.s32
clmad	clmad.lo.u64
mul24	mul24.hi.u32
mad24	mad24.hi.sat.s32
sad	sad.u16
div	div.s64	a division by zero, which the manual leaves open, gives all ones
rem	rem.u32	a division by zero, which the manual leaves open, gives the dividend
abs	abs.s16 abs.ftz.f32 abs.bf16x2
neg	neg.s8x4 neg.f64
min	min.relu.s16x2 min.NaN.xorsign.abs.f32
max	max.u8x4 max.ftz.NaN.f16x2
popc	popc.b64
clz	clz.b32
bfind	bfind.shiftamt.s64
fns	fns.b32
brev	brev.b64
bfe	bfe.s64
bfi	bfi.b32
szext	szext.wrap.u32
bmsk	bmsk.clamp.b32
dp4a	dp4a.u32.s32
dp2a	dp2a.hi.s32.u32
# Extended precision
add.cc	add.cc.u64
addc	addc.cc.s32
sub.cc	sub.cc.u32
subc	subc.u64
mad.cc	mad.hi.cc.u32
madc	madc.lo.cc.s64
# Floating point, halves and mixed precision (add, sub, mul, mad, div, abs, neg, min, max: above)
testp	testp.subnormal.f64
copysign	copysign.f32
fma	fma.rp.ftz.f32x2 fma.rn.oob.relu.bf16x2 fma.rz.f32.f16	no NaN of `.oob` ever arises, as tensor copies are refused
rcp	rcp.approx.ftz.f64 rcp.rm.f64
sqrt	sqrt.rn.ftz.f32 sqrt.approx.f32
rsqrt	rsqrt.approx.f64 rsqrt.approx.ftz.f64
sin	sin.approx.ftz.f32
cos	cos.approx.f32
lg2	lg2.approx.f32
ex2	ex2.approx.ftz.bf16x2
tanh	tanh.approx.f16x2
# Comparison and selection
set	set.gtu.xor.ftz.u32.f16x2 set.lo.and.bf16.u16
setp	setp.neu.or.ftz.f16x2
selp	selp.b64
slct	slct.ftz.u64.f32
# Logic and shifts
and	and.pred
or	or.b16
xor	xor.b64
not	not.pred
cnot	cnot.b32
lop3	lop3.b32 lop3.or.b32
shf	shf.r.clamp.b32
shl	shl.b64
shr	shr.s16
# Data movement and conversion
mov	mov.b128 mov.pred
shfl	shfl.sync.bfly.b32 shfl.up.b32
prmt	prmt.b32.f4e prmt.ecr.b32
ld	ld.acquire.gpu.global.v2.u64 ld.global.nc.L1::no_allocate.L2::256B.v8.f32	cache operators and eviction priorities are hints and say nothing here
ldu	ldu.global.v4.f32
st	st.release.sys.b128 st.volatile.shared.u8
st.async	st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 st.async.mmio.release.sys.global.u16	complete when issued
st.bulk	st.bulk.weak.shared::cta
multimem.ld_reduce	multimem.ld_reduce.relaxed.sys.global.add.v4.f32	!multimem
multimem.st	multimem.st.relaxed.sys.global.v4.f32	!multimem
multimem.red	multimem.red.relaxed.sys.global.add.f32	!multimem
multimem.st.async	multimem.st.async.release.sys.global.u32	!multimem
multimem.red.async	multimem.red.async.release.sys.global.add.u32	!multimem
prefetch	prefetch.global.L2::evict_last	a hint
prefetchu	prefetchu.L1	a hint
applypriority	applypriority.global.L2::evict_normal	a hint
discard	discard.global.L2	the data, undefined from then on, stay as they are
createpolicy	createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64	gives 0; policies are hints
isspacep	isspacep.shared::cluster
cvta	cvta.to.shared::cta.u64
cvt	cvt.rn.relu.satfinite.e4m3x2.f32 cvt.rs.satfinite.e2m1x4.f32 cvt.rzi.sat.u8.f64 cvt.rp.satfinite.ue8m0x2.bf16x2
cvt.pack	cvt.pack.sat.s2.s32.b32
mapa	mapa.shared::cluster.u32	a cluster is one block
getctarank	getctarank.u64	a cluster is one block
cp.async	cp.async.cg.shared::cta.global.L2::cache_hint.L2::128B	complete when issued
cp.async.commit_group	cp.async.commit_group
cp.async.wait_group	cp.async.wait_group
cp.async.wait_all	cp.async.wait_all
cp.async.bulk	cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster	complete when issued
cp.reduce.async.bulk	cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.bf16	complete when issued
cp.async.bulk.prefetch	cp.async.bulk.prefetch.L2.global	a hint
cp.async.bulk.commit_group	cp.async.bulk.commit_group
cp.async.bulk.wait_group	cp.async.bulk.wait_group.read
multimem.cp.async.bulk	multimem.cp.async.bulk.global.shared::cta.bulk_group	!multimem
multimem.cp.reduce.async.bulk	multimem.cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32	!multimem
cp.async.bulk.tensor	cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes	!tensor
cp.reduce.async.bulk.tensor	cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.bulk_group	!tensor
cp.async.bulk.prefetch.tensor	cp.async.bulk.prefetch.tensor.1d.L2.global	!tensor
tensormap.replace	tensormap.replace.tile.global_address.global.b1024.b64	!tensor
# Fabric
fabric.try_get	fabric.try_get.async.shared::cta.mbarrier::complete_tx::bytes.mbarrier::report::fabric.relaxed.sys.b128	!fabric
fabric.try_put	fabric.try_put.async.shared::cta.mbarrier::complete_tx::16B.mbarrier::report::fabric.relaxed.sys.b128	!fabric
fabric.try_red	fabric.try_red.async.shared::cta.mbarrier::complete_tx::16B.mbarrier::report::fabric.relaxed.sys.add.u32	!fabric
fabric.try_pullred	fabric.try_pullred.async.multimem.shared::cta.mbarrier::complete_tx::bytes.mbarrier::report::fabric.relaxed.sys.add.u32.sync	!fabric
fabric.submit	fabric.submit	!fabric
fabric.wait	fabric.wait	!fabric
# Textures and surfaces
tex	tex.2d.v4.f32.f32
tld4	tld4.r.2d.v4.f32.f32
txq	txq.width.b32
istypep	istypep.texref
suld	suld.b.2d.b32.trap
sust	sust.b.2d.b32.trap
sured	sured.b.add.2d.u32.trap
suq	suq.width.b32
# Control flow and stack
bra	bra.uni
brx	brx.idx
call	call.uni
ret	ret
exit	exit
alloca	alloca.u64
stacksave	stacksave.u64
stackrestore	stackrestore.u64
# Synchronisation and communication
bar	bar.sync bar.cta.red.popc.u32
barrier	barrier.cta.arrive.aligned barrier.red.and.pred
bar.warp.sync	bar.warp.sync
barrier.cluster	barrier.cluster.arrive.release.aligned barrier.cluster.wait	a cluster is one block
membar	membar.gl membar.proxy.alias
fence	fence.sc.cluster fence.proxy.async.shared::cta
atom	atom.acq_rel.sys.shared.cas.b128 atom.global.add.noftz.v8.bf16	single elements of packed and vector forms are atomic, as the manual says
red	red.release.gpu.global.add.v4.f32
red.async	red.async.relaxed.cluster.mbarrier::complete_tx::bytes.shared::cluster.inc.u32	complete when issued
vote	vote.sync.ballot.b32 vote.any.pred
match	match.all.sync.b64
activemask	activemask.b32
redux	redux.sync.xor.b32 redux.sync.max.abs.NaN.f32
griddepcontrol	griddepcontrol.wait	grids never overlap: nothing to wait for
elect	elect.sync	elects the lowest of the named lanes
mbarrier.init	mbarrier.init.shared::cta.b64
mbarrier.inval	mbarrier.inval.b64
mbarrier.expect_tx	mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64
mbarrier.complete_tx	mbarrier.complete_tx.shared.b64
mbarrier.arrive	mbarrier.arrive.expect_tx.release.cta.shared::cta.b64
mbarrier.arrive_drop	mbarrier.arrive_drop.noComplete.b64
cp.async.mbarrier.arrive	cp.async.mbarrier.arrive.noinc.shared.b64
mbarrier.test_wait	mbarrier.test_wait.parity.acquire.cta.shared.b64
mbarrier.try_wait	mbarrier.try_wait.b64	gives up at once; a loop around it lets other threads run
mbarrier.pending_count	mbarrier.pending_count.layout::v0.b64
mbarrier.check_layout	mbarrier.check_layout.layout::v1.shared::cta.b64
tensormap.cp_fenceproxy	tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned	!tensor
clusterlaunchcontrol.try_cancel	clusterlaunchcontrol.try_cancel.async.mbarrier::complete_tx::bytes.b128	always answers that nothing was cancelled
clusterlaunchcontrol.query_cancel	clusterlaunchcontrol.query_cancel.is_canceled.pred.b128
# Matrices
wmma.load	wmma.load.a.sync.aligned.row.m16n16k16.global.f16
wmma.store	wmma.store.d.sync.aligned.row.m16n16k16.global.f32
wmma.mma	wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32
mma	mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 mma.sync.aligned.m16n8k64.row.col.satfinite.s32.s4.u4.s32
mma.sp	mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32
ldmatrix	ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
stmatrix	stmatrix.sync.aligned.m8n8.x2.shared.b16
movmatrix	movmatrix.sync.aligned.m8n8.trans.b16
wgmma.mma_async	wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16	!wgmma
wgmma.fence	wgmma.fence.sync.aligned	!wgmma
wgmma.commit_group	wgmma.commit_group.sync.aligned	!wgmma
wgmma.wait_group	wgmma.wait_group.sync.aligned	!wgmma
tcgen05.alloc	tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32	!tcgen05
tcgen05.dealloc	tcgen05.dealloc.cta_group::1.sync.aligned.b32	!tcgen05
tcgen05.relinquish_alloc_permit	tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned	!tcgen05
tcgen05.ld	tcgen05.ld.sync.aligned.32x32b.x64.b32	!tcgen05
tcgen05.st	tcgen05.st.sync.aligned.32x32b.x32.b32	!tcgen05
tcgen05.wait	tcgen05.wait::ld.sync.aligned	!tcgen05
tcgen05.cp	tcgen05.cp.cta_group::1.128x256b	!tcgen05
tcgen05.shift	tcgen05.shift.cta_group::1.down	!tcgen05
tcgen05.mma	tcgen05.mma.cta_group::1.kind::f16	!tcgen05
tcgen05.fence	tcgen05.fence::before_thread_sync	!tcgen05
tcgen05.commit	tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64	!tcgen05
# Video, scalar
vadd	vadd.s32.u32.s32.sat.add
vsub	vsub.u32.s32.s32
vabsdiff	vabsdiff.u32.u32.u32.max
vmin	vmin.s32.s32.u32
vmax	vmax.u32.u32.u32
vshl	vshl.s32.u32.u32.wrap
vshr	vshr.u32.u32.u32.clamp.add
vmad	vmad.u32.u32.u32.po.sat.shr15
vset	vset.s32.u32.lt.min
# Video, two and four at once
vadd2	vadd2.s32.u32.u32.sat
vsub2	vsub2.s32.s32.s32.add
vavrg2	vavrg2.u32.u32.u32
vabsdiff2	vabsdiff2.s32.s32.s32
vmin2	vmin2.s32.u32.u32
vmax2	vmax2.u32.u32.u32
vset2	vset2.u32.u32.ne.add
vadd4	vadd4.s32.s32.u32
vsub4	vsub4.s32.s32.s32.sat
vavrg4	vavrg4.u32.s32.s32.add
vabsdiff4	vabsdiff4.u32.u32.u32
vmin4	vmin4.s32.s32.s32
vmax4	vmax4.u32.u32.u32
vset4	vset4.s32.s32.ge
# Miscellaneous
brkpt	brkpt	ends the grid, as there is no debugger to continue it
nanosleep	nanosleep.u32
pmevent	pmevent.mask	there are no counters to trigger
trap	trap
setmaxnreg	setmaxnreg.inc.sync.aligned.u32	registers are not counted here
"""

_REASONS = {
    "wgmma": "products of whole warpgroups exist only on sm_90a, which the device does not say it is; compilers use mma.sync elsewhere",
    "tcgen05": "tensor memory exists only on sm_100a, sm_110a and their families, which the device does not say it is",
    "multimem": "memory that several devices share by multicast needs several devices",
    "tensor": "copies of tensors need tensor maps, which the device does not encode; compilers use cp.async elsewhere",
    "fabric": "there is no fabric between devices to send through",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """An instruction of the manual, with legal forms as examples; `refused` says why it is not there, `note` what is special."""

    chapter: str
    name: str
    examples: tuple[str, ...]
    refused: str = ""
    note: str = ""

    @property
    def parts(self) -> tuple[str, frozenset[str]]:
        """The opcode, and the modifiers that belong to the instruction's name."""
        opcode, *modifiers = self.name.split(".")
        return opcode, frozenset(modifiers)


def _entries() -> tuple[Entry, ...]:
    found: list[Entry] = []
    chapter = ""
    for line in _TABLE.strip().splitlines():
        if line.startswith("# "):
            chapter = line[2:]
            continue
        name, examples, *rest = line.split("\t")
        note = rest[0] if rest else ""
        refused = _REASONS[note[1:]] if note.startswith("!") else ""
        found.append(Entry(chapter, name, tuple(examples.split()), refused, "" if refused else note))
    return tuple(found)


ENTRIES = _entries()


def entry_of(opcode: str, modifiers: Sequence[str]) -> Entry | None:
    """Find the instruction of the manual to which a form belongs: the one whose name says most about it."""
    given = [m.partition("::")[0] for m in modifiers]
    fitting = [e for e in ENTRIES if e.parts[0] == opcode and e.parts[1] <= {*given}]
    return max(fitting, key=lambda e: (len(e.parts[1]), -sum(map(given.index, e.parts[1]))), default=None)


_NEWER = "exist only on sm_100a, sm_120a and their families, which the device does not say it is"
_FORMS: tuple[tuple[str, frozenset[str], str], ...] = (
    (
        "mma",
        frozenset({"kind::f8f6f4", "kind::mxf8f6f4", "kind::mxf4", "kind::mxf4nvf4"}),
        f"products of 4 and 6 bit floats and scaled blocks {_NEWER}",
    ),
    ("ldmatrix", frozenset({"m16n16", "m8n16"}), f"loads of matrices of 8, 6 and 4 bit elements {_NEWER}"),
    ("stmatrix", frozenset({"m16n8"}), f"stores of matrices of 8-bit elements {_NEWER}"),
)
"""Forms of an instruction that is there, refused for their modifiers."""


def why_refused(opcode: str, modifiers: Sequence[str]) -> str:
    """Say why an instruction, or this form of it, is refused; empty when there is no reason but that it is not done."""
    for name, some, reason in _FORMS:
        if opcode == name and not some.isdisjoint(modifiers):
            return reason
    entry = entry_of(opcode, modifiers)
    return entry.refused if entry is not None else ""
