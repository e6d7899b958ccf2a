/* SPDX-License-Identifier: BSD-2-Clause */
/* The traces of one call share the files that their names come from, and nothing else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ingest/ingest.h"

static const uint8_t one_id[] = {1, 2, 3, 4}, other_id[] = {1, 2, 3, 5};

static void test_files_are_one_by_path_and_build_id(void **state)
{
    const struct symbols_options options = {.debug_dir = NULL};
    struct symbol_cache names = {0};
    assert_true(symbol_cache_begin(&names, &options));
    struct symbols *symbols = names.symbols;
    const struct types *types = names.types;
    symbols_module(symbols, 1, "/opt/program", one_id, sizeof(one_id));
    symbols_module(symbols, 2, "lib/part.so", one_id, sizeof(one_id));
    symbols_module(symbols, 3, "/opt/unmarked", NULL, 0);
    const uint32_t program = symbols_file_number(symbols, 1),
                   relative = symbols_file_number(symbols, 2),
                   unmarked = symbols_file_number(symbols, 3),
                   none = symbols_file_number(symbols, 0);
    assert_true(program != relative && relative != unmarked && program != none);
    assert_int_equal(symbols_file_number(symbols, program), program);

    assert_true(symbol_cache_begin(&names, &options));
    assert_true(names.symbols == symbols && names.types == types);
    /* No id of the earlier trace is known. */
    assert_int_equal(symbols_file_number(symbols, 1), symbols_file_number(symbols, 0));
    assert_true(symbols_file_number(symbols, 0) != none);
    symbols_module(symbols, 9, "/opt/program", one_id, sizeof(one_id));
    symbols_module(symbols, 1, "/opt/program", other_id, sizeof(other_id));
    symbols_module(symbols, 2, "lib/part.so", one_id, sizeof(one_id));
    symbols_module(symbols, 3, "/opt/unmarked", NULL, 0);
    assert_int_equal(symbols_file_number(symbols, 9), program);
    assert_true(symbols_file_number(symbols, 1) != program);
    assert_true(symbols_file_number(symbols, 2) != relative);
    assert_true(symbols_file_number(symbols, 3) != unmarked);
    symbol_cache_free(&names);
}

/* A frame without a module is named again for each trace. */
static void test_no_file_has_no_names(void **state)
{
    const struct symbols_options options = {.debug_dir = NULL};
    struct symbol_cache names = {0};
    struct symbols_frame frames[SYMBOLS_FRAMES_MAX];
    assert_true(symbol_cache_begin(&names, &options));
    const uint32_t none = symbols_file_number(names.symbols, 0);
    assert_int_equal(symbols_lookup(names.symbols, none, 0x1234, frames), 1);
    assert_string_equal(frames[0].function, "?+0x1234");
    assert_null(symbols_module_file(names.symbols, none));
    symbol_cache_free(&names);
}

/* Files that no other trace can share do not use up the descriptors. */
static void test_few_files_stay_open(void **state)
{
    const struct symbols_options options = {.debug_dir = NULL};
    struct symbol_cache names = {0};
    size_t most = 0;
    for (int i = 0; i < 600; i++) {
        assert_true(symbol_cache_begin(&names, &options));
        symbols_module(names.symbols, 1, "/bin/true", NULL, 0);
        assert_non_null(symbols_module_file(names.symbols, 1));
        const size_t files = symbols_files(names.symbols);
        assert_true(files > 0 && files <= 300);
        most = files > most ? files : most;
    }
    assert_true(most > 1); /* but they are kept for a while */
    symbol_cache_free(&names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files_are_one_by_path_and_build_id),
        cmocka_unit_test(test_no_file_has_no_names),
        cmocka_unit_test(test_few_files_stay_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
