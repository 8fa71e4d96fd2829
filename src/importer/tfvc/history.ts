import { closeSync, openSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Note, Notes } from '#importer/notes.ts'
import type { Workspace } from '#importer/source.ts'
import { type Revision, readLines } from '#importer/staging/arrange/revisions.ts'
import { stageGit } from '#importer/staging/git.ts'
import { authorOf } from './authors.ts'
import type { Changeset } from './changesets.ts'
import { openNames } from './names.ts'
import { folded } from './paths.ts'
import type { Origin, Plan } from './plan.ts'

/** The extent of an import. If it changes, the import starts over. */
export interface Extent {
  collection: string
  project: string
  /** The last changeset. A resumed run keeps it, so that the result is the same. */
  until: number
}

/** The progress so far, up to the last commit of `refs/import/raw`. */
export type History = Awaited<ReturnType<typeof openHistory>>

/** A line of the file of revisions, with the facts that a resumed run needs. */
export interface Line extends Revision {
  remote_id: string
  remote_name: string
  discarded?: string[]
  left_out?: number
  gone?: number
}

export const revisionsFile = (folder: string) => join(folder, 'revisions.jsonl')
export const marksFile = (folder: string) => join(folder, 'raw.marks')
const extentFile = (folder: string) => join(folder, 'tfvc.json')

export async function openHistory(workspace: Workspace, wanted: Extent) {
  const { folder, repository } = workspace
  const log = revisionsFile(folder)
  const before = readExtent(folder)
  const same = before && before.collection === wanted.collection && before.project === wanted.project
  if (!same) await startOver(folder, repository, wanted)
  if (same && workspace.extend) saveExtent(folder, wanted)
  const extent = same && !workspace.extend ? before : wanted

  const commits = (await stageGit(['-C', repository, 'rev-list', '--reverse', 'refs/import/raw', '--']).catch(() => '')).split(
    '\n',
  )
  const names = openNames()
  const authors = new Set<string>()
  const notes: Notes = {}
  const lost = new Map<string, Origin>()
  const history = {
    until: extent.until,
    /** The last converted changeset or 0, and the number of converted ones. */
    last: 0,
    count: 0,
    /** The parent of the next commit, if git does not know it. */
    parent: undefined as string | undefined,
    names,
    lost,
    marks: marksFile(folder),
    notes,
    /** The path in its current or last spelling. */
    spell: (path: string) => names.find(path)?.path ?? lost.get(folded(path))?.path ?? path,
    add,
    flush,
  }
  let pending: string[] = []
  const marks: string[] = []
  let length = 0
  for await (const text of commits.length > 1 ? readLines(log) : []) {
    const commit = commits[history.count]
    if (!commit) break
    const line: Line = JSON.parse(text)
    replay(line)
    marks.push(`:${line.number} ${commit}\n`)
    length += Buffer.byteLength(text) + 1
  }
  truncateSync(log, length)
  writeFileSync(history.marks, marks.join(''))
  if (history.count > 0) {
    history.parent = `:${history.last}`
    for (const path of await listPaths(repository)) names.put(path, false)
  }

  function replay(line: Line) {
    for (const { action, path } of line.changes) {
      if (action === 'delete') {
        if (names.find(path)?.folder) lost.set(folded(path), { number: line.number - 1, path })
        names.remove(path)
      } else if (action === 'add') names.put(path, true)
    }
    for (const path of Object.keys(line.files)) names.put(path, true)
    account(line)
  }

  function account({ number, remote_id, remote_name, name, email, left_out = 0, gone = 0 }: Line) {
    history.last = number
    history.count += 1
    note('files with names that git refuses', left_out)
    note('contents that the source no longer has', gone)
    if (authors.has(remote_id)) return
    authors.add(remote_id)
    workspace.onProgress({ authors: [{ remote_id, remote_name, name, email }] })
  }

  function note(what: Note, count: number) {
    if (count > 0) notes[what] = (notes[what] ?? 0) + count
  }

  function add({ id, author, time, comment }: Changeset, { changes, files, left_out, discarded }: Plan, gone: number) {
    const line: Line = {
      number: id,
      ...authorOf(author),
      time,
      message: comment.replaceAll('\r\n', '\n'),
      changes,
      files,
      ...(discarded.length > 0 && { discarded }),
      ...(left_out > 0 && { left_out }),
      ...(gone > 0 && { gone }),
    }
    pending.push(`${JSON.stringify(line)}\n`)
    history.parent = `:${id}`
    account(line)
  }

  /** Must be called before a checkpoint of git. */
  function flush() {
    const file = openSync(log, 'a', 0o600)
    for (const line of pending) writeSync(file, line)
    closeSync(file)
    pending = []
  }

  return history
}

export function readExtent(folder: string): Extent | undefined {
  try {
    return JSON.parse(readFileSync(extentFile(folder), 'utf8'))
  } catch {
    return undefined
  }
}

async function startOver(folder: string, repository: string, extent: Extent) {
  rmSync(extentFile(folder), { force: true })
  await stageGit(['-C', repository, 'update-ref', '-d', 'refs/import/raw'])
  writeFileSync(revisionsFile(folder), '', { mode: 0o600 })
  saveExtent(folder, extent)
}

function saveExtent(folder: string, extent: Extent) {
  writeFileSync(`${extentFile(folder)}.new`, JSON.stringify(extent), { mode: 0o600 })
  renameSync(`${extentFile(folder)}.new`, extentFile(folder))
}

async function listPaths(repository: string): Promise<string[]> {
  const listed = await stageGit(['-C', repository, 'ls-tree', '-r', '-z', '--name-only', 'refs/import/raw'])
  return listed.split('\0').filter((path) => path !== '')
}
