import type { Repository } from '#hosting/repositories/repositories.ts'
import { sameSecret } from '#platform/secrets.ts'
import type { Vault } from '#platform/vault.ts'

/** Milliseconds from the redirect until the download must have begun. */
const lifetime = 5 * 60_000

const sign = (vault: Vault, repo: Repository, viewer_id: number, until: number) =>
  vault.derive(`archive of repository ${repo.id} for user ${viewer_id} until ${until}`).toString('base64url')

/**
 * A key for the address of an archive, because clients do not send their credentials to another host. It stands for the user: what they
 * may see is checked again when the archive is read.
 */
export function archiveKey(vault: Vault, repo: Repository, viewer_id: number, now: Date): string {
  const until = now.getTime() + lifetime
  return `${viewer_id}.${until}.${sign(vault, repo, viewer_id, until)}`
}

/** Whether a key is for this repository, and not too old. The number before its first dot is the user. */
export function isValidKey(vault: Vault, repo: Repository, key: string, now: Date): boolean {
  const [, viewer, until, signature] = /^(\d{1,15})\.(\d{1,15})\.([\w-]+)$/.exec(key) ?? []
  if (!viewer || !until || !signature || Number(until) < now.getTime()) return false
  return sameSecret(signature, sign(vault, repo, Number(viewer), Number(until)))
}
