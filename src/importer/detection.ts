import { type Choice, type Finding, type Found, ImportFailure, type Kind, type Network, type Origin } from './source.ts'
import { openSource } from './sources.ts'
import { observeAnswers } from './unreachable.ts'

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
  const probes = kindsAt(origin.url, kind).map((vcs) => ({ vcs, probed: probe(vcs, origin, { egress, signal }) }))
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

function kindsAt(url: string, kind: Kind | null): Kind[] {
  const protocol = URL.parse(url)?.protocol
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
