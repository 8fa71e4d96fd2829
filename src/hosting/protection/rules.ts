import type { ShownTeam } from '#hosting/teams/json.ts'
import type { Person } from '#identity/accounts.ts'
import type { App } from '#identity/apps.ts'
import { Refusal } from '#platform/errors.ts'

/** Lists of users, teams and apps with a right. */
export type ActorList = 'restrictions' | 'dismissal_restrictions' | 'bypass_pull_request_allowances'

export interface Actors {
  users: Person[]
  teams: ShownTeam[]
  apps: App[]
}

export const noActors: Actors = { users: [], teams: [], apps: [] }

export interface RequiredCheck {
  context: string
  /** Null: any app, or a status. */
  app_id: number | null
}

export interface RequiredChecks {
  /** The head of a pull request must contain the base. */
  strict: boolean
  checks: RequiredCheck[]
}

export interface RequiredReviews {
  approvals_count: number
  dismiss_stale_reviews: boolean
  /** Null: every user with push access may dismiss reviews. */
  dismissal_restrictions: Actors | null
  bypass_pull_request_allowances: Actors
}

/** Rules that are on or off. */
export const switches = [
  'enforce_admins',
  'required_linear_history',
  'required_signatures',
  'allow_force_pushes',
  'allow_deletions',
  'block_creations',
  'lock_branch',
  'allow_fork_syncing',
  'required_conversation_resolution',
] as const

export type Rules = Record<(typeof switches)[number], boolean> & {
  /** Null: no checks are required. */
  required_status_checks: RequiredChecks | null
  /** Null: changes need no pull request. */
  required_pull_request_reviews: RequiredReviews | null
  /** The users, teams and apps that may push. Null: all with push access. */
  restrictions: Actors | null
}

export type Protection = Rules & { id: number; repo_id: number; branch: string; created_at: Date; updated_at: Date }

export const noRules: Rules = {
  ...(Object.fromEntries(switches.map((name) => [name, false])) as Record<(typeof switches)[number], boolean>),
  required_status_checks: null,
  required_pull_request_reviews: null,
  restrictions: null,
}

const none = (message: string) => new Refusal('missing', message)
export const checksOf = (protection: Protection | undefined) => {
  if (!protection?.required_status_checks) throw none('Required status checks not enabled')
  return protection.required_status_checks
}
export const reviewsOf = (protection: Protection | undefined) => {
  if (!protection?.required_pull_request_reviews) throw none('Pull request review protection not enabled')
  return protection.required_pull_request_reviews
}
export const restrictionsOf = (protection: Protection | undefined) => {
  if (!protection?.restrictions) throw none('Push restrictions not enabled')
  return protection.restrictions
}
export const mustBeProtected = (protection: Protection | undefined): Protection => {
  if (!protection) throw none('Branch not protected')
  return protection
}
