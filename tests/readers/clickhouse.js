// SPDX-License-Identifier: BSD-2-Clause
// Loads folders of tables into ClickHouse by their scripts and answers queries, for databases.py.
// A folder after a ! must fail.
// usage: node clickhouse.js [FOLDER…] [[NAME, QUERY, SQL]…], both as JSON
const fs = require('fs')
const { Session } = require('chdb')

const [folders, asked] = process.argv.slice(2).map((text) => JSON.parse(text))
const session = new Session()
try {
    for (const folder of folders) {
        const refused = folder.startsWith('!')
        process.chdir(refused ? folder.slice(1) : folder)
        let fault = null
        try {
            session.query(fs.readFileSync('load.clickhouse.sql', 'utf8'))
        } catch (error) {
            fault = error
        }
        if (refused === !fault) throw fault || new Error(`${folder} was loaded`)
    }
    // Without this a row that a join does not find has 0 and '' instead of NULL.
    session.query('SET join_use_nulls = 1')
    const answers = {}
    for (const [name, query, sql] of asked)
        answers[`${name} ${query}`] = JSON.parse(session.query(sql, 'JSONCompact')).data
    console.log(JSON.stringify(answers))
} finally {
    session.cleanup()
}
