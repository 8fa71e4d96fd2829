import type { Act } from '#activity/acts.ts'
import { publish } from '#activity/publish.ts'
import { findRef, noObject, resolveCommit } from '#git/objects.ts'
import { isRefName } from '#git/ref-names.ts'
import type { Storage } from '#git/storage.ts'
import { changesOf } from '#hosting/payloads/edited-fields.ts'
import { catchUp, pushRefs } from '#hosting/pushes/pushes.ts'
import { type ReactionCounts, reactionCounts } from '#hosting/reactions/reactions.ts'
import { keptId } from '#hosting/repositories/deletion-lock.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import type { Account } from '#identity/accounts.ts'
import { type Database, ifDuplicate, type Queryable, type Sql, sql, type Transaction } from '#platform/database.ts'
import { invalid, Refusal } from '#platform/errors.ts'
import { type Listed, listed, type Slice } from '#platform/listed.ts'
import { type Asset, assetsOf } from './assets/assets.ts'

export interface Release {
  id: number
  repo_id: number
  author_id: number
  author_login: string
  author_type: Account['type']
  author_site_admin: boolean
  tag_name: string
  target_commitish: string
  name: string | null
  body: string | null
  draft: boolean
  prerelease: boolean
  /** Undefined in events, which show texts as they were. */
  reactions?: ReactionCounts
  created_at: Date
  published_at: Date | null
  assets: Asset[]
}

/** A release whose author's account was deleted is shown as the ghost's. */
const columns = sql`e.*, coalesce(a.id, 0) as author_id, coalesce(a.login, 'ghost') as author_login, coalesce(a.type, 'User') as author_type,
  coalesce(a.site_admin, false) as author_site_admin, ${assetsOf(sql`e.id`, sql`e.tag_name`)} as assets,
  ${reactionCounts('release_id', sql`e.id`)} as reactions`
const source = sql`releases e left join accounts a on a.id = e.author_id`

/** Releases by id, without a check of access: the caller has checked it. */
export function loadReleases(db: Queryable, ids: number[]): Promise<Release[]> {
  return db.rows(sql`select ${columns} from ${source} where e.id = any(${ids})`)
}

/** Newest first. Drafts need push access. */
export function listReleases(db: Queryable, repo: Repository, sees_drafts: boolean, slice: Slice): Promise<Listed<Release>> {
  const seen = sql`${source} where e.repo_id = ${repo.id} and (not e.draft or ${sees_drafts}::boolean)`
  return listed(db, { columns, source: seen, order: sql`e.created_at desc, e.id desc` }, slice)
}

export function loadRelease(db: Queryable, repo: Repository, id: number, sees_drafts: boolean): Promise<Release> {
  return one(db, sql`e.repo_id = ${repo.id} and e.id = ${id} and (not e.draft or ${sees_drafts}::boolean)`)
}

export function loadReleaseByTag(db: Queryable, repo: Repository, tag_name: string): Promise<Release> {
  return one(db, sql`e.repo_id = ${repo.id} and e.tag_name = ${tag_name} and not e.draft`)
}

export function loadLatestRelease(db: Queryable, repo: Repository): Promise<Release> {
  return one(db, sql`e.repo_id = ${repo.id} and not e.draft and not e.prerelease order by e.published_at desc, e.id desc limit 1`)
}

/** The id of the release that pages mark as the latest. */
export async function findLatestId(db: Queryable, repo: Repository): Promise<number | undefined> {
  const found = await db.first<{ id: number }>(sql`
    select id from releases where repo_id = ${repo.id} and not draft and not prerelease order by published_at desc, id desc limit 1`)
  return found?.id
}

/** The release of a tag as a page shows it: the published one, or the newest draft for those who see drafts. */
export async function findReleaseByTag(
  db: Queryable,
  repo: Repository,
  tag_name: string,
  sees_drafts: boolean,
): Promise<Release | undefined> {
  return db.first<Release>(sql`
    select ${columns} from ${source}
    where e.repo_id = ${repo.id} and e.tag_name = ${tag_name} and (not e.draft or ${sees_drafts}::boolean)
    order by e.draft, e.id desc limit 1`)
}

/** The tag of the published release before this one. */
export async function findPreviousTag(db: Queryable, { id, repo_id, created_at }: Release): Promise<string | undefined> {
  const found = await db.first<{ tag_name: string }>(sql`
    select tag_name from releases where repo_id = ${repo_id} and not draft and (created_at, id) < (${created_at}, ${id})
    order by created_at desc, id desc limit 1`)
  return found?.tag_name
}

/** Which of these tags have a published release. */
export async function findReleasedTags(db: Queryable, repo: Repository, tags: string[]): Promise<Set<string>> {
  const rows = await db.rows<{ tag_name: string }>(sql`
    select tag_name from releases where repo_id = ${repo.id} and not draft and tag_name = any(${tags})`)
  return new Set(rows.map(({ tag_name }) => tag_name))
}

async function one(db: Queryable, condition: Sql): Promise<Release> {
  return db.load<Release>(sql`select ${columns} from ${source} where ${condition}`)
}

export interface ReleaseChanges {
  tag_name?: string
  target_commitish?: string
  name?: string | null
  body?: string | null
  draft?: boolean
  prerelease?: boolean
}

export async function createRelease(
  db: Database,
  storage: Storage,
  repo: Repository,
  author: Account,
  wanted: ReleaseChanges & { tag_name: string },
): Promise<Release> {
  const { tag_name, target_commitish = repo.default_branch, draft = false } = wanted
  checkTagName(tag_name)
  if (!draft) await settleTag(db, storage, repo, author, { tag_name, target_commitish })
  return db.transaction(async (transaction) => {
    const { id } = await transaction
      .load<{ id: number }>(sql`
      insert into releases (repo_id, author_id, tag_name, target_commitish, name, body, draft, prerelease, created_at, published_at)
      values (${repo.id}, ${author.id}, ${tag_name}, ${target_commitish}, ${wanted.name ?? null}, ${wanted.body ?? null}, ${draft},
        ${wanted.prerelease ?? false}, ${transaction.now}, ${draft ? null : transaction.now})
      returning id`)
      .catch(taken)
    const made = await one(transaction, sql`e.id = ${id}`)
    const created: Act = { act: 'release.created', release_id: id }
    await publish(transaction, author, repo, created, ...(draft ? [] : publications(made)))
    return made
  })
}

/** Changes the given fields only. Setting `draft` to false publishes the release. */
export async function updateRelease(
  db: Database,
  storage: Storage,
  repo: Repository,
  editor: Account,
  release: Release,
  changes: ReleaseChanges,
): Promise<Release> {
  const wanted = { ...release, ...changes }
  checkTagName(wanted.tag_name)
  const settles = needsTag(release, wanted)
  if (settles) await settleTag(db, storage, repo, editor, { ...wanted, id: release.id })
  return db.transaction(async (transaction) => {
    const held = await transaction.load<Release>(
      sql`select * from releases where id = ${release.id} and repo_id = ${keptId(repo)} for update`,
    )
    const next = { ...held, ...changes }
    // A concurrent request changed the release after we created its tag.
    if (needsTag(held, next) && !(settles && next.tag_name === wanted.tag_name)) {
      throw new Refusal('conflict', 'The release was changed at the same moment. Please try again.')
    }
    const published_at = next.draft ? null : held.draft ? transaction.now : held.published_at
    await transaction
      .load<{ id: number }>(sql`
      update releases set tag_name = ${next.tag_name}, target_commitish = ${next.target_commitish}, name = ${next.name},
        body = ${next.body}, draft = ${next.draft}, prerelease = ${next.prerelease}, published_at = ${published_at}
      where id = ${held.id} returning id`)
      .catch(taken)
    await publish(transaction, editor, repo, ...editActs(held, next), ...stateActs(held, next))
    return one(transaction, sql`e.id = ${held.id}`)
  })
}

const needsTag = (before: Release, after: Release) => !after.draft && (before.draft || before.tag_name !== after.tag_name)

const details = ['name', 'body', 'tag_name', 'target_commitish', 'prerelease'] as const

function editActs(before: Release, after: Release): Act[] {
  if (details.every((field) => before[field] === after[field])) return []
  const changes = changesOf(before, after, 'name', 'body', 'tag_name') ?? {}
  return [{ act: 'release.edited', release_id: after.id, changes }]
}

function stateActs(before: Release, after: Release): Act[] {
  const { id: release_id, draft, prerelease } = after
  if (before.draft) return draft ? [] : publications(after)
  if (draft) return [{ act: 'release.unpublished', release_id }]
  return before.prerelease && !prerelease ? [{ act: 'release.released', release_id }] : []
}

const publications = ({ id: release_id, body, prerelease }: Release): Act[] => [
  { act: 'release.published', release_id, body },
  { act: prerelease ? 'release.prereleased' : 'release.released', release_id },
]

/** Its tag remains. */
export async function deleteRelease(db: Transaction, repo: Repository, deleter: Account, { id }: Release) {
  await db.load(sql`select id from releases where id = ${id} and repo_id = ${keptId(repo)} for update`)
  await publish(db, deleter, repo, { act: 'release.deleted', release_id: id })
  await db.query(sql`delete from releases where id = ${id}`)
}

function checkTagName(tag_name: string) {
  if (isRefName(`refs/tags/${tag_name}`)) return
  throw invalid({ resource: 'Release', code: 'invalid', field: 'tag_name', message: 'tag_name is not a valid tag' })
}

/** Creates a missing tag, unless another release has the name. */
async function settleTag(
  db: Database,
  storage: Storage,
  repo: Repository,
  pusher: Account,
  { id = 0, tag_name, target_commitish }: { id?: number; tag_name: string; target_commitish: string },
) {
  const taken = await db.query(sql`
    select from releases where repo_id = ${repo.id} and tag_name = ${tag_name} and not draft and id <> ${id}`)
  if (taken.rowCount) throw tagTaken()
  const ref = `refs/tags/${tag_name}`
  if (!(await findRef(storage, repo.id, ref))) await makeTag(db, storage, repo, pusher, ref, target_commitish)
  // The push that created the tag may not be recorded yet; its event must come before the release's.
  const made = await findRef(storage, repo.id, ref)
  if (made) await catchUp(db, storage, repo, [{ ref, before: made.sha, after: made.sha }])
}

async function makeTag(db: Database, storage: Storage, repo: Repository, pusher: Account, ref: string, target_commitish: string) {
  const target = await resolveCommit(storage, repo.id, target_commitish)
  if (!target) throw invalid({ resource: 'Release', code: 'invalid', field: 'target_commitish' })
  try {
    await pushRefs(db, storage, repo, pusher, [{ ref, before: noObject, after: target }])
  } catch (error) {
    // A concurrent request created the tag, which is all that we need.
    if (!(await findRef(storage, repo.id, ref))) throw error
  }
}

const tagTaken = () => invalid({ resource: 'Release', code: 'already_exists', field: 'tag_name' })

const taken = ifDuplicate(tagTaken)
