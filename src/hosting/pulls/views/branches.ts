import { mayEdit } from '#hosting/issues/rights.ts'
import { listRefNames } from '#hosting/refs/recorded-refs.ts'
import { button } from '#web/components/button.ts'
import { icon } from '#web/components/icon.ts'
import { select } from '#web/fields.ts'
import { type Html, html } from '#web/html.ts'
import { form, type Visit } from '#web/page.ts'
import type { PullPage } from './pull-page.ts'

/** How many branches a list offers. */
const most = 200

/** The base, which those who may edit the pull request can change, and the way back to a draft. */
export async function branchesSection(visit: Visit, { repo, pull, path }: PullPage): Promise<Html | undefined> {
  if (pull.state === 'closed' || !mayEdit(repo, visit.visitor, pull.author)) return undefined
  const { branches } = await listRefNames(visit.db, repo, most)
  const bases = [...new Set([pull.base_ref, ...branches])].slice(0, most)
  const inputs = html`${select(
    'Base branch',
    'base',
    bases.map((name) => [name, name]),
    pull.base_ref,
  )}${button('Change base', { size: 'small' })}`
  const base = html`<details><summary>${icon('git-branch')} Change the base branch</summary>${form(visit, `${path}/base`, inputs, { replace: true })}</details>`
  const draft =
    !pull.draft &&
    form(
      visit,
      `${path}/draft`,
      button('Convert to draft', {
        name: 'draft',
        value: 'yes',
        size: 'small',
        kind: 'invisible',
        icon: 'git-pull-request-draft',
      }),
      {
        class: 'inline',
        replace: true,
      },
    )
  return html`<section><h2>Branches</h2>${base}${draft}</section>`
}
