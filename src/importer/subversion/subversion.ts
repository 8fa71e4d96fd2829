import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { headerOf } from '#importer/probe-http.ts'
import { type Finding, ImportFailure, type Network, type Origin, type Source } from '#importer/source.ts'
import { arrange } from '#importer/staging/arrange/arrange.ts'
import { filesOf, readCheckpoint } from './checkpoint.ts'
import { connectTo } from './connection.ts'
import { readHistory } from './history.ts'
import { askOptions } from './inspect-dav.ts'
import { readPlan, settlePlan } from './plan.ts'
import { findProjects, openRepositoryReader, type RepositoryReader } from './projects.ts'
import { AccessDenied, openSession } from './ra-svn.ts'
import { verify } from './verify.ts'

export const subversion: Source = {
  probe,

  async convert(origin, workspace) {
    const connection = await connectTo(origin, workspace, workspace.folder)
    const { plan, repository } = await settlePlan(origin, connection, workspace)
    const { commit_count, notes } = await readHistory(plan, repository, connection, workspace)
    return { commit_count, notes }
  },

  async arrange(_origin, { folder, repository, signal, default_branch }) {
    const plan = await readPlan(folder)
    if (!plan) throw new Error('nothing was converted yet')
    const { revisions, marks, record } = filesOf(folder)
    const { large } = await readCheckpoint(folder)
    const strategy = { layout: plan.layout }
    const arranged = await arrange({ repository, revisions, marks, record, strategy, default_branch, signal })
    return { ...arranged, ...(large && { large_blobs: large }) }
  },

  verify,
}

async function probe(origin: Origin, network: Network): Promise<Finding> {
  const folder = await mkdtemp(join(tmpdir(), 'belfry-svn-'))
  try {
    return await (new URL(origin.url).protocol === 'svn:'
      ? probeRaSvn(origin, network, folder)
      : probeDav(origin, network, folder))
  } catch (error) {
    if (error instanceof ImportFailure && error.kind === 'auth') return 'needs_auth'
    throw error
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
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
      throw new ImportFailure(`This server may not connect there: ${error.message}.`)
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

async function describeProjects(reader: RepositoryReader, { svn_root }: Origin, moved: { url?: string }): Promise<Finding> {
  const repository = await reader.describe()
  const path = svn_root === null ? repository.path : svn_root.replace(/^\/+|\/+$/g, '')
  const projects = await findProjects(reader, repository, path)
  const [project, ...others] = projects
  if (!project || others.length > 0)
    return {
      found_multiple: projects.map((choice) => ({ vcs: 'subversion', svn_root: choice.path, human_name: choice.path })),
    }
  const root = project.path === repository.path ? {} : { svn_root: project.path }
  return { found: { ...moved, ...root, commit_count: repository.head } }
}
