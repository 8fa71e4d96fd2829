import type { DeliveredCommit, DeliveredPush } from '#activity/facts.ts'
import { noObject } from '#git/objects.ts'
import { runGit, split, streamGit } from '#git/run-git.ts'
import type { Command, Storage } from '#git/storage.ts'
import { findAllAuthors } from '#hosting/refs/commits.ts'
import type { Queryable } from '#platform/database.ts'

/** How many commits are told, and how many files of each. */
const mostCommits = 2048
/** As many refs as one push may move: webhooks are sent for all of them. */
const mostBrief = 10_000
const mostFiles = 3000
const longestPath = 1 << 13

/** What may be read until whoever pushes has waited long enough. What is beyond it is left out, and no push fails for it. */
export interface Allowance {
  /** Of commits and of names of files, in bytes. */
  text: number
  names: number
  signal: AbortSignal
}

/** For all of a push; whoever reads several moves shares one. */
export function allow(): Allowance {
  return { text: 32 << 20, names: 8 << 20, signal: AbortSignal.timeout(20_000) }
}

export interface Telling {
  /** Where the other branches were by name: what they had already is not distinct, and a ref that is new brings nothing of it. */
  others?: ReadonlyMap<string, string>
  /** How many commits at most, where it is known how many there were. */
  most?: number
  allowance?: Allowance
}

/** What webhooks are told of a ref that moved, read from the repository. */
export async function readDelivery(
  db: Queryable,
  storage: Storage,
  repo_id: number,
  { ref, before, after }: Pick<Command, 'ref' | 'before' | 'after'>,
  { others = new Map(), most = mostCommits, allowance = allow() }: Telling = {},
): Promise<DeliveredPush> {
  const [created, deleted] = [before === noObject, after === noObject]
  const move = { ref, before, after, created, deleted }
  const facts = { forced: false, base_ref: null, head_commit: null }
  if (deleted) return { ...move, ...facts, commits: [] }
  const place = { path: storage.pathOf(repo_id), allowance }
  const tip = ref.startsWith('refs/heads/') ? after : await resolveTag(place, after)
  // A tag may be of what is no commit.
  if (!tip) return { ...move, ...facts, commits: [] }
  const [brought, forced] = await Promise.all([
    readBrought(place, created ? null : before, tip, [...new Set(others.values())], Math.min(most, mostCommits)),
    created ? false : isForced(place, before, tip),
  ])
  const read = brought.length ? brought : await readLog(place, [tip], 1)
  const told = await nameAuthors(db, read, await readFiles(place, read))
  const base_ref = created ? findBase(others, tip) : null
  return { ...move, forced, base_ref, commits: brought.length ? told.toReversed() : [], head_commit: told[0] ?? null }
}

/** The same for any number of refs, with one git process: each with the commit that it points to now, and without the earlier commits. */
export async function readBriefDeliveries<T extends Pick<Command, 'ref' | 'before' | 'after'>>(
  db: Queryable,
  storage: Storage,
  repo_id: number,
  moves: T[],
  allowance: Allowance,
): Promise<Map<T, DeliveredPush>> {
  if (!moves.length) return new Map()
  const place = { path: storage.pathOf(repo_id), allowance }
  const tips = [...new Set(moves.map(({ after }) => after).filter((after) => after !== noObject))]
  const read = tips.length ? await readLog(place, tips, mostBrief, ['--no-walk=unsorted']) : []
  const heads = new Map((await nameAuthors(db, read, new Map())).map((commit) => [commit.id, commit]))
  return new Map(
    moves.map((move) => {
      const { ref, before, after } = move
      const facts = { created: before === noObject, deleted: after === noObject, forced: false, base_ref: null }
      return [move, { ref, before, after, ...facts, commits: [], head_commit: heads.get(after) ?? null }]
    }),
  )
}

interface Place {
  path: string
  allowance: Allowance
}

async function resolveTag(place: Place, object: string): Promise<string> {
  return (await ask(place, ['rev-parse', '--verify', '--quiet', '--end-of-options', `${object}^{commit}`])).trim()
}

/** What is gone by now, or not found in time, is not what it was moved forward from. */
async function isForced({ path, allowance: { signal } }: Place, before: string, tip: string): Promise<boolean> {
  const args = ['merge-base', '--is-ancestor', '--end-of-options', before, tip]
  const { status } = await runGit(path, args, { signal, expected: [0, 1] }).catch(() => ({ status: 1 }))
  return status === 1
}

type Logged = Omit<DeliveredCommit, 'added' | 'removed' | 'modified'>

/** Newest first: the tip, unless nothing was brought. */
async function readBrought(place: Place, before: string | null, tip: string, others: string[], most: number): Promise<Logged[]> {
  const unheard = [tip, ...(before ? [`^${before}`] : []), ...others.map((sha) => `^${sha}`)]
  if (!before) return (await readLog(place, unheard, most)).map((commit) => ({ ...commit, distinct: true }))
  const [commits, distinct] = await Promise.all([
    readLog(place, [tip, `^${before}`], most),
    ask(place, ['rev-list', `--max-count=${most}`, '--ignore-missing', '--stdin'], unheard),
  ])
  const fresh = new Set(distinct.split('\n'))
  return commits.map((commit) => ({ ...commit, distinct: fresh.has(commit.id) }))
}

async function readLog(place: Place, revisions: string[], most: number, how: string[] = []): Promise<Logged[]> {
  const format = '--format=%H%x00%T%x00%cI%x00%an%x00%ae%x00%cn%x00%ce%x00%B'
  const args = ['log', '-z', `--max-count=${most}`, ...how, format, '--ignore-missing', '--stdin']
  const fields = (await ask(place, args, revisions)).split('\0')
  return Array.from({ length: Math.floor(fields.length / 8) }, (_, index) => {
    const [id = '', tree_id = '', time = '', name = '', email = '', their_name = '', their_email = '', message = ''] =
      fields.slice(8 * index)
    return {
      ...{ id, tree_id, distinct: false, message: message.trimEnd(), timestamp: checkTime(time) },
      author: { name, email },
      committer: { name: their_name, email: their_email },
    }
  })
}

/** People push commits of any time and zone, also such as there are none of. */
function checkTime(time: string) {
  const known = /^\d{4}-[\d:T+-]+Z?$/.test(time) && !Number.isNaN(Date.parse(time))
  return known ? time.replace('+00:00', 'Z') : '1970-01-01T00:00:00Z'
}

/** What git prints, as far as that is allowed; nothing when it fails. */
async function ask({ path, allowance }: Place, args: string[], revisions: string[] = []): Promise<string> {
  if (allowance.text <= 0) return ''
  const bounds = { signal: allowance.signal, input: revisions.map((each) => `${each}\n`).join(''), limit: allowance.text }
  const { output } = await runGit(path, args, bounds).catch(() => ({ output: Buffer.alloc(0) }))
  allowance.text -= output.length
  return output.toString()
}

type Files = Pick<DeliveredCommit, 'added' | 'removed' | 'modified'>

/** By commit. A merge is told by what it brought to its first parent, and a file that was renamed as one that went and one that came. */
async function readFiles({ path, allowance }: Place, commits: Logged[]): Promise<Map<string, Files>> {
  const lists = new Map<string, Files>()
  if (!commits.length || allowance.names <= 0) return lists
  const args = ['diff-tree', '--stdin', '-r', '-z', '--name-status', '--root', '--no-renames', '--diff-merges=first-parent']
  const input = commits.map(({ id }) => `${id}\n`).join('')
  let files: Files = { added: [], removed: [], modified: [] }
  let status: string | undefined
  const take = (piece: string) => {
    if (status) {
      const list = status === 'A' ? files.added : status === 'D' ? files.removed : files.modified
      if (files.added.length + files.removed.length + files.modified.length < mostFiles) {
        list.push(piece)
        allowance.names -= piece.length
      }
      status = undefined
    } else if (piece.length === noObject.length) {
      files = { added: [], removed: [], modified: [] }
      lists.set(piece, files)
    } else status = piece
  }
  try {
    for await (const pieces of split(streamGit(path, args, { signal: allowance.signal, input }), 0, longestPath)) {
      for (const piece of pieces) take(piece.toString())
      if (allowance.names <= 0) break
    }
  } catch {
    // What was read in time is told.
  }
  return lists
}

async function nameAuthors(db: Queryable, commits: Logged[], files: Map<string, Files>): Promise<DeliveredCommit[]> {
  const people = commits.length ? await findAllAuthors(db, commits) : []
  return commits.map((commit, index) => {
    const { author, committer } = people[index] ?? {}
    return {
      ...commit,
      author: { ...commit.author, ...(author && { username: author.login }) },
      committer: { ...commit.committer, ...(committer && { username: committer.login }) },
      ...(files.get(commit.id) ?? { added: [], removed: [], modified: [] }),
    }
  })
}

/** A branch from which a new ref was made, as it seems. */
function findBase(others: ReadonlyMap<string, string>, tip: string): string | null {
  return [...others].flatMap(([name, sha]) => (sha === tip ? [name] : [])).sort()[0] ?? null
}
