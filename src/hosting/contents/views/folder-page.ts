import type { RefNames } from '#hosting/refs/recorded-refs.ts'
import { buttonLink } from '#web/components/button.ts'
import { copyButton } from '#web/components/copy.ts'
import { emptyState } from '#web/components/empty-state.ts'
import { type Html, html } from '#web/html.ts'
import type { Visit } from '#web/page.ts'
import { type CodeLocation, type CodeView, codeAddress } from '../code-location.ts'
import { ifSoon } from '../commit-cache.ts'
import type { Content } from '../contents.ts'
import { findLastCommits, findReadme } from '../read-code.ts'
import { commitBar } from './commit-bar.ts'
import { fileTable } from './file-table.ts'
import { addFile, authorOf, patience } from './overview.ts'
import { readmeBox } from './readme.ts'
import { refMenu } from './ref-menu.ts'

/** Keys of the scripts of these pages, for the list of keys. */
const folderKeys = [['t', 'Find a file']]
const fileKeys = [...folderKeys, ['b', 'Blame'], ['e', 'Edit the file'], ['y', 'Address of this commit']]

/** The branch, the path with links to the folders above, and a link to the finder. */
export function pathBar(location: CodeLocation, view: CodeView, refs: RefNames, tools?: Html): Html {
  const { repo, path } = location
  const parts = path.split('/')
  const crumbs = parts.map((part, index) => {
    const above = parts.slice(0, index + 1).join('/')
    const isLast = index === parts.length - 1
    return html`<span class="muted">/</span>${isLast ? html`<strong>${part}</strong>` : html`<a href="${codeAddress('tree', location, above)}">${part}</a>`}`
  })
  return html`<div class="code-bar" data-page-keys="${JSON.stringify(view === 'blob' ? fileKeys : folderKeys)}">${refMenu(location, view, refs)}<h1 class="path"><a href="${codeAddress('tree', location)}">${repo.name}</a>${crumbs}</h1>${copyButton(path, 'Copy the path')}
<span class="space"></span>${tools}${buttonLink(html`Go to file <kbd aria-hidden="true">t</kbd>`, codeAddress('find', location), { icon: 'search' })}</div>`
}

/** A folder below the root. */
export async function folderPage(
  visit: Visit,
  location: CodeLocation,
  { entries }: Content & { kind: 'dir' },
  refs: RefNames,
): Promise<Html> {
  const { storage } = visit.belfry
  const [last, readme] = await Promise.all([
    ifSoon(findLastCommits(storage, location, entries), patience),
    findReadme(storage, location),
  ])
  const author = last?.latest && (await authorOf(visit, last.latest))
  const files = entries.length
    ? fileTable(location, entries, last, commitBar(location, last?.latest, author))
    : emptyState('file-directory', 'This folder is empty')
  return html`<main class="code-page">${pathBar(location, 'tree', refs, addFile(visit, location))}${files}${await readmeBox(location, readme)}</main>`
}
