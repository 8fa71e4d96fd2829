/** `. Did you mean "title"?` if one of the known names is close to it, and nothing otherwise. */
export function suggest(wrong: string, known: Iterable<string>): string {
  const nearest = findNearest(wrong, known)
  return nearest && `. Did you mean "${nearest}"?`
}

/** As `suggest`, and otherwise the known names. */
export function suggestOrList(wrong: string, known: Iterable<string>): string {
  const names = [...known]
  return suggest(wrong, names) || (names.length ? `. Choose from: ${listNames(names)}` : '')
}

const mostListed = 40

/** `open, closed` */
export function listNames(names: string[]): string {
  const more = names.length - mostListed
  return more > 0 ? `${names.slice(0, mostListed).join(', ')} and ${more} more` : names.join(', ')
}

/** An empty text if none is near. */
function findNearest(wrong: string, known: Iterable<string>): string {
  let [best, least] = ['', Math.max(1, Math.ceil(wrong.length / 3)) + 1]
  for (const name of known) {
    if (Math.abs(name.length - wrong.length) >= least) continue
    const distance = distanceOf(wrong.toLowerCase(), name.toLowerCase())
    if (distance < least) [best, least] = [name, distance]
  }
  return best
}

/** How many letters to insert, delete, replace or swap with their neighbour (Damerau and Levenshtein). */
function distanceOf(one: string, other: string): number {
  let [before, last] = [[] as number[], Array.from({ length: other.length + 1 }, (_, index) => index)]
  for (let row = 1; row <= one.length; row++) {
    const next = [row]
    for (let column = 1; column <= other.length; column++) {
      const same = one[row - 1] === other[column - 1]
      const steps = [(last[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1, (last[column - 1] ?? 0) + (same ? 0 : 1)]
      const swapped = row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1]
      if (swapped) steps.push((before[column - 2] ?? 0) + 1)
      next.push(Math.min(...steps))
    }
    ;[before, last] = [last, next]
  }
  return last[other.length] ?? 0
}
