import { type Html, html } from '#web/html.ts'

/** Longer payloads take too long to compare: the time grows with the product of what differs. */
const mostLines = 3000

/** The lines of two payloads, with what only one of them has. */
export function compareLines(one: string, other: string): Html {
  const [left, right] = [one.split('\n'), other.split('\n')]
  if (left.length > mostLines || right.length > mostLines)
    return html`<p class="muted">These payloads are too long to be compared here.</p>`
  const lines = differences(left, right)
  if (lines.every(({ sign }) => sign === ' ')) return html`<p class="muted">The payloads are the same.</p>`
  return html`<pre class="body comparison" tabindex="0" role="group" aria-label="Differences">${lines.map(
    ({ sign, text }) => html`<span class="${sign === '-' ? 'removed' : sign === '+' ? 'added' : 'same'}">${sign} ${text}
</span>`,
  )}</pre>`
}

interface Line {
  sign: ' ' | '-' | '+'
  text: string
}

/** The longest common subsequence. Equal lines at both ends are set aside first, because most of two payloads is the same. */
function differences(left: string[], right: string[]): Line[] {
  let start = 0
  while (start < Math.min(left.length, right.length) && left[start] === right[start]) start++
  let end = 0
  while (end < Math.min(left.length, right.length) - start && left.at(-1 - end) === right.at(-1 - end)) end++
  const [a, b] = [left.slice(start, left.length - end), right.slice(start, right.length - end)]
  // Numbers, because millions of pairs are compared, and lines can be long.
  const [as, bs] = numbered(a, b)
  const width = b.length + 1
  const table = new Uint16Array((a.length + 1) * width)
  const at = (row: number, column: number) => table[row * width + column] ?? 0
  for (let row = a.length - 1; row >= 0; row--) {
    for (let column = b.length - 1; column >= 0; column--) {
      table[row * width + column] =
        as[row] === bs[column] ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1))
    }
  }
  const same = (text: string): Line => ({ sign: ' ', text })
  const lines: Line[] = left.slice(0, start).map(same)
  let [row, column] = [0, 0]
  while (row < a.length || column < b.length) {
    if (row < a.length && column < b.length && a[row] === b[column]) {
      lines.push(same(a[row] ?? ''))
      row++
      column++
    } else if (column >= b.length || (row < a.length && at(row + 1, column) >= at(row, column + 1))) {
      lines.push({ sign: '-', text: a[row++] ?? '' })
    } else {
      lines.push({ sign: '+', text: b[column++] ?? '' })
    }
  }
  return [...lines, ...left.slice(left.length - end).map(same)]
}

/** Equal lines get the same number. */
function numbered(...texts: string[][]) {
  const numbers = new Map<string, number>()
  const numberOf = (line: string) => numbers.get(line) ?? numbers.set(line, numbers.size).size - 1
  return texts.map((lines) => lines.map(numberOf)) as [number[], number[]]
}
