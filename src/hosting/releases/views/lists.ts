import { encodePath } from '#hosting/refs/json.ts'
import { mayRelease } from '#hosting/releases/rights.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { mayPush, pathOf } from '#hosting/repositories/views/repository-page.ts'
import { button, buttonLink } from '#web/components/button.ts'
import { icon } from '#web/components/icon.ts'
import { badge } from '#web/components/label.ts'
import { askMenu } from '#web/components/menu.ts'
import { box } from '#web/components/table.ts'
import { segments } from '#web/components/tabs.ts'
import { type Html, html } from '#web/html.ts'
import { form, type Visit } from '#web/page.ts'
import { archiveLinks, releaseAddress } from './release.ts'

/** The heading of the lists of releases and of tags. */
export function releasesHead(repo: Repository, current: 'releases' | 'tags'): Html {
  const path = pathOf(repo)
  const links = segments('Releases and tags', [
    { text: 'Releases', href: `${path}/releases`, icon: 'rocket', current: current === 'releases' },
    { text: 'Tags', href: `${path}/tags`, icon: 'tag', current: current === 'tags' },
  ])
  const feed = buttonLink('', `${path}/${current}.atom`, { icon: 'rss', kind: 'invisible', label: `Atom feed of ${current}` })
  const draft =
    mayRelease(repo) &&
    current === 'releases' &&
    buttonLink('New release', `${path}/releases/new`, { icon: 'plus', kind: 'primary' })
  return html`<div class="title-bar"><h1>${current === 'tags' ? 'Tags' : 'Releases'}</h1><span class="space"></span>${links}<span class="buttons">${feed}${draft}</span></div>`
}

/** Tags with their commits, archives and releases. */
export function tagList(visit: Visit, repo: Repository, tags: { name: string; sha: string }[], released: Set<string>): Html {
  const path = pathOf(repo)
  const rows = tags.map(({ name, sha }) => {
    const release = released.has(name)
      ? html`${icon('rocket')} <a href="${releaseAddress(repo, name)}">Release</a>`
      : mayRelease(repo) &&
        html`${icon('rocket')} <a href="${path}/releases/new?tag=${encodeURIComponent(name)}">Create a release</a>`
    return html`<div class="tag-line"><a href="${path}/tree/${encodePath(name)}"><strong><bdi>${name}</bdi></strong></a>${mayPush(visit, repo) && deleteMenu(visit, repo, name, released.has(name))}</div>
<p class="muted release-links"><span>${icon('git-commit')} <a href="${path}/commit/${sha}"><code>${sha.slice(0, 7)}</code></a></span>${archiveLinks(repo, name).map((link) => html`<span>${link}</span>`)}${release && html`<span>${release}</span>`}</p>`
  })
  return box(rows, { label: 'Tags' })
}

/** A release outlives its tag, so the question says what it loses. */
function deleteMenu(visit: Visit, repo: Repository, name: string, released: boolean): Html {
  const question = html`Delete the tag <bdi>${name}</bdi>? ${released ? 'It has a release, which stays, but whose source archives stop working.' : 'Links to it stop working.'}`
  const inputs = html`<input type="hidden" name="tag" value="${name}">${button('Delete tag', { kind: 'danger', size: 'small' })}`
  const answer = form(visit, `${pathOf(repo)}/tags/delete`, inputs, { class: 'inline' })
  return askMenu(icon('trash'), question, answer, { label: `Delete ${name}` })
}

/** A tag that has no release. */
export function tagPage(repo: Repository, name: string, sha: string): Html {
  const path = pathOf(repo)
  const create =
    mayRelease(repo) && buttonLink('Create a release from this tag', `${path}/releases/new?tag=${encodeURIComponent(name)}`)
  return html`<main><div class="title-bar"><h1>${name}</h1>${badge('Tag')}<span class="space"></span>${create}</div>
<p class="muted release-links"><span>${icon('git-commit')} <a href="${path}/commit/${sha}"><code>${sha.slice(0, 7)}</code></a></span><span>${icon('code')} <a href="${path}/tree/${encodePath(name)}">Browse the files</a></span>${archiveLinks(repo, name).map((link) => html`<span>${link}</span>`)}</p></main>`
}
