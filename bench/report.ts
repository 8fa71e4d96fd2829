export const write = (line: string) => process.stdout.write(`${line}\n`)

export const median = (numbers: number[]) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0

let missed = 0

/** What is measured against what is wanted: at least, or at most, so much. */
export function judge(measured: number, wanted: { least: number } | { most: number } | undefined) {
  if (!wanted) return ''
  const met = 'least' in wanted ? measured >= wanted.least : measured <= wanted.most
  if (!met) missed++
  return `${'least' in wanted ? `≥ ${wanted.least}` : `≤ ${wanted.most}`}${met ? '' : ' **missed**'}`
}

export function conclude() {
  write(missed ? `\n${missed} of the targets are missed.` : '\nEvery target is met.')
}
