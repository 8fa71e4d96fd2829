import { Address, NullableTimestamp, Timestamp, timestamp, type Wire } from '#http/serialization.ts'
import type { Account } from '#identity/accounts.ts'
import { type Static, Type } from '#platform/schema.ts'
import { feedPath } from './feeds.ts'
import type { FeedKey } from './keys.ts'

const LinkSchema = Type.Object({ href: Address, type: Type.String() })

const Links = Type.Object({
  timeline: LinkSchema,
  user: LinkSchema,
  current_user_public: Type.Optional(LinkSchema),
  current_user: Type.Optional(LinkSchema),
  current_user_actor: Type.Optional(LinkSchema),
  current_user_organization: Type.Optional(LinkSchema),
  current_user_organizations: Type.Optional(Type.Array(LinkSchema)),
})

const privateUrls = {
  current_user_url: Address,
  current_user_actor_url: Address,
  current_user_organization_urls: Type.Array(Address),
}

export const FeedList = Type.Object(
  {
    timeline_url: Address,
    user_url: Address,
    current_user_public_url: Type.Optional(Address),
    current_user_url: Type.Optional(Address),
    current_user_actor_url: Type.Optional(Address),
    current_user_organization_url: Type.Optional(Address),
    current_user_organization_urls: Type.Optional(Type.Array(Address)),
    // The spec has a list of one object; the public documentation, and clients generated from it, have the object.
    _links: Type.Unsafe<Static<typeof Links> | Static<typeof Links>[]>({ ...Links, type: ['array', 'object'], items: Links }),
  },
  { title: 'FeedList' },
)

/** A user with a token for their private feeds, and the organizations they have a feed of. */
export interface PrivateFeeds {
  user: Account
  token: string
  organizations: Pick<Account, 'login'>[]
}

export function feedUrls({ user: { login }, token, organizations }: PrivateFeeds, web: string) {
  const query = `?token=${token}`
  return {
    current_user_url: `${web}${feedPath({ kind: 'received', login })}${query}`,
    current_user_actor_url: `${web}${feedPath({ kind: 'actor', login })}${query}`,
    current_user_organization_urls: organizations.map(
      (org) => `${web}${feedPath({ kind: 'organization', login, org: org.login })}.atom${query}`,
    ),
  }
}

export function feedListJson(
  viewer: Account | null,
  feeds: PrivateFeeds | null,
  web: string,
  plain: boolean,
): Static<typeof FeedList> {
  const addresses = {
    timeline_url: `${web}${feedPath({ kind: 'everyone' })}`,
    user_url: `${web}/{user}`,
    ...(viewer && { current_user_public_url: `${web}/${viewer.login}` }),
    ...(feeds && withFirstOrganization(feedUrls(feeds, web))),
  }
  const links = Object.fromEntries(
    Object.entries(addresses).map(([name, found]) => [
      name.replace(/_url(s?)$/, '$1'),
      Array.isArray(found) ? found.map(link) : link(found),
    ]),
  ) as Static<typeof Links>
  return { ...addresses, _links: plain ? links : [links] }
}

/** The first organization's feed; empty for a caller without an organization, because the field is a string. */
const withFirstOrganization = (urls: ReturnType<typeof feedUrls>) => ({
  ...urls,
  current_user_organization_url: urls.current_user_organization_urls[0] ?? '',
})

/** An empty address has no type, as in the public documentation. */
const link = (href: string) => ({ href, type: href && 'application/atom+xml' })

const key = {
  id: Type.Integer(),
  name: Type.String(),
  token_last_eight: Type.String(),
  created_at: Timestamp,
  last_used_at: NullableTimestamp,
  url: Address,
}

export const FeedKeySchema = Type.Object(key, { title: 'FeedKey' })

export function feedKeyJson(row: FeedKey, wire: Wire): Static<typeof FeedKeySchema> {
  return {
    id: row.id,
    name: row.name,
    token_last_eight: row.last_eight,
    created_at: timestamp(row.created_at),
    last_used_at: row.last_used_at && timestamp(row.last_used_at),
    url: `${wire.api}/user/feed_keys/${row.id}`,
  }
}

/** The response to creating a key, the only one with its token. */
export const NewFeedKey = Type.Object({ ...key, token: Type.String(), ...privateUrls }, { title: 'NewFeedKey' })
