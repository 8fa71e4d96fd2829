import type { Facts } from '#activity/facts.ts'
import { simpleOrganizationJson } from '#hosting/organizations/json.ts'
import { userJson } from '#hosting/people/json.ts'
import { repositoryJson } from '#hosting/repositories/json.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { mustGet, type PayloadContext, unaddressed as wire } from './payload-context.ts'

/** Receivers expect `custom_properties`, which repositories here do not have. */
export function deliveredRepositoryJson(repo: Repository) {
  return { ...repositoryJson(repo, wire, false), custom_properties: {} }
}

export function repositoryPayload({ changes, former_owner_id }: Partial<Facts>, { records }: PayloadContext) {
  if (former_owner_id === undefined) return { ...(changes && { changes }) }
  const former = mustGet(records.accounts, former_owner_id)
  const from = former.type === 'User' ? { user: userJson(former, wire) } : { organization: simpleOrganizationJson(former, wire) }
  return { changes: { owner: { from } } }
}

export function forkPayload({ forkee_id }: Partial<Facts>, { records }: PayloadContext) {
  const forkee = mustGet(records.repositories, forkee_id)
  return { forkee: { ...deliveredRepositoryJson(forkee), public: !forkee.private } }
}

export function memberPayload({ member_id, changes }: Partial<Facts>, { records }: PayloadContext) {
  return { ...(changes && { changes }), member: userJson(mustGet(records.accounts, member_id), wire) }
}
