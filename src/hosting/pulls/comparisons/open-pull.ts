import { mayTriage } from '#hosting/issues/rights.ts'
import { setLabels } from '#hosting/issues/triage.ts'
import { triageIssue } from '#hosting/issues/update.ts'
import { written } from '#hosting/mentions/views/render-texts.ts'
import { createPull } from '#hosting/pulls/opening.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { pathOf, viewerOf } from '#hosting/repositories/views/repository-page.ts'
import { requestReviews } from '#hosting/reviews/requests/requests.ts'
import { checkWritable } from '#identity/access.ts'
import { Refusal } from '#platform/errors.ts'
import type { Outcome, SignedIn } from '#web/page.ts'
import type { End } from './json.ts'

/** Opens a pull request as a form says, then sets its labels and requests reviews, if the visitor may. */
export async function openPull(visit: SignedIn, { base, head }: { base: End; head: End }): Promise<Outcome> {
  const { form, db, visitor } = visit
  const { repo } = base
  checkWritable(repo)
  const wanted = {
    title: written(form, 'title'),
    body: written(form, 'body') || null,
    base: base.name,
    head: `${head.repo.owner_login}:${head.name}`,
    head_repo: head.repo.name,
    draft: form.get('draft') === 'yes',
    maintainer_can_modify: form.get('maintainer_can_modify') === 'yes',
  }
  const { number } = await createPull(db, visit.belfry.storage, viewerOf(visit), repo, visitor, wanted)
  const to = `${pathOf(repo)}/pull/${number}`
  const refused = mayTriage(repo) ? await triage(visit, repo, number) : undefined
  return refused === undefined ? { to } : { to, flash: { done: refused } }
}

const mostNames = 100
const namesIn = (form: URLSearchParams, name: string) =>
  [...new Set(form.getAll(name).map((one) => one.replaceAll('\0', '').trim()))].filter(Boolean).slice(0, mostNames)

/** The pull request is open already, so that a refusal is only a message. */
async function triage(visit: SignedIn, repo: Repository, number: number): Promise<string | undefined> {
  const { db, form, visitor } = visit
  const [labels, reviewers] = [namesIn(form, 'label'), namesIn(form, 'reviewer')]
  try {
    await db.transaction(async (transaction) => {
      if (labels.length)
        await triageIssue(transaction, repo, visitor, number, (held) => setLabels(transaction, repo, visitor, held, labels))
      if (reviewers.length)
        await requestReviews(transaction, viewerOf(visit), repo, visitor, number, { reviewers, team_reviewers: [] })
    })
    return undefined
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return `The pull request is open, without labels and reviewers: ${error.message}`
  }
}
