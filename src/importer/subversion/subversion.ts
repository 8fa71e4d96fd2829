import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { headerOf } from '#importer/probe-http.ts'
import {
  type Finding,
  ImportFailure,
  type Network,
  type Origin,
  type Preview,
  type Source,
  type Workspace,
} from '#importer/source.ts'
import { arrange } from '#importer/staging/arrange/arrange.ts'
import { readRevisions } from '#importer/staging/arrange/revisions.ts'
import { trimBoth } from '#platform/trim.ts'
import { listAuthors } from './authors.ts'
import { countLogged, fetchLog, hasLog } from './change-log.ts'
import { filesOf, readCheckpoint, recordFile } from './checkpoint.ts'
import { connectTo } from './connection.ts'
import { readHistory } from './history.ts'
import { askOptions } from './inspect-dav.ts'
import { type Merges, openMerges } from './merges.ts'
import { joinClaims, openClaim } from './parts.ts'
import { type Plan, planOf, readPlan, savePlan, settlePlan, strategyOf } from './plan.ts'
import { previewHistory } from './preview.ts'
import { findProjects, openRepositoryReader, type RepositoryReader } from './projects.ts'
import { AccessDenied, openSession } from './ra-svn.ts'
import { verify } from './verify.ts'

export const subversion: Source = {
  probe,
  listAuthors,

  async convert(origin, workspace) {
    const connection = await connectTo(origin, workspace, workspace.folder)
    const { plan, repository } = await settlePlan(origin, connection, workspace)
    await fetchLog(plan, repository, connection, workspace.history)
    const { left_out, parts } = await previewAll(plan, origin, workspace, openMerges(plan, repository, connection))
    workspace.onProgress({ left_out })
    const { commit_count, notes, remarks = [] } = await readHistory(plan, repository, connection, workspace)
    const made = parts?.map(({ branches: _, tags: __, commit_count: ___, left_out: ____, ...part }) => part)
    return { commit_count, notes, remarks, ...(made && { parts: made }) }
  },

  async preview(origin, workspace) {
    const connection = await connectTo(origin, workspace, workspace.folder)
    const { plan, repository } = await settlePlan(origin, connection, workspace)
    await fetchLog(plan, repository, connection, workspace.history)
    return previewAll(plan, origin, workspace, openMerges(plan, repository, connection))
  },

  async arrange(origin, workspace) {
    const { folder, history, repository, signal, default_branch } = workspace
    const plan = await readPlan(workspace)
    if (!plan) throw new Error('nothing was converted yet')
    const { revisions, marks } = filesOf(history)
    const { large } = await readCheckpoint(history)
    const strategy = strategyOf(plan, origin)
    const { keep_deleted = false } = origin
    const results = { repository, revisions, marks, record: recordFile(folder), default_branch, signal }
    const arranged = await arrange({ ...results, strategy, keep_deleted, project: plan.project })
    // An import that was started by an older version has no log.
    const { left_out } = hasLog(history, plan)
      ? await preview(plan, origin, workspace, { converted: readRevisions(revisions) })
      : { left_out: [] }
    return { ...arranged, left_out, ...(large && { large_blobs: large }) }
  },

  verify,
}

function preview(plan: Plan, origin: Origin, { history, default_branch }: Workspace, merges: Merges) {
  const { keep_deleted = false } = origin
  const strategy = strategyOf(plan, origin)
  const chosen = Boolean(origin.layout) && !plan.part
  const options = { folder: history, plan, strategy, default_branch, keep_deleted, chosen }
  return previewHistory({ ...options, ...merges })
}

/** What belongs to no project comes last, because it depends on where the projects were copied from. */
async function previewAll(plan: Plan, origin: Origin, workspace: Workspace, merges: Merges): Promise<Preview> {
  const { parts } = plan
  if (!parts) {
    const { formers: _, exists: __, ...found } = await preview(plan, origin, workspace, merges)
    return found
  }
  const previewed: NonNullable<Preview['parts']> = []
  const isClaimed = openClaim(joinClaims(parts))
  // Those of a project that is gone are known from an earlier run.
  const formers = new Set(plan.formers ?? [])
  let settled = plan
  for (const { layout: _, claim: __, ...part } of parts.toSorted(
    (one, other) => Number(one.rest ?? 0) - Number(other.rest ?? 0),
  )) {
    if (part.rest) {
      settled = { ...plan, formers: [...formers].filter((path) => !isClaimed(path)) }
      await savePlan(workspace, settled)
    }
    const found = part.gone ? nothing : await preview(planOf(settled, part.name), origin, workspace, merges)
    for (const path of found.formers) formers.add(path)
    for (const path of formers) if (found.exists(path)) formers.delete(path)
    const { commit_count, branches, tags, left_out } = found
    const isEmpty = branches.length + tags.length === 0 && !part.gone
    previewed.push({ ...part, ...(isEmpty && { empty: true }), commit_count, branches, tags, left_out })
  }
  const left_out = previewed.flatMap((part) => part.left_out)
  return { commit_count: await countLogged(workspace.history, plan), branches: [], tags: [], left_out, parts: previewed }
}

const nothing = { commit_count: 0, branches: [], tags: [], left_out: [], formers: [], exists: () => false }

async function probe(origin: Origin, network: Network): Promise<Finding> {
  const folder = await mkdtemp(join(tmpdir(), 'belfry-svn-'))
  try {
    const { protocol } = new URL(origin.url)
    if (protocol === 'file:') return await probeFile(origin, network, folder)
    return await (protocol === 'svn:' ? probeRaSvn(origin, network, folder) : probeDav(origin, network, folder))
  } catch (error) {
    if (error instanceof ImportFailure && error.kind === 'auth') return 'needs_auth'
    throw error
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function probeFile(origin: Origin, network: Network, folder: string): Promise<Finding> {
  const connection = await connectTo(origin, network, folder)
  return describeProjects(openRepositoryReader(connection, undefined), origin, {})
}

async function probeDav(origin: Origin, network: Network, folder: string): Promise<Finding> {
  const answer = await askOptions(network, origin.url, origin)
  if (answer?.status === 401 || answer?.status === 407) return 'needs_auth'
  // Any server may send `DAV: 1,2`; only Subversion sends this.
  const is = answer?.status === 200 && headerOf(answer, 'dav').includes('subversion.tigris.org/xmlns/dav/svn')
  if (!answer || !is) return 'nothing'
  const { url } = answer
  const connection = await connectTo({ ...origin, url }, network, folder)
  return describeProjects(openRepositoryReader(connection, undefined), origin, url === origin.url ? {} : { url })
}

async function probeRaSvn(origin: Origin, network: Network, folder: string): Promise<Finding> {
  const connection = await connectTo(origin, network, folder).catch((error: unknown) => {
    network.signal.throwIfAborted()
    if (error instanceof ImportFailure) throw error
    if (error instanceof Error && 'code' in error && error.code === 'FORBIDDEN_ADDRESS')
      throw new ImportFailure(`This server may not connect there: ${error.message.replace('for HTTP', 'for Subversion')}.`)
  })
  if (!connection) return 'nothing'
  const found = await openSession(connection.url, origin, network).catch((error: unknown) => {
    network.signal.throwIfAborted()
    return error instanceof AccessDenied ? 'needs_auth' : 'nothing'
  })
  if (found === 'needs_auth' || found === 'nothing') return found
  using session = found
  return await describeProjects(openRepositoryReader(connection, session), origin, {})
}

async function describeProjects(
  reader: RepositoryReader,
  { svn_root, layout, projects: several }: Origin,
  moved: { url?: string },
): Promise<Finding> {
  const repository = await reader.describe()
  const path = svn_root === null ? repository.path : trimBoth(svn_root, '/')
  if (layout || several) return { found: { ...moved, commit_count: repository.head } }
  const projects = await findProjects(reader, repository, path)
  const [project, ...others] = projects
  if (!project || others.length > 0)
    return {
      found_multiple: projects.map((choice) => ({ vcs: 'subversion', svn_root: choice.path, human_name: choice.path })),
    }
  const root = project.path === repository.path ? {} : { svn_root: project.path }
  return { found: { ...moved, ...root, commit_count: repository.head } }
}
