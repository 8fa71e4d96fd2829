import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export const root = join(import.meta.dirname, '../..')

/** How long a file takes and how many tests it has, as TIMES=1 recorded it. */
export type Recorded = Record<string, [seconds: number, tests: number]>

const recordPath = join(root, 'test/durations.json')
export const recorded: Recorded = JSON.parse(readFileSync(recordPath, 'utf8'))
/** A file that was not recorded. */
const usual: Recorded[string] = [1, 5]
export const sizeOf = (file: string) => recorded[file] ?? usual

const isSlow = (file: string) => file.endsWith('.slow.test.ts')
export const kindOf = (file: string) => (isSlow(file) ? 'slow' : 'fast')

/** All test files: the fast ones need Node, npm and git only. */
export const testFiles = () => ['test', 'src'].flatMap((top) => globSync(`${top}/**/*.test.ts`, { cwd: root })).sort()

/** Those that failed in the last run. */
const failedPath = join(root, 'test-output/failed.json')
const failedBefore = (): string[] => (existsSync(failedPath) ? JSON.parse(readFileSync(failedPath, 'utf8')) : [])

export function keepFailed(files: string[]) {
  mkdirSync(join(root, 'test-output'), { recursive: true })
  writeFileSync(failedPath, JSON.stringify(files))
}

/** Files that failed last time come first, then the longest: a long one at the end would keep one process busy alone. */
export function inOrder(files: string[]) {
  const failed = new Set(failedBefore())
  const rank = (file: string) => (failed.has(file) ? 1e6 : 0) + sizeOf(file)[0]
  const order = files.toSorted((a, b) => rank(b) - rank(a))
  return process.env.ORDER === 'reverse' ? order.reverse() : order
}

export function recordSizes(taken: Recorded) {
  const all = Object.entries({ ...recorded, ...taken }).filter(([file]) => existsSync(join(root, file)))
  const lines = all.sort().map(([file, [seconds, tests]]) => `  ${JSON.stringify(file)}: [${seconds.toFixed(1)}, ${tests}]`)
  writeFileSync(recordPath, `{\n${lines.join(',\n')}\n}\n`)
}
