// SPDX-License-Identifier: BSD-2-Clause
// Checks files of SARIF by the schema of its authors, which an npm package carries with an ajv that knows
// its draft. usage: node sarif.js FOLDER FILE…, FOLDER being that of the package
const fs = require('fs')
const [folder, ...files] = process.argv.slice(2)
const Ajv = require(`${folder}/node_modules/ajv`)

const ajv = new Ajv({ schemaId: 'auto', meta: false, allErrors: true })
ajv.addMetaSchema(require(`${folder}/node_modules/ajv/lib/refs/json-schema-draft-04.json`))
const validate = ajv.compile(require(`${folder}/lib/schemas/sarif-2.1.0-rtm.5.json`))
for (const file of files)
    if (!validate(JSON.parse(fs.readFileSync(file)))) {
        console.log(file, JSON.stringify(validate.errors.slice(0, 5)))
        process.exitCode = 1
    }
