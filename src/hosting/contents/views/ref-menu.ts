import type { RefNames } from '#hosting/refs/recorded-refs.ts'
import { pathOf } from '#hosting/repositories/views/repository-page.ts'
import { icon } from '#web/components/icon.ts'
import { type MenuItem, menu } from '#web/components/menu.ts'
import { type Html, html } from '#web/html.ts'
import { type CodeLocation, type CodeView, codeAddress } from '../code-location.ts'

/** Names in a menu; the pages of branches and tags have all of them. */
export const mostInMenu = 100

/** Shows the same file or folder in another branch or tag. */
export function refMenu(location: CodeLocation, view: CodeView, refs: RefNames): Html {
  const { repo, ref, sha, path } = location
  const isBranch = refs.branches.includes(ref)
  const isTag = !isBranch && refs.tags.includes(ref)
  const isId = sha.startsWith(ref)
  const shown = isId ? sha.slice(0, 10) : ref
  const items = (names: string[]): MenuItem[] =>
    names.map((name) => ({
      markup: html`<a href="${codeAddress(view, { repo, ref: name }, path)}"${name === ref && html` aria-current="true"`}>${name === ref ? icon('check') : html`<span class="no-icon"></span>`}<span class="ref-name">${name}</span>${name === repo.default_branch && html`<span class="badge">default</span>`}</a>`,
    }))
  const heading = (text: string): MenuItem => ({ markup: html`<strong class="menu-heading">${text}</strong>` })
  const all = (kind: 'branches' | 'tags'): MenuItem[] => [{ text: `View all ${kind}`, href: `${pathOf(repo)}/${kind}` }]
  const branches = [repo.default_branch, ...refs.branches.filter((name) => name !== repo.default_branch)]
  return menu(
    html`<span class="button">${icon(isTag ? 'tag' : isId ? 'git-commit' : 'git-branch')}<span class="ref-name">${shown}</span>${icon('triangle-down')}</span>`,
    [
      {
        markup: html`<input type="search" data-filters-menu aria-label="Find a branch or tag" placeholder="Find a branch or tag" autocomplete="off" hidden>`,
      },
      heading('Branches'),
      ...items(refs.branches.length ? branches.slice(0, mostInMenu) : []),
      ...all('branches'),
      ...(refs.tags.length ? ['divider' as const, heading('Tags'), ...items(refs.tags), ...all('tags')] : []),
    ],
    { label: `Switch branches or tags: ${shown}`, align: 'start', kind: 'ref-menu' },
  )
}
