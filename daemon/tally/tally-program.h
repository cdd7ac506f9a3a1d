/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The program of a tally: a tree in prefix notation, whose parts are vectors of one variable each.
 *
 *     sPP oPP     subjects (objects) of predicate PP, with how many objects (subjects) each has
 *     uPP vPP     the same, each once
 *     SPP x OPP x the same, with the sum of what x has for their objects (subjects)
 *     cPPNN dPPNN subjects (objects) of predicate PP that have the object (subject) NN
 *     ePP nPP     subjects that are an object of their own; with how many other objects each has
 *     fNN         the values of set NN, each once
 *     pC          predicates, with how many quads whose objects are of class C (QdTallyObjects) each has
 *     * + ? - &   two parts: both; one or the other; the second OPTIONAL; MINUS the second; where the second EXISTS
 *
 * PP and NN are numbers of two digits into the ids. A program begins with '=' (all values), '#' (the sum of their numbers alone) or
 * '$' (how many values there are). Others have no vector as their result. ':' is a way from one variable to another, whose values
 * it pairs; '@' a walk from variable to variable, and '%' the number of its solutions alone:
 *
 *     : x STEP …  from the values of x; x may be '.': those that the first step has
 *     sPPx oPPx   a step from subjects of PP to objects (from objects to subjects) that are values of x; '.': all
 *     @ x VARIABLE … = L …         from the values of x; the variables L are asked for beside the first one
 *     LINK … x                     a variable to which LINKs lead, among the values of x; '.': all
 *     ~ LINK .                     the same, unbound where it leads to none
 *     sLPP oLPP                    a link from variable L, subjects (objects) of PP; A is the first variable
 *
 * Place: room tally, internal to it; daemon/plan/tally writes programs. Any text may come: it is checked as it is read.
 */
#pragma once

#include "daemon/tally/tally-pairs.h"
#include "daemon/tally/tally-reader.h"
#include "daemon/tally/tally-source.h"
#include "daemon/tally/tally-vector.h"
#include "daemon/tally/tally-walk.h"

#define QD_TALLY_DEPTH_MAX 64

typedef struct QdTallyProgram {
    const char *text; /* NUL-terminated */
    const void *ids;  /* of 8 bytes each, at any address; NULL: none */
    gsize n_ids;      /* and what sets have: instead of an id the place of its number of values, before these */
} QdTallyProgram;

/* A place in a program. */
typedef struct QdTallyReadState {
    const QdTallyProgram *program;
    const char *at;
} QdTallyReadState;

/* The next id; FALSE: there is none. */
gboolean qd_tally_read_id(QdTallyReadState *self, gint64 *ret_id);
/* Whether a link of a walk comes next. */
gboolean qd_tally_is_at_link(const QdTallyReadState *self);

/* One of these. */
typedef struct QdTallyResult {
    QdTallyVector vector; /* of '#' and '$' one value 0, whose number may be 0 */
    QdTallyPairs *pairs;  /* (nullable) */
    QdTallyWalk *walk;    /* (nullable) */
    QdTallySource
        sources[QD_TALLY_ASKED_MAX + 1]; /* of the terms of pairs and walks: of the first value, and of what is asked for */
} QdTallyResult;

void qd_tally_result_clear(QdTallyResult *self);

/* @ret_result: all 0 before. Returns: as qd_tally_vector_combine(), and SQLITE_RANGE: it is no program */
int qd_tally_program_run(const QdTallyProgram *self, QdTallyReader *reader, QdTallyResult *ret_result);
