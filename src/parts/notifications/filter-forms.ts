import { type ActionResult, viewIn } from '#parts/notifications/views/inbox-query.ts'
import { missing } from '#platform/errors.ts'
import { typed } from '#web/fields.ts'
import type { SignedIn } from '#web/page.ts'
import { longestFilter } from './filters.ts'
import { deleteFilter, renameFilter, saveFilter } from './saved-filters.ts'

/** Creates, renames or deletes a saved filter, as the form says. */
export function changeFilters({ db, visitor, form }: SignedIn): Promise<ActionResult> {
  const act = form.get('act')
  const name = typed(form, 'name').replaceAll(/\s+/g, ' ')
  const id = /^\d{1,15}$/.test(form.get('id') ?? '') ? Number(form.get('id')) : 0
  return db.transaction(async (transaction) => {
    if (act === 'create') {
      const query = typed(form, 'q').slice(0, longestFilter)
      await saveFilter(transaction, visitor, { name, view: viewIn(form.get('view') ?? ''), query })
      return { text: `The filter ${name} is saved.` }
    }
    if (act === 'rename') {
      await renameFilter(transaction, visitor, id, name)
      return { text: `The filter is called ${name} now.` }
    }
    if (act !== 'delete') throw missing()
    const gone = await deleteFilter(transaction, visitor, id)
    return { text: `The filter ${gone.name} is deleted.`, undo_filter: gone }
  })
}
