/* SPDX-License-Identifier: BSD-2-Clause */
/* The terminal, by curses: the only file that uses it. */
#include <errno.h>
#include <langinfo.h>
#include <ncursesw/curses.h>
#include <ncursesw/term.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "tui/screen/input.h"
#include "tui/screen/terminal.h"
#include "tui/screen/theme.h"

#define COLOR_SLOTS 257 /* the default and 256 */

/* The code that curses gives for the beginning of a report of the mouse. */
#define KEY_MOUSE_REPORT (KEY_MAX + 1)
#define MOUSE_REPORT_BEGIN "\033[<"
/* The same for terminals that only know the older form: three bytes. */
#define KEY_OLD_REPORT (KEY_MAX + 2)
#define OLD_REPORT_BEGIN "\033[M"
/* Buttons (1000), moves with one held (1002), and reports that work in any column (1006). */
#define MOUSE_ON "\033[?1000h\033[?1002h\033[?1006h"
#define MOUSE_OFF "\033[?1000l\033[?1002l\033[?1006l"
/* After an Esc the rest of a key's sequence comes within this time. */
enum { REST_MS = 20 };

struct terminal {
    int colors;
    bool direct; /* colours are red, green and blue */
    bool ascii, has_mouse;
    struct mouse_state mouse;
    SCREEN *screen;
    short pairs[COLOR_SLOTS][COLOR_SLOTS]; /* 0: not made yet */
    short pairs_made;
};

/* The data for fatal signals, prepared in advance: a handler may only write(). */
static struct {
    struct termios modes;
    bool modes_known;
    char restore[256];
    size_t restore_length;
} emergency;

static const int fatal_signals[] = {SIGHUP, SIGINT,  SIGQUIT, SIGTERM, SIGSEGV,
                                    SIGBUS, SIGABRT, SIGFPE,  SIGILL};

static void restore_and_die(int number)
{
    ssize_t ignored = write(STDOUT_FILENO, emergency.restore, emergency.restore_length);
    (void)ignored;
    if (emergency.modes_known)
        tcsetattr(STDIN_FILENO, TCSANOW, &emergency.modes);
    signal(number, SIG_DFL);
    raise(number);
}

static const char *capability(const char *name)
{
    const char *sequence = tigetstr(name);
    return !sequence || sequence == (const char *)-1 ? NULL : sequence;
}

/* Appends a sequence without its delays ("$<2>"), which only tputs() understands. */
static void add_restore(const char *sequence)
{
    for (; sequence && *sequence; sequence++)
        if (sequence[0] == '$' && sequence[1] == '<' && strchr(sequence, '>'))
            sequence = strchr(sequence, '>');
        else if (emergency.restore_length < sizeof(emergency.restore))
            emergency.restore[emergency.restore_length++] = *sequence;
}

static void prepare_emergency(void)
{
    emergency.restore_length = 0;
    add_restore(MOUSE_OFF);
    static const char *const names[] = {"sgr0", "cnorm", "rmkx", "rmcup"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        add_restore(capability(names[i]));
    if (!capability("rmcup"))
        add_restore("\r\n");
    struct sigaction action = {.sa_handler = restore_and_die, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof(fatal_signals) / sizeof(fatal_signals[0]); i++)
        sigaction(fatal_signals[i], &action, NULL);
}

/* ---- the mouse ------------------------------------------------------------------------------
 * Curses cannot tell of moves with a button held, so it only finds the beginning of a report. */

static void (*stop_of_curses)(int);

static void write_mouse(const char *sequence)
{
    ssize_t ignored = write(STDOUT_FILENO, sequence, strlen(sequence));
    (void)ignored;
}

/* Handles Ctrl-Z: the shell gets a terminal that reports no mouse. */
static void stop(int number)
{
    write_mouse(MOUSE_OFF);
    stop_of_curses(number);
    write_mouse(MOUSE_ON);
}

/* Asks for reports of the mouse, if this kind of terminal has one. */
static void open_mouse(struct terminal *terminal)
{
    struct sigaction action;
    terminal->has_mouse = capability("kmous") != NULL &&
                          define_key(MOUSE_REPORT_BEGIN, KEY_MOUSE_REPORT) == OK &&
                          define_key(OLD_REPORT_BEGIN, KEY_OLD_REPORT) == OK &&
                          sigaction(SIGTSTP, NULL, &action) == 0;
    if (!terminal->has_mouse)
        return;
    stop_of_curses = action.sa_handler;
    if (stop_of_curses != SIG_DFL && stop_of_curses != SIG_IGN) {
        action.sa_handler = stop;
        sigaction(SIGTSTP, &action, NULL);
    }
    write_mouse(MOUSE_ON);
}

/* Makes known what keys send in terminals whose kind says something else, as in tmux with a TERM of
 * xterm. The answer of terminfo comes first. */
static void open_keys(void)
{
    static const struct {
        const char *sent;
        int key;
    } keys[] = {
        {"\033[A", KEY_UP},     {"\033OA", KEY_UP},     {"\033[B", KEY_DOWN},
        {"\033OB", KEY_DOWN},   {"\033[C", KEY_RIGHT},  {"\033OC", KEY_RIGHT},
        {"\033[D", KEY_LEFT},   {"\033OD", KEY_LEFT},   {"\033[H", KEY_HOME},
        {"\033OH", KEY_HOME},   {"\033[1~", KEY_HOME},  {"\033[7~", KEY_HOME},
        {"\033[F", KEY_END},    {"\033OF", KEY_END},    {"\033[4~", KEY_END},
        {"\033[8~", KEY_END},   {"\033[3~", KEY_DC},    {"\033[Z", KEY_BTAB},
        {"\033[5~", KEY_PPAGE}, {"\033[6~", KEY_NPAGE},
    };
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (key_defined(keys[i].sent) == 0)
            define_key(keys[i].sent, keys[i].key);
}

/* The number of colours from which on they are red, green and blue. */
enum { DIRECT_COLORS = 1 << 24 };

static void choose_colors(struct terminal *terminal)
{
    if (!has_colors() || start_color() == ERR)
        return;
    use_default_colors();
    terminal->direct = COLORS >= DIRECT_COLORS;
    terminal->colors = COLORS >= 256 ? 256 : COLORS >= 8 ? 16 : 0;
}

/* Returns true if terminfo knows a kind of terminal. */
static bool is_known(const char *kind)
{
    int error;
    if (setupterm(kind, STDOUT_FILENO, &error) != OK)
        return false;
    del_curterm(cur_term);
    return true;
}

/* Writes the kind of terminal to use. If the environment says that it takes true colours, that is
 * its relative that does: "xterm-direct" for "xterm-256color". */
static const char *choose_kind(char *out, size_t size)
{
    static const char direct[] = "-direct";
    const char *named = getenv("TERM"), *truth = getenv("COLORTERM");
    if (!named || !truth || (strcmp(truth, "truecolor") != 0 && strcmp(truth, "24bit") != 0))
        return named;
    const char *ending = strstr(named, "-256color");
    const size_t length = ending ? (size_t)(ending - named) : strlen(named);
    if (length + sizeof(direct) > size)
        return named;
    snprintf(out, size, "%.*s%s", (int)length, named, direct);
    return is_known(out) ? out : named;
}

struct terminal *terminal_open(bool ascii, char *error)
{
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
        snprintf(error, 256,
                 "standard input and output are not a terminal; --script FILE drives the browser "
                 "without one");
        return NULL;
    }
    const char *named = getenv("TERM");
    if (named && strcmp(named, "dumb") == 0) {
        snprintf(
            error, 256,
            "TERM=dumb cannot move its cursor; try TERM=xterm or TERM=vt100, or --script FILE");
        return NULL;
    }
    struct terminal *terminal = calloc(1, sizeof(*terminal));
    if (!terminal) {
        snprintf(error, 256, "out of memory; close other programs");
        return NULL;
    }
    emergency.modes_known = tcgetattr(STDIN_FILENO, &emergency.modes) == 0;
    char kind_found[80];
    terminal->screen = newterm(choose_kind(kind_found, sizeof(kind_found)), stdout, stdin);
    if (!terminal->screen) {
        const char *kind = getenv("TERM");
        snprintf(error, 256,
                 "terminal kind \"%.64s\" is unknown here; try TERM=xterm or TERM=vt100",
                 kind ? kind : "");
        free(terminal);
        return NULL;
    }
    terminal->ascii = ascii || strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
    choose_colors(terminal);
    prepare_emergency();
    cbreak();
    noecho();
    nonl();
    keypad(stdscr, TRUE);
    /* Terminals write the sequence of a key at once; over a network its rest may come in the next
     * packet. Without ESCDELAY in the environment the wait after Esc is so short that nobody feels
     * it. */
    if (!getenv("ESCDELAY"))
        set_escdelay(REST_MS);
    curs_set(0);
    open_keys();
    open_mouse(terminal);
    return terminal;
}

void terminal_close(struct terminal *terminal)
{
    if (!terminal)
        return;
    for (size_t i = 0; i < sizeof(fatal_signals) / sizeof(fatal_signals[0]); i++)
        signal(fatal_signals[i], SIG_DFL);
    /* Without a second screen to leave, leave the screen empty. */
    if (!capability("rmcup")) {
        erase();
        refresh();
    }
    if (terminal->has_mouse)
        write_mouse(MOUSE_OFF);
    endwin();
    delscreen(terminal->screen);
    free(terminal);
}

void terminal_pause(struct terminal *terminal)
{
    if (terminal->has_mouse)
        write_mouse(MOUSE_OFF);
    def_prog_mode();
    endwin();
}

void terminal_resume(struct terminal *terminal)
{
    reset_prog_mode();
    curs_set(0);
    if (terminal->has_mouse)
        write_mouse(MOUSE_ON);
    terminal_redraw(terminal);
}

int terminal_width(const struct terminal *terminal)
{
    return COLS;
}

int terminal_height(const struct terminal *terminal)
{
    return LINES;
}

int terminal_colors(const struct terminal *terminal)
{
    return terminal->colors;
}

bool terminal_ascii(const struct terminal *terminal)
{
    return terminal->ascii;
}

/* ---- out -------------------------------------------------------------------------------- */

static int color_number(const struct terminal *terminal, int color)
{
    enum { PALETTE = 8 }; /* below this, even a terminal with true colours has its own ones */
    if (color < 0)
        return -1;
    if (terminal->colors < 256)
        return xterm_nearest(color, COLORS < 16 ? 8 : 16);
    return terminal->direct && color >= PALETTE ? (int)xterm_color(color) : color;
}

static short pair_for(struct terminal *terminal, int foreground, int background)
{
    if (terminal->colors == 0)
        return 0;
    if (terminal->colors < 256) { /* there are few pairs */
        foreground = color_number(terminal, foreground);
        background = color_number(terminal, background);
    }
    if (foreground < 0 && background < 0)
        return 0;
    short *pair = &terminal->pairs[foreground + 1][background + 1];
    if (*pair == 0) {
        if (terminal->pairs_made + 1 >= COLOR_PAIRS || terminal->pairs_made >= 32000)
            return 0;
        if (init_extended_pair(terminal->pairs_made + 1, color_number(terminal, foreground),
                               color_number(terminal, background)) == ERR)
            return 0;
        *pair = (short)(terminal->pairs_made + 1);
        terminal->pairs_made = *pair;
    }
    return *pair;
}

static void show_cell(struct terminal *terminal, int x, int y, const struct cell *cell)
{
    static const attr_t attributes[] = {A_BOLD, A_DIM, A_REVERSE, A_UNDERLINE};
    attr_t attribute = 0;
    for (int i = 0; i < 4; i++)
        if (cell->style.attributes & (1 << i))
            attribute |= attributes[i];
    wchar_t text[2] = {(wchar_t)cell->glyph, 0};
    cchar_t out;
    setcchar(&out, text, attribute,
             pair_for(terminal, cell->style.foreground, cell->style.background), NULL);
    mvadd_wch(y, x, &out);
}

void terminal_show(struct terminal *terminal, const struct grid *grid)
{
    int width = grid_width(grid) < COLS ? grid_width(grid) : COLS;
    int height = grid_height(grid) < LINES ? grid_height(grid) : LINES;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            if (grid_cell(grid, x, y)->width > 0)
                show_cell(terminal, x, y, grid_cell(grid, x, y));
    refresh();
}

bool terminal_copy(struct terminal *terminal, const char *text)
{
    const bool good = clipboard_write(stdout, text);
    fflush(stdout);
    return good;
}

void terminal_redraw(struct terminal *terminal)
{
    clearok(curscr, TRUE);
}

/* ---- in --------------------------------------------------------------------------------- */

static uint32_t translate_key(wint_t code)
{
    static const struct {
        int curses;
        uint32_t key;
    } table[] = {
        {KEY_LEFT, KEYCODE_LEFT},     {KEY_RIGHT, KEYCODE_RIGHT},
        {KEY_UP, KEYCODE_UP},         {KEY_DOWN, KEYCODE_DOWN},
        {KEY_PPAGE, KEYCODE_PAGE_UP}, {KEY_NPAGE, KEYCODE_PAGE_DOWN},
        {KEY_HOME, KEYCODE_HOME},     {KEY_END, KEYCODE_END},
        {KEY_DC, KEYCODE_DELETE},     {KEY_BTAB, KEYCODE_BACKTAB},
        {KEY_ENTER, KEYCODE_ENTER},   {KEY_BACKSPACE, KEYCODE_BACKSPACE},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        if (table[i].curses == (int)code)
            return table[i].key;
    if (code >= KEY_F(1) && code <= KEY_F(12))
        return KEYCODE_F1 + (uint32_t)(code - KEY_F(1));
    return KEYCODE_UNKNOWN;
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* A report was sent as one, but its rest may come so late. */
enum { REPORT_REST_MS = 1000 };

/* Reads the rest of a report in the old form: button, column and row, each as a byte above 32. A
 * button that goes up has the number 3. */
static void read_old_report(struct terminal *terminal, struct event *event)
{
    enum { BASE = 32, UP = 3 };
    wint_t parts[3];
    char report[MOUSE_REPORT_MOST];
    timeout(REPORT_REST_MS);
    for (int i = 0; i < 3; i++)
        if (get_wch(&parts[i]) != OK || parts[i] < BASE || parts[i] > 255)
            return;
    const bool up = (parts[0] - BASE) == UP;
    snprintf(report, sizeof(report), "%u;%u;%u%c", up ? 0 : (unsigned)parts[0] - BASE,
             (unsigned)parts[1] - BASE, (unsigned)parts[2] - BASE, up ? 'm' : 'M');
    mouse_report_read(&terminal->mouse, report, now_ms(), event);
}

static void read_report(struct terminal *terminal, struct event *event)
{
    char report[MOUSE_REPORT_MOST + 1];
    size_t length = 0;
    wint_t code = 0;
    timeout(REPORT_REST_MS);
    while (length < MOUSE_REPORT_MOST && code != 'M' && code != 'm') {
        if (get_wch(&code) != OK || code < ' ' || code > '~')
            return;
        report[length++] = (char)code;
    }
    report[length] = '\0';
    mouse_report_read(&terminal->mouse, report, now_ms(), event);
}

bool terminal_pending(const struct terminal *terminal)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    return poll(&input, 1, 0) == 1 && (input.revents & POLLIN);
}

/* Reads what curses has kept, or else waits for input. Returns as get_wch() does, and 1 when the
 * time has passed or the counter has counted. No resize is missed: it only comes in the wait. */
static int wait_for_code(int milliseconds, int counter, wint_t *code)
{
    struct pollfd inputs[2] = {{.fd = STDIN_FILENO, .events = POLLIN},
                               {.fd = counter, .events = POLLIN}};
    eventfd_t counted;
    const struct timespec limit = {.tv_sec = milliseconds / 1000,
                                   .tv_nsec = milliseconds % 1000 * 1000000L};
    sigset_t resize, before;
    int ready = 1;
    sigemptyset(&resize);
    sigaddset(&resize, SIGWINCH);
    sigprocmask(SIG_BLOCK, &resize, &before);
    timeout(0);
    int result = get_wch(code);
    if (result == ERR)
        ready = ppoll(inputs, 2, milliseconds < 0 ? NULL : &limit, &before);
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (inputs[1].revents) {
        eventfd_read(counter, &counted);
        ready = inputs[0].revents ? 1 : 0;
    }
    if (result != ERR || ready == 0)
        return ready == 0 ? 1 : result;
    /* The signal may have been a resize, which curses reports as a key. */
    timeout(ready < 0 ? 0 : -1);
    errno = 0;
    result = get_wch(code);
    if (result == ERR && ready < 0 && errno == 0)
        errno = EINTR;
    return result;
}

/* Takes the rest of a key's sequence that curses does not know, so that it is not text. Returns the
 * key: Esc if nothing belongs to it. */
static uint32_t read_sequence(void)
{
    wint_t code;
    timeout(0);
    if (get_wch(&code) != OK)
        return KEYCODE_ESCAPE;
    if (code != '[') {
        unget_wch((wchar_t)code);
        return KEYCODE_ESCAPE;
    }
    code = ' ';
    while (code >= ' ' && code < '@' && get_wch(&code) == OK)
        ;
    return KEYCODE_UNKNOWN;
}

/* Curses also returns ERR where a key comes in the middle of a character. */
static bool hung_up(void)
{
    struct pollfd input = {.fd = STDIN_FILENO};
    return poll(&input, 1, 0) == 1 && input.revents;
}

bool terminal_wait(struct terminal *terminal, int milliseconds, int counter, struct event *event)
{
    wint_t code;
    *event = (struct event){.kind = EVENT_NONE};
    const int result = wait_for_code(milliseconds, counter, &code);
    if (result == ERR)
        return errno != EIO && isatty(STDIN_FILENO) && !hung_up();
    if (result == 1) {
        event->kind = EVENT_TICK;
    } else if (result == KEY_CODE_YES && code == KEY_RESIZE) {
        *event = (struct event){.kind = EVENT_RESIZE, .width = COLS, .height = LINES};
    } else if (result == KEY_CODE_YES && code == KEY_MOUSE_REPORT) {
        read_report(terminal, event);
    } else if (result == KEY_CODE_YES && code == KEY_OLD_REPORT) {
        read_old_report(terminal, event);
    } else {
        uint32_t key = result == KEY_CODE_YES     ? translate_key(code)
                       : code == KEYCODE_ESCAPE   ? read_sequence()
                       : code == '\r'             ? KEYCODE_ENTER
                       : code == 127 || code == 8 ? KEYCODE_BACKSPACE
                                                  : (uint32_t)code;
        if (key)
            *event = (struct event){.kind = EVENT_KEY, .key = key};
    }
    return true;
}
