import type { Issue } from '#hosting/issues/issues.ts'
import { addLabels } from '#hosting/issues/triage.ts'
import { triageIssue, updateIssue } from '#hosting/issues/update.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { loadVisibleRepository, pathOf, viewerOf } from '#hosting/repositories/views/repository-page.ts'
import { checkAccess, checkWritable } from '#identity/access.ts'
import { Refusal } from '#platform/errors.ts'
import { button } from '#web/components/button.ts'
import { icon } from '#web/components/icon.ts'
import { menu } from '#web/components/menu.ts'
import { type Html, html } from '#web/html.ts'
import { form, type Outcome, type SignedIn, type Visit } from '#web/page.ts'
import { count } from './conversation.ts'
import type { ListKind } from './list-query.ts'

/** A page lists 30. */
const most = 100

/** The box of a row; the form is above the list. */
export const selectBox = ({ number, title }: Issue) =>
  html`<input type="checkbox" form="bulk" name="number" value="${number}" aria-label="Select #${number} ${title}">`

const acts = [
  ['closed completed', 'Close as completed', 'issue-closed'],
  ['closed not_planned', 'Close as not planned', 'skip'],
  ['open', 'Reopen', 'issue-reopened'],
] as const

/** Changes all rows that are selected. */
export function bulkForm(visit: Visit, repo: Repository, place: string, q: string): Html {
  const items = acts.map(([value, text, name]) => ({
    markup: html`<button name="state" value="${value}">${icon(name)}<span>${text}</span></button>`,
  }))
  const label = {
    markup: html`<div class="bulk-label"><label for="bulk-label">Add a label</label><input id="bulk-label" name="label" autocomplete="off" maxlength="50">${button('Add label', { size: 'small', name: 'act', value: 'label' })}</div>`,
  }
  const inputs = html`<input type="hidden" name="q" value="${q}"><input type="hidden" name="list" value="${place.slice(pathOf(repo).length + 1)}">
<label class="bulk-all"><input type="checkbox"><span class="unseen">Select all</span></label>
${menu(html`<span class="bulk-count">Selected</span> ${icon('triangle-down')}`, [...items, 'divider', label], { align: 'start', kind: 'list-menu' })}`
  return form(visit, `${pathOf(repo)}/issues/bulk`, inputs, { class: 'bulk', id: 'bulk', enter: 'nothing' })
}

/** One transaction for all: either each of them changes, or none. */
export async function changeSelected(visit: SignedIn): Promise<Outcome> {
  const repo = await loadVisibleRepository(visit)
  const list: ListKind = visit.form.get('list') === 'pulls' ? 'pulls' : 'issues'
  const to = `${pathOf(repo)}/${list}?${new URLSearchParams({ q: visit.form.get('q') ?? '' })}`
  const numbers = [
    ...new Set(
      visit.form
        .getAll('number')
        .filter((one) => /^[1-9]\d{0,8}$/.test(one))
        .map(Number),
    ),
  ].slice(0, most)
  if (!numbers.length) throw new Refusal('invalid', 'Select at least one row, then choose what to do with it.')
  const [state, reason] = (visit.form.get('state') ?? '').split(' ')
  const label = (visit.form.get('label') ?? '').replaceAll('\0', '').trim()
  await visit.db.transaction(async (db) => {
    checkWritable(repo)
    checkAccess(repo.access, 'triage')
    // In the order of numbers, so that two such forms do not wait for each other's rows.
    for (const number of numbers.toSorted((one, other) => one - other)) {
      if (state === 'open' || state === 'closed') {
        const state_reason = reason === 'not_planned' ? 'not_planned' : 'completed'
        await updateIssue(db, viewerOf(visit), repo, visit.visitor, number, {
          state,
          ...(state === 'closed' && ({ state_reason } as const)),
        })
      } else if (label !== '') {
        await triageIssue(db, repo, visit.visitor, number, (held) => addLabels(db, repo, visit.visitor, held, [label]))
      }
    }
  })
  return { to, flash: { done: `${count(numbers.length, 'row')} changed.` } }
}
