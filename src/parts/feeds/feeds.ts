import type { Belfry } from '#belfry.ts'
import { findMembership } from '#hosting/organizations/organizations.ts'
import { type Account, accountColumns } from '#identity/accounts.ts'
import { anonymous } from '#identity/callers.ts'
import { loadRecords } from '#parts/timelines/records.ts'
import { readTimeline, type Timeline, timelines, type View } from '#parts/timelines/timelines.ts'
import { topicsOf } from '#parts/timelines/topics.ts'
import { type Database, type Queryable, sql } from '#platform/database.ts'
import type { Variant } from '#variants.ts'
import type { FeedDocument } from './atom.ts'
import { entryOf } from './entries.ts'
import { isFeedToken } from './keys.ts'

export type FeedAddress =
  | { kind: 'everyone' }
  /** Public events by a user, or of an organization. */
  | { kind: 'public'; login: string }
  /** Events that a user receives, or that they cause; private ones included. */
  | { kind: 'received' | 'actor'; login: string }
  /** A member's dashboard of an organization. */
  | { kind: 'organization'; login: string; org: string }

export function feedPath(address: FeedAddress): string {
  switch (address.kind) {
    case 'everyone':
      return '/timeline'
    case 'public':
      return `/${address.login}`
    case 'received':
      return `/${address.login}.private`
    case 'actor':
      return `/${address.login}.private.actor`
    case 'organization':
      return `/organizations/${address.org}/${address.login}.private`
  }
}

/** Parses the last segment of a path. `atom` is true if the feed is Atom whatever the Accept header says. */
export function parseFeedAddress(name: string, org?: string): { address: FeedAddress; atom: boolean } | undefined {
  const [, login, hidden, suffix] = /^([a-z\d-]{1,39})(\.private(?:\.actor)?)?(\.atom)?$/i.exec(name) ?? []
  if (login === undefined || /[^a-z\d-]/i.test(org ?? '')) return undefined
  if (org !== undefined) return hidden === '.private' ? { address: { kind: 'organization', login, org }, atom: true } : undefined
  if (hidden === undefined) return { address: { kind: 'public', login }, atom: suffix !== undefined }
  return { address: { kind: hidden === '.private' ? 'received' : 'actor', login }, atom: true }
}

/** A feed that exists and that the caller may read. */
export interface Feed extends Omit<FeedDocument, 'entries' | 'updated_at'> {
  /** Null for the public timeline. */
  account: Account | null
  timeline: Timeline
  view: View
}

/** Undefined if the feed does not exist or the token does not open it. */
export async function findFeed(
  { db, vault }: Pick<Belfry, 'db' | 'vault'>,
  { events }: Variant,
  address: FeedAddress,
  token: string | null,
): Promise<Feed | undefined> {
  const now = db.now.getTime()
  const view: View = { viewer: null, since: new Date(now - events.days * 86_400_000), until: null }
  if (address.kind === 'everyone') {
    const until = events.public_delay ? new Date(now - events.public_delay * 1000) : null
    const path = feedPath(address)
    const title = 'Belfry public timeline'
    return { title, path, page: path, token: null, account: null, timeline: timelines.everyone(), view: { ...view, until } }
  }
  const account = await findAccount(db, address.login)
  if (!account) return undefined
  if (address.kind === 'public') {
    const path = feedPath({ ...address, login: account.login })
    const timeline = account.type === 'User' ? timelines.actor(account) : timelines.organization(account)
    return { title: `Public activity of ${account.login}`, path, page: path, token: null, account, timeline, view }
  }
  if (account.type !== 'User' || token === null || !(await isFeedToken(db, vault, account, token))) return undefined
  return findPrivateFeed(db, address, account, token, { ...view, viewer: { viewer_id: account.id, sees_private: true } })
}

async function findPrivateFeed(
  db: Queryable,
  address: Exclude<FeedAddress, { kind: 'everyone' | 'public' }>,
  user: Account,
  token: string,
  view: View,
): Promise<Feed | undefined> {
  const { login } = user
  const page = `/${login}`
  if (address.kind !== 'organization') {
    const [title, timeline] =
      address.kind === 'received'
        ? [`Private feed for ${login}`, timelines.received(user)]
        : [`Private activity of ${login}`, timelines.actor(user)]
    return { title, path: feedPath({ ...address, login }), page, token, account: user, timeline, view }
  }
  const org = await findAccount(db, address.org)
  if (org?.type !== 'Organization' || !(await findMembership(db, org, user))) return undefined
  const path = feedPath({ kind: 'organization', login, org: org.login })
  const title = `Private feed for ${login} of ${org.login}`
  return { title, path, page: `/${org.login}`, token, account: org, timeline: timelines.organization(org), view }
}

/** A suspended account has no feeds and no page. */
function findAccount(db: Queryable, login: string): Promise<Account | undefined> {
  return db.first(sql`select ${accountColumns} from accounts a where lower(a.login) = lower(${login}) and a.suspended_at is null`)
}

/** As on the public service. */
const maxEntries = 30

/** The entries of a feed, and what they depend on. */
export async function readFeed(db: Database, feed: Feed, web: string) {
  const found = await readTimeline(db, feed.timeline, feed.view, { limit: maxEntries, offset: 0 })
  const { rows } = found
  const records = await loadRecords(db, rows)
  const { title, path, page, token } = feed
  const updated_at = rows[0]?.created_at ?? feed.account?.created_at ?? (await findFirstDate(db))
  const document: FeedDocument = { title, path, page, token, updated_at, entries: records.map((record) => entryOf(record, web)) }
  return { document, topics: topicsOf(feed.timeline, feed.view, feed.view.viewer ?? anonymous, found) }
}

/** The date of a feed without entries: when the first account was created. */
async function findFirstDate(db: Queryable): Promise<Date> {
  const first = await db.first<{ created_at: Date }>(sql`select created_at from accounts order by id limit 1`)
  return first?.created_at ?? db.now
}
