// SPDX-License-Identifier: BSD-2-Clause
// Checks files of speedscope by its own JSON schema. usage: node speedscope.js SCHEMA FILE…
const fs = require('fs')
const Ajv = require('ajv')

const [schema, ...files] = process.argv.slice(2)
const validate = new Ajv({ strict: false, allErrors: true }).compile(JSON.parse(fs.readFileSync(schema)))
for (const file of files) {
    if (!validate(JSON.parse(fs.readFileSync(file)))) {
        console.log(file, JSON.stringify(validate.errors.slice(0, 5)))
        process.exitCode = 1
    }
}
