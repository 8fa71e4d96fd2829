import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { headerOf } from '../probing.ts'
import { type Finding, ImportFailure, type Means, type Origin } from '../source.ts'
import { connectTo, hostOf, portOf } from './connection.ts'
import { askOptions } from './options.ts'
import { describeRepository, findProjects } from './surveying.ts'
import { talkTo, Unwelcome } from './wire.ts'

/** Whether a Subversion server is at an address, and which projects it has there. */
export async function probe(origin: Origin, means: Means): Promise<Finding> {
  const url = new URL(origin.url)
  const found = url.protocol === 'svn:' ? await probeWire(origin, url, means) : await probeWeb(origin, means)
  if (found === 'nothing' || found === 'needs_auth') return found
  const folder = await mkdtemp(join(tmpdir(), 'belfry-svn-'))
  try {
    return await survey({ ...origin, url: found.url }, means, folder, found.url === origin.url ? {} : found)
  } catch (error) {
    if (error instanceof ImportFailure && error.kind === 'auth') return 'needs_auth'
    throw error
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

type Sight = { url: string } | 'nothing' | 'needs_auth'

async function probeWeb(origin: Origin, means: Means): Promise<Sight> {
  const told = await askOptions(means, origin.url, origin)
  if (told?.status === 401 || told?.status === 407) return 'needs_auth'
  // A server of anything may say `DAV: 1,2`; only Subversion says this.
  const is = told?.status === 200 && headerOf(told, 'dav').includes('subversion.tigris.org/xmlns/dav/svn')
  return told && is ? { url: told.url } : 'nothing'
}

async function probeWire(origin: Origin, url: URL, { egress, signal }: Means): Promise<Sight> {
  const patience = AbortSignal.any([signal, AbortSignal.timeout(8000)])
  try {
    const port = await egress.tunnel(hostOf(url), portOf(url))
    using _ = await talkTo(port, origin.url, origin, patience)
    return { url: origin.url }
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof Unwelcome) return 'needs_auth'
    if (error instanceof Error && 'code' in error && error.code === 'FORBIDDEN_ADDRESS')
      throw new ImportFailure(`This server may not connect there: ${error.message}.`)
    return 'nothing'
  }
}

async function survey(origin: Origin, means: Means, folder: string, moved: { url?: string }): Promise<Finding> {
  const connection = await connectTo(origin, means, folder)
  const repository = await describeRepository(connection)
  const path = origin.svn_root === null ? repository.path : origin.svn_root.replace(/^\/+|\/+$/g, '')
  const projects = await findProjects(connection, repository, path)
  const [project, ...others] = projects
  if (!project || others.length > 0)
    return {
      found_multiple: projects.map((choice) => ({ vcs: 'subversion', svn_root: choice.path, human_name: choice.path })),
    }
  const root = project.path === repository.path ? {} : { svn_root: project.path }
  return { found: { ...moved, ...root, commit_count: repository.head } }
}
