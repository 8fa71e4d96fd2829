import { join } from 'node:path'
import { nameOf } from '#hosting/issues/views/conversation.ts'
import { encodePath } from '#hosting/refs/json.ts'
import type { Release } from '#hosting/releases/releases.ts'
import { mayRelease } from '#hosting/releases/rights.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { pathOf } from '#hosting/repositories/views/repository-page.ts'
import { avatar } from '#web/components/avatar.ts'
import { buttonLink, shortCount } from '#web/components/button.ts'
import { icon } from '#web/components/icon.ts'
import { badge, counter } from '#web/components/label.ts'
import { markdownBody } from '#web/components/markdown-body.ts'
import { moment } from '#web/components/time.ts'
import { type Html, html } from '#web/html.ts'

export const assets = join(import.meta.dirname, '../styles')

/** A release with what its page shows besides its row. */
export interface ShownRelease {
  release: Release
  notes: Html
  is_latest: boolean
  /** The commit of its tag. */
  sha: string | undefined
  previous_tag: string | undefined
}

export const releaseAddress = (repo: Repository, tag: string) => `${pathOf(repo)}/releases/tag/${encodePath(tag)}`

/** A release: beside its notes and files, the tag, the commit and the author. The heading is that of a page or of a list. */
export function releaseView(repo: Repository, shown: ShownRelease, heading: 'h1' | 'h2'): Html {
  const { release, notes, is_latest, sha, previous_tag } = shown
  const { tag_name, draft, prerelease } = release
  const title = release.name || tag_name
  const address = releaseAddress(repo, tag_name)
  const badges = html`${draft && badge('Draft', 'danger')}${prerelease && badge('Pre-release', 'attention')}${is_latest && badge('Latest', 'success')}`
  const head =
    heading === 'h1'
      ? html`<h1 dir="auto">${title}</h1>`
      : html`<h2 dir="auto"><a href="${draft ? editAddress(repo, release) : address}">${title}</a></h2>`
  const edit = mayRelease(repo) && buttonLink('Edit', editAddress(repo, release), { icon: 'pencil', size: 'small' })
  return html`<article class="release" aria-label="${title}"><div class="release-facts">${facts(repo, release, sha)}</div>
<div class="release-text"><div class="title-bar">${head}${badges}<span class="space"></span>${edit}</div>
${release.body ? markdownBody(notes) : html`<p class="muted">No notes.</p>`}
${previous_tag !== undefined && !draft && html`<p>${icon('git-compare')} <a href="${pathOf(repo)}/compare/${encodePath(previous_tag)}...${encodePath(tag_name)}">Changes since ${previous_tag}</a></p>`}${files(repo, release)}</div></article>`
}

export const editAddress = (repo: Repository, { id }: { id: number }) => `${pathOf(repo)}/releases/edit/${id}`

function facts(repo: Repository, release: Release, sha: string | undefined): Html {
  const { author_id: id, author_login: login, author_type: type, author_site_admin: site_admin, tag_name } = release
  const author = id ? html`${avatar({ id, type }, 20)} ${nameOf({ id, login, type, site_admin })}` : nameOf(null)
  return html`<p>${moment(release.published_at ?? release.created_at)}</p><p class="person">${author}</p>
<p>${icon('tag', { label: 'Tag' })} ${sha ? html`<a href="${pathOf(repo)}/tree/${encodePath(tag_name)}">${tag_name}</a>` : tag_name}</p>
${sha && html`<p>${icon('git-commit', { label: 'Commit' })} <a href="${pathOf(repo)}/commit/${sha}"><code>${sha.slice(0, 7)}</code></a></p>`}`
}

function files(repo: Repository, { assets, tag_name, draft }: Release): Html {
  const tag = encodePath(tag_name)
  const above = `${pathOf(repo)}/releases/download/${tag}`
  const rows = assets.map(
    ({
      name,
      label,
      size,
      downloads_count,
    }) => html`<li>${icon('package')} ${draft ? html`<span>${label || name}</span>` : html`<a href="${above}/${encodeURIComponent(name)}" download>${label || name}</a>`}
<span class="space"></span><span class="muted">${sizeText(size)}</span><span class="muted" title="${downloads_count} downloads">${icon('download', { label: 'Downloads' })} ${shortCount(downloads_count)}</span></li>`,
  )
  const source = draft ? [] : archiveLinks(repo, tag_name).map((link) => html`<li>${link}</li>`)
  if (!rows.length && !source.length) return html``
  return html`<details open><summary>Assets ${counter(rows.length + source.length)}</summary><ul class="release-files">${rows}${source}</ul></details>`
}

/** The files of a tag as archives. */
export function archiveLinks(repo: Repository, tag: string): Html[] {
  const archive = `${pathOf(repo)}/archive/refs/tags/${encodePath(tag)}`
  return (['zip', 'tar.gz'] as const).map(
    (format) => html`${icon('file-zip')} <a href="${archive}.${format}" download>Source code (${format})</a>`,
  )
}

/** In units of 1,000, as file managers show it. */
export function sizeText(size: number) {
  const unit = ['bytes', 'kB', 'MB', 'GB'].findIndex((_, power) => size < 1000 ** (power + 1))
  return unit === 0 ? `${size} bytes` : `${(size / 1000 ** unit).toFixed(1)} ${['', 'kB', 'MB', 'GB'][unit]}`
}
