import { readingOf } from '#git/compare.ts'
import { refsWith, statesWith } from '#git/containing.ts'
import { holdsAll, resolveCommit } from '#git/objects.ts'
import { within } from '#git/run-git.ts'
import type { Storage } from '#git/storage.ts'
import { type Pull, readPulls } from '#hosting/pulls/pulls.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import type { Viewer } from '#identity/accounts.ts'
import { type Queryable, sql } from '#platform/database.ts'
import type { Listed, Slice } from '#platform/listed.ts'

const patience = 30_000
/** A rebase brings at most a thousand commits, of which the last one is recorded. */
const mostStates = 1000

/** The pull request that brought a commit to the default branch, and open ones that would bring it to their base. */
export async function listPullsWith(
  db: Queryable,
  storage: Storage,
  viewer: Viewer,
  repo: Repository,
  sha: string,
  { limit, offset }: Slice,
): Promise<Listed<Pull>> {
  const { states, refs } = await within(patience, async (signal) => {
    const reading = readingOf(storage, repo.id, repo.id, signal)
    const tip = await resolveCommit(storage, repo.id, `refs/heads/${repo.default_branch}`)
    const [states, refs] = await Promise.all([tip ? statesWith(reading, sha, tip, mostStates) : [], refsWith(reading, sha)])
    return { states: states.length ? states : [sha], refs }
  })
  const numbers = refs.flatMap((ref) => /^refs\/pull\/(\d{1,9})\/head$/.exec(ref)?.[1] ?? []).map(Number)
  const branches = refs.filter((ref) => ref.startsWith('refs/heads/')).map((ref) => ref.slice('refs/heads/'.length))
  const merged = await findMerged(db, storage, repo, sha, states)
  const found = await db.rows<{ id: number }>(sql`
    select p.id from issues i join pulls p on p.issue_id = i.id
    where i.repo_id = ${repo.id} and (p.id = ${merged ?? null}
      or (i.number = any(${numbers}) and i.state = 'open' and p.base_ref <> all(${branches})))
    order by i.number`)
  const ids = found.slice(offset, offset + limit).map(({ id }) => id)
  const rows = ids.length ? await readPulls(db, sql`pulls p where p.id = any(${ids}) order by p.id`, viewer) : []
  return { rows, total: found.length }
}

/** The pull request whose merge made the first of these states, unless its base had the commit before. */
async function findMerged(db: Queryable, storage: Storage, repo: Repository, sha: string, states: string[]) {
  const first = await db.first<{ id: number; base_sha: string }>(sql`
    select p.id, p.base_sha from pulls p
    where p.repo_id = ${repo.id} and p.merged_at is not null and p.merge_commit_sha = any(${states})
    order by array_position(${states}::text[], p.merge_commit_sha) limit 1`)
  if (!first) return undefined
  const known = await resolveCommit(storage, repo.id, first.base_sha)
  return known && (await holdsAll(storage, repo.id, known, sha)) ? undefined : first.id
}
