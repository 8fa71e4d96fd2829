import type { Reference, ReferenceGroup } from '#parts/documentation/reference.ts'
import { type Html, html } from '#web/html.ts'
import { operationList } from './frame.ts'
import { type Bases, operationSection } from './operation.ts'

/** The operations of a group. The same for every visitor. */
export function groupBody({ sections }: Reference, group: ReferenceGroup, bases: Bases): Html {
  const { title, entries } = group
  const section = sections.find(({ groups }) => groups.includes(group))
  return html`<p class="crumbs muted"><a href="/docs">API reference</a> / ${section?.title}</p><h1>${title}</h1>
${operationList(entries, `Operations: ${title}`)}${entries.map((entry) => operationSection(entry, bases))}`
}
