/* SPDX-License-Identifier: BSD-2-Clause */
/* The names of functions that clear: schemas/filter-language.md, "Outlived". */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "schemas/code/function_name.h"

static void names_with_the_word_clear(void **state)
{
    static const char *const names[] = {
        "clear",
        "cache_clear",
        "clear_all(int)",
        "History::clearAll()",
        "Cache<int, std::less<int> >::Clear()",
        "void Cache::resetAll<Node>(Node*)",
        "SciTE::DoEmpty",
        "EmptyUndoBuffer",
        "XMLReset",
        "RESET",
        "table_reset2",
        "(anonymous namespace)::emptyQueue(std::vector<int>&)",
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (!function_name_clears(names[i]))
            fail_msg("%s clears", names[i]);
}

static void other_names(void **state)
{
    static const char *const names[] = {
        "",
        "main",
        "unclear",
        "cleared",
        "resetting",
        "Clearance::count()",
        "clear::add(int)",
        "add(Clear const&)",
        "std::vector<Reset>::push_back(Reset const&)",
        "Cleaner::run()",
        "preset",
        "operator new(unsigned long)",
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (function_name_clears(names[i]))
            fail_msg("%s does not clear", names[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_with_the_word_clear),
        cmocka_unit_test(other_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
