import type { Note } from '#importer/notes.ts'
import { type FastImport, quotePath } from '#importer/staging/fast-import.ts'
import type { DumpRecord } from './dump.ts'
import { openDumpTree } from './dump-tree.ts'
import { attributesFile, traitProperties, writeAttributesFile } from './gitattributes.ts'
import type { CopySource, PropertyTracker } from './ignore-lists.ts'
import { joinPath } from './layout.ts'
import { openLog, readLog } from './revision-log.ts'

/** A change of a path, as it is stored for a resumed run: headers, and the properties that count. */
type Step = [headers: [string, string][], properties?: [string, string | null][]]

export interface AttributeOptions {
  /** The file of stored changes, and the valid length of it. */
  file: string
  length: number
  /** The first revision to read. */
  begin: number
  count(what: Note): void
}

const replaced = 'lists of attributes left out for a .gitattributes of the source'

/** Tracks the properties of files in each revision and writes the `.gitattributes` files. */
export async function openAttributeFiles({ file, length, begin, count }: AttributeOptions): Promise<PropertyTracker> {
  const tree = openDumpTree({ partial: true })
  let current = begin
  let steps: Step[] = []
  for (const line of readLog(file, length)) {
    const revision: { number: number; steps: Step[] } = JSON.parse(line)
    tree.begin(revision.number)
    for (const step of revision.steps) await tree.apply(recordOf(step))
  }
  tree.begin(current)
  const log = openLog(file, length)
  const touched = new Set<string>()

  async function read({ headers, properties }: DumpRecord, copied: CopySource | undefined) {
    const path = headers.get('Node-path') ?? ''
    const isFolder = headers.get('Node-kind') === 'dir'
    if (path === '' || (headers.get('Node-action') === 'change' && (isFolder || !properties))) return
    const step: Step = [
      [
        ...['Node-path', 'Node-kind', 'Node-action', 'Prop-delta'].map((name): [string, string] => [
          name,
          headers.get(name) ?? '',
        ]),
        ...(copied ? copyHeaders(copied) : []),
      ].filter(([, value]) => value !== ''),
    ]
    if (properties && !isFolder)
      step.push(
        traitProperties.flatMap((name) => (properties.has(name) ? [[name, properties.get(name)?.toString() ?? null]] : [])),
      )
    steps.push(step)
    await tree.apply(recordOf(step))
    if (!isFolder) touched.add(path.slice(0, Math.max(path.lastIndexOf('/'), 0)))
  }

  /** Ends a revision: writes the changed files into the open commit. */
  async function settle(git: FastImport, number: number) {
    for (const path of touched) {
      const folder = tree.look(path, current)
      // The file was deleted with its folder.
      if (!folder) continue
      const content = writeAttributesFile(folder.entries.filter((entry) => !entry.folder))
      if (folder.entries.some(({ name }) => name === attributesFile)) {
        if (content !== undefined) count(replaced)
        continue
      }
      const target = quotePath(joinPath(path, attributesFile))
      if (content === undefined) await git.write(`D ${target}\n`)
      else {
        await git.write(`M 100644 inline ${target}\n`)
        await git.data(Buffer.from(content))
      }
    }
    touched.clear()
    if (steps.length > 0) log.write({ number: current, steps })
    steps = []
    current = number + 1
    tree.begin(current)
  }

  return { read, settle, flush: log.flush, close: log.close }
}

const copyHeaders = ({ path, number }: CopySource): [string, string][] => [
  ['Node-copyfrom-path', path],
  ['Node-copyfrom-rev', `${number}`],
]

function recordOf([headers, properties]: Step): DumpRecord {
  const values = properties?.map(([name, value]) => [name, value === null ? null : Buffer.from(value)] as const)
  return { headers: new Map(headers), properties: values && new Map(values) }
}
