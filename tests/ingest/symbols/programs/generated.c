/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * generated: makes code that calls malloc while it runs, and names it in /tmp/perf-PID.map, as
 * runtimes do. The allocation is kept. x86_64.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef void *(*keep_function)(size_t size);

static int write_map(const void *code, size_t size)
{
    char path[64];
    snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
    FILE *map = fopen(path, "w");
    if (!map)
        return 1;
    fprintf(map, "%llx %zx script::keep:line 7\n", (unsigned long long)(uintptr_t)code, size);
    return fclose(map);
}

int main(void)
{
    /* push %rbp; mov %rsp,%rbp; movabs $malloc,%rax; call *%rax; pop %rbp; ret */
    uint8_t code[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0xb8, 0,    0,    0,
                      0,    0,    0,    0,    0,    0xff, 0xd0, 0x5d, 0xc3};
    void *(*target)(size_t) = malloc;
    memcpy(code + 6, &target, sizeof(target));
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return 1;
    memcpy(page, code, sizeof(code));
    if (mprotect(page, 4096, PROT_READ | PROT_EXEC) != 0 || write_map(page, sizeof(code)) != 0)
        return 1;
    keep_function keep;
    memcpy(&keep, &page, sizeof(keep));
    void *volatile kept = keep(1988000);
    return !kept;
}
