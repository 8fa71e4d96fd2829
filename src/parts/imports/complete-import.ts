import type { Act } from '#activity/acts.ts'
import { publish } from '#activity/publish.ts'
import { noObject } from '#git/objects.ts'
import type { Command, Storage } from '#git/storage.ts'
import { forgetLater } from '#hosting/pushes/import-refs.ts'
import { adoptMoves } from '#hosting/pushes/pushes.ts'
import { ImportFailure } from '#importer/source.ts'
import { type Database, sql, type Transaction } from '#platform/database.ts'
import { enqueue } from '#platform/queue.ts'
import type { Import, KeptReport } from './import-row.ts'
import { lockImport } from './import-store.ts'
import { applyEvent } from './progress.ts'
import { deleteStage } from './stages.ts'

/** Branches and tags by their full names. Their objects are already in the repository. */
export type Refs = Record<string, string>

interface CompletionDeps {
  db: Database
  storage: Storage
}

interface Published {
  refs: Refs
  default_branch: string | null
  /** How many commits the refs have. */
  commits?: number
}

/**
 * Moves the refs of an import, then records the end of the import in one transaction. A run that is killed in between does both again.
 * Returns undefined if the import is gone or was restarted; the moves are then reverted.
 */
export async function completeImport(
  { db, storage }: CompletionDeps,
  { id, run }: Pick<Import, 'id' | 'run'>,
  { refs, default_branch: wanted, commits }: Published,
): Promise<Import | undefined> {
  const imported = await readImport(db, id, run)
  if (imported?.status !== 'pushing') return undefined
  const moves = await moveRefs({ db, storage }, imported, refs)
  const default_branch = chooseDefault(refs, wanted)
  const [size] = await Promise.all([
    storage.sizeOf(imported.repo_id),
    default_branch !== null && storage.pointHead(imported.repo_id, default_branch),
  ])
  const done = await db.transaction((transaction) =>
    recordCompletion(transaction, imported, { refs, moves, default_branch, size, ...(commits !== undefined && { commits }) }),
  )
  if (!done) await revertMoves(storage, imported.repo_id, moves)
  return done
}

/** The same for commits whose authors were corrected after the end. */
export async function completeCorrection(
  { db, storage }: CompletionDeps,
  { id, run }: Pick<Import, 'id' | 'run'>,
  refs: Refs,
): Promise<Import | undefined> {
  const imported = await readImport(db, id, run)
  // `published` is null after a push; the pushed commits must stay.
  if (imported?.status !== 'complete' || !imported.published) return undefined
  // A correction adds and removes no branch. If some are missing, so are the original refs.
  if (Object.keys({ ...imported.published, ...refs }).length !== Object.keys(refs).length)
    throw new ImportFailure('Some of the original commits are gone. Import the repository again.')
  const moves = await moveRefs({ db, storage }, imported, refs)
  const size = await storage.sizeOf(imported.repo_id)
  return db.transaction(async (transaction) => {
    await transaction.query(sql`select from repositories where id = ${imported.repo_id} for no key update`)
    await adoptMoves(transaction, imported.repo_id, moves)
    await transaction.query(sql`
      update repositories set pushed_at = ${db.now}, updated_at = ${db.now}, size = ${size} where id = ${imported.repo_id}`)
    return applyEvent(transaction, id, run, 'corrected', {
      published: await refsIfUnchanged(transaction, imported.repo_id, refs),
    })
  })
}

function readImport(db: Database, id: number, run: number) {
  return db.first<Import>(sql`select * from imports where id = ${id} and run = ${run}`)
}

/** Moves the refs that are not in place yet, all or none, and only from positions that imports have set. */
async function moveRefs(
  { db, storage }: CompletionDeps,
  { id, repo_id, published, moving }: Import,
  refs: Refs,
): Promise<Command[]> {
  const plan = async () => {
    const disk = [...(await storage.refsOf(repo_id))].filter(([name]) => /^refs\/(heads|tags)\//.test(name))
    return planMoves(Object.fromEntries(disk), published ?? {}, moving ? [moving.from, moving.to] : [], refs)
  }
  const { from, moves, remaining } = await plan()
  if (!remaining.length) return moves
  await db.query(sql`update imports set moving = ${JSON.stringify({ from, to: refs })}::jsonb where id = ${id}`)
  try {
    await storage.moveManyRefs(repo_id, remaining)
  } catch (error) {
    // If there was a push at the same time, this throws the error that says so.
    await plan()
    throw error
  }
  return moves
}

/** The moves since the last publication, for the record; and those that are still to be done on disk. */
function planMoves(from: Refs, published: Refs, interrupted: Refs[], refs: Refs) {
  const at = (ref: string) => from[ref] ?? noObject
  const names = [...new Set([...Object.keys(published), ...Object.keys(refs), ...Object.keys(from)])]
  const other = names.find((ref) => [published, refs, ...interrupted].every((each) => (each[ref] ?? noObject) !== at(ref)))
  if (other) {
    throw new ImportFailure(`There was a push of ${other} to the repository during the import. Import into a new repository.`)
  }
  const movesFrom = (before: (ref: string) => string): Command[] =>
    names.map((ref) => ({ ref, before: before(ref), after: refs[ref] ?? noObject })).filter(isMove)
  return { from, moves: movesFrom((ref) => published[ref] ?? noObject), remaining: movesFrom(at) }
}

const isMove = ({ before, after }: Command) => before !== after

function chooseDefault(refs: Refs, wanted: string | null): string | null {
  const branches = Object.keys(refs).flatMap((ref) => (ref.startsWith('refs/heads/') ? [ref.slice('refs/heads/'.length)] : []))
  return [wanted, 'main', 'master', branches.sort()[0]].find((name) => name && branches.includes(name)) ?? null
}

interface Completion extends Published {
  moves: Command[]
  size: number
}

/** Of the notification. A URL can be longer. */
const maxTitleLength = 256

async function recordCompletion(db: Transaction, imported: Import, completion: Completion) {
  const { refs, moves, default_branch, size } = completion
  const { id, run, repo_id } = imported
  const repo = await db.first<{ owner_id: number; default_branch: string; description: string | null }>(sql`
    select owner_id, default_branch, description from repositories where id = ${repo_id} for no key update`)
  const present = repo && (await lockImport(db, sql`id = ${id} and run = ${run}`))
  if (!present) return undefined
  await adoptMoves(db, repo_id, moves)
  const master_branch = default_branch ?? repo.default_branch
  await db.query(sql`
    update repositories set default_branch = ${master_branch}, pushed_at = ${db.now}, updated_at = ${db.now}, size = ${size}
    where id = ${repo_id}`)
  const published = await refsIfUnchanged(db, repo_id, refs)
  const done = await applyEvent(db, id, run, 'pushed', {
    published,
    ...(imported.report && { report: withCounts(imported.report, completion) }),
  })
  // It is of an earlier run.
  await deleteStage(db, id)
  const requester = { id: present.requester_id ?? repo.owner_id }
  // One event for all branches. An import that runs again brings nothing new.
  if (default_branch && !Object.keys(imported.published ?? {}).length) {
    const ref = { ref: default_branch, ref_type: 'branch', master_branch, description: repo.description, in_bulk: false } as const
    const title = `Imported from ${present.vcs_url}`.slice(0, maxTitleLength)
    const completed: Act = { act: 'import.completed', import_id: id, title, status: 'success' }
    await publish(db, requester, { id: repo_id }, { act: 'branch.created', ...ref }, completed)
  } else await publish(db, requester, { id: repo_id }, { act: 'import.repeated', status: 'success' })
  await enqueue(db, 'maintain_repository', { repo_id }, { key: `maintain ${repo_id}`, minutes: 5 })
  return done
}

function withCounts(report: KeptReport, { refs, commits }: Published): KeptReport {
  const count = (folder: string) => Object.keys(refs).filter((ref) => ref.startsWith(folder)).length
  const counts = { branches_count: count('refs/heads/'), tags_count: count('refs/tags/') }
  return { ...report, ...counts, ...(commits !== undefined && { commits_count: commits }) }
}

/** The refs, if the repository has no others. After a push, corrections are no longer possible. */
async function refsIfUnchanged(db: Transaction, repo_id: number, refs: Refs): Promise<Refs | null> {
  const rows = await db.rows<{ name: string; sha: string }>(sql`
    select name, sha from refs where repo_id = ${repo_id} and name ~ '^refs/(heads|tags)/'`)
  if (rows.length === Object.keys(refs).length && rows.every(({ name, sha }) => refs[name] === sha)) return refs
  await forgetLater(db, repo_id)
  return null
}

/** Leaves the refs that others have moved since. */
async function revertMoves(storage: Storage, repo_id: number, moves: Command[]) {
  if (!moves.length || !storage.has(repo_id)) return
  const disk = await storage.refsOf(repo_id)
  const back = moves.filter(({ ref, after }) => (disk.get(ref) ?? noObject) === after)
  await storage.moveManyRefs(
    repo_id,
    back.map(({ ref, before, after }) => ({ ref, before: after, after: before })),
  )
}
