/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * About 295 triples a product: 30 of itself, 20 offers of 9, 10 reviews of 10.
 */
#include "tests/bench/shop-data.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NS "http://shop.example/"
#define RDF_TYPE "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
#define XSD "http://www.w3.org/2001/XMLSchema#"
#define TRIPLES_PER_PRODUCT 295
#define N_FEATURES_OF_PRODUCT 12
#define N_OFFERS 20
#define N_REVIEWS 10
#define PRODUCTS_PER_TYPE 250
#define PRODUCTS_PER_FEATURE 2 /* that many times fewer features than products */
#define N_COUNTRIES 10
#define N_NUMBERS 2000

static const char *const words[] = { "amber", "birch",  "cedar",   "delta", "ember", "fjord", "grain",  "heron",
                                     "iris",  "jasper", "kelp",    "linen", "maple", "north", "ochre",  "pearl",
                                     "quill", "rowan",  "saffron", "thyme", "umber", "vale",  "willow", "yarrow" };

/* A number below @n that belongs to thing @id; @what says which of its numbers. */
static guint
pick(const char *what, guint id, guint k, guint n)
{
    guint64 x = g_str_hash(what) * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15) + id * G_GUINT64_CONSTANT(0xbf58476d1ce4e5b9) + k;

    x = (x ^ x >> 30) * G_GUINT64_CONSTANT(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * G_GUINT64_CONSTANT(0x94d049bb133111eb);
    return (guint) ((x ^ x >> 31) % MAX(n, 1));
}

Shop
shop_of_size(guint64 n_triples)
{
    return (Shop){ MAX(PRODUCTS_PER_TYPE, (guint) (n_triples / TRIPLES_PER_PRODUCT)) };
}

static guint
get_n_types(const Shop *self)
{
    return self->n_products / PRODUCTS_PER_TYPE;
}

static guint
get_feature(const Shop *self, guint product, guint k)
{
    return pick("feature", product, k, self->n_products / PRODUCTS_PER_FEATURE);
}

static guint
get_n_vendors(const Shop *self)
{
    return self->n_products / 50 + 1;
}

/* --- triples ---------------------------------------------------------------------------------------------------------- */

/* <NAME> of a thing: its kind, or its kind and number. */
static void
put_link(FILE *out, const char *kind, guint id, const char *predicate, const char *object_kind, guint object)
{
    (void) fprintf(out, "<" NS "%s%u> <" NS "%s> <" NS "%s%u> .\n", kind, id, predicate, object_kind, object);
}

static void
put_type(FILE *out, const char *kind, guint id)
{
    (void) fprintf(out, "<" NS "%s%u> <" RDF_TYPE "> <" NS "class/%s> .\n", kind, id, kind);
}

static void
put_words(FILE *out, const char *kind, guint id, const char *predicate, guint n_words, const char *tag)
{
    (void) fprintf(out, "<" NS "%s%u> <" NS "%s> \"", kind, id, predicate);
    for (guint i = 0; i < n_words; i++)
        (void) fprintf(out, "%s ", words[pick(predicate, id, i, G_N_ELEMENTS(words))]);
    (void) fprintf(out, "%u\"%s .\n", id, tag);
}

static void
put_number(FILE *out, const char *kind, guint id, const char *predicate, guint n)
{
    (void) fprintf(out, "<" NS "%s%u> <" NS "%s> \"%u\"^^<" XSD "integer> .\n", kind, id, predicate, pick(predicate, id, 0, n) + 1);
}

static void
put_date(FILE *out, const char *kind, guint id, const char *predicate)
{
    (void) fprintf(out, "<" NS "%s%u> <" NS "%s> \"20%02u-%02u-%02uT00:00:00Z\"^^<" XSD "dateTime> .\n", kind, id, predicate,
                   pick(predicate, id, 0, 20) + 5, pick(predicate, id, 1, 12) + 1, pick(predicate, id, 2, 28) + 1);
}

static void
put_offer(FILE *out, const Shop *self, guint product, guint id)
{
    guint vendor = pick("vendor", id, 0, get_n_vendors(self));

    put_type(out, "offer", id);
    put_link(out, "offer", id, "product", "product", product);
    put_link(out, "offer", id, "vendor", "vendor", vendor);
    put_link(out, "offer", id, "publisher", "vendor", vendor);
    (void) fprintf(out, "<" NS "offer%u> <" NS "price> \"%u.%02u\"^^<" XSD "decimal> .\n", id, pick("price", id, 0, 9000) + 10,
                   pick("price", id, 1, 100));
    put_number(out, "offer", id, "deliveryDays", 20);
    put_date(out, "offer", id, "validFrom");
    put_date(out, "offer", id, "validTo");
    put_link(out, "offer", id, "page", "page", id);
}

static void
put_review(FILE *out, const Shop *self, guint product, guint id)
{
    put_type(out, "review", id);
    put_link(out, "review", id, "reviewFor", "product", product);
    put_link(out, "review", id, "reviewer", "person", pick("reviewer", id, 0, self->n_products / 2));
    put_words(out, "review", id, "title", 5, "");
    put_words(out, "review", id, "text", 30, pick("language", id, 0, 2) == 0 ? "@en" : "@de");
    put_date(out, "review", id, "date");
    for (guint i = 1; i <= 4; i++) {
        char predicate[] = { 'r', 'a', 't', 'i', 'n', 'g', (char) ('0' + i), '\0' };

        if (pick(predicate, id, 1, 10) < 7)
            put_number(out, "review", id, predicate, 10);
    }
}

static void
put_product(FILE *out, const Shop *self, guint id)
{
    put_type(out, "product", id);
    (void) fprintf(out, "<" NS "product%u> <" RDF_TYPE "> <" NS "type%u> .\n", id, pick("type", id, 0, get_n_types(self)));
    put_words(out, "product", id, "label", 3, "");
    put_words(out, "product", id, "comment", 20, "");
    put_link(out, "product", id, "producer", "producer", id / 50);
    put_link(out, "product", id, "publisher", "producer", id / 50);
    for (guint i = 0; i < N_FEATURES_OF_PRODUCT; i++)
        put_link(out, "product", id, "feature", "feature", get_feature(self, id, i));
    for (guint i = 1; i <= 4; i++) {
        char number[] = { 'n', 'u', 'm', 'b', 'e', 'r', (char) ('0' + i), '\0' };
        char text[] = { 't', 'e', 'x', 't', (char) ('0' + i), '\0' };

        if (i < 4 || pick(number, id, 1, 2) == 0)
            put_number(out, "product", id, number, N_NUMBERS);
        if (i < 4 || pick(text, id, 1, 2) == 0)
            put_words(out, "product", id, text, 8, "");
    }
    for (guint i = 0; i < N_OFFERS; i++)
        put_offer(out, self, id, id * N_OFFERS + i);
    for (guint i = 0; i < N_REVIEWS; i++)
        put_review(out, self, id, id * N_REVIEWS + i);
}

static void
put_others(FILE *out, const char *kind, guint n, const char *name)
{
    for (guint id = 0; id < n; id++) {
        put_type(out, kind, id);
        put_words(out, kind, id, name, 2, "");
        put_link(out, kind, id, "country", "country/", pick("country", id, 0, N_COUNTRIES));
        put_link(out, kind, id, "home", "home", id);
    }
}

typedef struct Writing {
    Shop shop;
    int fd;
} Writing;

static gpointer
write_shop(gpointer data)
{
    g_autofree Writing *self = data;
    FILE *out = fdopen(self->fd, "w");

    for (guint i = 0; i < self->shop.n_products; i++)
        put_product(out, &self->shop, i);
    put_others(out, "producer", self->shop.n_products / 50 + 1, "label");
    put_others(out, "vendor", get_n_vendors(&self->shop), "label");
    put_others(out, "person", self->shop.n_products / 2, "name");
    for (guint i = 0; i < self->shop.n_products / PRODUCTS_PER_FEATURE; i++)
        put_words(out, "feature", i, "label", 2, "");
    (void) fclose(out);
    return NULL;
}

int
shop_start_writing(const Shop *self)
{
    Writing *writing = g_new0(Writing, 1);
    int fds[2];

    g_assert_cmpint(pipe2(fds, O_CLOEXEC), ==, 0);
    *writing = (Writing){ *self, fds[1] };
    g_thread_unref(g_thread_new("shop", write_shop, writing));
    return fds[0];
}

/* --- questions -------------------------------------------------------------------------------------------------------- */

#define PREFIXES "PREFIX : <" NS "> PREFIX class: <" NS "class/> PREFIX country: <" NS "country/> "
#define PRODUCT "<" NS "product%P>"
#define TYPE "<" NS "type%T>"
#define FEATURE "<" NS "feature%F>"
#define FEATURE_2 "<" NS "feature%G>"
#define OFFER "<" NS "offer%O>"
#define REVIEW "<" NS "review%R>"

/* The shapes of an "explore" use case: the questions of a user who looks for something to buy. %P and the like are numbers. */
static const struct {
    const char *name, *text;
} queries[SHOP_N_QUERIES] = {
    { "q01", PREFIXES "SELECT DISTINCT ?p ?label { ?p :label ?label . ?p a " TYPE " . ?p :feature " FEATURE
                      " . ?p :feature " FEATURE_2 " . ?p :number1 ?v FILTER(?v > %N) } ORDER BY ?label LIMIT 10" },
    { "q02", PREFIXES "SELECT * { " PRODUCT " :label ?label ; :comment ?comment ; :producer ?r . ?r :label ?producer . " PRODUCT
                      " :publisher ?r ; :feature ?f . ?f :label ?feature . " PRODUCT
                      " :text1 ?t1 ; :text2 ?t2 ; :text3 ?t3 ; :number1 ?n1 ; :number2 ?n2 . OPTIONAL { " PRODUCT
                      " :text4 ?t4 } OPTIONAL { " PRODUCT " :number4 ?n4 } }" },
    { "q03", PREFIXES "SELECT ?p ?label { ?p :label ?label . ?p a " TYPE " . ?p :feature " FEATURE
                      " . ?p :number1 ?v1 FILTER(?v1 > %N) ?p :number3 ?v3 FILTER(?v3 < 1900) OPTIONAL { ?p :feature " FEATURE_2
                      " . ?p :label ?t } FILTER(!bound(?t)) } ORDER BY ?label LIMIT 10" },
    { "q04", PREFIXES "SELECT DISTINCT ?p ?label { { ?p :label ?label ; a " TYPE " ; :feature " FEATURE
                      " ; :number1 ?v FILTER(?v > %N) } UNION { ?p :label ?label ; a " TYPE " ; :feature " FEATURE_2
                      " ; :number2 ?v FILTER(?v > %N) } } ORDER BY ?label OFFSET 1 LIMIT 10" },
    { "q05",
      PREFIXES "SELECT DISTINCT ?p ?label { ?p :label ?label FILTER(" PRODUCT " != ?p) " PRODUCT
               " :feature ?f . ?p :feature ?f . " PRODUCT " :number1 ?a . ?p :number1 ?b FILTER(?b < ?a + 500 && ?b > ?a - 500) } "
               "ORDER BY ?label LIMIT 5" },
    { "q06", PREFIXES "SELECT ?p ?label { ?p :label ?label . ?p a " TYPE " FILTER regex(?label, \"maple|rowan\") }" },
    { "q07",
      PREFIXES "SELECT * { " PRODUCT " :label ?label OPTIONAL { ?o :product " PRODUCT
               " ; :price ?price ; :vendor ?v . ?v :label ?title ; :country country:3 . ?o :publisher ?v ; :validTo ?date "
               "FILTER(?date > \"2015-06-20T00:00:00Z\"^^<" XSD "dateTime>) } OPTIONAL { ?r :reviewFor " PRODUCT
               " ; :reviewer ?w . ?w :name ?name . ?r :title ?rt OPTIONAL { ?r :rating1 ?r1 } OPTIONAL { ?r :rating2 ?r2 } } }" },
    { "q08", PREFIXES "SELECT * { ?r :reviewFor " PRODUCT " ; :title ?title ; :text ?text FILTER langMatches(lang(?text), \"EN\") "
                      "?r :date ?date ; :reviewer ?w . ?w :name ?name OPTIONAL { ?r :rating1 ?r1 } OPTIONAL { ?r :rating2 ?r2 } "
                      "OPTIONAL { ?r :rating3 ?r3 } OPTIONAL { ?r :rating4 ?r4 } } ORDER BY DESC(?date) LIMIT 20" },
    { "q09", PREFIXES "DESCRIBE ?x { " REVIEW " :reviewer ?x }" },
    { "q10", PREFIXES "SELECT DISTINCT ?o ?price { ?o :product " PRODUCT " ; :vendor ?v ; :publisher ?v . ?v :country country:%C . "
                      "?o :deliveryDays ?d FILTER(?d <= 20) ?o :price ?price ; :validTo ?date FILTER(?date > "
                      "\"2004-06-20T00:00:00Z\"^^<" XSD "dateTime>) } ORDER BY <" XSD "double>(str(?price)) LIMIT 10" },
    { "q11", "SELECT * { { " OFFER " ?property ?value } UNION { ?of ?property " OFFER " } }" },
    { "q12", PREFIXES "CONSTRUCT { " OFFER " :of ?p ; :name ?label ; :by ?name ; :at ?home ; :price ?price } { " OFFER
                      " :product ?p . ?p :label ?label . " OFFER " :vendor ?v . ?v :label ?name ; :home ?home . " OFFER
                      " :price ?price ; :deliveryDays ?d ; :validTo ?to }" },
};

const char *
shop_get_query_name(guint number)
{
    return queries[number].name;
}

static void
replace(GString *text, const char *mark, guint number)
{
    g_autofree char *digits = g_strdup_printf("%u", number);

    (void) g_string_replace(text, mark, digits, 0);
}

char *
shop_make_query(const Shop *self, guint number, guint instance)
{
    guint product = pick("question", instance, number, self->n_products);
    g_autoptr(GString) text = g_string_new(queries[number].text);

    replace(text, "%P", product);
    replace(text, "%T", pick("type", product, 0, get_n_types(self)));
    replace(text, "%F", get_feature(self, product, 0));
    replace(text, "%G", get_feature(self, product, 1));
    replace(text, "%O", product * N_OFFERS);
    replace(text, "%R", product * N_REVIEWS);
    replace(text, "%C", pick("country", pick("vendor", product * N_OFFERS, 0, get_n_vendors(self)), 0, N_COUNTRIES));
    replace(text, "%N", pick("least", instance, number, N_NUMBERS / 4));
    return g_string_free(g_steal_pointer(&text), FALSE);
}
