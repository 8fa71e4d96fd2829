import type { Vault } from '#platform/vault.ts'

/** A hook's secrets as they are stored. */
export interface Sealed {
  secret: Buffer | null
  former_secret: Buffer | null
  former_secret_until: Date | null
}

/** How long a secret that was replaced signs besides the new one, in milliseconds: a day. */
const overlap = 86_400_000

export const hookContext = (hook_id: number) => `hook ${hook_id}`

export function sealSecret(vault: Vault, hook_id: number, secret: string | null | undefined): Buffer | null {
  return secret ? vault.seal(secret, hookContext(hook_id)) : null
}

/** What signs a delivery of now. */
export function openSecrets(vault: Vault, hook: Sealed & { id: number }, now: Date) {
  const { id, secret, former_secret, former_secret_until } = hook
  const open = (sealed: Buffer | null) => sealed && vault.open(sealed, hookContext(id))
  return { secret: open(secret), former_secret: former_secret_until && former_secret_until > now ? open(former_secret) : null }
}

/** What is shown in place of a secret, however long that is. */
export const stars = '********'

/** The same secret again changes nothing, nor does what is shown in its place; one that is taken away takes the former one with it. */
export function changeSecret(vault: Vault, hook: Sealed & { id: number }, wanted: string | null, now: Date): Sealed {
  const present = openSecrets(vault, hook, now).secret
  const { secret, former_secret, former_secret_until } = hook
  if (present && (wanted === present || wanted === stars)) return { secret, former_secret, former_secret_until }
  const sealed = sealSecret(vault, hook.id, wanted)
  if (!sealed || !secret) return { secret: sealed, former_secret: null, former_secret_until: null }
  return { secret: sealed, former_secret: secret, former_secret_until: new Date(now.getTime() + overlap) }
}
