import { readFileSync } from 'node:fs'

/**
 * Loaded into a node before Belfry (`node --import`). The file that CHAOS_CLOCK names has the milliseconds by which this node's clock is wrong.
 * Git and PostgreSQL keep the time of the machine.
 */
const file = process.env.CHAOS_CLOCK ?? ''
let offset = 0

function read() {
  try {
    offset = Number(readFileSync(file, 'utf8')) || 0
  } catch {
    offset = 0
  }
}

const now = Date.now
globalThis.Date = new Proxy(Date, {
  construct: (target, given, proxy) => Reflect.construct(target, given.length ? given : [now() + offset], proxy),
  get: (target, name, proxy) => (name === 'now' ? () => now() + offset : Reflect.get(target, name, proxy)),
})
read()
setInterval(read, 200).unref()
