/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/browser/save.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "schemas/new_file.h"
#include "tui/browser/browser.h"
#include "tui/browser/browser_state.h"
#include "tui/browser/save_session.h"
#include "tui/screen/format.h"

static bool fail(struct browser *browser, const char *path, const char *why)
{
    exploration_complain(&browser->exploration, "%.200s: %s", path, why);
    return false;
}

/* ---- contents --------------------------------------------------------------------------- */

static bool write_screen(struct browser *browser, FILE *out, bool svg)
{
    struct grid *grid = grid_new(browser->width, browser->height, 256, false);
    if (!grid)
        return false;
    browser_render(browser, grid);
    if (svg)
        grid_dump_svg(grid, out);
    else
        grid_dump_text(grid, out);
    grid_free(grid);
    return true;
}

/* Returns false after a message. */
static bool write_as(struct browser *browser, const char *path, FILE *out)
{
    const struct view_ops *view = browser_view(browser->current);
    const char *ending = strrchr(path, '.');
    const bool csv = ending && strcmp(ending, ".csv") == 0;
    const bool json = ending && strcmp(ending, ".json") == 0;
    const bool svg = ending && strcmp(ending, ".svg") == 0;
    if (!csv && !json && !svg && !(ending && strcmp(ending, ".txt") == 0))
        return fail(browser, path, "end the name in .csv, .json, .txt, .svg or .db");
    if (!csv && !json)
        return write_screen(browser, out, svg) || fail(browser, path, SESSION_OUT_OF_MEMORY);
    if (!view->table)
        return fail(browser, path, "this view has no rows; .txt and .svg write the screen");
    browser->exploration.message[0] = 0;
    if (view->table(browser->views[browser->current], &browser->exploration, out,
                    csv ? TABLE_CSV : TABLE_JSON))
        return true;
    return browser->exploration.message[0] ? false
                                           : fail(browser, path, "there are no rows to write yet");
}

/* ---- file ------------------------------------------------------------------------------- */

/* Allows a file that does not exist, and with `replace` a regular one. */
static bool check_target(struct browser *browser, const char *path, bool replace)
{
    struct stat about;
    if (lstat(path, &about) != 0)
        return errno == ENOENT || fail(browser, path, strerror(errno));
    if (!S_ISREG(about.st_mode))
        return fail(browser, path, "is there and is not a regular file");
    return replace || fail(browser, path, "is there already; :w! replaces it");
}

static bool write_all(int file, const char *text, size_t size)
{
    while (size > 0) {
        const ssize_t now = write(file, text, size);
        if (now < 0 && errno == EINTR)
            continue;
        if (now <= 0)
            return false;
        text += now;
        size -= (size_t)now;
    }
    return true;
}

static bool give_name(const char *part, const char *path, bool replace)
{
    return replace ? rename(part, path) == 0 : new_file_name(part, path);
}

/* Writes beside the target and renames: what is there stays until the new file is whole. */
static bool put_file(struct browser *browser, const char *path, bool replace, const char *text,
                     size_t size)
{
    char part[4200];
    if (snprintf(part, sizeof(part), "%s.part.%ld", path, (long)getpid()) >= (int)sizeof(part))
        return fail(browser, path, "the name is too long");
    const int file = open(part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (file < 0)
        return fail(browser, path, strerror(errno));
    bool good = write_all(file, text, size);
    int reason = errno;
    if (close(file) != 0 && good) {
        good = false;
        reason = errno;
    }
    if (good && !give_name(part, path, replace)) {
        good = false;
        reason = errno;
    }
    if (!good)
        unlink(part);
    return good || fail(browser, path, strerror(reason));
}

void save_view(struct browser *browser, const char *path, bool replace)
{
    char *text = NULL, size_text[FORMAT_SIZE];
    size_t size = 0;
    if (!*path) {
        exploration_complain(&browser->exploration, "name a file: :w FILE.csv|json|txt|svg|db");
        return;
    }
    if (!check_target(browser, path, replace))
        return;
    const char *ending = strrchr(path, '.');
    if (ending && strcmp(ending, ".db") == 0) {
        save_session(browser, path);
        return;
    }
    FILE *out = open_memstream(&text, &size);
    if (!out) {
        fail(browser, path, SESSION_OUT_OF_MEMORY);
        return;
    }
    bool good = write_as(browser, path, out);
    if (fclose(out) != 0 && good)
        good = fail(browser, path, SESSION_OUT_OF_MEMORY);
    if (good && put_file(browser, path, replace, text, size))
        exploration_say(&browser->exploration, "%.200s written, %s", path,
                        format_size(size_text, size));
    free(text);
}
