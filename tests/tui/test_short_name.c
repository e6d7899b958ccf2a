/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks the short forms of names that compilers make. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/screen/cells.h"
#include "tui/screen/format.h"

static void check(const char *name, const char *expected)
{
    char out[SHORT_NAME_SIZE];
    assert_string_equal(short_name(out, sizeof(out), name), expected);
}

#define STRING "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"

static void test_functions(void **state)
{
    check("std::vector<Token, std::allocator<Token>>::push_back", "vector<Token>::push_back");
    check("std::vector<Token, std::allocator<Token> >::push_back(Token&&)",
          "vector<Token>::push_back");
    check("main", "main");
    check("calc::Parser::parse_expr()", "calc::Parser::parse_expr");
    check("calc::Parser::size() const", "calc::Parser::size");
    check("operator new(unsigned long)", "operator new");
    check("operator delete[](void*, unsigned long)", "operator delete[]");
    check("Foo::operator unsigned long() const", "Foo::operator unsigned long");
    check("bool operator< <int>(Box<int> const&, Box<int> const&)", "operator< <int>");
    check("std::ostream& std::operator<< <std::char_traits<char> >(std::ostream&, char const*)",
          "operator<< <char_traits<char>>");
    check("Box<int>::operator()(int) const", "Box<int>::operator()");
    check("Box<(1>2)>::operator->() const", "Box<(1>2)>::operator->");
    check("void std::sort<int*>(int*, int*)", "sort<int*>");
    check("std::__detail::_MakeUniq<calc::Node>::__single_object "
          "std::make_unique<calc::Node>()",
          "make_unique<calc::Node>");
    check("void std::vector<" STRING ", std::allocator<" STRING " > >::_M_realloc_insert<" STRING
          " >(int, " STRING "&&)",
          "vector<string>::_M_realloc_insert");
    check("std::map<" STRING ", int, std::less<" STRING " >, std::allocator<std::pair<" STRING
          " const, int> > >::operator[](" STRING "&&)",
          "map<string, int>::operator[]");
    check("void std::__move_median_to_first<int*, calc::Table<" STRING ", int> >(int*)",
          "__move_median_to_first<\u2026>");
    check("app::f[abi:cxx11](int)", "app::f");
    check("(anonymous namespace)::helper(int)", "helper");
    check("app::(anonymous namespace)::helper(int)", "app::helper");
    check("void (anonymous namespace)::run<int>(int)", "run<int>");
    check("decltype(auto) std::get<int>(int)", "get<int>");
    check("decltype (f(1)) call<int>(int)", "call<int>");
}

static void check_long(const char *name, const char *expected)
{
    char out[SHORT_NAME_SIZE];
    assert_string_equal(short_name_with_parameters(out, sizeof(out), name), expected);
}

/* Functions that have one short name, in the form that tells them apart. */
static void test_parameters(void **state)
{
    check("void " STRING "::_M_construct<char*>(char*, char*, std::forward_iterator_tag)",
          "string::_M_construct");
    check_long("void " STRING "::_M_construct<char*>(char*, char*, std::forward_iterator_tag)",
               "string::_M_construct<char*>(char*, char*, forward_iterator_tag)");
    check_long("void " STRING "::_M_construct<char const*>(char const*, char const*)",
               "string::_M_construct<char const*>(char const*, char const*)");
    check_long(STRING "::_M_construct(unsigned long, char)",
               "string::_M_construct(unsigned long, char)");
    check_long("parse(std::vector<Token, std::allocator<Token> > const&) [clone .cold]",
               "parse(vector<Token> const&)");
    check_long("main", "main");
    check_long("f(((", "f(((");
    check("std::_Sp_counted_ptr_inplace<Node, std::allocator<void>, (__gnu_cxx::_Lock_policy)2"
          ">::_M_dispose()",
          "_Sp_counted_ptr_inplace<Node>::_M_dispose");
    check("std::__shared_count<(__gnu_cxx::_Lock_policy)2>::__shared_count<Node*>(Node*)",
          "__shared_count::__shared_count");
}

static void check_cut(const char *name, size_t size, const char *expected)
{
    char out[SHORT_NAME_SIZE];
    assert_string_equal(short_name_cut(out, size, name), expected);
    assert_true(strlen(out) < size);
}

static void test_cuts(void **state)
{
    check_cut("parse_record(int)", 13, "parse_record");
    check_cut("parse_record(int)", 12, "parse_re\u2026");
    check_cut("parse_record(int)", 4, "\u2026");
    check_cut("p\u00e4rs\u00e4\u00e4\u00e4", 9, "p\u00e4rs\u2026");
}

static void test_lambdas(void **state)
{
    check("main::{lambda(calc::Node const&, int)#1}::operator()(calc::Node const&, int) const",
          "main::{lambda#1}::operator()");
    check("main::{lambda}::operator()", "main::{lambda}::operator()");
    check("outer(int)::{lambda(auto:1)#2}::operator()<int>(int) const",
          "outer::{lambda#2}::operator()");
    check("std::__invoke_impl<void, main()::<lambda(const calc::Node&, int)>&, int>",
          "__invoke_impl<void, main::<lambda>&, int>");
    check("run(int)::Local::go()", "run::Local::go");
    check("std::function<void (calc::Node const&, int)>::operator()(calc::Node const&, int) const",
          "function<void (calc::Node const&, int)>::operator()");
}

static void test_types(void **state)
{
    check(STRING, "string");
    check("std::basic_string_view<wchar_t, std::char_traits<wchar_t> >", "wstring_view");
    check("std::unordered_map<int, Token, std::hash<int>, std::equal_to<int>, "
          "std::allocator<std::pair<int const, Token> > >",
          "unordered_map<int, Token>");
    check("std::unique_ptr<calc::Node, std::default_delete<calc::Node> >",
          "unique_ptr<calc::Node>");
    check("std::string buffer", "string buffer");
    check("unsigned long", "unsigned long");
    check("void (int)", "void (int)");
    check("std::set<int, std::greater<int>, std::allocator<int> >", "set<int, greater<int>>");
    check("std::allocator<int>", "allocator<int>");
    check("std::_Hashtable<int, std::pair<int const, Heavy>, std::allocator<std::pair<int const, "
          "Heavy> >, std::__detail::_Select1st, std::equal_to<int>, std::hash<int>, "
          "std::__detail::_Mod_range_hashing, std::__detail::_Hashtable_traits<false, false, true> "
          ">::_M_rehash(unsigned long)",
          "_Hashtable<int, pair<int const, Heavy>>::_M_rehash");
    check("std::_Rb_tree<int, int, std::_Identity<int>, std::less<int>, std::allocator<int> "
          ">::_M_copy(int)",
          "_Rb_tree<int, int>::_M_copy");
    check("mystd::vector<int>", "mystd::vector<int>");
    check("a::std::b", "a::std::b");
}

static void test_other_languages(void **state)
{
    check("libstdc++.so.6+0xa5780", "libstdc++.so.6+0xa5780");
    check("core::ptr::drop_in_place::h0123456789abcdef", "core::ptr::drop_in_place");
    check("work.isra.0", "work");
    check("app::work(int) [clone .constprop.0] [clone .cold]", "app::work");
    check("py::list comprehension", "py::list comprehension");
}

/* A text that nobody meant as a name stays as it is, and nothing is read or written outside. */
static void test_hard_names(void **state)
{
    static const char *const names[] = {
        "",         "<",         ">",        "a<b",     "f(((",      "a>b",   "(x",
        "operator", "operator<", "{lambda(", ",,,",     "a<b)>",     "std::", "f<a(b>)",
        "::",       "a b",       "a(",       "\x1b[2J", "<lambda(>", "f()::", "->",
        "x->y",     "decltype(", "[clone ",  " [clone "};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        for (size_t size = 1; size < 12; size++) {
            char *out = malloc(size), *name = strdup(names[i]);
            assert_true(out && name);
            short_name(out, size, name);
            assert_true(strlen(out) < size);
            free(out);
            free(name);
        }
    }
    check("a<b", "a<b");
    check("", "");
    /* Deep and long. */
    static char deep[40000];
    char out[SHORT_NAME_SIZE];
    for (size_t levels = 1; levels < 9000; levels *= 3) {
        size_t length = 0;
        for (size_t i = 0; i < levels; i++)
            length += (size_t)sprintf(deep + length, "a<");
        for (size_t i = 0; i < levels; i++)
            deep[length++] = '>';
        deep[length] = 0;
        short_name(out, sizeof(out), deep);
        assert_true(strncmp(out, "a<", 2) == 0);
    }
    /* Random names of such pieces. */
    static const char *const pieces[] = {
        "std::",    "<", ">",        "(", ")",  "::",          " ",    ",",
        "operator", "a", "{lambda(", "}", "#1", "[abi:cxx11]", "char", "&"};
    unsigned seed = 7;
    for (int i = 0; i < 20000; i++) {
        char name[200] = "", small[40];
        for (int piece = 0; piece < 12; piece++) {
            seed = seed * 1103515245 + 12345;
            strcat(name, pieces[(seed >> 16) % (sizeof(pieces) / sizeof(pieces[0]))]);
        }
        short_name(out, sizeof(out), name);
        short_name(small, sizeof(small), name);
        assert_true(strlen(out) <= strlen(name) + 4);
    }
}

static void fit(const char *name, int width, const char *expected)
{
    char out[SHORT_NAME_SIZE];
    assert_string_equal(short_name_fit(out, sizeof(out), name, width), expected);
}

/* The function is what stays. */
static void test_names_that_do_not_fit(void **state)
{
    static const char add[] = "shop::Registry<shop::Order>::add(shop::Order const&)";
    fit(add, 32, "shop::Registry<shop::Order>::add");
    fit(add, 31, "Registry<shop::Order>::add");
    fit(add, 26, "Registry<shop::Order>::add");
    fit(add, 25, "Registry<shop::Ord…>::add");
    fit(add, 20, "Registry<shop…>::add");
    fit(add, 19, "shop::Registry::add");
    fit(add, 18, "Registry::add");
    fit(add, 12, "Regist…::add");
    fit(add, 9, "Reg…::add");
    fit(add, 8, "…add");
    fit(add, 3, "add");
    fit(add, 2, "a…");
    fit(add, 1, "…");
    fit("std::vector<int, std::allocator<int>>::operator[](unsigned long)", 18,
        "vector::operator[]");
    fit("std::map<A, B>::operator<(std::map<A, B> const&) const", 14, "map::operator<");
    fit("shop::make_unique<shop::Order>(int)", 16, "make_unique<sho…");
    fit("shop::make_unique<shop::Order>(int)", 13, "make_unique…");
    fit("shop::make_unique<shop::Order>(int)", 11, "make_unique");
    fit("shop::run(int)::{lambda(int)#1}::operator()(int) const", 27,
        "run::{lambda#1}::operator()");
    /* Words that begin alike, and end so. */
    fit("__libc_start_call_main", 14, "__libc_s…_main");
    fit("__libc_start_main_impl", 14, "__libc_s…_impl");
    fit("unsigned long long", 10, "unsigned …");
    fit(add, 0, "…");
}

/* No name takes more columns than it may, however it is made. */
static void test_no_name_is_too_wide(void **state)
{
    static const char *const pieces[] = {
        "std::", "<",        ">", "(",        ")",  "::", " ",    ",",
        "a",     "{lambda(", "}", "operator", "#1", "日", "\xff", "name"};
    unsigned seed = 11;
    for (int i = 0; i < 20000; i++) {
        char name[200] = "", out[SHORT_NAME_SIZE];
        for (int piece = 0; piece < 12; piece++) {
            seed = seed * 1103515245 + 12345;
            strcat(name, pieces[(seed >> 16) % (sizeof(pieces) / sizeof(pieces[0]))]);
        }
        const int width = 1 + (int)(seed >> 16) % 30;
        short_name_fit(out, sizeof(out), name, width);
        assert_true(text_width(out) <= width);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_cuts),
        cmocka_unit_test(test_functions),
        cmocka_unit_test(test_lambdas),
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_other_languages),
        cmocka_unit_test(test_hard_names),
        cmocka_unit_test(test_names_that_do_not_fit),
        cmocka_unit_test(test_no_name_is_too_wide),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
