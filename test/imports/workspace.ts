import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { git } from '#git/git.ts'
import type { Author, Origin, Progress, Workshop } from '#importer/source.ts'
import { openEgress } from '#platform/outbound/egress.ts'
import { readPolicy } from '#platform/outbound/policy.ts'

/** A place where an import is done, without a server around it; what it tells is kept. */
export async function openWorkshop(addresses = 'loopback', certificates: string | null = null) {
  const folder = await mkdtemp(join(tmpdir(), 'belfry-workshop-'))
  const repository = join(folder, 'stage.git')
  await git(['init', '--quiet', '--bare', '--template=', '--initial-branch=main', repository])
  const egress = await openEgress(readPolicy(addresses), certificates)
  const stopping = new AbortController()
  const told: Progress[] = []
  const workshop: Workshop = {
    folder,
    repository,
    lfs_store: join(folder, 'lfs'),
    default_branch: 'main',
    egress,
    signal: stopping.signal,
    tell: (progress) => told.push(progress),
  }
  return {
    ...workshop,
    told,
    stop: () => stopping.abort(new Error('the import was stopped')),
    authors: (): Author[] => told.flatMap(({ authors = [] }) => authors),
    percents: () => told.flatMap(({ percent = [] }) => percent),
    /** Runs git on the bare repository, and gives what it prints. */
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
