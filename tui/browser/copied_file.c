/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/browser/copied_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tui/browser/state_path.h"

/* Writes a file beside its place, and gives it its name when it is whole. */
static bool put(const char *path, const char *text)
{
    char part[4200];
    struct stat about;
    if (lstat(path, &about) == 0 && !S_ISREG(about.st_mode))
        return false;
    snprintf(part, sizeof(part), "%s.part.%ld", path, (long)getpid());
    unlink(part); /* of a run that was killed and had the same number */
    const int file = open(part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    FILE *out = file < 0 ? NULL : fdopen(file, "w");
    if (!out) {
        if (file >= 0)
            close(file);
        return false;
    }
    bool good = fputs(text, out) >= 0;
    good = fclose(out) == 0 && good && rename(part, path) == 0;
    if (!good)
        unlink(part);
    return good;
}

bool copied_file_write(const char *text, char *path, size_t size)
{
    char whole[4096];
    const char *home = getenv("HOME");
    const size_t length = home ? strlen(home) : 0;
    if (!state_path(whole, sizeof(whole), "copied.txt"))
        return false;
    state_path_make(whole);
    if (!put(whole, text))
        return false;
    const bool at_home = length > 1 && strncmp(whole, home, length) == 0 && whole[length] == '/';
    snprintf(path, size, "%s%s", at_home ? "~" : "", at_home ? whole + length : whole);
    return true;
}
