"""Fingerprints from a DuckDB table, and the matches of new ones back as a table. Needs duckdb and pyarrow."""

import pathlib
import tempfile

import duckdb

import sstore

con = duckdb.connect()
con.execute(
    "create table pages as "
    "select i as id, hash(i // 2)::ubigint as fingerprint, 'page ' || i as title from range(1000) t(i)"
)
con.execute("create table news as select fingerprint from pages where id % 100 = 0")

with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder, "pages.store")
    # Records stream from the query; nothing is held in Python.
    sstore.build(path, con.sql("select fingerprint, id from pages"))
    with sstore.open(path) as store:
        matches = store.query_batch(con.sql("select fingerprint from news")).to_arrow()

# DuckDB finds the variable by its name. Query 1 is page 100.
print(
    con.sql(
        "select pages.title, distance from matches join pages using (id) where query_index = 1 order by id"
    ).fetchall()
)
