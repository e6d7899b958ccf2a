/* SPDX-License-Identifier: BSD-2-Clause */
/* The rules for the user's own code: built-in list, the user's words, names of many forms. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "schemas/code/function_name.h"
#include "schemas/code/user_code.h"

enum { OWN = USER_CODE_OWN, RUNTIME = USER_CODE_RUNTIME, HIDDEN = USER_CODE_HIDDEN };

struct expected {
    const char *path, *name, *linkage_name;
    int class;
    const char *file; /* where it is declared */
};

static void check(const struct user_code *code, const struct expected *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct user_code_module module = user_code_module(code, cases[i].path);
        const int class = (int)user_code_function(code, &module, cases[i].name,
                                                  cases[i].linkage_name, cases[i].file);
        if (class != cases[i].class)
            print_error("%s %s: class %d, expected %d\n", cases[i].path, cases[i].name, class,
                        cases[i].class);
        assert_int_equal(class, cases[i].class);
    }
}

#define CHECK(code, ...)                                                                           \
    check(code, (const struct expected[]){__VA_ARGS__},                                            \
          sizeof((const struct expected[]){__VA_ARGS__}) / sizeof(struct expected))

static void test_built_in(void **state)
{
    static const struct user_code none;
    const char *program = "/home/me/bin/shop";
    CHECK(
        &none, {program, "main", NULL, OWN}, {program, "shop::fill(shop::Bag<int>&)", NULL, OWN},
        /* Templates of the library lie in the program's own module. */
        {program, "std::vector<shop::Item, std::allocator<shop::Item> >::push_back(shop::Item&&)",
         NULL, HIDDEN},
        {program, "void std::__invoke_impl<void, main::{lambda()#1}>(std::__invoke_other)", NULL,
         HIDDEN},
        {program,
         "decltype (((forward<main::{lambda()#1}>)({parm#1}))->run()) std::__invoke<X>(X&&)", NULL,
         HIDDEN},
        {program, "main::{lambda()#1}::operator()() const", NULL, OWN},
        {program, "shop::fill(int)::{lambda(std::vector<int>)#1}::operator()(int) const", NULL,
         OWN},
        {program, "std::ostream& std::operator<< <std::char_traits<char> >(std::ostream&, char)",
         NULL, HIDDEN},
        {program, "std::ostream& shop::operator<<(std::ostream&, shop::Item const&)", NULL, OWN},
        {program, "shop::Pointer::operator->() const", NULL, OWN},
        {program, "std::vector<int> shop::list<std::vector<int> >(std::vector<int>)", NULL, OWN},
        {program, "(anonymous namespace)::helper(std::string)", NULL, OWN},
        {program, "(anonymous namespace)::pool::allocate(unsigned long)", NULL, OWN},
        {program, "non-virtual thunk to std::__cxx11::stringstream::~stringstream()", NULL, HIDDEN},
        {program, "boost::asio::io_context::run()", NULL, HIDDEN},
        {program, "boosted::run()", NULL, OWN}, {program, "stdlib_init", NULL, OWN},
        {program, "mine::std::push(int)", NULL, OWN}, {program, "core::Engine::run()", NULL, OWN},
        /* Put there by static linking. */
        {program, "__libc_start_call_main", NULL, HIDDEN}, {program, "_start", NULL, HIDDEN},
        {program, "_IO_file_doallocate", NULL, HIDDEN},
        {program, "__cxa_allocate_exception", NULL, HIDDEN}, {program, "start_routine", NULL, OWN},
        /* Stripped modules. */
        {program, "shop+0x1234", NULL, OWN},
        {"/usr/lib/x86_64-linux-gnu/libc.so.6", "libc.so.6+0x26e40", NULL, HIDDEN},
        {"/usr/lib/libstdc++.so.6.0.30", "libstdc++.so.6+0xa5780", NULL, HIDDEN},
        /* Modules of the list, and such as only begin like them. */
        {"/lib/x86_64-linux-gnu/libc-2.31.so", "getdelim", NULL, HIDDEN},
        {"/lib64/ld-linux-x86-64.so.2", "allocate_dtv", NULL, HIDDEN},
        {"/lib/ld-2.31.so", "_dl_init", NULL, HIDDEN}, {"/usr/bin/ld", "lang_add_input", NULL, OWN},
        {"/usr/lib/libboost_regex.so.1.74.0", "f", NULL, HIDDEN},
        {"/usr/lib/libc-client.so.2007e", "mail_open", NULL, OWN},
        {"/usr/lib/libcrypto.so.3", "EVP_DigestInit", NULL, OWN},
        {"/usr/lib/libglib-2.0.so.0.7400.6", "g_hash_table_new", NULL, HIDDEN},
        {"/usr/lib/libtalloc.so.2.4.0", "_talloc_zero", NULL, HIDDEN},
        {"/usr/lib/libapr-1.so.0.7.2", "apr_palloc", NULL, HIDDEN},
        {"[vdso]", "[vdso]+0x10", NULL, HIDDEN},
        /* Interpreters. */
        {"/usr/lib/libpython3.11.so.1.0", "PyList_New", NULL, RUNTIME},
        {"/usr/lib/python3.11/lib-dynload/_json.cpython-311-x86_64-linux-gnu.so", "_json+0x5a10",
         NULL, RUNTIME},
        {"/usr/lib/python3/dist-packages/_yaml.cpython-311-x86_64-linux-gnu.so", "load", NULL,
         RUNTIME},
        {"/usr/bin/python3.11", "_PyEval_EvalFrameDefault", NULL, RUNTIME},
        {"/usr/lib/python3/dist-packages/numpy/_multiarray.so", "array_new", NULL, RUNTIME},
        {"/home/me/shop/_fast.cpython-311-x86_64-linux-gnu.so", "fill", NULL, OWN},
        /* Code made at run time, and code of which nothing is known. */
        {NULL, "LazyCompile:~handle server.js:12", NULL, OWN},
        {NULL, "?+0x7f0012345678", NULL, HIDDEN});
}

static void test_other_languages(void **state)
{
    static const struct user_code none;
    const char *program = "/home/me/target/shop";
    const char *legacy = "_ZN5alloc5alloc15exchange_malloc17h0123456789abcdefE";
    CHECK(&none, {program, "alloc::alloc::exchange_malloc", legacy, HIDDEN},
          {program,
           "<alloc::vec::Vec<T> as alloc::vec::spec_from_iter::SpecFromIter<T>>::from_iter",
           "_ZN98_$LT$alloc17h0123456789abcdefE", HIDDEN},
          {program, "<shop::Item as core::clone::Clone>::clone", "_RNvXCs1_4shop", OWN},
          {program, "<&mut shop::Item as core::fmt::Debug>::fmt", "_RNvXCs1_4shop", OWN},
          {program, "<T as core::convert::Into<U>>::into", "_RNvXCs1_4core", HIDDEN},
          {program, "std::rt::lang_start::{{closure}}", "_RNCINvNtCs1_3std", HIDDEN},
          {program, "shop::main", "_RNvCs1_4shop4main", OWN},
          {program, "__rust_alloc", "__rust_alloc", HIDDEN},
          {program, "__rustc::__rdl_alloc", "_RNvCs1_7___rustc11___rdl_alloc", HIDDEN},
          /* The body of a trait's method is the trait's, or that of the impl block. */
          {program, "<shop::Item as core::iter::Iterator>::collect",
           "_RNvYNtCs1_4shop4ItemNtNtCs2_4core4iter8Iterator7collectB4_", HIDDEN},
          {program, "<shop::Item as core::clone::Clone>::clone",
           "_RNvXCs1_4shopNtB2_4ItemNtNtCs2_4core5clone5Clone5cloneB2_", OWN},
          {program, "<shop::Item as alloc::string::ToString>::to_string",
           "_RNvXNtCs3_5alloc6stringNtCs1_4shop4ItemNtB2_8ToString9to_stringB1_", HIDDEN},
          {program, "<alloc::vec::Vec<T> as shop::Total>::total",
           "_ZN50_$LT$alloc17h0123456789abcdefE", OWN},
          {program, "<alloc::vec::Vec<u8> as shop::Total>::total",
           "_RNvXCs1_4shopINtNtCs3_5alloc3vec3VechENtB2_5Total5totalB2_", OWN},
          /* References to themselves, and paths without an end. */
          {program, "<shop::Item as core::clone::Clone>::clone", "_RINvC1a1bKB8_E", OWN},
          {program, "<shop::Item as core::clone::Clone>::clone", "_RNvB_1a", OWN},
          {program, "<shop::Item as core::clone::Clone>::clone", "_RNvYB1_B1_1a", OWN},
          {program, "<shop::Item as core::clone::Clone>::clone", "_RNvMC1aTTTTTTTTB4_", OWN},
          {program, "<shop::Item as core::clone::Clone>::clone", "_RNvNvNvNvNvNvNvNv", OWN},
          {program, "<shop::Item as core::clone::Clone>::clone", "_R", OWN},
          {program, "<shop::Item as core::clone::Clone>::clone", "_RC99999999999999999999a", OWN},
          /* A name that cannot be read is hidden only if nothing in it is the program's. */
          {program, "<shop::Item as core::clone::Clone>::clone", "_RNvXCs1_4shopNtBz_", OWN},
          /* Packages that cargo fetched, and generic code of the library. */
          {program, "regex::exec::build", "_ZN5regex17h0123456789abcdefE", HIDDEN,
           "/root/.cargo/registry/src/github.com-1ecc6299db9ec823/regex-1.5.4/src/exec.rs"},
          {program, "gimli::read", "_RNvCs1_5gimli4read", HIDDEN,
           "/usr/share/cargo/registry/gimli-0.26.2/src/lib.rs"},
          {program, "gimli::read", "_ZN5gimli17h0123456789abcdefE", HIDDEN,
           "/usr/src/rustc-1.63.0/vendor/gimli-0.25.0/src/read/unit.rs"},
          {program, "<u8 as <[_]>::to_vec_in::ConvertVec>::to_vec::<alloc::alloc::Global>",
           "_RINvXs_NvMNtCs1_5alloc5sliceSp9to_vec_inhNtB5_10ConvertVec6to_vecNtNtBa_"
           "5alloc6GlobalEBa_",
           HIDDEN},
          {program, "<str>::repeat", "_RNvMs3_NtCs1_5alloc3stre6repeat", HIDDEN},
          {program, "shop::main", "_ZN4shop17h0123456789abcdefE", OWN, "/home/me/src/main.rs"},
          {program, "regex::build(int)", "_ZN5regex5buildEi", OWN,
           "/root/.cargo/registry/src/regex-1.5.4/src/build.cc"},
          /* The same names of a C++ program are its own. */
          {program, "alloc::alloc::exchange_malloc", "_ZN5alloc5alloc15exchange_mallocEv", OWN},
          /* D, Ada, Objective-C, Nim and Free Pascal. */
          {program, "rt.minfo.ModuleGroup.sortCtors(immutable(char)[])", "_D2rt5minfo", HIDDEN},
          {program, "rt.minfo.sort()", NULL, OWN},
          {program, "core.sys.shop()", "_D4core3sys4shop", HIDDEN},
          {program, "shop.fill()", "_D4shop4fillFZv", OWN},
          {"/usr/lib/x86_64-linux-gnu/libgphobos.so.3", "libgphobos.so.3+0x572e80", NULL, HIDDEN},
          {program, "ada__strings__unbounded__append", NULL, HIDDEN},
          {program, "shop.stock.insert", "shop__stock__insert__4", HIDDEN,
           "/usr/lib/gcc/x86_64-linux-gnu/12/adainclude/a-convec.adb"},
          {program, "shop.add_order", "shop__add_order", OWN, "/home/me/shop.adb"},
          {"/usr/lib/x86_64-linux-gnu/libobjc.so.4.0.0", "sarray_new", NULL, HIDDEN},
          {program, "-[Shop fill:]", NULL, OWN}, {program, "NimMainModule", NULL, OWN},
          {program, "NimMain", NULL, HIDDEN},
          {program, "rawInsert__shop_12", NULL, HIDDEN,
           "/usr/lib/nim/lib/pure/collections/tables.nim"},
          {program, "emp__shop_12", NULL, OWN, "/home/me/shop.nim"},
          {program, "SYSUTILS$_$TENCODING_$__$$_GETSYSTEMENCODING$$TENCODING", NULL, HIDDEN},
          {program, "MATRIX", NULL, OWN}, {program, "main.fill", NULL, OWN},
          {program, "runtime.cgocall", NULL, HIDDEN},
          {program, "_cgo_0a1b2c_Cfunc__Cmalloc", NULL, HIDDEN});
}

static void test_words(void **state)
{
    struct user_code code = {0};
    const char *program = "/home/me/bin/shop";
    assert_true(user_code_is_default(&code));
    assert_true(user_code_add(&code, USER_CODE_HIDE, "vendor::json"));
    assert_true(user_code_add(&code, USER_CODE_HIDE, "libplugin"));
    assert_true(user_code_add(&code, USER_CODE_HIDE, "/opt/vendor*"));
    assert_true(user_code_add(&code, USER_CODE_HIDE, "log_*"));
    assert_true(user_code_add(&code, USER_CODE_HIDE, "Q*"));
    assert_true(user_code_add(&code, USER_CODE_SHOW, "boost"));
    assert_true(user_code_add(&code, USER_CODE_SHOW, "libpython*"));
    assert_true(user_code_add(&code, USER_CODE_WRAPPER, "shop::grab(unsigned long)"));
    assert_true(user_code_add(&code, USER_CODE_WRAPPER, "take_*"));
    CHECK(&code, {program, "vendor::json::parse(char const*)", NULL, HIDDEN},
          {program, "vendor::jsonp::parse(char const*)", NULL, OWN},
          {"/home/me/lib/libplugin.so.2", "run", NULL, HIDDEN},
          {"/home/me/lib/libplugins.so.2", "run", NULL, OWN},
          {"/opt/vendor/bin/tool", "main", NULL, HIDDEN}, {program, "log_line", NULL, HIDDEN},
          {program, "QString::append(QChar)", NULL, HIDDEN}, {program, "Quit()", NULL, HIDDEN},
          {program, "boost::asio::post(int)", NULL, OWN}, {program, "std::sort(int)", NULL, HIDDEN},
          {"/usr/lib/libpython3.11.so.1.0", "PyList_New", NULL, OWN},
          {program, "shop::grab(unsigned long)", NULL, HIDDEN},
          {program, "shop::grab(int)", NULL, OWN}, {program, "take_block", NULL, HIDDEN});
    assert_true(user_code_is_wrapper(&code, "take_block"));
    assert_false(user_code_is_wrapper(&code, "retake_block"));
    /* The user hides what the user shows. */
    assert_true(user_code_add(&code, USER_CODE_HIDE, "boost::asio"));
    CHECK(&code, {program, "boost::asio::post(int)", NULL, HIDDEN});

    struct user_code copy;
    assert_true(user_code_copy(&copy, &code));
    const size_t words = copy.lists[USER_CODE_HIDE].count;
    assert_int_equal(words, 6);
    assert_true(user_code_add(&copy, USER_CODE_HIDE, "Q*"));
    assert_true(user_code_add(&copy, USER_CODE_HIDE, ""));
    assert_int_equal(copy.lists[USER_CODE_HIDE].count, words);
    user_code_free(&copy);
    assert_true(user_code_is_default(&copy));
    user_code_free(&code);
}

static void test_limits(void **state)
{
    struct user_code code = {0};
    char word[USER_CODE_WORD_MAX + 2];
    memset(word, '*', sizeof(word));
    word[USER_CODE_WORD_MAX + 1] = '\0';
    assert_true(user_code_add(&code, USER_CODE_HIDE, word));
    assert_true(user_code_is_default(&code));
    word[USER_CODE_WORD_MAX] = '\0';
    assert_true(user_code_add(&code, USER_CODE_HIDE, word));
    /* A word of stars alone is not a reason to take long. */
    CHECK(&code, {"/bin/shop", "main", NULL, HIDDEN});
    for (int i = 0; i < 2 * USER_CODE_WORDS_MAX; i++) {
        char number[16];
        snprintf(number, sizeof(number), "f%d", i);
        assert_true(user_code_add(&code, USER_CODE_SHOW, number));
    }
    assert_int_equal(code.lists[USER_CODE_SHOW].count, USER_CODE_WORDS_MAX);
    user_code_free(&code);
}

static void test_built_in_words(void **state)
{
    size_t n = 0;
    bool std = false, libc = false;
    for (const char *word; (word = user_code_built_in(n)); n++) {
        std = std || strcmp(word, "std") == 0;
        libc = libc || strcmp(word, "libc") == 0;
    }
    assert_true(n > 50 && std && libc);
    assert_true(user_code_version() > 0 && user_code_version() <= INT64_MAX);
}

static void test_bare_names(void **state)
{
    static const char *const names[][2] = {
        {"int shop::f<int>(int)", "shop::f<int>"},
        {"shop::operator<<(int)", "shop::operator<<"},
        {"shop::P::operator->() const", "shop::P::operator->"},
        {"shop::P::operator()(int)", "shop::P::operator()"},
        {"bool shop::operator< <int>(int)", "shop::operator< <int>"},
        {"operator new(unsigned long)", "operator new"},
        {"main", "main"},
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        const struct function_name bare = function_name_bare(names[i][0]);
        assert_int_equal((size_t)(bare.end - bare.begin), strlen(names[i][1]));
        assert_memory_equal(bare.begin, names[i][1], strlen(names[i][1]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_built_in),       cmocka_unit_test(test_other_languages),
        cmocka_unit_test(test_words),          cmocka_unit_test(test_limits),
        cmocka_unit_test(test_built_in_words), cmocka_unit_test(test_bare_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
