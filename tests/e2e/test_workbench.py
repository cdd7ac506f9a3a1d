# SPDX-License-Identifier: LGPL-2.1-or-later
"""The workbench in a headless Chromium: each thing that its page promises, with one browser and one server for all.

QUERYD_SCREENSHOTS=FOLDER makes the pictures of docs/workbench.md.
"""
import json
import os
import subprocess
import time

import pytest

import harness
from browser_world import MISSING, PHONE, WINDOW, HttpServer, Workbench, make_folder
from http_world import IS_BUILT, NOT_BUILT

pytestmark = pytest.mark.skipif(bool(MISSING) or not IS_BUILT, reason=MISSING or NOT_BUILT)

if not MISSING:
    from browser_world import Keys

FOAF = "http://xmlns.com/foaf/0.1/"
PEOPLE = """@prefix foaf: <http://xmlns.com/foaf/0.1/> .
<urn:ada> foaf:name "Ada Lovelace"@en ; foaf:age 36 ; foaf:knows <urn:charles>, <urn:mary> .
<urn:charles> foaf:name "Charles Babbage"@en ; foaf:age 79 ; foaf:knows <urn:ada> .
<urn:mary> foaf:name "Mary Somerville"@en ; foaf:age 91 ; foaf:knows <urn:ada>, <urn:charles> ."""
MILLION = "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM t LIMIT 1000000) SELECT n, 'row '||n AS text FROM t"
ENDLESS = "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM t) SELECT count(*) FROM t"
SCREENSHOTS = os.environ.get("QUERYD_SCREENSHOTS")


@pytest.fixture(scope="module", name="world")
def one_world():
    world = harness.World()
    with harness.memory_file(PEOPLE.encode()) as fd:
        assert world.import_fd(fd, "turtle")["State"] == "finished"  # its prefix stays in the store
    world.update("CREATE TABLE song(id INTEGER PRIMARY KEY, title TEXT, year INTEGER, plays INTEGER)")
    world.update("INSERT INTO song SELECT n, 'Song ' || n, 1960 + n % 60, n * 7919 % 1000 FROM "
                 "(WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM t LIMIT 500) SELECT n FROM t)")
    yield world
    world.finish()


@pytest.fixture(scope="module", name="page")
def one_page(world):
    server = HttpServer(world, "--read-write", token=True)
    page = Workbench(server, make_folder(world))
    page.open(page.link())
    yield page
    page.close()
    server.finish()


@pytest.fixture(autouse=True)
def quiet(page):
    """No error in the console, and nothing that the page's policy has stopped."""
    yield
    assert page.complaints() == []


def picture(page, name, theme="light"):
    if not SCREENSHOTS:
        return
    while page.run("return document.documentElement.dataset.theme ?? 'auto'") != theme:
        page.find("#theme").click()
    path = os.path.join(SCREENSHOTS, f"workbench-{name}.png")
    page.driver.save_screenshot(path)
    subprocess.run(["pngquant", "--force", "--ext=.png", "--speed=1", "64", path], check=True)


def test_link_works_once(page):
    link = page.link()
    page.open(link)
    assert page.run("return location.pathname + location.search") == "/"
    assert page.text("#store") == "default" and page.text("#mode") == "read and write"
    assert page.run("return document.cookie") == ""  # no script reads it
    page.driver.get(link)
    assert "was used already" in page.text("body")
    page.open()


def test_sparql(page):
    status = page.execute("PREFIX foaf: <http://xmlns.com/foaf/0.1/>\nSELECT ?person ?name ?age\n"
                          "WHERE { ?person foaf:name ?name ; foaf:age ?age }\nORDER BY ?age")
    assert status.startswith("3 rows, ")
    assert page.cells() == [["urn:ada", "Ada Lovelace", "36"], ["urn:charles", "Charles Babbage", "79"],
                            ["urn:mary", "Mary Somerville", "91"]]
    assert page.text(".grid tbody small") == "@en"
    assert [one.text for one in page.find_all(".grid thead th")] == ["#", "person", "name", "age"]
    picture(page, "table")
    assert page.execute("ASK { <urn:ada> ?p ?o }").startswith("1 row,")
    assert page.cells() == [["true"]]
    assert page.execute("SELECT ?x { ?x <urn:nothing> ?y }").startswith("0 rows")


def test_sql(page):
    assert page.execute("SELECT title, year, NULL AS empty, x'00ff' AS bytes, 9007199254740993 AS large FROM song WHERE id < 3",
                        "sql").startswith("2 rows")
    assert page.cells()[0] == ["Song 1", "1961", "", "blob: AP8=", "9007199254740993"]
    assert page.execute("SELECT 1.2345678901234567 AS real, '<b>x</b>' AS markup", "sql").startswith("1 row,")
    assert page.cells() == [["1.2345678901234567", "<b>x</b>"]]


@pytest.mark.parametrize("language, text, token, place", [
    ("sparql", "SELECT ?s\nWHERE { ?s ?? }", "?", "line 2, column 12"),
    ("sql", "SELECT id,\n  titel\nFROM song", "titel", "line 2, column 3"),
    ("sparql", "SELECT * {\n  <urn:𝔘> SELEKT ?x }", "SELEKT", "line 2, column 11")])
def test_error_is_underlined(page, language, text, token, place):
    assert page.execute(text, language) == "Failed."
    assert page.text(".copy .error") == token
    assert place in page.text("#problem")
    line = page.run("return getComputedStyle(document.querySelector('.copy .error')).textDecorationLine")
    assert line == "underline" and page.find("#text").get_attribute("aria-invalid") == "true"
    mark, area = page.find(".copy .error").rect, page.find("#text").rect
    assert area["y"] < mark["y"] < area["y"] + area["height"] and mark["width"] > 0
    if token == "SELEKT":
        picture(page, "error")
    page.find("#problem button").click()
    assert page.run("const area = document.activeElement; return area.value.slice(area.selectionStart, area.selectionEnd)") == token
    page.type(Keys.END, " ")
    assert page.find_all(".copy .error") == []


def test_a_million_rows(page):
    start = time.monotonic()
    assert page.execute(MILLION, "sql").startswith("1,000,000 rows")
    print(f"1,000,000 rows in the page: {time.monotonic() - start:.2f} s")
    grid = page.find(".grid")
    assert grid.get_attribute("aria-rowcount") == "1000001"
    n_nodes = page.run("return document.querySelectorAll('*').length")
    assert n_nodes < 600
    page.run("arguments[0].focus()", grid)
    page.chord(Keys.CONTROL, Keys.END)
    assert page.cells()[-1] == ["1000000", "row 1000000"]
    page.type(Keys.PAGE_UP, Keys.ARROW_UP)
    active = page.run("return document.querySelector('.active').id")
    assert grid.get_attribute("aria-activedescendant") == active and active.startswith("cell-9999")
    page.run("arguments[0].scrollTop = arguments[0].scrollHeight / 2", grid)
    page.wait(lambda: abs(int(page.cells()[0][0]) - 500000) < 1000, "the middle of the rows")
    page.run("arguments[0].dispatchEvent(new WheelEvent('wheel', { deltaY: 26, cancelable: true }))", grid)
    assert page.run("return document.querySelectorAll('*').length") < 600
    page.chord(Keys.CONTROL, Keys.HOME)
    page.type(Keys.ARROW_RIGHT, Keys.ENTER)
    assert page.text("#cell-text") == "row 1" and page.run("return document.getElementById('cell').open")
    page.type(Keys.ESCAPE)


def test_result_that_is_cut(page):
    """An error amid the rows: what came is shown, and called what it is."""
    text = MILLION.replace("'row '||n AS text", "CASE WHEN n > 200000 THEN abs(-9223372036854775807 - 1) END AS value")
    assert page.execute("SELECT 'before'", "sql").startswith("1 row,")
    assert page.execute(text, "sql") == "Failed."
    assert "not the whole result" in page.text("#problem")
    assert page.cells()[0][0] == "1" and 1000 < int(page.find(".grid").get_attribute("aria-rowcount")) <= 200001
    assert page.execute("SELECT 'after'", "sql").startswith("1 row,") and not page.find("#problem").is_displayed()


def test_cancel(page, world):
    page.write(ENDLESS, "sql")
    page.chord(Keys.CONTROL, Keys.ENTER)
    page.wait(lambda: any(query["text"] == ENDLESS for query in world.queries()), "the query in the daemon")
    page.type(Keys.ESCAPE)
    page.wait(page.is_idle, "the end of the query")
    assert page.status == "Cancelled."
    page.wait(lambda: not any(query["text"] == ENDLESS for query in world.queries()), "the end in the daemon")


def test_chart(page, world):
    ((plays,),) = world.query("SELECT sum(plays) FROM song WHERE year=1960")
    page.execute("SELECT year, sum(plays) AS plays FROM song GROUP BY year ORDER BY year", "sql")
    page.show("chart")
    assert page.find(".chart").get_attribute("data-kind") == "number" and len(page.find_all(".chart .dot")) == 60
    assert page.text(".chart .dot title") == f"1960: {plays:,}"
    picture(page, "chart")
    page.execute("PREFIX foaf: <http://xmlns.com/foaf/0.1/>\nSELECT ?name ?age { ?p foaf:name ?name ; foaf:age ?age }")
    assert page.find(".chart").get_attribute("data-kind") == "category" and len(page.find_all(".chart .bar")) == 3
    page.execute("SELECT ?p { ?s ?p ?o }")
    assert "needs two columns" in page.text("#chart")
    page.show("table")


def test_graph(page):
    status = page.execute("PREFIX foaf: <http://xmlns.com/foaf/0.1/>\nCONSTRUCT { ?a foaf:knows ?b . ?a foaf:name ?name }\n"
                          "WHERE { ?a foaf:knows ?b ; foaf:name ?name }")
    assert status.startswith("8 triples")
    assert len(page.cells()) == 8 and page.cells()[0][1].startswith("foaf:")
    page.show("graph")
    assert len(page.find_all(".graph .node")) == 6 and len(page.find_all(".graph .edge")) == 8
    places = page.run("return [...document.querySelectorAll('.graph .node')].map(n => [n.cx.baseVal.value, n.cy.baseVal.value])")
    assert all(abs(a[0] - b[0]) + abs(a[1] - b[1]) > 20 for i, a in enumerate(places) for b in places[:i])
    picture(page, "graph")
    page.execute("CONSTRUCT { ?s <urn:p> ?o } WHERE { VALUES ?s { "
                 + " ".join(f"<urn:s{i}>" for i in range(400)) + " } VALUES ?o { <urn:o> } }")
    assert len(page.find_all(".graph .node")) == 300 and "The first 300 nodes" in page.text("#graph")
    page.show("table")


def test_explain(page):
    page.write("PREFIX foaf: <http://xmlns.com/foaf/0.1/>\nSELECT ?name (COUNT(*) AS ?n)\n"
               "WHERE { ?p foaf:name ?name ; foaf:knows ?q }\nGROUP BY ?name ORDER BY DESC(?n)")
    page.chord(Keys.CONTROL, Keys.SHIFT, Keys.ENTER)
    page.wait(lambda: page.find_all("#plan-tree li"), "the plan")
    page.wait(page.is_idle, "the end")
    steps = [row.text.split()[-2:] for row in page.find_all(".times tr")]
    assert [row.text.rsplit(" ", 2)[0] for row in page.find_all(".times tr")] == ["Parse and plan", "Prepare", "Run"]
    assert all(float(number) >= 0 and unit in ("ms", "s") for number, unit in steps)
    assert "3 rows" in page.text(".times caption")
    assert "triple ?p" in page.text("#plan") and "FROM queryd_quad" in page.text("#plan pre")
    picture(page, "plan")
    page.write("SELECT title FROM song WHERE year IN (SELECT year FROM song WHERE id < 5)", "sql")
    page.find("#explain").click()
    page.wait(lambda: "LIST SUBQUERY" in page.text("#plan-tree"), "the plan")
    nested = page.run("return [...document.querySelectorAll('#plan-tree details li')].map(n => n.textContent)")
    assert any("SEARCH song" in text for text in nested), page.text("#plan-tree")
    page.wait(page.is_idle, "the end")


def test_completion(page):
    page.write("SELECT * { ?person foaf:na", "sparql")
    page.type("m")
    items = [one.text for one in page.find_all("#candidates li span")]
    assert items[0] == "foaf:name", items
    picture(page, "completion")
    page.type(Keys.TAB, " ?name }")
    text = page.run("return document.getElementById('text').value")
    assert text == f"PREFIX foaf: <{FOAF}>\nSELECT * {{ ?person foaf:name ?name }}"
    page.write("SELECT * { ?someone ?p ?o FILTER(?so", "sparql")
    page.chord(Keys.CONTROL, " ")
    assert page.find("#candidates li[aria-selected=true] span").text == "?someone"
    page.type(Keys.ESCAPE)
    assert not page.find("#candidates").is_displayed()
    page.write("SELECT s.ti FROM song AS s", "sql")
    page.run("document.getElementById('text').setSelectionRange(11, 11)")
    page.chord(Keys.CONTROL, " ")
    assert [one.text for one in page.find_all("#candidates li span")] == ["title"]
    page.type(Keys.ENTER)
    assert page.run("return document.getElementById('text').value") == "SELECT s.title FROM song AS s"
    page.write("SELECT * FROM so", "sql")
    page.chord(Keys.CONTROL, " ")
    assert page.find_all("#candidates li span")[0].text == "song"
    page.type(Keys.ESCAPE)
    page.write("pref")
    page.chord(Keys.CONTROL, " ")
    assert "PREFIX" in [one.text for one in page.find_all("#candidates li span")]
    page.type(Keys.ESCAPE)


def test_text(page):
    page.execute("SELECT ?s ?age { ?s <http://xmlns.com/foaf/0.1/age> ?age } ORDER BY ?age")
    page.show("raw")
    page.wait(lambda: page.text(".raw") == "s,age\r\nurn:ada,36\r\nurn:charles,79\r\nurn:mary,91\r\n", "CSV")
    page.run("const s = document.getElementById('text-format'); s.value = 2; s.dispatchEvent(new Event('change'))")
    page.wait(lambda: page.text(".raw").startswith("{"), "JSON")
    assert len(json.loads(page.text(".raw"))["results"]["bindings"]) == 3
    page.wait(page.is_idle, "the end")
    page.show("table")


def download(page, link, path):
    """Returns the bytes. The browser ignores more than ten clicks within a second, and makes an empty file before it has them."""
    clicked = 0.0

    def is_there():
        nonlocal clicked
        if time.monotonic() - clicked > 1.5:
            link.click()
            clicked = time.monotonic()
        return os.path.exists(path) and os.path.getsize(path) > 0

    page.wait(is_there, f"the file {path}")
    with open(path, "rb") as stream:
        return stream.read()


@pytest.mark.parametrize("language, text, expected", [
    ("sparql", "SELECT ?s { ?s <http://xmlns.com/foaf/0.1/age> 36 }",
     {"csv": b"s\r\nurn:ada", "tsv": b"?s\n<urn:ada>", "json": b'"bindings"', "xml": b"<sparql"}),
    ("sparql", "CONSTRUCT WHERE { <urn:ada> <http://xmlns.com/foaf/0.1/age> ?o }",
     {"ttl": b"36", "nt": b"<urn:ada>", "rdf": b"rdf:RDF", "jsonld": b"@id", "trig": b"36", "nq": b"<urn:ada>"}),
    ("sql", "SELECT id, title FROM song WHERE id = 7",
     {"csv": b"id,title\n7,Song 7", "tsv": b"id\ttitle", "json": b'[7,"Song 7"]', "jsonl": b'{"id":7'}),
])
def test_downloads(page, language, text, expected, tmp_path):
    page.driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    page.execute(text, language)
    page.find("#show-downloads").click()
    try:
        links = page.find_all("#download-list a")
        names = {link.get_attribute("download"): link for link in links}
        assert len(links) == len(names) and set(names) == {f"result.{ending}" for ending in expected}
        for ending, part in expected.items():
            name = f"result.{ending}"
            assert part in download(page, names[name], str(tmp_path / name)), name
    finally:
        page.type(Keys.ESCAPE)  # an open menu would catch the clicks of the tests that follow


def test_live(page, world):
    page.find("#live").click()
    assert page.execute("SELECT count(*) AS n, max(title) AS last FROM song", "sql").startswith("1 row,")
    page.wait(lambda: page.run("return document.body.dataset.live") == "ready", "the watch")
    assert page.cells() == [["500", "Song 99"]]
    world.update("INSERT INTO song(title) VALUES('Zzz')")
    page.wait(lambda: page.cells() == [["501", "Zzz"]], "the new result")
    world.update("DELETE FROM song WHERE title='Zzz'")
    page.wait(lambda: page.cells() == [["500", "Song 99"]], "the old result")
    assert page.execute("SELECT (COUNT(*) AS ?n) { ?s <urn:live> ?o }", "sparql").startswith("1 row,")
    page.wait(lambda: page.run("return document.body.dataset.live") == "ready", "the watch")
    world.update("INSERT DATA { <urn:a> <urn:live> 1, 2 }", language="sparql")
    page.wait(lambda: page.cells() == [["2"]], "the new result")
    page.find("#live").click()
    assert page.run("return document.body.dataset.live ?? null") is None


def test_update(page, world):
    assert page.execute("INSERT INTO song(title, year) VALUES('Mine', 2000)", "sql").startswith("1 change,")
    assert world.query("SELECT year FROM song WHERE title='Mine'") == [(2000,)]
    assert page.execute("DELETE FROM song WHERE title='Mine'", "sql").startswith("1 change,")
    assert page.execute("PREFIX : <urn:> DELETE WHERE { ?s :live ?o }").startswith("updated")
    assert page.execute("SELECT * { ?s <urn:live> ?o }").startswith("0 rows")


def test_history_after_a_reload(page):
    page.execute("SELECT 'remembered' AS word", "sql")
    page.write("SELECT 'a draft'", "sql")
    page.open()
    assert page.run("return document.getElementById('text').value") == "SELECT 'a draft'"
    assert page.find("#language-sql").is_selected()
    page.find("#show-history").click()
    page.type("remembered")
    entries = page.find_all("#history-list button")
    assert len(entries) == 1 and "1 row" in entries[0].text
    picture(page, "history")
    entries[0].click()
    assert page.run("return document.getElementById('text').value") == "SELECT 'remembered' AS word"


def test_themes(page):
    def back():
        return page.run("return getComputedStyle(document.body).backgroundColor")

    def prefer(scheme):
        page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})

    page.run("localStorage.removeItem('queryd.theme')")
    page.open()
    prefer("light")
    light = back()
    prefer("dark")
    assert light == "rgb(255, 255, 255)" and back() == "rgb(21, 24, 28)"
    page.find("#theme").click()
    assert back() == light and page.text("#theme") == "Theme: light"
    page.open()
    assert back() == light
    prefer("light")
    page.find("#theme").click()
    assert back() == "rgb(21, 24, 28)"
    page.execute("PREFIX foaf: <http://xmlns.com/foaf/0.1/>\n# what is known of Ada\nSELECT ?p ?o WHERE { <urn:ada> ?p ?o }")
    picture(page, "dark", "dark")
    page.run("localStorage.removeItem('queryd.theme')")
    page.open()


def test_phone(page):
    page.set_size(*PHONE)
    try:
        for view in ("table", "raw", "chart", "graph", "plan"):
            page.execute("SELECT id, title, year, plays, title AS again, title AS more FROM song", "sql")
            page.show(view)
            page.wait(page.is_idle, "the end")
            assert page.run("return document.documentElement.scrollWidth") <= PHONE[0], view
        page.show("table")
        assert page.run("const g = document.querySelector('.grid'); return g.scrollWidth > g.clientWidth")  # it scrolls within
        for selector in "#run", "#explain", "#show-history", "#text":
            place = page.find(selector).rect
            assert place["x"] >= 0 and place["x"] + place["width"] <= PHONE[0], selector
        picture(page, "phone")
    finally:
        page.set_size(*WINDOW)


def test_keyboard_alone(page):
    """From the page's start to a cell of the result and to another view, without a pointer."""
    page.run("localStorage.clear()")
    page.open()
    page.chord(Keys.CONTROL, "a")
    page.type("SELECT 6 * 7 AS answer", Keys.ESCAPE)
    assert page.find("#language-sparql").is_selected()
    page.chord(Keys.SHIFT, Keys.TAB)
    page.type(Keys.ARROW_RIGHT)
    assert page.find("#language-sql").is_selected()
    page.type(Keys.TAB)
    page.chord(Keys.CONTROL, "a")
    page.type("SELECT 6 * 7 AS answer", Keys.ESCAPE)
    page.chord(Keys.CONTROL, Keys.ENTER)
    page.wait(lambda: page.cells() == [["42"]], "the result")
    for _ in range(20):
        page.type(Keys.TAB)
        if page.run("return document.activeElement.getAttribute('role')") == "grid":
            break
    page.type(Keys.ENTER)
    assert page.text("#cell-text") == "42"
    page.type(Keys.ESCAPE)
    page.run("return document.activeElement.className")
    page.chord(Keys.SHIFT, Keys.TAB)
    assert page.run("return document.activeElement.dataset.view") == "table"
    page.type(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    assert page.find("#chart").is_displayed()
    page.type(Keys.ARROW_LEFT, Keys.ARROW_LEFT)


def test_names_of_what_is_used(page):
    """Every control has a name for screen readers, and no id is there twice."""
    unnamed = page.run("""
      const used = document.querySelectorAll('button, input, select, textarea, [role=grid], [role=tabpanel], dialog, svg');
      const hasName = node => node.textContent.trim() || node.getAttribute('aria-label') || node.getAttribute('aria-labelledby')
        || node.labels?.length;
      return [...used].filter(node => !hasName(node)).map(node => node.outerHTML)""")
    assert unnamed == []
    assert page.run("const ids = [...document.querySelectorAll('[id]')].map(n => n.id); return ids.length - new Set(ids).size") == 0
