/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Job threads: long work, and everything that touches a descriptor of the caller.
 *
 * Place: layer 4. Files cannot be polled, and O_NONBLOCK would change the caller's own descriptor: so a thread for each job.
 * Invariant: only job threads read or write foreign descriptors, and never map them.
 */
#pragma once

#include "daemon/exec/engine-private.h"
#include "daemon/rdf/rdf-format.h"

QdJobs *qd_jobs_new(QdEngine *engine);
/* Waits for all jobs; cancel them first. */
QdJobs *qd_jobs_free(QdJobs *self);

/* Main thread: starts @call on a thread of its own; it finishes with BUSY at the limits of jobs. */
void qd_jobs_start(QdJobs *self, QdCall *call);
guint qd_jobs_get_n(QdJobs *self);

/* job-rdf.c: an Import in one of the formats of RDF. */
void qd_job_import_rdf(QdCall *call, QdRdfFormat format, GError **error);

/* false with BAD_PARAMETER when the caller's descriptor is of no kind that one can stream to or from, or of our own files. */
gboolean qd_job_check_descriptor(QdCall *call, GError **error);
/* Blocking I/O on a foreign descriptor that ends when the job is cancelled. */
gboolean qd_job_write(QdCall *call, const void *data, gsize n_bytes, GError **error);
/* Returns: bytes read, 0 at the end, -1 with @error set */
gssize qd_job_read(QdCall *call, void *data, gsize n_bytes, GError **error);
gboolean qd_job_is_cancelled(QdCall *call, GError **error);
