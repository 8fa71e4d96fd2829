import { loadRepository, type Repository } from '#hosting/repositories/repositories.ts'
import { noteRecords } from '#http/deletion.ts'
import { levelOf } from '#identity/access.ts'
import type { Viewer } from '#identity/accounts.ts'
import { missing } from '#platform/errors.ts'
import type { Visit } from '#web/page.ts'

/** A page has no token that limits the visitor's access. */
export const viewerOf = ({ visitor }: Visit): Viewer => ({ viewer_id: visitor?.id ?? null, sees_private: true })

/** The repository that the path names, as the visitor may see it. */
export async function loadVisibleRepository(visit: Visit): Promise<Repository> {
  const { owner = '', repo = '' } = visit.params
  if (/\0/.test(owner + repo)) throw missing()
  return noted(visit, await loadRepository(visit.db, viewerOf(visit), owner, repo))
}

/** Remembers the repository of a page, in case that it is deleted meanwhile. */
export function noted(visit: Visit, repo: Repository): Repository {
  noteRecords(visit.request, { repo, accounts: [visit.visitor] })
  return repo
}

/** Whether the visitor may change branches, tags and files. */
export const mayPush = ({ visitor }: Visit, { archived, access }: Repository) =>
  visitor !== null && !archived && access >= levelOf('push')

export const pathOf = ({ owner_login, name }: Pick<Repository, 'owner_login' | 'name'>) => `/${owner_login}/${name}`

/** A number in a path or a query; other text becomes a number that nothing has. */
export function numberIn(text: string | undefined): number {
  if (!/^[1-9]\d{0,8}$/.test(text ?? '')) throw missing()
  return Number(text)
}

/** The page number of a query, bounded; other text means the first page. */
export function pageIn(query: URLSearchParams, name = 'page'): number {
  return Math.min(Number(/^[1-9]\d{0,5}$/.exec(query.get(name) ?? '')?.[0] ?? 1), 1000)
}
