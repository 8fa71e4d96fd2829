import { rm } from 'node:fs/promises'
import { ImportFailure, type Origin, type Workspace } from '#importer/source.ts'
import { stageGit } from '#importer/staging/git.ts'
import { readState, saveState } from '#importer/state-file.ts'
import { checkpointFile, filesOf, logFile } from './checkpoint.ts'
import type { Connection } from './connection.ts'
import { chosenLayout, type Layout } from './layout.ts'
import { addressOf, findProjects, openRepositoryReader, type Repository, type RepositoryReader } from './projects.ts'
import { tryOpenSession } from './ra-svn.ts'
import { findElements } from './xml.ts'

/** The extent of an import. It is fixed at the start, so that a resumed run gives the same result despite new revisions, unless it is extended. */
export interface Plan {
  uuid: string
  head: number
  project: string
  layout: Layout
  /** Whether the user chose the layout. */
  chosen?: boolean
  /** The folder whose history is read. */
  dump: string
  /** Whether ignore lists become `.gitignore` files. */
  ignores?: boolean
  /** The path of the given address in the repository. */
  path?: string
}

/** If a project moved more often, its history begins at the last move found. */
const maxMoves = 20

export async function settlePlan(origin: Origin, connection: Connection, workspace: Workspace) {
  const { folder } = workspace
  using session = await tryOpenSession(connection.url, origin, workspace)
  const reader = openRepositoryReader(connection, session)
  const repository = await reader.describe()
  const known = await readPlan(folder)
  if (known && known.uuid !== repository.uuid)
    throw new ImportFailure(
      'The address has a different Subversion repository than when the import began. Cancel the import and start a new one.',
    )
  // Another layout may be of another project.
  const fits = known && (known.chosen ?? false) === Boolean(origin.layout)
  const plan = fits && !workspace.extend ? known : await makePlan(origin, connection, reader, repository)
  if (known && (plan.dump !== known.dump || plan.ignores !== known.ignores)) await forgetHistory(workspace)
  if (known && (plan.dump !== known.dump || plan.head !== known.head)) await rm(logFile(folder, known.head), { force: true })
  if (plan !== known) await saveState<Plan>(folder, 'plan', plan)
  return { plan, repository }
}

/** What was read is of other folders, or without ignore lists. */
async function forgetHistory({ folder, repository }: Workspace) {
  for (const path of [...Object.values(filesOf(folder)), checkpointFile(folder)]) await rm(path, { recursive: true, force: true })
  await stageGit(['-C', repository, 'update-ref', '-d', 'refs/import/raw'])
}

/** The layout that the user chose, also after the plan was made: contents need not be read again. */
export const layoutOf = ({ project, layout }: Plan, { layout: chosen }: Origin) =>
  chosen ? chosenLayout(project, chosen) : layout

export const readPlan = (folder: string) => readState<Plan>(folder, 'plan')

async function makePlan(origin: Origin, connection: Connection, reader: RepositoryReader, repository: Repository): Promise<Plan> {
  const wanted = origin.svn_root === null ? repository.path : origin.svn_root.replace(/^\/+|\/+$/g, '')
  const [project, ...others] = origin.layout
    ? [{ path: wanted, layout: chosenLayout(wanted, origin.layout) }]
    : await findProjects(reader, repository, wanted)
  if (!project || others.length > 0)
    throw new ImportFailure('This Subversion repository has several projects. Choose one of them.')
  const { uuid, head } = repository
  const dump = await findDump(connection, repository, project.path)
  return {
    uuid,
    head,
    project: project.path,
    layout: project.layout,
    ...(origin.layout && { chosen: true }),
    dump,
    ignores: origin.svn_ignore ?? false,
    path: repository.path,
  }
}

/** If the project was moved or copied, the dump must include its former folder. */
async function findDump(connection: Connection, repository: Repository, project: string): Promise<string> {
  if (connection.file) return ''
  let dump = project
  let path = project
  let revision = repository.head
  for (let moves = 0; moves < maxMoves && dump !== ''; moves++) {
    const source = await findSource(connection, repository, path, revision)
    if (!source) return dump
    dump = sharedFolder(dump, source.path)
    path = source.path
    revision = source.revision
  }
  return dump
}

async function findSource(connection: Connection, repository: Repository, path: string, revision: number) {
  const log = await connection.svn(
    ['log', '--xml', '--verbose', '--stop-on-copy', '--limit', '1', '--revision', `1:${revision}`],
    `${addressOf(repository, path)}@${revision}`,
  )
  for (const { attributes, text } of findElements(log, 'path')) {
    const from = attributes['copyfrom-path']
    const target = text.replace(/^\//, '')
    if (from === undefined || (target !== path && !path.startsWith(`${target}/`))) continue
    return { path: from.replace(/^\//, '') + path.slice(target.length), revision: Number(attributes['copyfrom-rev']) }
  }
}

function sharedFolder(one: string, other: string) {
  const names = one.split('/')
  const theirs = other.split('/')
  const differs = names.findIndex((name, index) => name !== theirs[index])
  return differs < 0 ? one : names.slice(0, differs).join('/')
}
