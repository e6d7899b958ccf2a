// SPDX-License-Identifier: BSD-2-Clause
// Reads a file of results by npm's junitxml-to-javascript and prints them as JSON.
const Parser = require('junitxml-to-javascript')

new Parser().parseXMLFile(process.argv[2])
    .then((report) => console.log(JSON.stringify(report)))
    .catch((error) => { console.error(error.message); process.exit(1) })
