import type { End } from '#hosting/pulls/comparisons/json.ts'
import { encodePath } from '#hosting/refs/json.ts'
import type { RefNames } from '#hosting/refs/recorded-refs.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { pathOf } from '#hosting/repositories/views/repository-page.ts'
import { buttonLink } from '#web/components/button.ts'
import { icon } from '#web/components/icon.ts'
import { type MenuItem, menu } from '#web/components/menu.ts'
import { type Html, html } from '#web/html.ts'

/** Names in a menu. */
export const mostInMenu = 100

export interface Range {
  repo: Repository
  base: End
  head: End
}

/** People read and type these addresses, so a colon stays one. */
export const compareAddress = ({ repo }: Pick<Range, 'repo'>, base: string, head: string) =>
  `${pathOf(repo)}/compare/${encodePath(base)}...${encodePath(head)}`.replaceAll('%3A', ':')

/** How an address names a branch of a repository in the network: without the owner if it is that of the page. */
export function endText({ repo }: Pick<Range, 'repo'>, of: Repository, name: string): string {
  if (of.id === repo.id) return name
  return of.owner_id === repo.owner_id ? `${of.owner_login}:${of.name}:${name}` : `${of.owner_login}:${name}`
}

/** What can be chosen: the repositories of the network, and the refs of each side. */
export interface Choices {
  network: Repository[]
  base_refs: RefNames
  head_refs: RefNames
}

/** Menus for the repository and the branch of both sides. */
export function rangeBar(range: Range, { network, base_refs, head_refs }: Choices): Html {
  const { base, head } = range
  const toBase = (text: string) => compareAddress(range, text, head.text)
  const toHead = (text: string) => compareAddress(range, base.text, text)
  const swap = buttonLink('', compareAddress(range, head.text, base.text), {
    icon: 'arrow-switch',
    kind: 'invisible',
    label: 'Swap both sides',
  })
  return html`<div class="range-bar">${icon('git-compare')}<span class="range-end">${side('base', range, base, network, base_refs, toBase)}</span>${icon('arrow-left', { label: 'from' })}<span class="range-end">${side('compare', range, head, network, head_refs, toHead)}</span>${swap}</div>`
}

function side(
  label: string,
  range: Range,
  end: End,
  network: Repository[],
  refs: RefNames,
  addressOf: (text: string) => string,
): Html {
  const repositories = network.map((one) => ({
    text: `${one.owner_login}/${one.name}`,
    href: addressOf(endText(range, one, one.default_branch)),
    current: one.id === end.repo.id,
  }))
  const item = (name: string): MenuItem => ({
    text: name,
    href: addressOf(endText(range, end.repo, name)),
    current: name === end.name,
  })
  const heading = (text: string): MenuItem => ({ markup: html`<strong class="menu-heading">${text}</strong>` })
  const names: MenuItem[] = [
    {
      markup: html`<input type="search" data-filters-menu aria-label="Find a branch or tag" placeholder="Find a branch or tag" autocomplete="off" hidden>`,
    },
    heading('Branches'),
    ...refs.branches.map(item),
    ...(refs.tags.length ? [heading('Tags'), ...refs.tags.map(item)] : []),
  ]
  const summary = (kind: string, text: string) =>
    html`<span class="button small"><span class="muted">${kind}:</span> <span class="range-name">${text}</span> ${icon('triangle-down')}</span>`
  return html`${network.length > 1 && menu(summary(`${label} repository`, `${end.repo.owner_login}/${end.repo.name}`), repositories, { align: 'start' })}${menu(summary(label, end.name), names, { align: 'start' })}`
}
