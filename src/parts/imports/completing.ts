import type { Act } from '#activity/acts.ts'
import { publish } from '#activity/publish.ts'
import { noObject } from '#git/objects.ts'
import type { Command, Storage } from '#git/storage.ts'
import { forgetLater } from '#hosting/pushes/import-refs.ts'
import { adoptMoves } from '#hosting/pushes/pushes.ts'
import { ImportFailure } from '#importer/source.ts'
import { type Database, sql, type Transaction } from '#platform/database.ts'
import { enqueue } from '#platform/queue.ts'
import { holdImport, type Import, type KeptReport } from './changing.ts'
import { applyEvent } from './progress.ts'

/** Branches and tags as they are to be, by their whole names; their objects are in the repository already. */
export type Refs = Record<string, string>

interface Place {
  db: Database
  storage: Storage
}

interface Published {
  refs: Refs
  default_branch: string | null
}

/**
 * Makes a repository of what was imported: moves its refs, and tells of them in one transaction with the end of the import. Whoever was
 * killed in between does it again. Gives nothing when the import is not this run's any more; what was moved for it is taken back then.
 */
export async function completeImport(
  { db, storage }: Place,
  { id, run }: Pick<Import, 'id' | 'run'>,
  { refs, default_branch: wanted }: Published,
): Promise<Import | undefined> {
  const held = await readImport(db, id, run)
  if (held?.status !== 'pushing') return undefined
  const moves = await moveRefs({ db, storage }, held, refs)
  const default_branch = chooseDefault(refs, wanted)
  const [size] = await Promise.all([
    storage.sizeOf(held.repo_id),
    default_branch !== null && storage.pointHead(held.repo_id, default_branch),
  ])
  const done = await db.transaction((transaction) => settle(transaction, held, { refs, moves, default_branch, size }))
  if (!done) await takeBack(storage, held.repo_id, moves)
  return done
}

/** The same of commits whose authors were corrected after the end. */
export async function completeCorrection(
  { db, storage }: Place,
  { id, run }: Pick<Import, 'id' | 'run'>,
  refs: Refs,
): Promise<Import | undefined> {
  const held = await readImport(db, id, run)
  // Without it, somebody has pushed: what they built on stays.
  if (held?.status !== 'complete' || !held.published) return undefined
  // No branch comes or goes by who wrote it: where some are missing, so are the originals.
  if (Object.keys({ ...held.published, ...refs }).length !== Object.keys(refs).length)
    throw new ImportFailure('The commits as they came from the source are not all there any more. Import them again.')
  const moves = await moveRefs({ db, storage }, held, refs)
  const size = await storage.sizeOf(held.repo_id)
  return db.transaction(async (transaction) => {
    await transaction.query(sql`select from repositories where id = ${held.repo_id} for no key update`)
    await adoptMoves(transaction, held.repo_id, moves)
    await transaction.query(sql`
      update repositories set pushed_at = ${db.now}, updated_at = ${db.now}, size = ${size} where id = ${held.repo_id}`)
    return applyEvent(transaction, id, run, 'corrected', { published: await untouched(transaction, held.repo_id, refs) })
  })
}

function readImport(db: Database, id: number, run: number) {
  return db.first<Import>(sql`select * from imports where id = ${id} and run = ${run}`)
}

/** Moves what is not yet there; all of it or nothing, and only from where imports have left it. */
async function moveRefs({ db, storage }: Place, { id, repo_id, published, moving }: Import, refs: Refs): Promise<Command[]> {
  const plan = async () => {
    const disk = [...(await storage.refsOf(repo_id))].filter(([name]) => /^refs\/(heads|tags)\//.test(name))
    return planMoves(Object.fromEntries(disk), published ?? {}, moving ? [moving.from, moving.to] : [], refs)
  }
  const { from, moves, left } = await plan()
  if (!left.length) return moves
  await db.query(sql`update imports set moving = ${JSON.stringify({ from, to: refs })}::jsonb where id = ${id}`)
  try {
    await storage.placeRefs(repo_id, left)
  } catch (error) {
    // Somebody may have pushed at this very moment, which then is what is wrong.
    await plan()
    throw error
  }
  return moves
}

/** The way from what was published before, if anything was, to what is to be; and what of it is still to be done on disk. */
function planMoves(from: Refs, published: Refs, left_behind: Refs[], refs: Refs) {
  const at = (ref: string) => from[ref] ?? noObject
  const names = [...new Set([...Object.keys(published), ...Object.keys(refs), ...Object.keys(from)])]
  const other = names.find((ref) => [published, refs, ...left_behind].every((each) => (each[ref] ?? noObject) !== at(ref)))
  if (other) {
    throw new ImportFailure(`Somebody has pushed ${other} to the repository while it was being imported. Import into a new one.`)
  }
  const way = (before: (ref: string) => string): Command[] =>
    names.map((ref) => ({ ref, before: before(ref), after: refs[ref] ?? noObject })).filter(isMove)
  return { from, moves: way((ref) => published[ref] ?? noObject), left: way(at) }
}

const isMove = ({ before, after }: Command) => before !== after

function chooseDefault(refs: Refs, wanted: string | null): string | null {
  const branches = Object.keys(refs).flatMap((ref) => (ref.startsWith('refs/heads/') ? [ref.slice('refs/heads/'.length)] : []))
  return [wanted, 'main', 'master', branches.sort()[0]].find((name) => name && branches.includes(name)) ?? null
}

interface Settlement extends Published {
  moves: Command[]
  size: number
}

/** Of what people are told; addresses can be longer. */
const longestTitle = 256

async function settle(db: Transaction, held: Import, { refs, moves, default_branch, size }: Settlement) {
  const { id, run, repo_id } = held
  const repo = await db.first<{ owner_id: number; default_branch: string; description: string | null }>(sql`
    select owner_id, default_branch, description from repositories where id = ${repo_id} for no key update`)
  const present = repo && (await holdImport(db, sql`id = ${id} and run = ${run}`))
  if (!present) return undefined
  await adoptMoves(db, repo_id, moves)
  const master_branch = default_branch ?? repo.default_branch
  await db.query(sql`
    update repositories set default_branch = ${master_branch}, pushed_at = ${db.now}, updated_at = ${db.now}, size = ${size}
    where id = ${repo_id}`)
  const published = await untouched(db, repo_id, refs)
  const done = await applyEvent(db, id, run, 'pushed', { published, ...(held.report && { report: counted(held.report, refs) }) })
  const requester = { id: present.requester_id ?? repo.owner_id }
  // One event for all branches. An import that runs again brings nothing new.
  if (default_branch && !Object.keys(held.published ?? {}).length) {
    const ref = { ref: default_branch, ref_type: 'branch', master_branch, description: repo.description, in_bulk: false } as const
    const title = `Imported from ${present.vcs_url}`.slice(0, longestTitle)
    const completed: Act = { act: 'import.completed', import_id: id, title, status: 'success' }
    await publish(db, requester, { id: repo_id }, { act: 'branch.created', ...ref }, completed)
  } else await publish(db, requester, { id: repo_id }, { act: 'import.repeated', status: 'success' })
  await enqueue(db, 'maintain_repository', { repo_id }, { key: `maintain ${repo_id}`, minutes: 5 })
  return done
}

function counted(report: KeptReport, refs: Refs): KeptReport {
  const count = (folder: string) => Object.keys(refs).filter((ref) => ref.startsWith(folder)).length
  return { ...report, branches_count: count('refs/heads/'), tags_count: count('refs/tags/') }
}

/** The refs, as long as they are all there is; a push that came in between ends corrections before they begin. */
async function untouched(db: Transaction, repo_id: number, refs: Refs): Promise<Refs | null> {
  const rows = await db.rows<{ name: string; sha: string }>(sql`
    select name, sha from refs where repo_id = ${repo_id} and name ~ '^refs/(heads|tags)/'`)
  if (rows.length === Object.keys(refs).length && rows.every(({ name, sha }) => refs[name] === sha)) return refs
  await forgetLater(db, repo_id)
  return null
}

/** What somebody has moved on since is left to them. */
async function takeBack(storage: Storage, repo_id: number, moves: Command[]) {
  if (!moves.length || !storage.has(repo_id)) return
  const disk = await storage.refsOf(repo_id)
  const back = moves.filter(({ ref, after }) => (disk.get(ref) ?? noObject) === after)
  await storage.placeRefs(
    repo_id,
    back.map(({ ref, before, after }) => ({ ref, before: after, after: before })),
  )
}
