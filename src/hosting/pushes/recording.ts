import type { Act } from '#activity/acts.ts'
import type { DeliveredPush, Facts } from '#activity/facts.ts'
import { hasSubscribers } from '#activity/outbox/subscribed-hooks.ts'
import { publish } from '#activity/publish.ts'
import { noObject } from '#git/objects.ts'
import type { Storage } from '#git/storage.ts'
import { type PushedHead, requestSuites } from '#hosting/checks/request-suites.ts'
import { lockMerged, markMerged } from '#hosting/pulls/merged.ts'
import { enqueueFollowers } from '#hosting/pulls/queue.ts'
import { lockRetargeted } from '#hosting/pulls/retargeting.ts'
import { enqueueDescription } from '#hosting/repositories/queue.ts'
import { type Database, sql, type Transaction } from '#platform/database.ts'
import { enqueue } from '#platform/queue.ts'
import { type Brought, describeMove, describeTogether } from './commits.ts'
import { endCorrections } from './import-refs.ts'
import { newBudget, readBriefDeliveries, readDelivery } from './pushed-commits.ts'
import type { Move, OpenPush } from './ref-moves.ts'
import { recordRenames, renamesOf } from './renames.ts'

const branches = 'refs/heads/'
const tags = 'refs/tags/'

type DescribedMove = Move & {
  brought?: Brought
  /** Only when a hook subscribed to pushes before the transaction. */
  delivery?: DeliveredPush
}

/** How many moves are read one by one, with some git processes each; a few git processes read all others together. */
const mostSingly = 20

/** Reads the commits of each move from git. Other branches are taken as they were before the move. */
export async function describeMoves(db: Database, storage: Storage, repo_id: number, moves: Move[]): Promise<DescribedMove[]> {
  const subscribed = moves.length > 0 && (await hasSubscribers(db, { id: repo_id }, 'push'))
  if (!subscribed && !moves.some(bringsCommits)) return moves
  const rows = await db.rows<{ name: string; sha: string }>(sql`
    select name, sha from refs where repo_id = ${repo_id} and name like ${`${branches}%`}`)
  const heads = new Map(rows.map(({ name, sha }) => [name, sha]))
  const deliverable = new Set(subscribed ? moves.filter(isDeliverableIn(moves)) : [])
  const budget = newBudget()
  const described: DescribedMove[] = []
  for (const move of moves.slice(0, mostSingly)) {
    heads.delete(move.ref)
    const [brought, delivery] = await Promise.all([
      bringsCommits(move) && describeMove(storage.pathOf(repo_id), move, heads.values()),
      deliverable.has(move) && readDelivery(db, storage, repo_id, move, { others: heads, budget }),
    ])
    described.push({ ...move, ...(brought && { brought }), ...(delivery && { delivery }) })
    if (move.ref.startsWith(branches) && move.after !== noObject) heads.set(move.ref, move.after)
  }
  const rest = moves.slice(mostSingly)
  const bringing = rest.filter(bringsCommits)
  const [brought, deliveries] = await Promise.all([
    describeTogether(storage.pathOf(repo_id), bringing, heads.values()),
    readBriefDeliveries(
      db,
      storage,
      repo_id,
      rest.filter((move) => deliverable.has(move)),
      budget,
    ),
  ])
  const broughtBy = new Map(bringing.map((move, index) => [move, brought[index]]))
  return [
    ...described,
    ...rest.map((move) => {
      const [commits, delivery] = [broughtBy.get(move), deliveries.get(move)]
      return { ...move, ...(commits && { brought: commits }), ...(delivery && { delivery }) }
    }),
  ]
}

function bringsCommits({ ref, before, after }: Move) {
  return after !== noObject && (ref.startsWith(branches) || (ref.startsWith(tags) && before !== noObject))
}

/** The recorded refs that open pushes name. A row's version changes with every write, even of the same value. */
export interface Known {
  names: string[]
  refs: Map<string, string>
  versions: Map<string, string>
}

export type PushRow = OpenPush & { version: string; server: string | null }

export interface Settlement {
  known: Known
  pushes: PushRow[]
  moves: DescribedMove[]
  heads: PushedHead[]
  size: number | undefined
}

/**
 * How many moves a transaction records. It locks the row of the repository while it writes payloads, which takes up to a millisecond for
 * each: for 5,000 branches, stars of the repository would wait until they are refused.
 */
const mostAtOnce = 200

/**
 * Records everything, unless the rows that it follows from have changed since they were read. Settlements of one repository take turns. What
 * follows from a move is in the transaction that records it; if a step fails, the push is open until the rest is recorded.
 */
export async function recordInSteps(
  db: Database,
  repo_id: number,
  settlement: Settlement,
): Promise<'recorded' | 'outdated' | 'deleted'> {
  for (let begin = 0; ; begin += mostAtOnce) {
    const step = {
      moves: settlement.moves.slice(begin, begin + mostAtOnce),
      is_last: begin + mostAtOnce >= settlement.moves.length,
    }
    const { outcome, left } = await db.transaction((transaction) => recordMoves(transaction, repo_id, settlement, step))
    if (outcome !== 'recorded' || step.is_last) return outcome
    for (const { id, commands, version } of left) {
      const push = settlement.pushes.find((each) => each.id === id)
      if (push) Object.assign(push, { commands, version })
    }
  }
}

interface Step {
  moves: DescribedMove[]
  is_last: boolean
}

interface Recorded {
  outcome: 'recorded' | 'outdated' | 'deleted'
  left: Pick<PushRow, 'id' | 'commands' | 'version'>[]
}

/** In one transaction. */
export async function recordMoves(
  db: Transaction,
  repo_id: number,
  settlement: Settlement,
  { moves, is_last }: Step = { moves: settlement.moves, is_last: true },
): Promise<Recorded> {
  await lockMerged(db, { id: repo_id }, moves)
  await lockRetargeted(db, repo_id, renamesOf(moves))
  const repo = await db.first<{ default_branch: string; description: string | null }>(sql`
    select default_branch, description from repositories where id = ${repo_id} for no key update`)
  if (!repo) return { outcome: 'deleted', left: [] }
  const { pushes, size } = settlement
  if (!(await isCurrent(db, repo_id, { ...settlement, moves }))) return { outcome: 'outdated', left: [] }
  const left = await closePushes(db, is_last ? pushes : pushes.map((push) => ({ ...push, over: false })), moves)
  if (!moves.length) return { outcome: 'recorded', left }
  await writeRefs(db, repo_id, moves)
  await endCorrections(db, repo_id)
  const current = await recordRenames(db, { id: repo_id, ...repo }, moves)
  const default_branch = await chooseDefault(db, repo_id, current, settlement.moves)
  await db.query(sql`
    update repositories set default_branch = ${default_branch}, pushed_at = ${db.now}, updated_at = ${db.now}, size = ${size}
    where id = ${repo_id}`)
  await recordLatest(db, repo_id, moves)
  const facts = { master_branch: default_branch, description: repo.description }
  const isDeliverable = isDeliverableIn(settlement.moves)
  for (const group of byPush(moves)) {
    const acts = group.flatMap((move) => actsOf(move, { ...facts, in_bulk: !isDeliverable(move) }))
    await publish(db, { id: group[0].push.pusher_id }, { id: repo_id }, ...acts)
  }
  const recorded = new Set(moves.map(({ ref, after }) => `${ref} ${after}`))
  await requestSuites(
    db,
    { id: repo_id },
    settlement.heads.filter(({ ref, after }) => recorded.has(`${ref} ${after}`)),
  )
  await markMerged(db, { id: repo_id }, moves)
  await enqueueFollowers(db, repo_id, moves)
  if (default_branch !== repo.default_branch) await enqueue(db, 'point_head', { repo_id })
  if (moves.some(({ ref }) => ref === branches + default_branch)) await enqueueDescription(db, repo_id)
  await enqueue(db, 'maintain_repository', { repo_id }, { key: `maintain ${repo_id}`, minutes: 5 })
  return { outcome: 'recorded', left }
}

async function isCurrent(db: Transaction, repo_id: number, { known, pushes, moves }: Settlement) {
  const names = [...new Set(moves.map(({ ref }) => ref))]
  const rows = await db.rows<{ name: string; version: string }>(sql`
    select name, xmin::text as version from refs where repo_id = ${repo_id} and name = any(${names})`)
  const versions = new Map(rows.map(({ name, version }) => [name, version]))
  if (names.some((name) => versions.get(name) !== known.versions.get(name))) return false
  const movers = new Set(moves.map(({ push }) => push.id))
  const open = await db.rows<{ id: number; version: string }>(sql`
    select id, xmin::text as version from pushes where id = any(${[...movers]})`)
  return pushes
    .filter(({ id }) => movers.has(id))
    .every((push) => open.some(({ id, version }) => id === push.id && version === push.version))
}

/**
 * Removes the recorded moves from their pushes, so that nothing is recorded twice. A push that is over, or has no moves left, is deleted.
 * Returns the others.
 */
async function closePushes(db: Transaction, pushes: PushRow[], moves: Move[]): Promise<Recorded['left']> {
  const taken = new Set(moves.map(({ command }) => command))
  const touched = new Set(moves.map(({ push }) => push.id))
  const left = pushes
    .filter(({ id, over }) => over || touched.has(id))
    .map(({ id, over, commands }) => ({ id, commands: over ? [] : commands.filter((command) => !taken.has(command)) }))
  const [done, open] = [left.filter(({ commands }) => !commands.length), left.filter(({ commands }) => commands.length)]
  await db.query(sql`delete from pushes where id = any(${done.map(({ id }) => id)})`)
  if (!open.length) return []
  const versions = await db.rows<{ id: number; version: string }>(sql`
    update pushes set commands = rest.commands
    from jsonb_to_recordset(${JSON.stringify(open)}::jsonb) as rest (id bigint, commands jsonb) where pushes.id = rest.id
    returning pushes.id, pushes.xmin::text as version`)
  return open.map((push) => ({ ...push, version: versions.find(({ id }) => id === push.id)?.version ?? '' }))
}

async function writeRefs(db: Transaction, repo_id: number, moves: Move[]) {
  const ends = [...new Map(moves.map(({ ref, after }) => [ref, after]))]
  const there = ends.filter(([, sha]) => sha !== noObject)
  const gone = ends.filter(([, sha]) => sha === noObject)
  await db.query(sql`delete from refs where repo_id = ${repo_id} and name = any(${gone.map(([name]) => name)})`)
  await db.query(sql`
    insert into refs (repo_id, name, sha)
    select ${repo_id}, * from unnest(${there.map(([name]) => name)}::text[], ${there.map(([, sha]) => sha)}::text[])
    on conflict (repo_id, name) do update set sha = excluded.sha`)
}

/** If the default branch does not exist, the first pushed branch becomes it; of several, one with a usual name, recorded yet or not. */
async function chooseDefault(db: Transaction, repo_id: number, current: string, moves: Move[]) {
  const ends = new Map(moves.map(({ ref, after }) => [ref, after]))
  const there = ends.has(branches + current)
    ? ends.get(branches + current) !== noObject
    : (await db.query(sql`select from refs where repo_id = ${repo_id} and name = ${branches + current}`)).rowCount
  if (there) return current
  const made = moves.filter((move) => isBranchMade(move) && ends.get(move.ref) !== noObject)
  const names = new Set(made.map(({ ref }) => shortOf(ref)))
  const [first] = names
  return ['main', 'master'].find((usual) => names.has(usual)) ?? first ?? current
}

function isBranchMade({ ref, before, after }: Move) {
  return ref.startsWith(branches) && before === noObject && after !== noObject
}

/** For tests of webhooks, which send the latest push again. */
async function recordLatest(db: Transaction, repo_id: number, moves: DescribedMove[]) {
  const last = moves.findLast(typeOf)
  if (!last) return
  const { ref, before, after, push, brought } = last
  await db.query(sql`
    insert into latest_pushes (repo_id, pusher_id, ref, before, after, size, pushed_at)
    values (${repo_id}, ${push.pusher_id}, ${ref}, ${before}, ${after}, ${brought?.size ?? 0}, ${db.now})
    on conflict (repo_id) do update set pusher_id = excluded.pusher_id, ref = excluded.ref, before = excluded.before,
      after = excluded.after, size = excluded.size, pushed_at = excluded.pushed_at`)
}

/** Groups moves by push, in order. */
function byPush(moves: DescribedMove[]) {
  const groups: [DescribedMove, ...DescribedMove[]][] = []
  for (const move of moves) {
    const last = groups.at(-1)
    if (last?.[0].push.id === move.push.id) last.push(move)
    else groups.push([move])
  }
  return groups
}

/** A new ref is created, and then pushed to if it brings commits. Refs other than branches and tags have no acts. */
function actsOf(move: DescribedMove, facts: Pick<Facts, 'master_branch' | 'description' | 'in_bulk'>): Act[] {
  const { ref, before, after: head, push, brought, delivery } = move
  const ref_type = typeOf(move)
  if (!ref_type) return []
  const named = { ref: shortOf(ref), ref_type, ...facts }
  const bare: Act[] = delivery ? [{ act: 'push.without_commits', delivery }] : []
  if (head === noObject) return [{ act: `${ref_type}.deleted`, ...named }, ...bare]
  const created: Act[] = before === noObject ? [{ act: `${ref_type}.created`, ...named }] : []
  if (!brought || (created.length && !brought.size)) return [...created, ...bare]
  return [...created, { act: 'push.with_commits', push_id: push.id, ref, head, before, ...brought, delivery }]
}

/** Hooks get no deliveries for tags when a push moves more than three, nor for branches when it moves more than 5,000. */
function isDeliverableIn(moves: Move[]): (move: Move) => boolean {
  const counts = new Map<string, number>()
  const groupOf = ({ ref, push }: Move) => `${push.id} ${ref.startsWith(tags)}`
  for (const move of moves) if (typeOf(move)) counts.set(groupOf(move), (counts.get(groupOf(move)) ?? 0) + 1)
  return (move) => {
    const type = typeOf(move)
    return type !== undefined && (counts.get(groupOf(move)) ?? 0) <= (type === 'tag' ? 3 : 5000)
  }
}

function typeOf({ ref }: Move): 'branch' | 'tag' | undefined {
  return ref.startsWith(branches) ? 'branch' : ref.startsWith(tags) ? 'tag' : undefined
}

function shortOf(ref: string) {
  return ref.slice(ref.startsWith(branches) ? branches.length : tags.length)
}
