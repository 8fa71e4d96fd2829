import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { headerOf } from '#importer/probe-http.ts'
import { type Finding, ImportFailure, type Means, type Origin } from '#importer/source.ts'
import { connectTo } from './connection.ts'
import { askOptions } from './dav-options.ts'
import { findProjects, openSurveyor, type Surveyor } from './projects.ts'
import { talkTo, Unwelcome } from './ra-svn.ts'

/** Whether a Subversion server is at an address, and which projects it has there. */
export async function probe(origin: Origin, means: Means): Promise<Finding> {
  const folder = await mkdtemp(join(tmpdir(), 'belfry-svn-'))
  try {
    return await (new URL(origin.url).protocol === 'svn:' ? probeWire(origin, means, folder) : probeWeb(origin, means, folder))
  } catch (error) {
    if (error instanceof ImportFailure && error.kind === 'auth') return 'needs_auth'
    throw error
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function probeWeb(origin: Origin, means: Means, folder: string): Promise<Finding> {
  const told = await askOptions(means, origin.url, origin)
  if (told?.status === 401 || told?.status === 407) return 'needs_auth'
  // A server of anything may say `DAV: 1,2`; only Subversion says this.
  const is = told?.status === 200 && headerOf(told, 'dav').includes('subversion.tigris.org/xmlns/dav/svn')
  if (!told || !is) return 'nothing'
  const { url } = told
  const connection = await connectTo({ ...origin, url }, means, folder)
  return survey(openSurveyor(connection, undefined), origin, url === origin.url ? {} : { url })
}

async function probeWire(origin: Origin, means: Means, folder: string): Promise<Finding> {
  const connection = await connectTo(origin, means, folder).catch((error: unknown) => {
    means.signal.throwIfAborted()
    if (error instanceof ImportFailure) throw error
    if (error instanceof Error && 'code' in error && error.code === 'FORBIDDEN_ADDRESS')
      throw new ImportFailure(`This server may not connect there: ${error.message}.`)
  })
  if (!connection) return 'nothing'
  const found = await talkTo(connection.url, origin, means).catch((error: unknown) => {
    means.signal.throwIfAborted()
    return error instanceof Unwelcome ? 'needs_auth' : 'nothing'
  })
  if (found === 'needs_auth' || found === 'nothing') return found
  using talk = found
  return await survey(openSurveyor(connection, talk), origin, {})
}

async function survey(surveyor: Surveyor, { svn_root }: Origin, moved: { url?: string }): Promise<Finding> {
  const repository = await surveyor.describe()
  const path = svn_root === null ? repository.path : svn_root.replace(/^\/+|\/+$/g, '')
  const projects = await findProjects(surveyor, repository, path)
  const [project, ...others] = projects
  if (!project || others.length > 0)
    return {
      found_multiple: projects.map((choice) => ({ vcs: 'subversion', svn_root: choice.path, human_name: choice.path })),
    }
  const root = project.path === repository.path ? {} : { svn_root: project.path }
  return { found: { ...moved, ...root, commit_count: repository.head } }
}
