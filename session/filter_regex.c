#include "session/filter_regex.h"

#include <stdlib.h>
#include <string.h>

#include "session/error.h"

enum { LENGTH_MAX = 512, REPEAT_MAX = 1000 };

static const char *regex_refusal(const char *text)
{
    if (strlen(text) > LENGTH_MAX)
        return "longer than 512 bytes";
    unsigned long product = 1;
    for (const char *at = text; *at != '\0'; at++) {
        if (*at == '\\' && at[1] != '\0') {
            at++;
            if (*at >= '0' && *at <= '9')
                return "a back reference, which extended expressions do not have";
        } else if (*at == '{') {
            char *end;
            unsigned long low = strtoul(at + 1, &end, 10);
            unsigned long high = *end == ',' ? strtoul(end + 1, &end, 10) : low;
            unsigned long repeat = high > low ? high : low;
            if (repeat > REPEAT_MAX)
                return "repetition counts beyond 1000";
            product *= repeat > 1 ? repeat : 1;
            if (product > REPEAT_MAX)
                return "repetition counts that multiply beyond 1000";
        }
    }
    return NULL;
}

bool filter_regex_compile(regex_t *regex, const char *text, int column, struct session_error *error)
{
    const char *refusal = regex_refusal(text);
    if (refusal != NULL)
        return session_fail(error, column, "bad regular expression: %s", refusal);
    int status = regcomp(regex, text, REG_EXTENDED | REG_NOSUB);
    if (status == 0)
        return true;
    char reason[128];
    regerror(status, regex, reason, sizeof reason);
    return session_fail(error, column, "bad regular expression: %s", reason);
}
