// SPDX-License-Identifier: LGPL-2.1-or-later
// D-Bus alone, without queryd's library: Prepare gives a pipe, and docs/wire-format.md says what comes through it.
import Gio from 'gi://Gio';
import GLib from 'gi://GLib';

const [INTEGER, FLOAT, TEXT, BLOB] = [1, 2, 3, 4];
const letter = c => c.charCodeAt(0);
const align8 = n => (n + 7) & ~7;
const bus = Gio.bus_get_sync(Gio.BusType.SESSION, null);

function call(method, text, values, options) {
    const parameters = Object.fromEntries(values.map((value, i) => [`${i + 1}`, value]));
    return bus.call_with_unix_fd_list_sync('org.queryd.Query1', '/org/queryd/Query1', 'org.queryd.Query1', method,
        new GLib.Variant('(ssa{sv}a{sv})', ['sql', text, parameters, options]), null, Gio.DBusCallFlags.NONE, -1, null, null);
}

function readBytes(stream, n) {
    const parts = [];
    for (let left = n; left > 0;) {
        const bytes = stream.read_bytes(left, null).toArray();
        if (bytes.length === 0)
            throw new Error('the result was cut off');
        parts.push(bytes);
        left -= bytes.length;
    }
    const whole = new Uint8Array(n);
    parts.reduce((at, part) => (whole.set(part, at), at + part.length), 0);
    return whole;
}

// One record: its kind, its count and its body. A large one comes in pieces.
function readRecord(stream) {
    const header = new DataView(readBytes(stream, 16).buffer);
    const kind = header.getUint8(4), count = header.getUint32(8, true);
    const body = readBytes(stream, header.getUint32(0, true) - 16);
    if (kind !== letter('K'))
        return {kind, count, body};
    const first = new DataView(body.buffer);
    const whole = new Uint8Array(Number(first.getBigUint64(8, true)));
    whole.set(body.subarray(16, 16 + count));
    let at = count, flags = header.getUint8(5);
    while ((flags & 1) === 0) {
        const next = new DataView(readBytes(stream, 16).buffer);
        const n = next.getUint32(8, true);
        whole.set(readBytes(stream, next.getUint32(0, true) - 16).subarray(0, n), at);
        at += n;
        flags = next.getUint8(5);
    }
    return {kind: first.getUint8(0), count: first.getUint32(4, true), body: whole};
}

function* readRows({count, body}, nColumns) {
    const view = new DataView(body.buffer, body.byteOffset, body.length), decoder = new TextDecoder();
    for (let row = 0, at = 0; row < count; row++, at += align8(view.getUint32(at, true))) {
        const data = at + align8(4 + 4 * nColumns), values = [];
        for (let i = 0, begin = 0; i < nColumns; i++) {
            const slot = view.getUint32(at + 4 + 4 * i, true), type = slot >>> 28, end = slot & 0xfffffff;
            const text = body.subarray(data + begin, data + end);
            if (type === INTEGER)
                values.push(view.getBigInt64(data + align8(begin), true));
            else if (type === FLOAT)
                values.push(view.getFloat64(data + align8(begin), true));
            else if (type === TEXT)
                values.push(decoder.decode(text));
            else
                values.push(type === BLOB ? text.slice() : null);
            begin = end + (type === TEXT ? 1 : 0);
        }
        yield values;
    }
}

function* query(text, ...values) {
    const [reply, fds] = call('Prepare', text, values, {transport: new GLib.Variant('s', 'pipe')});
    const [handle, columns] = reply.recursiveUnpack();
    const stream = new Gio.UnixInputStream({fd: fds.get(handle), close_fd: true});
    for (;;) {
        const record = readRecord(stream);
        if (record.kind === letter('E'))
            return;
        if (record.kind === letter('X'))
            throw new Error(new TextDecoder().decode(record.body.subarray(16)));
        if (record.kind === letter('R'))
            yield* readRows(record, columns.length);
    }
}

call('Update', 'CREATE TABLE IF NOT EXISTS album(title TEXT PRIMARY KEY, year INTEGER)', [], {});
for (const [title, year] of [['Kind of Blue', 1959], ['Revolver', 1966], ['Dummy', 1994]])
    call('Update', 'INSERT OR REPLACE INTO album VALUES (?, ?)', [new GLib.Variant('s', title), new GLib.Variant('x', year)], {});
for (const [title, year] of query('SELECT title, year FROM album WHERE year < ? ORDER BY year', new GLib.Variant('x', 1990)))
    print(`${title} (${year})`);
