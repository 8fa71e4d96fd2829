import { ImportFailure, type Origin, type Workspace } from '#importer/source.ts'
import { readState, saveState } from '#importer/state-file.ts'
import type { Connection } from './connection.ts'
import type { Layout } from './layout.ts'
import { addressOf, findProjects, openRepositoryReader, type Repository, type RepositoryReader } from './projects.ts'
import { tryOpenSession } from './ra-svn.ts'
import { findElements } from './xml.ts'

/** What is brought over. Settled once for an import: a killed one goes on with the same, whatever was committed meanwhile. */
export interface Plan {
  uuid: string
  head: number
  project: string
  layout: Layout
  /** The folder whose history is read; nothing beside it is. */
  dump: string
  /** Whether lists of what is to be ignored become files. */
  ignores?: boolean
}

/** A history that moved about more often is read from where this leads. */
const maxMoves = 20

export async function settlePlan(origin: Origin, connection: Connection, workspace: Workspace) {
  const { folder } = workspace
  using session = await tryOpenSession(connection.url, origin, workspace)
  const reader = openRepositoryReader(connection, session)
  const repository = await reader.describe()
  const known = await readPlan(folder)
  if (known && known.uuid !== repository.uuid)
    throw new ImportFailure(
      'Another Subversion repository is at this address than when the import began. Cancel it, and start anew.',
    )
  const plan = known ?? (await makePlan(origin, connection, reader, repository))
  if (!known) await saveState<Plan>(folder, 'plan', plan)
  return { plan, repository }
}

export const readPlan = (folder: string) => readState<Plan>(folder, 'plan')

async function makePlan(origin: Origin, connection: Connection, reader: RepositoryReader, repository: Repository): Promise<Plan> {
  const wanted = origin.svn_root === null ? repository.path : origin.svn_root.replace(/^\/+|\/+$/g, '')
  const [project, ...others] = await findProjects(reader, repository, wanted)
  if (!project || others.length > 0)
    throw new ImportFailure('There are several projects in this Subversion repository, and none was chosen.')
  const { uuid, head } = repository
  const dump = await findDump(connection, repository, project.path)
  return { uuid, head, project: project.path, layout: project.layout, dump, ignores: origin.svn_ignore ?? false }
}

/** A project that was moved or copied to where it is has its beginning elsewhere: then both are read. */
async function findDump(connection: Connection, repository: Repository, project: string): Promise<string> {
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
