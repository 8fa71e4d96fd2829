import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Writes a few files that load all test files, or those that are named, and prints their paths. Starting a process and loading the program takes
 * 1.5 s of processor time, so many files share one. The groups take equally long by the durations that `TIMES=1 npm test` recorded.
 */
const groups = 9
/** Seconds of a file that was not recorded. */
const usual = 1

const root = join(import.meta.dirname, '..')
const folder = 'test-output/groups'
const recorded: Record<string, number> = JSON.parse(readFileSync(join(root, 'test/durations.json'), 'utf8'))
const secondsOf = (file: string) => recorded[file] ?? usual
const named = process.argv.slice(2)
const files = named.length ? named : ['test', 'src'].flatMap((top) => globSync(`${top}/**/*.test.ts`, { cwd: root })).sort()

const made = Array.from({ length: named.length ? 3 : groups }, () => ({ seconds: 0, files: [] as string[] }))
for (const file of files.toSorted((a, b) => secondsOf(b) - secondsOf(a))) {
  const shortest = made.reduce((least, group) => (group.seconds < least.seconds ? group : least))
  shortest.seconds += secondsOf(file)
  shortest.files.push(file)
}

mkdirSync(join(root, folder), { recursive: true })
for (const [index, { files }] of made.entries()) {
  if (!files.length) continue
  const path = `${folder}/${index}.test.js`
  writeFileSync(join(root, path), files.map((file) => `import '../../${file}'\n`).join(''))
  process.stdout.write(`${path}\n`)
}
