// SPDX-License-Identifier: BSD-2-Clause
// Compares the views of Parquet files with the tables that scripts load, for parquet.py.
// usage: node lake.js duckdb|clickhouse LAKE [FOLDER…] QUERY, the folders as JSON, the query in a file
// Prints for each table the rows of the view, how many rows only the table has or only the view, and the columns with
// their types; for `query` the rows of both.
const fs = require('fs')
const path = require('path')
const [database, lake, folders, query] = process.argv.slice(2).map((word, i) => (i % 2 === 1 ? path.resolve(word) : word))

async function duckdb() {
    const { DuckDBInstance } = require('@duckdb/node-api')
    const connection = await (await DuckDBInstance.create(':memory:')).connect()
    const ask = async (sql) => (await connection.runAndReadAll(sql)).getRows().map((row) => row.map(String))
    return { run: (sql) => connection.run(sql), ask, loaded: 'main', make: 'CREATE SCHEMA lake' }
}

async function clickhouse() {
    const { Session } = require('chdb')
    const session = new Session()
    process.on('exit', () => session.cleanup())
    const ask = async (sql) => session.query(sql.replace(/;\s*$/, ''), 'JSONCompactStringsEachRow').split('\n')
        .filter((line) => line).map((line) => JSON.parse(line))
    return { run: async (sql) => session.query(sql), ask, loaded: 'default', make: 'CREATE DATABASE lake' }
}

async function main() {
    const { run, ask, loaded, make } = await { duckdb, clickhouse }[database]()
    for (const folder of JSON.parse(folders)) {
        process.chdir(folder)
        await run(fs.readFileSync(`load.${database}.sql`, 'utf8'))
    }
    process.chdir(lake)
    await run(make)
    await run('USE lake')
    await run(fs.readFileSync(`views.${database}.sql`, 'utf8'))
    const columnsOf = async (schema, table) => (await ask('SELECT column_name, data_type FROM information_schema.columns '
        + `WHERE table_schema = '${schema}' AND table_name = '${table}' ORDER BY ordinal_position`)).map(String)
    const answer = {}
    for (const [table] of await ask("SELECT table_name FROM information_schema.tables WHERE table_schema = 'lake'")) {
        const columns = await columnsOf(loaded, table)
        const names = columns.map((column) => `"${column.split(',')[0]}"`).join(', ')
        const all = (schema) => `SELECT ${names}, count(*) AS "rows" FROM ${schema}."${table}" GROUP BY ${names}`
        const only = async (one, other) => Number((await ask(`SELECT count(*) FROM (${all(one)} EXCEPT ${all(other)})`))[0][0])
        answer[table] = { rows: Number((await ask(`SELECT count(*) FROM lake."${table}"`))[0][0]), columns,
            lake: await columnsOf('lake', table), less: await only(loaded, 'lake'), more: await only('lake', loaded) }
    }
    const text = fs.readFileSync(query, 'utf8')
    answer.query = { lake: await ask(text) }
    await run(`USE ${loaded}`)
    answer.query.loaded = await ask(text)
    console.log(JSON.stringify(answer))
}

main().catch((fault) => {
    console.error(fault)
    process.exit(1)
})
