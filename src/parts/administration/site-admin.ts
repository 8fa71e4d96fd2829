import { pageIn } from '#hosting/repositories/views/repository-page.ts'
import { missing } from '#platform/errors.ts'
import { button } from '#web/components/button.ts'
import { typed } from '#web/fields.ts'
import { html } from '#web/html.ts'
import type { Outcome, SignedIn } from '#web/page.ts'

type Handler = (visit: SignedIn) => Outcome | Promise<Outcome>

/** To everybody else, the pages of the administration do not exist. */
export const onlyAdmins =
  (handler: Handler): Handler =>
  (visit) => {
    if (!visit.visitor.site_admin) throw missing()
    return handler(visit)
  }

export const perPage = 50

/** The search of a list: what was typed, the page, and the form. */
export function wordsIn(visit: SignedIn, path: string, label: string) {
  const words = typed(visit.query, 'q').slice(0, 100)
  const page = pageIn(visit.query)
  const find = html`<form class="filter-line" method="get" action="${path}" role="search"><input type="search" name="q" value="${words}" aria-label="${label}" placeholder="${label}" maxlength="100">${button('Find')}</form>`
  return { words, page, slice: { limit: perPage, offset: (page - 1) * perPage }, find }
}
