# SPDX-License-Identifier: BSD-2-Clause
"""many_sites.py FUNCTIONS CALLS: a C program that allocates once at each of FUNCTIONS * CALLS call sites."""
import sys

functions, calls = int(sys.argv[1]), int(sys.argv[2])
print("#include <stdlib.h>")
for function in range(functions):
    print(f"struct s{function} {{ struct s{function} *next; int value[{function % 7 + 1}]; }};")
    print(f"static void f{function}(void **out)\n{{")
    for call in range(calls):
        print(f"    struct s{function} *p{call} = malloc(sizeof *p{call});")
        print(f"    p{call}->value[0] = {call};\n    out[{call}] = p{call};")
    print("}")
names = ", ".join(f"f{function}" for function in range(functions))
print(f"static void (*const all[])(void **) = {{{names}}};")
print(f"""int main(void)
{{
    static void *out[{calls}];
    for (int i = 0; i < {functions}; i++) {{
        all[i](out);
        for (int k = 0; k < {calls}; k++)
            free(out[k]);
    }}
}}""")
