export type Cell = string | number | null

/** Rows with a heading, in columns. Control characters could move the cursor of a terminal, so they are replaced. */
export function textTable(heading: string[], rows: Cell[][], total = rows.length): string {
  const cells = [heading, ...rows.map((row) => row.map((cell) => printable(`${cell ?? '-'}`)))]
  const widths = heading.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)))
  const lines = cells.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
  if (total > rows.length) lines.push(`${rows.length} of ${total} are shown; see --limit and --page.`)
  return lines.join('\n')
}

export const printable = (text: string) => text.replaceAll(/\p{Cc}+/gu, ' ')

/** A date in UTC, to the second. */
export const dateText = (date: Date | null) => date && `${date.toISOString().slice(0, 19)}Z`
