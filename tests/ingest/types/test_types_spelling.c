/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of types as gcc and clang write them, and the one spelling that they get. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "ingest/types/dwarf/spelling.h"

static const struct {
    const char *written, *spelled;
} spellings[] = {
    {"int", "int"},
    {"long unsigned int", "unsigned long"},
    {"unsigned long", "unsigned long"},
    {"unsigned", "unsigned int"},
    {"long long unsigned int", "unsigned long long"},
    {"short int", "short"},
    {"short unsigned int", "unsigned short"},
    {"signed char", "signed char"},
    {"long double", "long double"},
    {"struct list", "list"},
    {"Foo*", "Foo *"},
    {"Foo const*", "const Foo *"},
    {"const Foo * const", "const Foo *const"},
    {"char const* const*", "const char *const *"},
    {"Foo&&", "Foo &&"},
    {"int [3]", "int [3]"},
    {"int[3][4]", "int [3][4]"},
    {"void (*)(int, char*)", "void (*)(int, char *)"},
    {"std::vector<int, std::allocator<int> >", "std::vector<int>"},
    {"std::vector<long unsigned int, std::allocator<long unsigned int> >",
     "std::vector<unsigned long>"},
    {"std::vector<int, pool<int> >", "std::vector<int, pool<int>>"},
    {"std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >",
     "std::string"},
    {"std::__1::basic_string<char, std::__1::char_traits<char>, std::__1::allocator<char> >",
     "std::string"},
    {"std::vector<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >, "
     "std::allocator<std::__cxx11::basic_string<char, std::char_traits<char>, "
     "std::allocator<char> > > >",
     "std::vector<std::string>"},
    {"std::_Rb_tree_node<std::pair<int const, Foo> >",
     "std::_Rb_tree_node<std::pair<const int, Foo>>"},
    {"std::_Rb_tree_node<std::pair<const int, Foo>>",
     "std::_Rb_tree_node<std::pair<const int, Foo>>"},
    {"std::map<int, Foo, std::less<int>, std::allocator<std::pair<int const, Foo> > >",
     "std::map<int, Foo>"},
    {"std::map<int, Foo, std::greater<int>, std::allocator<std::pair<int const, Foo> > >",
     "std::map<int, Foo, std::greater<int>>"},
    {"std::unordered_map<int, char, std::hash<int>, std::equal_to<int>, "
     "std::allocator<std::pair<int const, char> > >",
     "std::unordered_map<int, char>"},
    {"std::unique_ptr<Foo, std::default_delete<Foo> >", "std::unique_ptr<Foo>"},
    {"std::array<int, 3UL>", "std::array<int, 3>"},
    {"std::array<int, 3ul>", "std::array<int, 3>"},
    {"(anonymous namespace)::Hidden", "(anonymous namespace)::Hidden"},
    {"{anonymous}::Hidden", "(anonymous namespace)::Hidden"},
    {"a::{lambda(int)#1}", "a::{lambda(int)#1}"},
    {"box<(anonymous namespace)::Hidden, true>", "box<(anonymous namespace)::Hidden, true>"},
    {"box<-1l>", "box<-1>"},
    {"box<(Color)2>", "box<(Color)2>"},
    {"std::_Sp_counted_ptr_inplace<Foo, std::allocator<void>, (__gnu_cxx::_Lock_policy)2>",
     "std::_Sp_counted_ptr_inplace<Foo>"},
    {"std::_Sp_counted_ptr_inplace<Foo, std::allocator<void>, __gnu_cxx::_S_atomic>",
     "std::_Sp_counted_ptr_inplace<Foo>"},
    {"not a type <", "not a type <"},
    {"", ""},
};

static void test_spellings(void **state)
{
    for (size_t i = 0; i < sizeof(spellings) / sizeof(*spellings); i++) {
        char *spelled = types_spelling(spellings[i].written);
        assert_string_equal(spelled, spellings[i].spelled);
        char *again = types_spelling(spelled);
        assert_string_equal(again, spelled);
        free(again);
        free(spelled);
    }
}

static void test_arguments(void **state)
{
    char *first = types_spelling_argument("std::pair<int const, Foo*>", 0);
    char *second = types_spelling_argument("std::pair<int const, Foo*>", 1);
    assert_string_equal(first, "const int");
    assert_string_equal(second, "Foo *");
    assert_null(types_spelling_argument("std::pair<int const, Foo*>", 2));
    assert_null(types_spelling_argument("int", 0));
    assert_null(types_spelling_argument("broken<int", 0));
    free(first);
    free(second);
}

static void test_hostile_nesting(void **state)
{
    char name[4096];
    for (size_t i = 0; i + 2 < sizeof(name); i += 2)
        memcpy(name + i, "a<", 2);
    name[sizeof(name) - 2] = '\0';
    char *spelled = types_spelling(name);
    assert_string_equal(spelled, name);
    free(spelled);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spellings),
        cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_hostile_nesting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
