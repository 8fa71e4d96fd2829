import type { Act } from '#activity/acts.ts'
import { publish } from '#activity/publish.ts'
import { type Comparison, compare } from '#git/compare.ts'
import type { Storage } from '#git/storage.ts'
import { checkMayEdit } from '#hosting/issues/rights.ts'
import { updateIssue } from '#hosting/issues/update.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { checkAccess } from '#identity/access.ts'
import type { Account, Viewer } from '#identity/accounts.ts'
import { type Database, sql, type Transaction } from '#platform/database.ts'
import { invalid } from '#platform/errors.ts'
import { branchTip, countsOf, writeCounts } from './mergeability.ts'
import { checkWorthwhile } from './opening.ts'
import { loadPull, lockPull, type Pull } from './pulls.ts'
import { checkAlone } from './reopening.ts'

export interface PullChanges {
  title?: string
  body?: string | null
  state?: 'open' | 'closed'
  base?: string
  draft?: boolean
  maintainer_can_modify?: boolean
}

/** Changes the given fields only. Title, body and state belong to its issue. */
export async function updatePull(
  db: Database,
  storage: Storage,
  viewer: Viewer,
  repo: Repository,
  editor: Account,
  number: number,
  { base, draft, maintainer_can_modify, ...said }: PullChanges,
): Promise<Pull> {
  const pull = await loadPull(db, repo, number)
  const comparison = base === undefined || base === pull.base_ref ? undefined : await compareWith(storage, pull, base)
  await db.transaction(async (transaction) => {
    const held = await lockPull(transaction, repo, number, viewer)
    if (comparison || draft !== undefined || maintainer_can_modify !== undefined) checkMayEdit(repo, editor, held.author)
    if (maintainer_can_modify) checkAccess((held.head_repo_id === repo.id ? repo : held.head_repo)?.access ?? 0, 'push')
    if (base !== undefined && comparison) await changeBase(transaction, held, base, comparison)
    await transaction.query(sql`
      update pulls set draft = coalesce(${draft ?? null}, draft),
        maintainer_can_modify = coalesce(${maintainer_can_modify ?? null}, maintainer_can_modify)
      where id = ${held.id}`)
    if (Object.keys(said).length || !comparison) await updateIssue(transaction, viewer, repo, editor, number, said)
    const rebased = comparison && base !== held.base_ref
    const turned = draft !== undefined && draft !== held.draft
    const facts = { issue_id: held.issue_id, pull_id: held.id }
    const turn: Act[] = turned ? [{ act: draft ? 'pull.converted_to_draft' : 'pull.ready_for_review', ...facts }] : []
    await publish(transaction, editor, repo, ...(rebased ? [baseAct(held)] : []), ...turn)
  })
  return loadPull(db, repo, number, viewer)
}

async function compareWith(storage: Storage, pull: Pull, base: string): Promise<Comparison> {
  const tip = await branchTip(storage, pull.repo_id, base)
  if (!tip) throw invalid({ resource: 'PullRequest', code: 'invalid', field: 'base' })
  const comparison = await compare(storage, pull.repo_id, tip, pull.head_sha)
  checkWorthwhile(comparison, base, pull.head_ref)
  return comparison
}

async function changeBase(db: Transaction, held: Pull, base_ref: string, comparison: Comparison) {
  if (held.state === 'closed') {
    const message = 'Cannot change the base branch of a closed pull request.'
    throw invalid({ resource: 'PullRequest', code: 'custom', field: 'base', message })
  }
  await db.query(sql`select from repositories where id = ${held.repo_id} for no key update`)
  await checkAlone(db, { ...held, base_ref }, held.head_owner?.login ?? 'ghost')
  await db.query(sql`
    update pulls set base_ref = ${base_ref}, base_sha = ${comparison.base}, mergeable_state = null where id = ${held.id}`)
  await db.query(sql`update issues set updated_at = greatest(updated_at, ${db.now}) where id = ${held.issue_id}`)
  await writeCounts(db, held, countsOf(comparison))
}

/** `pull` is the pull request before the change. */
function baseAct({ issue_id, id: pull_id, base_ref, base_sha }: Pull): Act {
  const changes = { base: { ref: { from: base_ref }, sha: { from: base_sha } } }
  return { act: 'pull.base_changed', issue_id, pull_id, changes }
}
