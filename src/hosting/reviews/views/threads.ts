import { mayPush } from '#hosting/issues/rights.ts'
import { renderTexts } from '#hosting/mentions/views/render-texts.ts'
import type { Pull } from '#hosting/pulls/pulls.ts'
import { readRows } from '#hosting/pulls/views/diff-rows.ts'
import { plainTable } from '#hosting/pulls/views/diff-table.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { pathOf } from '#hosting/repositories/views/repository-page.ts'
import { listReviewComments, type ReviewComment } from '#hosting/reviews/comments/comments.ts'
import { linesOf } from '#hosting/reviews/commit-suggestion.ts'
import { findResolutions, type Resolution } from '#hosting/reviews/resolved-threads.ts'
import { listReviews, type Review } from '#hosting/reviews/reviews.ts'
import { piecesOf } from '#hosting/reviews/suggestions.ts'
import { button } from '#web/components/button.ts'
import { type Html, html } from '#web/html.ts'
import { form, type Visit } from '#web/page.ts'

/** A comment on lines, and the replies to it. */
export interface Thread {
  id: number
  first: ReviewComment
  comments: ReviewComment[]
  /** Undefined unless it is resolved. */
  resolution: Resolution | undefined
}

/** What was said in reviews. */
export interface Talk {
  reviews: Review[]
  /** How many reviews there are; the last hundred are shown. */
  total: number
  threads: Thread[]
  /** The rendered text of each review and comment. */
  texts: Map<Review | ReviewComment, Html>
}

/** How many reviews, and how many review comments, a page shows: the newest. */
const mostReviews = 100
const mostComments = 300

export async function loadTalk(visit: Visit, repo: Repository, pull: Pull): Promise<Talk> {
  const { db, visitor } = visit
  const newest = { sort: 'created', direction: 'desc', since: '' } as const
  const { rows } = await listReviewComments(db, { pull }, visitor, newest, { limit: mostComments, offset: 0 })
  const { rows: first, total } = await listReviews(db, pull, visitor, { limit: mostReviews, offset: 0 })
  const last = { limit: mostReviews, offset: total - mostReviews }
  const reviews = total > mostReviews ? (await listReviews(db, pull, visitor, last)).rows : first
  const comments = rows.toReversed()
  const grouped = Map.groupBy(comments, ({ id, in_reply_to_id }) => in_reply_to_id ?? id)
  const resolutions = await findResolutions(db, [...grouped.keys()])
  const threads = [...grouped].flatMap(([id, inside]): Thread[] => {
    const [oldest] = inside
    return oldest ? [{ id, first: oldest, comments: inside, resolution: resolutions.get(id) }] : []
  })
  return {
    reviews,
    total,
    threads,
    texts: await renderAll(visit, repo, [...reviews, ...comments], commitForm(visit, repo, pull)),
  }
}

/** Renders all texts in one go. A suggestion becomes a small diff. */
async function renderAll(visit: Visit, repo: Repository, said: (Review | ReviewComment)[], tool: SuggestionTool) {
  const pieces = said.flatMap((one) => piecesOf(one.body).map((piece) => ({ one, ...piece })))
  const rendered = await renderTexts(
    visit,
    repo,
    pieces.map(({ text }) => text ?? ''),
  )
  const shown = new Map<Review | ReviewComment, (Html | undefined)[]>(said.map((one) => [one, []]))
  for (const [index, { one, suggestion }] of pieces.entries())
    shown.get(one)?.push(suggestion === undefined ? rendered[index] : suggested(one, suggestion, tool))
  return new Map([...shown].map(([one, parts]) => [one, html`${parts}`]))
}

function suggested(comment: Review | ReviewComment, suggestion: string, tool: SuggestionTool): Html {
  const about = 'diff_hunk' in comment ? comment : undefined
  const start = about?.start_line ?? about?.line ?? 1
  const removed = about ? linesOf(about).map((line) => `-${line}`) : []
  const added = suggestion
    .split('\n')
    .slice(0, -1)
    .map((line) => `+${line}`)
  const rows = readRows([`@@ -${start} +${start} @@`, ...removed, ...added].join('\n')).slice(1)
  return html`<div class="suggestion"><p>Suggested change</p>${plainTable(rows)}${about && removed.length > 0 && tool(about, suggestion)}</div>`
}

type SuggestionTool = (comment: ReviewComment, suggestion: string) => Html | undefined

/** A button that commits a suggestion to the branch, for those who may push to it. */
function commitForm(visit: Visit, repo: Repository, pull: Pull): SuggestionTool {
  const head = pull.head_repo_id === repo.id ? repo : pull.head_repo
  if (!visit.visitor || pull.state === 'closed' || !head || head.archived || !mayPush(head)) return () => undefined
  return ({ id, review_state }, suggestion) => {
    if (review_state === 'PENDING') return undefined
    const inputs = html`<input type="hidden" name="suggestion" value="${suggestion}">${button('Commit suggestion', { size: 'small' })}`
    return form(visit, `${pathOf(repo)}/pull/${pull.number}/suggestions/${id}`, inputs, {
      class: 'suggestion-form',
      replace: true,
    })
  }
}
