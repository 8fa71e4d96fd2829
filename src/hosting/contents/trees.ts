import { hasRefs, resolveTree } from '#git/objects.ts'
import type { Storage } from '#git/storage.ts'
import { type Listing, readFolder } from '#git/tree-entries.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { missing, Refusal } from '#platform/errors.ts'

export interface Tree extends Listing {
  sha: string
}

/** The documented limits of one response. */
const most = { entries: 100_000, bytes: 7 << 20 }

/** Loads a tree by its id, or by a branch, tag or commit. */
export async function loadTree(storage: Storage, repo: Repository, name: string, deep: boolean): Promise<Tree> {
  const sha = await resolveTree(storage, repo.id, name)
  if (sha) return { sha, ...(await readFolder(storage, repo.id, sha, most, deep)) }
  if (!(await hasRefs(storage, repo.id, 'refs/'))) throw new Refusal('conflict', 'Git Repository is empty.')
  throw missing()
}
