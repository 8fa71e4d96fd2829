import { findMembership } from '#hosting/organizations/organizations.ts'
import { type Account, accountColumns } from '#identity/accounts.ts'
import { loadRecords } from '#parts/timelines/records.ts'
import { readTimeline, type Timeline, timelines, type View } from '#parts/timelines/timelines.ts'
import { type Database, type Queryable, sql } from '#platform/database.ts'
import type { Vault } from '#platform/vault.ts'
import type { Variant } from '#variants.ts'
import type { FeedDocument } from './atom.ts'
import { entryOf } from './entries.ts'
import { opensFeeds } from './keys.ts'

/** What an address names. */
export type Place =
  | { of: 'everyone' }
  /** What someone does in public, or what happens in public in an organization. */
  | { of: 'public'; login: string }
  /** What someone receives, and what they do, in private too. */
  | { of: 'received' | 'actor'; login: string }
  /** A member's dashboard of an organization. */
  | { of: 'organization'; login: string; org: string }

export function pathOf(place: Place): string {
  switch (place.of) {
    case 'everyone':
      return '/timeline'
    case 'public':
      return `/${place.login}`
    case 'received':
      return `/${place.login}.private`
    case 'actor':
      return `/${place.login}.private.actor`
    case 'organization':
      return `/organizations/${place.org}/${place.login}.private`
  }
}

/** Reads the last part of an address: a login, what is wanted of it, and whether as Atom whatever the client says it takes. */
export function readPlace(name: string, org?: string): { place: Place; atom: boolean } | undefined {
  const [, login, hidden, suffix] = /^([a-z\d-]{1,39})(\.private(?:\.actor)?)?(\.atom)?$/i.exec(name) ?? []
  if (login === undefined || /[^a-z\d-]/i.test(org ?? '')) return undefined
  if (org !== undefined) return hidden === '.private' ? { place: { of: 'organization', login, org }, atom: true } : undefined
  if (hidden === undefined) return { place: { of: 'public', login }, atom: suffix !== undefined }
  return { place: { of: hidden === '.private' ? 'received' : 'actor', login }, atom: true }
}

/** A feed that is there, and open to whoever asks. */
export interface Feed extends Omit<FeedDocument, 'entries' | 'updated_at'> {
  /** Whom it is about; null for everyone. */
  account: Account | null
  timeline: Timeline
  view: View
}

interface Resources {
  db: Database
  vault: Vault
}

/** Undefined when there is no such feed, for anyone or for the holder of this token. */
export async function findFeed(
  { db, vault }: Resources,
  { events }: Variant,
  place: Place,
  token: string | null,
): Promise<Feed | undefined> {
  const now = db.now.getTime()
  const view: View = { sight: null, since: new Date(now - events.days * 86_400_000), until: null }
  if (place.of === 'everyone') {
    const until = events.public_delay ? new Date(now - events.public_delay * 1000) : null
    const path = pathOf(place)
    const title = 'Belfry public timeline'
    return { title, path, page: path, token: null, account: null, timeline: timelines.everyone(), view: { ...view, until } }
  }
  const account = await findAccount(db, place.login)
  if (!account) return undefined
  if (place.of === 'public') {
    const path = pathOf({ ...place, login: account.login })
    const timeline = account.type === 'User' ? timelines.actor(account) : timelines.organization(account)
    return { title: `Public activity of ${account.login}`, path, page: path, token: null, account, timeline, view }
  }
  if (account.type !== 'User' || token === null || !(await opensFeeds(db, vault, account, token))) return undefined
  return findPrivateFeed(db, place, account, token, { ...view, sight: { viewer_id: account.id, sees_private: true } })
}

async function findPrivateFeed(
  db: Queryable,
  place: Exclude<Place, { of: 'everyone' | 'public' }>,
  user: Account,
  token: string,
  view: View,
): Promise<Feed | undefined> {
  const { login } = user
  const page = `/${login}`
  if (place.of !== 'organization') {
    const [title, timeline] =
      place.of === 'received'
        ? [`Private feed for ${login}`, timelines.received(user)]
        : [`Private activity of ${login}`, timelines.actor(user)]
    return { title, path: pathOf({ ...place, login }), page, token, account: user, timeline, view }
  }
  const org = await findAccount(db, place.org)
  if (org?.type !== 'Organization' || !(await findMembership(db, org, user))) return undefined
  const path = pathOf({ of: 'organization', login, org: org.login })
  const title = `Private feed for ${login} of ${org.login}`
  return { title, path, page: `/${org.login}`, token, account: org, timeline: timelines.organization(org), view }
}

/** Whoever is suspended has no feeds, and no page. */
function findAccount(db: Queryable, login: string): Promise<Account | undefined> {
  return db.first(sql`select ${accountColumns} from accounts a where lower(a.login) = lower(${login}) and a.suspended_at is null`)
}

/** As many as readers of the public service get. */
const mostEntries = 30

export async function readFeed(db: Database, feed: Feed, web: string): Promise<FeedDocument> {
  const { rows } = await readTimeline(db, feed.timeline, feed.view, { limit: mostEntries, offset: 0 })
  const records = await loadRecords(db, rows)
  const { title, path, page, token } = feed
  const updated_at = rows[0]?.created_at ?? feed.account?.created_at ?? (await findBeginning(db))
  return { title, path, page, token, updated_at, entries: records.map((record) => entryOf(record, web)) }
}

/** When the first account was made: nothing has happened since, as far as a feed without entries knows. */
async function findBeginning(db: Queryable): Promise<Date> {
  const first = await db.first<{ created_at: Date }>(sql`select created_at from accounts order by id limit 1`)
  return first?.created_at ?? db.now
}
