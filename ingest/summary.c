/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/summary.h"

#include <inttypes.h>

#include "schemas/printable.h"
#include "schemas/trace_codec.h"

/* Returns "12,345", grouped in threes. The text is in one of a few static buffers, so several
 * results fit into one printf. */
static const char *grouped(uint64_t number)
{
    static char places[8][32];
    static unsigned next;
    char digits[24];
    char *to = places[next = (next + 1) % 8];
    int length = snprintf(digits, sizeof(digits), "%" PRIu64, number);
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            *to++ = ',';
        *to++ = digits[i];
    }
    *to = '\0';
    return places[next];
}

/* Prints "1.2 MiB (1,258,291 bytes)". */
static void put_size(FILE *out, uint64_t bytes)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB"};
    double size = (double)bytes / 1024;
    size_t unit = 0;
    if (bytes < 1024) {
        fprintf(out, "%" PRIu64 " bytes", bytes);
        return;
    }
    for (; size >= 1024 && unit < 4; unit++)
        size /= 1024;
    fprintf(out, "%.1f %s (%s bytes)", size, units[unit], grouped(bytes));
}

static void put_time(FILE *out, uint64_t ns)
{
    if (ns < 1000000)
        fprintf(out, "%.1f us", (double)ns / 1e3);
    else if (ns < 1000000000)
        fprintf(out, "%.1f ms", (double)ns / 1e6);
    else
        fprintf(out, "%.3f s", (double)ns / 1e9);
}

static void put_text(FILE *out, const char *text)
{
    char line[1024];
    printable_copy(line, sizeof(line), text);
    fputs(line, out);
}

static void put_problems(FILE *out, const struct ingest_summary *summary)
{
    const struct {
        const char *what;
        uint64_t count;
    } problems[] = {
        {"traces left out", summary->left_out},
        {"dropped", summary->dropped},
        {"unmatched frees", summary->unmatched_frees},
        {"double frees", summary->double_frees},
        {"mismatched frees", summary->mismatched_frees},
        {"deletes with a wrong size", summary->wrong_sizes},
        {"overlaps", summary->overlaps},
        {"with lost stacks", summary->orphaned_events},
        {"damaged bytes", summary->damaged_bytes},
        {"missing chunks", summary->missing_chunks},
        {"lost suppressions", summary->lost_suppressions},
        {"programs not recorded", summary->unrecorded},
        {"modules not recorded", summary->unseen_modules},
        {"modules recorded only after their start", summary->late_modules},
    };
    bool any = false;
    fputs("problems     ", out);
    for (size_t i = 0; i < sizeof(problems) / sizeof(*problems); i++) {
        if (problems[i].count == 0)
            continue;
        fprintf(out, "%s%s %s", any ? ", " : "", grouped(problems[i].count), problems[i].what);
        any = true;
    }
    if (summary->unknown_clock)
        fprintf(out, "%sclock not scaled: times are processor ticks", any ? ", " : "");
    fputs(any || summary->unknown_clock ? "\n" : "none\n", out);
}

/* Prints the first of `count`. Nothing if there is none. */
static void put_first(FILE *out, const char *title, const char *text, uint64_t count)
{
    if (count == 0)
        return;
    fputs(title, out);
    put_text(out, text);
    fputs(count > 1 ? ", …\n" : "\n", out);
}

static const char *ending(const struct ingest_summary *summary)
{
    static char killed[96];
    switch (summary->state) {
    case TRACE_STATE_DISK_FULL:
        return "recording stopped: the disk was full";
    case TRACE_STATE_LIMIT:
        return "recording stopped at its size limit";
    case TRACE_STATE_ERROR:
        return "recording stopped with an error";
    case TRACE_STATE_EXEC:
        return "the process executed another program";
    default:
        if (!summary->ended && summary->outcome == TRACE_OUTCOME_KILLED) {
            snprintf(killed, sizeof(killed),
                     "killed by signal %" PRIu32 "; everything recorded so far is here",
                     summary->outcome_number);
            return killed;
        }
        if (!summary->ended && summary->outcome == TRACE_OUTCOME_GONE)
            return "not closed: the program was killed, or ended by a system call of its own; "
                   "everything recorded is here";
        if (!summary->ended)
            return "not closed: the program was killed or is still running; everything "
                   "recorded so far is here";
        return summary->stopped ? "the recording was stopped before the program ended" : NULL;
    }
}

void summary_print(FILE *out, const struct ingest_summary *summary, const char *session)
{
    const uint64_t events = summary->all_events ? summary->all_events : summary->events;
    double rate = summary->seconds > 0 ? (double)events / summary->seconds : 0;
    fputs("program      ", out);
    put_text(out, summary->program);
    fputs(", ", out);
    put_time(out, summary->duration_ns);
    if (ending(summary))
        fprintf(out, " (%s)", ending(summary));
    fprintf(out, "\nevents       %s\n", grouped(summary->allocations + summary->frees));
    fprintf(out, "allocations  %s, ", grouped(summary->allocations));
    put_size(out, summary->bytes);
    fprintf(out, "\nfrees        %s, %s of them by realloc\n", grouped(summary->frees),
            grouped(summary->reallocs));
    fputs("peak         ", out);
    put_size(out, summary->peak_bytes);
    fprintf(out, " in %s block%s, at ", grouped(summary->peak_count),
            summary->peak_count == 1 ? "" : "s");
    put_time(out, summary->peak_ns);
    fputs(summary->stopped ? "\nlive at stop " : "\nlive at end  ", out);
    put_size(out, summary->live_bytes);
    fprintf(out, " in %s block%s\n", grouped(summary->live_count),
            summary->live_count == 1 ? "" : "s");
    fprintf(out, "threads      %s, %s distinct stacks\n", grouped(summary->threads),
            grouped(summary->stacks));
    if (summary->sample_interval) {
        fputs("sampled      one in ", out);
        put_size(out, summary->sample_interval);
        fputs(": these numbers are of the sample, estimates are in v_estimate\n", out);
    }
    if (summary->machines > 1)
        fprintf(
            out,
            "machines     %s (hosts or boots): clocks aligned by real time; the peak is of the one "
            "with the largest\n",
            grouped(summary->machines));
    if (summary->inherited_frees)
        fprintf(out, "inherited    %s frees of blocks from before a fork%s\n",
                grouped(summary->inherited_frees),
                summary->presumed_inherited_frees == 0 ? ""
                : summary->presumed_inherited_frees == summary->inherited_frees
                    ? "; presumably: only the parent's trace can tell"
                    : ", some presumed: a parent's trace is missing");
    put_problems(out, summary);
    put_first(out, "             not recorded: ", summary->why_unrecorded, summary->unrecorded);
    put_first(out, "             not recorded: ", summary->why_unseen, summary->unseen_modules);
    put_first(out, "debug        ", summary->why_debug, summary->unreadable_debug);
    put_first(out, "             lost suppressions: ", summary->why_suppressions,
              summary->lost_suppressions);
    if (summary->all_events)
        fputs("             (problems, inherited and the time are of the whole run)\n", out);
    fprintf(out, "took         %.2f s, %.2f million events/s\n", summary->seconds, rate / 1e6);
    fputs("session      ", out);
    put_text(out, session);
    putc('\n', out);
}

void summary_suppressed_print(FILE *out, const struct suppressed_list *list)
{
    if (list->count == 0)
        fputs("suppressed   nothing: no suppression matched what is live at the end\n", out);
    for (size_t i = 0; i < list->count; i++) {
        const struct suppressed *suppressed = &list->rows[i];
        fprintf(out, "%-13s", i == 0 ? "suppressed" : "");
        put_size(out, suppressed->live_bytes);
        fprintf(out, " in %s block%s by leak:", grouped(suppressed->live_count),
                suppressed->live_count == 1 ? "" : "s");
        put_text(out, suppressed->pattern);
        putc('\n', out);
    }
}
