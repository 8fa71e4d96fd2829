import { type Html, html } from '../html.ts'

/** Rows of a list in a frame, with an optional bar above them. */
export function box(
  rows: Html[],
  { header, label, kind = '' }: { header?: Html | undefined; label?: string; kind?: string } = {},
): Html {
  return html`<section class="box ${kind}"${label && html` aria-label="${label}"`}>${header && html`<div class="box-header">${header}</div>`}<ul class="rows">${rows.map((row) => html`<li class="row">${row}</li>`)}</ul></section>`
}

/** A table that scrolls sideways on a telephone. `head` are texts of columns. */
export function table(head: (string | Html)[], rows: (string | number | Html)[][], { label }: { label: string }): Html {
  return html`<div class="table" role="region" aria-label="${label}" tabindex="0"><table><thead><tr>${head.map((cell) => html`<th scope="col">${cell}</th>`)}</tr></thead>
<tbody>${rows.map((row) => html`<tr>${row.map((cell) => html`<td>${cell}</td>`)}</tr>`)}</tbody></table></div>`
}

/** Facts about one thing, a line each. */
export function factList(facts: [name: string, value: string | number | Html][]): Html {
  return html`<dl class="facts">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`
}
