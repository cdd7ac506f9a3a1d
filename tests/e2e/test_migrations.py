# SPDX-License-Identifier: LGPL-2.1-or-later
"""Migrations as programs type them: pragmas, and the rebuilding of tables, beside SQLite itself (Python's sqlite3)."""
import sqlite3

import pytest

from harness import BusError
from wire_client import RemoteError

# What is typed at the opening of a database: Django, Rails, Room, Firefox.
OPENING = ["PRAGMA foreign_keys = ON", "PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL", "PRAGMA synchronous = NORMAL",
           "PRAGMA encoding = 'UTF-8'", "PRAGMA busy_timeout = 5000", "PRAGMA temp_store = MEMORY", "PRAGMA cache_size = -2000",
           "PRAGMA page_size = 32768", "PRAGMA wal_autocheckpoint = 16", "PRAGMA journal_size_limit = 67108864",
           "PRAGMA recursive_triggers = OFF", "PRAGMA legacy_alter_table = OFF", "PRAGMA defer_foreign_keys = OFF"]

SCHEMA = """
CREATE TABLE author (id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL);
CREATE TABLE book (id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, title varchar(100) NOT NULL,
 author_id bigint NOT NULL REFERENCES author (id) ON DELETE CASCADE);
CREATE INDEX book_author_id ON book (author_id);
CREATE TABLE loan (id INTEGER PRIMARY KEY, book_id INTEGER NOT NULL
 REFERENCES book (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED);
CREATE TRIGGER book_loans AFTER UPDATE ON book BEGIN UPDATE loan SET book_id = new.id WHERE book_id = old.id; END;
CREATE VIEW titles AS SELECT title, name FROM book JOIN author ON author.id = author_id;
INSERT INTO author VALUES (1, 'Ann'), (2, 'Bob');
INSERT INTO book VALUES (1, 'First', 1), (2, 'Second', 1), (3, 'Third', 2);
INSERT INTO loan VALUES (10, 1), (20, 3);
"""

# docs.djangoproject.com, "Schema editor": the editor rebuilds a table, with checks of keys off around its transaction.
DJANGO = ["PRAGMA foreign_keys = OFF",
          'CREATE TABLE "new__book" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "title" varchar(200) NOT NULL,'
          ' "author_id" bigint NOT NULL REFERENCES "author" ("id") DEFERRABLE INITIALLY DEFERRED, "pages" integer NULL)',
          'INSERT INTO "new__book" ("id", "title", "author_id", "pages") SELECT "id", "title", "author_id", NULL FROM "book"',
          "DROP VIEW titles",
          'DROP TABLE "book"',
          'ALTER TABLE "new__book" RENAME TO "book"',
          'CREATE INDEX "book_author_id_8ce1" ON "book" ("author_id")',
          "CREATE VIEW titles AS SELECT title, name, pages FROM book JOIN author ON author.id = author_id"]

# guides.rubyonrails.org and the adapter: a table is copied to "a…", altered there, and copied back.
RAILS = ["PRAGMA foreign_keys = OFF", "PRAGMA defer_foreign_keys = ON",
         'CREATE TABLE "aloan" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "book_id" integer NOT NULL,'
         ' "due" date DEFAULT NULL,'
         ' CONSTRAINT "fk_rails_1" FOREIGN KEY ("book_id") REFERENCES "book" ("id"))',
         'INSERT INTO "aloan" ("id","book_id") SELECT "id","book_id" FROM "loan"',
         'DROP TABLE "loan"',
         'CREATE TABLE "loan" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "book_id" integer NOT NULL,'
         ' "due" date DEFAULT NULL,'
         ' CONSTRAINT "fk_rails_1" FOREIGN KEY ("book_id") REFERENCES "book" ("id"))',
         'CREATE INDEX "index_loan_on_book_id" ON "loan" ("book_id")',
         'INSERT INTO "loan" ("id","book_id","due") SELECT "id","book_id","due" FROM "aloan"',
         'DROP TABLE "aloan"']

# developer.android.com, "Migrate your Room database", and what Room keeps itself.
ROOM = ["CREATE TABLE IF NOT EXISTS room_master_table (id INTEGER PRIMARY KEY,identity_hash TEXT)",
        "INSERT OR REPLACE INTO room_master_table (id,identity_hash) VALUES(42, 'a9f1e44d')",
        "ALTER TABLE author ADD COLUMN birth_year INTEGER",
        "CREATE TABLE `author_new` (`id` INTEGER NOT NULL, `name` TEXT NOT NULL DEFAULT '', `birth_year` INTEGER,"
        " PRIMARY KEY(`id`))",
        "INSERT INTO author_new (id, name, birth_year) SELECT id, name, birth_year FROM author",
        "DROP VIEW titles", "DROP TABLE author", "ALTER TABLE author_new RENAME TO author", "PRAGMA user_version = 2"]

# mozStorage users (places): schema versions in user_version, columns added, indexes made, tables filled from others.
FIREFOX = ["ALTER TABLE author ADD COLUMN frecency INTEGER NOT NULL DEFAULT -1",
           "ALTER TABLE author ADD COLUMN url_hash INTEGER DEFAULT 0 NOT NULL",
           "UPDATE author SET url_hash = id * 7 WHERE url_hash = 0",
           "CREATE INDEX IF NOT EXISTS author_url_hashindex ON author (url_hash)",
           "DROP INDEX IF EXISTS book_author_id",
           "CREATE TABLE IF NOT EXISTS origins (id INTEGER PRIMARY KEY, prefix TEXT NOT NULL, UNIQUE (prefix))",
           "INSERT OR IGNORE INTO origins (prefix) SELECT substr(name, 1, 1) FROM author",
           "PRAGMA user_version = 55", "PRAGMA application_id = 1330465857"]

# sqlite.org/lang_altertable.html, the twelve steps, and the older way with legacy_alter_table
TWELVE = ["PRAGMA foreign_keys=OFF",
          "CREATE TABLE new_author (id INTEGER PRIMARY KEY, name TEXT NOT NULL CHECK (length(name) > 1))",
          "INSERT INTO new_author SELECT id, name FROM author", "DROP VIEW titles", "DROP TABLE author",
          "ALTER TABLE new_author RENAME TO author"]
LEGACY = ["PRAGMA foreign_keys=OFF", "PRAGMA legacy_alter_table=ON", "ALTER TABLE author RENAME TO old_author",
          "CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT, more)", "INSERT INTO author SELECT id, name, 5 FROM old_author",
          "DROP TABLE old_author"]
RECURSIVE = ["PRAGMA recursive_triggers = ON", "CREATE TABLE n (a)",
             "CREATE TRIGGER count_down AFTER INSERT ON n WHEN new.a > 0 BEGIN INSERT INTO n VALUES (new.a - 1); END",
             "INSERT INTO n VALUES (9)"]
DEFERRED = ["PRAGMA defer_foreign_keys = ON", "INSERT INTO book VALUES (9, 'Ninth', 9)", "INSERT INTO author VALUES (9, 'Zed')"]
SCRIPTS = {"django": DJANGO, "rails": RAILS, "room": ["PRAGMA foreign_keys = OFF"] + ROOM, "firefox": FIREFOX, "twelve": TWELVE,
           "legacy": LEGACY, "recursive": RECURSIVE, "deferred": DEFERRED}
LOOKS = ["SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT LIKE 'queryd%' AND sql NOT LIKE '%queryd_%'"
         " ORDER BY 1, 2", "PRAGMA user_version", "PRAGMA application_id",
         "SELECT * FROM pragma_foreign_key_check ORDER BY 1, 2", "PRAGMA foreign_keys"]


def is_before_begin(text):
    """foreign_keys has no effect within a transaction of SQLite."""
    return text.startswith("PRAGMA foreign_keys")


def run_in_sqlite(script):
    """The state after @script in one transaction, its pragmas of keys around it."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.execute("PRAGMA foreign_keys = ON")
    connection.executescript(SCHEMA)
    for text in filter(is_before_begin, script):
        connection.execute(text)
    connection.execute("BEGIN")
    for text in script:
        if not is_before_begin(text):
            connection.execute(text)
    connection.execute("COMMIT")
    connection.execute("PRAGMA foreign_keys = ON")
    return look(lambda text: connection.execute(text).fetchall())


def look(query):
    state = [query(text) for text in LOOKS]
    tables = [row[1] for row in state[0] if row[0] in ("table", "view") and not row[1].startswith("sqlite_")]
    return state + [(table, sorted(query(f'SELECT * FROM "{table}"'), key=repr)) for table in tables]


def run_batch(bus, script):
    bus.batch([(text, ()) for text in script])


def run_channel(bus, script):
    with bus.prepare("SELECT 1") as channel:
        list(channel.answer(channel.send("B")))
        for text in script:
            channel.prepare(text, access="write")
            channel.fetch()
        list(channel.answer(channel.send("M")))


def run_session(bus, script):
    """As it is typed for SQLite: pragmas of keys around BEGIN and COMMIT, all by text."""
    with bus.prepare("SELECT 1") as channel:
        typed = [text for text in script if is_before_begin(text)] + ["BEGIN"]
        typed += [text for text in script if not is_before_begin(text)] + ["COMMIT", "PRAGMA foreign_keys = ON"]
        for text in typed:
            channel.prepare(text, access="write")
            channel.fetch()


@pytest.fixture(name="store")
def make_store(bus):
    statements = [text.strip() for text in SCHEMA.replace("BEGIN UPDATE", "BEGIN\0UPDATE").split(";\n")]
    for text in filter(None, statements):
        bus.update(text.replace("\0", " "))
    return bus


@pytest.mark.parametrize("run", [run_batch, run_channel, run_session])
@pytest.mark.parametrize("name", SCRIPTS)
def test_as_sqlite(store, name, run):
    run(store, SCRIPTS[name])
    assert look(store.query) == run_in_sqlite(SCRIPTS[name])
    # what the script has set has gone with it
    with pytest.raises(BusError, match="FOREIGN KEY"):
        store.update("INSERT INTO loan (id, book_id) VALUES (99, 99)")
    for text in ("PRAGMA legacy_alter_table", "PRAGMA recursive_triggers", "PRAGMA defer_foreign_keys"):
        with store.prepare("SELECT 1") as channel:
            list(channel.answer(channel.send("B")))
            channel.prepare(text)
            assert channel.fetch() == [(0,)]
    store.stop_daemon()
    assert look(store.query) == run_in_sqlite(SCRIPTS[name])


def test_keys_that_are_checked_lose_children(store):
    """Without foreign_keys=OFF DROP TABLE deletes the rows that refer to the table, in SQLite as here."""
    script = [text for text in TWELVE if not is_before_begin(text)]
    run_batch(store, script)
    assert look(store.query) == run_in_sqlite(script)
    assert store.query("SELECT count(*) FROM book") == [(0,)]


@pytest.mark.parametrize("text", OPENING)
def test_what_is_so_may_be_asked_for(store, text):
    before = store.property("Generation")
    store.query(text)
    assert store.update(text)[0] == 0
    store.batch([(text, ()), ("UPDATE author SET name = name", ())])
    for access in ("read", "write"):
        with store.prepare("SELECT 1") as channel:
            channel.prepare(text, access=access)
            rows = channel.fetch()
            assert rows == ([("wal",)] if "journal_mode" in text else [])
    assert store.property("Generation") <= before + 3
    assert store.query("PRAGMA foreign_keys") == [(1,)] and store.query("PRAGMA synchronous") == [(2,)]


@pytest.mark.parametrize("text, words", [
    ("PRAGMA journal_mode = DELETE", "a store is kept in the journal mode WAL"), ("PRAGMA synchronous = OFF", "durability"),
    ("PRAGMA encoding = 'UTF-16'", "keeps the encoding"), ("PRAGMA writable_schema = ON", "CREATE, ALTER and DROP"),
    ("PRAGMA optimize", "queryctl optimize"), ("PRAGMA schema_version = 5", "it only tells"),
    ("PRAGMA nonsense", "docs/transactions.md lists the pragmas")])
def test_refused(store, text, words):
    for call in (store.update, store.query):
        with pytest.raises(BusError, match=words) as error:
            call(text)
        assert error.value.name == "AccessDenied"


@pytest.mark.parametrize("text", ["PRAGMA foreign_keys = OFF", "PRAGMA defer_foreign_keys = ON", "PRAGMA recursive_triggers = 1"])
def test_alone_it_would_have_no_effect(store, text):
    with pytest.raises(BusError, match="holds for a batch, a transaction or a channel") as error:
        store.update(text)
    assert error.value.name == "BadParameter"
    with pytest.raises(BusError, match="it holds for a batch, a transaction or a channel") as error:
        store.query(text)
    assert error.value.name == "ReadOnly"


def test_header_fields_are_parts_of_the_transaction(store):
    store.update("PRAGMA user_version = 5")
    assert store.query("PRAGMA user_version") == [(5,)]
    with pytest.raises(BusError):
        store.batch([("PRAGMA user_version = 6", ()), ("PRAGMA application_id = 6", ()),
                     ("INSERT INTO author VALUES (1, 'again')", ())])
    assert store.query("SELECT * FROM pragma_user_version, pragma_application_id") == [(5, 0)]
    assert store.update("PRAGMA application_id = -7")[0] == 0
    store.kill_daemon()
    assert store.query("SELECT * FROM pragma_user_version, pragma_application_id") == [(5, -7)]


def test_keys_off_only_before_the_first_change(store):
    with pytest.raises(BusError, match="FOREIGN KEY"):
        store.batch([("INSERT INTO author VALUES (5, 'x')", ()), ("PRAGMA foreign_keys = OFF", ()),
                     ("INSERT INTO book VALUES (9, 'x', 77)", ())])
    store.batch([("PRAGMA foreign_keys = OFF", ()), ("INSERT INTO book VALUES (9, 'x', 77)", ())])
    assert store.query("SELECT count(*) FROM pragma_foreign_key_check") == [(1,)]


def test_deferred_keys_are_checked_at_commit(store):
    with store.prepare("SELECT 1") as channel:
        list(channel.answer(channel.send("B")))
        channel.prepare("INSERT INTO loan VALUES (30, 77)", access="write")
        channel.fetch()
        channel.prepare("INSERT INTO book VALUES (77, 'Late', 1)", access="write")
        channel.fetch()
        list(channel.answer(channel.send("M")))
        assert store.query("SELECT book_id FROM loan WHERE id = 30") == [(77,)]
        list(channel.answer(channel.send("B")))
        channel.prepare("INSERT INTO loan VALUES (40, 78)", access="write")
        channel.fetch()
        with pytest.raises(RemoteError, match="FOREIGN KEY") as error:
            list(channel.answer(channel.send("M")))
        assert error.value.name == "Constraint"
    assert store.query("SELECT count(*) FROM loan") == [(3,)]
    store.update("INSERT INTO loan VALUES (40, 1)")


def test_a_setting_ends_with_what_fails(store):
    with pytest.raises(BusError):
        store.batch([("PRAGMA foreign_keys = OFF", ()), ("INSERT OR ROLLBACK INTO author VALUES (1, 'x')", ())])
    with store.prepare("SELECT 1") as channel:
        list(channel.answer(channel.send("B")))
        channel.prepare("PRAGMA foreign_keys = OFF", access="write")
        channel.fetch()
        channel.prepare("PRAGMA foreign_keys")
        assert channel.fetch() == [(0,)]
    with pytest.raises(BusError, match="FOREIGN KEY"):
        store.update("INSERT INTO loan VALUES (99, 99)")


def type_on(channel, *texts):
    """The rows of the last of @texts."""
    rows = []
    for text in texts:
        channel.prepare(text, access="write")
        rows = channel.fetch()
    return rows


SETTINGS = [("foreign_keys", 0, 1), ("legacy_alter_table", 1, 0), ("recursive_triggers", 1, 0), ("defer_foreign_keys", 1, 0)]


@pytest.mark.parametrize("name, value, default", SETTINGS)
def test_a_setting_of_a_session(store, name, value, default):
    """It tells what was set, before, within and after a transaction, and to no other channel."""
    ends = name == "defer_foreign_keys"
    with store.prepare("SELECT 1") as channel, store.prepare("SELECT 1") as other:
        assert type_on(channel, f"PRAGMA {name} = {value}", f"PRAGMA {name}") == [(value,)]
        assert type_on(other, f"PRAGMA {name}") == [(default,)] == store.query(f"PRAGMA {name}")
        assert type_on(channel, "BEGIN", f"PRAGMA {name}") == [(value,)]
        assert type_on(channel, "COMMIT", f"PRAGMA {name}") == [(default if ends else value,)]
        assert type_on(other, "BEGIN", f"PRAGMA {name}") == [(default,)]
        type_on(other, "ROLLBACK")
        assert type_on(channel, "BEGIN", "ROLLBACK", f"PRAGMA {name} = {default}", f"PRAGMA {name}") == [(default,)]
        type_on(channel, f"PRAGMA {name} = {value}")
    with store.prepare("SELECT 1") as channel:
        assert type_on(channel, f"PRAGMA {name}") == [(default,)]


def test_a_session_without_keys(store):
    with store.prepare("SELECT 1") as channel:
        type_on(channel, "PRAGMA foreign_keys = OFF", "INSERT INTO loan VALUES (50, 50)", "BEGIN",
                "INSERT INTO loan VALUES (51, 51)")
        type_on(channel, "COMMIT", "BEGIN", "INSERT INTO loan VALUES (52, 52)", "COMMIT")
        with pytest.raises(BusError, match="FOREIGN KEY"):
            store.update("INSERT INTO loan VALUES (60, 60)")
        channel.prepare("PRAGMA foreign_keys = ON")  # as a query, too
        channel.fetch()
        with pytest.raises(RemoteError, match="FOREIGN KEY"):
            type_on(channel, "INSERT INTO loan VALUES (53, 53)")
    assert store.query("SELECT count(*) FROM loan") == [(5,)]


def test_a_session_without_keys_prepares_without_them(store):
    """To compile such a statement SQLite needs the parent's table, unless the keys are off."""
    store.update("CREATE TABLE kept(id INTEGER PRIMARY KEY, p REFERENCES gone)")
    with store.prepare("SELECT 1") as channel:
        with pytest.raises(RemoteError, match="no such table: main.gone"):
            channel.prepare("INSERT INTO kept VALUES(1, 1)", access="write")
        type_on(channel, "PRAGMA foreign_keys = OFF", "INSERT INTO kept VALUES(1, 1)", "DELETE FROM kept")
    with store.prepare("SELECT 1") as channel, pytest.raises(RemoteError, match="no such table: main.gone"):
        channel.prepare("INSERT INTO kept VALUES(1, 1)", access="write")


def test_deferred_keys_of_a_session_end_with_one_update(store):
    with store.prepare("SELECT 1") as channel:
        type_on(channel, "PRAGMA defer_foreign_keys = ON", "BEGIN", "INSERT INTO book VALUES (9, 'Ninth', 9)",
                "INSERT INTO author VALUES (9, 'Zed')", "COMMIT", "BEGIN")
        with pytest.raises(RemoteError, match="FOREIGN KEY"):
            type_on(channel, "INSERT INTO book VALUES (10, 'Tenth', 10)")


def test_a_shared_channel_is_no_session(store):
    """libquery-client opens channels that all requests of a connection share so."""
    with store.prepare("SELECT 1", text_transactions=False) as channel:
        with pytest.raises(RemoteError, match="holds for a batch, a transaction or a channel"):
            type_on(channel, "PRAGMA foreign_keys = OFF")


@pytest.mark.parametrize("value", ["0x1", "0x0", "'00x1'", "2", "255", "256", "257", "-1", "2147483648", "4294967297", "'1x'",
                                   "'0x100'", "'0xg'", "yes", "TRUE", "'on '", "full", "1.5"])
def test_values_of_a_setting(store, value):
    texts = [f"PRAGMA recursive_triggers = {value}", "PRAGMA recursive_triggers"]
    connection = sqlite3.connect(":memory:")
    expected = [connection.execute(text).fetchall() for text in texts][1]
    with store.prepare("SELECT 1") as channel:
        assert type_on(channel, *texts) == expected


def test_pragmas_of_the_temporary_schema(store):
    """Tools ask for a table there, too, before they say that there is none (SQLAlchemy)."""
    connection = sqlite3.connect(":memory:")
    for name in ("table_info", "table_xinfo", "index_list", "index_info", "foreign_key_list"):
        for text in (f"PRAGMA temp.{name}(book)", f"SELECT * FROM pragma_{name}('book', 'temp')"):
            assert store.query(text) == connection.execute(text).fetchall() == [], text
    assert store.query("PRAGMA temp.user_version") == [(0,)]
    with pytest.raises(BusError, match="temporary objects are not allowed") as error:
        store.update("PRAGMA temp.user_version = 3")
    assert error.value.name == "AccessDenied"
