import { noObject, resolveCommit } from '#git/objects.ts'
import type { Storage } from '#git/storage.ts'
import { licenseOf, readLicense } from '#hosting/contents/well-known-files.ts'
import { type Repository, readRepositories } from '#hosting/repositories/repositories.ts'
import { type Database, sql } from '#platform/database.ts'
import { Refusal } from '#platform/errors.ts'
import { countLanguages } from './statistics.ts'

/**
 * Stores the main language and the license of the default branch. It stores nothing if the branch has moved meanwhile, because the
 * transaction that records the move enqueues this job again.
 */
export async function describeContents(db: Database, storage: Storage, repo_id: number) {
  const [repo] = await readRepositories(db, null, [repo_id])
  if (!repo || !storage.has(repo_id)) return
  const branch = `refs/heads/${repo.default_branch}`
  const tip = (await resolveCommit(storage, repo_id, branch)) ?? noObject
  const [language = null] = Object.keys(await countLanguages(storage, repo))
  const license = tip === noObject ? null : await findLicense(storage, repo, tip)
  await db.query(sql`
    update repositories set language = ${language}, license = ${license}
    where id = ${repo_id} and default_branch = ${repo.default_branch} and (language, license) is distinct from (${language}, ${license})
      and coalesce((select sha from refs where repo_id = ${repo_id} and name = ${branch}), ${noObject}) = ${tip}`)
}

async function findLicense(storage: Storage, repo: Repository, commit: string): Promise<string | null> {
  try {
    return licenseOf(await readLicense(storage, repo, commit)).key
  } catch (error) {
    if (error instanceof Refusal && error.reason === 'missing') return null
    throw error
  }
}
