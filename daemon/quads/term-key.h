/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The key under which a term is found: 128 bits of SipHash over kind, qualifier and lexical form.
 *
 * Place: room quads. Keyed with a secret of the store, so an attacker cannot write a file of terms that all collide.
 * Invariant: equal terms have equal keys; a language tag counts in lower case. The low half is what queryd_term_hash holds.
 */
#pragma once

#include "daemon/rdf/term.h"

typedef struct QdTermKey {
    guint64 low;
    guint64 high;
} QdTermKey;

QdTermKey qd_term_key_compute(const QdTermKey *secret, const QdTerm *term);
