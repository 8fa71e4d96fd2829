import { Readable } from 'node:stream'
import { type ArchiveFormat, openArchive } from '#git/archive.ts'
import { resolveCommit } from '#git/objects.ts'
import { withSlotsOf } from '#git/slots.ts'
import { loadRepository, type Repository } from '#hosting/repositories/repositories.ts'
import { noted } from '#hosting/repositories/views/repository-page.ts'
import { missing } from '#platform/errors.ts'
import { type Outcome, type PageRoute, show, type Visit } from '#web/page.ts'
import { readKey } from './archive-links.ts'
import { loadReadableRepository } from './readers.ts'

export const pages: PageRoute[] = [
  show('/:owner/:repo/legacy.tar.gz/*', (visit) => sendArchive(visit, 'tar.gz', visit.params['*'] ?? '')),
  show('/:owner/:repo/legacy.zip/*', (visit) => sendArchive(visit, 'zip', visit.params['*'] ?? '')),
  show('/:owner/:repo/archive/*', (visit) => {
    const [, ref = '', format] = /^(.+)\.(tar\.gz|zip)$/s.exec(visit.params['*'] ?? '') ?? []
    if (!format) throw missing()
    return sendArchive(visit, format as ArchiveFormat, ref)
  }),
]

async function sendArchive(visit: Visit, format: ArchiveFormat, ref: string): Promise<Outcome> {
  const { belfry, request, query } = visit
  const { storage } = belfry
  const key = query.get('token')
  const repo = await (key === null ? loadReadableRepository(visit) : loadByKey(visit, key))
  const sha = await resolveCommit(storage, repo.id, ref)
  if (!sha) throw missing()
  const folder = `${repo.owner_login}-${repo.name}-${sha.slice(0, 7)}`
  const headers = {
    'Content-Type': format === 'zip' ? 'application/zip' : 'application/x-gzip',
    'Content-Disposition': `attachment; filename=${folder}.${format}`,
    ETag: `"${sha}.${format}"`,
  }
  if (request.method === 'HEAD') return { headers, file: Readable.from([]) }
  // An archive takes as long as a clone, so it waits for the same slots.
  const caller = { user_id: visit.visitor?.id, ip: request.ip }
  const file = await withSlotsOf(storage.fetching, caller, () => openArchive(storage, repo.id, { sha, format, folder }))
  return { headers, file }
}

/** The repository as the user of the key may see it now. A wrong key and a hidden repository give the same answer. */
async function loadByKey(visit: Visit, key: string): Promise<Repository> {
  const { owner = '', repo: name = '' } = visit.params
  if (/\0/.test(owner + name)) throw missing()
  const grant = readKey(visit.belfry.vault, key, visit.db.now)
  if (!grant) throw missing()
  const repo = await loadRepository(visit.db, { viewer_id: grant.viewer_id, sees_private: true }, owner, name)
  if (repo.id !== grant.repo_id) throw missing()
  return noted(visit, repo)
}
