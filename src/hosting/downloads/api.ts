import type { Belfry } from '#belfry.ts'
import type { ArchiveFormat } from '#git/archive.ts'
import { loadCommit } from '#hosting/refs/commits.ts'
import { encodePath } from '#hosting/refs/json.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { Answer, type BaseContext, get, group } from '#http/endpoint.ts'
import { Nothing } from '#http/serialization.ts'
import type { Account } from '#identity/accounts.ts'
import type { Database } from '#platform/database.ts'
import { archiveKey } from './archive-links.ts'

const reads = {
  permission: 'contents:read',
  viewer: 'optional',
  optional_scopes: ['repo'],
  refuses: ['conflict', 'invalid'],
  answers: { 302: Nothing },
} as const

type Request = BaseContext & { db: Database; repo: Repository; viewer: Account | null }

/** Archives are sent by the host of pages, which a redirect names. */
export const downloadApi = ({ vault, settings }: Belfry) => {
  const redirect = async ({ db, storage, repo, viewer, wire }: Request, format: ArchiveFormat, asked: string) => {
    const ref = asked || repo.default_branch
    await loadCommit(storage, repo, ref)
    const needed = repo.private || settings.BELFRY_SIGN_IN_ONLY === 'on'
    const key = needed && viewer ? `?token=${archiveKey(vault, repo, viewer.id, db.now)}` : ''
    const url = `${wire.web}/${repo.owner_login}/${repo.name}/legacy.${format}/${encodePath(ref)}${key}`
    return new Answer<void>(undefined, { headers: { Location: url } })
  }
  return group('Archives', [
    get(
      '/repos/{owner}/{repo}/tarball/{ref+}',
      {
        ...reads,
        operation: 'repos/download-tarball-archive',
        summary: 'Redirect to a tar archive of a branch, a tag or a commit',
      },
      (request) => redirect(request, 'tar.gz', request.params.ref),
    ),
    get(
      '/repos/{owner}/{repo}/tarball',
      { ...reads, operation: 'repos/download-default-tarball', summary: 'Redirect to a tar archive of the default branch' },
      (request) => redirect(request, 'tar.gz', ''),
    ),
    get(
      '/repos/{owner}/{repo}/zipball/{ref+}',
      {
        ...reads,
        operation: 'repos/download-zipball-archive',
        summary: 'Redirect to a zip archive of a branch, a tag or a commit',
      },
      (request) => redirect(request, 'zip', request.params.ref),
    ),
    get(
      '/repos/{owner}/{repo}/zipball',
      { ...reads, operation: 'repos/download-default-zipball', summary: 'Redirect to a zip archive of the default branch' },
      (request) => redirect(request, 'zip', ''),
    ),
  ])
}
