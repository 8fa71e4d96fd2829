import { hash } from 'node:crypto'
import type { ChangedFile } from '#git/changes.ts'
import { highlightLines } from '#web/highlight/highlight.ts'
import type { Cell, DiffRow } from './diff-rows.ts'

/** Milliseconds that a page spends on colours. Files after that are shown without them, and have them when they are shown again. */
const patience = 400

/** Highlights files one after the other. Both versions of a file are one text, so that each file is one job. */
export async function highlightDiff(files: { file: ChangedFile; rows: DiffRow[] }[]) {
  const end = performance.now() + patience
  for (const { file, rows } of files) {
    if (performance.now() > end) return
    const cells = [...cellsOf(rows, 'left'), ...cellsOf(rows, 'right')]
    if (!cells.length) continue
    const text = cells.map((cell) => cell.text.replaceAll('\r', '')).join('\n')
    const lines = await highlightLines(hash('sha1', text), file.filename, `${text}\n`)
    if (lines.length !== cells.length) continue
    for (const [index, cell] of cells.entries()) {
      const shown = lines[index]
      if (shown) cell.shown = shown
    }
  }
}

/** Lines that did not change are highlighted in the new version; the old one has them as context. */
const cellsOf = (rows: DiffRow[], side: 'left' | 'right'): Cell[] =>
  rows.flatMap((row) => ('note' in row ? [] : (row[side] ?? [])))
