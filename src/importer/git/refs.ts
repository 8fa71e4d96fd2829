import { Readable } from 'node:stream'
import { isRefName, isReserved } from '#git/ref-names.ts'
import { runGit } from '#git/run-git.ts'
import type { Notes } from '#importer/notes.ts'
import type { Origin, Workspace } from '#importer/source.ts'
import { stageLimit } from '#importer/staging/git.ts'
import { sha256Unsupported } from './git-errors.ts'
import { connectGit } from './remote-git.ts'

export interface Listing {
  /** Branches and tags by their full names. */
  refs: Record<string, string>
  default_branch: string | null
}

/** The refs of the source until they are published: `refs/heads/main` is at `refs/import/orig/heads/main`. */
export const prefix = 'refs/import/orig/'

export async function listRemote(origin: Origin, workspace: Workspace): Promise<Listing> {
  const wanted = ['HEAD', 'refs/heads/*', 'refs/tags/*']
  const listed = (await connectGit(origin, workspace, ['ls-remote', '--symref', '--', origin.url, ...wanted])).toString()
  // A clone of it would use SHA-256 too.
  if (/^[0-9a-f]{64}\t/m.test(listed)) throw sha256Unsupported()
  const refs = [...listed.matchAll(/^([0-9a-f]{40})\t(refs\/(?:heads|tags)\/.+)$/gm)]
    .map(([, sha = '', name = '']) => [name, sha] as const)
    .filter(([name]) => !name.endsWith('^{}'))
  return { refs: Object.fromEntries(refs), default_branch: /^ref: refs\/heads\/(.+)\tHEAD$/m.exec(listed)?.[1] ?? null }
}

/** The fetched refs, by their names in the source. */
export async function readOriginals({
  repository,
  signal,
}: Workspace): Promise<{ type: string; sha: string; name: string; bytes: Buffer }[]> {
  const format = '--format=%(objecttype) %(objectname) %(refname)'
  const { output } = await runGit(repository, ['for-each-ref', format, prefix], {
    signal,
    detached: false,
    limit: stageLimit,
    whole: true,
  })
  return output
    .toString('latin1')
    .split('\n')
    .filter(Boolean)
    .map((line) => {
      const bytes = Buffer.from(line.slice(line.indexOf(prefix)), 'latin1')
      const [type = '', sha = ''] = line.split(' ', 2)
      return { type, sha, name: `refs/${bytes.toString().slice(prefix.length)}`, bytes }
    })
}

/** Deletes the refs that cannot be published: invalid names, and branches that do not point to a commit. */
export async function dropUnusable(workspace: Workspace): Promise<{ dropped: string[]; notes: Notes }> {
  const originalRefs = await readOriginals(workspace)
  const isNamed = ({ name, bytes }: (typeof originalRefs)[number]) =>
    isRefName(name) && !isReserved(name) && bytes.equals(Buffer.from(name.replace('refs/', prefix)))
  const misnamed = originalRefs.filter((original) => !isNamed(original))
  const irregular = originalRefs.filter(
    (original) => isNamed(original) && original.name.startsWith('refs/heads/') && original.type !== 'commit',
  )
  const gone = [...misnamed, ...irregular]
  if (gone.length > 0) {
    const input = gone.map(({ bytes }) => `delete ${bytes.toString('latin1')}\0\0`).join('')
    await runGit(workspace.repository, ['update-ref', '-z', '--stdin'], {
      signal: workspace.signal,
      input: Readable.from([Buffer.from(input, 'latin1')]),
      detached: false,
    })
  }
  const notes: Notes = {
    ...(misnamed.length > 0 && { 'refs with unusable names': misnamed.length }),
    ...(irregular.length > 0 && { 'branches that are no commits': irregular.length }),
  }
  return { dropped: gone.map(({ name }) => name), notes }
}
