import { join } from 'node:path'
import { loadVisibleRepository, pathOf } from '#hosting/repositories/views/repository-page.ts'
import { checkAccess, checkWritable } from '#identity/access.ts'
import { attempt, typed } from '#web/fields.ts'
import { type Outcome, type PageRoute, type SignedIn, show, submitOwn } from '#web/page.ts'
import { findCommit } from './commits.ts'
import { createRef, deleteRef } from './refs.ts'
import { branchesPage } from './views/branches-page.ts'

export const assets = join(import.meta.dirname, 'assets')

export const pages: PageRoute[] = [
  show('/:owner/:repo/branches', (visit) => branchesPage(visit)),
  submitOwn('/:owner/:repo/branches', (visit) =>
    change(visit, async (repo, { storage }) => {
      const name = typed(visit.form, 'name')
      const sha = await findCommit(storage, repo, typed(visit.form, 'from'))
      await createRef(visit.db, storage, repo, visit.visitor, { ref: `refs/heads/${name}`, sha })
      return `The branch ${name} is created.`
    }),
  ),
  submitOwn('/:owner/:repo/branches/delete', (visit) =>
    change(visit, async (repo, { storage }) => {
      const name = typed(visit.form, 'branch')
      await deleteRef(visit.db, storage, repo, visit.visitor, `heads/${name}`)
      return `The branch ${name} is deleted.`
    }),
  ),
]

type Repository = Awaited<ReturnType<typeof loadVisibleRepository>>

/** Changes a branch, and shows the list with what was done or why it was refused. */
async function change(
  visit: SignedIn,
  work: (repo: Repository, belfry: SignedIn['belfry']) => Promise<string>,
): Promise<Outcome> {
  const repo = await loadVisibleRepository(visit)
  return attempt(
    async () => {
      checkAccess(repo.access, 'push')
      checkWritable(repo)
      const done = await work(repo, visit.belfry)
      return { to: `${pathOf(repo)}/branches`, flash: { done } }
    },
    (problem) => branchesPage(visit, problem),
  )
}
