import { type PatchLine, readPatch } from '#hosting/reviews/diff-position.ts'
import type { Html } from '#web/html.ts'

/** A line of the old or the new file. `changed` is the part that differs from the line it replaces. */
export interface Cell {
  kind: 'context' | 'added' | 'removed'
  number: number
  text: string
  changed?: [from: number, to: number]
  /** The text as highlighted markup. */
  shown?: Html
}

/** A row of a diff in two columns. In one column, a row with two different cells becomes two lines. */
export type DiffRow = { note: string } | { left: Cell | undefined; right: Cell | undefined }

/** Pairs the lines that were removed with those that were added in their place. */
export function readRows(patch: string): DiffRow[] {
  const rows: DiffRow[] = []
  let removed: Cell[] = []
  let added: Cell[] = []
  const close = () => {
    if (removed.length === added.length) for (const [index, cell] of removed.entries()) markChanged(cell, added[index])
    for (let index = 0; index < Math.max(removed.length, added.length); index++)
      rows.push({ left: removed[index], right: added[index] })
    removed = []
    added = []
  }
  for (const { text, LEFT, RIGHT } of readPatch(patch)) {
    const line = text.slice(1)
    if (LEFT !== undefined && RIGHT === undefined) {
      if (added.length) close()
      removed.push({ kind: 'removed', number: LEFT, text: line })
    } else if (RIGHT !== undefined && LEFT === undefined) {
      added.push({ kind: 'added', number: RIGHT, text: line })
    } else if (LEFT !== undefined && RIGHT !== undefined) {
      close()
      rows.push({
        left: { kind: 'context', number: LEFT, text: line },
        right: { kind: 'context', number: RIGHT, text: line },
      })
    } else if (!text.startsWith('\\')) {
      close()
      rows.push({ note: text })
    }
  }
  close()
  return rows
}

/** The last lines of the hunk that a comment is about. */
export function rowsBefore(hunk: string, most: number): DiffRow[] {
  const lines = readPatch(hunk)
  const [head] = lines
  if (lines.length <= most + 1 || !head) return readRows(hunk)
  const kept = lines.slice(-most)
  const first = (side: 'LEFT' | 'RIGHT') => kept.find((line) => line[side] !== undefined)?.[side] ?? 1
  return readRows([`@@ -${first('LEFT')} +${first('RIGHT')} @@`, ...kept.map(({ text }: PatchLine) => text)].join('\n')).slice(1)
}

/** Longer lines are compared up to here. */
const longest = 2000

/** Marks the differing middle of two lines, in whole words, if the lines have something in common. */
function markChanged(before: Cell, after: Cell | undefined) {
  if (!after) return
  const [a, b] = [before.text.slice(0, longest), after.text.slice(0, longest)]
  const shorter = Math.min(a.length, b.length)
  let start = 0
  while (start < shorter && a[start] === b[start]) start++
  while (start > 0 && isWordAt(a, start - 1) && (isWordAt(a, start) || isWordAt(b, start))) start--
  let end = 0
  while (end < shorter - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++
  while (end > 0 && isWordAt(a, a.length - end) && (isWordAt(a, a.length - end - 1) || isWordAt(b, b.length - end - 1))) end--
  const common = a.slice(0, start).trim().length + a.slice(a.length - end).trim().length
  if (common * 4 < shorter) return
  if (a.length - end > start) before.changed = [start, a.length - end]
  if (b.length - end > start) after.changed = [start, b.length - end]
}

/** Halves of a surrogate pair count as letters, so that a pair is never divided. */
const isWordAt = (text: string, index: number) => /[\w\ud800-\udfff]/.test(text[index] ?? '')
