import type { MeasuredWorld, Sent } from './measured-world.ts'
import { type Shape, shapes, structures } from './shapes.ts'

/** A place of a request that a client can make large. */
export interface Target {
  name: string
  shapes: readonly Shape[]
  /** Characters. The last one is the most that the server reads. */
  sizes: readonly number[]
  send(text: string, world: MeasuredWorld): Sent
  /** Requests that read what was written. Each is measured too. */
  follow?(world: MeasuredWorld, text: string): Sent[]
}

const kilobyte = 1024
const steps = [1, 4, 16, 64].map((kilobytes) => kilobytes * kilobyte)

/** Node reads 16 KB of headers, with the address. */
export const inAddress = { shapes, sizes: [kilobyte, 4 * kilobyte, 15 * kilobyte] }
/** Without NUL, line ends and other characters that no header has. */
export const inHeader = {
  shapes: shapes.filter(({ text }) => /^[\t\x20-\x7e\x80-\xff]*$/.test(text(100))),
  sizes: [kilobyte, 4 * kilobyte, 15 * kilobyte],
}
export const inText = (most: number) => ({ shapes, sizes: [...steps, most] })
export const inStructure = (most: number) => ({ shapes: structures, sizes: [...steps, most] })
/** A pkt-line has 65,516 bytes. */
export const inLine = { shapes, sizes: [...steps.slice(0, 3), 65_000] }

/** Keeps what separates the parts of a path. */
export const encodePath = (text: string) => encodeURIComponent(text).replaceAll('%2F', '/')

/** Cut, because an encoded character takes up to twelve. */
export const encodeQuery = (text: string, most: number) => encodeURIComponent(text).slice(0, most).replace(/%.?$/, '')
