import type { Storage } from '#git/storage.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import type { Queryable } from '#platform/database.ts'
import { forbidden, Refusal } from '#platform/errors.ts'
import { findProtection } from './protection.ts'
import { isExempt, membershipOf } from './push-rules.ts'
import { findUnmet, type MergedPull } from './requirements.ts'

const notAllowed = (message: string) => new Refusal('not_allowed', message)

/** Refuses to merge a pull request whose base is protected and asks for more. */
export async function checkMayMerge(
  db: Queryable,
  storage: Storage,
  repo: Repository,
  merger: { id: number },
  pull: MergedPull,
  base: string,
  method: 'merge' | 'squash' | 'rebase',
) {
  const protection = await findProtection(db, repo, pull.base_ref)
  if (!protection || isExempt(repo, protection)) return
  const { restrictions, required_pull_request_reviews: reviews } = protection
  const isIn = await membershipOf(db, merger)
  if (restrictions && !isIn(restrictions)) throw notAllowed('You are not authorized to push to this branch.')
  if (protection.required_linear_history && method === 'merge')
    throw notAllowed('Merge commits are not allowed on this branch: squash or rebase.')
  const bypass = reviews !== null && isIn(reviews.bypass_pull_request_allowances)
  const unmet = await findUnmet(db, storage, protection, pull, base, { reviews: bypass })
  if (unmet) throw notAllowed(unmet.message)
}

/** Refuses to dismiss a review if the base of the pull request says who may, and the user is not among them. */
export async function checkMayDismiss(db: Queryable, repo: Repository, editor: { id: number }, base_ref: string) {
  const protection = await findProtection(db, repo, base_ref)
  const dismissals = protection?.required_pull_request_reviews?.dismissal_restrictions
  if (!protection || !dismissals || isExempt(repo, protection)) return
  const isIn = await membershipOf(db, editor)
  if (!isIn(dismissals)) throw forbidden('You are not authorized to dismiss reviews of this branch.')
}
