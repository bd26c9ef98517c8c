// Scripts: programs strung together with what a static graph cannot say: a branch, a loop whose length is
// known at run time, shapes that depend on data, text.
//
//   program   a graph that is built and compiled for each set of shapes it meets, run on the state's device
//   host      a function of the caller's, on the host, under a name
//   if, while, loop   around other nodes, by the value of a scalar
//
// Nodes run in the order in which they are added. What runs on the host is a node with a name, and
// weft_script_list tells all of them: nothing falls back to the host unseen.
//
// Nodes hand values on by name, in host memory; what should stay on the device is a variable of the state.
// A value's shape is what its last writer gave it. A text is u8 [bytes].
// A signature says what a node reads and writes: "tokens, length -> logits"; either side may be empty.
//
// As with graphs, the first error in building is kept, and weft_script_run returns it.
// examples/script.c is a whole one.
#ifndef WEFT_SCRIPT_H
#define WEFT_SCRIPT_H

#include <weft/graph.h>
#include <weft/run.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_script weft_script;

// An empty script. Ownership: destroy it before its state.
WEFT_API weft_status weft_script_create(weft_state *state, weft_script **out_script,
                                        weft_error *err);
// Accepts NULL.
WEFT_API void weft_script_destroy(weft_script *script);

// Adds the nodes of a program to graph: reads[i] is an input of the type that the i-th value read has now,
// writes[i] is to be set to the result for the i-th value written.
typedef weft_status (*weft_script_build)(void *user, weft_graph *graph, const weft_val *reads,
                                         weft_val *writes, weft_error *err);
// Called again for each new set of types; the eight programs used last are kept.
WEFT_API void weft_script_program(weft_script *script, const char *name, const char *signature,
                                  weft_script_build build, void *user);

// Computes on the host with weft_script_get and weft_script_set, which hold it to its signature. An error
// that it returns ends the run.
typedef weft_status (*weft_script_function)(void *user, weft_script *script, weft_error *err);
WEFT_API void weft_script_host(weft_script *script, const char *name, const char *signature,
                               weft_script_function function, void *user);

// Up to weft_script_else or weft_script_end: nodes that run if the scalar `condition` (bool, i32, i64) is
// not 0; between else and end: if it is.
WEFT_API void weft_script_if(weft_script *script, const char *name, const char *condition);
WEFT_API void weft_script_else(weft_script *script);
// Up to weft_script_end: nodes that run as often as the scalar `count` (i32, i64) says when the loop begins;
// 0 or less: never. The round, from 0, is an i64 value under the loop's own name.
WEFT_API void weft_script_loop(weft_script *script, const char *name, const char *count);
// Up to weft_script_end: nodes that run as long as the scalar `condition` is not 0, asked before each round.
WEFT_API void weft_script_while(weft_script *script, const char *name, const char *condition);
WEFT_API void weft_script_end(weft_script *script);

// Runs all nodes.
// Errors: what building recorded; WEFT_ERR_NAME (a value that nothing has written), WEFT_ERR_SHAPE (a
// condition or count that is no scalar), as weft_compile and weft_program_check, and what a host node
// returned; the message begins with the node.
WEFT_API weft_status weft_script_run(weft_script *script, weft_error *err);

// Sets a value: data is copied, row-major, of type's dtype. In a host node: only what it writes.
WEFT_API weft_status weft_script_set(weft_script *script, const char *value, const weft_type *type,
                                     const void *data, weft_error *err);
// out_data is borrowed until the value is set again. In a host node: only what it reads.
WEFT_API weft_status weft_script_get(const weft_script *script, const char *value,
                                     weft_type *out_type, const void **out_data, weft_error *err);
// One i64 value, or for get one bool, i32 or i64.
WEFT_API weft_status weft_script_set_number(weft_script *script, const char *value, int64_t number,
                                            weft_error *err);
WEFT_API weft_status weft_script_get_number(const weft_script *script, const char *value,
                                            int64_t *out_number, weft_error *err);

typedef struct weft_script_node {
    const char *kind;      // "program", "host", "if", "else", "loop", "while"
    const char *name;      // of an else: its if's
    const char *signature; // "tokens -> logits"; of the others the scalar
    int32_t depth;         // of blocks around it
} weft_script_node;

// All nodes in order; names are borrowed. Nothing runs.
WEFT_API weft_status weft_script_list(const weft_script *script,
                                      void (*found)(void *user, const weft_script_node *node),
                                      void *user, weft_error *err);

#ifdef __cplusplus
}
#endif
#endif
