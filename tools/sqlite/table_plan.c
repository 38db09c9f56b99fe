/*
 * table_plan.c - which conditions of a statement are the arguments of a table-valued function.
 */
#include "sqlite/table_plan.h"

bool table_has_distance(function_kind kind)
{
    return kind == KIND_QUERY || kind == KIND_NEAREST;
}

int table_column_of(function_kind kind, int number)
{
    return number >= COLUMN_DISTANCE && !table_has_distance(kind) ? number + 1 : number;
}

int table_needed_arguments(function_kind kind)
{
    return kind == KIND_RECORDS ? 1 : 2;
}

/* SQLite 3.38 and later tells the limit of a statement that reads this table alone and has no condition that it does
 * not tell. */
#ifndef SQLITE_INDEX_CONSTRAINT_LIMIT
#define SQLITE_INDEX_CONSTRAINT_LIMIT 73
#define SQLITE_INDEX_CONSTRAINT_OFFSET 74
#endif

static bool is_limit(const struct sqlite3_index_constraint *constraint)
{
    return constraint->op == SQLITE_INDEX_CONSTRAINT_LIMIT || constraint->op == SQLITE_INDEX_CONSTRAINT_OFFSET;
}

/* Matches come by distance. */
static bool has_order(const sqlite3_index_info *info)
{
    return info->nOrderBy == 0 ||
           (info->nOrderBy == 1 && info->aOrderBy[0].iColumn == COLUMN_DISTANCE && !info->aOrderBy[0].desc);
}

/* Take the limit and the offset as arguments, if all other conditions are arguments too, so that the first rows are
 * enough. SQLite still applies both. */
static void take_limit(sqlite3_index_info *info)
{
    const int given = info->idxNum;
    int places[2] = {-1, -1}, count = 0; /* of the limit and the offset */
    for (int i = 0; i < info->nConstraint; i++)
        if (is_limit(&info->aConstraint[i]) && info->aConstraint[i].usable) {
            places[info->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_OFFSET] = i;
            count++;
        }
    if (places[0] < 0 || given + count != info->nConstraint)
        return;
    info->aConstraintUsage[places[0]].argvIndex = given + 1;
    info->idxNum |= PLAN_HAS_LIMIT;
    if (places[1] >= 0) {
        info->aConstraintUsage[places[1]].argvIndex = given + 2;
        info->idxNum |= PLAN_HAS_OFFSET;
    }
}

int plan_table(function_kind kind, sqlite3_index_info *info)
{
    int places[ARGUMENT_COUNT] = {-1, -1, -1}, given = 0;
    for (int i = 0; i < info->nConstraint; i++) {
        const struct sqlite3_index_constraint *constraint = &info->aConstraint[i];
        const int column = table_column_of(kind, constraint->iColumn);
        if (constraint->op != SQLITE_INDEX_CONSTRAINT_EQ || column < COLUMN_STORE)
            continue;
        if (!constraint->usable)
            return SQLITE_CONSTRAINT;
        places[column - COLUMN_STORE] = i;
    }
    for (int i = 0; i < ARGUMENT_COUNT && places[i] >= 0; i++) {
        info->aConstraintUsage[places[i]].argvIndex = ++given;
        info->aConstraintUsage[places[i]].omit = 1;
    }
    /* A plan without them is only for one of several conditions with OR, or fails at its first row. */
    const bool is_whole = given >= table_needed_arguments(kind);
    info->idxNum = given;
    if (is_whole && table_has_distance(kind) && has_order(info)) {
        info->orderByConsumed = info->nOrderBy > 0;
        take_limit(info);
    }
    info->estimatedCost = !is_whole ? 1e300 : kind == KIND_RECORDS ? 1e6 : 100;
    info->estimatedRows = kind == KIND_RECORDS ? 1000000 : 10;
    return SQLITE_OK;
}

uint64_t table_needed_rows(int plan, sqlite3_value **values)
{
    if (!(plan & PLAN_HAS_LIMIT) || sqlite3_value_type(values[0]) != SQLITE_INTEGER)
        return UINT64_MAX;
    const sqlite3_int64 limit = sqlite3_value_int64(values[0]);
    const sqlite3_int64 offset = plan & PLAN_HAS_OFFSET ? sqlite3_value_int64(values[1]) : 0;
    if (limit < 0) /* none */
        return UINT64_MAX;
    const uint64_t rows = (uint64_t)limit + (offset > 0 ? (uint64_t)offset : 0);
    return rows > 0 ? rows : 1;
}
