import type { Changes } from '#activity/facts.ts'
import { timestamp } from '#http/serialization.ts'
import type { Actors, Protection } from './rules.ts'

/** To whom a rule applies. */
type Level = 'off' | 'non_admins' | 'everyone'

const namesOf = ({ users, teams, apps }: Actors) => [
  ...users.map(({ login }) => login),
  ...[...teams, ...apps].map(({ slug }) => slug),
]

/** A protection as webhook payloads show it. */
export function ruleJson(protection: Protection) {
  const { required_status_checks: checks, required_pull_request_reviews: reviews, restrictions } = protection
  const level = (on: boolean): Level => (on ? levelOf(protection) : 'off')
  return {
    id: protection.id,
    repository_id: protection.repo_id,
    name: protection.branch,
    created_at: timestamp(protection.created_at),
    updated_at: timestamp(protection.updated_at),
    pull_request_reviews_enforcement_level: level(reviews !== null),
    required_approving_review_count: reviews?.approvals_count ?? 0,
    dismiss_stale_reviews_on_push: reviews?.dismiss_stale_reviews ?? false,
    require_code_owner_review: false,
    authorized_dismissal_actors_only: reviews?.dismissal_restrictions != null,
    ignore_approvals_from_contributors: false,
    require_last_push_approval: false,
    required_status_checks: checks?.checks.map(({ context }) => context) ?? [],
    required_status_checks_enforcement_level: level(checks !== null),
    strict_required_status_checks_policy: checks?.strict ?? false,
    signature_requirement_enforcement_level: level(protection.required_signatures),
    linear_history_requirement_enforcement_level: level(protection.required_linear_history),
    admin_enforced: protection.enforce_admins,
    create_protected: protection.block_creations,
    allow_force_pushes_enforcement_level: protection.allow_force_pushes ? 'everyone' : 'off',
    allow_deletions_enforcement_level: protection.allow_deletions ? 'everyone' : 'off',
    merge_queue_enforcement_level: 'off',
    required_deployments_enforcement_level: 'off',
    required_conversation_resolution_level: level(protection.required_conversation_resolution),
    lock_branch_enforcement_level: level(protection.lock_branch),
    lock_allows_fork_sync: protection.allow_fork_syncing,
    authorized_actors_only: restrictions !== null,
    authorized_actor_names: restrictions ? namesOf(restrictions) : [],
  }
}

export const levelOf = ({ enforce_admins }: Protection): Level => (enforce_admins ? 'everyone' : 'non_admins')

/** The previous values of what changed; undefined if nothing did. */
export function changedRules(before: Protection, after: Protection): Changes | undefined {
  const [{ updated_at, ...old }, next] = [ruleJson(before), ruleJson(after)]
  const changed = Object.entries(old).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(next[name as keyof typeof old]),
  )
  return changed.length ? Object.fromEntries(changed.map(([name, from]) => [name, { from }])) : undefined
}
