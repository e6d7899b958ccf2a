-- SPDX-License-Identifier: BSD-2-Clause
-- Maps of old ids to new ones. Lookups are by the first column.
CREATE TEMP TABLE first(what TEXT PRIMARY KEY, id INTEGER NOT NULL) WITHOUT ROWID;
CREATE TEMP TABLE file_map(old INTEGER PRIMARY KEY, new INTEGER NOT NULL);
CREATE TEMP TABLE function_map(old INTEGER PRIMARY KEY, new INTEGER NOT NULL);
CREATE TEMP TABLE type_map(old INTEGER PRIMARY KEY, new INTEGER NOT NULL);

CREATE TEMP TABLE owner_map(old INTEGER PRIMARY KEY, new INTEGER NOT NULL);

CREATE TEMP TABLE source_file_key(path TEXT PRIMARY KEY, id INTEGER NOT NULL) WITHOUT ROWID;
INSERT OR IGNORE INTO source_file_key SELECT path, id FROM source_file ORDER BY id;

-- A function is known by its name and its module, which may have another address in each process.
CREATE TEMP TABLE function_key(name TEXT, linkage TEXT, path TEXT, build TEXT, id INTEGER,
  PRIMARY KEY(name, linkage, path, build)) WITHOUT ROWID;
INSERT OR IGNORE INTO function_key
  SELECT f.name, ifnull(f.linkage_name, ''), ifnull(m.path, ''), ifnull(m.build_id, ''), f.id
  FROM function f LEFT JOIN module m ON m.id = f.module_id ORDER BY f.id;

CREATE TEMP TABLE owner_key(name TEXT, confidence TEXT, id INTEGER, PRIMARY KEY(name, confidence))
  WITHOUT ROWID;
INSERT OR IGNORE INTO owner_key SELECT name, confidence, id FROM owner ORDER BY id;

-- A process's own peak is not that of all.
UPDATE stack SET at_peak_count = 0, at_peak_bytes = 0 WHERE at_peak_count > 0;
