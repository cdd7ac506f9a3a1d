/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A shop as RDF, of any size: products of a type with features, offers of vendors, reviews of people; and questions about it.
 *
 * Place: tests/bench, for group-scale.c. What a thing has follows from its number alone, so data need not be kept to ask about
 * it. Types and features grow with the products, so that a question finds as much in a large shop as in a small one.
 */
#pragma once

#include <glib.h>

#define SHOP_N_QUERIES 12

typedef struct Shop {
    guint n_products;
} Shop;

/* A shop of about @n_triples. */
Shop shop_of_size(guint64 n_triples);

/* Begins to write the shop as N-Triples: (transfer full): the end of a pipe to be read. The writer ends with the last triple. */
int shop_start_writing(const Shop *self);

/* What question @number, from 0, is called. */
const char *shop_get_query_name(guint number);

/* (transfer full): question @number about thing @instance. */
char *shop_make_query(const Shop *self, guint number, guint instance);
