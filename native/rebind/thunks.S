// Where redirected entries arrive: each thunk loads its number and goes on to the function found
// for it. Arguments stay where they are, in registers and on the stack.
#if !defined(__x86_64__)
#error "thunks are written for x86-64"
#endif

  .text
  .globl anywarp_rebind_thunks
  .type anywarp_rebind_thunks, @function
  .p2align 4
anywarp_rebind_thunks:
  .set number, 0
  .rept AW_THUNKS
  .p2align 4
  movl $number, %r11d
  jmp dispatch
  .set number, number + 1
  .endr
  .p2align 4
  .size anywarp_rebind_thunks, . - anywarp_rebind_thunks

// r10 and r11 belong to nobody between a call and the function called.
dispatch:
  leaq anywarp_rebind_found(%rip), %r10
  movq (%r10,%r11,8), %r10
  testq %r10, %r10
  jz find
  jmp *%r10

find:
  .cfi_startproc
  pushq %rbp
  .cfi_def_cfa_offset 16
  .cfi_offset %rbp, -16
  movq %rsp, %rbp
  .cfi_def_cfa_register %rbp
  andq $-16, %rsp
  subq $192, %rsp
  movq %rdi, 0(%rsp)
  movq %rsi, 8(%rsp)
  movq %rdx, 16(%rsp)
  movq %rcx, 24(%rsp)
  movq %r8, 32(%rsp)
  movq %r9, 40(%rsp)
  movq %rax, 48(%rsp)
  movaps %xmm0, 64(%rsp)
  movaps %xmm1, 80(%rsp)
  movaps %xmm2, 96(%rsp)
  movaps %xmm3, 112(%rsp)
  movaps %xmm4, 128(%rsp)
  movaps %xmm5, 144(%rsp)
  movaps %xmm6, 160(%rsp)
  movaps %xmm7, 176(%rsp)
  movl %r11d, %edi
  call anywarp_rebind_find
  movq %rax, %r10
  movq 0(%rsp), %rdi
  movq 8(%rsp), %rsi
  movq 16(%rsp), %rdx
  movq 24(%rsp), %rcx
  movq 32(%rsp), %r8
  movq 40(%rsp), %r9
  movq 48(%rsp), %rax
  movaps 64(%rsp), %xmm0
  movaps 80(%rsp), %xmm1
  movaps 96(%rsp), %xmm2
  movaps 112(%rsp), %xmm3
  movaps 128(%rsp), %xmm4
  movaps 144(%rsp), %xmm5
  movaps 160(%rsp), %xmm6
  movaps 176(%rsp), %xmm7
  leave
  .cfi_def_cfa %rsp, 8
  jmp *%r10
  .cfi_endproc

  .section .note.GNU-stack,"",@progbits
