/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Ways to keep many contents; group-items.c runs each of them through create, modify, fetch and delete.
 *
 * Place: tests/bench.
 */
#pragma once

#include <sqlite3.h>

#include "tests/bench/bench.h"

/* The contents of so many items are in memory, where a job finds them. */
#define ITEMS_IN_FLIGHT 16u

typedef struct ItemsWay ItemsWay;

typedef struct ItemsRun {
    Bench *bench;
    const ItemsWay *way;
    gboolean relaxed;
    char *folder;     /* on the file system of the store, for what is not queryd's */
    guint n;          /* items */
    gsize size;       /* bytes of each */
    guint8 *pool;     /* of ITEMS_IN_FLIGHT contents, each with room to be shifted by its size */
    guint8 *content;  /* of the current item, in the pool */
    gpointer state;   /* the way's own */
    guint64 checksum; /* of what was fetched */
} ItemsRun;

struct ItemsWay {
    void (*open)(ItemsRun *run);
    /* One job for each item, by its number from 0; durable, unless relaxed, when it returns. */
    void (*create)(ItemsRun *run);
    void (*modify)(ItemsRun *run);
    void (*fetch)(ItemsRun *run);
    void (*remove)(ItemsRun *run);
    /* On the disk, of rows and files. */
    guint64 (*get_disk_bytes)(ItemsRun *run);
    void (*close)(ItemsRun *run);
    /* (nullable): the process that keeps them, whose memory is looked at */
    GPid (*get_server)(const ItemsRun *run);
};

extern const ItemsWay items_row;
extern const ItemsWay items_file;
extern const ItemsWay items_queryd;
extern const ItemsWay items_queryd_direct; /* fetches by a direct connection */
extern const ItemsWay items_postgresql;
extern const ItemsWay items_mariadb;

/* The content of item @number in its version: run->content, of run->size bytes; stays until that of ITEMS_IN_FLIGHT later ones. */
void items_fill(ItemsRun *run, guint number, guint version);
/* Reads every byte. */
void items_read(ItemsRun *run, const void *data, gsize n_bytes);
/* Files of a folder, in bytes on the disk. */
guint64 items_get_folder_bytes(const char *path);
/* Pages of the tables and indexes whose names begin with @prefix. */
guint64 items_get_table_bytes(ItemsRun *run, sqlite3 *db, const char *prefix);
