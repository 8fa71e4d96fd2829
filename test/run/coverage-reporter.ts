import { relative } from 'node:path'
import type { TestEvent } from 'node:test/reporters'
import { root } from './files.ts'

interface Counts {
  totalLineCount: number
  coveredLineCount: number
  totalBranchCount: number
  coveredBranchCount: number
}

/** A reporter of Node's test runner: lines and branches that were run, by folder. */
// biome-ignore lint/style/noDefaultExport: Node takes a reporter from there.
export default async function* report(events: AsyncIterable<TestEvent>) {
  for await (const { type, data } of events) {
    if (type !== 'test:coverage') continue
    const folders = Map.groupBy(data.summary.files, ({ path }) => folderOf(relative(root, path)))
    yield 'Covered      lines  branches\n'
    for (const [folder, files] of [...folders].sort(([one], [other]) => (one < other ? -1 : 1))) yield rowOf(folder, files)
    yield rowOf('all', data.summary.files)
  }
}

/** `src/http`, or `src` for the files there. */
const folderOf = (path: string) => path.split('/').slice(0, -1).slice(0, 2).join('/')

function rowOf(name: string, files: Counts[]) {
  const sum = (key: keyof Counts) => files.reduce((total, counts) => total + counts[key], 0)
  const percent = (part: number, all: number) => `${((100 * part) / (all || 1)).toFixed(1)} %`
  const lines = percent(sum('coveredLineCount'), sum('totalLineCount'))
  const branches = percent(sum('coveredBranchCount'), sum('totalBranchCount'))
  return `${name.padEnd(18)}${lines.padStart(8)}${branches.padStart(10)}\n`
}
