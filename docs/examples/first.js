// SPDX-License-Identifier: LGPL-2.1-or-later
import GLib from 'gi://GLib';
import Query from 'gi://QueryClient?version=1';

const SQL = Query.Language.SQL;
const connection = Query.Connection.new(null);

connection.update(SQL, 'CREATE TABLE IF NOT EXISTS album(title TEXT PRIMARY KEY, year INTEGER)', null, null);
for (const [title, year] of [['Kind of Blue', 1959], ['Revolver', 1966], ['Dummy', 1994]]) {
    const values = new GLib.Variant('a{sv}', {1: GLib.Variant.new_string(title), 2: GLib.Variant.new_int64(year)});
    connection.update(SQL, 'INSERT OR REPLACE INTO album VALUES (?, ?)', values, null);
}

const before = new GLib.Variant('a{sv}', {before: GLib.Variant.new_int64(1990)});
const cursor = connection.query(SQL, 'SELECT title, year FROM album WHERE year < :before ORDER BY year', before, null);
while (cursor.next(null))
    print(`${cursor.get_string(0)[0]} (${cursor.get_int64(1)})`);
