import { NullableUser } from '#hosting/milestones/json.ts'
import { userJson } from '#hosting/people/json.ts'
import { Address, NullableString, nodeId, Timestamp, timestamp, type Wire } from '#http/serialization.ts'
import { type Static, Type } from '#platform/schema.ts'
import type { Asset } from './assets.ts'

export const AssetSchema = Type.Object(
  {
    url: Address,
    browser_download_url: Address,
    id: Type.Integer(),
    node_id: Type.String(),
    name: Type.String(),
    label: NullableString,
    state: Type.String(),
    content_type: Type.String(),
    size: Type.Integer(),
    digest: Type.String(),
    download_count: Type.Integer(),
    created_at: Timestamp,
    updated_at: Timestamp,
    uploader: NullableUser,
  },
  { title: 'ReleaseAsset' },
)

export function assetJson(asset: Asset, repo: { owner_login: string; name: string }, wire: Wire): Static<typeof AssetSchema> {
  const full_name = `${repo.owner_login}/${repo.name}`
  const tag = asset.tag_name.split('/').map(encodeURIComponent).join('/')
  return {
    url: `${wire.api}/repos/${full_name}/releases/assets/${asset.id}`,
    browser_download_url: `${wire.web}/${full_name}/releases/download/${tag}/${encodeURIComponent(asset.name)}`,
    id: asset.id,
    node_id: nodeId('ReleaseAsset', asset.id),
    name: asset.name,
    label: asset.label,
    state: 'uploaded',
    content_type: asset.content_type,
    size: asset.size,
    digest: `sha256:${asset.oid}`,
    download_count: asset.downloads_count,
    created_at: timestamp(new Date(asset.created_at)),
    updated_at: timestamp(new Date(asset.updated_at)),
    uploader: asset.uploader && userJson(asset.uploader, wire),
  }
}
