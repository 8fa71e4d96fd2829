import type { Entry, Reference } from '#parts/documentation/reference.ts'
import { addressOf } from '#parts/documentation/reference.ts'
import { icon } from '#web/components/icon.ts'
import { box } from '#web/components/table.ts'
import { type Html, html } from '#web/html.ts'
import { methodMark, readSummary, siteAdminBadge, withCode } from './operation.ts'

/** A page of the reference: the groups at its side, and the search above it. */
export function referencePage(reference: Reference, current: string, body: Html, query?: string): Html {
  const { sections } = reference
  return html`<div class="reference"><nav aria-label="Groups of operations"><a class="side-link" href="/docs"${current === '' && html` aria-current="page"`}>Overview</a>
<a class="side-link" href="/docs/conformance"${current === 'conformance' && html` aria-current="page"`}>Conformance</a>
${sections.map(({ title, groups }) => html`<h2>${title}</h2><ul class="plain">${groups.map((group) => html`<li><a class="side-link" href="/docs/${group.slug}"${group.slug === current && html` aria-current="page"`}>${group.title}</a></li>`)}</ul>`)}</nav>
<main>${searchForm(query)}<turbo-frame id="found" target="_top">${query && foundOperations(reference, query)}</turbo-frame>${body}</main></div>`
}

/** Answers in the frame below it while one types; without scripts, on a page of its own. */
const searchForm = (query = '') =>
  html`<form class="reference-search" role="search" method="get" action="/docs" data-turbo-frame="found">${icon('search')}<input name="q" type="search" value="${query}" placeholder="Find an operation" aria-label="Find an operation" maxlength="200" autocomplete="off"><button class="small">Find</button></form>`

function foundOperations(reference: Reference, query: string): Html {
  const found = reference.search(query)
  const count = found.length === 1 ? '1 operation' : `${found.length} operations`
  return html`<p class="muted" role="status">${found.length ? html`${count} for “${query}”` : html`No operation has all words of “${query}”. Try fewer words, such as a noun of the path.`}</p>
${found.length > 0 && operationList(found, 'Operations that were found')}`
}

/** One line for each operation. */
export const operationList = (entries: Entry[], label: string) =>
  box(
    entries.map((entry) => {
      const { endpoint, path } = entry
      return html`<a class="operation-link" href="${addressOf(entry)}">${methodMark(endpoint.method)}<span><strong>${withCode(readSummary(endpoint.summary).title)}</strong> ${siteAdminBadge(entry)}<code>${path}</code></span></a>`
    }),
    { label, kind: 'operations' },
  )
