// SPDX-License-Identifier: BSD-2-Clause
// Blocks whose types the program states: see languages.py. Go's own heap is not malloc's; C's is.
package main

/*
#include <stdlib.h>
#include <string.h>
struct rec { int id; double v[4]; };
struct list { struct list *next; int n; };
static struct rec *make(int i) {
    struct rec *r = malloc(sizeof *r); //=rec
    r->id = i;
    return r;
}
static struct list *push(struct list *l, int n) {
    struct list *made = calloc(1, sizeof(*made)); //=list
    made->next = l;
    made->n = n;
    return made;
}
static double *grow(double *old, int n) {
    double *v = realloc(old, n * sizeof(*v)); //=double
    v[n - 1] = n;
    return v;
}
*/
import "C"
import "fmt"
import "unsafe"

var keep []*C.struct_rec
var list *C.struct_list
var numbers *C.double
var texts []*C.char
var raw unsafe.Pointer

//go:noinline
func records(n int) {
	for i := 0; i < n; i++ {
		keep = append(keep, C.make(C.int(i)))
	}
}

//go:noinline
func push(n int) { list = C.push(list, C.int(n)) }

//go:noinline
func text(s string) {
	texts = append(texts, C.CString(s)) //=
}

//go:noinline
func block(n int) {
	raw = C.malloc(C.size_t(n)) //=
}

//go:noinline
func bytes(n int) {
	raw = C.CBytes(make([]byte, n)) //=
}

//go:noinline
func copied(s *C.char) {
	texts = append(texts, C.strdup(s)) //=buffer
}

func main() {
	records(5)
	push(3)
	numbers = C.grow(numbers, 10)
	text("a go string for c")
	block(333)
	bytes(777)
	copied(texts[0])
	fmt.Println(len(keep), len(texts))
}
