// SPDX-License-Identifier: BSD-2-Clause
// Reads a profile of pprof by npm's pprof-format and prints what it holds, for pprof.py.
const fs = require('fs')
const zlib = require('zlib')
const { Profile } = require('pprof-format')

const profile = Profile.decode(zlib.gunzipSync(fs.readFileSync(process.argv[2])))
const text = (number) => profile.stringTable.strings[Number(number)]
const functions = new Map(profile.function.map((f) => [Number(f.id), f]))
const locations = new Map(profile.location.map((l) => [Number(l.id), l]))
const sums = [0, 0, 0, 0]
const flat = {}
const system = {}
for (const sample of profile.sample) {
    sample.value.forEach((value, i) => { sums[i] += Number(value) })
    const inner = locations.get(Number(sample.locationId[0])).line[0]
    const name = text(functions.get(Number(inner.functionId)).name)
    flat[name] = (flat[name] || 0) + Number(sample.value[1])
}
for (const f of profile.function) system[text(f.name)] = text(f.systemName)
const mappings = profile.mapping.map((m) => [text(m.filename), text(m.buildId), Number(m.memoryStart),
    Number(m.memoryLimit), m.hasFunctions && m.hasFilenames && m.hasLineNumbers && m.hasInlineFrames])
console.log(JSON.stringify({ sums, flat, system, mappings, default: text(profile.defaultSampleType) }))
