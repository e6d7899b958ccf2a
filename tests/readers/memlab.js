// SPDX-License-Identifier: BSD-2-Clause
// Loads a heap snapshot into memlab, which finds the dominators by itself, and writes the retained size of each node by
// its id, for heapsnapshot.py. usage: node memlab.js FILE RESULT
const fs = require('fs')
const { getFullHeapFromFile } = require('@memlab/heap-analysis')

const [file, result] = process.argv.slice(2)
getFullHeapFromFile(file).then((heap) => {
    const sizes = {}
    heap.nodes.forEach((node) => {
        sizes[node.id] = [node.self_size, node.retainedSize]
    })
    fs.writeFileSync(result, JSON.stringify(sizes))
})
