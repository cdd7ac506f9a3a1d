// SPDX-License-Identifier: LGPL-2.1-or-later
import GLib from 'gi://GLib';
import Query from 'gi://QueryClient?version=1';

const QUERY = 'SELECT count(*), max(year) FROM album';
const loop = new GLib.MainLoop(null, false);
const connection = Query.Connection.new(null);
const subscription = connection.subscribe(Query.Language.SQL, QUERY, null);

function show() {
    const cursor = connection.query(Query.Language.SQL, QUERY, null, null);
    cursor.next(null);
    print(`${cursor.get_int64(0)} albums, the last of ${cursor.get_int64(1)}`);
    while (cursor.next(null));
    subscription.set_generation(cursor.get_generation());
    if (cursor.get_int64(0) === 0)
        loop.quit();
}

subscription.connect('stale', show);
show();
loop.run();
