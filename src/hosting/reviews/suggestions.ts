/** A part of a comment: text, or a suggestion for the lines that it is about. */
interface Piece {
  text?: string
  suggestion?: string
}

/** Each is shown as a diff and a form. Further ones of a comment are text. */
const mostSuggestions = 20

const openingOf = (line: string) => /^(`{3,})suggestion[^`]*$/.exec(line)?.[1]?.length ?? 0
const closingOf = (line: string) => /^(`{3,})[ \t]*\r?$/.exec(line)?.[1]?.length ?? 0

/** The text of a comment, divided at its suggestions. A closing fence has at least as many backticks as the opening one. */
export function piecesOf(body: string): Piece[] {
  const lines = body.split('\n')
  const closings = lines.map(closingOf)
  const longest = longestFrom(closings)
  const pieces: Piece[] = []
  let [from, found] = [0, 0]
  const addText = (to: number) => {
    const text = `${lines.slice(from, to).join('\n')}${to < lines.length ? '\n' : ''}`
    if (text.trim()) pieces.push({ text })
  }
  for (let index = 0; index < lines.length && found < mostSuggestions; index++) {
    const size = openingOf(lines[index] ?? '')
    if (size === 0 || (longest[index + 1] ?? 0) < size) continue
    let end = index + 1
    while ((closings[end] ?? 0) < size) end++
    addText(index)
    pieces.push({
      suggestion: lines
        .slice(index + 1, end)
        .map((line) => `${line}\n`)
        .join(''),
    })
    found++
    from = end + 1
    index = end
  }
  addText(lines.length)
  return pieces
}

/** The longest closing fence from each line on. Without it, each opening fence that is never closed would search all lines after it. */
function longestFrom(closings: number[]) {
  const longest = [...closings]
  for (let index = longest.length - 2; index >= 0; index--)
    longest[index] = Math.max(longest[index] ?? 0, longest[index + 1] ?? 0)
  return longest
}
