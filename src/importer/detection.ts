import type { Egress } from '#platform/outbound/egress.ts'
import { type Choice, type Finding, type Found, ImportFailure, type Kind, type Network, type Origin } from './source.ts'
import { openSource } from './sources.ts'

export type Detected =
  | { found: Found & { vcs: Kind } }
  | { found_multiple: Choice[] }
  /** A server answered, but there is no repository of a known kind. */
  | { nothing: true }
  | 'needs_auth'

/** If an address serves several kinds, the first in this list wins: hosts that offer git as Subversion too are git hosts. */
const precedence: Kind[] = ['git', 'mercurial', 'subversion', 'tfvc']

/** In milliseconds for a whole probe. Each request has less, see probe-http.ts. */
const probeTimeout = 60_000

/** Detects the kind of the repository at an address, or checks that it is of the given kind. */
export async function detect(origin: Origin, kind: Kind | null, network: Network): Promise<Detected> {
  network.signal.throwIfAborted()
  const enough = new AbortController()
  const signal = AbortSignal.any([network.signal, enough.signal, AbortSignal.timeout(probeTimeout)])
  const { egress, unreachableReason } = observeAnswers(network.egress, origin.url)
  const probes = kindsAt(origin, kind).map((vcs) => ({ vcs, probed: probe(vcs, origin, { egress, signal }) }))
  // The kinds after the first match are not awaited.
  for (const { probed } of probes) probed.catch(() => {})
  const failures: unknown[] = []
  let asksForPassword = false
  try {
    for (const { vcs, probed } of probes) {
      const finding = await probed.catch((error: unknown): Finding => {
        failures.push(error)
        return 'nothing'
      })
      network.signal.throwIfAborted()
      if (finding === 'needs_auth') asksForPassword = true
      else if (finding !== 'nothing') return 'found' in finding ? { found: { ...finding.found, vcs } } : finding
    }
  } finally {
    enough.abort()
  }
  if (asksForPassword) return 'needs_auth'
  // An ImportFailure has a message for the user, so it goes before a bug.
  const failure = failures.find((error) => error instanceof ImportFailure) ?? failures[0]
  if (failure !== undefined) throw failure
  const unreachable = unreachableReason()
  if (unreachable !== undefined) throw new ImportFailure(unreachable)
  if (kind) throw new ImportFailure(notOfKind(kind))
  return { nothing: true }
}

const notOfKind = (kind: Kind) =>
  `There is no ${kind} repository at this address. Check vcs_url, or leave out vcs to have the kind detected.`

function kindsAt({ url, local }: Origin, kind: Kind | null): Kind[] {
  const protocol = URL.parse(url)?.protocol
  if (protocol === 'file:' && local && kind) return [kind]
  if (protocol === 'svn:') return kind === null || kind === 'subversion' ? ['subversion'] : []
  if (protocol !== 'http:' && protocol !== 'https:')
    throw new ImportFailure('The address must begin with http://, https:// or svn://.')
  return kind ? [kind] : precedence
}

/** `nothing` after a timeout, or when another kind was found. */
async function probe(kind: Kind, origin: Origin, network: Network): Promise<Finding> {
  const late = new Promise<Finding>((resolve) => {
    network.signal.addEventListener('abort', () => resolve('nothing'), { once: true })
  })
  const probed = openSource(kind).then((source) => source.probe(origin, network))
  return Promise.race([probed, late])
}

/** Wraps an egress to find out whether any request was answered. If none was, `unreachableReason` is a message for the user. */
function observeAnswers(egress: Egress, address: string): { egress: Egress; unreachableReason(): string | undefined } {
  let answered = false
  let failure: unknown
  const observed =
    <Args extends unknown[], Answer>(ask: (...args: Args) => Promise<Answer>) =>
    async (...args: Args): Promise<Answer> => {
      try {
        const answer = await ask(...args)
        answered = true
        return answer
      } catch (error) {
        failure ??= error
        throw error
      }
    }
  const { tunnel, connect, request } = egress
  return {
    egress: { ...egress, tunnel: observed(tunnel), connect: observed(connect), request: observed(request) },
    unreachableReason: () => (answered || failure === undefined ? undefined : describe(failure, new URL(address))),
  }
}

/** Codes of the system and of undici, and names of AbortSignal errors. */
function describe(failure: unknown, { host, hostname }: URL): string {
  const { code, name } = failure as { code?: unknown; name?: string }
  switch (typeof code === 'string' ? code : name) {
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `There is no host named ${hostname}.`
    case 'ECONNREFUSED':
      return `Nothing listens at ${host}: the connection was refused.`
    case 'ECONNRESET':
    case 'EPIPE':
    case 'UND_ERR_SOCKET':
      return `${host} closed the connection without an answer.`
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return `This server has no route to ${host}.`
    case 'EPROTO':
    case 'ERR_SSL_WRONG_VERSION_NUMBER':
      return `${host} does not speak https.`
    default:
      return `${host} does not answer.`
  }
}
