// SPDX-License-Identifier: BSD-2-Clause
// Blocks whose types the program states: see languages.py.
#import <objc/Object.h>
#import <objc/runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define NOINLINE __attribute__((noinline))
@interface Point : Object { @public double x, y; } + (id)make; - (void)name:(const char *)text; @end
@interface Named : Point { @public char *name; int n[20]; } @end
struct V3 { float x, y, z; };
struct entry { struct entry *next; int key; double values[5]; };
static id objects[8];
static char *texts[4];
static struct V3 *vectors;
static struct entry *entries;
static int *numbers;
@implementation Point
+ (id)make {
    Point *p = class_createInstance(self, 0); //={Point,Named}
    p->x = 1;
    return p;
}
- (void)name:(const char *)text {
    texts[0] = strdup(text); //=buffer
}
@end
@implementation Named
- (void)fill:(int)count {
    name = malloc(count); //=buffer
    memset(name, 'x', count);
}
@end
NOINLINE static void vector(int n) {
    vectors = malloc(sizeof(struct V3) * n); //=V3
    vectors[0].x = 1;
}
NOINLINE static void entry(int key) {
    struct entry *made = calloc(1, sizeof(*made)); //=entry
    made->key = key;
    made->next = entries;
    entries = made;
}
NOINLINE static void grow(int n) {
    numbers = realloc(numbers, n * sizeof(*numbers)); //=int
    numbers[n - 1] = n;
}
NOINLINE static id copy(id object) {
    return object_copy(object, 100); //=
}
NOINLINE static void class(const char *name) {
    Class made = objc_allocateClassPair([Point class], name, 0); //=
    objc_registerClassPair(made);
    objects[3] = class_createInstance(made, 0); //=
}
NOINLINE static void text(int n) {
    texts[1] = malloc(n); //=buffer
    snprintf(texts[1], n, "%d", n);
}
NOINLINE static void list(int n) {
    id *all = calloc(n, sizeof(id)); //={objc_object *,id,Object *,objc_object}
    all[0] = objects[0];
    objects[4] = (id)all;
}
int main(void) {
    objects[0] = [Point make];
    objects[1] = [Named make];
    [objects[0] name:"a name"];
    [(Named *)objects[1] fill:100];
    vector(4);
    for (int i = 1; i < 6; i++) {
        entry(i);
        grow(i * 30);
    }
    objects[2] = copy(objects[0]);
    class("Made");
    text(33);
    list(9);
    printf("%d %s\n", numbers[3], texts[1]);
    exit(0);
}
