import { globSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Writes files that each load some files of tests, and prints their paths. To start a process, load the program and do everything for the
 * first time takes a second and a half: neighbours share that.
 */
const together = 8

const root = join(import.meta.dirname, '..')
const folder = 'test-output/groups'
// Those in this folder take longest, and what is long is begun first.
const files = ['test', 'src'].flatMap((place) => globSync(`${place}/**/*.test.ts`, { cwd: root }).sort())

mkdirSync(join(root, folder), { recursive: true })
for (let start = 0; start < files.length; start += together) {
  const path = `${folder}/${`${start / together}`.padStart(3, '0')}.test.js`
  const group = files.slice(start, start + together)
  writeFileSync(join(root, path), group.map((file) => `import '../../${file}'\n`).join(''))
  process.stdout.write(`${path}\n`)
}
