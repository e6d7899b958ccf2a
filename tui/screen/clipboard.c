/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/screen/clipboard.h"

#include <string.h>

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
