import { readdirSync, readFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeFolder } from './belfry.ts'
import { type Contender, installBelfry, installEmulators, type Started } from './emulators.ts'
import { judge, median, note, write } from './report.ts'

const starts = 3
const rounds = 20
/** Milliseconds that a webhook and a notification have to arrive. */
const patience = 2000

/** Servers for tests: how fast they start and go back to their first state, and which parts of one story they know. */
export async function compareTestServers() {
  using folder = makeFolder()
  const { emulate, prism } = await installEmulators(folder.path)
  write(
    `\n| test server | first start s | later start s | reset ms | reset at once ms | story ms | webhook | notification | idle MB |`,
  )
  write('|---|---:|---:|---:|---:|---:|---|---|---:|')
  await measure(await installBelfry(folder.path), { start: 2, reset: 50 })
  for (const { reason, contender } of [emulate, prism]) {
    if (reason) write(`| ${contender.name} | skipped: ${reason} | | | | | | | |`)
    else await measure(contender)
  }
}

async function measure(contender: Contender, targets?: { start: number; reset: number }) {
  contender.forget?.()
  const first = await timeStart(contender)
  const later = []
  for (let count = 0; count < starts; count++) later.push(await timeStart(contender))
  await using server = await contender.start()
  const resets: number[] = []
  const stories: Story[] = []
  for (let round = 0; round < rounds + 2; round++) {
    stories.push(await tellStory(server))
    // As long as the next test needs to begin.
    await sleep(300)
    if (server.reset) resets.push(await timed(server.reset))
  }
  const atOnce: number[] = []
  for (let round = 0; server.reset && round < rounds; round++) {
    // A test of one call, and the next test.
    await call(server.base, 'POST', '/repos/alice/tower/issues', server.tokens.alice, { title: 'The bell is silent' })
    atOnce.push(await timed(server.reset))
  }
  const told = stories.slice(2)
  const knows = (part: 'webhook' | 'notification') => (told.every((story) => story[part]) ? 'yes' : 'no')
  const most = (target: number | undefined) => (target === undefined ? undefined : { most: target })
  const reset = resets.length ? `${median(resets).toFixed(1)} ${judge(median(resets), most(targets?.reset))}` : 'no state'
  const soon = atOnce.length ? median(atOnce).toFixed(1) : 'no state'
  await sleep(1000)
  note(`test server ${contender.name}, first start: s`, first / 1000)
  note(`test server ${contender.name}, reset: ms`, median(resets))
  write(
    `| ${contender.name} | ${(first / 1000).toFixed(2)} ${judge(first / 1000, most(targets?.start))} | ${(median(later) / 1000).toFixed(2)} | ${reset} | ${soon} | ` +
      `${median(told.map(({ ms }) => ms)).toFixed(0)} | ${knows('webhook')} | ${knows('notification')} | ${memoryOf(server.pid).toFixed(0)} |`,
  )
}

async function timeStart(contender: Contender) {
  const begun = performance.now()
  await using _ = await contender.start()
  return performance.now() - begun
}

async function timed(work: () => Promise<void>) {
  const begun = performance.now()
  await work()
  return performance.now() - begun
}

interface Story {
  /** Of the calls, and of the webhook and the notification if they come. */
  ms: number
  webhook: boolean
  notification: boolean
}

/** Alice opens an issue, Bob comments on it, the webhook of that arrives, and Alice is notified. */
async function tellStory({ base, tokens }: Started): Promise<Story> {
  const receiver = createServer()
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  const arrived = new Promise<boolean>((resolve) => {
    receiver.on('request', (request: IncomingMessage, response) => {
      response.end()
      if (request.headers['x-github-event'] === 'issue_comment') resolve(true)
    })
  })
  const config = { url: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`, content_type: 'json' }
  await call(base, 'POST', '/repos/alice/tower/hooks', tokens.alice, { name: 'web', events: ['issue_comment'], config })
  const begun = performance.now()
  const issue = await call(base, 'POST', '/repos/alice/tower/issues', tokens.alice, { title: 'The bell is silent' })
  await call(base, 'POST', `/repos/alice/tower/issues/${issue.body.number}/comments`, tokens.bob, { body: 'Oil it.' })
  const answered = performance.now()
  const webhook = await Promise.race([arrived, sleep(patience, false, { ref: false })])
  const notification = await untilNotified(base, tokens.alice)
  receiver.close()
  receiver.closeAllConnections()
  return { ms: (webhook && notification ? performance.now() : answered) - begun, webhook, notification }
}

/** An example of a description is about another issue. */
async function untilNotified(base: string, token: string) {
  for (const begun = performance.now(); performance.now() - begun < patience; ) {
    const { status, body } = await call(base, 'GET', '/notifications', token)
    if (status !== 200) return false
    if (body.length) return body[0].subject.title === 'The bell is silent'
    await sleep(5)
  }
  return false
}

async function call(base: string, method: string, path: string, token: string, body?: object) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'user-agent': 'bench' }
  const response = await fetch(`${base}${path}`, { method, headers, body: body ? JSON.stringify(body) : null })
  // biome-ignore lint/suspicious/noExplicitAny: the answers of three servers.
  return { status: response.status, body: (await response.json()) as any }
}

/** Megabytes of a process and all that it started; pages that several have count once. */
function memoryOf(pid: number | undefined): number {
  const parents = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  const all = new Set([`${pid}`])
  // A child may be listed before its parent.
  for (let depth = 0; depth < 4; depth++) {
    for (const name of parents) if (all.has(read(name, 'stat', /\) \S (\d+)/))) all.add(name)
  }
  return [...all].reduce((sum, name) => sum + Number(read(name, 'smaps_rollup', /^Pss:\s+(\d+)/m)) / 1024, 0)
}

function read(pid: string, file: string, pattern: RegExp) {
  try {
    return pattern.exec(readFileSync(`/proc/${pid}/${file}`, 'utf8'))?.[1] ?? '0'
  } catch {
    return '0'
  }
}
