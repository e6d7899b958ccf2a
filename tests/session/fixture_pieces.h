/* SPDX-License-Identifier: BSD-2-Clause */
/* Cuts stacks into pieces by SQL, as ingest does by its own code. */
#ifndef MPROF_TESTS_SESSION_FIXTURE_PIECES_H
#define MPROF_TESTS_SESSION_FIXTURE_PIECES_H

/*
 * Fills stack_piece and piece_frame, which must be empty, from a table whole(stack_id, depth,
 * frame_id) of the temporary schema, and drops that. A piece has at most eight frames and pieces
 * are cut from the outermost frame on.
 */
#define FIXTURE_CUT_PIECES(schema)                                                                 \
    "CREATE TEMP TABLE cut AS SELECT stack_id, min(depth) AS depth, max(depth) AS last FROM"       \
    "  (SELECT *, (max(depth) OVER (PARTITION BY stack_id) - depth) / 8 AS part FROM whole)"       \
    "  GROUP BY stack_id, part ORDER BY 1, 2;"                                                     \
    "ALTER TABLE temp.cut ADD COLUMN frames; UPDATE temp.cut AS c SET frames ="                    \
    "  (SELECT group_concat(frame_id) FROM (SELECT frame_id FROM whole AS w WHERE"                 \
    "    w.stack_id = c.stack_id AND w.depth BETWEEN c.depth AND c.last ORDER BY w.depth));"       \
    "CREATE TEMP TABLE piece(id INTEGER PRIMARY KEY, cut, frames UNIQUE);"                         \
    "INSERT INTO piece(cut, frames) SELECT min(rowid), frames FROM cut GROUP BY 2 ORDER BY 1;"     \
    "INSERT INTO " schema ".stack_piece SELECT c.stack_id, c.depth, p.id FROM cut c"               \
    "  JOIN piece p USING (frames);"                                                               \
    "INSERT INTO " schema ".piece_frame SELECT p.id, w.depth - c.depth, w.frame_id FROM piece p"   \
    "  JOIN cut c ON c.rowid = p.cut JOIN whole w ON w.stack_id = c.stack_id"                      \
    "    AND w.depth BETWEEN c.depth AND c.last;"                                                  \
    "DROP TABLE temp.whole; DROP TABLE temp.cut; DROP TABLE temp.piece;"

#endif
