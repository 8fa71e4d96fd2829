import { setTimeout as sleep } from 'node:timers/promises'
import type { OutboundAnswer } from '#platform/outbound/egress.ts'
import { ImportFailure, type Means } from './source.ts'

/** A probe reads no more of an answer, and waits no longer for it. */
const most = 64 << 10
const patience = 8000
const mostHops = 4
const pauseAfterFailure = 500

export const untrusted = 'The certificate of the source is not trusted. Ask whoever runs the source, or this server.'

export interface Question {
  method?: string
  headers?: Record<string, string>
  body?: string | Buffer
  username?: string | null
  password?: string | null
}

export interface Told {
  /** Where it was found in the end, when that was moved on the same host. */
  url: string
  status: number
  headers: OutboundAnswer['headers']
  /** The first 64 KB of it. */
  body: Buffer
}

/** Asks a server one thing; undefined when nobody answers in time. What the policy forbids is a failure in its own words. */
export async function ask(means: Means, url: string, question: Question = {}): Promise<Told | undefined> {
  const signal = AbortSignal.any([means.signal, AbortSignal.timeout(patience)])
  try {
    const told = await follow(means, url, question, signal)
    // Some servers fail when they are asked several things at once just after their start, as `hg serve` does.
    if (!told || told.status < 500 || told.status === 501) return told
    await sleep(pauseAfterFailure, undefined, { signal })
    return await follow(means, url, question, signal)
  } catch (error) {
    means.signal.throwIfAborted()
    const { code = '', message } = error as NodeJS.ErrnoException
    if (code === 'FORBIDDEN_ADDRESS') throw new ImportFailure(`This server may not connect there: ${message}.`)
    if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY/.test(code)) throw new ImportFailure(untrusted)
    return undefined
  }
}

/** A moved repository is followed by hand: only on its own host, so that a password goes nowhere else. */
async function follow(means: Means, url: string, question: Question, signal: AbortSignal): Promise<Told | undefined> {
  let here = new URL(url)
  for (let hops = 0; hops <= mostHops; hops++) {
    const answer = await means.egress.request(here.href, {
      method: question.method ?? 'GET',
      headers: { ...authorization(question), ...question.headers },
      ...(question.body !== undefined && { body: question.body }),
      signal,
      own_connection: true,
    })
    const next = movedTo(here, answer)
    if (!next) return { url: here.href, status: answer.status, headers: answer.headers, body: await readSome(answer) }
    dismiss(answer)
    here = next
  }
  return undefined
}

export function authorization({ username, password }: Pick<Question, 'username' | 'password'>): Record<string, string> {
  if (!username && !password) return {}
  return { authorization: `Basic ${Buffer.from(`${username ?? ''}:${password ?? ''}`).toString('base64')}` }
}

function movedTo(here: URL, { status, headers }: OutboundAnswer): URL | undefined {
  if (![301, 302, 307, 308].includes(status) || typeof headers.location !== 'string') return undefined
  const next = URL.parse(headers.location, here)
  if (!next || next.host !== here.host || next.username || next.password) return undefined
  // What was sent in secret is not said aloud.
  const kept = next.protocol === here.protocol || (here.protocol === 'http:' && next.protocol === 'https:')
  return kept ? next : undefined
}

async function readSome(answer: OutboundAnswer): Promise<Buffer> {
  const read: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of answer.body) {
      read.push(chunk)
      size += chunk.length
      if (size >= most) break
    }
  } finally {
    dismiss(answer)
  }
  return Buffer.concat(read).subarray(0, most)
}

/** For an answer of which no more is read. */
export function dismiss({ body }: OutboundAnswer) {
  // It complains about being cut off, and nobody needs to hear that.
  body.on('error', () => {}).destroy()
}

/** A header of an answer as one text. */
export function headerOf({ headers }: Pick<Told, 'headers'>, name: string): string {
  const value = headers[name]
  return Array.isArray(value) ? value.join(', ') : (value ?? '')
}
