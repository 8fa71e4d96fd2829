import { resolve } from 'node:path'
import { noObject } from '#git/objects.ts'
import { checkDistinct } from '#git/ref-names.ts'
import { dropLeftovers } from '#git/repair.ts'
import type { Command, Storage } from '#git/storage.ts'
import { readPushedHeads } from '#hosting/checks/request-suites.ts'
import { checkPushRules } from '#hosting/protection/push-rules.ts'
import { enqueueDescription } from '#hosting/repositories/queue.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import type { Account } from '#identity/accounts.ts'
import { isDeleted } from '#identity/deletion.ts'
import { type Database, sql, type Transaction } from '#platform/database.ts'
import { type Timestamp, takeTimestamp } from '#platform/durable.ts'
import { Refusal } from '#platform/errors.ts'
import { type Logger, logFailure } from '#platform/log.ts'
import { hasEnded, isWorkedIn, processStart, thisServer } from '#platform/processes.ts'
import { describeMoves, type Known, type PushRow, recordInSteps } from './recording.ts'
import { findMoves, type Move } from './ref-moves.ts'

export type { Command }

/**
 * Records earlier moves if these commands start from commits that the log does not have, so that no move hides an earlier one. Call it
 * before beginPush.
 */
export async function catchUp(db: Database, storage: Storage, repo: { id: number }, commands: Command[]) {
  const unheard = await db.query(sql`
    select from jsonb_to_recordset(${JSON.stringify(commands)}::jsonb) as command (ref text, before text)
    left join refs on refs.repo_id = ${repo.id} and refs.name = command.ref
    where coalesce(refs.sha, ${noObject}) <> command.before limit 1`)
  if (unheard.rowCount) await settlePushes(db, storage, repo.id)
}

/** When each open push of this process began. Git changed nothing for it before that time. */
const beginnings = new Map<number, Timestamp>()

/** Writes who is about to move which refs, before git moves them. Returns the id of the push. */
export async function beginPush(db: Database, repo: { id: number }, pusher: { id: number }, commands: Command[]) {
  const since = takeTimestamp()
  const begun = await db.first<{ id: number }>(sql`
    insert into pushes (repo_id, pusher_id, commands, started_at, server)
    values (${repo.id}, ${pusher.id}, ${JSON.stringify(commands)}::jsonb, ${db.now}, ${thisServer}) returning id`)
  if (!begun) throw new Error('no push was begun')
  beginnings.set(begun.id, since)
  return begun.id
}

/**
 * Records moves that are on disk and not in the log. `ended` is a push that has ended: then only its refs are read, so that pushes to
 * different branches do not wait for each other. Safe to call at any time and any number of times. Returns false if the repository is
 * deleted.
 */
export async function settlePushes(db: Database, storage: Storage, repo_id: number, ended?: number): Promise<boolean> {
  try {
    for (;;) {
      const outcome = await settle(db, storage, repo_id, ended)
      if (outcome === 'nothing to record') return !(await isDeleted(db, { repo_ids: [repo_id] }))
      // Otherwise another process recorded some moves meanwhile.
      if (outcome !== 'outdated') return outcome === 'recorded'
    }
  } catch (error) {
    if (await isDeleted(db, { repo_ids: [repo_id] })) return false
    throw error
  } finally {
    if (ended !== undefined) beginnings.delete(ended)
  }
}

async function settle(db: Database, storage: Storage, repo_id: number, ended: number | undefined) {
  // The git process of an ended server may still move refs, so this is checked before the disk is read.
  const deserted = ended === undefined && !isWorkedIn(resolve(storage.pathOf(repo_id)))
  // The log is read before the disk, and the pushes after it. So each move on disk is either in the log or belongs to a listed push.
  const known = await readKnown(db, repo_id, ended)
  if (!known.names.length || !storage.has(repo_id)) return 'nothing to record'
  const disk = await storage.refsOf(repo_id, known.names)
  const pushes = await readPushes(db, repo_id, ended)
  const abandoned = deserted ? pushes.filter(({ over, server }) => !over && server !== null && hasEnded(server)) : []
  for (const push of abandoned) push.over = true
  for (const push of pushes) push.over ||= isForgotten(push)
  // A lock that a killed git left would block every later push.
  if (abandoned.length) await dropLeftovers(storage.pathOf(repo_id), processStart)
  const moves = findMoves(pushes, known.refs, disk, known.names)
  if (!moves.length && !pushes.some(({ over }) => over)) return 'nothing to record'
  // Moves are synced before they are recorded.
  if (moves.length) await storage.sync(repo_id, known.names, firstBeginning(moves))
  const described = await describeMoves(db, storage, repo_id, moves)
  const heads = await readPushedHeads(db, storage, { id: repo_id }, moves)
  const size = moves.length ? await storage.sizeOf(repo_id) : undefined
  return recordInSteps(db, repo_id, { known, pushes, moves: described, heads, size })
}

/**
 * Whether this process began the push and does not work on it: the database was away when its beginning was written and the answer was
 * lost, or when it ended. It is then older than any answer that is still to come.
 */
const isForgotten = ({ id, server, is_slow }: ListedPush) => is_slow && server === thisServer && !beginnings.has(id)

/** When the first of these pushes began; undefined if one began in another process. */
function firstBeginning(moves: Move[]): Timestamp | undefined {
  const begun = moves.map(({ push }) => beginnings.get(push.id))
  return begun.reduce((first, each) => (first && each && first.monotonic > each.monotonic ? each : each && first))
}

async function readKnown(db: Database, repo_id: number, ended: number | undefined): Promise<Known> {
  const rows = await db.rows<{ name: string; sha: string | null; version: string | null }>(sql`
    select named.name, refs.sha, refs.xmin::text as version
    from (select command->>'ref' as name, min(id) as push_id, min(place) as place
          from pushes, jsonb_array_elements(commands) with ordinality as listed (command, place)
          where repo_id = ${repo_id} and id = coalesce(${ended ?? null}, id) group by 1) named
    left join refs on refs.repo_id = ${repo_id} and refs.name = named.name order by push_id, place`)
  const there = rows.flatMap(({ name, sha, version }) => (sha && version ? [{ name, sha, version }] : []))
  return {
    names: rows.map(({ name }) => name),
    refs: new Map(there.map(({ name, sha }) => [name, sha])),
    versions: new Map(there.map(({ name, version }) => [name, version])),
  }
}

type ListedPush = PushRow & { is_slow: boolean }

/** A push is over after a day, because then no git process of a server that ended on another machine is still running. */
function readPushes(db: Database, repo_id: number, ended: number | undefined): Promise<ListedPush[]> {
  return db.rows(sql`
    select id, pusher_id, commands, server, xmin::text as version, started_at < ${db.now}::timestamptz - interval '1 minute' as is_slow,
      coalesce(id = ${ended ?? null}, started_at < ${db.now}::timestamptz - interval '1 day') as over
    from pushes where repo_id = ${repo_id} order by id`)
}

/** Records the open pushes of all repositories. Returns the repositories where that failed. */
export async function settleAll(db: Database, storage: Storage): Promise<{ repo_id: number; error: unknown }[]> {
  const failures: { repo_id: number; error: unknown }[] = []
  for (const { repo_id } of await db.rows<{ repo_id: number }>(sql`select distinct repo_id from pushes order by repo_id`)) {
    await settlePushes(db, storage, repo_id).catch((error) => failures.push({ repo_id, error }))
  }
  return failures
}

/** Records the pushes of this process that it does not work on any more. Only this process knows which these are. */
export async function settleForgotten(db: Database, storage: Storage) {
  const found = await db.rows<{ repo_id: number }>(sql`
    select distinct repo_id from pushes where server = ${thisServer} and id <> all(${[...beginnings.keys()]}::bigint[])
      and started_at < ${db.now}::timestamptz - interval '1 minute'`)
  for (const { repo_id } of found) await settlePushes(db, storage, repo_id)
}

/** Calls settleForgotten every minute, until it is disposed. */
export function startSettling(db: Database, storage: Storage, log: Logger): Disposable {
  const settle = () =>
    db
      .withBackgroundTimeouts(() => settleForgotten(db, storage))
      .catch((error) => logFailure(log, error, 'could not record a push; Belfry tries again every minute'))
  const timer = setInterval(settle, 60_000).unref()
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

/**
 * Records the refs of a new copy, which are not a push. Only before users can push to it; it replaces the refs of an interrupted attempt.
 */
export async function adoptRefs(db: Transaction, repo_id: number, refs: Map<string, string>) {
  await db.query(sql`delete from refs where repo_id = ${repo_id}`)
  await db.query(sql`
    insert into refs (repo_id, name, sha)
    select ${repo_id}, * from unnest(${[...refs.keys()]}::text[], ${[...refs.values()]}::text[])`)
  await enqueueDescription(db, repo_id)
}

/** Records refs that an import moved, which are not a push. Refs that a user has pushed since stay unchanged. Safe to repeat. */
export async function adoptMoves(db: Transaction, repo_id: number, moves: Command[]) {
  const encoded = JSON.stringify(moves)
  await db.query(sql`
    delete from refs using jsonb_to_recordset(${encoded}::jsonb) as move (ref text, before text, after text)
    where refs.repo_id = ${repo_id} and refs.name = move.ref and refs.sha = move.before and move.after = ${noObject}`)
  await db.query(sql`
    insert into refs (repo_id, name, sha)
    select ${repo_id}, ref, after from jsonb_to_recordset(${encoded}::jsonb) as move (ref text, before text, after text)
    where before = ${noObject} and after <> ${noObject} on conflict do nothing`)
  await db.query(sql`
    update refs set sha = move.after from jsonb_to_recordset(${encoded}::jsonb) as move (ref text, before text, after text)
    where refs.repo_id = ${repo_id} and refs.name = move.ref and refs.sha = move.before and move.after <> ${noObject}`)
  await enqueueDescription(db, repo_id)
}

/** Moves refs for a caller without git, all or none. Refuses when a ref is not at `before`, or is protected. */
export async function pushRefs(db: Database, storage: Storage, repo: Repository, pusher: Account, commands: Command[]) {
  if (!commands.length) return
  await checkDistinct(storage, repo.id, commands)
  await checkPushRules(db, storage, repo, pusher, commands)
  await catchUp(db, storage, repo, commands)
  const id = await beginPush(db, repo, pusher, commands)
  const failure = await storage.moveRefs(repo.id, commands).then(
    () => undefined,
    (error: Error) => error,
  )
  await settlePushes(db, storage, repo.id, id)
  if (!failure) return
  throw isConflict.test(failure.message)
    ? new Refusal('conflict', 'A ref has moved in the meantime. Look again, and try again.')
    : failure
}

/** Git's messages for a ref that moved, is missing, exists, conflicts with another name, or is locked. */
const isConflict =
  /but expected|unable to resolve reference|reference is missing|already exists|cannot create|cannot be created|Unable to create/
