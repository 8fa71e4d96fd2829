import { changeProtection } from '#hosting/protection/protection.ts'
import { noActors, noRules, type Rules } from '#hosting/protection/rules.ts'
import type { Seed } from './format.ts'
import { actorFor } from './repositories.ts'
import type { SeedProtectedBranch } from './repository-format.ts'
import type { Timetable } from './timetable.ts'

/** Comes after the commits and merges of the seed, which it would refuse. */
export function planProtection(timetable: Timetable, { repositories = [], organizations = [] }: Seed) {
  const thread = timetable.begin([], undefined, async () => {})
  for (const [index, { name, protected_branches = [] }] of repositories.entries()) {
    const by = actorFor(name, organizations)
    for (const [place, wanted] of protected_branches.entries())
      timetable.add(thread, ['repositories', index, 'protected_branches', place], undefined, async (stage) => {
        const { actor, repo } = await stage.as(by, name)
        await stage.transaction((db) => changeProtection(db, actor, repo, wanted.branch, () => rulesOf(wanted)))
      })
  }
}

function rulesOf({ required_approvals, required_checks, enforce_admins = false }: SeedProtectedBranch): Rules {
  const checks = required_checks?.map((context) => ({ context, app_id: null }))
  return {
    ...noRules,
    enforce_admins,
    required_status_checks: checks ? { strict: false, checks } : null,
    required_pull_request_reviews:
      required_approvals === undefined
        ? null
        : {
            ...{ approvals_count: required_approvals, dismiss_stale_reviews: false },
            ...{ dismissal_restrictions: null, bypass_pull_request_allowances: noActors },
          },
  }
}
