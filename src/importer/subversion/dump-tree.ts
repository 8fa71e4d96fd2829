import { createHash } from 'node:crypto'
import { ImportFailure } from '#importer/source.ts'
import type { Dump, DumpRecord, Properties } from './dump.ts'
import { type Traits, traitsIn } from './gitattributes.ts'
import { type IgnoreLists, listsIn } from './gitignore.ts'
import type { Folder, Inspector, Listed } from './inspector.ts'

interface FileNode {
  md5: string
  executable: boolean
  special: boolean
  traits: Traits
  changed: number
}

/** A folder of all revisions. A copy refers to its source and has only the differences, so memory grows with changes alone. */
interface FolderNode {
  source: { folder: FolderNode; number: number } | undefined
  entries: Map<string, Version<Node | undefined>[]>
  lists: Version<IgnoreLists>[]
  /** The revisions that changed anything in it. */
  changed: number[]
}

type Node = FileNode | FolderNode

/** A value from a revision on. */
interface Version<T> {
  number: number
  value: T
}

export type DumpTree = ReturnType<typeof openDumpTree>

/**
 * The tree of every revision of a dump, by checksums. It is built from the headers of the dump alone, without git and without applying
 * deltas, so it can prove what the conversion made of the contents. A partial tree creates folders that it needs and were not added.
 */
export function openDumpTree({ partial = false } = {}) {
  const root = newFolder()
  let current = 0
  let first = 0

  async function apply(record: DumpRecord, dump?: Dump) {
    const { headers, properties } = record
    const path = namesIn(headers.get('Node-path') ?? '')
    const action = headers.get('Node-action')
    const name = path.at(-1)
    if (name === undefined) return describeFolder(root, properties, isDelta(headers))
    const parent = folderForWriting(path.slice(0, -1))
    if (action === 'delete') return set(parent, name, undefined)
    const before = action === 'change' ? entryAt(parent, name, current) : copied(headers)
    if (headers.get('Node-kind') === 'dir' || (before && 'entries' in before && headers.get('Node-kind') === undefined)) {
      const folder = before && 'entries' in before ? before : newFolder()
      describeFolder(action === 'change' ? folderForWriting(path) : folder, properties, isDelta(headers))
      if (action !== 'change') set(parent, name, folder)
      return
    }
    const former = before && 'md5' in before ? before : undefined
    set(parent, name, await readFile(record, former, dump))
  }

  /** A folder that can be changed in the current revision: copies on the way become folders of their own. */
  function folderForWriting(path: string[]): FolderNode {
    let folder = root
    touch(folder)
    for (const name of path) {
      const present = entryAt(folder, name, current)
      if (!partial && !(present && 'entries' in present)) throw notComplete(first)
      const found = present && 'entries' in present ? present : newFolder()
      const own = folder.entries.get(name)?.at(-1)?.value === found ? found : copyOf(found, sourceNumber(folder, name))
      if (own !== found) set(folder, name, own)
      touch(own)
      folder = own
    }
    return folder
  }

  /** The revision at which an inherited entry is seen. */
  function sourceNumber({ entries, source }: FolderNode, name: string): number {
    if (!source || entries.has(name)) return current
    return Math.min(source.number, sourceNumberAt(source.folder, name, source.number))
  }

  function sourceNumberAt({ entries, source }: FolderNode, name: string, number: number): number {
    const own = entries.get(name)
    if ((own && versionAt(own, number)) || !source) return number
    return sourceNumberAt(source.folder, name, Math.min(source.number, number))
  }

  function copied(headers: Map<string, string>): Node | undefined {
    const path = headers.get('Node-copyfrom-path')
    if (path === undefined) return undefined
    const number = Number(headers.get('Node-copyfrom-rev'))
    const found = find(namesIn(path), number)
    if (!found && partial) return undefined
    if (!found) throw notComplete(first)
    return 'entries' in found.node ? copyOf(found.node, found.number) : found.node
  }

  function set(folder: FolderNode, name: string, value: Node | undefined) {
    const versions = folder.entries.get(name)
    const last = versions?.at(-1)
    if (last?.number === current) last.value = value
    else if (versions) versions.push({ number: current, value })
    else folder.entries.set(name, [{ number: current, value }])
    touch(folder)
  }

  function touch({ changed }: FolderNode) {
    if (changed.at(-1) !== current) changed.push(current)
  }

  function describeFolder(folder: FolderNode, properties: Properties | undefined, delta: boolean) {
    if (!properties) return
    const former = delta ? listsAt(folder, current) : {}
    const lists = listsIn((name) => textOf(properties, name), former)
    if (folder.lists.at(-1)?.number === current) folder.lists.pop()
    folder.lists.push({ number: current, value: lists })
    touch(folder)
  }

  async function readFile({ headers, properties }: DumpRecord, former: FileNode | undefined, dump?: Dump): Promise<FileNode> {
    const has = (name: string, before: boolean | undefined) => {
      const value = properties?.get(name)
      if (!properties || (value === undefined && isDelta(headers))) return before ?? false
      return value !== undefined && value !== null
    }
    const text = headers.has('Text-content-length')
    return {
      md5: text ? (headers.get('Text-content-md5') ?? (dump ? await sumOf(dump, headers) : '')) : (former?.md5 ?? emptyText),
      executable: has('svn:executable', former?.executable),
      special: has('svn:special', former?.special),
      traits: properties
        ? traitsIn((name) => textOf(properties, name), isDelta(headers) ? former?.traits : undefined)
        : (former?.traits ?? {}),
      changed: text || properties || !former ? current : former.changed,
    }
  }

  /** The node at a path, and the revision at which to look into it. */
  function find(path: string[], number: number): { node: Node; number: number } | undefined {
    let node: Node | undefined = root
    let at = number
    for (const name of path) {
      if (!node || !('entries' in node)) return undefined
      const next: Node | undefined = entryAt(node, name, at)
      at = sourceNumberAt(node, name, at)
      node = next
    }
    return node && { node, number: at }
  }

  function look(path: string, number: number): Folder | undefined {
    const found = find(namesIn(path), number)
    if (!found || !('entries' in found.node)) return
    const folder = found.node
    const entries = [...namesOf(folder)].flatMap((name): Listed[] => {
      const node = entryAt(folder, name, found.number)
      if (!node) return []
      if ('md5' in node) return [{ name, folder: false, ...node }]
      const changed = changedAt(node, sourceNumberAt(folder, name, found.number))
      return [{ name, folder: true, changed, md5: '', executable: false, special: false, traits: {} }]
    })
    return { entries, lists: listsAt(folder, found.number) }
  }

  function list(path: string, number: number): Folder {
    const folder = look(path, number)
    if (!folder) throw new ImportFailure(`The dump has no folder ${path} in revision ${number}.`)
    return folder
  }

  return {
    /** Begins a revision. */
    begin(number: number) {
      current = number
      if (first === 0) first = number
    },
    /** Applies a change of a path. */
    apply,
    look,
    list,
  }
}

/** Lists the folders of a dump. */
export function inspectDumpTree({ list }: DumpTree, ignores = false): Inspector {
  return {
    async list(path, number) {
      const { entries, lists } = list(path, number)
      return { entries, lists: ignores ? lists : {} }
    },
    async [Symbol.asyncDispose]() {},
  }
}

const newFolder = (): FolderNode => ({ source: undefined, entries: new Map(), lists: [], changed: [] })

const copyOf = (folder: FolderNode, number: number): FolderNode => ({ ...newFolder(), source: { folder, number } })

const namesIn = (path: string) => path.split('/').filter((name) => name !== '')

const isDelta = (headers: Map<string, string>) => headers.get('Prop-delta') === 'true'

const textOf = (properties: Properties, name: string) => {
  const value = properties.get(name)
  return value === null ? null : value?.toString()
}

/** The last element that is not after a revision, in a list sorted by revision. */
function lastUpTo<T>(all: T[], number: number, numberOf: (one: T) => number): T | undefined {
  let low = 0
  let high = all.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (numberOf(all[middle] as T) <= number) low = middle + 1
    else high = middle
  }
  return all[low - 1]
}

const versionAt = <T>(versions: Version<T>[], number: number) => lastUpTo(versions, number, (version) => version.number)

function entryAt({ entries, source }: FolderNode, name: string, number: number): Node | undefined {
  const own = versionAt(entries.get(name) ?? [], number)
  if (own) return own.value
  return source && entryAt(source.folder, name, Math.min(source.number, number))
}

function listsAt({ lists, source }: FolderNode, number: number): IgnoreLists {
  const own = versionAt(lists, number)
  return own ? own.value : source ? listsAt(source.folder, Math.min(source.number, number)) : {}
}

function changedAt({ changed, source }: FolderNode, number: number): number {
  const own = lastUpTo(changed, number, (each) => each)
  return own ?? (source ? changedAt(source.folder, Math.min(source.number, number)) : 0)
}

function namesOf({ entries, source }: FolderNode): Set<string> {
  return new Set([...entries.keys(), ...(source ? namesOf(source.folder) : [])])
}

/** The MD5 of an empty file. */
const emptyText = 'd41d8cd98f00b204e9800998ecf8427e'

/** Old dumps have no checksums, but whole texts. */
async function sumOf(dump: Dump, headers: Map<string, string>): Promise<string> {
  if (headers.get('Text-delta') === 'true') return ''
  const sum = createHash('md5')
  while (dump.left() > 0) sum.update(await dump.some())
  return sum.digest('hex')
}

function notComplete(first: number) {
  const from = first > 1 ? `begins at revision ${first} and ` : ''
  return new ImportFailure(
    `The dump ${from}refers to folders that it does not contain. Dump the whole repository: svnadmin dump REPOSITORY > FILE.`,
  )
}
