/*
 * table_plan.h - the table-valued functions, their columns, and which conditions of a statement are their arguments.
 */
#ifndef TABLE_PLAN_H
#define TABLE_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include <sqlite3ext.h>

SQLITE_EXTENSION_INIT3

typedef enum function_kind { KIND_QUERY, KIND_NEAREST, KIND_GET, KIND_RECORDS, KIND_COUNT } function_kind;

/* The columns of a table. The hidden ones are the arguments of the function. */
enum { COLUMN_ID, COLUMN_FINGERPRINT, COLUMN_NAME, COLUMN_DISTANCE, COLUMN_STORE, COLUMN_QUERY, COLUMN_K };
#define ARGUMENT_COUNT 3 /* columns from COLUMN_STORE on */

/* The number of a plan: of its arguments, and whether the limit and the offset follow them. */
#define PLAN_ARGUMENTS 3
#define PLAN_HAS_LIMIT 4
#define PLAN_HAS_OFFSET 8

/* Does the function have the column `distance`? */
bool table_has_distance(function_kind kind);

/* Returns the column from its number in the table of the function. */
int table_column_of(function_kind kind, int number);

/* Returns how many arguments the function needs: the last one may be missing. */
int table_needed_arguments(function_kind kind);

/*
 * Choose the arguments among the conditions of a statement; info->idxNum becomes the number of the plan. All must be
 * known before the first row, so a plan in which one is not is refused with SQLITE_CONSTRAINT: in a join, SQLite then
 * puts the table that it comes from first.
 */
int plan_table(function_kind kind, sqlite3_index_info *info);

/* Returns how many rows are needed; UINT64_MAX: all. `values` has the limit and the offset, as the plan says. */
uint64_t table_needed_rows(int plan, sqlite3_value **values);

#endif
