import type { SealedColumn } from '#platform/sealed-columns.ts'
import type { Vault } from '#platform/vault.ts'

/** A hook's encrypted secrets as they are stored. */
export interface SealedSecrets {
  secret: Buffer | null
  former_secret: Buffer | null
  former_secret_until: Date | null
}

/** How long a replaced secret signs in addition to the new one: a day, in milliseconds. */
const overlap = 86_400_000

export const hookContext = (hook_id: number) => `hook ${hook_id}`

export const sealedColumns: SealedColumn[] = ['secret', 'former_secret'].map((column) => ({
  ...{ table: 'hooks', column, id: 'id', owner: 'id' },
  contextsOf: (id) => [hookContext(id)],
}))

export function sealSecret(vault: Vault, hook_id: number, secret: string | null | undefined): Buffer | null {
  return secret ? vault.seal(secret, hookContext(hook_id)) : null
}

/** The secrets that sign a delivery sent now. */
export function openSecrets(vault: Vault, hook: SealedSecrets & { id: number }, now: Date) {
  const { id, secret, former_secret, former_secret_until } = hook
  const open = (sealed: Buffer | null) => sealed && vault.open(sealed, hookContext(id))
  return { secret: open(secret), former_secret: former_secret_until && former_secret_until > now ? open(former_secret) : null }
}

/** Caches decrypted secrets, because decrypting one takes as long as signing with it. */
export function openSecretCache(vault: Vault) {
  const opened = new Map<number, SealedSecrets & { secrets: ReturnType<typeof openSecrets> }>()
  return (hook_id: number, sealed: SealedSecrets, now: Date) => {
    const known = opened.get(hook_id)
    if (known && !known.former_secret && !sealed.former_secret && isSame(known.secret, sealed.secret)) return known.secrets
    const secrets = openSecrets(vault, { ...sealed, id: hook_id }, now)
    if (opened.size >= mostOpened) opened.clear()
    opened.set(hook_id, { ...sealed, secrets })
    return secrets
  }
}
const mostOpened = 1000

function isSame(one: Buffer | null, other: Buffer | null) {
  return one === other || (one !== null && other !== null && one.equals(other))
}

/** Shown instead of a secret of any length. */
export const secretMask = '********'

/** Sending the same secret or the mask changes nothing. Removing the secret also removes the former one. */
export function changeSecret(vault: Vault, hook: SealedSecrets & { id: number }, next: string | null, now: Date): SealedSecrets {
  const current = openSecrets(vault, hook, now).secret
  const { secret, former_secret, former_secret_until } = hook
  if (current && (next === current || next === secretMask)) return { secret, former_secret, former_secret_until }
  const sealed = sealSecret(vault, hook.id, next)
  if (!sealed || !secret) return { secret: sealed, former_secret: null, former_secret_until: null }
  return { secret: sealed, former_secret: secret, former_secret_until: new Date(now.getTime() + overlap) }
}
