import { rm } from 'node:fs/promises'
import { ImportFailure, type LayoutPatterns, type Origin, type Workspace } from '#importer/source.ts'
import type { Claim, Strategy } from '#importer/staging/arrange/roots.ts'
import { stageGit } from '#importer/staging/git.ts'
import { readState, saveState } from '#importer/state-file.ts'
import { trimBoth } from '#platform/trim.ts'
import { checkpointFile, filesOf, logFile, recordFile } from './checkpoint.ts'
import type { Connection } from './connection.ts'
import { chosenLayout, type Layout, plainLayout } from './layout.ts'
import { findParts, joinClaims, type PlannedPart } from './parts.ts'
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
  /** Whether properties of files become `.gitattributes` files. */
  attributes?: boolean
  /** The path of the given address in the repository. */
  path?: string
  /** The repositories to make of several projects, and the layout that the user chose for them. */
  parts?: PlannedPart[]
  template?: LayoutPatterns | null
  /** Folders that no longer exist, outside of all projects, whose history a project has because it was copied from there. */
  formers?: string[]
  /** Set in the plan of one part: whether it is what belongs to no project, and what belongs to the other parts. */
  part?: { rest: boolean; others: Claim }
}

/** If a project moved more often, its history begins at the last move found. */
const maxMoves = 20

export async function settlePlan(origin: Origin, connection: Connection, workspace: Workspace) {
  const { history } = workspace
  using session = await tryOpenSession(connection.url, origin, workspace)
  const reader = openRepositoryReader(connection, session)
  const repository = await reader.describe()
  const known = await readPlan(workspace)
  if (known && known.uuid !== repository.uuid)
    throw new ImportFailure(
      'The address has a different Subversion repository than when the import began. Cancel the import and start a new one.',
    )
  // Another layout may be of another project.
  const fits = known && (known.chosen ?? false) === Boolean(origin.layout) && Boolean(known.parts) === Boolean(origin.projects)
  const plan = fits && !workspace.extend ? known : await makePlan(origin, connection, reader, repository, known)
  if (known && !makesSameFiles(plan, known)) await forgetHistory(workspace)
  if (known && (plan.dump !== known.dump || plan.head !== known.head)) await rm(logFile(history, known.head), { force: true })
  if (plan !== known) await savePlan(workspace, plan)
  return { plan, repository }
}

/** Plans of older versions have no `attributes`. */
function makesSameFiles(plan: Plan, known: Plan) {
  return plan.dump === known.dump && plan.ignores === known.ignores && plan.attributes === (known.attributes ?? false)
}

/** What was read is of other folders, or without the files made of properties. */
async function forgetHistory({ history, repository }: Workspace) {
  for (const path of [...Object.values(filesOf(history)), checkpointFile(history), recordFile(history)])
    await rm(path, { recursive: true, force: true })
  await stageGit(['-C', repository, 'update-ref', '-d', 'refs/import/raw'])
}

/** How branches and tags are found. The user may choose a layout after the plan was made: contents need not be read again. */
export function strategyOf({ project, layout, part }: Plan, { layout: chosen }: Origin): Strategy {
  if (part?.rest) return { claimed: part.others }
  return { layout: chosen && !part ? chosenLayout(project, chosen) : layout }
}

export const layoutsOf = ({ layout, parts }: Plan) =>
  parts ? parts.filter(({ rest }) => !rest).map((part) => part.layout) : [layout]

export async function readPlan({ history, part }: Pick<Workspace, 'history' | 'part'>): Promise<Plan | undefined> {
  const plan = await readState<Plan>(history, 'plan')
  return plan && part !== undefined ? planOf(plan, part) : plan
}

export const savePlan = ({ history }: Workspace, plan: Plan) => saveState<Plan>(history, 'plan', plan)

/** The plan of one part. */
export function planOf(plan: Plan, name: string): Plan {
  const part = plan.parts?.find((one) => one.name === name)
  if (!part) throw new ImportFailure(`There is no project ${name} any more. Run the same command again.`)
  const others = joinClaims((plan.parts ?? []).filter((one) => one !== part))
  if (part.rest) others.folders.push(...(plan.formers ?? []))
  return { ...plan, project: part.path, layout: part.layout, part: { rest: part.rest ?? false, others } }
}

async function makePlan(
  origin: Origin,
  connection: Connection,
  reader: RepositoryReader,
  repository: Repository,
  known: Plan | undefined,
): Promise<Plan> {
  const wanted = origin.svn_root === null ? repository.path : trimBoth(origin.svn_root, '/')
  const { uuid, head } = repository
  const common = {
    uuid,
    head,
    ignores: origin.svn_ignore ?? false,
    attributes: origin.gitattributes ?? false,
    path: repository.path,
    ...(origin.layout && { chosen: true }),
  }
  if (origin.projects) {
    const template = origin.layout ?? null
    const same = known?.parts && JSON.stringify(known.template) === JSON.stringify(template)
    const parts = await findParts(reader, repository, wanted, template, same ? (known.parts ?? []) : [])
    const dump = await findDump(connection, repository, wanted)
    const formers = same ? (known.formers ?? []) : []
    return { ...common, project: wanted, layout: plainLayout(wanted), dump, parts, template, formers }
  }
  const [project, ...others] = origin.layout
    ? [{ path: wanted, layout: chosenLayout(wanted, origin.layout) }]
    : await findProjects(reader, repository, wanted)
  if (!project || others.length > 0)
    throw new ImportFailure('This Subversion repository has several projects. Choose one of them.')
  const dump = await findDump(connection, repository, project.path)
  return { ...common, project: project.path, layout: project.layout, dump }
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
