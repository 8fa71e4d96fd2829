import type { Push } from '#activity/facts.ts'
import { git } from '#git/git.ts'
import { noObject } from '#git/objects.ts'
import type { Command } from '#git/storage.ts'

/** Limits of an event, because a timeline shows a hundred events. */
const most = 20
const longestMessage = 4096
const longestMessages = 16_384
const longestName = 255
const readLimit = 1 << 20

/** Limits for moves that are described together: commits counted, and commits listed. */
const mostCounted = 100_000
const mostNamed = 1000
const countLimit = 1 << 25
const namedLimit = 1 << 24

export type Brought = Pick<Push, 'size' | 'distinct_size' | 'commits'>

/**
 * The commits that a move of a ref brought. `others` are the tips of the other branches: their commits are not distinct, and a new branch
 * does not bring them.
 */
export async function describeMove(path: string, { before, after }: Command, others: Iterable<string>): Promise<Brought> {
  const fresh = before === noObject
  const distinct = [after, ...(fresh ? [] : [`^${before}`]), ...Array.from(new Set(others), (sha) => `^${sha}`)]
  const brought = fresh ? distinct : [after, `^${before}`]
  const [commits, size, distinct_size] = await Promise.all([
    readCommits(path, [`--max-count=${most}`], brought, readLimit),
    count(path, brought),
    fresh ? undefined : count(path, distinct),
  ])
  const named = trim(commits.toReversed())
  if (distinct_size === undefined || distinct_size === size)
    return { size, distinct_size: size, commits: named.map((commit) => ({ ...commit, distinct: true })) }
  const distinctCommits = new Set((await ask(path, ['rev-list', `--max-count=${most}`], distinct)).split('\n'))
  return { size, distinct_size, commits: named.map((commit) => ({ ...commit, distinct: distinctCommits.has(commit.sha) })) }
}

async function count(path: string, revisions: string[]) {
  return Number(await ask(path, ['rev-list', '--count'], revisions))
}

/**
 * Describes any number of moves with two git processes. A move brings the commits that were on no branch and that no earlier move brought,
 * so every commit is counted once.
 */
export async function describeTogether(path: string, moves: Command[], others: Iterable<string>): Promise<Brought[]> {
  if (!moves.length) return []
  const revisions = [...moves.map(({ after }) => after), ...Array.from(new Set(others), (sha) => `^${sha}`)]
  const walk = await ask(path, ['rev-list', '--parents', `--max-count=${mostCounted}`], revisions, countLimit)
  const parents = new Map(walk.split('\n').map((line) => [line.slice(0, 40), line.slice(41)]))
  const places = new Map([...parents.keys()].map((sha, place) => [sha, place]))
  const left = new Set(parents.keys())
  let free = mostNamed
  const found = moves.map(({ after }) => {
    const shas = collect(after, parents, left).sort((a, b) => (places.get(a) ?? 0) - (places.get(b) ?? 0))
    const named = shas.slice(0, Math.min(most, free))
    free -= named.length
    return { size: shas.length, named: named.reverse() }
  })
  const wanted = found.flatMap(({ named }) => named)
  const read = wanted.length ? await readCommits(path, ['--no-walk=unsorted'], wanted, namedLimit) : []
  const commits = new Map(read.map((commit) => [commit.sha, { ...commit, distinct: true }]))
  return found.map(({ size, named }) => ({
    size,
    distinct_size: size,
    commits: trim(named.flatMap((sha) => commits.get(sha) ?? [])),
  }))
}

/** Removes the commits that are reachable from `tip` from `left`, and returns them. */
function collect(tip: string, parents: Map<string, string>, left: Set<string>): string[] {
  const found: string[] = []
  const open = [tip]
  for (let sha = open.pop(); sha !== undefined; sha = open.pop()) {
    if (!left.delete(sha)) continue
    found.push(sha)
    open.push(...(parents.get(sha) ?? '').split(' ').filter(Boolean))
  }
  return found
}

/** Newest first. */
async function readCommits(path: string, how: string[], revisions: string[], limit: number) {
  const format = '--format=%H%x00%an%x00%ae%x00%B'
  const fields = (await ask(path, ['log', '-z', ...how, format], revisions, limit)).split('\0')
  return Array.from({ length: Math.floor(fields.length / 4) }, (_, index) => {
    const [sha = '', name = '', email = '', message = ''] = fields.slice(4 * index, 4 * index + 4)
    const author = { name: cut(name, longestName), email: cut(email, longestName) }
    return { sha, message: cut(message.trimEnd(), longestMessage), author }
  })
}

/** All messages of an event share one limit; the newest commits, which are last in the list, have precedence. */
function trim<T extends { message: string }>(commits: T[]): T[] {
  let left = longestMessages
  const trimmed = commits.toReversed().map((commit) => {
    const message = cut(commit.message, left)
    left -= message.length
    return { ...commit, message }
  })
  return trimmed.reverse()
}

/** Tips of other branches may have been deleted meanwhile; git ignores them. */
function ask(path: string, args: string[], revisions: string[], limit = readLimit) {
  const input = `${revisions.join('\n')}\n`
  return git(['-C', path, ...args, '--ignore-missing', '--stdin'], { input, limit, cut: true, timeout: 600_000 })
}

/** The database refuses half a surrogate pair. */
function cut(text: string, longest: number) {
  return text.slice(0, longest).toWellFormed()
}
