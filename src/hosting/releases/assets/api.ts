import type { Belfry } from '#belfry.ts'
import { loadRelease } from '#hosting/releases/releases.ts'
import { seesDrafts } from '#hosting/releases/rights.ts'
import { Answer, created, del, type Group, get, group, listOf, paged, patch, post } from '#http/endpoint.ts'
import { text } from '#http/input.ts'
import { Represented } from '#http/media.ts'
import { Nothing } from '#http/serialization.ts'
import { invalid } from '#platform/errors.ts'
import { Type } from '#platform/schema.ts'
import {
  addAsset,
  assetName,
  checkNameFree,
  checkRoom,
  countDownload,
  deleteAsset,
  listAssets,
  loadAsset,
  mostAssetBytes,
  updateAsset,
} from './assets.ts'
import { AssetSchema, assetJson } from './json.ts'

const reading = { permission: 'contents:read', viewer: 'optional', optional_scopes: ['public_repo', 'repo'] } as const
const writing = { permission: 'contents:write', scopes: ['public_repo', 'repo'], access: 'push', writable: true } as const

export function assetApi({ files }: Belfry): Group {
  return group('Release assets', [
    get(
      '/repos/{owner}/{repo}/releases/{release_id}/assets',
      {
        ...reading,
        operation: 'repos/list-release-assets',
        summary: 'List the files of a release',
        ...listOf(AssetSchema),
      },
      async ({ db, caller, repo, params, page, wire }) => {
        const release = await loadRelease(db, repo, params.release_id, seesDrafts(repo, caller))
        return paged(await listAssets(db, release, page), (asset) => assetJson(asset, repo, wire))
      },
    ),
    post(
      '/repos/{owner}/{repo}/releases/{release_id}/assets',
      {
        ...writing,
        operation: 'repos/upload-release-asset',
        summary: 'Upload a file to a release; the body is the file',
        query: { name: text(), label: text() },
        raw_body: true,
        own_transaction: true,
        refuses: ['too_large'],
        answers: { 201: AssetSchema },
      },
      async ({ db, repo, viewer, params, query, body, wire }) => {
        const release = await loadRelease(db, repo, params.release_id, true)
        const { content, type } = body
        const content_type = type === '' ? 'application/octet-stream' : type
        const name = assetName(query.name)
        if (query.label.length > 255) throw invalid({ resource: 'ReleaseAsset', code: 'invalid', field: 'label' })
        await checkNameFree(db, release, name)
        await checkRoom(db, release)
        const stored = await files.storeContents(content, mostAssetBytes)
        const wanted = { name, label: query.label || null, content_type: content_type.slice(0, 255), ...stored }
        const asset = await db.transaction((transaction) => addAsset(transaction, files, release, viewer, wanted))
        return created(assetJson(asset, repo, wire))
      },
    ),
    get(
      '/repos/{owner}/{repo}/releases/assets/{asset_id}',
      {
        ...reading,
        operation: 'repos/get-release-asset',
        summary: 'Get a file of a release; as application/octet-stream, its contents or a redirect to them',
        media: ['octets'],
        answers: { 200: AssetSchema, 302: Nothing },
      },
      async ({ db, caller, repo, params, wire, medium }) => {
        const asset = await loadAsset(db, repo, params.asset_id, seesDrafts(repo, caller))
        if (!medium) return assetJson(asset, repo, wire)
        const signed = await files.signedUrl(asset.oid, asset.name)
        if (signed) {
          await countDownload(db, asset)
          const headers = { Location: signed.href, 'Cache-Control': 'no-store' }
          return new Answer<void>(undefined, { status: 302, headers })
        }
        const contents = await files.open(asset.oid)
        if (!contents) throw new Error(`the store of large files has lost ${asset.oid}`)
        await countDownload(db, asset)
        return new Answer(new Represented(medium, contents), { headers: { 'Content-Length': String(asset.size) } })
      },
    ),
    patch(
      '/repos/{owner}/{repo}/releases/assets/{asset_id}',
      {
        ...writing,
        operation: 'repos/update-release-asset',
        summary: 'Rename a file of a release',
        body: Type.Partial(
          Type.Object({
            name: Type.String({ maxLength: 1000 }),
            label: Type.String({ maxLength: 255 }),
            state: Type.String(),
          }),
        ),
        answers: { 200: AssetSchema },
      },
      async ({ db, repo, params, body: { name, label }, wire }) => {
        const asset = await loadAsset(db, repo, params.asset_id, true)
        const changes = { ...(name !== undefined && { name: assetName(name) }), ...(label !== undefined && { label }) }
        return assetJson(await updateAsset(db, asset, changes), repo, wire)
      },
    ),
    del(
      '/repos/{owner}/{repo}/releases/assets/{asset_id}',
      { ...writing, operation: 'repos/delete-release-asset', summary: 'Delete a file of a release', answers: { 204: Nothing } },
      async ({ db, repo, params }) => deleteAsset(db, await loadAsset(db, repo, params.asset_id, true)),
    ),
  ])
}
