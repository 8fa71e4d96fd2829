import { setTimeout as wait } from 'node:timers/promises'
import { authorization, discard, headerOf } from '#importer/probe-http.ts'
import { ImportFailure, type Network, type Origin } from '#importer/source.ts'
import type { OutboundAnswer } from '#platform/outbound/egress.ts'
import { checkStatus, readJson, TransientError, UnknownVersion } from './responses.ts'

/** TFS 2015 and later support the first version. If a server has dropped it, the next is tried. */
const versions = ['1.0', '4.1', '7.1']
const inFlight = 8
/** In milliseconds. A server may take long before it sends a large list. */
const timeout = 180_000
const ordinaryAttempts = 8
/** How many answers with Retry-After are obeyed per request. */
const maxPauses = 100

export type Query = Record<string, string | number | boolean>

/** A client for one project collection. */
export type Client = ReturnType<typeof openClient>

export function openClient(
  collection: string,
  credentials: Pick<Origin, 'username' | 'password'>,
  { egress, signal }: Network,
  attempts = ordinaryAttempts,
) {
  const gate = openGate(inFlight, signal)
  const headers = { ...authorization(credentials), 'x-tfs-fedauthredirect': 'Suppress', 'user-agent': 'belfry-import' }
  let version = 0

  /** Sends a request, and repeats it after transient errors: `use` may be called more than once. */
  async function ask<Result>(path: string, query: Query, accept: string, use: (answer: OutboundAnswer) => Promise<Result>) {
    let failed = 0
    let pauses = 0
    for (;;) {
      const leave = await gate.enter()
      const asked = version
      let answer: OutboundAnswer | undefined
      try {
        const url = `${collection}/${path}?${encodeQuery({ ...query, 'api-version': versions[asked] ?? '' })}`
        answer = await egress.request(url, { headers: { ...headers, accept }, signal, patience: timeout })
        gate.pause(pauseOf(answer))
        await checkStatus(answer, path)
        return await use(answer)
      } catch (error) {
        signal.throwIfAborted()
        if (error instanceof UnknownVersion && asked < versions.length - 1) version = Math.max(version, asked + 1)
        else if (asksToWait(error) && attempts > 1 && pauses < maxPauses) pauses += 1
        else if (++failed >= Math.min(attempts, attemptsFor(error))) throw explained(error, collection)
      } finally {
        if (answer) discard(answer)
        leave()
      }
      if (failed > 0) await wait(Math.min(30_000, 250 * 2 ** failed), undefined, { signal })
    }
  }

  return {
    /** The address without a slash at the end. */
    collection,
    ask,
    /** A JSON document, and the token of its next page. */
    read: (path: string, query: Query) =>
      ask(path, query, 'application/json', async (answer) => ({
        document: await readJson(answer, path),
        next: headerOf(answer, 'x-ms-continuationtoken'),
      })),
  }
}

function encodeQuery(query: Query) {
  return Object.entries(query)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&')
}

/** The requested pause in milliseconds. Successful answers may ask for it too. */
function pauseOf(answer: OutboundAnswer): number {
  const retryAfter = headerOf(answer, 'retry-after')
  const until = Date.parse(retryAfter) - Date.parse(headerOf(answer, 'date'))
  const pause = /^\d+(\.\d+)?$/.test(retryAfter) ? Number(retryAfter) * 1000 : until
  return pause > 0 ? Math.min(pause, 300_000) : 0
}

function asksToWait(error: unknown) {
  return error instanceof TransientError && error.retryAfter
}

/** Transient errors are overload and most connection errors. */
function attemptsFor(error: unknown): number {
  if (error instanceof TransientError) return error.attempts
  const code = codeOf(error)
  return code === '' || untrusted.test(code) || ours.includes(code) ? 1 : Infinity
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

/** Errors of the local disk and of the policy. */
const ours = ['FORBIDDEN_ADDRESS', 'ENOSPC', 'EDQUOT', 'EFBIG', 'EIO', 'ENOENT', 'EACCES', 'EMFILE']
const untrusted = /CERT|SIGNATURE|ERR_TLS|ERR_SSL/

function explained(error: unknown, collection: string): unknown {
  const code = codeOf(error)
  if (error instanceof ImportFailure || !(error instanceof Error)) return error
  const { host } = new URL(collection)
  if (error instanceof TransientError) return new ImportFailure(`${host} could not be read: ${error.message}. Try again later.`)
  if (code === 'FORBIDDEN_ADDRESS') return new ImportFailure(`This server may not connect there: ${error.message}.`)
  if (untrusted.test(code)) return new ImportFailure(`The certificate of ${host} is not trusted (${code}).`)
  if (code === '' || ours.includes(code)) return error
  return new ImportFailure(`${host} could not be reached (${code}). Check that it is up and reachable from this server.`)
}

/** Limits concurrent requests, in order of arrival, and stops all of them during a pause. */
function openGate(places: number, signal: AbortSignal) {
  let free = places
  let quiet = 0
  const waiting: (() => void)[] = []

  function leave() {
    const next = waiting.shift()
    if (next) next()
    else free += 1
  }

  return {
    /** Resolves with a function to call at the end. */
    async enter() {
      if (free > 0) free -= 1
      else await new Promise<void>((resolve) => waiting.push(resolve))
      try {
        for (let left = quiet - performance.now(); left > 0; left = quiet - performance.now()) {
          await wait(Math.ceil(left), undefined, { signal })
        }
        signal.throwIfAborted()
      } catch (error) {
        leave()
        throw error
      }
      let inside = true
      return () => {
        if (inside) leave()
        inside = false
      }
    },
    pause(milliseconds: number) {
      quiet = Math.max(quiet, performance.now() + milliseconds)
    },
  }
}
