/** What `svn:mergeinfo` says: of which paths which revisions were merged; those that are marked were not merged into all of it. */
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
