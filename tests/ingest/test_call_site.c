/* SPDX-License-Identifier: BSD-2-Clause */
/* The names that are allocators, wrappers and operators, as a demangler writes them. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "ingest/replay/frames.h"

static void roles(void **state)
{
    static const struct {
        const char *name;
        enum function_role role;
        const char *linkage_name;
    } cases[] = {
        {"operator new(unsigned long)", ROLE_ALLOCATOR},
        {"operator new[](unsigned long, std::nothrow_t const&)", ROLE_ALLOCATOR},
        {"std::allocator<char>::allocate(unsigned long)", ROLE_ALLOCATOR},
        {"__gnu_cxx::new_allocator<std::pair<int const, (anonymous namespace)::T> >::allocate("
         "unsigned long, void const*)",
         ROLE_ALLOCATOR},
        {"std::__new_allocator<int>::allocate", ROLE_ALLOCATOR},
        {"std::allocator_traits<std::allocator<int> >::allocate(std::allocator<int>&, unsigned "
         "long)",
         ROLE_ALLOCATOR},
        {"std::_Vector_base<int, std::allocator<int> >::_M_allocate(unsigned long)",
         ROLE_ALLOCATOR},
        {"std::_Rb_tree_node<std::pair<int const, int> >* std::_Rb_tree<int, std::pair<int const, "
         "int>, std::_Select1st<int>, std::less<int>, std::allocator<int> "
         ">::_M_create_node<int&>(int&)",
         ROLE_ALLOCATOR},
        {"std::_Rb_tree<int, int, std::_Identity<int>, std::less<int>, std::allocator<int> "
         ">::_Auto_node::_Auto_node<int const&>(std::_Rb_tree<int, int>&, int const&)",
         ROLE_ALLOCATOR},
        {"std::vector<int, std::allocator<int> >::reserve(unsigned long)", ROLE_NONE},
        {"xmalloc", ROLE_WRAPPER},
        {"zmalloc", ROLE_WRAPPER},
        {"g_malloc0", ROLE_WRAPPER},
        {"PyMem_RawMalloc", ROLE_WRAPPER},
        {"PyObject_Malloc", ROLE_WRAPPER},
        {"strdup", ROLE_WRAPPER},
        {"fopen", ROLE_NONE},
        {"getline", ROLE_NONE},
        {"main", ROLE_NONE},
        {"my_xmalloc_test", ROLE_NONE},
        {"depot::Box<int>::operator new(unsigned long)", ROLE_ALLOCATOR},
        {"Box::operator delete[](void*, unsigned long)", ROLE_ALLOCATOR},
        {"parser::operator new_rule(int)", ROLE_NONE},
        {"T::operator()(int)", ROLE_NONE},
        {"", ROLE_NONE},
        {"(((", ROLE_NONE, NULL},
        /* Rust: the crates alloc and core work for their callers, std does not. */
        {"alloc::alloc::exchange_malloc", ROLE_ALLOCATOR,
         "_ZN5alloc5alloc15exchange_malloc17h0123456789abcdefE"},
        {"alloc::alloc::exchange_malloc", ROLE_NONE, "_ZN5alloc5alloc15exchange_mallocEv"},
        {"<alloc::vec::Vec<shop::Item>>::push", ROLE_ALLOCATOR,
         "_RNvMs_NtCs1_5alloc3vecINtB4_3VecNtCs2_4shop4ItemE4pushB15_"},
        {"std::io::buffered::bufreader::BufReader<R>::with_capacity", ROLE_NONE,
         "_ZN3std2io17h0123456789abcdefE"},
        {"<shop::Counting as core::alloc::global::GlobalAlloc>::alloc", ROLE_ALLOCATOR,
         "_ZN4shop17h0123456789abcdefE"},
        {"__rust_alloc", ROLE_ALLOCATOR, NULL},
        /* Other languages */
        {"_d_newclass", ROLE_WRAPPER, NULL},
        {"core.internal.gc.impl.manual.gc.ManualGC.malloc(ulong, uint, const(TypeInfo))",
         ROLE_WRAPPER, "_D4core8internal2gc4impl6manual"},
        {"__gnat_malloc", ROLE_WRAPPER, NULL},
        {"cases__make_derived__P2779b.607", ROLE_WRAPPER, NULL},
        {"class_createInstance", ROLE_WRAPPER, NULL},
        {"_cgo_0a1b2c_Cfunc__Cmalloc", ROLE_WRAPPER, NULL},
        {"CMEM_$$_CGETMEM$QWORD$$POINTER", ROLE_WRAPPER, NULL},
        {"objc_registerClassPair", ROLE_NONE, NULL},
        {"shop::main", ROLE_NONE, "_ZN4shop4main17h0123456789abcdefE"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const enum function_role role = call_site_role(cases[i].name, cases[i].linkage_name);
        if (role != cases[i].role)
            fail_msg("%s: role %d", cases[i].name, (int)role);
    }
}

static void operators(void **state)
{
    assert_int_equal(call_site_operator("operator new(unsigned long)"), OPERATOR_NEW);
    assert_int_equal(call_site_operator("operator new[](unsigned long)"), OPERATOR_NEW_ARRAY);
    assert_int_equal(call_site_operator("operator new(unsigned long, std::align_val_t)"),
                     OPERATOR_NEW | OPERATOR_ALIGNED);
    assert_int_equal(call_site_operator("operator new[](unsigned long, std::nothrow_t const&)"),
                     OPERATOR_NEW_ARRAY | OPERATOR_NOTHROW);
    assert_int_equal(call_site_operator_linkage("_Znwm@GLIBCXX_3.4"), OPERATOR_NEW);
    assert_int_equal(call_site_operator_linkage("_Znwmx"), OPERATOR_OTHER);
    assert_int_equal(call_site_operator_linkage("_ZnamSt11align_val_tRKSt9nothrow_t"),
                     OPERATOR_NEW_ARRAY | OPERATOR_ALIGNED | OPERATOR_NOTHROW);
    assert_int_equal(call_site_operator("operator delete(void*)"), OPERATOR_OTHER);
    assert_int_equal(call_site_operator("newer(int)"), OPERATOR_OTHER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(roles), cmocka_unit_test(operators)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
