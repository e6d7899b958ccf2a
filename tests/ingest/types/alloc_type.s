# SPDX-License-Identifier: BSD-2-Clause
# The debug information that clang 21 writes at an allocating call, made by hand: a function that
# returns malloc's result, and its DWARF 5 with DW_AT_LLVM_alloc_type at the first of its calls.

        .text
        .globl  make
        .type   make, @function
make:                                   # void *make(int which)
        .cfi_startproc
        subq    $8, %rsp
        .cfi_def_cfa_offset 16
        testl   %edi, %edi
        jne     .Lother
        movl    $48, %edi
        call    malloc@PLT
.Lstated:
        addq    $8, %rsp
        .cfi_def_cfa_offset 8
        ret
        .cfi_def_cfa_offset 16
.Lother:
        movl    $48, %edi
        call    malloc@PLT
.Lunstated:
        addq    $8, %rsp
        .cfi_def_cfa_offset 8
        ret
        .cfi_endproc
.Lmake_end:
        .size   make, .Lmake_end - make

        .section .debug_abbrev, "", @progbits
.Labbreviations:
        .uleb128 1, 0x11                # DW_TAG_compile_unit
        .byte   1
        .uleb128 0x25, 0x08             # DW_AT_producer, DW_FORM_string
        .uleb128 0x13, 0x05             # DW_AT_language, DW_FORM_data2
        .uleb128 0x03, 0x08             # DW_AT_name
        .uleb128 0x11, 0x01             # DW_AT_low_pc, DW_FORM_addr
        .uleb128 0x12, 0x06             # DW_AT_high_pc, DW_FORM_data4
        .uleb128 0, 0
        .uleb128 2, 0x2e                # DW_TAG_subprogram
        .byte   1
        .uleb128 0x03, 0x08             # DW_AT_name
        .uleb128 0x49, 0x13             # DW_AT_type, DW_FORM_ref4
        .uleb128 0x11, 0x01             # DW_AT_low_pc
        .uleb128 0x12, 0x06             # DW_AT_high_pc
        .uleb128 0x7a, 0x19             # DW_AT_call_all_calls, DW_FORM_flag_present
        .uleb128 0, 0
        .uleb128 3, 0x0b                # DW_TAG_lexical_block
        .byte   1
        .uleb128 0x11, 0x01             # DW_AT_low_pc
        .uleb128 0x12, 0x06             # DW_AT_high_pc
        .uleb128 0, 0
        .uleb128 4, 0x48                # DW_TAG_call_site, of a stated type
        .byte   0
        .uleb128 0x7d, 0x01             # DW_AT_call_return_pc
        .uleb128 0x3e0e, 0x13           # DW_AT_LLVM_alloc_type, DW_FORM_ref4
        .uleb128 0, 0
        .uleb128 5, 0x48                # DW_TAG_call_site
        .byte   0
        .uleb128 0x7d, 0x01             # DW_AT_call_return_pc
        .uleb128 0, 0
        .uleb128 6, 0x0f                # DW_TAG_pointer_type, to void
        .byte   0
        .uleb128 0, 0
        .uleb128 7, 0x13                # DW_TAG_structure_type
        .byte   1
        .uleb128 0x03, 0x08             # DW_AT_name
        .uleb128 0x0b, 0x0b             # DW_AT_byte_size, DW_FORM_data1
        .uleb128 0, 0
        .uleb128 8, 0x0d                # DW_TAG_member
        .byte   0
        .uleb128 0x03, 0x08             # DW_AT_name
        .uleb128 0x49, 0x13             # DW_AT_type
        .uleb128 0x38, 0x0b             # DW_AT_data_member_location
        .uleb128 0, 0
        .uleb128 9, 0x24                # DW_TAG_base_type
        .byte   0
        .uleb128 0x03, 0x08             # DW_AT_name
        .uleb128 0x3e, 0x0b             # DW_AT_encoding
        .uleb128 0x0b, 0x0b             # DW_AT_byte_size
        .uleb128 0, 0
        .uleb128 0

        .section .debug_info, "", @progbits
.Linformation:
        .long   .Lend - .Lversion
.Lversion:
        .short  5
        .byte   1                       # DW_UT_compile
        .byte   8
        .long   .Labbreviations
        .uleb128 1
        .asciz  "by hand"
        .short  0x21                    # DW_LANG_C_plus_plus_14
        .asciz  "alloc_type.cpp"
        .quad   make
        .long   .Lmake_end - make
        .uleb128 2
        .asciz  "make"
        .long   .Lpointer - .Linformation
        .quad   make
        .long   .Lmake_end - make
        .uleb128 3
        .quad   make
        .long   .Lother - make
        .uleb128 4
        .quad   .Lstated
        .long   .Lbox - .Linformation
        .uleb128 0
        .uleb128 5
        .quad   .Lunstated
        .uleb128 0
.Lpointer:
        .uleb128 6
.Lbox:
        .uleb128 7
        .asciz  "box"
        .byte   16
        .uleb128 8
        .asciz  "weight"
        .long   .Ldouble - .Linformation
        .byte   0
        .uleb128 8
        .asciz  "next"
        .long   .Lpointer - .Linformation
        .byte   8
        .uleb128 0
.Ldouble:
        .uleb128 9
        .asciz  "double"
        .byte   4
        .byte   8
        .uleb128 0
.Lend:
        .section .note.GNU-stack, "", @progbits
