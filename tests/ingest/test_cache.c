/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Answers in the user's folder: which are known, which must not be, and that no damage to an entry
 * is taken for an answer or read out of bounds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ingest/base/cache.h"

static char place[] = "/tmp/mprof-cache-XXXXXX";
static int folder = -1;

static int make_folder(void **state)
{
    if (!mkdtemp(place))
        return -1;
    folder = cache_folder_open(place);
    return folder < 0 ? -1 : 0;
}

/* Returns the path of the only entry. */
static const char *entry(void)
{
    static char path[512];
    DIR *listing = opendir(place);
    const struct dirent *item;
    path[0] = '\0';
    while (listing && (item = readdir(listing)))
        if (item->d_name[0] != '.')
            snprintf(path, sizeof(path), "%s/%s", place, item->d_name);
    if (listing)
        closedir(listing);
    return path;
}

static int remove_folder(void **state)
{
    while (entry()[0] != '\0' && unlink(entry()) == 0)
        continue;
    close(folder);
    return rmdir(place);
}

/* Begins a cache with this fact as its key. */
static struct cache *begin(const char *fact)
{
    struct coding coding = {0};
    struct cache *cache = cache_new(folder);
    assert_non_null(cache);
    coding_put_text(&coding, fact);
    cache_tell(cache, &coding);
    coding_free(&coding);
    return cache;
}

/* Asks question `number`, whose answer is ten times as much. Returns true if it was known. */
static bool ask(struct cache *cache, unsigned number)
{
    struct cache_question question;
    cache_question_begin(&question, cache, CACHE_LOOKUP);
    coding_put_number(&question.asked, number);
    cache_question_ask(&question);
    const uint64_t answer = decoding_number(&question.known);
    const char *text = decoding_text(&question.known);
    const bool known = cache_question_accept(&question, text != NULL);
    if (known) {
        assert_int_equal(answer, 10 * number);
        assert_string_equal(text, "text");
    } else {
        coding_put_number(&question.found, 10 * number);
        coding_put_text(&question.found, "text");
    }
    cache_question_end(&question);
    return known;
}

static void end(struct cache *cache, const char *file)
{
    struct cache_depends depends = {0};
    if (file)
        cache_depends_add(&depends, file);
    cache_save(cache, &depends);
    cache_depends_free(&depends);
    cache_free(cache);
}

/* Asks 1, 2, 3. Returns how many answers were known. */
static unsigned ask_three(const char *fact, const char *file)
{
    struct cache *cache = begin(fact);
    unsigned known = 0;
    for (unsigned i = 1; i <= 3; i++)
        known += ask(cache, i);
    end(cache, file);
    return known;
}

static void test_same_questions(void **state)
{
    assert_int_equal(ask_three("a", NULL), 0);
    assert_int_equal(ask_three("a", NULL), 3);
    assert_int_equal(ask_three("b", NULL), 0); /* another key */
}

/* Answers are known in any order, and beside questions that are new. */
static void test_other_questions(void **state)
{
    ask_three("other", NULL);
    for (unsigned round = 0; round < 2; round++) {
        struct cache *cache = begin("other");
        assert_true(ask(cache, 3));
        assert_int_equal(ask(cache, 4), round);
        assert_true(ask(cache, 4));
        assert_true(ask(cache, 1));
        end(cache, NULL);
    }
    assert_int_equal(ask_three("other", NULL), 3);
}

static void test_stop(void **state)
{
    ask_three("stop", NULL);
    struct cache *cache = begin("stop");
    assert_true(ask(cache, 1));
    cache_stop(cache);
    assert_false(cache_is_on(cache));
    assert_false(ask(cache, 1));
    assert_int_equal(cache_module(cache, "/bin/true", NULL, 0), 0);
    end(cache, NULL);
}

/* A module keeps its number in an entry, in whatever order modules come. */
static void test_modules(void **state)
{
    static const uint8_t id[] = {1, 2}, other[] = {1, 3};
    struct cache *cache = begin("modules");
    const uint32_t one = cache_module(cache, "/bin/one", id, sizeof(id));
    const uint32_t two = cache_module(cache, "/bin/one", other, sizeof(other));
    assert_true(one > 0 && two > 0 && one != two);
    assert_int_equal(cache_module(cache, "/bin/one", id, sizeof(id)), one);
    end(cache, NULL);
    cache = begin("modules");
    const uint32_t three = cache_module(cache, "/bin/three", NULL, 0);
    assert_true(three != one && three != two);
    assert_int_equal(cache_module(cache, "/bin/one", other, sizeof(other)), two);
    assert_int_equal(cache_module(cache, "/bin/one", id, sizeof(id)), one);
    end(cache, NULL);
}

/* Only facts before the first question belong to the key. */
static void test_later_fact(void **state)
{
    for (unsigned round = 0; round < 2; round++) {
        struct cache *cache = begin("later");
        struct coding fact = {0};
        assert_int_equal(ask(cache, 1), round);
        coding_put_number(&fact, round);
        cache_tell(cache, &fact);
        coding_free(&fact);
        assert_int_equal(ask(cache, 2), round);
        end(cache, NULL);
    }
}

/* A large entry keeps only what the last call used of it, once that is much less. */
static void test_growth(void **state)
{
    enum { MANY = 250000 };
    struct cache *cache = begin("growth");
    const uint32_t module = cache_module(cache, "/bin/one", NULL, 0);
    for (unsigned i = 0; i < MANY; i++)
        ask(cache, i);
    end(cache, NULL);
    cache = begin("growth");
    assert_true(ask(cache, 1));
    assert_false(ask(cache, MANY));
    end(cache, NULL);
    cache = begin("growth");
    assert_true(ask(cache, 1));
    assert_true(ask(cache, MANY));
    assert_false(ask(cache, 2));
    assert_int_equal(cache_module(cache, "/bin/one", NULL, 0), module);
    cache_free(cache);
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void test_files(void **state)
{
    char path[64] = "/tmp/mprof-cache-file-XXXXXX";
    const int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    close(descriptor);
    /* Too young: it may change again without a sign. */
    assert_int_equal(ask_three("young", path), 0);
    assert_int_equal(ask_three("young", path), 0);
    unlink(path);
    /* Absent, until it comes. */
    assert_int_equal(ask_three("absent", path), 0);
    assert_int_equal(ask_three("absent", path), 3);
    write_file(path, "text");
    assert_int_equal(ask_three("absent", path), 0);
    unlink(path);
    /* Present, until it goes or is another one. */
    assert_int_equal(ask_three("present", "/bin/sh"), 0);
    assert_int_equal(ask_three("present", "/bin/sh"), 3);
}

static uint8_t *read_whole(const char *path, size_t *size)
{
    struct stat about;
    const int descriptor = open(path, O_RDONLY);
    assert_true(descriptor >= 0 && fstat(descriptor, &about) == 0);
    *size = (size_t)about.st_size;
    uint8_t *bytes = malloc(*size);
    assert_non_null(bytes);
    assert_int_equal(read(descriptor, bytes, *size), *size);
    close(descriptor);
    return bytes;
}

static void write_whole(const char *path, const uint8_t *bytes, size_t size)
{
    const int descriptor = open(path, O_WRONLY | O_TRUNC);
    assert_true(descriptor >= 0);
    assert_int_equal(write(descriptor, bytes, size), size);
    close(descriptor);
}

static void clear(void)
{
    while (entry()[0] != '\0')
        assert_int_equal(unlink(entry()), 0);
}

/* Each byte flipped, and each length: nothing is known, and the entry is replaced by a sound one.
 */
static void test_damage(void **state)
{
    char path[512];
    size_t size;
    clear();
    ask_three("damage", "/nonexistent/file");
    snprintf(path, sizeof(path), "%s", entry());
    uint8_t *bytes = read_whole(path, &size);
    for (size_t i = 0; i < size; i++) {
        bytes[i] ^= (uint8_t)(1U << i % 8);
        write_whole(path, bytes, size);
        bytes[i] ^= (uint8_t)(1U << i % 8);
        assert_int_equal(ask_three("damage", "/nonexistent/file"), 0);
        assert_int_equal(ask_three("damage", "/nonexistent/file"), 3);
        write_whole(path, bytes, i);
        assert_int_equal(ask_three("damage", "/nonexistent/file"), 0);
    }
    free(bytes);
}

/* Damage that the sum does not show: the reader stays within its bytes. */
static void test_reader(void **state)
{
    char path[512];
    size_t size;
    clear();
    ask_three("reader", "/nonexistent/file");
    snprintf(path, sizeof(path), "%s", entry());
    uint8_t *bytes = read_whole(path, &size);
    struct cache_key key;
    size_t content;
    memcpy(&key, bytes + 8, sizeof(key)); /* after the mark */
    uint8_t *whole = cache_folder_read(folder, &key, &content);
    assert_non_null(whole);
    for (size_t i = 0; i < content; i++)
        for (unsigned value = 0; value < 256; value += 15) {
            uint8_t kept = whole[i];
            whole[i] = (uint8_t)value;
            cache_folder_write(folder, &key, whole, content, CACHE_FOLDER_LIMIT);
            whole[i] = kept;
            struct cache *cache = begin("reader");
            struct cache_question question;
            cache_question_begin(&question, cache, CACHE_LOOKUP);
            coding_put_number(&question.asked, 1);
            if (cache_question_ask(&question)) {
                decoding_number(&question.known);
                decoding_text(&question.known);
                decoding_text(&question.known);
            }
            cache_question_end(&question);
            cache_free(cache);
        }
    for (size_t i = 0; i < content; i++) {
        cache_folder_write(folder, &key, whole, i, CACHE_FOLDER_LIMIT);
        struct cache *cache = begin("reader");
        ask(cache, 9);
        cache_free(cache);
    }
    free(whole);
    free(bytes);
}

/* Entries that others could have written are not read. */
static void test_owner(void **state)
{
    char path[512];
    struct stat about;
    clear();
    ask_three("owner", NULL);
    snprintf(path, sizeof(path), "%s", entry());
    assert_true(stat(path, &about) == 0 && (about.st_mode & 0777) == 0600);
    chmod(path, 0620);
    assert_int_equal(ask_three("owner", NULL), 0);
    assert_int_equal(ask_three("owner", NULL), 3);
    if (geteuid() == 0) {
        assert_int_equal(chown(path, 1, 1), 0);
        assert_int_equal(ask_three("owner", NULL), 0);
        assert_int_equal(ask_three("owner", NULL), 3);
        assert_int_equal(chown(place, 1, 1), 0);
        assert_int_equal(cache_folder_open(place), -1);
        assert_int_equal(chown(place, 0, 0), 0);
    }
    unlink(path);
    assert_int_equal(symlink("/etc/passwd", path), 0);
    assert_int_equal(ask_three("owner", NULL), 0);
    assert_int_equal(ask_three("owner", NULL), 3);
    chmod(place, 0770);
    assert_int_equal(cache_folder_open(place), -1);
    chmod(place, 0700);
    assert_int_equal(cache_folder_open("/nonexistent/folder"), -1);
    assert_int_equal(cache_folder_open("/dev/null"), -1);
}

/* The entry that was used longest ago goes first, not the one that was written first. */
static void test_limit(void **state)
{
    static const char bytes[1000];
    const struct cache_key keys[] = {{{1, 1}}, {{2, 2}}, {{3, 3}}};
    size_t size;
    clear();
    for (size_t i = 0; i < 2; i++) {
        cache_folder_write(folder, &keys[i], bytes, sizeof(bytes), 2500);
        usleep(20000);
    }
    uint8_t *first = cache_folder_read(folder, &keys[0], &size);
    assert_non_null(first);
    free(first);
    usleep(20000);
    cache_folder_write(folder, &keys[2], bytes, sizeof(bytes), 2500);
    for (size_t i = 0; i < 3; i++) {
        uint8_t *found = cache_folder_read(folder, &keys[i], &size);
        assert_true((found != NULL) == (i != 1));
        free(found);
    }
    clear();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_questions), cmocka_unit_test(test_other_questions),
        cmocka_unit_test(test_stop),           cmocka_unit_test(test_modules),
        cmocka_unit_test(test_later_fact),     cmocka_unit_test(test_growth),
        cmocka_unit_test(test_files),          cmocka_unit_test(test_damage),
        cmocka_unit_test(test_reader),         cmocka_unit_test(test_owner),
        cmocka_unit_test(test_limit),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
