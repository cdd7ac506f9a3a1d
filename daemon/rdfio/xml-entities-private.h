/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the two halves of the reader of entities share: its state, and the bytes of the uppermost source.
 *
 * Place: room rdfio, private to xml-entities.c and xml-dtd.c.
 */
#pragma once

#include "daemon/rdfio/xml-entities.h"

#define QD_XML_END (-1)
#define QD_XML_NAME_BYTES_MAX 1000

typedef enum QdXmlState {
    QD_XML_STATE_PROLOG, /* before the DOCTYPE or the first element */
    QD_XML_STATE_PLAIN,  /* no DOCTYPE: the rest passes */
    QD_XML_STATE_CONTENT,
    QD_XML_STATE_TAG,
    QD_XML_STATE_QUOTED, /* in an attribute's value */
    QD_XML_STATE_COMMENT,
    QD_XML_STATE_CDATA,
    QD_XML_STATE_INSTRUCTION,
} QdXmlState;

typedef struct QdXmlEntity {
    char *text; /* character references of ASCII are decoded, all others are not */
    gsize n_text;
    gboolean open; /* being written out */
} QdXmlEntity;

/* An entity being written out. */
typedef struct QdXmlFrame {
    QdXmlEntity *entity;
    gsize pos;
    QdXmlState state; /* that it began in */
} QdXmlFrame;

struct QdXmlEntities {
    const QdRdfReading *reading;
    char *input;
    gsize n_input;
    gsize pos;
    gboolean at_end;
    guint64 n_read;
    guint line; /* of the next byte of the document */
    guint column;
    GError *error;

    GHashTable *entities; /* name → QdXmlEntity; NULL before a DOCTYPE */
    GArray *frames;       /* of QdXmlFrame */
    guint64 n_entity_bytes;

    QdXmlState state;
    char quote;   /* of QD_XML_STATE_QUOTED */
    char last[2]; /* the bytes before, in what ends with three characters */
    GString *out;
};

/* Sets the error, with its place, if there is none yet. Returns: FALSE */
gboolean qd_xml_source_fail(QdXmlEntities *self, const char *format, ...) G_GNUC_PRINTF(2, 3);
gboolean qd_xml_source_fail_limit(QdXmlEntities *self, QdLimit limit, const char *what, const char *name);
/* FALSE: with @n_bytes more the entities make too much text; @name says where. */
gboolean qd_xml_source_charge(QdXmlEntities *self, gsize n_bytes, const char *name);
/* The next byte of the uppermost source; QD_XML_END: it has no more. */
int qd_xml_source_peek(QdXmlEntities *self);
int qd_xml_source_take(QdXmlEntities *self);
/* For a byte that was read and is not to be seen: places stay. */
void qd_xml_source_blank(QdXmlEntities *self, int c);

/* xml-dtd.c */
/* After "<!", which is not in self->out yet: the DOCTYPE and its entities. */
gboolean qd_xml_dtd_read(QdXmlEntities *self);
/* A byte of a name; what is beyond ASCII is not looked at. */
gboolean qd_xml_is_name_byte(int c);
