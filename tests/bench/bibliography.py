# SPDX-License-Identifier: LGPL-2.1-or-later
"""A made-up bibliography as N-Triples: bibliography.py TRIPLES >FILE

Skewed (few authors and venues have most of the papers), many-valued (authors, keywords, citations), cyclic (authors who write
together, who advise each other and cite each other). The same number gives the same triples.
"""
import random
import sys

BASE = "http://example.org/bib/"
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
XSD = "http://www.w3.org/2001/XMLSchema#"
TRIPLES_OF_A_PAPER = 20.5  # of the mean paper, with what it brings along
PAPERS_OF_AN_AUTHOR = 2.5
SYLLABLES = "ka mi to re sun dal ver on is tel mar que lin bo ras ti fen gu sha nor wel pix am".split()
TOPICS = "graph query index storage logic network language vision memory parallel secure mobile".split()
LANGUAGES = "en", "en", "en", "de", "fr", None


def word(rand):
    return "".join(rand.choice(SYLLABLES) for _ in range(rand.randint(1, 4)))


def skewed(rand, n, power=2.2):
    """From 0 on; the first ones are frequent."""
    return int(n * rand.random() ** power)


def iri(kind, number):
    return f"<{BASE}{kind}/{number}>"


def prop(name):
    return f"<{BASE}{name}>"


def typed(value, name):
    return f'"{value}"^^<{XSD}{name}>'


def text(rand, n_words, tagged=False):
    language = rand.choice(LANGUAGES) if tagged else None
    return '"' + " ".join(word(rand) for _ in range(n_words)) + '"' + (f"@{language}" if language else "")


def write_author(rand, i, n_authors, out):
    out.append((iri("author", i), TYPE, prop("Person")))
    out.append((iri("author", i), prop("name"), text(rand, 2)))
    if rand.random() < 0.4:
        out.append((iri("author", i), prop("homepage"), f"<http://people.example.net/{word(rand)}/{i}>"))
    if rand.random() < 0.3 and i > 0:
        out.append((iri("author", i), prop("advisor"), iri("author", rand.randrange(i))))
    if rand.random() < 0.5:
        out.append((iri("author", i), prop("worksAt"), iri("place", skewed(rand, max(n_authors // 50, 2)))))


def write_venue(rand, i, out):
    out.append((iri("venue", i), TYPE, prop("Journal" if i % 3 == 0 else "Conference")))
    out.append((iri("venue", i), prop("title"), text(rand, 3, tagged=True)))
    if i > 0:
        out.append((iri("venue", i), prop("partOf"), iri("venue", i // 4)))


def write_paper(rand, i, n_papers, n_authors, n_venues, out):
    paper = iri("paper", i)
    year = 1960 + int(60 * (1 - rand.random() ** 2))
    first = rand.randint(1, 900)
    out.append((paper, TYPE, prop("Article" if rand.random() < 0.6 else "Inproceedings")))
    out.append((paper, prop("title"), text(rand, rand.randint(3, 9), tagged=True)))
    out.append((paper, prop("year"), typed(year, "integer")))
    out.append((paper, prop("date"), typed(f"{year}-{rand.randint(1, 12):02}-{rand.randint(1, 28):02}", "date")))
    out.append((paper, prop("venue"), iri("venue", skewed(rand, n_venues))))
    out.append((paper, prop("pages"), typed(rand.randint(1, 40), "integer")))
    out.append((paper, prop("firstPage"), typed(first, "integer")))
    if rand.random() < 0.8:
        out.append((paper, prop("price"), typed(f"{rand.randint(0, 9999) / 100:.2f}", "decimal")))
    if rand.random() < 0.3:
        out.append((paper, prop("abstract"), text(rand, rand.randint(20, 60))))
    crew = skewed(rand, n_authors)
    for author in {min(n_authors - 1, abs(crew + int(rand.gauss(0, 15)))) for _ in range(1 + skewed(rand, 8))}:
        out.append((paper, prop("author"), iri("author", author)))
    for topic in {rand.choice(TOPICS) for _ in range(skewed(rand, 5))}:
        out.append((paper, prop("topic"), iri("topic", topic)))
    for cited in {skewed(rand, n_papers, 3) for _ in range(skewed(rand, 24))} - {i}:
        out.append((paper, prop("cites"), iri("paper", cited)))


def main():
    n_papers = max(20, int(int(sys.argv[1]) / TRIPLES_OF_A_PAPER))
    n_authors = max(5, int(n_papers / PAPERS_OF_AN_AUTHOR))
    n_venues = max(4, n_papers // 150)
    rand = random.Random(n_papers)
    out = []
    for i in range(len(TOPICS)):
        out.append((iri("topic", TOPICS[i]), prop("label"), f'"{TOPICS[i]}"@en'))
        out.append((iri("topic", TOPICS[i]), prop("broader"), iri("topic", TOPICS[(i * 5 + 1) % len(TOPICS)])))
    for i in range(n_authors):
        write_author(rand, i, n_authors, out)
    for i in range(n_venues):
        write_venue(rand, i, out)
    for i in range(n_papers):
        write_paper(rand, i, n_papers, n_authors, n_venues, out)
    sys.stdout.writelines(f"{s} {p} {o} .\n" for s, p, o in out)


main()
