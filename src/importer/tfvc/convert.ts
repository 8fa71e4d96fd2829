import type { Author, Converted, Origin, Workspace } from '#importer/source.ts'
import { type FastImport, openFastImport, quotePath } from '#importer/staging/fast-import.ts'
import { authorOf } from './authors.ts'
import { listBranches, saveBranches } from './branches.ts'
import { type Changeset, type Item, lastChangeset, listChanges, listChangesets } from './changesets.ts'
import { openClient } from './client.ts'
import { type Content, type Contents, largestHeld, openContents, take } from './contents.ts'
import { type History, openHistory } from './history.ts'
import { isLink, listItems } from './items.ts'
import { locateProject } from './locate.ts'
import { type Plan, planChangeset } from './plan.ts'
import { readAhead } from './read-ahead.ts'

const changesetsAhead = 8
const filesAhead = 64
const bytesAhead = 32 << 20
/** The largest distance between checkpoints. */
export interface Pace {
  changesets: number
  milliseconds: number
}
const ordinaryPace: Pace = { changesets: 250, milliseconds: 10_000 }

interface PlannedChangeset {
  changeset: Changeset
  plan: Plan
}
interface Put {
  path: string
  item: Item
  version: number
  content: Content
}

/** Converts every changeset of the project into a commit of its whole tree. */
export async function convert(origin: Origin, workspace: Workspace, pace = ordinaryPace): Promise<Converted> {
  const { collection, project } = await locateProject(origin, workspace)
  // Ends the requests that were sent ahead when this function ends.
  using scope = openAbortScope()
  const signal = AbortSignal.any([workspace.signal, scope.signal])
  const client = openClient(collection, origin, { egress: workspace.egress, signal })
  const until = await lastChangeset(client, project)
  const history = await openHistory(workspace, { collection, project, until })
  using contents = openContents(client, workspace.folder)

  async function* read(): AsyncGenerator<PlannedChangeset | Omit<Put, 'content'>> {
    const listed = listChangesets(client, project, history.last, history.until)
    const changed = readAhead(listed, { width: changesetsAhead }, async (changeset) => ({
      changeset,
      changes: await listChanges(client, changeset.id),
    }))
    const context = {
      project: `$/${project}`,
      names: history.names,
      lost: history.lost,
      listItems: (path: string, version: number) => listItems(client, path, version),
    }
    for await (const { changeset, changes } of changed) {
      const plan = await planChangeset(changeset.id, changes, context)
      yield { changeset, plan }
      for (const put of plan.puts) yield { ...put, version: changeset.id }
    }
  }

  const weigh = (step: PlannedChangeset | Omit<Put, 'content'>) =>
    'item' in step ? Math.min(step.item.size ?? largestHeld, largestHeld) : 0
  const steps = readAhead(
    read(),
    { width: filesAhead, most: bytesAhead, weigh },
    async (step): Promise<PlannedChangeset | Put> => {
      return 'item' in step ? { ...step, content: await contents.load(step.item, step.version) } : step
    },
  )
  const git = openFastImport(workspace.repository, { signal: workspace.signal, marks: history.marks })
  try {
    await write(steps, { git, contents, history, pace, onProgress: workspace.onProgress })
    await git.end()
  } finally {
    git.stop()
  }
  saveBranches(workspace.folder, await listBranches(client, project), history.spell)
  return { commit_count: history.count, notes: history.notes }
}

/** From the list of changesets, without their changes. */
export async function listAuthors(origin: Origin, workspace: Workspace): Promise<Author[]> {
  const { collection, project } = await locateProject(origin, workspace)
  const client = openClient(collection, origin, workspace)
  const authors = new Map<string, Author>()
  for await (const changeset of listChangesets(client, project, 0, await lastChangeset(client, project))) {
    const author = authorOf(changeset.author)
    authors.set(author.remote_id, author)
  }
  return [...authors.values()]
}

function openAbortScope() {
  const controller = new AbortController()
  return { signal: controller.signal, [Symbol.dispose]: () => controller.abort() }
}

interface Writing {
  git: FastImport
  contents: Contents
  history: History
  pace: Pace
  onProgress: Workspace['onProgress']
}

async function write(steps: AsyncIterable<PlannedChangeset | Put>, { git, contents, history, pace, onProgress }: Writing) {
  const started = performance.now()
  let current: PlannedChangeset | undefined
  let gone = 0
  let unsaved = 0
  let saved = started

  async function finish() {
    if (!current) return
    history.add(current.changeset, current.plan, gone)
    onProgress({ percent: Math.floor((history.last * 100) / history.until), commit_count: history.count })
    current = undefined
    gone = 0
    unsaved += 1
    const now = performance.now()
    // Each checkpoint makes a pack, and many packs slow git down.
    if (unsaved < pace.changesets && now - saved < Math.max(pace.milliseconds, (now - started) / 50)) return
    history.flush()
    await git.checkpoint()
    unsaved = 0
    saved = performance.now()
  }

  for await (const step of steps) {
    if ('plan' in step) {
      await finish()
      await beginCommit(git, step, history.parent)
      current = step
    } else if (!(await putFile(git, step, contents))) gone += 1
  }
  await finish()
  history.flush()
}

/** Without a message: this commit is internal, and the file of revisions has the message. */
async function beginCommit(git: FastImport, { changeset, plan }: PlannedChangeset, parent: string | undefined) {
  const { id, time } = changeset
  const author = authorOf(changeset.author)
  await git.write(`commit refs/import/raw\nmark :${id}\n`)
  await git.write(`committer ${author.name} <${author.email}> ${time} +0000\ndata 0\n\n`)
  if (parent) await git.write(`from ${parent}\n`)
  for (const path of plan.deletes) await git.write(`D ${quotePath(path)}\n`)
}

/** False if the content is gone. */
async function putFile(git: FastImport, put: Put, contents: Contents): Promise<boolean> {
  const { path, item, version } = put
  let { content } = put
  const lost = content !== 'gone' && !('size' in content) && content.known.id === undefined
  if (lost) content = await contents.reload(item, version)
  if (content === 'gone') {
    // The former content must not stay.
    await git.write(`D ${quotePath(path)}\n`)
    return false
  }
  const mode = isLink(path, item) ? '120000' : '100644'
  if (!('size' in content)) await git.write(`M ${mode} ${content.known.id} ${quotePath(path)}\n`)
  else {
    await git.write(`M ${mode} inline ${quotePath(path)}\n`)
    await git.data({ size: content.size, chunks: take(content) })
  }
  return true
}
