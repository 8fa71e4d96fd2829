/** Parses `svn:mergeinfo`: the merged revisions by path. Ranges marked with `*` are skipped, because they were merged into a part only. */
export function* readMergeinfo(text: string): Generator<{ path: string; ranges: [number, number][] }> {
  for (const line of text.split('\n')) {
    const colon = line.lastIndexOf(':')
    if (colon < 1) continue
    const ranges = line
      .slice(colon + 1)
      .split(',')
      .filter((range) => /^\d+(-\d+)?$/.test(range))
      .map((range): [number, number] => {
        const [first, last] = range.split('-').map(Number)
        return [first ?? 0, last ?? first ?? 0]
      })
    yield { path: line.slice(0, colon).replace(/^\//, ''), ranges }
  }
}
