import type { Vault } from '#platform/vault.ts'

/** A hook's secrets as they are stored. */
export interface SealedSecrets {
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
export function openSecrets(vault: Vault, hook: SealedSecrets & { id: number }, now: Date) {
  const { id, secret, former_secret, former_secret_until } = hook
  const open = (sealed: Buffer | null) => sealed && vault.open(sealed, hookContext(id))
  return { secret: open(secret), former_secret: former_secret_until && former_secret_until > now ? open(former_secret) : null }
}

/** SecretCache that were opened, for those who sign with the same again and again: to open one takes as long as to sign with it. */
export class SecretCache {
  readonly #vault: Vault
  readonly #opened = new Map<number, SealedSecrets & { secrets: ReturnType<typeof openSecrets> }>()

  constructor(vault: Vault) {
    this.#vault = vault
  }

  of(hook_id: number, sealed: SealedSecrets, now: Date) {
    const known = this.#opened.get(hook_id)
    if (known && !known.former_secret && !sealed.former_secret && isSame(known.secret, sealed.secret)) return known.secrets
    const secrets = openSecrets(this.#vault, { ...sealed, id: hook_id }, now)
    if (this.#opened.size >= mostOpened) this.#opened.clear()
    this.#opened.set(hook_id, { ...sealed, secrets })
    return secrets
  }
}
const mostOpened = 1000

function isSame(one: Buffer | null, other: Buffer | null) {
  return one === other || (one !== null && other !== null && one.equals(other))
}

/** What is shown in place of a secret, however long that is. */
export const secretMask = '********'

/** The same secret again changes nothing, nor does what is shown in its place; one that is taken away takes the former one with it. */
export function changeSecret(
  vault: Vault,
  hook: SealedSecrets & { id: number },
  wanted: string | null,
  now: Date,
): SealedSecrets {
  const present = openSecrets(vault, hook, now).secret
  const { secret, former_secret, former_secret_until } = hook
  if (present && (wanted === present || wanted === secretMask)) return { secret, former_secret, former_secret_until }
  const sealed = sealSecret(vault, hook.id, wanted)
  if (!sealed || !secret) return { secret: sealed, former_secret: null, former_secret_until: null }
  return { secret: sealed, former_secret: secret, former_secret_until: new Date(now.getTime() + overlap) }
}
