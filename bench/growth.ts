import { join } from 'node:path'
import { makeFolder, type RunningBelfry, startBelfry, withDatabase } from './belfry.ts'
import { drawCurves } from './curves.ts'
import { readAnswer } from './load.ts'
import { judge, median, note, write } from './report.ts'
import { type Case, compareRequests, rawRequest } from './requests.ts'
import { busyRepository, seed } from './seed.ts'

const sizes = (process.env.BENCH_EVENTS ?? '10000,1000000,10000000').split(',').map(Number)

const page = `/api/v3/repos/${busyRepository}/events`
const cases: Case[] = [
  { name: 'a timeline’s page', path: page, target: 0.3 },
  { name: 'a timeline as 304', path: page, conditional: 'etag', target: 0.6 },
  { name: 'a timeline as 304, by token', path: page, conditional: 'etag', token: true },
]

/** Pages that are read from the database: something is committed before each. */
const pages = {
  repository: page,
  everyone: '/api/v3/events',
  user: '/api/v3/users/person-5/events',
  'received, watching 50': '/api/v3/users/watches-50/received_events',
  'received, watching 5,000': '/api/v3/users/watches-5000/received_events',
}
type Page = keyof typeof pages

export async function compareGrowth() {
  const times = new Map<number, Record<Page, number>>()
  for (const events of sizes) {
    // A log of its own for each size: positions and times grow together, as they do where people act.
    using folder = makeFolder()
    await withDatabase(folder.path, (db) => seed(db, events))
    await using belfry = await startBelfry(folder.path)
    write(`\n${events} events`)
    await compareRequests(belfry, cases)
    times.set(events, await timePages(belfry))
  }
  const [smallest = 0, largest = 0] = [sizes[0], sizes.at(-1)]
  write(
    `\nA page that is read anew, in milliseconds\n\n| page | ${sizes.join(' | ')} | growth | target |\n|---|${'---:|'.repeat(sizes.length + 2)}`,
  )
  for (const name of Object.keys(pages) as Page[]) {
    const row = sizes.map((size) => times.get(size)?.[name] ?? 0)
    for (const [index, each] of row.entries()) note(`${name}, ${sizes[index]} events: ms`, each)
    // In the smallest log, the last 90 days do not fill a page.
    const growth = (row.at(-1) ?? 0) / (row.at(-2) ?? 1)
    const wanted = name === 'repository' ? { most: 1.3 } : undefined
    write(`| ${name} | ${row.map((each) => each.toFixed(2)).join(' | ')} | ${growth.toFixed(2)} | ${judge(growth, wanted)} |`)
  }
  drawGrowth(times)
  const { 'received, watching 5,000': many = 0, 'received, watching 50': few = 1 } =
    times.get(largest) ?? times.get(smallest) ?? {}
  write(
    `\nWatching 5,000 against watching 50, at ${largest} events: ${(many / few).toFixed(2)} ${judge(many / few, { most: 2 })}`,
  )
}

function drawGrowth(times: Map<number, Record<Page, number>>) {
  const curveOf = (name: Page) => sizes.map((size) => times.get(size)?.[name] ?? 0)
  const curves = Object.fromEntries((Object.keys(pages) as Page[]).map((name) => [name, curveOf(name)]))
  drawCurves(join(import.meta.dirname, '..', 'docs', 'growth.svg'), 'A page read anew, ms, by events in the log', sizes, curves)
}

async function timePages(belfry: RunningBelfry) {
  const star = (method: string) =>
    readAnswer(belfry.port, `${rawRequest(belfry, `/api/v3/user/starred/${busyRepository}`, { token: true, method })}\r\n`)
  const times = {} as Record<Page, number>
  for (const [name, path] of Object.entries(pages) as [Page, string][]) {
    const taken: number[] = []
    for (let n = 0; n < 120; n++) {
      await star(n % 2 ? 'DELETE' : 'PUT')
      const begun = performance.now()
      await readAnswer(belfry.port, `${rawRequest(belfry, path)}\r\n`)
      taken.push(performance.now() - begun)
    }
    times[name] = median(taken.slice(20))
  }
  return times
}
