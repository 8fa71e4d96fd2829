import { setTimeout as sleep } from 'node:timers/promises'
import type { OutboundAnswer } from '#platform/outbound/egress.ts'
import { ImportFailure, type Network } from './source.ts'

/** The limits of a probe, in bytes and milliseconds. */
const maxAnswer = 64 << 10
const probeTimeout = 8000
const maxRedirects = 4
const retryDelay = 500

export const untrusted = 'The certificate of the source is not trusted. Ask the administrator of the source or of this server.'

export interface ProbeRequest {
  method?: string
  headers?: Record<string, string>
  body?: string | Buffer
  username?: string | null
  password?: string | null
}

export interface ProbeAnswer {
  /** After redirects on the same host. */
  url: string
  status: number
  headers: OutboundAnswer['headers']
  /** The first 64 KB. */
  body: Buffer
}

/** Sends one request. Undefined if the server does not answer in time; throws if the policy forbids the address. */
export async function sendProbe(network: Network, url: string, request: ProbeRequest = {}): Promise<ProbeAnswer | undefined> {
  const signal = AbortSignal.any([network.signal, AbortSignal.timeout(probeTimeout)])
  try {
    const answer = await followRedirects(network, url, request, signal)
    // Some servers fail on concurrent requests just after their start, for example `hg serve`.
    if (!answer || answer.status < 500 || answer.status === 501) return answer
    await sleep(retryDelay, undefined, { signal })
    return await followRedirects(network, url, request, signal)
  } catch (error) {
    network.signal.throwIfAborted()
    const { code = '', message } = error as NodeJS.ErrnoException
    if (code === 'FORBIDDEN_ADDRESS') throw new ImportFailure(`This server may not connect there: ${message}.`)
    if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY/.test(code)) throw new ImportFailure(untrusted)
    return undefined
  }
}

/** Follows redirects on the same host only, so that the password goes nowhere else. */
async function followRedirects(
  network: Network,
  url: string,
  request: ProbeRequest,
  signal: AbortSignal,
): Promise<ProbeAnswer | undefined> {
  let here = new URL(url)
  for (let hops = 0; hops <= maxRedirects; hops++) {
    const answer = await network.egress.request(here.href, {
      method: request.method ?? 'GET',
      headers: { ...authorization(request), ...request.headers },
      ...(request.body !== undefined && { body: request.body }),
      signal,
      own_connection: true,
    })
    const next = redirectTarget(here, answer)
    if (!next) return { url: here.href, status: answer.status, headers: answer.headers, body: await readStart(answer) }
    discard(answer)
    here = next
  }
  return undefined
}

export function authorization({ username, password }: Pick<ProbeRequest, 'username' | 'password'>): Record<string, string> {
  if (!username && !password) return {}
  return { authorization: `Basic ${Buffer.from(`${username ?? ''}:${password ?? ''}`).toString('base64')}` }
}

function redirectTarget(here: URL, { status, headers }: OutboundAnswer): URL | undefined {
  if (![301, 302, 307, 308].includes(status) || typeof headers.location !== 'string') return undefined
  const next = URL.parse(headers.location, here)
  if (!next || next.host !== here.host || next.username || next.password) return undefined
  // Never from https to http.
  const kept = next.protocol === here.protocol || (here.protocol === 'http:' && next.protocol === 'https:')
  return kept ? next : undefined
}

async function readStart(answer: OutboundAnswer): Promise<Buffer> {
  const read: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of answer.body) {
      read.push(chunk)
      size += chunk.length
      if (size >= maxAnswer) break
    }
  } finally {
    discard(answer)
  }
  return Buffer.concat(read).subarray(0, maxAnswer)
}

export function discard({ body }: OutboundAnswer) {
  // Destroying the stream emits an error, which would be unhandled.
  body.on('error', () => {}).destroy()
}

export function headerOf({ headers }: Pick<ProbeAnswer, 'headers'>, name: string): string {
  const value = headers[name]
  return Array.isArray(value) ? value.join(', ') : (value ?? '')
}

/** The whole body of an answer. Throws `tooLarge` if it has more than `max` bytes. */
export async function readBody({ body }: OutboundAnswer, max: number, tooLarge: string): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > max) throw new ImportFailure(tooLarge)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
