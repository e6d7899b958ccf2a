/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/output/output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#undef report_fail /* this file defines them */
#undef report_fail_memory

/* Outputs that are open at one time and removed by a signal; files that no output replaces. */
enum { PARTS_MOST = 128, PROTECTED_MOST = 8 };
enum { BUFFER_SIZE = 256 * 1024 };

struct output {
    FILE *stream;
    int descriptor;
    int reason;          /* errno of the first write that failed, or 0 */
    char *target, *part; /* NULL: standard output */
    bool made;           /* there is a file `part` */
    size_t place;        /* in `parts`, or PARTS_MOST */
};

static char *volatile parts[PARTS_MOST];

/* A file that the command reads, or the last one that it wrote. */
struct file_identity {
    dev_t device;
    ino_t inode;
};
static struct file_identity protected[PROTECTED_MOST], written;
static size_t protected_count;
static bool has_written;

bool report_fail(struct session_error *error, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    vsnprintf(error->message, sizeof(error->message), format, values);
    va_end(values);
    error->column = 0;
    return false;
}

bool report_fail_memory(struct session_error *error, const char *what)
{
    return report_fail(error, "out of memory for %s; close other programs or filter more", what);
}

/* Removes the files that are not whole, and ends the program by the signal. */
static void remove_parts(int signal_number)
{
    for (size_t i = 0; i < PARTS_MOST; i++) {
        const char *part = parts[i];
        if (part)
            unlink(part);
    }
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

void output_prepare(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
    int descriptor;
    for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
        if (signal(signals[i], remove_parts) == SIG_IGN)
            signal(signals[i], SIG_IGN);
    /* Opened for reading: a write to it fails. */
    while ((descriptor = open("/dev/null", O_RDONLY)) >= 0 && descriptor <= STDERR_FILENO)
        ;
    if (descriptor > STDERR_FILENO)
        close(descriptor);
}

void output_protect(const char *path)
{
    struct stat about;
    if (path && protected_count < PROTECTED_MOST && stat(path, &about) == 0)
    protected[protected_count++] = (struct file_identity){about.st_dev, about.st_ino};
}

static bool is_file(const struct stat *about, const struct file_identity *file)
{
    return about->st_dev == file->device && about->st_ino == file->inode;
}

/* Refuses a regular file that the command reads, or has written for another option. */
static bool check_identity(const char *target, const struct stat *about,
                           struct session_error *error)
{
    for (size_t i = 0; i < protected_count; i++)
        if (is_file(about, &protected[i]))
            return report_fail(error,
                               "%.300s: is a file that this command reads, and would be lost; "
                               "name another one to write to",
                               target);
    return !has_written || !is_file(about, &written) ||
           report_fail(error,
                       "%.300s: two outputs of this command have this name; give each its own",
                       target);
}

/* Allows a target that does not exist, or is a regular file. A link is not followed: renaming would
 * replace the link. */
static bool check_target(const char *target, struct session_error *error)
{
    struct stat about;
    if (lstat(target, &about) != 0)
        return errno == ENOENT ||
               report_fail(error, "%.300s: cannot be written: %s; name another with -o", target,
                           strerror(errno));
    if (S_ISREG(about.st_mode))
        return check_identity(target, &about, error);
    return report_fail(error,
                       "%.300s: is %s, and only regular files are replaced; name another with -o, "
                       "or leave it out to write to standard output",
                       target,
                       S_ISDIR(about.st_mode)   ? "a directory"
                       : S_ISLNK(about.st_mode) ? "a symbolic link"
                                                : "not a regular file");
}

/* Notes the file for remove_parts(). */
static void note_part(struct output *output)
{
    while (output->place < PARTS_MOST && parts[output->place])
        output->place++;
    if (output->place < PARTS_MOST)
        parts[output->place] = output->part;
}

/* Writes for the stream, and keeps the reason of a failure, which the stream forgets. */
static ssize_t write_all(void *cookie, const char *text, size_t size)
{
    struct output *output = cookie;
    size_t done = 0;
    while (output->reason == 0 && done < size) {
        const ssize_t now = write(output->descriptor, text + done, size - done);
        if (now > 0)
            done += (size_t)now;
        else if (now == 0 || errno != EINTR)
            output->reason = now == 0 ? EIO : errno;
    }
    return (ssize_t)done;
}

static bool open_stream(struct output *output, struct session_error *error)
{
    output->stream = fopencookie(output, "w", (cookie_io_functions_t){.write = write_all});
    if (!output->stream)
        return report_fail_memory(error, "a file");
    setvbuf(output->stream, NULL, _IOFBF, BUFFER_SIZE);
    return true;
}

static bool make_part(struct output *output, struct session_error *error)
{
    for (unsigned attempt = 0; output->descriptor < 0 && attempt < 100; attempt++) {
        free(output->part);
        if (asprintf(&output->part, "%s.part.%ld.%u", output->target, (long)getpid(), attempt) <
            0) {
            output->part = NULL;
            return report_fail_memory(error, "a name");
        }
        output->descriptor =
            open(output->part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (output->descriptor < 0 && errno != EEXIST)
            break;
    }
    if (output->descriptor < 0)
        return report_fail(error, "%.300s: cannot be created: %s; name another place with -o",
                           output->target, strerror(errno));
    output->made = true;
    note_part(output);
    return true;
}

/* Ends the output's files. Keeps a file that has got its name. */
static void free_output(struct output *output, bool keep)
{
    if (output->stream)
        fclose(output->stream);
    if (output->part && output->descriptor >= 0)
        close(output->descriptor);
    if (output->part && output->made && !keep)
        unlink(output->part);
    if (output->place < PARTS_MOST)
        parts[output->place] = NULL;
    free(output->target);
    free(output->part);
    free(output);
}

struct output *output_open(const char *path, struct session_error *error)
{
    struct output *output = calloc(1, sizeof(*output));
    if (!output || (path && !(output->target = strdup(path)))) {
        free(output);
        report_fail_memory(error, "a file");
        return NULL;
    }
    output->descriptor = path ? -1 : STDOUT_FILENO;
    if (!path)
        output->place = PARTS_MOST;
    if ((path && (!check_target(path, error) || !make_part(output, error))) ||
        !open_stream(output, error)) {
        free_output(output, false);
        return NULL;
    }
    return output;
}

FILE *output_stream(struct output *output)
{
    return output->stream;
}

bool output_finish(struct output *output, struct session_error *error)
{
    if (output->stream)
        fclose(output->stream);
    output->stream = NULL;
    /* Some file systems report a full disk only now. */
    if (output->part && output->descriptor >= 0 && close(output->descriptor) != 0 &&
        output->reason == 0)
        output->reason = errno;
    if (output->part)
        output->descriptor = -1;
    if (output->reason == 0)
        return true;
    return report_fail(error, "%.300s: cannot be written: %s",
                       output->target ? output->target : "standard output",
                       strerror(output->reason));
}

bool output_close(struct output *output, struct session_error *error)
{
    struct stat about;
    bool good =
        output_finish(output, error) && (!output->target || check_target(output->target, error));
    if (good && output->part && rename(output->part, output->target) != 0)
        good = report_fail(error, "%.300s: cannot be replaced: %s; name another with -o",
                           output->target, strerror(errno));
    if (good && output->target && lstat(output->target, &about) == 0) {
        written = (struct file_identity){about.st_dev, about.st_ino};
        has_written = true;
    }
    free_output(output, good);
    return good;
}

void output_discard(struct output *output)
{
    if (output)
        free_output(output, false);
}

static const char blanks[] = " \t\r\n";

bool filter_text_blank(const char *text)
{
    return !text || text[strspn(text, blanks)] == '\0';
}

/* Returns the place after the last of some signs outside strings, or the beginning. */
static const char *after_last(const char *text, const char *signs)
{
    const char *after = text;
    bool quoted = false;
    for (const char *at = text; *at; at++)
        if (quoted && *at == '\\' && (at[1] == '"' || at[1] == '\\'))
            at++;
        else if (*at == '"')
            quoted = !quoted;
        else if (!quoted && strchr(signs, *at))
            after = at + 1;
    return after;
}

const char *filter_text_pipeline(const char *text)
{
    return after_last(text, ";");
}

int filter_text_last_step(const char *text)
{
    const char *step = after_last(text, ";|");
    int column = 1;
    step += strspn(step, blanks);
    /* The bytes that continue a character count with it. */
    for (const char *at = text; at < step; at++)
        column += ((unsigned char)*at & 0xC0) != 0x80;
    return column;
}
