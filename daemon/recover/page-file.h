/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A database file as numbered pages, with the committed part of its write-ahead log laid over them; read without SQLite.
 *
 * Place: room recover, for salvage. Everything in the file is doubted: a header that cannot be right is replaced by what the
 * pages show. A file that is missing is as one without pages, if there is a log.
 * Invariant: the file is only read. No connection of this process may be open on it: closing our descriptor drops its locks.
 */
#pragma once

#include <glib.h>

typedef struct QdPageFile QdPageFile;

typedef struct QdPageFileInfo {
    guint32 page_size;
    guint32 usable_size; /* of a page: without the bytes reserved for extensions */
    guint32 n_pages;
    guint32 n_known_pages; /* as the file's header or the log says; 0: neither does */
    guint32 first_free;    /* page: head of the list of free ones; 0: none */
    guint32 n_free;
    guint32 encoding; /* 1 UTF-8, 2 UTF-16LE, 3 UTF-16BE */
    guint32 auto_vacuum;
    guint32 schema_cookie; /* grows with each change of the schema; 0: the header is not one */
    guint32 schema_format; /* 0: it is not known */
    gboolean has_numbers;  /* the next two are believed: something else of the header is right */
    gint32 user_version;
    gint32 application_id;
    gboolean header_damaged; /* what stands here was guessed */
    guint32 n_log_pages;     /* of the pages, so many come from the log */
    gboolean log_damaged;    /* the log goes on after its last whole transaction */
} QdPageFileInfo;

/* Errors: CORRUPT when nothing in the file looks like a page; what opening and reading give. */
QdPageFile *qd_page_file_open(const char *path, GError **error);
QdPageFile *qd_page_file_free(QdPageFile *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdPageFile, qd_page_file_free)

const QdPageFileInfo *qd_page_file_get_info(const QdPageFile *self);
/* @number: from 1. @buffer: page_size bytes. Returns: false when there is no such page, or the disk does not give it */
gboolean qd_page_file_read(QdPageFile *self, guint32 number, guint8 *buffer);
/* Pages that the disk has not given. *@ret_is_gone: what it gave before it gives no more: nothing is known of the rest */
guint qd_page_file_get_n_unreadable(const QdPageFile *self, gboolean *ret_is_gone);

#define QD_PAGE_HEADER_BYTES 100
#define QD_PAGE_FORMAT_DESC 4u /* schemas of older formats say DESC, and keys ascend */

/* What a database begins with (https://www.sqlite.org/fileformat2.html#the_database_header). *@ret_n_pages: as far as it is known,
 * else 0. Returns: FALSE when this is no such header: both are worth nothing */
gboolean qd_page_header_parse(const guint8 header[QD_PAGE_HEADER_BYTES], guint32 *ret_page_size, guint32 *ret_n_pages);
/* How often the schema has changed; 0: this is no such header. */
guint32 qd_page_header_get_schema_cookie(const guint8 header[QD_PAGE_HEADER_BYTES]);
