import type { Storage } from '#git/storage.ts'
import { mayPush } from '#hosting/issues/rights.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import type { Queryable } from '#platform/database.ts'
import { forbidden } from '#platform/errors.ts'
import { findProtection } from './protection.ts'
import { isExempt, membershipOf } from './push-rules.ts'
import { findUnmet, type MergedPull } from './requirements.ts'
import type { Actors, Protection } from './rules.ts'

/** Why the base of a pull request, if it is protected, does not let a user merge: all reasons. */
export async function findMergeRefusals(
  db: Queryable,
  storage: Storage,
  repo: Repository,
  merger: { id: number },
  pull: MergedPull,
  base: string,
  method: 'merge' | 'squash' | 'rebase',
): Promise<string[]> {
  const protection = await findProtection(db, repo, pull.base_ref)
  if (!protection || isExempt(repo, protection)) return []
  const { required_pull_request_reviews: reviews } = protection
  const isIn = await membershipOf(db, merger)
  const bypass = reviews !== null && isIn(reviews.bypass_pull_request_allowances)
  const unmet = await findUnmet(db, storage, protection, pull, base, { reviews: bypass })
  return [
    ...refuseMerger(protection, isIn),
    ...(protection.required_linear_history && method === 'merge'
      ? ['Merge commits are not allowed on this branch: squash or rebase.']
      : []),
    ...unmet.map(({ message }) => message),
  ]
}

/** The same for the page of a pull request, where the method is not chosen yet. Users who may bypass the rules see them too. */
export async function describeMergeRules(
  db: Queryable,
  storage: Storage,
  repo: Repository,
  visitor: { id: number } | null,
  pull: MergedPull,
  base: string,
): Promise<string[]> {
  const protection = await findProtection(db, repo, pull.base_ref)
  if (!protection) return []
  const asked = visitor && mayPush(repo) && !isExempt(repo, protection) ? visitor : undefined
  const unmet = await findUnmet(db, storage, protection, pull, base)
  return [...(asked ? refuseMerger(protection, await membershipOf(db, asked)) : []), ...unmet.map(({ message }) => message)]
}

const refuseMerger = ({ restrictions }: Protection, isIn: (actors: Actors) => boolean) =>
  restrictions && !isIn(restrictions) ? ['You are not authorized to push to this branch.'] : []

/** Refuses to dismiss a review if the base of the pull request says who may, and the user is not among them. */
export async function checkMayDismiss(db: Queryable, repo: Repository, editor: { id: number }, base_ref: string) {
  const protection = await findProtection(db, repo, base_ref)
  const dismissals = protection?.required_pull_request_reviews?.dismissal_restrictions
  if (!protection || !dismissals || isExempt(repo, protection)) return
  const isIn = await membershipOf(db, editor)
  if (!isIn(dismissals)) throw forbidden('You are not authorized to dismiss reviews of this branch.')
}
