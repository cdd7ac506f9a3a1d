# SPDX-License-Identifier: LGPL-2.1-or-later
"""Applications in sandboxes and the result memory: none is given what another client may see."""
import shutil

import pytest

from test_access import SPARQL_GRANTS, add_quads, make_world  # noqa: F401 pylint: disable=unused-import
from wire_client import RemoteError

pytestmark = pytest.mark.skipif(not shutil.which("bwrap") or not shutil.which("xdg-dbus-proxy"),
                                reason="bubblewrap or xdg-dbus-proxy is not installed")


@pytest.mark.parametrize("text,language", [
    ("SELECT ?o { GRAPH ?g { ?s <urn:p> ?o } }", "sparql"), ("SELECT (count(*) AS ?n) { GRAPH ?g { ?s ?p ?o } }", "sparql"),
    ("SELECT title FROM albums", "sql"), ("SELECT word FROM secret", "sql")])
def test_remembered_results_are_not_shared(make_world, text, language):
    """Neither is an application given what others have asked for, nor they what it may see."""
    world, sandboxes = make_world("result_memory_cost_us=0\n" + SPARQL_GRANTS.replace("read=", "read=table:albums;"))
    add_quads(world)
    world.batch([("CREATE TABLE albums(title)", []), ("INSERT INTO albums VALUES('one')", []),
                 ("CREATE TABLE secret(word)", []), ("INSERT INTO secret VALUES('secret')", [])])

    def ask(caller):
        try:
            with caller.prepare("SELECT 1") as channel:
                channel.prepare(text, language)
                return sorted(map(str, channel.fetch()))
        except RemoteError as error:
            return error.name

    def n_recalled():
        return world.stats()["results_recalled_total"]

    caller = sandboxes.caller()
    own = [ask(caller) for _ in range(5)]
    assert n_recalled() == 0 and all(result == own[0] and "secret" not in str(result) for result in own)
    everything = [ask(world) for _ in range(5)]
    assert n_recalled() == 3 and all(result == everything[0] for result in everything)
    assert [ask(caller) for _ in range(5)] == own and n_recalled() == 3
    assert ask(world) == everything[0] and n_recalled() == 4
