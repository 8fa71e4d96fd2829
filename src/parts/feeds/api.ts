import type { Belfry } from '#belfry.ts'
import { listOrganizations } from '#hosting/organizations/organizations.ts'
import { created, del, type Group, get, group, paged, post } from '#http/endpoint.ts'
import { Nothing } from '#http/serialization.ts'
import type { Account } from '#identity/accounts.ts'
import type { Caller } from '#identity/callers.ts'
import type { Queryable } from '#platform/database.ts'
import { forbidden } from '#platform/errors.ts'
import { Type } from '#platform/schema.ts'
import { FeedKeySchema, FeedList, feedKeyJson, feedListJson, feedUrls, NewFeedKey, type PrivateFeeds } from './json.ts'
import { createFeedKey, deleteFeedKey, listFeedKeys, loadFeedKey, permanentToken } from './keys.ts'

/**
 * A private feed shows everything its owner sees, and outlives the token that asked for its URL. So the token must be classic, because users can
 * revoke an application's token, and must have the scope `repo`.
 */
const seesEverything = (caller: Caller) => (caller.token?.kind ?? 'classic') === 'classic' && caller.may('repo')

const allOrganizations = { limit: 1000, offset: 0 }

async function privateFeedsOf(db: Queryable, caller: Caller, user: Account, token: string): Promise<PrivateFeeds> {
  const { rows } = await listOrganizations(db, user, allOrganizations, !caller.may('read:org'))
  return { user, token, organizations: rows }
}

const keys = { permission: 'classic', scopes: ['user'] } as const

export const feedApi = ({ vault }: Belfry): Group =>
  group('Feeds', [
    get(
      '/feeds',
      {
        operation: 'activity/get-feeds',
        permission: 'any',
        summary: 'URLs of the Atom feeds; private ones for callers with Basic authentication only',
        viewer: 'optional',
        optional_scopes: ['read:org', 'repo'],
        answers: { 200: FeedList },
      },
      async ({ db, viewer, caller, wire, dialect }) => {
        const feeds =
          viewer && caller.basic && seesEverything(caller)
            ? await privateFeedsOf(db, caller, viewer, permanentToken(vault, viewer))
            : null
        return feedListJson(viewer, feeds, wire.web, dialect.brand === 'github')
      },
    ),
    get(
      '/user/feed_keys',
      {
        ...keys,
        operation: 'feeds/list-keys',
        summary: 'Keys of the viewer’s private feeds',
        list: true,
        answers: { 200: Type.Array(FeedKeySchema) },
      },
      async ({ db, viewer, page, wire }) => paged(await listFeedKeys(db, viewer, page), (row) => feedKeyJson(row, wire)),
    ),
    post(
      '/user/feed_keys',
      {
        ...keys,
        operation: 'feeds/create-key',
        summary:
          'Create a key for the viewer’s private feeds; the token is shown once, and the caller also needs the scope `repo`',
        body: Type.Object({ name: Type.String() }),
        answers: { 201: NewFeedKey },
      },
      async ({ db, viewer, caller, body, wire }) => {
        if (!seesEverything(caller)) throw forbidden("Missing the 'repo' scope.")
        const { key, token } = await createFeedKey(db, viewer, body.name)
        return created({
          ...feedKeyJson(key, wire),
          token,
          ...feedUrls(await privateFeedsOf(db, caller, viewer, token), wire.web),
        })
      },
    ),
    get(
      '/user/feed_keys/{key_id}',
      { ...keys, operation: 'feeds/get-key', summary: 'A key of the viewer’s private feeds', answers: { 200: FeedKeySchema } },
      async ({ db, viewer, params, wire }) => feedKeyJson(await loadFeedKey(db, viewer, params.key_id), wire),
    ),
    del(
      '/user/feed_keys/{key_id}',
      {
        ...keys,
        operation: 'feeds/delete-key',
        summary: 'Revoke a key of the viewer’s private feeds',
        answers: { 204: Nothing },
      },
      ({ db, viewer, params }) => deleteFeedKey(db, viewer, params.key_id),
    ),
  ])
