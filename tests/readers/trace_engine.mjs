// SPDX-License-Identifier: BSD-2-Clause
// Parses a Chrome trace by the engine of Chrome's DevTools and prints what it found, for firefox.py.
// usage: node trace_engine.mjs PACKAGES TRACE
import fs from 'node:fs'

// The engine expects what a browser has.
globalThis.DOMRect = class DOMRect {
    constructor(x, y, width, height) { Object.assign(this, { x, y, width, height }) }
    static fromRect(r) { return new DOMRect(r.x, r.y, r.width, r.height) }
}
const [packages, file] = process.argv.slice(2)
const { TraceModel } = await import(`${packages}/@paulirish/trace_engine/models/trace/trace.js`)
const model = TraceModel.Model.createWithAllHandlers()
await model.parse(JSON.parse(fs.readFileSync(file)).traceEvents)
const { Meta } = model.parsedTrace().data
const threads = [...Meta.threadsInProcess.values()].flatMap((process) => [...process.values()])
console.log(JSON.stringify({
    processes: [...Meta.processNames].map(([pid, event]) => [Number(pid), event.args.name]),
    threads: threads.map((event) => [event.tid, event.args.name]),
    events: model.parsedTrace().traceEvents.length,
}))
