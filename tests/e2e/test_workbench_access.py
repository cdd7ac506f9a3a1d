# SPDX-License-Identifier: LGPL-2.1-or-later
"""Pages of others in a real browser that has a session: nothing is read by them, and nothing is written."""
import http.server
import threading

import pytest

import harness
from browser_world import MISSING, HttpServer, Workbench, make_folder
from http_world import IS_BUILT, NOT_BUILT

pytestmark = pytest.mark.skipif(bool(MISSING) or not IS_BUILT, reason=MISSING or NOT_BUILT)

SECRET = "the-secret-of-the-store"
# Each way in which a page can send a request or load something; what it could read is put together.
ATTACK = """<!DOCTYPE html><title>other</title><body><script>
const target = TARGET, query = '/sparql?query=' + encodeURIComponent('SELECT * { ?s ?p ?o }');
const seen = window.seen = [];
const note = text => seen.push(String(text));
const read = (path, options) => fetch(target + path, options)
  .then(async answer => note(answer.type + answer.status + await answer.text()), note);
const load = (name, attributes) => new Promise(resolve => {
  const node = document.createElement(name);
  node.onload = () => { note('loaded ' + name + attributes.src); resolve(); };
  node.onerror = resolve;
  for (const [key, value] of Object.entries(attributes)) node[key] = value;
  document.body.append(node);
});
const FORM = 'application/x-www-form-urlencoded';
const write = 'update=' + encodeURIComponent('INSERT DATA { <urn:evil> <urn:was> "here" }');
const form = () => new Promise(resolve => {
  const frame = document.createElement('iframe');
  frame.name = 'frame';
  document.body.append(frame);
  const node = document.createElement('form');
  node.action = target + '/sparql'; node.method = 'POST'; node.target = 'frame';
  const field = document.createElement('input');
  field.name = 'update'; field.value = 'INSERT DATA { <urn:evil> <urn:was> "here" }';
  node.append(field); document.body.append(node);
  frame.onload = () => { try { note(frame.contentDocument.body.textContent); } catch (e) { note(e); } resolve(); };
  setTimeout(resolve, 1000);  // 204 loads nothing
  node.submit();
});
const listen = () => new Promise(resolve => {
  const source = new EventSource(target + '/watch?sql=SELECT+1', { withCredentials: true });
  source.addEventListener('ready', e => { note('event ' + e.data); resolve(); });
  source.onerror = () => { source.close(); resolve(); };
});
(async () => {
  for (const credentials of ['include', 'omit'])
    for (const mode of ['cors', 'no-cors']) {
      await read(query, { credentials, mode });
      await read('/sparql', { credentials, mode, method: 'POST', body: write, headers: { 'Content-Type': FORM } });
      await read('/sql', { credentials, mode, method: 'POST', body: '{"sql": "SELECT 1"}' });
    }
  await read(query, { credentials: 'include', headers: { Authorization: 'Bearer x' } });
  await read('/ticket', { credentials: 'include', method: 'POST' });
  await load('script', { src: target + '/workbench/dom.js', type: 'module' });
  await load('script', { src: target + query + '&accept=text/csv' });
  await load('img', { src: target + '/workbench/icon.svg' });
  await listen();
  await form();
  document.title = 'done';
})();
</script>"""


class OtherPage:
    """A server of somebody else on another port. log: what it was asked for."""

    def __init__(self):
        self.page = b""
        other = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(other.page)))
                self.end_headers()
                self.wfile.write(other.page)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def attack(self, browser, name, url):
        """What its page has seen of the server at @url, when the browser opens it by @name."""
        self.page = ATTACK.replace("TARGET", repr(url.rstrip("/"))).encode()
        browser.driver.get(f"http://{name}:{self.port}/")
        browser.wait(lambda: browser.run("return document.title") == "done", "the end of the other page's tries")
        return browser.run("return window.seen")

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@pytest.fixture(scope="module", name="page")
def one_page():
    """A browser with a session. rebound.example means this machine, as evil.example does."""
    world = harness.World()
    world.update(f'INSERT DATA {{ <urn:a> <urn:b> "{SECRET}" }}', language="sparql")
    server = HttpServer(world, "--read-write", token=True)
    page = Workbench(server, make_folder(world), "MAP evil.example 127.0.0.1, MAP rebound.example 127.0.0.1")
    page.world = world
    page.open(page.link())
    yield page
    page.close()
    server.finish()
    world.finish()


@pytest.fixture(name="other")
def other_page():
    other = OtherPage()
    yield other
    other.close()


def test_the_tries_would_succeed(page, other):
    """Against a server that lets this page in, the same tries read and write."""
    server = HttpServer(page.world, "--read-write", "--allow-origin", f"http://127.0.0.1:{other.port}")
    seen = other.attack(page, "127.0.0.1", server.url)
    assert any(SECRET in text for text in seen), seen
    assert page.world.query("SELECT ?o { <urn:evil> ?p ?o }", language="sparql") != []
    page.world.update("DELETE WHERE { <urn:evil> ?p ?o }", language="sparql")
    page.driver.get_log("browser")
    page.open()  # and leave the other server
    server.finish()


@pytest.mark.parametrize("name", ["evil.example", "127.0.0.1"])
def test_page_of_a_foreign_origin(page, other, name):
    """On 127.0.0.1 another port is the same site, so that the browser sends the cookie with its requests."""
    assert page.execute("SELECT ?o { <urn:a> ?p ?o }").startswith("1 row,")  # the session is good
    seen = other.attack(page, name, page.server.url)
    assert len(seen) >= 15, seen
    for text in seen:
        assert SECRET not in text and "ticket" not in text and not text.startswith(("loaded", "event", "cors200", "basic")), text
    assert page.world.query("SELECT * { <urn:evil> ?p ?o }", language="sparql") == []
    page.driver.get_log("browser")  # it has complained about all of that
    page.open()
    assert page.execute("SELECT ?o { <urn:a> ?p ?o }").startswith("1 row,")


def test_frame(page):
    """No page shows the workbench in a frame, where clicks could be stolen."""
    page.driver.get(f"data:text/html,<iframe src='{page.server.url}'></iframe>")
    assert page.run("return document.querySelector('iframe').contentDocument") is None
    page.driver.switch_to.frame(0)
    assert not page.find_all("#text") and SECRET not in page.driver.page_source
    page.driver.switch_to.default_content()
    page.driver.get_log("browser")


@pytest.mark.parametrize("path", ["/", "/sparql?query=SELECT+*+%7B+%3Fs+%3Fp+%3Fo+%7D", "/workbench/main.js", "/watch?sql=SELECT+1",
                                  "/status"])
def test_rebound_name(page, path):
    """A name that was another machine's a moment ago: its page would have the same origin as this server."""
    link = page.link()
    port = page.server.port
    page.driver.get(f"http://rebound.example:{port}{path}")
    assert "this server is not called by this name" in page.text("body") and SECRET not in page.driver.page_source
    page.driver.get(f"http://rebound.example:{port}{link[link.index('/login'):]}")
    assert "this server is not called by this name" in page.text("body")
    seen = page.run("return fetch('/sparql?query=' + encodeURIComponent('SELECT * { ?s ?p ?o }')).then(r => r.text())")
    assert SECRET not in seen and "not called by this name" in seen
    assert page.run("return document.cookie") == ""
    page.driver.get_log("browser")
    page.open(link)  # it was not used up by the other name
