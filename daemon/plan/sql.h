/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * QdSql: a fragment of SQL that knows how deep it nests, which tables it names, and of what kind it is.
 *
 * Place: room plan, under relations; texts and sets live in the arena and never change. A maker says what its fragment is made of.
 * So nothing reads a text that was made to find out what is in it.
 */
#pragma once

#include <glib.h>

#include "daemon/sparql/arena.h"

#define QD_SQL_NONE ((QdSql){ .text = NULL })

/* Numbers of tables, from 1, ascending. */
typedef struct QdTableSet {
    guint n;
    guint numbers[];
} QdTableSet;

/* "q1", under which a SELECT names a table, and the set of its number alone. NULL: what is around the SELECT cannot see it. */
typedef struct QdTableName {
    const char *text;
    const QdTableSet *set;
} QdTableName;

typedef enum QdSqlKind {
    QD_SQL_OTHER,
    QD_SQL_TRUE,             /* a condition that always holds */
    QD_SQL_COLUMN,           /* of a table */
    QD_SQL_NODE,             /* of stored quads: the subject or the object */
    QD_SQL_SUBJECT,          /* such a NODE of a pattern */
    QD_SQL_PREDICATE,        /* of stored quads */
    QD_SQL_PREDICATE_LOOKUP, /* a condition: the predicate of stored quads is equal to something */
    QD_SQL_COALESCE,         /* a call, which takes another argument before its last byte */
} QdSqlKind;

typedef struct QdSql {
    const char *text; /* NULL: none */
    guint n_bytes;
    guint depth : 24; /* about how many entries of SQLite's parser stack, which has 100, it takes */
    QdSqlKind kind : 8;
    const struct QdSqlLookup *lookup; /* of a condition that looks up the predicate or the graph of stored quads; else NULL */
    const QdTableSet *tables;         /* whose columns it names; NULL: none, as the next */
    const QdTableSet *sought;         /* of stored quads whose subject or object it looks up */
} QdSql;

/* Of a condition that looks up a column of a table. One type for both kinds: a pointer more in each text makes plans too large. */
typedef struct QdSqlLookup {
    guint table;
    QdSql column;
    QdSql *values; /* of a predicate: it is to have one of these */
    guint n_values;
    QdSql apart; /* of a graph: the same condition, which does not lead to the index of named graphs; none: it leads to none */
} QdSqlLookup;

/* What an open parenthesis keeps on the parser's stack until it is closed, with what is before it. */
#define QD_DEPTH_GROUP 3
#define QD_DEPTH_CALL 5
#define QD_DEPTH_EXISTS 11
#define QD_DEPTH_EXISTS_WITH 15

/* A text without parentheses that names no table: "?1", "NULL". */
QdSql qd_sql_text(const char *text);

/* A string of SQL that has the value @text. */
QdSql qd_sql_string(QdArena *arena, const char *text);

/* A new name: @letter and @number. */
QdTableName qd_table_name_new(QdArena *arena, char letter, guint number);

/* "name.column" */
QdSql qd_sql_column(QdArena *arena, const QdTableName *table, const char *column, QdSqlKind kind);

/*
 * @template with a fragment in the place of each '@'. It is a literal of the maker, whose parentheses are counted: after a letter
 * or a '@' one of a call, else one that groups. EXISTS has a maker of its own.
 */
#define qd_sql_make(arena, template, ...) \
    qd_sql_fill((arena), (template), (const QdSql[]){ __VA_ARGS__ }, G_N_ELEMENTS(((const QdSql[]){ __VA_ARGS__ })))
QdSql qd_sql_fill(QdArena *arena, const char *template, const QdSql *parts, guint n_parts);

/* EXISTS(WITH RECURSIVE @with @select); @with: may be none. */
QdSql qd_sql_exists(QdArena *arena, QdSql with, QdSql select);

/* @a @operator @b, where the operator is "=" or "=+": an index can look up @a. */
QdSql qd_sql_equate(QdArena *arena, QdSql a, const char *operator, QdSql b);
/* @a is one of @values, one at least: an index can look up @a. */
QdSql qd_sql_is_among(QdArena *arena, QdSql a, const QdSql *values, guint n_values);
/* @parts with commas between them. */
QdSql qd_sql_list(QdArena *arena, const QdSql *parts, guint n_parts);

QdSql qd_sql_is_null(QdArena *arena, QdSql sql);
QdSql qd_sql_is_bound(QdArena *arena, QdSql sql);

/* The first of both that is not NULL: one call, however often it is put into another. */
QdSql qd_sql_coalesce(QdArena *arena, QdSql a, QdSql b);

/* Whether both are the same text. */
gboolean qd_sql_equal(const QdSql *a, const QdSql *b);

/* Whether @self names a column of the table. */
gboolean qd_sql_names(const QdSql *self, const QdTableName *table);
/* Whether it is nothing but a column of the table. */
gboolean qd_sql_is_column_of(const QdSql *self, const QdTableName *table);
/* Whether it is the subject or the object of stored quads. */
gboolean qd_sql_is_node(const QdSql *self);
/* Whether it looks up the subject or the object of the table's quads, wherever in it. */
gboolean qd_sql_seeks(const QdSql *self, const QdTableName *table);
/* Whether it is a condition that looks up the predicate of the table's quads. */
gboolean qd_sql_looks_up_predicate(const QdSql *self, const QdTableName *table);

/* A fragment under way. */
typedef struct QdSqlBuilder {
    QdArena *arena;
    GString *text;
    guint depth;
    const QdTableSet *tables, *sought;
} QdSqlBuilder;

#define QD_SQL_BYTES 500 /* that a text begins with room for */

QdSqlBuilder qd_sql_builder_new(QdArena *arena);
void qd_sql_builder_clear(QdSqlBuilder *self);
void qd_sql_append(QdSqlBuilder *self, QdSql part);
/* As qd_sql_text(). */
void qd_sql_append_text(QdSqlBuilder *self, const char *text);
/* @separator comes first unless @part is the first. */
void qd_sql_append_after(QdSqlBuilder *self, const char *separator, QdSql part);
/* text NULL: nothing was appended. */
QdSql qd_sql_finish(const QdSqlBuilder *self);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(QdSqlBuilder, qd_sql_builder_clear)
