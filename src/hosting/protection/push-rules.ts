import { holdsAll, holdsMerges, noObject } from '#git/objects.ts'
import type { ProtectedRef } from '#git/push-hooks.ts'
import { reserved, reservedIn } from '#git/ref-names.ts'
import type { Command, Storage } from '#git/storage.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { levelOf } from '#identity/access.ts'
import { type Queryable, sql } from '#platform/database.ts'
import { Refusal } from '#platform/errors.ts'
import { findProtections } from './protection.ts'
import { type CheckState, describeUnmet, readCheckStates } from './requirements.ts'
import type { Actors, Protection } from './rules.ts'

const branches = 'refs/heads/'

/** A protected branch must not be changed like this. */
export class BranchProtected extends Refusal {
  constructor(message: string) {
    super('invalid', message)
  }
}

/** What Belfry asks of a push: no new refs with reserved names, and what the protections of branches ask. */
export async function findPushRules(
  db: Queryable,
  repo: Pick<Repository, 'id' | 'access'>,
  pusher: { id: number },
  commands: Command[],
): Promise<ProtectedRef[]> {
  const names = reservedIn(commands).map(({ ref }) => ({
    ref,
    reserved: true,
    forward: false,
    linear: false,
    refusal: `${ref} is refused. ${reserved}`,
  }))
  return [...names, ...(await findBranchRules(db, repo, pusher, commands))]
}

/**
 * What the protections of branches ask of a push. Refs without rules are left out, and so are merges of pull requests, see `findMergeRefusals`,
 * and the former name of a renamed branch, because only admins rename a protected one.
 */
async function findBranchRules(
  db: Queryable,
  repo: Pick<Repository, 'id' | 'access'>,
  pusher: { id: number },
  commands: Command[],
): Promise<ProtectedRef[]> {
  const moves = commands.filter(
    ({ ref, after, merges, renames }) => ref.startsWith(branches) && !merges && !(renames && after === noObject),
  )
  const protections = await findProtections(
    db,
    repo,
    moves.map(({ ref }) => ref.slice(branches.length)),
  )
  if (!protections.size) return []
  const guarded = moves.flatMap((command) => {
    const protection = protections.get(command.ref.slice(branches.length))
    return protection ? { command, protection } : []
  })
  const states = await readCheckStates(
    db,
    repo,
    guarded.map(({ command, protection }) => ({ protection_id: protection.id, sha: command.after })),
  )
  const isIn = await membershipOf(db, pusher)
  return guarded.map(({ command, protection }) => {
    const exempt = isExempt(repo, protection)
    return {
      ref: command.ref,
      forward: !protection.allow_force_pushes,
      linear: protection.required_linear_history && !exempt,
      refusal: refusalOf(protection, command, { exempt, isIn, states: states.get(protection.id) ?? [] }) ?? null,
    }
  })
}

/** Whether a push that was checked by `applied` complies with `rules` too: it refuses the same refs, or more. */
export const isCovered = (rules: ProtectedRef[], applied: ProtectedRef[]) =>
  rules.every(({ ref, forward, linear, refusal }) => {
    const known = applied.find((each) => each.ref === ref)
    return known && (known.refusal !== null || (refusal === null && forward <= known.forward && linear <= known.linear))
  })

/** Admins are exempt from most rules, unless the rules apply to them too. */
export const isExempt = ({ access }: { access: number }, { enforce_admins }: Protection) =>
  access >= levelOf('admin') && !enforce_admins

/** Whether a user is in a list, by name or by a team, or the bot of an app that is. */
export async function membershipOf(db: Queryable, user: { id: number }): Promise<(actors: Actors) => boolean> {
  const rows = await db.rows<{ team_id: number }>(sql`select team_id from team_members where user_id = ${user.id}`)
  const joined = new Set(rows.map(({ team_id }) => team_id))
  return ({ users, teams, apps }) =>
    users.some(({ id }) => id === user.id) ||
    teams.some(({ id }) => joined.has(id)) ||
    apps.some(({ bot_id }) => bot_id === user.id)
}

interface Circumstances {
  exempt: boolean
  isIn: (actors: Actors) => boolean
  states: CheckState[]
}

function refusalOf(protection: Protection, { before, after }: Command, { exempt, isIn, states }: Circumstances) {
  const { required_pull_request_reviews: reviews, restrictions, block_creations } = protection
  // For everyone, as on the public host: a branch is lost more easily than it is changed.
  if (after === noObject && !protection.allow_deletions) return 'Cannot delete this branch.'
  if (exempt) return undefined
  if (protection.lock_branch) return 'This branch is locked: nobody can change it.'
  if (restrictions && (before !== noObject || block_creations) && !isIn(restrictions))
    return 'You are not authorized to push to this branch.'
  if (after === noObject) return undefined
  if (reviews && !isIn(reviews.bypass_pull_request_allowances)) return 'Changes must be made through a pull request.'
  // Belfry verifies no signatures, so no commit has a verified one.
  if (protection.required_signatures) return 'Commits must have verified signatures.'
  return describeUnmet(states)
}

/** Refuses to move protected branches, for pushes without git. */
export async function checkPushRules(
  db: Queryable,
  storage: Storage,
  repo: Repository,
  pusher: { id: number },
  commands: Command[],
) {
  for (const { ref, reserved, forward, linear, refusal } of await findPushRules(db, repo, pusher, commands)) {
    if (reserved && refusal) throw new Refusal('invalid', refusal)
    if (refusal) throw new BranchProtected(refusal)
    const { before = noObject, after = noObject } = commands.find((command) => command.ref === ref) ?? {}
    if (after === noObject) continue
    if (forward && before !== noObject && !(await holdsAll(storage, repo.id, after, before))) {
      throw new BranchProtected('Cannot force-push to this branch.')
    }
    if (linear && (await holdsMerges(storage, repo.id, after, before))) {
      throw new BranchProtected('This branch must not contain merge commits.')
    }
  }
}
