# What every forwarded function does: asks where to go, and goes there. Where somebody listens, the
# call returns here first, so that its end is seen; its arguments stay where they are (System V ABI
# for x86-64: registers, and the stack behind the return address).
.text
.globl aw_forward_common
.hidden aw_forward_common
.type aw_forward_common, @function
.p2align 4
aw_forward_common:
  subq $200, %rsp
  movq %rdi, 0(%rsp)
  movq %rsi, 8(%rsp)
  movq %rdx, 16(%rsp)
  movq %rcx, 24(%rsp)
  movq %r8, 32(%rsp)
  movq %r9, 40(%rsp)
  movups %xmm0, 48(%rsp)
  movups %xmm1, 64(%rsp)
  movups %xmm2, 80(%rsp)
  movups %xmm3, 96(%rsp)
  movups %xmm4, 112(%rsp)
  movups %xmm5, 128(%rsp)
  movups %xmm6, 144(%rsp)
  movups %xmm7, 160(%rsp)
  movl %eax, %edi
  movq %rsp, %rsi
  leaq 200(%rsp), %rdx
  call aw_forward_enter
  movq %rax, %r10
  movq %rdx, %r11
  movq 0(%rsp), %rdi
  movq 8(%rsp), %rsi
  movq 16(%rsp), %rdx
  movq 24(%rsp), %rcx
  movq 32(%rsp), %r8
  movq 40(%rsp), %r9
  movups 48(%rsp), %xmm0
  movups 64(%rsp), %xmm1
  movups 80(%rsp), %xmm2
  movups 96(%rsp), %xmm3
  movups 112(%rsp), %xmm4
  movups 128(%rsp), %xmm5
  movups 144(%rsp), %xmm6
  movups 160(%rsp), %xmm7
  addq $200, %rsp
  testq %r11, %r11
  jnz 1f
  jmp *%r10
1:
  addq $8, %rsp      # the caller's return address is kept by aw_forward_enter
  call *%r10
  subq $8, %rsp
  pushq %rax
  movl %eax, %edi
  call aw_forward_exit
  movq %rax, 8(%rsp)  # it comes back
  popq %rax
  ret
.size aw_forward_common, .-aw_forward_common
.section .note.GNU-stack,"",@progbits
