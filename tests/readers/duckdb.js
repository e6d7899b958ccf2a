// SPDX-License-Identifier: BSD-2-Clause
// Loads folders of tables into DuckDB by their scripts and answers queries, for databases.py.
// usage: node duckdb.js [FOLDER…] [[NAME, QUERY, SQL]…], both as JSON
const fs = require('fs')
const { DuckDBInstance } = require('@duckdb/node-api')

const plain = (value) => (typeof value === 'bigint' ? Number(value)
    : value !== null && typeof value === 'object' ? Number(value.toString()) : value)

async function main() {
    const [folders, asked] = process.argv.slice(2).map((text) => JSON.parse(text))
    const connection = await (await DuckDBInstance.create(':memory:')).connect()
    for (const folder of folders) {
        process.chdir(folder)
        await connection.run(fs.readFileSync('load.duckdb.sql', 'utf8'))
    }
    const answers = {}
    for (const [name, query, sql] of asked) {
        const reader = await connection.runAndReadAll(sql)
        answers[`${name} ${query}`] = reader.getRows().map((row) => row.map(plain))
    }
    console.log(JSON.stringify(answers))
}

main().catch((fault) => {
    console.error(fault)
    process.exit(1)
})
