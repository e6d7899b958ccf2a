// SPDX-License-Identifier: BSD-2-Clause
// Loads folders of tables into a database by their scripts and answers queries, for translations.py.
// usage: node queries.js duckdb|clickhouse [FOLDER…] FILE
// FILE has the queries as JSON, those with parameters as [QUERY, {NAME: VALUE…}]. Prints a line of JSON for each: [[NAME…], [VALUE…]…], values as texts or
// null, or {"error": TEXT}.
const fs = require('fs')
const path = require('path')
const [database, folderList, file] = process.argv.slice(2)
const folders = JSON.parse(folderList).map((folder) => path.resolve(folder))
const queries = JSON.parse(fs.readFileSync(file, 'utf8'))
// A folder of Parquet has views.
const script = (name) => (fs.existsSync(`views.${name}.sql`) ? `views.${name}.sql` : `load.${name}.sql`)
const text = (value) => (value === null ? null : String(value))

async function duckdb() {
    const { DuckDBInstance } = require('@duckdb/node-api')
    const connection = await (await DuckDBInstance.create(':memory:')).connect()
    for (const folder of folders) {
        process.chdir(folder)
        await connection.run(fs.readFileSync(script('duckdb'), 'utf8'))
    }
    return async (query, values) => {
        const bound = Object.entries(values).map(([name, value]) => [name, typeof value === 'number' ? BigInt(value) : value])
        const reader = await connection.runAndReadAll(query, bound.length > 0 ? Object.fromEntries(bound) : undefined)
        return [reader.columnNames(), ...reader.getRows().map((row) => row.map(text))]
    }
}

function clickhouse() {
    const { Session } = require('chdb')
    const session = new Session()
    process.on('exit', () => session.cleanup())
    for (const folder of folders) {
        process.chdir(folder)
        session.query(fs.readFileSync(script('clickhouse'), 'utf8'))
    }
    return async (query, values) => {
        for (const [name, value] of Object.entries(values))
            session.query(`SET param_${name} = '${String(value).replace(/['\\]/g, '\\$&')}'`)
        const answer = session.query(query.replace(/;\s*$/, ''), 'JSONCompactStringsEachRowWithNames')
        const lines = answer.split('\n').filter((line) => line).map((line) => JSON.parse(line))
        return lines.map((row, i) => (i === 0 ? row : row.map((value) => (value === '\u1d3a\u1d41\u1d38\u1d38' ? null : value))))
    }
}

async function main() {
    const answer = await { duckdb, clickhouse }[database]()
    for (const query of queries) {
        let line
        try {
            line = await answer(...(Array.isArray(query) ? query : [query, {}]))
        } catch (fault) {
            line = { error: String(fault.message || fault) }
        }
        console.log(JSON.stringify(line))
    }
}

main().catch((fault) => {
    console.error(fault)
    process.exit(1)
})
