import { noObject } from '#git/objects.ts'
import { dropBrokenRefs, dropEmptyObjects, findMissing, isAncestor } from '#git/repair.ts'
import type { Storage } from '#git/storage.ts'
import { enqueueDescription } from '#hosting/repositories/queue.ts'
import { type Database, sql, type Transaction } from '#platform/database.ts'

/** A repaired difference between disk and database. */
export interface Repair {
  ref: string
  /** The commits in the database and on disk; null if there is none. */
  recorded_sha: string | null
  disk_sha: string | null
  /**
   * `restored`: the ref on disk is back at the recorded commit. `adopted`: the database took the commit on disk, which is later. `lost`:
   * the recorded commit is missing, and the database took what is left.
   */
  outcome: 'restored' | 'adopted' | 'lost'
}

interface Recorded {
  refs: Map<string, { sha: string; version: string }>
  /** Refs that an open push may move. */
  moving: Set<string>
  importing: boolean
}

/**
 * Compares the refs of a repository on disk with the database and repairs differences, as after a power loss or a restored backup. Skips
 * refs that are being pushed or imported, because they are recorded afterwards.
 */
export async function repairRefs(db: Database, storage: Storage, repo_id: number): Promise<Repair[]> {
  if (!storage.has(repo_id)) return []
  const path = storage.pathOf(repo_id)
  const { differing, recorded, disk } = await compareRefs(db, storage, repo_id, () => dropBrokenRefs(path))
  if (!recorded) return []
  const shas = new Set([...differing.flatMap((name) => recorded.get(name)?.sha ?? []), ...disk.values()])
  const missing = await findMissing(path, shas)
  if (missing.size) await dropEmptyObjects(path)
  // Git moves a ref only to an object that exists, so these refs are broken even if a push is running.
  const broken = [...disk].filter(([, sha]) => missing.has(sha)).map(([name]) => name)
  const repairs: Repair[] = []
  for (const ref of new Set([...differing, ...broken])) {
    repairs.push(await decide(path, ref, recorded.get(ref)?.sha ?? null, disk.get(ref) ?? null, missing))
  }
  if (repairs.length) await settle(db, storage, repo_id, repairs, missing)
  return repairs
}

/** The refs of a repository that are not the same on disk and in the database, although nothing moves them. Changes nothing. */
export async function listDifferingRefs(db: Database, storage: Storage, repo_id: number): Promise<string[]> {
  return (await compareRefs(db, storage, repo_id)).differing
}

/** `recorded` is undefined during an import, which moves refs before it records them. */
async function compareRefs(db: Database, storage: Storage, repo_id: number, prepare?: () => Promise<void>) {
  const before = await readRecorded(db, repo_id)
  await prepare?.()
  const disk = new Map([...(await storage.refsOf(repo_id))].filter(([name]) => isPublic(name)))
  // As in settlePushes: a move on disk is recorded by now, or its push is still open.
  const after = await readRecorded(db, repo_id)
  if (after.importing) return { differing: [], recorded: undefined, disk }
  const names = [...new Set([...after.refs.keys(), ...disk.keys()])].filter((name) => !after.moving.has(name))
  const differing = names.filter(
    (name) => before.refs.get(name)?.version === after.refs.get(name)?.version && after.refs.get(name)?.sha !== disk.get(name),
  )
  return { differing, recorded: after.refs, disk }
}

/** Refs that users push to. Belfry uses the others, and does not list them in the database. */
const isPublic = (name: string) => !/^refs\/(pull|import|drafts|belfry)\//.test(name)

async function readRecorded(db: Database, repo_id: number): Promise<Recorded> {
  const found = await db.first<{
    refs: { name: string; sha: string; version: string }[]
    moving: string[]
    importing: boolean
  }>(sql`
    select coalesce((select json_agg(json_build_object('name', name, 'sha', sha, 'version', xmin::text)) from refs
        where repo_id = ${repo_id}), '[]') as refs,
      array(select command->>'ref' from pushes, jsonb_array_elements(commands) command where repo_id = ${repo_id}) as moving,
      exists (select from imports where repo_id = ${repo_id} and active) or exists (
        -- Refs of an import that failed are to be taken back.
        select from graphile_worker._private_jobs j join graphile_worker._private_tasks t on t.id = j.task_id
        where t.identifier = 'withdraw_refs' and (j.payload->>'repo_id')::bigint = ${repo_id}) as importing`)
  return {
    refs: new Map(found?.refs.map(({ name, ...ref }) => [name, ref])),
    moving: new Set(found?.moving),
    importing: found?.importing ?? false,
  }
}

async function decide(
  path: string,
  ref: string,
  recorded: string | null,
  disk: string | null,
  missing: Set<string>,
): Promise<Repair> {
  const usable = disk !== null && !missing.has(disk) ? disk : null
  const repair = { ref, recorded_sha: recorded, disk_sha: disk }
  if (recorded === null) return { ...repair, outcome: usable ? 'adopted' : 'lost' }
  if (missing.has(recorded)) return { ...repair, outcome: 'lost' }
  // The disk is behind the acknowledged commit, or has no ref. The commit exists, so the ref goes back to it.
  if (usable === null || (await isAncestor(path, usable, recorded))) return { ...repair, outcome: 'restored' }
  return { ...repair, outcome: 'adopted' }
}

async function settle(db: Database, storage: Storage, repo_id: number, repairs: Repair[], missing: Set<string>) {
  const usable = ({ disk_sha }: Repair) => (disk_sha !== null && !missing.has(disk_sha) ? disk_sha : null)
  const broken = repairs.filter((repair) => repair.disk_sha !== null && usable(repair) === null)
  await storage.dropRefs(
    repo_id,
    broken.map(({ ref }) => ref),
  )
  const restored = repairs.filter(({ outcome }) => outcome === 'restored')
  const moves = restored.map((repair) => ({
    ref: repair.ref,
    before: usable(repair) ?? noObject,
    after: repair.recorded_sha ?? noObject,
  }))
  if (moves.length) await storage.moveRefs(repo_id, moves)
  await storage.sync(
    repo_id,
    repairs.map(({ ref }) => ref),
  )
  await db.transaction((transaction) => record(transaction, repo_id, repairs, usable))
}

async function record(db: Transaction, repo_id: number, repairs: Repair[], usable: (repair: Repair) => string | null) {
  const held = await db.query(sql`select from repositories where id = ${repo_id} for no key update`)
  if (!held.rowCount) return
  const taken = repairs.filter(({ outcome }) => outcome !== 'restored')
  const rows = JSON.stringify(taken.map((repair) => ({ ...repair, sha: usable(repair) })))
  // Only rows that did not change since they were read, because a push may have recorded its refs.
  await db.query(sql`
    delete from refs using jsonb_to_recordset(${rows}::jsonb) as repair (ref text, recorded_sha text, sha text)
    where refs.repo_id = ${repo_id} and refs.name = repair.ref and refs.sha = repair.recorded_sha and repair.sha is null`)
  await db.query(sql`
    update refs set sha = repair.sha from jsonb_to_recordset(${rows}::jsonb) as repair (ref text, recorded_sha text, sha text)
    where refs.repo_id = ${repo_id} and refs.name = repair.ref and refs.sha = repair.recorded_sha and repair.sha is not null`)
  await db.query(sql`
    insert into refs (repo_id, name, sha)
    select ${repo_id}, ref, sha from jsonb_to_recordset(${rows}::jsonb) as repair (ref text, recorded_sha text, sha text)
    where recorded_sha is null and sha is not null on conflict do nothing`)
  await db.query(sql`
    insert into ref_repairs (repo_id, ref, recorded_sha, disk_sha, outcome, found_at)
    select ${repo_id}, repair.*, ${db.now} from jsonb_to_recordset(${JSON.stringify(repairs)}::jsonb)
      as repair (ref text, recorded_sha text, disk_sha text, outcome text)`)
  await enqueueDescription(db, repo_id)
}
