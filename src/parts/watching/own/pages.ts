import { pageIn, viewerOf } from '#hosting/repositories/views/repository-page.ts'
import { perPage, watchedPage } from '#parts/watching/views/watched.ts'
import { listWatched } from '#parts/watching/watching.ts'
import { type PageRoute, showOwn } from '#web/page.ts'

export const pages: PageRoute[] = [
  showOwn('/watching', async (visit) => {
    const page = pageIn(visit.query)
    const slice = { limit: perPage, offset: (page - 1) * perPage }
    return watchedPage(visit, await listWatched(visit.db, viewerOf(visit), visit.visitor, slice), page)
  }),
]
