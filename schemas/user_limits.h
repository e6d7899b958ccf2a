/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The limits of what a user stores in a session: tables `named_graph` and `setting`. Readers skip
 * longer rows and further rows, so that a session from elsewhere cannot cost more.
 */
#pragma once

#define USER_GRAPH_NAME_MAX 64u /* bytes, as the next ones */
#define USER_GRAPH_TEXT_MAX 65536u
#define USER_SETTING_MAX 256u
#define USER_ROWS_MAX 1000u /* of one table */
/* The steps of SQLite's virtual machine for one look at these tables. */
#define USER_STEPS_MAX 2000000
