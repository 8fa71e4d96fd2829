import type { DeliveredCommit, DeliveredPush } from '#activity/facts.ts'
import { noObject } from '#git/objects.ts'
import { runGit, split, streamGit } from '#git/run-git.ts'
import type { Command, Storage } from '#git/storage.ts'
import { findAllAuthors } from '#hosting/refs/commits.ts'
import type { Queryable } from '#platform/database.ts'

/** How many commits a payload lists, and how many files of each. */
const mostCommits = 2048
/** As many refs as one push may move. */
const mostBrief = 10_000
const mostFiles = 3000
const longestPath = 1 << 13

/** How much is read while the pusher waits. The payload leaves out the rest, and no push fails because of it. */
export interface ReadBudget {
  /** Bytes of commits and of file names. */
  text: number
  names: number
  signal: AbortSignal
}

/** One budget serves all moves of a push. */
export function newBudget(): ReadBudget {
  return { text: 32 << 20, names: 8 << 20, signal: AbortSignal.timeout(20_000) }
}

interface ReadOptions {
  /** The heads of the other branches by name. Their commits are not distinct, and a new ref does not bring them. */
  others?: ReadonlyMap<string, string>
  /** The number of commits, if it is known. */
  most?: number
  budget?: ReadBudget
}

/** Reads what a payload shows of a ref that moved. */
export async function readDelivery(
  db: Queryable,
  storage: Storage,
  repo_id: number,
  { ref, before, after }: Pick<Command, 'ref' | 'before' | 'after'>,
  { others = new Map(), most = mostCommits, budget = newBudget() }: ReadOptions = {},
): Promise<DeliveredPush> {
  const [created, deleted] = [before === noObject, after === noObject]
  const move = { ref, before, after, created, deleted }
  const facts = { forced: false, base_ref: null, head_commit: null }
  if (deleted) return { ...move, ...facts, commits: [] }
  const repository = { path: storage.pathOf(repo_id), budget }
  const tip = ref.startsWith('refs/heads/') ? after : await resolveTag(repository, after)
  // A tag may point to an object other than a commit.
  if (!tip) return { ...move, ...facts, commits: [] }
  const [brought, forced] = await Promise.all([
    readBrought(repository, created ? null : before, tip, [...new Set(others.values())], Math.min(most, mostCommits)),
    created ? false : isForced(repository, before, tip),
  ])
  const read = brought.length ? brought : await readLog(repository, [tip], 1)
  const named = await nameAuthors(db, read, await readFiles(repository, read))
  const base_ref = created ? findBase(others, tip) : null
  return { ...move, forced, base_ref, commits: brought.length ? named.toReversed() : [], head_commit: named[0] ?? null }
}

/** The same for any number of refs, with one git process: only the commit that each ref points to now. */
export async function readBriefDeliveries<T extends Pick<Command, 'ref' | 'before' | 'after'>>(
  db: Queryable,
  storage: Storage,
  repo_id: number,
  moves: T[],
  budget: ReadBudget,
): Promise<Map<T, DeliveredPush>> {
  if (!moves.length) return new Map()
  const repository = { path: storage.pathOf(repo_id), budget }
  const tips = [...new Set(moves.map(({ after }) => after).filter((after) => after !== noObject))]
  const read = tips.length ? await readLog(repository, tips, mostBrief, ['--no-walk=unsorted']) : []
  const heads = new Map((await nameAuthors(db, read, new Map())).map((commit) => [commit.id, commit]))
  return new Map(
    moves.map((move) => {
      const { ref, before, after } = move
      const facts = { created: before === noObject, deleted: after === noObject, forced: false, base_ref: null }
      return [move, { ref, before, after, ...facts, commits: [], head_commit: heads.get(after) ?? null }]
    }),
  )
}

interface Repository {
  path: string
  budget: ReadBudget
}

async function resolveTag(repository: Repository, object: string): Promise<string> {
  return (await ask(repository, ['rev-parse', '--verify', '--quiet', '--end-of-options', `${object}^{commit}`])).trim()
}

/** Also true when the former commit is gone, or the check takes too long. */
async function isForced({ path, budget: { signal } }: Repository, before: string, tip: string): Promise<boolean> {
  const args = ['merge-base', '--is-ancestor', '--end-of-options', before, tip]
  const { status } = await runGit(path, args, { signal, expected: [0, 1] }).catch(() => ({ status: 1 }))
  return status === 1
}

type Logged = Omit<DeliveredCommit, 'added' | 'removed' | 'modified'>

/** Newest first. */
async function readBrought(
  repository: Repository,
  before: string | null,
  tip: string,
  others: string[],
  most: number,
): Promise<Logged[]> {
  const newCommits = [tip, ...(before ? [`^${before}`] : []), ...others.map((sha) => `^${sha}`)]
  if (!before) return (await readLog(repository, newCommits, most)).map((commit) => ({ ...commit, distinct: true }))
  const [commits, distinct] = await Promise.all([
    readLog(repository, [tip, `^${before}`], most),
    ask(repository, ['rev-list', `--max-count=${most}`, '--ignore-missing', '--stdin'], newCommits),
  ])
  const fresh = new Set(distinct.split('\n'))
  return commits.map((commit) => ({ ...commit, distinct: fresh.has(commit.id) }))
}

async function readLog(repository: Repository, revisions: string[], most: number, how: string[] = []): Promise<Logged[]> {
  const format = '--format=%H%x00%T%x00%cI%x00%an%x00%ae%x00%cn%x00%ce%x00%B'
  const args = ['log', '-z', `--max-count=${most}`, ...how, format, '--ignore-missing', '--stdin']
  const fields = (await ask(repository, args, revisions)).split('\0')
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

/** Commits may have impossible dates and time zones. */
function checkTime(time: string) {
  const known = /^\d{4}-[\d:T+-]+Z?$/.test(time) && !Number.isNaN(Date.parse(time))
  return known ? time.replace('+00:00', 'Z') : '1970-01-01T00:00:00Z'
}

/** The output of git within the budget; empty when git fails. */
async function ask({ path, budget }: Repository, args: string[], revisions: string[] = []): Promise<string> {
  if (budget.text <= 0) return ''
  const bounds = { signal: budget.signal, input: revisions.map((each) => `${each}\n`).join(''), limit: budget.text }
  const { output } = await runGit(path, args, bounds).catch(() => ({ output: Buffer.alloc(0) }))
  budget.text -= output.length
  return output.toString()
}

type Files = Pick<DeliveredCommit, 'added' | 'removed' | 'modified'>

/** By commit. A merge is compared with its first parent. A renamed file is one removed and one added file. */
async function readFiles({ path, budget }: Repository, commits: Logged[]): Promise<Map<string, Files>> {
  const lists = new Map<string, Files>()
  if (!commits.length || budget.names <= 0) return lists
  const args = ['diff-tree', '--stdin', '-r', '-z', '--name-status', '--root', '--no-renames', '--diff-merges=first-parent']
  const input = commits.map(({ id }) => `${id}\n`).join('')
  let files: Files = { added: [], removed: [], modified: [] }
  let status: string | undefined
  const take = (piece: string) => {
    if (status) {
      const list = status === 'A' ? files.added : status === 'D' ? files.removed : files.modified
      if (files.added.length + files.removed.length + files.modified.length < mostFiles) {
        list.push(piece)
        budget.names -= piece.length
      }
      status = undefined
    } else if (piece.length === noObject.length) {
      files = { added: [], removed: [], modified: [] }
      lists.set(piece, files)
    } else status = piece
  }
  try {
    for await (const pieces of split(streamGit(path, args, { signal: budget.signal, input }), 0, longestPath)) {
      for (const piece of pieces) take(piece.toString())
      if (budget.names <= 0) break
    }
  } catch {
    // The payload lists what was read in time.
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

/** A branch with the same tip: probably the one that a new ref was made from. */
function findBase(others: ReadonlyMap<string, string>, tip: string): string | null {
  return [...others].flatMap(([name, sha]) => (sha === tip ? [name] : [])).sort()[0] ?? null
}
