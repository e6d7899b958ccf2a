/* SPDX-License-Identifier: BSD-2-Clause */
/* mprof-ctl: steers a recording from outside, through its trace file. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "capture/run/client.h"
#include "capture/run/references.h"
#include "cli/options.h"
#include "cli/say.h"
#include "schemas/printable.h"

#define DEFAULT_WAIT 5.0
#define LOOK_INTERVAL_NS 1000000

struct arguments {
    const char *target, *command, *name;
    double wait; /* seconds */
    double stop; /* seconds that the program may stand still */
    bool quiet, partial;
};

enum takes_name { NAME_NONE, NAME_NEEDED, NAME_OPTIONAL };

static const struct command {
    const char *name;
    enum trace_request request; /* 0: nothing is asked of the recorder */
    enum takes_name takes_name;
    const char *done, *already;
} commands[] = {
    {.name = "status"},
    {.name = "references", .takes_name = NAME_OPTIONAL},
    {"pause", TRACE_REQUEST_PAUSE, NAME_NONE, "paused", "was paused already"},
    {"resume", TRACE_REQUEST_RESUME, NAME_NONE, "recording", "was recording already"},
    {"mark", TRACE_REQUEST_MARK, NAME_NEEDED, "marked", ""},
    {"snapshot", TRACE_REQUEST_SNAPSHOT, NAME_NEEDED, "snapshot taken", ""},
    {"rotate", TRACE_REQUEST_ROTATE, NAME_NONE, "recording into a new trace", ""},
    {"stop", TRACE_REQUEST_STOP, NAME_NONE, "stopped, the trace is complete", ""},
};

static bool read_seconds(const char *text, double *seconds)
{
    char *end;
    *seconds = strtod(text, &end);
    return end != text && *end == 0 && *seconds >= 0 && *seconds <= 1e6;
}

/* Takes one option. Returns -1 to go on, otherwise the exit status. */
static int take_option(void *context, int option, const char *value)
{
    struct arguments *arguments = context;
    switch (option) {
    case CTL_OPTION_WAIT:
        if (!read_seconds(value, &arguments->wait))
            return command_line_wrong(&ctl_command_line,
                                      "--wait: \"%s\" is not a number of seconds", value);
        break;
    case CTL_OPTION_REFERENCES_STOP:
        if (!read_seconds(value, &arguments->stop) || arguments->stop <= 0)
            return command_line_wrong(
                &ctl_command_line, "--references-stop: \"%s\" is not a number of seconds above 0",
                value);
        break;
    case CTL_OPTION_PARTIAL:
        arguments->partial = true;
        break;
    case CTL_OPTION_QUIET:
        arguments->quiet = true;
        break;
    }
    return -1;
}

static int parse(int argc, char **argv, struct arguments *arguments)
{
    const int status = command_line_read(&ctl_command_line, argc, argv, take_option, arguments);
    if (status >= 0)
        return status;
    const int count = argc - optind;
    if (count < 2 || count > 3) {
        command_line_wrong(&ctl_command_line, count == 0  ? "no process or trace named"
                                              : count < 2 ? "no command named"
                                                          : "more than one NAME");
        return 2;
    }
    arguments->target = argv[optind];
    arguments->command = argv[optind + 1];
    arguments->name = argv[optind + 2]; /* NULL at the end */
    return -1;
}

static const struct command *command_named(const char *name)
{
    for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

/* Returns the command to carry out, NULL after a message. */
static const struct command *find_command(const struct arguments *arguments)
{
    const struct command *command = command_named(arguments->command);
    if (!command && command_named(arguments->target))
        command_line_wrong(&ctl_command_line,
                           "\"%s\" is not a command; the process or trace comes before the command",
                           arguments->command);
    else if (!command)
        command_line_wrong(&ctl_command_line, "\"%s\" is not a command; these are: %s",
                           arguments->command, ctl_command_line.words);
    else if (command->takes_name != NAME_OPTIONAL &&
             (command->takes_name == NAME_NEEDED) != (arguments->name != NULL))
        command_line_wrong(&ctl_command_line, "%s takes %s NAME", command->name,
                           command->takes_name == NAME_NEEDED ? "a" : "no");
    else
        return command;
    return NULL;
}

/* Finds the trace of the target, a process id or a path. False after a message. */
static bool find_trace(const char *target, char *path)
{
    if (target[0] == 0 || target[strspn(target, "0123456789")] != 0) {
        snprintf(path, PATH_MAX, "%s", target);
        return true;
    }
    char *end;
    errno = 0;
    long process = strtol(target, &end, 10);
    if (errno != 0 || process <= 0 || process > INT_MAX) {
        say("mprof-ctl", "%s is not a process id; a trace with such a name is ./%s", target,
            target);
        return false;
    }
    switch (client_find((pid_t)process, path)) {
    case CLIENT_GOOD:
    case CLIENT_FINISHED:
        return true;
    case CLIENT_GONE:
        say("mprof-ctl", "there is no process %s; name one that runs, or its trace", target);
        return false;
    case CLIENT_ERROR:
        say("mprof-ctl", "cannot read what process %s has mapped: %s; name its trace instead",
            target, strerror(errno));
        return false;
    default:
        say("mprof-ctl",
            "process %s is not recorded; start the program with mprof-run, or name "
            "the trace if it sees other paths than this program",
            target);
        return false;
    }
}

static void say_error(const char *path, enum client_status status, pid_t process)
{
    switch (status) {
    case CLIENT_NOT_TRACE:
        say("mprof-ctl",
            "%s: is not a trace of this version of mprof; name the file that mprof-run writes",
            path);
        break;
    case CLIENT_FINISHED:
        say("mprof-ctl", "%s: is finished: the recording has ended; read it with mprof-ingest",
            path);
        break;
    case CLIENT_GONE:
        say("mprof-ctl", "%s: process %d, which recorded it, has ended; read it with mprof-ingest",
            path, (int)process);
        break;
    case CLIENT_BUSY:
        say("mprof-ctl", "%s: another request is pending; try again", path);
        break;
    default:
        say("mprof-ctl", "%s: %s; name a process that records, or its trace", path,
            strerror(errno));
    }
}

static int say_status(const struct client *client, const char *path)
{
    static const char *const states[] = {
        [TRACE_STATE_RECORDING] = "recording",
        [TRACE_STATE_ENDED] = "finished",
        [TRACE_STATE_DISK_FULL] = "stopped: the disk was full",
        [TRACE_STATE_LIMIT] = "stopped: the file size limit was reached",
        [TRACE_STATE_ERROR] = "stopped by an error",
        [TRACE_STATE_EXEC] = "finished: the process executed another program",
    };
    static const char *const pauses[] = {"recording", "paused", "not begun yet"};
    const struct trace_file_header *header = client->header;
    uint32_t state = header->state, paused = header->paused;
    const char *how = state < sizeof(states) / sizeof(*states) ? states[state] : "unknown";
    if (client_recorder(client) == CLIENT_GONE)
        how = client_recorder_elsewhere(client) ? "recorded by a process of another pid namespace"
                                                : "the process ended without completing the trace";
    else if (state == TRACE_STATE_RECORDING && paused < sizeof(pauses) / sizeof(*pauses))
        how = pauses[paused];
    struct stat status;
    uint64_t bytes = fstat(client->descriptor, &status) == 0 ? (uint64_t)status.st_size : 0;
    char name[PRINTABLE_BYTE_MAX * PATH_MAX];
    printable_copy(name, sizeof(name), path);
    printf("trace    %s\nprocess  %" PRIu32 "\nstate    %s\nbytes    %" PRIu64 "\ndropped  %" PRIu64
           " events\n",
           name, header->pid, how, bytes, header->dropped_events);
    return fflush(stdout) == 0 ? 0 : 1;
}

static void rest(void)
{
    const struct timespec interval = {.tv_nsec = LOOK_INTERVAL_NS};
    nanosleep(&interval, NULL);
}

/* Asks, and asks again while another process is asking. */
static enum client_status ask(struct client *client, enum trace_request request, const char *name,
                              double until)
{
    enum client_status status;
    while ((status = client_ask(client, request, name)) == CLIENT_BUSY && run_steer_now() < until)
        rest();
    return status;
}

static int request(struct client *client, const struct arguments *arguments,
                   const struct command *command, const char *path)
{
    const pid_t process = (pid_t)client->header->pid;
    const double until = run_steer_now() + arguments->wait;
    enum trace_answer answer = TRACE_ANSWER_DONE;
    enum client_status status = ask(client, command->request, arguments->name, until);
    while (status == CLIENT_WAITING) {
        status = client_look(client, &answer);
        if (status != CLIENT_WAITING)
            break;
        if (run_steer_now() >= until) {
            bool back = client_withdraw(client);
            say("mprof-ctl",
                back
                    ? "process %d made no heap call in %g seconds; the request to %s is withdrawn; "
                      "--wait waits longer"
                    : "process %d has not answered in %g seconds; it is still working on the "
                      "request to %s; status shows when it is done",
                (int)process, arguments->wait, command->name);
            return 1;
        }
        rest();
    }
    const pid_t elsewhere = status == CLIENT_GONE ? client_recorder_elsewhere(client) : 0;
    if (elsewhere) {
        say("mprof-ctl",
            "%s: a process of another pid namespace records it, which has the number %d here; run "
            "mprof-ctl inside that container, or by nsenter --target %d --all",
            path, (int)elsewhere, (int)elsewhere);
        return 1;
    }
    if (status != CLIENT_GOOD) {
        say_error(path, status, process);
        return 1;
    }
    if (answer == TRACE_ANSWER_NOT_DONE && command->request == TRACE_REQUEST_ROTATE &&
        client->header->sample_interval == 0) {
        say("mprof-ctl",
            "process %d records everything, and only a sample can be rotated; start it with "
            "mprof-run --sample",
            (int)process);
        return 1;
    }
    if (answer == TRACE_ANSWER_NOT_DONE) {
        say("mprof-ctl",
            "process %d cannot do this: its recorder has no space left, or is of an older version; "
            "make room on the disk, or start the program again",
            (int)process);
        return 1;
    }
    if (!arguments->quiet)
        printf("process %d: %s\n", (int)process,
               answer == TRACE_ANSWER_ALREADY ? command->already : command->done);
    return fflush(stdout) == 0 ? 0 : 1;
}

static int take_references(const struct client *client, const struct arguments *arguments,
                           const char *path)
{
    static struct references_result result;
    pid_t process = (pid_t)client->header->pid;
    const enum client_status status = client_recorder(client);
    if (status == CLIENT_GONE)
        process = client_recorder_elsewhere(client);
    if (status != CLIENT_GOOD && process <= 0) {
        say_error(path, status, (pid_t)client->header->pid);
        return 1;
    }
    if (status == CLIENT_FINISHED) {
        say_error(path, status, process);
        return 1;
    }
    const struct references_request request = {.path = path,
                                               .name = arguments->name,
                                               .reason = TRACE_REFERENCES_ASKED,
                                               .partial = arguments->partial,
                                               .stop = arguments->stop,
                                               .wait = arguments->wait};
    if (!references_take(client, process, &request, &result)) {
        say("mprof-ctl", "process %d: its references are not taken: %s", (int)process, result.why);
        return 1;
    }
    if (!arguments->quiet)
        references_say("mprof-ctl", process, &result);
    return 0;
}

int main(int argc, char **argv)
{
    struct arguments arguments = {.wait = DEFAULT_WAIT, .stop = REFERENCES_STOP};
    char path[PATH_MAX];
    struct client client;
    int result = parse(argc, argv, &arguments);
    if (result >= 0)
        return result;
    const struct command *command = find_command(&arguments);
    if (!command)
        return 2;
    privileges_give_up();
    if (!find_trace(arguments.target, path))
        return 1;
    enum client_status status = client_open(&client, path);
    if (status != CLIENT_GOOD) {
        say_error(path, status, 0);
        return 1;
    }
    result = command->request != 0              ? request(&client, &arguments, command, path)
             : command->takes_name == NAME_NONE ? say_status(&client, path)
                                                : take_references(&client, &arguments, path);
    client_close(&client);
    return result;
}
