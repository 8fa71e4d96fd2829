import type { Note } from '#importer/notes.ts'
import { type FastImport, quotePath } from '#importer/staging/fast-import.ts'
import type { DumpRecord } from './dump.ts'
import { type IgnoreLists, listsIn, writeIgnoreFile } from './gitignore.ts'
import { joinPath } from './layout.ts'
import { openLog, readLog } from './revision-log.ts'

/** A folder that has lists, its own `.gitignore`, or such folders in it. Immutable, because earlier revisions share it. */
interface ListNode {
  lists?: IgnoreLists
  own?: boolean
  folders?: ReadonlyMap<string, ListNode>
}

export interface CopySource {
  number: number
  path: string
}

/** A change of lists, as it is stored for a resumed run. */
type Step = { path: string } & ({ lists: IgnoreLists } | { own: boolean } | { gone: true } | { from: CopySource })

export interface ListOptions {
  /** The file of stored changes, and the valid length of it. */
  file: string
  length: number
  /** Whether a folder is inside a branch or tag. */
  isInside(path: string): boolean
  count(what: Note): void
}

const turned = 'ignore lists turned into .gitignore'
const replaced = 'ignore lists left out for a .gitignore of the source'
const outside = 'ignore lists outside of branches and tags'

/** Follows the properties of each revision and writes files made of them. */
export interface PropertyTracker {
  read(record: DumpRecord, copied: CopySource | undefined): void | Promise<void>
  /** Ends a revision. */
  settle(git: FastImport, number: number): Promise<void>
  flush(): number
  close(): void
}

/** Tracks the ignore lists of each revision and writes the `.gitignore` files. */
export function openLists({ file, length, isInside, count }: ListOptions): PropertyTracker {
  const states: { number: number; root: ListNode | undefined }[] = []
  let root: ListNode | undefined
  let steps: Step[] = []
  for (const line of readLog(file, length)) {
    const revision: { number: number; steps: Step[] } = JSON.parse(line)
    for (const step of revision.steps) applyStep(step)
    states.push({ number: revision.number, root })
  }
  const log = openLog(file, length)
  const touched = new Set<string>()

  function applyStep(step: Step) {
    root = replaceNode(root, namesIn(step.path), (node) => {
      if ('gone' in step) return
      if ('from' in step) return find(stateAt(step.from.number), step.from.path)
      return 'own' in step ? { ...node, own: step.own } : { ...node, lists: step.lists }
    })
  }

  function note(step: Step) {
    const before = root
    applyStep(step)
    if (root !== before) steps.push(step)
  }

  function stateAt(number: number) {
    return states.findLast((state) => state.number <= number)?.root
  }

  function read({ headers, properties }: DumpRecord, copied: CopySource | undefined) {
    const path = headers.get('Node-path') ?? ''
    const action = headers.get('Node-action')
    if (action === 'delete' || action === 'replace') note({ path, gone: true })
    if (copied) note({ path, from: copied })
    const file = /^(?:(.*)\/)?\.gitignore$/s.exec(path)
    if (file && action !== 'change') {
      const [, folder = ''] = file
      note({ path: folder, own: action !== 'delete' })
      touched.add(folder)
    }
    if (headers.get('Node-kind') !== 'dir' || !properties || action === 'delete') return
    const former = headers.get('Prop-delta') === 'true' ? find(root, path)?.lists : undefined
    const lists = listsIn((name) => properties.get(name)?.toString() ?? (properties.has(name) ? null : undefined), former)
    if (JSON.stringify(lists) === JSON.stringify(find(root, path)?.lists ?? {})) return
    note({ path, lists })
    touched.add(path)
  }

  /** Ends a revision: writes the changed files into the open commit. */
  async function settle(git: FastImport, number: number) {
    for (const path of touched) {
      const { lists = {}, own = false } = find(root, path) ?? {}
      const content = writeIgnoreFile(lists)
      if (content !== undefined) count(isInside(path) ? (own ? replaced : turned) : outside)
      if (own) continue
      const target = quotePath(joinPath(path, '.gitignore'))
      if (content === undefined) await git.write(`D ${target}\n`)
      else {
        await git.write(`M 100644 inline ${target}\n`)
        await git.data(Buffer.from(content))
      }
    }
    touched.clear()
    if (steps.length === 0) return
    log.write({ number, steps })
    states.push({ number, root })
    steps = []
  }

  return { read, settle, flush: log.flush, close: log.close }
}

const namesIn = (path: string) => (path === '' ? [] : path.split('/'))

function find(root: ListNode | undefined, path: string): ListNode | undefined {
  let node = root
  for (const name of namesIn(path)) node = node?.folders?.get(name)
  return node
}

/** Replaces the node at a path without changing the former tree. Nodes without content are removed. */
function replaceNode(
  node: ListNode | undefined,
  [name, ...rest]: string[],
  change: (node: ListNode | undefined) => ListNode | undefined,
): ListNode | undefined {
  if (name === undefined) return pruned(change(node))
  const before = node?.folders?.get(name)
  const after = replaceNode(before, rest, change)
  if (before === after) return node
  const folders = new Map(node?.folders)
  if (after) folders.set(name, after)
  else folders.delete(name)
  return pruned({ ...node, folders })
}

function pruned(node: ListNode | undefined): ListNode | undefined {
  const hasContent = Object.keys(node?.lists ?? {}).length > 0 || node?.own || (node?.folders?.size ?? 0) > 0
  return hasContent ? node : undefined
}
