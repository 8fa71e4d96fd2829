import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { git } from '#git/git.ts'
import type { Author, Origin, Progress, Workspace } from '#importer/source.ts'
import { openEgress } from '#platform/outbound/egress.ts'
import { readPolicy } from '#platform/outbound/policy.ts'

/** A workspace without a server. It collects the progress reports. */
export async function openWorkspace(addresses = 'loopback', certificates: string | null = null) {
  const folder = await mkdtemp(join(tmpdir(), 'belfry-workshop-'))
  const repository = join(folder, 'stage.git')
  await git(['init', '--quiet', '--bare', '--template=', '--initial-branch=main', repository])
  const egress = await openEgress(readPolicy(addresses), certificates)
  const stopping = new AbortController()
  const reported: Progress[] = []
  const workspace: Workspace = {
    folder,
    history: folder,
    repository,
    lfs_store: join(folder, 'lfs'),
    default_branch: 'main',
    egress,
    signal: stopping.signal,
    onProgress: (progress) => reported.push(progress),
  }
  return {
    ...workspace,
    reported,
    stop: () => stopping.abort(new Error('the import was stopped')),
    authors: (): Author[] => reported.flatMap(({ authors = [] }) => authors),
    percents: () => reported.flatMap(({ percent = [] }) => percent),
    /** Runs git on the bare repository, and returns its output. */
    git: async (...args: string[]) => (await git(['-C', repository, ...args])).trim(),
    async [Symbol.asyncDispose]() {
      await egress[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

export function originOf(url: string, username: string | null = null, password: string | null = null): Origin {
  return { url, username, password, svn_root: null, tfvc_project: null }
}
