import type { Settings } from '#config.ts'
import type { Storage } from '#git/storage.ts'
import { Refusal } from '#platform/errors.ts'
import { type Policy, policyFor, readPolicy } from '#platform/outbound/policy.ts'
import type { Vault } from '#platform/vault.ts'
import type { Variant } from '#variants.ts'
import type { ImportDeps } from './imports.ts'

type AvailabilitySettings = Pick<Settings, 'BELFRY_IMPORTS' | 'BELFRY_IMPORTS_CLOSE_AT'>

/** Refuses every caller while imports are closed or under maintenance. Running imports continue. */
export function checkOpen({ BELFRY_IMPORTS, BELFRY_IMPORTS_CLOSE_AT }: AvailabilitySettings, variant: Variant, now: Date) {
  if (BELFRY_IMPORTS === 'maintenance') {
    throw new Refusal('unavailable', 'Source imports are under maintenance at the moment. Please try again later.')
  }
  const close_at = BELFRY_IMPORTS_CLOSE_AT ?? (BELFRY_IMPORTS === 'open' ? null : variant.imports_close_at)
  if (BELFRY_IMPORTS !== 'closed' && (close_at === null || now < close_at)) return
  const since = close_at && close_at <= now ? ` since ${close_at.toISOString().replace('.000Z', 'Z')}` : ''
  throw new Refusal('gone', `Source imports are closed${since}.`)
}

type AddressSettings = Pick<Settings, 'BELFRY_HOST' | 'BELFRY_IMPORT_ADDRESSES'>

/** The addresses that imports may come from, in the syntax of the setting, for worker processes. */
export function addressesOf({ BELFRY_HOST, BELFRY_IMPORT_ADDRESSES }: AddressSettings): string {
  const set = readPolicy(BELFRY_IMPORT_ADDRESSES)
  return policyFor(BELFRY_HOST, set) === set ? BELFRY_IMPORT_ADDRESSES : `${BELFRY_IMPORT_ADDRESSES}, loopback`
}

export const policyOf = (settings: AddressSettings): Policy => readPolicy(addressesOf(settings))

export function importDeps({ vault, storage, settings }: { vault: Vault; storage: Storage; settings: Settings }): ImportDeps {
  return { vault, storage, policy: policyOf(settings), use_lfs: settings.BELFRY_IMPORT_LFS }
}
