import { join } from 'node:path'
import { suite } from 'node:test'
import { end } from '../at-end.ts'
import { Lacking } from '../needs.ts'
import type { Order, Report } from './messages.ts'

/** Runs test files in this process as test/run/run.ts sends them: to load the program takes 1.5 s of processor time, and tests share a server. */
const root = join(import.meta.dirname, '../..')
const report = (message: Report) => process.send?.(message)

const nextFile = () =>
  new Promise<string | undefined>((resolve) => {
    process.once('message', ({ file }: Order) => resolve(file))
    report({ type: 'idle' })
  })

function refuse(file: string, error: unknown) {
  if (!(error instanceof Lacking)) throw error
  report({ type: 'lacking', file, packages: error.packages })
}

process.once('disconnect', () => process.exit(1))
for (let file = await nextFile(); file; file = await nextFile()) {
  const path = join(root, file)
  const began = performance.now()
  // Hooks of a file are those of its suite.
  await suite(file, () => import(path).catch((error) => refuse(file, error)))
  report({ type: 'file', file, seconds: (performance.now() - began) / 1000 })
}
await end()
// What still keeps the process alive is named by the runner, if it does not end.
const watch = setTimeout(() => report({ type: 'stuck', by: process.getActiveResourcesInfo() }), 15_000)
watch.unref()
process.removeAllListeners('disconnect')
process.channel?.unref()
