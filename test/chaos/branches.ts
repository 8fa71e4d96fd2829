import { git } from '#git/git.ts'
import type { Worktree } from '#test/git.ts'
import type { Cluster } from './cluster.ts'

/** A branch has the last acknowledged commit, or a later one whose response was lost; database and disk agree. */
export async function findLostCommits(
  cluster: Cluster,
  { repo_id, branch, clone }: { repo_id: number; branch: string; clone: Worktree },
  commit: string,
): Promise<string[]> {
  const [row] = await cluster.postgres.query(`select sha from refs where name = 'refs/heads/${branch}' and repo_id = ${repo_id}`)
  const disk = (await git(['-C', cluster.folderOf(repo_id), 'rev-parse', `refs/heads/${branch}`]).catch(() => '')).trim()
  const { status } = await clone.attempt('merge-base', '--is-ancestor', commit, String(row?.sha))
  return [
    ...(status === 0 ? [] : [`push ${branch} ${commit}: the branch is at ${row?.sha}`]),
    ...(disk === row?.sha ? [] : [`ref ${branch}: ${row?.sha} in the database, ${disk} on disk`]),
  ]
}
