import { loadVisibleRepository, pathOf } from '#hosting/repositories/views/repository-page.ts'
import { type PageRoute, type SignedIn, submitOwn } from '#web/page.ts'
import { pageOfForm } from '#web/return-to.ts'
import { star, unstar } from './starring.ts'

export const pages: PageRoute[] = [
  submitOwn('/:owner/:repo/star', (visit) => change(visit, star)),
  submitOwn('/:owner/:repo/unstar', (visit) => change(visit, unstar)),
]

async function change(visit: SignedIn, verb: typeof star) {
  const repo = await loadVisibleRepository(visit)
  await verb(visit.db, visit.visitor, repo)
  return { to: pageOfForm(visit.request, pathOf(repo)) }
}
