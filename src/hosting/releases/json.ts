import { SimpleUser, userJson } from '#hosting/people/json.ts'
import { reactionsField, reactionsJson } from '#hosting/reactions/json.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { uploadPrefix } from '#http/listener.ts'
import {
  Address,
  NullableString,
  NullableTimestamp,
  nodeId,
  renderedForms,
  Timestamp,
  timestamp,
  type Wire,
} from '#http/serialization.ts'
import { type Static, Type } from '#platform/schema.ts'
import { AssetSchema, assetJson } from './assets/json.ts'
import type { Release } from './releases.ts'

export const ReleaseSchema = Type.Object(
  {
    url: Address,
    html_url: Address,
    assets_url: Address,
    upload_url: Address,
    tarball_url: NullableString,
    zipball_url: NullableString,
    id: Type.Integer(),
    node_id: Type.String(),
    tag_name: Type.String(),
    target_commitish: Type.String(),
    name: NullableString,
    body: Type.Optional(NullableString),
    ...renderedForms,
    ...reactionsField,
    draft: Type.Boolean(),
    prerelease: Type.Boolean(),
    created_at: Timestamp,
    published_at: NullableTimestamp,
    author: SimpleUser,
    assets: Type.Array(AssetSchema),
  },
  { title: 'Release' },
)

export function releaseJson(
  release: Release,
  repo: Pick<Repository, 'owner_login' | 'name'>,
  wire: Wire,
): Static<typeof ReleaseSchema> {
  const full_name = `${repo.owner_login}/${repo.name}`
  const above = `${wire.api}/repos/${full_name}`
  const url = `${above}/releases/${release.id}`
  const tag = release.tag_name.split('/').map(encodeURIComponent).join('/')
  const { author_id: id, author_login: login, author_type: type, author_site_admin: site_admin } = release
  return {
    url,
    html_url: `${wire.web}/${full_name}/releases/tag/${tag}`,
    assets_url: `${url}/assets`,
    upload_url: `${url.replace(/\/api\/v3(?=\/repos\/)/, uploadPrefix)}/assets{?name,label}`,
    // The tag of a draft may not exist yet.
    tarball_url: release.draft ? null : `${above}/tarball/refs/tags/${tag}`,
    zipball_url: release.draft ? null : `${above}/zipball/refs/tags/${tag}`,
    id: release.id,
    node_id: nodeId('Release', release.id),
    tag_name: release.tag_name,
    target_commitish: release.target_commitish,
    name: release.name,
    body: release.body,
    ...reactionsJson(url, release.reactions),
    draft: release.draft,
    prerelease: release.prerelease,
    created_at: timestamp(release.created_at),
    published_at: release.published_at && timestamp(release.published_at),
    author: userJson({ id, login, type, site_admin }, wire),
    assets: release.assets.map((asset) => assetJson(asset, repo, wire)),
  }
}
