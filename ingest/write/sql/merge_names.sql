-- SPDX-License-Identifier: BSD-2-Clause
-- Adds the modules, source files, functions and types of the session `part`. A source file, function
-- or type that is in both sessions gets one id.
INSERT OR IGNORE INTO source_file_key
  SELECT path,
    (SELECT ifnull(max(id), 0) FROM main.source_file) + row_number() OVER (ORDER BY id)
  FROM part.source_file WHERE path NOT IN (SELECT path FROM source_file_key);
DELETE FROM file_map;
INSERT INTO file_map
  SELECT s.id, k.id FROM part.source_file s JOIN source_file_key k USING (path);
INSERT INTO main.source_file SELECT id, path FROM source_file_key
  WHERE id > (SELECT ifnull(max(id), 0) FROM main.source_file) ORDER BY id;

INSERT INTO main.module
  SELECT id + base.module, path, name, build_id, load_bias, start_address, end_address,
    loaded_ns + base.later, unloaded_ns + base.later, symbols
  FROM part.module, base;

CREATE TEMP TABLE named AS
  SELECT f.id AS id, f.name AS name, ifnull(f.linkage_name, '') AS linkage,
    ifnull(m.path, '') AS path, ifnull(m.build_id, '') AS build
  FROM part.function f LEFT JOIN part.module m ON m.id = f.module_id;
INSERT OR IGNORE INTO function_key
  SELECT name, linkage, path, build,
    (SELECT ifnull(max(id), 0) FROM main.function) + row_number() OVER (ORDER BY id)
  FROM (SELECT min(id) AS id, name, linkage, path, build FROM named
    GROUP BY name, linkage, path, build) n
  WHERE NOT EXISTS (SELECT 1 FROM function_key k
    WHERE k.name = n.name AND k.linkage = n.linkage AND k.path = n.path AND k.build = n.build);
DELETE FROM function_map;
INSERT INTO function_map
  SELECT n.id, k.id FROM named n JOIN function_key k USING (name, linkage, path, build);
INSERT INTO main.function
  SELECT m.new, f.name, f.linkage_name, iif(f.module_id = 0, 0, f.module_id + base.module), s.new,
    f.line, f.role, f.start_pc
  FROM (SELECT min(old) AS old, new FROM function_map
    WHERE new > (SELECT ifnull(max(id), 0) FROM main.function) GROUP BY new) m, base
  JOIN part.function f ON f.id = m.old
  LEFT JOIN file_map s ON s.old = f.source_file_id ORDER BY m.new;
-- If its code has several copies, the one with the lowest address counts.
UPDATE main.function AS known SET start_pc = f.start_pc
  FROM (SELECT m.new AS id, min(p.start_pc) AS start_pc
    FROM function_map m JOIN part.function p ON p.id = m.old GROUP BY m.new) f
  WHERE f.id = known.id AND f.start_pc < ifnull(known.start_pc, 9223372036854775807);
DROP TABLE named;

-- type_map is filled before: the rows have been written with these ids.
INSERT INTO main.type_member
  SELECT m.new, e.position, e.name, e.offset, e.size, e.type
  FROM type_map m JOIN part.type_member e ON e.type_id = m.old
  WHERE m.new > (SELECT ifnull(max(id), 0) FROM main.type);
INSERT INTO main.type_field
  SELECT m.new, e.position, e.parent, e.name, e.offset, e.size, e.element, e.type
  FROM type_map m JOIN part.type_field e ON e.type_id = m.old
  WHERE m.new NOT IN (SELECT type_id FROM main.type_field);
INSERT INTO main.type
  SELECT m.new, t.name, t.size, t.confidence, t.element
  FROM type_map m JOIN part.type t ON t.id = m.old
  WHERE m.new > (SELECT ifnull(max(id), 0) FROM main.type) ORDER BY m.new;

INSERT OR IGNORE INTO owner_key
  SELECT name, confidence,
    (SELECT ifnull(max(id), 0) FROM main.owner) + row_number() OVER (ORDER BY id)
  FROM part.owner o WHERE NOT EXISTS (SELECT 1 FROM owner_key k
    WHERE k.name = o.name AND k.confidence = o.confidence);
DELETE FROM owner_map;
INSERT INTO owner_map SELECT o.id, k.id FROM part.owner o JOIN owner_key k USING (name, confidence);
INSERT INTO main.owner SELECT id, name, confidence FROM owner_key
  WHERE id > (SELECT ifnull(max(id), 0) FROM main.owner) ORDER BY id;
