import { type Choice, type Finding, type Found, ImportFailure, type Kind, type Network, type Origin } from './source.ts'
import { openSource } from './sources.ts'
import { observeAnswers } from './unreachable.ts'

export type Detected =
  | { found: Found & { vcs: Kind } }
  | { found_multiple: Choice[] }
  /** A server answered, but not as a repository of a kind that we know. */
  | { nothing: true }
  | 'needs_auth'

/** Where an address serves several, the first of these counts: who shows git as Subversion too means git. */
const precedence: Kind[] = ['git', 'mercurial', 'subversion', 'tfvc']

/** For a whole probe; each question of it has less, see probing.ts. */
const probeTimeout = 60_000

/** What kind of repository is at an address, or whether it is of the one kind that somebody says it is. */
export async function detect(origin: Origin, kind: Kind | null, network: Network): Promise<Detected> {
  network.signal.throwIfAborted()
  const enough = new AbortController()
  const signal = AbortSignal.any([network.signal, enough.signal, AbortSignal.timeout(probeTimeout)])
  const { egress, unreachableReason } = observeAnswers(network.egress, origin.url)
  const probes = kindsAt(origin.url, kind).map((vcs) => ({ vcs, probed: probe(vcs, origin, { egress, signal }) }))
  // Those behind the one that counts are not waited for.
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
  // Words for a person come before a fault of ours.
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

/** Nothing, when it takes too long or is not wanted any more. */
async function probe(kind: Kind, origin: Origin, network: Network): Promise<Finding> {
  const late = new Promise<Finding>((resolve) => {
    network.signal.addEventListener('abort', () => resolve('nothing'), { once: true })
  })
  const probed = openSource(kind).then((source) => source.probe(origin, network))
  return Promise.race([probed, late])
}
