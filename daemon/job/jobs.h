/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Job threads: long work, and everything that touches a descriptor of the caller.
 *
 * Place: room job. Files cannot be polled, and O_NONBLOCK would change the caller's own descriptor: so a thread for each job.
 * Invariant: only job threads read or write foreign descriptors, and never map them.
 */
#pragma once

#include "daemon/rdf/rdf-format.h"

typedef struct QdCall QdCall;
typedef struct QdContext QdContext;
typedef struct QdJobs QdJobs;

QdJobs *qd_jobs_new(QdContext *context);
/* Waits for all jobs; cancel them first. */
QdJobs *qd_jobs_free(QdJobs *self);

/* Main thread: starts @call on a thread of its own; it finishes with BUSY at the limits of jobs. */
void qd_jobs_start(QdJobs *self, QdCall *call);
guint qd_jobs_get_n(QdJobs *self);

/* job-rdf.c: an Import in one of the formats of RDF. */
void qd_job_import_rdf(QdCall *call, QdRdfFormat format, GError **error);
