import type { Note } from '#importer/notes.ts'
import type { Author, Workspace } from '#importer/source.ts'
import type { Change, Revision } from '#importer/staging/arrange/revisions.ts'
import { type FastImport, openFastImport } from '#importer/staging/fast-import.ts'
import { openAttributeFiles } from './attribute-files.ts'
import { describeAuthor, noAuthor } from './authors.ts'
import { type Checkpoint, filesOf, readCheckpoint, saveCheckpoint } from './checkpoint.ts'
import type { Connection } from './connection.ts'
import { decodeText } from './decode-text.ts'
import { CutOff, type Dump, type DumpRecord, type Properties, readDump } from './dump.ts'
import { openLists } from './ignore-lists.ts'
import { isInside } from './layout.ts'
import { openNodeWriter } from './nodes.ts'
import { layoutsOf, type Plan } from './plan.ts'
import { addressOf, type Repository } from './projects.ts'
import { openRemarks } from './remarks.ts'
import { openLog } from './revision-log.ts'
import { openTextCache } from './text-cache.ts'

/** The largest distance between checkpoints. */
export interface Pace {
  revisions: number
  milliseconds: number
}

const ordinaryPace: Pace = { revisions: 1000, milliseconds: 10_000 }

/** Converts every revision into a commit of the whole tree on `refs/import/raw`, starting at the last checkpoint. */
export async function readHistory(
  plan: Plan,
  repository: Repository,
  connection: Connection,
  workspace: Workspace,
  pace = ordinaryPace,
): Promise<Checkpoint> {
  const { marks } = filesOf(workspace.history)
  const checkpoint = await readCheckpoint(workspace.history)
  const authors = openAuthors(plan.uuid, checkpoint.authors, workspace)
  workspace.onProgress({ commit_count: checkpoint.commit_count })
  if (checkpoint.number === plan.head) return checkpoint

  const from = checkpoint.number === 0 ? [] : ['--incremental']
  const range = ['--revision', `${checkpoint.number === 0 ? 0 : checkpoint.number + 1}:${plan.head}`]
  const git = openFastImport(workspace.repository, { signal: workspace.signal, marks })
  const source = connection.dump([...from, ...range], addressOf(repository, plan.dump))
  try {
    await readRevisions(readDump(source.output), git, checkpoint, authors.authorOf, plan, workspace, pace)
    await source.ended
    return checkpoint
  } catch (error) {
    // The program that ended early reports the reason.
    if (error instanceof CutOff) await source.ended
    throw error
  } finally {
    source.stop()
    git.stop()
  }
}

/** Reports each author once per run, also those of earlier runs. */
function openAuthors(uuid: string, logins: string[], { onProgress }: Workspace) {
  const met = new Map<string, Author>(logins.map((login) => [login, describeAuthor(login, uuid)]))
  if (met.size > 0) onProgress({ authors: [...met.values()] })
  return {
    authorOf(login: string): Author {
      const known = met.get(login)
      if (known) return known
      const author = describeAuthor(login, uuid)
      met.set(login, author)
      logins.push(login)
      onProgress({ authors: [author] })
      return author
    },
  }
}

async function readRevisions(
  dump: Dump,
  git: FastImport,
  checkpoint: Checkpoint,
  authorOf: (login: string) => Author,
  plan: Plan,
  { history: folder, onProgress }: Workspace,
  pace: Pace,
) {
  const { head, ignores, attributes } = plan
  const files = filesOf(folder)
  const log = openLog(files.revisions, checkpoint.length)
  const count = (what: Note) => {
    checkpoint.notes[what] = (checkpoint.notes[what] ?? 0) + 1
  }
  const keeping = {
    file: files.ignores,
    length: checkpoint.ignores ?? 0,
    isInside: (path: string) => layoutsOf(plan).some((layout) => isInside(layout, path)),
    count,
  }
  const lists = ignores ? openLists(keeping) : undefined
  const attributed = attributes
    ? await openAttributeFiles({
        file: files.attributes,
        length: checkpoint.attributes ?? 0,
        begin: checkpoint.number + 1,
        count,
      })
    : undefined
  const trackers = [lists, attributed].filter((tracker) => tracker !== undefined)
  const nodes = openNodeWriter(git, dump, openTextCache(files.texts), checkpoint, trackers)
  checkpoint.remarks ??= []
  const { notes, remarks, counted = 0 } = checkpoint
  const remarked = openRemarks({ notes, remarks, file: files.counted, length: counted })
  const started = performance.now()
  let last = { number: checkpoint.number, at: started, percent: -1 }
  let before = checkpoint.number

  async function finish(revision: Revision) {
    for (const tracker of trackers) await tracker.settle(git, revision.number)
    log.write(revision)
    checkpoint.number = revision.number
    checkpoint.time = revision.time
    if (revision.changes.length > 0 || Object.keys(revision.files).length > 0) checkpoint.commit_count++
    const percent = Math.floor((revision.number * 100) / head)
    if (percent > last.percent) onProgress({ percent, commit_count: checkpoint.commit_count })
    last.percent = percent
    const now = performance.now()
    // Each checkpoint makes a pack, and many packs slow git down, so the interval grows with the run time.
    const patience = Math.max(pace.milliseconds, (now - started) / 50)
    if (revision.number - last.number < pace.revisions && now - last.at < patience) return
    await git.checkpoint()
    await save()
    last = { number: revision.number, at: now, percent }
  }

  async function save() {
    checkpoint.length = log.flush()
    if (lists) checkpoint.ignores = lists.flush()
    if (attributed) checkpoint.attributes = attributed.flush()
    checkpoint.counted = remarked.flush()
    await saveCheckpoint(folder, checkpoint)
  }

  try {
    let revision: Revision | undefined
    for (let record = await dump.next(); record; record = await dump.next()) {
      if (record.headers.has('Revision-number')) {
        if (revision) await finish(revision)
        // Revision 0 is empty. A dump file begins with what an earlier run has read.
        const known = Number(record.headers.get('Revision-number')) <= checkpoint.number
        revision = known ? undefined : readRevision(record, checkpoint.time, authorOf)
        if (!revision) continue
        await beginCommit(git, revision, before)
        before = 0
      } else if (revision && record.headers.has('Node-path')) {
        remarked.read(revision.number, record.headers.get('Node-path') ?? '', record)
        recordChange(revision, record)
        await nodes.apply(record)
      }
    }
    if (revision) await finish(revision)
    if (checkpoint.number !== head) throw new CutOff()
    await git.end()
    await save()
  } finally {
    log.close()
    for (const tracker of [...trackers, remarked]) tracker.close()
  }
}

/** Begins the commit of a revision. The first commit of a run must name its parent. */
async function beginCommit(git: FastImport, { number, name, email, time }: Revision, before: number) {
  await git.write(`commit refs/import/raw\nmark :${number}\ncommitter ${name} <${email}> ${time} +0000\ndata 0\n\n`)
  if (before > 0) await git.write(`from :${before}\n`)
}

/** Reads the metadata of a revision. Without a date, it gets the time of the revision before it. */
function readRevision({ headers, properties }: DumpRecord, former: number, authorOf: (login: string) => Author): Revision {
  const word = (name: string) => {
    const value = properties?.get(name)
    return value ? decodeText(value) : ''
  }
  const { name, email } = authorOf(word('svn:author').trim() || noAuthor)
  const date = Date.parse(word('svn:date'))
  const time = Number.isNaN(date) ? former : Math.max(Math.floor(date / 1000), 0)
  const number = Number(headers.get('Revision-number'))
  return { number, name, email, time, message: word('svn:log'), changes: [], files: {} }
}

/** Records the facts that arranging needs. */
function recordChange(revision: Revision, { headers, properties }: DumpRecord) {
  const path = headers.get('Node-path') ?? ''
  const action = headers.get('Node-action') as Change['action']
  if (headers.get('Node-kind') === 'file' && action !== 'delete') {
    const folder = path.slice(0, Math.max(path.lastIndexOf('/'), 0))
    revision.files[folder] = (revision.files[folder] ?? 0) + 1
    // It may replace a folder.
    if (action === 'replace') revision.changes.push({ action: 'delete', path })
    return
  }
  const from = headers.get('Node-copyfrom-path')
  const mergeinfo = mergeinfoOf(properties)
  revision.changes.push({
    action,
    path,
    ...(from !== undefined && { from: { number: Number(headers.get('Node-copyfrom-rev')), path: from } }),
    ...(mergeinfo !== undefined && { mergeinfo }),
  })
}

function mergeinfoOf(properties: Properties | undefined) {
  const value = properties?.get('svn:mergeinfo')
  return value === undefined ? undefined : (value?.toString() ?? '')
}
