/* SPDX-License-Identifier: BSD-2-Clause */
/* The general registers of x86-64, by the numbers that instructions encode. */
#pragma once

enum {
    REGISTER_RAX = 0,
    REGISTER_RCX = 1,
    REGISTER_RDX = 2,
    REGISTER_RBX = 3,
    REGISTER_RSP = 4,
    REGISTER_RBP = 5,
    REGISTER_RSI = 6,
    REGISTER_RDI = 7,
    REGISTER_R8 = 8,
    REGISTER_R9 = 9,
    REGISTER_R10 = 10,
    REGISTER_R11 = 11,
    REGISTER_R15 = 15,
    REGISTER_RIP = 16,
    REGISTER_NONE = 255
};
