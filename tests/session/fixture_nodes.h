/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes the tree of stacks by SQL, as ingest does by its own code. */
#ifndef MPROF_TESTS_SESSION_FIXTURE_NODES_H
#define MPROF_TESTS_SESSION_FIXTURE_NODES_H

/*
 * Fills stack_node, stack_run and stack.node_id from a table whole(stack_id, depth, frame_id) of
 * the temporary schema, and drops that. A node is named by its path from the outermost frame on. In
 * the order of these names each node comes before all that are inwards of it.
 */
#define FIXTURE_NODES(schema)                                                                      \
    "CREATE TEMP TABLE place AS SELECT stack_id, depth, frame_id,"                                 \
    "  group_concat(printf('%07d', frame_id), '') OVER"                                            \
    "    (PARTITION BY stack_id ORDER BY depth DESC) AS path FROM whole;"                          \
    "CREATE TEMP TABLE node(id INTEGER PRIMARY KEY, path UNIQUE, frame_id);"                       \
    "INSERT INTO node(path, frame_id) SELECT DISTINCT path, frame_id FROM place"                   \
    "  ORDER BY path DESC;"                                                                        \
    "DELETE FROM " schema ".stack_node; DELETE FROM " schema ".stack_run;"                         \
    "INSERT INTO " schema ".stack_node SELECT n.id, ifnull(p.id, 0), n.frame_id FROM node n"       \
    "  LEFT JOIN node p ON p.path = substr(n.path, 1, length(n.path) - 7) ORDER BY n.id;"          \
    "INSERT INTO " schema ".stack_run SELECT stack_id, min(depth), min(id), count(*)"              \
    "  FROM place JOIN node USING (path) GROUP BY stack_id, id - depth;"                           \
    "CREATE TEMP TABLE inner_node(stack_id INTEGER PRIMARY KEY, id);"                              \
    "INSERT INTO inner_node SELECT p.stack_id, n.id FROM place p JOIN node n USING (path)"         \
    "  WHERE p.depth = 0;"                                                                         \
    "UPDATE " schema ".stack SET node_id = (SELECT i.id FROM inner_node i"                         \
    "  WHERE i.stack_id = stack.id);"                                                              \
    "DROP TABLE temp.whole; DROP TABLE temp.place; DROP TABLE temp.node;"                          \
    "DROP TABLE temp.inner_node;"

#endif
