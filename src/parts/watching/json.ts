import type { Repository } from '#hosting/repositories/repositories.ts'
import { Address, Timestamp, timestamp, type Wire } from '#http/serialization.ts'
import { type Static, Type } from '#platform/schema.ts'
import type { Subscription } from './watching.ts'

export const RepositorySubscription = Type.Object(
  {
    subscribed: Type.Boolean(),
    ignored: Type.Boolean(),
    reason: Type.Null(),
    created_at: Timestamp,
    url: Address,
    repository_url: Address,
  },
  { title: 'RepositorySubscription' },
)

export function subscriptionJson(
  { subscribed, ignored, created_at }: Subscription,
  repo: Repository,
  wire: Wire,
): Static<typeof RepositorySubscription> {
  const repository_url = `${wire.api}/repos/${repo.owner_login}/${repo.name}`
  return {
    subscribed,
    ignored,
    reason: null,
    created_at: timestamp(created_at),
    url: `${repository_url}/subscription`,
    repository_url,
  }
}
