import { createHash } from 'node:crypto'
import type { ChangedFile } from '#git/changes.ts'
import type { Side } from '#hosting/reviews/diff-position.ts'
import { Html, html } from '#web/html.ts'
import type { Cell, DiffRow } from './diff-rows.ts'

export type Layout = 'unified' | 'split'

/** What people say about lines. */
export interface DiffComments {
  /** Where a link at a line leads to begin a comment; undefined if the visitor may not. */
  address?: ((anchor: string) => string) | undefined
  /** Shown below a line. */
  at(file: ChangedFile, side: Side, line: number): Html | undefined
  /** Shown above the lines of a file. */
  above(file: ChangedFile): Html | undefined
}

/** The id of a file on its page. A line adds `R` or `L` and its number in the new or the old file. */
export const anchorOf = (path: string) => `d${createHash('sha256').update(path).digest('hex').slice(0, 10)}`

/** The lines of one file. */
export function diffTable(file: ChangedFile, rows: DiffRow[], layout: Layout, comments?: DiffComments): Html {
  const lines = layout === 'split' ? splitRows(file, rows, comments) : unifiedRows(file, rows, comments)
  return html`<table class="diff-table ${layout}">${columns[layout]}<tbody>${lines}</tbody></table>`
}

const columns = {
  unified: html`<colgroup><col class="num"><col class="num"><col></colgroup>`,
  split: html`<colgroup><col class="num"><col><col class="num"><col></colgroup>`,
}

/** Lines without links and comments, as in a comment that quotes them. */
export function plainTable(rows: DiffRow[]): Html {
  const plain: Numbers = {
    numbered: (_, { kind, number }) => html`<td class="num ${kind}">${number}</td>`,
    said: () => undefined,
  }
  return html`<table class="diff-table unified">${columns.unified}<tbody>${unified(rows, plain)}</tbody></table>`
}

interface Numbers {
  numbered(letter: 'L' | 'R', cell: Cell): Html
  said(side: Side, line: number): Html | undefined
}

function unifiedRows(file: ChangedFile, rows: DiffRow[], comments: DiffComments | undefined): Html[] {
  const key = anchorOf(file.filename)
  return unified(rows, {
    numbered: (letter, cell) => numbered(key, letter, cell, comments),
    said: (side, line) => comments?.at(file, side, line),
  })
}

function unified(rows: DiffRow[], { numbered, said }: Numbers): Html[] {
  const line = (cell: Cell, numbers: Html) => html`<tr class="${cell.kind}">${numbers}<td class="code">${marked(cell)}</td></tr>
${below(said(sideOf(cell), cell.number), 3)}`
  const shown: Html[] = []
  let added: Cell[] = []
  const close = () => {
    for (const cell of added) shown.push(line(cell, html`<td class="num"></td>${numbered('R', cell)}`))
    added = []
  }
  for (const row of rows) {
    if ('note' in row) {
      close()
      shown.push(html`<tr class="hunk"><td class="num"></td><td class="num"></td><td class="code">${row.note}</td></tr>`)
      continue
    }
    const { left, right } = row
    if (left?.kind === 'context' && right) {
      close()
      const about = html`<td class="num">${left.number}</td>${numbered('R', right)}`
      shown.push(html`${line(right, about)}${below(said('LEFT', left.number), 3)}`)
      continue
    }
    // All removed lines of a change stand before the added ones.
    if (left) shown.push(line(left, html`${numbered('L', left)}<td class="num"></td>`))
    if (right) added.push(right)
  }
  close()
  return shown
}

function splitRows(file: ChangedFile, rows: DiffRow[], comments: DiffComments | undefined): Html[] {
  const key = anchorOf(file.filename)
  const half = (cell: Cell | undefined, letter: 'L' | 'R') =>
    cell
      ? html`${numbered(key, letter, cell, comments)}<td class="code ${cell.kind}">${marked(cell)}</td>`
      : html`<td class="num empty"></td><td class="code empty"></td>`
  return rows.map((row) => {
    if ('note' in row) return html`<tr class="hunk"><td class="num"></td><td class="code" colspan="3">${row.note}</td></tr>`
    const { left, right } = row
    const [before, after] = [left && comments?.at(file, 'LEFT', left.number), right && comments?.at(file, 'RIGHT', right.number)]
    return html`<tr>${half(left, 'L')}${half(right, 'R')}</tr>
${below(before, 4)}${below(after, 4)}`
  })
}

const sideOf = ({ kind }: Cell): Side => (kind === 'removed' ? 'LEFT' : 'RIGHT')

function numbered(key: string, letter: 'L' | 'R', { kind, number }: Cell, comments: DiffComments | undefined): Html {
  const anchor = `${key}${letter}${number}`
  const address = comments?.address?.(anchor)
  return address === undefined
    ? html`<td class="num ${kind}"><a id="${anchor}" href="#${anchor}">${number}</a></td>`
    : html`<td class="num ${kind}"><a id="${anchor}" href="${address}" class="comment-link" aria-label="Comment on line ${number}">${number}</a></td>`
}

const below = (said: Html | undefined, width: number) => said && html`<tr class="said"><td colspan="${width}">${said}</td></tr>`

/** The line, highlighted and with the words that changed. */
function marked({ text, changed, shown }: Cell): Html {
  if (!changed) return shown ?? html`${text}`
  const [from, to] = changed
  if (shown) return new Html(emphasize(shown.text, from, to))
  return html`${text.slice(0, from)}<span class="word">${text.slice(from, to)}</span>${text.slice(to)}`
}

/** Puts the characters from one position to another into elements, also across the elements that are there. */
function emphasize(markup: string, from: number, to: number): string {
  let at = 0
  let open = false
  let result = ''
  for (const [piece] of markup.matchAll(/<[^<>]*>|&[^&;]*;|[\s\S]/g)) {
    const isTag = piece.length > 1 && piece.startsWith('<')
    const inside = !isTag && at >= from && at < to
    if (open && !inside) result += '</span>'
    if (inside && !open) result += '<span class="word">'
    open = inside
    result += piece
    if (!isTag) at++
  }
  return open ? `${result}</span>` : result
}
