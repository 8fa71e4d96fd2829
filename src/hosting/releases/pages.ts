import { lfsRoot, openObject } from '#git/lfs-store.ts'
import { nameOf } from '#hosting/issues/views/conversation.ts'
import { renderTexts } from '#hosting/mentions/views/render-texts.ts'
import { encodePath } from '#hosting/refs/json.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { repositoryHeader } from '#hosting/repositories/views/repository-header.ts'
import { loadVisibleRepository } from '#hosting/repositories/views/repository-page.ts'
import { markShown } from '#parts/notifications/views/thread-subscription.ts'
import { sql } from '#platform/database.ts'
import { missing } from '#platform/errors.ts'
import { moment } from '#web/components/time.ts'
import { html } from '#web/html.ts'
import { type Outcome, type PageRoute, show, type Visit } from '#web/page.ts'
import { countDownload, loadAssetByName } from './assets/assets.ts'
import { loadReleaseByTag, type Release } from './releases.ts'

/** A tag may contain slashes. */
export const pages: PageRoute[] = [
  show('/:owner/:repo/releases/tag/*', releasePage),
  show('/:owner/:repo/releases/download/*', download),
]

async function releasePage(visit: Visit): Promise<Outcome> {
  const repo = await loadVisibleRepository(visit)
  const tag = visit.params['*'] ?? ''
  if (tag.includes('\0')) throw missing()
  const release = await loadReleaseByTag(visit.db, repo, tag)
  await markShown(visit, sql`s.release_id = ${release.id}`)
  const [text = html``] = await renderTexts(visit, repo, [release.body])
  const { author_id: id, author_login: login, author_type: type, author_site_admin: site_admin } = release
  const title = release.name || release.tag_name
  const body = html`<main class="conversation"><h1>${title}</h1>
<p class="muted">${nameOf({ id, login, type, site_admin })} released <code>${release.tag_name}</code> ${moment(release.published_at ?? release.created_at)}
${release.prerelease && html`<span class="badge">pre-release</span>`}</p><div class="markdown">${text}</div>${showAssets(repo, release)}</main>`
  return { title: `${title} · Release · ${repo.owner_login}/${repo.name}`, body, above: repositoryHeader(repo, 'releases') }
}

function showAssets(repo: Repository, { assets, tag_name }: Release) {
  if (!assets.length) return html``
  const above = `/${repo.owner_login}/${repo.name}/releases/download/${encodePath(tag_name)}`
  const rows = assets.map(
    ({ name, label, size }) => html`<li><a href="${above}/${encodeURIComponent(name)}" download>${label || name}</a>
<span class="muted">${sizeText(size)}</span></li>`,
  )
  return html`<h2>Files</h2><ul class="files">${rows}</ul>`
}

/** In units of 1,000, as file managers show it. */
function sizeText(size: number) {
  const unit = ['bytes', 'kB', 'MB', 'GB'].findIndex((_, power) => size < 1000 ** (power + 1))
  return unit === 0 ? `${size} bytes` : `${(size / 1000 ** unit).toFixed(1)} ${['', 'kB', 'MB', 'GB'][unit]}`
}

/** A file of a published release. The last part of the path is its name, because a tag may contain slashes. */
async function download(visit: Visit): Promise<Outcome> {
  const { db, belfry, params } = visit
  const repo = await loadVisibleRepository(visit)
  const [, tag = '', name = ''] = /^(.+)\/([^/]+)$/.exec(params['*'] ?? '') ?? []
  if (`${tag}${name}`.includes('\0')) throw missing()
  const asset = await loadAssetByName(db, repo, tag, name)
  const file = await openObject(lfsRoot(belfry.settings.BELFRY_DATA), asset.oid)
  if (!file) throw new Error(`the store of large files has lost ${asset.oid}`)
  await countDownload(db, asset)
  const headers = { 'Content-Length': String(asset.size), 'Content-Disposition': `attachment; filename="${asset.name}"` }
  return { file, headers }
}
