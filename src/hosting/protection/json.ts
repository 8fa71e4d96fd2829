import { appJson, Integration } from '#hosting/apps/json.ts'
import { SimpleUser, userJson } from '#hosting/people/json.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { TeamSchema, teamJson } from '#hosting/teams/json.ts'
import { Address, encodePath, type Wire } from '#http/serialization.ts'
import { levelOf } from '#identity/access.ts'
import { type Static, Type } from '#platform/schema.ts'
import { levelOf as enforcementLevel } from './rule-json.ts'
import type { Actors, Protection, RequiredChecks, RequiredReviews } from './rules.ts'

const Check = Type.Object({
  context: Type.String(),
  app_id: Type.Unsafe<number | null>({ type: ['integer', 'null'] }),
})
export const Contexts = Type.Array(Type.String())

export const RequiredChecksSchema = Type.Object(
  { url: Address, strict: Type.Boolean(), contexts: Contexts, contexts_url: Address, checks: Type.Array(Check) },
  { title: 'StatusCheckPolicy' },
)

const Listed = Type.Object({
  users: Type.Array(SimpleUser),
  teams: Type.Array(TeamSchema),
  apps: Type.Array(Integration),
})
export const RequiredReviewsSchema = Type.Object(
  {
    url: Address,
    dismiss_stale_reviews: Type.Boolean(),
    require_code_owner_reviews: Type.Boolean(),
    require_last_push_approval: Type.Boolean(),
    required_approving_review_count: Type.Integer(),
    dismissal_restrictions: Type.Optional(
      Type.Object({ url: Address, users_url: Address, teams_url: Address, ...Listed.properties }),
    ),
    bypass_pull_request_allowances: Type.Optional(Listed),
  },
  { title: 'ProtectedBranchPullRequestReview' },
)

export const RestrictionsSchema = Type.Object(
  { url: Address, users_url: Address, teams_url: Address, apps_url: Address, ...Listed.properties },
  { title: 'BranchRestrictionPolicy' },
)

const Enabled = Type.Object({ enabled: Type.Boolean() })
export const SwitchSchema = Type.Object({ url: Address, enabled: Type.Boolean() }, { title: 'ProtectedBranchAdminEnforced' })

export const ProtectionSchema = Type.Object(
  {
    url: Address,
    required_status_checks: Type.Optional(RequiredChecksSchema),
    required_pull_request_reviews: Type.Optional(RequiredReviewsSchema),
    restrictions: Type.Optional(RestrictionsSchema),
    required_signatures: SwitchSchema,
    enforce_admins: SwitchSchema,
    required_linear_history: Enabled,
    allow_force_pushes: Enabled,
    allow_deletions: Enabled,
    block_creations: Enabled,
    required_conversation_resolution: Enabled,
    lock_branch: Enabled,
    allow_fork_syncing: Enabled,
  },
  { title: 'BranchProtection' },
)

export function protectionUrl(repo: Pick<Repository, 'owner_login' | 'name'>, branch: string, { api }: Wire) {
  return `${api}/repos/${repo.owner_login}/${repo.name}/branches/${encodePath(branch)}/protection`
}

export function protectionJson(protection: Protection, repo: Repository, wire: Wire): Static<typeof ProtectionSchema> {
  const { required_status_checks: checks, required_pull_request_reviews: reviews, restrictions } = protection
  const url = protectionUrl(repo, protection.branch, wire)
  return {
    url,
    ...(checks && { required_status_checks: checksJson(checks, url) }),
    ...(reviews && { required_pull_request_reviews: reviewsJson(reviews, url, wire) }),
    ...(restrictions && { restrictions: restrictionsJson(restrictions, url, wire) }),
    required_signatures: { url: `${url}/required_signatures`, enabled: protection.required_signatures },
    enforce_admins: { url: `${url}/enforce_admins`, enabled: protection.enforce_admins },
    required_linear_history: { enabled: protection.required_linear_history },
    allow_force_pushes: { enabled: protection.allow_force_pushes },
    allow_deletions: { enabled: protection.allow_deletions },
    block_creations: { enabled: protection.block_creations },
    required_conversation_resolution: { enabled: protection.required_conversation_resolution },
    lock_branch: { enabled: protection.lock_branch },
    allow_fork_syncing: { enabled: protection.allow_fork_syncing },
  }
}

export function checksJson({ strict, checks }: RequiredChecks, protection_url: string): Static<typeof RequiredChecksSchema> {
  const url = `${protection_url}/required_status_checks`
  return { url, strict, contexts: checks.map(({ context }) => context), contexts_url: `${url}/contexts`, checks }
}

export const actorsJson = ({ users, teams, apps }: Actors, wire: Wire): Static<typeof Listed> => ({
  users: users.map((user) => userJson(user, wire)),
  teams: teams.map((team) => teamJson(team, wire, levelOf('push'))),
  // The public schema of these lists has no null here.
  apps: apps.map((app) => ({ ...appJson(app, wire), description: app.description ?? '' })),
})

export function reviewsJson(reviews: RequiredReviews, protection_url: string, wire: Wire): Static<typeof RequiredReviewsSchema> {
  const { dismissal_restrictions: dismissals, bypass_pull_request_allowances: bypass } = reviews
  const url = `${protection_url}/required_pull_request_reviews`
  return {
    url,
    dismiss_stale_reviews: reviews.dismiss_stale_reviews,
    require_code_owner_reviews: false,
    require_last_push_approval: false,
    required_approving_review_count: reviews.approvals_count,
    ...(dismissals && {
      dismissal_restrictions: {
        url: `${protection_url}/required_pull_request_reviews`,
        users_url: `${protection_url}/restrictions/users`,
        teams_url: `${protection_url}/restrictions/teams`,
        ...actorsJson(dismissals, wire),
      },
    }),
    ...(bypass.users.length + bypass.teams.length + bypass.apps.length && {
      bypass_pull_request_allowances: actorsJson(bypass, wire),
    }),
  }
}

export function restrictionsJson(restrictions: Actors, protection_url: string, wire: Wire): Static<typeof RestrictionsSchema> {
  const url = `${protection_url}/restrictions`
  return {
    url,
    users_url: `${url}/users`,
    teams_url: `${url}/teams`,
    apps_url: `${url}/apps`,
    ...actorsJson(restrictions, wire),
  }
}

/** A protection as lists of branches show it. */
export const BranchProtectionSchema = Type.Object({
  enabled: Type.Boolean(),
  required_status_checks: Type.Object({
    enforcement_level: Type.String(),
    contexts: Contexts,
    checks: Type.Array(Check),
  }),
})

export function branchProtectionJson(protection: Protection | undefined): Static<typeof BranchProtectionSchema> {
  const { checks = [] } = protection?.required_status_checks ?? {}
  const level = protection?.required_status_checks ? enforcementLevel(protection) : 'off'
  const required = { enforcement_level: level, contexts: checks.map(({ context }) => context), checks }
  return { enabled: protection !== undefined, required_status_checks: required }
}
