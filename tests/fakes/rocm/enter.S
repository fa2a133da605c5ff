# Where every exported function arrives with its number in r11: the arguments are saved and shown to fake_record, and the
# call goes on to the implementation, or returns what fake_record set.
.text
.globl fake_enter
.hidden fake_enter
.type fake_enter, @function
fake_enter:
  push %rbp
  mov %rsp, %rbp
  sub $208, %rsp
  mov %rdi, 0(%rsp)
  mov %rsi, 8(%rsp)
  mov %rdx, 16(%rsp)
  mov %rcx, 24(%rsp)
  mov %r8, 32(%rsp)
  mov %r9, 40(%rsp)
  movups %xmm0, 48(%rsp)
  movups %xmm1, 64(%rsp)
  movups %xmm2, 80(%rsp)
  movups %xmm3, 96(%rsp)
  movups %xmm4, 112(%rsp)
  movups %xmm5, 128(%rsp)
  movups %xmm6, 144(%rsp)
  movups %xmm7, 160(%rsp)
  mov %rsp, %rdi
  mov %r11d, %esi
  lea 16(%rbp), %rdx
  lea 176(%rsp), %rcx
  call fake_record
  mov %rax, %r11
  test %r11, %r11
  jz 1f
  mov 0(%rsp), %rdi
  mov 8(%rsp), %rsi
  mov 16(%rsp), %rdx
  mov 24(%rsp), %rcx
  mov 32(%rsp), %r8
  mov 40(%rsp), %r9
  movups 48(%rsp), %xmm0
  movups 64(%rsp), %xmm1
  movups 80(%rsp), %xmm2
  movups 96(%rsp), %xmm3
  movups 112(%rsp), %xmm4
  movups 128(%rsp), %xmm5
  movups 144(%rsp), %xmm6
  movups 160(%rsp), %xmm7
  leave
  jmp *%r11
1:
  mov 176(%rsp), %rax
  movq %rax, %xmm0
  leave
  ret
.section .note.GNU-stack,"",@progbits
