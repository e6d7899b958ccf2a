#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""judge.py: checks the objections of tests/types/truth.py to an exact type, with stacks whose answer is
known, and those to a program's counts."""
import collections
import os
import sys

sys.path.insert(0, os.path.join(os.environ["MPROF_SOURCE"], "tests/types"))
sys.dont_write_bytecode = True
import truth

NEW = "operator new(unsigned long)"
VECTOR = "std::vector<Node*, std::allocator<Node*> >"
BASE = "std::_Vector_base<Node*, std::allocator<Node*> >"
TREE = "std::_Rb_tree<int, std::pair<int const, Token>, std::_Select1st<std::pair<int const, Token> >, std::less<int> >"
INTS = "std::vector<int, std::allocator<int> >"
BYTES = "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"
CASES = [
    # type, frames from the allocator outward, whether they deny it
    ("Node *", [f"{BASE}::_M_allocate(unsigned long)", f"{VECTOR}::push_back(Node* const&)", "main"], False),
    ("Edge *", ["std::__new_allocator<Edge*>::allocate(unsigned long, void const*)",
                "std::allocator_traits<std::allocator<Edge*> >::allocate(std::allocator<Edge*>&, unsigned long)",
                f"{BASE}::_M_allocate(unsigned long)", f"{VECTOR}::push_back(Node* const&)", "main"], True),
    ("Edge *", [f"void {VECTOR}::_M_realloc_insert<Node*>(int)", "main"], True),
    ("std::_Rb_tree_node<std::pair<const int, Token>>", [f"{TREE}::_M_get_node()", "main"], False),
    ("std::_Rb_tree_node<std::pair<const int, Request>>", [f"{TREE}::_M_get_node()", "main"], True),
    # A container in a container, the bytes of a string in one, and user code in between.
    ("int", [f"{INTS}::vector({INTS} const&)", f"std::vector<{INTS} >::push_back({INTS} const&)", "main"], False),
    ("buffer", ["void std::vector<char, std::allocator<char> >::_M_realloc_insert<char>(int)", "main"], False),
    ("buffer", [f"void {VECTOR}::_M_realloc_insert<Node*>(int)", "main"], True),
    ("std::string buffer", [f"{BYTES}::_M_create(unsigned long&)", f"std::vector<{BYTES} >::reserve(int)"], False),
    ("Thing", ["make(int)", f"{VECTOR}::push_back(Node* const&)", "main"], False),
    ("std::__detail::_Hash_node_base *",
     ["std::_Hashtable<int, std::pair<int const, Token>, A, B>::_M_rehash(unsigned long)", "main"], False),
]
failed = [case for case in CASES if (truth.contradiction(case[0], [NEW] + case[1]) is not None) != case[2]]
for kind, frames, denied in failed:
    print(f"{kind} in {frames[0]} is {'not ' if denied else ''}denied")
for counts, bad in [({"right inferred": 49, "wrong inferred": 1}, False), ({"right inferred": 48, "wrong inferred": 1}, True),
                    ({"right exact": 99, "wrong exact": 1}, True), ({"right exact": 99, "denied": 1}, True)]:
    if truth.bad(collections.Counter(counts)) != bad:
        failed.append(counts)
        print(f"{counts} counts as {'good' if bad else 'bad'}")
sys.exit(bool(failed))
