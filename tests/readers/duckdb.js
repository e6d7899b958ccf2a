// SPDX-License-Identifier: BSD-2-Clause
// Loads folders of tables into DuckDB by their scripts and answers queries, for databases.py.
// A folder after a ! must fail.
// usage: node duckdb.js [FOLDER…] [[NAME, QUERY, SQL]…], both as JSON
const fs = require('fs')
const { DuckDBInstance } = require('@duckdb/node-api')

const plain = (value) => (typeof value === 'bigint' ? Number(value)
    : value !== null && typeof value === 'object' ? Number(value.toString()) : value)

async function main() {
    const [folders, asked] = process.argv.slice(2).map((text) => JSON.parse(text))
    const connection = await (await DuckDBInstance.create(':memory:')).connect()
    for (const folder of folders) {
        const refused = folder.startsWith('!')
        process.chdir(refused ? folder.slice(1) : folder)
        let fault = null
        await connection.run(fs.readFileSync('load.duckdb.sql', 'utf8')).catch((error) => { fault = error })
        if (fault) await connection.run('ROLLBACK')
        if (refused === !fault) throw fault || new Error(`${folder} was loaded`)
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
