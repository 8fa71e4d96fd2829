import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '#platform/clock.ts'
import { notifyNodes } from '#platform/commit-notifications.ts'
import { Database, sql } from '#platform/database.ts'
import { findLocation } from '#platform/postgres-location.ts'
import { call, makeFolder, startBare, startBelfry } from './belfry.ts'
import { measure, readAnswer } from './load.ts'
import { judge, median, note, write } from './report.ts'
import { rawRequest } from './requests.ts'

const rounds = 3
const seconds = Number(process.env.BENCH_SECONDS ?? 2)
const writesPerSecond = 500
const connections = 32

/** A timeline that does not change is polled while another node records 500 acts a second in other repositories. */
export async function measureBusyPolls() {
  using folder = makeFolder()
  await using belfry = await startBelfry(folder.path)
  const { id: repo_id } = await call(belfry, 'POST', '/user/repos', belfry.token, { name: 'quiet' })
  const elsewhere = await call(belfry, 'POST', '/user/repos', belfry.token, { name: 'busy' })
  const { login } = await call(belfry, 'GET', '/user', belfry.token)
  const { socket } = findLocation(folder.path)
  await using db = new Database({ host: socket, user: 'belfry', database: 'belfry' }, systemClock)
  const act = (id: number) => sql`select record_events(${db.now}, ${elsewhere.owner.id}, ${id}, ${events}::jsonb)`
  for (let n = 0; n < 30; n++) await db.query(act(repo_id))
  const plain = rawRequest(belfry, `/api/v3/repos/${login}/quiet/events`)
  const etag = /^etag: (.*)$/im.exec((await readAnswer(belfry.port, `${plain}\r\n`)).toString('latin1'))?.[1]?.trim()
  const request = `${plain}If-None-Match: ${etag}\r\n\r\n`
  const answer = await readAnswer(belfry.port, request)
  if (!answer.toString('latin1').startsWith('HTTP/1.1 304')) throw new Error('the poll is not answered with 304')
  using bare = await startBare(answer)
  const rates = async () => {
    const [ours, theirs]: [number[], number[]] = [[], []]
    for (let round = 0; round < rounds; round++) {
      theirs.push(await measure({ port: bare.port, request, connections, seconds }))
      ours.push(await measure({ port: belfry.port, request, connections, seconds }))
    }
    return median(ours) / median(theirs)
  }
  const quiet = await rates()
  const writing = new AbortController()
  const written = keepWriting(db, () => act(elsewhere.id), writing.signal)
  const busy = await rates()
  writing.abort()
  const perSecond = await written
  write(`\nA timeline as 304, against a bare node:http in turn, while another node writes elsewhere\n`)
  write('| writes a second | ratio | target |\n|---:|---:|---:|')
  write(`| 0 | ${quiet.toFixed(2)} | |`)
  write(`| ${perSecond.toFixed(0)} | ${busy.toFixed(2)} | ${judge(busy, { least: 0.7 })} |`)
  note('a timeline as 304 while 500 writes a second happen elsewhere: ratio', busy)
}

const events = '[{"type":"WatchEvent","payload":{"action":"started"}}]'

/** At most 500 a second, fewer on a machine that cannot do more. Returns how many it were. */
async function keepWriting(db: Database, act: () => ReturnType<typeof sql>, signal: AbortSignal) {
  const begun = performance.now()
  let made = 0
  while (!signal.aborted) {
    const due = ((performance.now() - begun) / 1000) * writesPerSecond - made
    if (due >= 1) {
      await Promise.all(Array.from({ length: Math.min(due, 8) }, () => db.query(act())))
      made += Math.floor(Math.min(due, 8))
      await notifyNodes(db)
    } else await sleep(2)
  }
  return made / ((performance.now() - begun) / 1000)
}
