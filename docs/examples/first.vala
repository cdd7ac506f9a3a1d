/* SPDX-License-Identifier: LGPL-2.1-or-later */
const Query.Language SQL = Query.Language.SQL;

struct Album {
    string title;
    int64 year;
}

int main() {
    Album[] albums = { { "Kind of Blue", 1959 }, { "Revolver", 1966 }, { "Dummy", 1994 } };

    try {
        var connection = new Query.Connection();
        connection.update(SQL, "CREATE TABLE IF NOT EXISTS album(title TEXT PRIMARY KEY, year INTEGER)", null);
        foreach (var album in albums)
            connection.update(SQL, "INSERT OR REPLACE INTO album VALUES (?, ?)",
                              new Variant.parsed("{'1': <%s>, '2': <%x>}", album.title, album.year));

        var cursor = connection.query(SQL, "SELECT title, year FROM album WHERE year < :before ORDER BY year",
                                      new Variant.parsed("{'before': <1990>}"));
        while (cursor.next())
            print("%s (%lld)\n", cursor.get_string(0, null), cursor.get_int64(1));
    } catch (Error error) {
        printerr("%s\n", error.message);
        return 1;
    }
    return 0;
}
