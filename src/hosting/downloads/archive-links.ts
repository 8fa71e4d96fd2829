import type { Repository } from '#hosting/repositories/repositories.ts'
import { sameSecret } from '#platform/secrets.ts'
import type { Vault } from '#platform/vault.ts'

/** Milliseconds from the redirect until the download must have begun. */
const lifetime = 5 * 60_000

interface Grant {
  viewer_id: number
  repo_id: number
  until: number
}

const sign = (vault: Vault, { repo_id, viewer_id, until }: Grant) =>
  vault.derive(`archive of repository ${repo_id} for user ${viewer_id} until ${until}`).toString('base64url')

/**
 * A key for the address of an archive, because clients do not send their credentials to another host. It stands for the user: what they
 * may see is checked again when the archive is read.
 */
export function archiveKey(vault: Vault, repo: Repository, viewer_id: number, now: Date): string {
  const grant = { viewer_id, repo_id: repo.id, until: now.getTime() + lifetime }
  return `${grant.viewer_id}.${grant.repo_id}.${grant.until}.${sign(vault, grant)}`
}

/** What a key permits; undefined if it is not ours or too old. Nothing about a repository is read before that is known. */
export function readKey(vault: Vault, key: string, now: Date): Grant | undefined {
  const [, viewer, repo, until, signature = ''] = /^(\d{1,15})\.(\d{1,15})\.(\d{1,15})\.([\w-]{1,100})$/.exec(key) ?? []
  const grant = { viewer_id: Number(viewer), repo_id: Number(repo), until: Number(until) }
  return grant.until >= now.getTime() && sameSecret(signature, sign(vault, grant)) ? grant : undefined
}
