import type { Repository } from '#hosting/repositories/repositories.ts'
import type { Queryable } from '#platform/database.ts'
import { Refusal } from '#platform/errors.ts'
import { type Static, Type } from '#platform/schema.ts'
import { type ActorNames, findActors } from './actors.ts'
import { noActors, noRules, type RequiredChecks, type RequiredReviews, type Rules } from './rules.ts'

const mostNames = 100
export const Names = Type.Array(Type.String({ minLength: 1, maxLength: 255 }), { maxItems: mostNames })
const Check = Type.Object({
  context: Type.String({ minLength: 1, maxLength: 255 }),
  app_id: Type.Optional(Type.Unsafe<number | null>({ type: ['integer', 'null'], minimum: -1, maximum: 999_999_999_999_999 })),
})
/** Clients send null for a list that they do not have. */
const ListOrNull = <Item>(list: object) => Type.Unsafe<Item[] | null>({ ...list, type: ['array', 'null'] })
const SomeNames = ListOrNull<string>(Names)
const Actors = Type.Partial(Type.Object({ users: SomeNames, teams: SomeNames, apps: SomeNames }))
const orNull = <T extends object>(schema: T) => ({ ...schema, type: ['object', 'null'] })
const Flag = Type.Optional(Type.Unsafe<boolean | null>({ type: ['boolean', 'null'] }))

/** What a client sends for required checks: with `checks`, `contexts` is ignored. */
export const ChecksBody = Type.Partial(
  Type.Object({
    strict: Type.Boolean(),
    contexts: SomeNames,
    checks: ListOrNull<Static<typeof Check>>({ items: Check, maxItems: mostNames }),
  }),
)

export const ReviewsBody = Type.Partial(
  Type.Object({
    dismissal_restrictions: Type.Unsafe<Static<typeof Actors> | null>(orNull(Actors)),
    bypass_pull_request_allowances: Type.Unsafe<Static<typeof Actors> | null>(orNull(Actors)),
    dismiss_stale_reviews: Type.Boolean(),
    require_code_owner_reviews: Type.Boolean(),
    require_last_push_approval: Type.Boolean(),
    required_approving_review_count: Type.Integer({ minimum: 0, maximum: 6 }),
  }),
)

export const ProtectionBody = Type.Object({
  required_status_checks: Type.Unsafe<Static<typeof ChecksBody> | null>(orNull(ChecksBody)),
  enforce_admins: Type.Unsafe<boolean | null>({ type: ['boolean', 'null'] }),
  required_pull_request_reviews: Type.Unsafe<Static<typeof ReviewsBody> | null>(orNull(ReviewsBody)),
  restrictions: Type.Unsafe<Static<typeof Actors> | null>(orNull(Actors)),
  required_linear_history: Flag,
  allow_force_pushes: Flag,
  allow_deletions: Flag,
  block_creations: Flag,
  required_conversation_resolution: Flag,
  lock_branch: Flag,
  allow_fork_syncing: Flag,
})

/** The rules that a client asks for. Signatures have an endpoint of their own, so their rule stays. */
export async function readRules(
  db: Queryable,
  repo: Repository,
  body: Static<typeof ProtectionBody>,
): Promise<Omit<Rules, 'required_signatures'>> {
  const { required_status_checks: checks, required_pull_request_reviews: reviews, restrictions } = body
  return {
    ...noRules,
    required_status_checks: checks && readChecks(checks, undefined),
    required_pull_request_reviews: reviews && (await readReviews(db, repo, reviews, undefined)),
    restrictions: restrictions && (await findActors(db, repo, restrictions)),
    enforce_admins: body.enforce_admins ?? false,
    required_linear_history: body.required_linear_history ?? false,
    allow_force_pushes: body.allow_force_pushes ?? false,
    allow_deletions: body.allow_deletions ?? false,
    block_creations: body.block_creations ?? false,
    lock_branch: body.lock_branch ?? false,
    allow_fork_syncing: body.allow_fork_syncing ?? false,
    required_conversation_resolution: body.required_conversation_resolution ?? false,
  }
}

/** A rule that would not be enforced is refused, because a protection that does not protect is worse than none. */
const unsupported = (field: string, reason: string) => new Refusal('invalid', `${field} must be false: ${reason} on this server.`)

export function readChecks(asked: Static<typeof ChecksBody>, present: RequiredChecks | undefined): RequiredChecks {
  const listed = asked.checks?.map(({ context, app_id }) => ({ context, app_id: app_id === -1 ? null : (app_id ?? null) }))
  const named = asked.contexts?.map((context) => ({ context, app_id: null }))
  return { strict: asked.strict ?? present?.strict ?? false, checks: listed ?? named ?? present?.checks ?? [] }
}

export async function readReviews(
  db: Queryable,
  repo: Repository,
  asked: Static<typeof ReviewsBody>,
  present: RequiredReviews | undefined,
): Promise<RequiredReviews> {
  if (asked.require_code_owner_reviews) throw unsupported('require_code_owner_reviews', 'there are no code owners')
  if (asked.require_last_push_approval) throw unsupported('require_last_push_approval', 'the last push is not known')
  const { dismissal_restrictions: dismissals, bypass_pull_request_allowances: bypass } = asked
  return {
    approvals_count: asked.required_approving_review_count ?? present?.approvals_count ?? 1,
    dismiss_stale_reviews: asked.dismiss_stale_reviews ?? present?.dismiss_stale_reviews ?? false,
    dismissal_restrictions: await readDismissals(db, repo, dismissals, present),
    bypass_pull_request_allowances: isNamed(bypass)
      ? await findActors(db, repo, bypass)
      : bypass
        ? noActors
        : (present?.bypass_pull_request_allowances ?? noActors),
  }
}

/** An empty object ends the restriction. */
async function readDismissals(
  db: Queryable,
  repo: Repository,
  asked: ActorNames | null | undefined,
  present: RequiredReviews | undefined,
) {
  if (!asked) return present?.dismissal_restrictions ?? null
  return Object.keys(asked).length ? findActors(db, repo, asked) : null
}

const isNamed = (names: ActorNames | null | undefined): names is ActorNames =>
  [names?.users, names?.teams, names?.apps].some((list) => list?.length)
