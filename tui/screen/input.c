/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/screen/input.h"

#include <string.h>

/* Bits of the button's number, by xterm's control sequences. */
enum { BUTTON_MASK = 3, BUTTON_LEFT = 0, MODIFIERS = 4 | 8 | 16, MOVED = 32, WHEEL = 64 };
/* Back and forward buttons, and those beyond, have numbers from here. */
enum { OTHERS = 128 };

static enum event_kind kind_of_press(struct mouse_state *mouse, int x, int y, int64_t now_ms)
{
    const bool twice = mouse->clicked_ms > 0 && now_ms - mouse->clicked_ms <= MOUSE_DOUBLE_MS &&
                       x == mouse->x && y == mouse->y;
    mouse->held = true;
    mouse->clicked_ms = twice ? 0 : now_ms;
    return twice ? EVENT_DOUBLE_CLICK : EVENT_CLICK;
}

static enum event_kind kind_of_move(struct mouse_state *mouse, int x, int y)
{
    if (!mouse->held || (x == mouse->x && y == mouse->y))
        return EVENT_NONE;
    mouse->clicked_ms = 0;
    return EVENT_DRAG;
}

static enum event_kind kind_of_release(struct mouse_state *mouse)
{
    const bool held = mouse->held;
    mouse->held = false;
    return held ? EVENT_RELEASE : EVENT_NONE;
}

bool mouse_report_read(struct mouse_state *mouse, const char *report, int64_t now_ms,
                       struct event *event)
{
    unsigned button;
    int x, y, length = 0;
    char end;
    if (sscanf(report, "%3u;%6d;%6d%c%n", &button, &x, &y, &end, &length) != 4 ||
        report[length] != '\0' || (end != 'M' && end != 'm') || x < 1 || y < 1)
        return false;
    button &= ~(unsigned)MODIFIERS;
    x--;
    y--;
    enum event_kind kind = EVENT_NONE;
    if (button >= OTHERS)
        return false;
    if (button & WHEEL)
        kind = end == 'm' || (button & BUTTON_MASK) > 1 ? EVENT_NONE
               : button & 1                             ? EVENT_WHEEL_DOWN
                                                        : EVENT_WHEEL_UP;
    else if ((button & BUTTON_MASK) != BUTTON_LEFT)
        return false;
    else if (end == 'm')
        kind = kind_of_release(mouse);
    else if (button & MOVED)
        kind = kind_of_move(mouse, x, y);
    else
        kind = kind_of_press(mouse, x, y, now_ms);
    mouse->x = x;
    mouse->y = y;
    *event = (struct event){.kind = kind, .x = x, .y = y};
    return kind != EVENT_NONE;
}

/* RFC 4648, 4. */
static void put_base64(FILE *out, const unsigned char *bytes, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < size; i += 3) {
        const unsigned second = i + 1 < size ? bytes[i + 1] : 0;
        const unsigned third = i + 2 < size ? bytes[i + 2] : 0;
        const unsigned group = (unsigned)bytes[i] << 16 | second << 8 | third;
        fputc(digits[group >> 18], out);
        fputc(digits[group >> 12 & 63], out);
        fputc(i + 1 < size ? digits[group >> 6 & 63] : '=', out);
        fputc(i + 2 < size ? digits[group & 63] : '=', out);
    }
}

bool clipboard_write(FILE *out, const char *text)
{
    const size_t size = strlen(text);
    if (size > CLIPBOARD_MOST)
        return false;
    fputs("\033]52;c;", out);
    put_base64(out, (const unsigned char *)text, size);
    fputc('\a', out);
    return true;
}
