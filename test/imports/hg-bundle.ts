import { createHash } from 'node:crypto'

/** A changeset. Paths are in Latin-1; texts in strings are UTF-8. */
export interface Wish {
  parents?: number[]
  set?: Record<string, string | Buffer | { text: string | Buffer; flag?: 'l' | 'x'; copied_from?: string }>
  remove?: string[]
  user?: string
  time?: number
  /** Seconds west of UTC. */
  west?: number
  branch?: string
  closes?: boolean
  message?: string | Buffer
}

/** By path, in no order. */
export type Tree = Map<string, { node: string; flag: string; text: Buffer }>

interface Entry {
  node: string
  p1: string
  p2: string
  changeset: string
  delta: Buffer
}

const none = '0'.repeat(40)
// Trees of older changesets are dropped; nothing is branched from them.
const remembered = 64

/** Writes the oldest format that `hg unbundle` reads, with any history, also those that no command makes. */
export function openHgBundle() {
  const changelog: Entry[] = []
  const manifests: Entry[] = []
  const files = new Map<string, Entry[]>()
  const latest = new Map<string, Buffer>()
  const trees = new Map<number, Tree>()
  // The sorted lines of manifests, each after its path.
  const lists = new Map<number, string[]>()
  let listed: string[] = []
  const manifestOf: string[] = []
  const known = new Set<string>()

  function add(
    log: string,
    entries: Entry[],
    text: Buffer,
    p1: string,
    p2: string,
    changeset: string,
    compare = difference,
  ): string {
    const node = hash(text, p1, p2)
    if (known.has(`${log} ${node}`)) return node
    known.add(`${log} ${node}`)
    entries.push({ node, p1, p2, changeset: changeset || node, delta: compare(latest.get(log) ?? Buffer.alloc(0), text) })
    latest.set(log, text)
    return node
  }

  function commit({
    parents = changelog.length > 0 ? [changelog.length - 1] : [],
    set = {},
    remove = [],
    ...wish
  }: Wish): number {
    const [first, second] = parents.map((parent) => trees.get(parent) as Tree)
    const tree: Tree = new Map(first)
    const lines = parents[0] === undefined ? [] : [...(lists.get(parents[0]) as string[])]
    const pending: ((changeset: string) => void)[] = []
    for (const path of remove) {
      tree.delete(path)
      putLine(lines, path)
    }
    for (const [path, content] of Object.entries(set)) {
      const { text, flag, copied_from }: { text: string | Buffer; flag?: string; copied_from?: string } =
        typeof content === 'string' || Buffer.isBuffer(content) ? { text: content } : content
      const bytes = Buffer.from(text as string)
      const source = copied_from && first?.get(copied_from)?.node
      const head = source ? `copy: ${copied_from}\ncopyrev: ${source}\n` : ''
      const escaped = head || bytes.subarray(0, 2).equals(Buffer.from('\x01\n'))
      const stored = escaped ? Buffer.concat([Buffer.from(`\x01\n${head}\x01\n`, 'latin1'), bytes]) : bytes
      const p1 = source ? none : (first?.get(path)?.node ?? none)
      const other = second?.get(path)?.node ?? none
      const p2 = other === p1 ? none : other
      const node = hash(stored, p1, p2)
      tree.set(path, { node, flag: flag ?? '', text: bytes })
      putLine(lines, path, `${path}\0${node}${flag ?? ''}\n`)
      const log = files.get(path) ?? []
      files.set(path, log)
      pending.push((changeset) => add(`file ${path}`, log, stored, p1, p2, changeset))
    }
    const number = changelog.length
    const [m1 = none, m2 = none] = parents.map((parent) => manifestOf[parent] as string)
    const list = Buffer.from(lines.join(''), 'latin1')
    const unchanged = Object.keys(set).length + remove.length === 0 && parents.length === 1
    const manifest = unchanged ? m1 : lines.length === 0 ? none : hash(list, m1, m2)
    const [c1 = none, c2 = none] = parents.map((parent) => changelog[parent]?.node as string)
    const changeset = add('changelog', changelog, describe(wish, manifest, [...Object.keys(set), ...remove]), c1, c2, '')
    if (!unchanged && lines.length > 0) {
      add('manifests', manifests, list, m1, m2, changeset, () => differenceOfSorted(listed, lines))
      listed = lines
    }
    for (const write of pending) write(changeset)
    manifestOf.push(manifest)
    trees.set(number, tree)
    trees.delete(number - remembered)
    lists.set(number, lines)
    lists.delete(number - remembered)
    return number
  }

  /** In the oldest format, or in the one with flags. */
  function changegroup(flagsOf?: (log: string) => number): Buffer {
    const group = (log: string, entries: Entry[]) => [...describeGroup(entries, flagsOf?.(log)), Buffer.alloc(4)]
    const names = [...files.keys()].sort()
    const logs = names.flatMap((name) => [chunk(Buffer.from(name, 'latin1')), ...group(name, files.get(name) as Entry[])])
    const folders = Buffer.alloc(flagsOf ? 4 : 0)
    return Buffer.concat([...group('changelog', changelog), ...group('manifests', manifests), folders, ...logs, Buffer.alloc(4)])
  }

  return {
    commit,
    tree: (number: number) => trees.get(number) as Tree,
    node: (number: number) => changelog[number]?.node as string,
    bytes: () => Buffer.concat([Buffer.from('HG10UN'), changegroup()]),
    changegroup,
  }
}

function hash(text: Buffer, p1: string, p2: string): string {
  return createHash('sha1')
    .update(Buffer.from([p1, p2].sort().join(''), 'hex'))
    .update(text)
    .digest('hex')
}

function describe(
  { user = 'Ann <ann@example.org>', time = 1_600_000_000, west = 0, ...wish }: Wish,
  manifest: string,
  files: string[],
) {
  const extra = [...(wish.branch ? [`branch:${wish.branch}`] : []), ...(wish.closes ? ['close:1'] : [])]
  const escaped = extra.map((pair) => pair.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')).join('\0')
  const head = Buffer.from(`${manifest}\n${user}\n${time} ${west}${escaped && ` ${escaped}`}\n`)
  const names = files.sort().map((file) => `${file}\n`)
  return Buffer.concat([head, Buffer.from(`${names.join('')}\n`, 'latin1'), Buffer.from((wish.message ?? 'change') as string)])
}

/** One hunk from the first difference to the last. */
function difference(before: Buffer, after: Buffer): Buffer {
  const size = Math.min(before.length, after.length)
  const start = common(size, (at, length) => before.compare(after, at, at + length, at, at + length) === 0)
  const end = common(size - start, (at, length) => {
    const [from, to] = [before.length - at - length, after.length - at - length]
    return before.compare(after, to, to + length, from, from + length) === 0
  })
  return piece(start, before.length - end, after.subarray(start, after.length - end))
}

function piece(start: number, end: number, text: Buffer): Buffer {
  const head = Buffer.alloc(12)
  head.writeUInt32BE(start)
  head.writeUInt32BE(end, 4)
  head.writeUInt32BE(text.length, 8)
  return Buffer.concat([head, text])
}

function putLine(lines: string[], path: string, line?: string) {
  const key = `${path}\0`
  let [from, to] = [0, lines.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if ((lines[middle] as string) < key) from = middle + 1
    else to = middle
  }
  lines.splice(from, lines[from]?.startsWith(key) ? 1 : 0, ...(line === undefined ? [] : [line]))
}

/** Hunks of manifests must consist of whole lines. */
function differenceOfSorted(old: string[], now: string[]): Buffer {
  const pieces: Buffer[] = []
  let [at, start, left, right] = [0, 0, 0, 0]
  let text = ''
  const flush = () => {
    if (at > start || text !== '') pieces.push(piece(start, at, Buffer.from(text, 'latin1')))
    text = ''
  }
  while (left < old.length || right < now.length) {
    const [gone = '\uffff', come = '\uffff'] = [old[left], now[right]]
    if (gone === come) {
      flush()
      at += gone.length
      start = at
      left++
      right++
    } else if (gone < come) {
      at += gone.length
      left++
    } else {
      text += come
      right++
    }
  }
  flush()
  return Buffer.concat(pieces)
}

/** The length of the equal start, in large steps first. */
function common(size: number, isEqual: (at: number, length: number) => boolean): number {
  let at = 0
  for (let step = 1 << 16; step >= 1; step >>= 4) while (at + step <= size && isEqual(at, step)) at += step
  return at
}

function describeGroup(entries: Entry[], flags: number | undefined): Buffer[] {
  return entries.map(({ node, p1, p2, changeset, delta }, index) => {
    const base = flags === undefined ? '' : (entries[index - 1]?.node ?? none)
    const end = flags === undefined ? '' : flags.toString(16).padStart(4, '0')
    return chunk(Buffer.from(node + p1 + p2 + base + changeset + end, 'hex'), delta)
  })
}

function chunk(...pieces: Buffer[]): Buffer {
  const head = Buffer.alloc(4)
  head.writeUInt32BE(4 + pieces.reduce((sum, piece) => sum + piece.length, 0))
  return Buffer.concat([head, ...pieces])
}
