#include "capture/exec_environment.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "capture/message.h"
#include "capture/os.h"
#include "capture/program_image.h"

static const char preload_name[] = "LD_PRELOAD=";
static const char own_name[] = "libmprof.so";

#define PRELOAD_NAME_LENGTH (sizeof preload_name - 1)
#define OWN_NAME_LENGTH (sizeof own_name - 1)

static bool exec_is_preload(const char *entry)
{
    return strncmp(entry, preload_name, PRELOAD_NAME_LENGTH) == 0;
}

/* The loader takes spaces and colons. */
static size_t exec_part_length(const char *part)
{
    return strcspn(part, ": ");
}

static bool exec_part_is_own(const char *part, size_t length)
{
    return length >= OWN_NAME_LENGTH &&
           strncmp(part + length - OWN_NAME_LENGTH, own_name, OWN_NAME_LENGTH) == 0 &&
           (length == OWN_NAME_LENGTH || part[length - OWN_NAME_LENGTH - 1] == '/');
}

static bool exec_preloads_own(const char *entry)
{
    const char *part = entry + PRELOAD_NAME_LENGTH;
    for (;;) {
        size_t length = exec_part_length(part);
        if (exec_part_is_own(part, length))
            return true;
        if (!part[length])
            return false;
        part += length + 1;
    }
}

/* All entries; 0 where the recorder is not among those that are preloaded. */
static size_t exec_count(char *const envp[])
{
    size_t count = 0;
    bool preloaded = false;
    for (; envp && envp[count]; count++)
        preloaded = preloaded || (exec_is_preload(envp[count]) && exec_preloads_own(envp[count]) &&
                                  strlen(envp[count]) < EXEC_PRELOAD_MAX);
    return preloaded ? count + 1 : 0;
}

/* As execvp finds it: the descriptor, or a negative errno. */
static int exec_open(const char *file, bool search)
{
    const char *folders = getenv("PATH");
    char path[PATH_MAX];
    int descriptor = -1;
    if (!search || strchr(file, '/'))
        return os_open_read(file);
    const size_t name = strlen(file);
    for (const char *folder = folders ? folders : "/bin:/usr/bin"; folder && descriptor < 0;) {
        size_t length = strcspn(folder, ":");
        if (length + name + 2 <= sizeof path) {
            memcpy(path, folder, length);
            path[length] = '/';
            memcpy(path + length + 1, file, name + 1);
            descriptor = os_open_read(length ? path : file);
        }
        folder = folder[length] ? folder + length + 1 : NULL;
    }
    return descriptor;
}

size_t exec_environment_entries_of(int descriptor, char *const envp[])
{
    size_t count = exec_count(envp);
    enum program_kind kind = count ? program_image_read(descriptor) : PROGRAM_DYNAMIC;
    if (kind == PROGRAM_SANITIZED)
        message_line("a program that is executed is built with a sanitizer, and runs unrecorded",
                     NULL);
    else if (kind == PROGRAM_OTHER_LIBC)
        message_line("a program that is executed has another C library than glibc, and runs "
                     "unrecorded",
                     NULL);
    else
        return 0;
    return count;
}

size_t exec_environment_entries(const char *file, bool search, char *const envp[])
{
    if (!file || exec_count(envp) == 0)
        return 0;
    int descriptor = exec_open(file, search);
    if (descriptor < 0)
        return 0;
    size_t entries = exec_environment_entries_of(descriptor, envp);
    os_close(descriptor);
    return entries;
}

void exec_environment_fill(char *const envp[], char **entries, char preload[EXEC_PRELOAD_MAX])
{
    size_t count = 0, used = PRELOAD_NAME_LENGTH;
    memcpy(preload, preload_name, PRELOAD_NAME_LENGTH);
    for (; *envp; envp++) {
        if (!exec_is_preload(*envp) || strlen(*envp) >= EXEC_PRELOAD_MAX) {
            entries[count++] = *envp;
            continue;
        }
        for (const char *part = *envp + PRELOAD_NAME_LENGTH;;) {
            size_t length = exec_part_length(part);
            if (length && !exec_part_is_own(part, length)) {
                if (used > PRELOAD_NAME_LENGTH)
                    preload[used++] = ':';
                memcpy(preload + used, part, length);
                used += length;
            }
            if (!part[length])
                break;
            part += length + 1;
        }
        preload[used] = 0;
        if (used > PRELOAD_NAME_LENGTH)
            entries[count++] = preload;
    }
    entries[count] = NULL;
}
