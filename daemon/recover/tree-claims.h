/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which pages are referred to, by how many pages of trees, and which of these have no right to.
 *
 * Place: room recover, for tree-scan. A page of one tree over one of another refers to pages that another page refers to already.
 * Its references are taken back when it is recognized: then the other tree keeps its pages.
 * Invariant: a page is looked into once, at its first reference.
 */
#pragma once

#include "daemon/recover/page-twins.h"
#include "daemon/recover/tree-place.h"

#define QD_TREE_REFERENCES 0x7fu

typedef struct QdTreeClaims {
    QdPageFile *file; /* (not owned) */
    guint8 *pages;    /* (owned) for each: how many refer to it, in the bits QD_TREE_REFERENCES; the other bit is free for use */
    QdPageTwins twins;
    gboolean are_disputed; /* some of them */
} QdTreeClaims;

void qd_tree_claims_init(QdTreeClaims *self, QdPageFile *file);
void qd_tree_claims_clear(QdTreeClaims *self);

/* Loads a page; FALSE: it cannot be read, or is none of a tree. @buffer: a page */
gboolean qd_tree_claims_load(const QdTreeClaims *self, guint32 page, guint8 *buffer, QdPageCells *ret_cells);
/* A tree's. */
void qd_tree_claims_count(QdTreeClaims *self, guint32 root);
/* Takes back those of a page that is not in its place. */
void qd_tree_claims_take_back(QdTreeClaims *self, const QdPageCells *cells);
gboolean qd_tree_claims_is_disputed(const QdTreeClaims *self, guint32 page);
/* Whether the same rows stand on another page. */
gboolean qd_tree_claims_has_twin(QdTreeClaims *self, const QdPageCells *cells);
