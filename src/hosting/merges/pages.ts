import { codeAddress } from '#hosting/contents/code-location.ts'
import { loadVisibleRepository, viewerOf } from '#hosting/repositories/views/repository-page.ts'
import { checkAccess, checkWritable } from '#identity/access.ts'
import { typed } from '#web/fields.ts'
import { type PageRoute, submitOwn } from '#web/page.ts'
import { mergeUpstream } from './merges.ts'

export const pages: PageRoute[] = [
  submitOwn('/:owner/:repo/merge-upstream', async (visit) => {
    const repo = await loadVisibleRepository(visit)
    checkAccess(repo.access, 'push')
    checkWritable(repo)
    const branch = typed(visit.form, 'branch')
    const { message } = await mergeUpstream(visit.db, visit.belfry.storage, viewerOf(visit), repo, visit.visitor, branch)
    return { to: codeAddress('tree', { repo, ref: branch }), flash: { done: message } }
  }),
]
