import { existsSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { readLines } from '#importer/staging/arrange/revisions.ts'
import { logFile } from './checkpoint.ts'
import type { Connection } from './connection.ts'
import { type DumpRecord, readDump } from './dump.ts'
import type { Plan } from './plan.ts'
import { addressOf, type Repository } from './projects.ts'
import { openLog } from './revision-log.ts'
import { readElements, type XmlElement } from './xml.ts'

/** A revision as the log of the server tells it, without contents. */
export interface LoggedRevision {
  number: number
  /** Sorted, so that a folder comes before what is in it. */
  paths: LoggedPath[]
}

export interface LoggedPath {
  path: string
  action: 'A' | 'M' | 'R' | 'D'
  /** Undefined if the server does not tell. */
  kind: 'file' | 'dir' | undefined
  from?: { number: number; path: string }
  /** A copy from a folder that is not read. */
  unread?: true
  /** The new value of the property. Only a dump tells it. */
  mergeinfo?: string
}

/** In bytes, of one revision: an import of 200,000 files. */
const maxRevision = 64 << 20

const fileOf = (folder: string, { head }: Plan) => logFile(folder, head)

/** Stores the log of the revisions that are read. A later call for the same revisions does nothing. */
export async function fetchLog(plan: Plan, repository: Repository, connection: Connection, folder: string) {
  const path = fileOf(folder, plan)
  if (existsSync(path)) return
  const draft = `${path}.new`
  await rm(draft, { force: true })
  const log = openLog(draft, 0)
  try {
    for await (const revision of readLog(plan, repository, connection)) log.write(revision)
    log.flush()
  } finally {
    log.close()
  }
  await rename(draft, path)
}

export const hasLog = (folder: string, plan: Plan) => existsSync(fileOf(folder, plan))

export async function* readStoredLog(folder: string, plan: Plan): AsyncGenerator<LoggedRevision> {
  for await (const line of readLines(fileOf(folder, plan))) yield JSON.parse(line)
}

export async function countLogged(folder: string, plan: Plan): Promise<number> {
  let count = 0
  for await (const _ of readLines(fileOf(folder, plan))) count++
  return count
}

async function* readLog(plan: Plan, repository: Repository, connection: Connection): AsyncGenerator<LoggedRevision> {
  if (plan.head === 0) return
  if (connection.file) {
    for await (const { number, paths } of readDumpLog(connection)) yield { number, paths: within(plan.dump, paths) }
    return
  }
  const range = ['--revision', `1:${plan.head}`]
  const what = ['log', '--xml', '--verbose', '--with-no-revprops', ...range]
  const source = connection.stream(what, `${addressOf(repository, plan.dump)}@${plan.head}`)
  try {
    for await (const element of readElements(source.output, 'logentry', maxRevision)) yield readEntry(element, plan.dump)
    await source.ended
  } catch (error) {
    // The program that ended early reports the reason.
    await source.ended
    throw error
  } finally {
    source.stop()
  }
}

function readEntry(element: XmlElement, dump: string): LoggedRevision {
  const found = element.children.filter(({ name }) => name === 'paths').flatMap(({ children }) => children)
  return { number: Number(element.attributes.revision), paths: within(dump, found.map(readPath)) }
}

function within(dump: string, found: LoggedPath[]): LoggedPath[] {
  const paths = found.filter(({ path }) => isIn(dump, path))
  paths.sort((one, other) => (one.path < other.path ? -1 : 1))
  for (const path of paths) {
    if (!path.from || isIn(dump, path.from.path)) continue
    delete path.from
    path.unread = true
  }
  return paths
}

function readPath({ text, attributes }: XmlElement): LoggedPath {
  const { action, kind } = attributes
  const from = attributes['copyfrom-path']
  return {
    path: text.replace(/^\//, ''),
    action: action as LoggedPath['action'],
    kind: kind === 'file' || kind === 'dir' ? kind : undefined,
    ...(from !== undefined && { from: { number: Number(attributes['copyfrom-rev']), path: from.replace(/^\//, '') } }),
  }
}

const actions: Record<string, LoggedPath['action']> = { add: 'A', change: 'M', replace: 'R', delete: 'D' }

/** A dump file has no server that tells its log. */
async function* readDumpLog(connection: Connection): AsyncGenerator<LoggedRevision> {
  const source = connection.dump([], '')
  const dump = readDump(source.output)
  let number = 0
  let paths = new Map<string, LoggedPath>()
  try {
    for (let record = await dump.next(); record; record = await dump.next()) {
      const begun = record.headers.get('Revision-number')
      if (begun === undefined) {
        const path = readNode(record)
        // A dump has two records where a server says that a path was replaced.
        if (path) paths.set(path.path, paths.get(path.path)?.action === 'D' ? { ...path, action: 'R' } : path)
        continue
      }
      if (number > 0) yield { number, paths: [...paths.values()] }
      number = Number(begun)
      paths = new Map()
    }
    if (number > 0) yield { number, paths: [...paths.values()] }
  } finally {
    source.stop()
  }
}

function readNode({ headers, properties }: DumpRecord): LoggedPath | undefined {
  const mergeinfo = properties?.get('svn:mergeinfo')?.toString()
  const [path, action, kind] = ['Node-path', 'Node-action', 'Node-kind'].map((name) => headers.get(name))
  const [from, revision] = [headers.get('Node-copyfrom-path'), headers.get('Node-copyfrom-rev')]
  if (path === undefined) return undefined
  return {
    path: path.replace(/^\//, ''),
    action: actions[action ?? ''] ?? 'M',
    kind: kind === 'file' || kind === 'dir' ? kind : undefined,
    ...(from !== undefined && { from: { number: Number(revision), path: from.replace(/^\//, '') } }),
    ...(mergeinfo !== undefined && { mergeinfo }),
  }
}

const isIn = (folder: string, path: string) => folder === '' || path === folder || path.startsWith(`${folder}/`)
