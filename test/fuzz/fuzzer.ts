import { type Client, expect } from '#test/forge.ts'
import { type Document, type Operation, openChecker, operationsOf, seeded } from '#test/openapi.ts'
import { addressOf, bodyOf, type Mood, moods, type Pick, Seen } from './inputs.ts'
import { openSessions, readPages, type Who } from './pages.ts'
import { openWorld, type World } from './world.ts'

export interface Found {
  /** Problems, each with the request that shows it. */
  faults: string[]
  requests: number
  /** Operations that showed ada something private: others would get it from these, if access were not checked. */
  telling: Set<string>
  /** Operations that ben's requests passed all checks of. */
  passed: Set<string>
  /** Pages that showed ada something private, before the requests to the API. */
  pages: Set<string>
}

/** What ada must not do, because others then may see what was hers: to publish, to share, to hand over, and to end her own access. */
const shares =
  /\/(?:collaborators|transfer|invitations|forks|generate|teams|members|memberships|outside_collaborators|installations?|import)\b/

/** ada acts in her private repository only, and reads everything. */
const mayAda = ({ method, path }: Operation) =>
  method === 'GET' || (/^\/repos\/\{owner\}\/\{repo\}\/./.test(path) && !shares.test(path))

const asAda = (address: string) => address.replace(/^\/repos\/[^/]*\/[^/?]*/, '/repos/ada/secret')

const odd: Record<string, string>[] = [
  { accept: 'application/vnd.github.full+json' },
  { accept: 'application/vnd.github.diff' },
  { accept: 'application/vnd.github.raw+json' },
  { accept: 'text/html' },
  { 'content-type': ';;' },
  { 'if-none-match': '*' },
  { 'if-modified-since': 'Fri, 01 Jan 2100 00:00:00 GMT' },
  { authorization: 'Basic YWRhOndyb25n' },
]

/** Sends every operation of some variants what a seed says, until the deadline, and checks each response. One request at a time: a seed gives the same run. */
export async function fuzz(seed: number, names: readonly Variant[], isOver: () => boolean = () => false): Promise<Found> {
  await using world = await openWorld(seed)
  const pick = seeded(seed + 1)
  const variants = await Promise.all(names.map((name) => openVariant(baseOf[name](world))))
  const seen = new Seen()
  const found: Found = { faults: [], requests: 0, telling: new Set(), passed: new Set(), pages: new Set() }
  const report = (who: string, request: string, fault: string) =>
    found.faults.push(`seed ${seed}, ${who}: ${request}\n  ${fault}`)
  const send = async (who: Who, url: string, init: RequestInit) => {
    found.requests++
    const answer = await fetch(url, { ...init, redirect: 'manual' })
    const type = answer.headers.get('content-type') ?? ''
    const isStream = type.startsWith('text/event-stream')
    const text = isStream ? '' : await answer.text()
    if (isStream) await answer.body?.cancel()
    const shown = `${init.method} ${url.slice(0, 300)} ${String(init.body ?? '').slice(0, 300)}`
    if (answer.status >= 500) report(who, shown, `${answer.status} ${text.slice(0, 300)}`)
    const leaked = who === 'ada' ? [] : world.markers.in(`${[...answer.headers].join('\n')}\n${text}`)
    if (leaked.length) report(who, shown, `${answer.status} leaks: ${leaked.join(', ')}`)
    return { answer, type, text, shown, isStream }
  }
  await learn(world, seen)
  const readPage = async (who: Who, path: string, headers: Record<string, string>) =>
    (await send(who, `${world.web}${path}`, { method: 'GET', headers })).text
  const cookies = await openSessions(world)
  found.pages = await readPages(world, cookies, pick, isOver, readPage)
  const requests = variants.flatMap((variant) => operationsOf(variant.document).map((operation) => ({ ...variant, operation })))
  const ordered = shuffled(requests, pick).sort((one, other) => order(one.operation) - order(other.operation))
  for (const { operation, base, document, check } of ordered) {
    for (const [who, mood] of plan(pick)) {
      if (isOver()) return found
      if (who === 'ada' && !mayAda(operation)) continue
      const address = addressOf(operation, mood, pick, seen)
      const write = () =>
        who === 'ada' ? world.markers.make(`text ${found.requests}`) : pick(['x', 'a longer text', '@ada #1', 'ada/secret#1'])
      const { headers } = callers(world)[who]
      const { answer, type, text, shown, isStream } = await send(who, `${base}${who === 'ada' ? asAda(address) : address}`, {
        method: operation.method,
        headers: { ...headers, ...(mood === 'hostile' && pick([true, false]) ? pick(odd) : {}) },
        body: bodyOf(operation, document, mood, pick, seen, write),
      })
      const fault = isStream ? undefined : check(operation, answer.status, type, text)
      if (fault) report(who, `${operation.operationId}: ${shown}`, fault)
      if (who === 'ada' && world.markers.in(text).length) found.telling.add(operation.operationId)
      if (who === 'ben' && answer.ok) found.passed.add(operation.operationId)
      seen.read(text)
    }
  }
  // Now they show what the requests made.
  await readPages(world, cookies, pick, isOver, readPage)
  await readFeedsOfBen(world, send)
  for (const line of world.logged) if (JSON.parse(line).level >= 50) report('log', '', line.slice(0, 1000))
  return found
}

const baseOf = { 'self-hosted': ({ web }: World) => `${web}/api/v3`, versioned: ({ versioned }: World) => versioned }
export type Variant = keyof typeof baseOf

async function openVariant(base: string) {
  const document: Document = await expect(200, await fetch(`${base}/openapi.json`))
  return { base, document, check: openChecker(document) }
}

/** What is written is there to be read, and is deleted last. */
const order = ({ method }: Operation) => (method === 'DELETE' ? 2 : method === 'GET' ? 1 : 0)

const callers = ({ ada, ben, nobody }: World): Record<Who, Client> => ({ ada, ben, nobody })

/** Who sends an operation what, in one round. */
function plan(pick: Pick): [Who, Mood][] {
  return [
    ['ada', 'valid'],
    ['ben', 'valid'],
    ['ben', pick(['near', 'hostile'])],
    ['nobody', pick(moods)],
  ]
}

/** Records of ada's that ben and others name by their ids. */
export async function learn({ ada }: { ada: Client }, seen: Seen) {
  const repo = '/repos/ada/secret'
  const lists = [
    'issues?state=all',
    'issues/comments',
    'hooks',
    'releases',
    'commits',
    'pulls/2/reviews',
    'comments',
    'milestones',
    'issues/events',
  ]
  for (const path of [...lists.map((list) => `${repo}/${list}`), repo, '/orgs/acme/teams', '/orgs/acme/repos', '/user/repos'])
    seen.read(JSON.stringify(await ada.read(path)))
}

async function readFeedsOfBen({ ben }: World, send: (who: Who, url: string, init: RequestInit) => Promise<unknown>) {
  const answer = await ben.get('/feeds')
  // A request may have ended ben's token.
  if (answer.status !== 200) return
  const { _links: links }: { _links: Record<string, { href?: string }> } = JSON.parse(await answer.text())
  for (const { href } of Object.values(links)) if (href && !href.includes('{')) await send('ben', href, { method: 'GET' })
}

export function shuffled<T>(values: readonly T[], pick: Pick): T[] {
  const left = [...values]
  return values.map(() => left.splice(left.indexOf(pick(left)), 1)[0] as T)
}
