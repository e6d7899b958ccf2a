/* SPDX-License-Identifier: BSD-2-Clause */
/* A C program that evaluates Lisp: in its first thread, in one that it makes known to ECL, from C
 * that Lisp calls, and in a forked child. */
#include <ecl/ecl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static cl_object evaluate(const char *text)
{
    return cl_eval(ecl_read_from_cstring(text));
}

/* (called-from-lisp N): C code that makes a vector. */
static cl_object called_from_lisp(cl_object size)
{
    return ecl_alloc_simple_vector(ecl_to_fixnum(size), ecl_aet_object);
}

static void *run(void *nothing)
{
    (void)nothing;
    ecl_import_current_thread(ECL_NIL, ECL_NIL);
    evaluate("(inside 3101)");
    ecl_release_current_thread();
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    int status = 1;
    free(malloc(3901)); /* of the heap, before there is a Lisp */
    cl_boot(argc, argv);
    evaluate("(defun inside (n) (make-array n))");
    evaluate("(defun outside (n) (list (called-from-lisp n)))");
    ecl_def_c_function(ecl_make_symbol("CALLED-FROM-LISP", "COMMON-LISP-USER"),
                       (cl_objectfn_fixed)called_from_lisp, 1);
    evaluate("(inside 3001)");
    evaluate("(outside 3201)");
    pthread_create(&thread, NULL, run, NULL);
    pthread_join(thread, NULL);
    free(malloc(3902)); /* of the heap, by C */
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        evaluate("(inside 3301)");
        _exit(0);
    }
    waitpid(child, &status, 0);
    cl_shutdown();
    return status != 0;
}
