/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* D-Bus alone, without queryd's library: Prepare gives a pipe, and docs/wire-format.md says what comes through it. */

class Record {
    public uint8 kind;
    public uint32 count;
    public uint8[] body;
}

uint32 get_u32 (uint8[] bytes, size_t at) {
    return bytes[at] | (uint32) bytes[at + 1] << 8 | (uint32) bytes[at + 2] << 16 | (uint32) bytes[at + 3] << 24;
}

uint64 get_u64 (uint8[] bytes, size_t at) {
    return get_u32 (bytes, at) | (uint64) get_u32 (bytes, at + 4) << 32;
}

size_t align8 (size_t n) {
    return (n + 7) & ~((size_t) 7);
}

uint8[] read_bytes (InputStream stream, size_t n) throws Error {
    var bytes = new uint8[n];
    size_t n_read;
    stream.read_all (bytes, out n_read);
    if (n_read < n)
        throw new IOError.PARTIAL_INPUT ("the result was cut off");
    return bytes;
}

/* A large record comes in pieces. */
Record read_record (InputStream stream) throws Error {
    var header = read_bytes (stream, 16);
    var record = new Record () { kind = header[4], count = get_u32 (header, 8) };
    record.body = read_bytes (stream, get_u32 (header, 0) - 16);
    if (record.kind != 'K')
        return record;
    var whole = new ByteArray ();
    whole.append (record.body[16:16 + record.count]);
    while ((header[5] & 1) == 0) {
        header = read_bytes (stream, 16);
        whole.append (read_bytes (stream, get_u32 (header, 0) - 16)[0:get_u32 (header, 8)]);
    }
    return new Record () { kind = record.body[0], count = get_u32 (record.body, 4), body = whole.steal () };
}

string?[] read_row (uint8[] body, size_t at, size_t n_columns) {
    var values = new string?[n_columns];
    size_t data = at + align8 (4 + 4 * n_columns), begin = 0;
    for (size_t i = 0; i < n_columns; i++) {
        uint32 slot = get_u32 (body, at + 4 + 4 * i), type = slot >> 28, end = slot & 0xfffffff;
        if (type == 1)
            values[i] = ((int64) get_u64 (body, data + align8 (begin))).to_string ();
        else if (type == 2) {
            uint64 bits = get_u64 (body, data + align8 (begin));
            values[i] = (*((double*) &bits)).to_string ();
        } else if (type == 3)
            values[i] = (string) body[data + begin:data + end + 1]; /* a NUL follows */
        begin = end + (type == 3 ? 1 : 0);
    }
    return values;
}

class Store {
    DBusConnection bus;

    public Store () throws Error {
        bus = Bus.get_sync (BusType.SESSION);
    }

    Variant call (string method, string text, Variant[] values, VariantDict options, out UnixFDList? fds) throws Error {
        var parameters = new VariantDict ();
        for (int i = 0; i < values.length; i++)
            parameters.insert_value ((i + 1).to_string (), values[i]);
        Variant[] arguments = { "sql", text, parameters.end (), options.end () };
        return bus.call_with_unix_fd_list_sync ("org.queryd.Query1", "/org/queryd/Query1", "org.queryd.Query1", method,
            new Variant.tuple (arguments), null, DBusCallFlags.NONE, -1, null, out fds);
    }

    public void update (string text, Variant[] values = {}) throws Error {
        UnixFDList? fds;
        call ("Update", text, values, new VariantDict (), out fds);
    }

    public delegate void RowFunc (string?[] row);

    public void query (string text, Variant[] values, RowFunc func) throws Error {
        var options = new VariantDict ();
        options.insert ("transport", "s", "pipe");
        UnixFDList? fds;
        var reply = call ("Prepare", text, values, options, out fds);
        var n_columns = reply.get_child_value (1).n_children ();
        var stream = new UnixInputStream (fds.get (reply.get_child_value (0).get_handle ()), true);
        for (;;) {
            var record = read_record (stream);
            if (record.kind == 'E')
                return;
            if (record.kind == 'X')
                throw new IOError.FAILED ("%s", (string) record.body[16:record.body.length]);
            if (record.kind != 'R')
                continue;
            for (size_t row = 0, at = 0; row < record.count; row++, at += align8 (get_u32 (record.body, at)))
                func (read_row (record.body, at, n_columns));
        }
    }
}

void main () {
    try {
        var store = new Store ();
        string[] titles = { "Kind of Blue", "Revolver", "Dummy" };
        int64[] years = { 1959, 1966, 1994 };
        store.update ("CREATE TABLE IF NOT EXISTS album(title TEXT PRIMARY KEY, year INTEGER)");
        for (int i = 0; i < titles.length; i++)
            store.update ("INSERT OR REPLACE INTO album VALUES (?, ?)", { titles[i], years[i] });
        store.query ("SELECT title, year FROM album WHERE year < ? ORDER BY year", { (int64) 1990 },
            (row) => print ("%s (%s)\n", row[0], row[1]));
    } catch (Error error) {
        printerr ("%s\n", error.message);
    }
}
