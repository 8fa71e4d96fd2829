import { previewOf } from '#hosting/mentions/views/composer.ts'
import { written } from '#hosting/mentions/views/render-texts.ts'
import { talkPage } from '#hosting/pulls/pages.ts'
import { filesPage } from '#hosting/pulls/views/files-page.ts'
import { loadPullPage, type PullPage } from '#hosting/pulls/views/pull-page.ts'
import { numberIn, viewerOf } from '#hosting/repositories/views/repository-page.ts'
import { checkAccess, checkWritable } from '#identity/access.ts'
import { missing, Refusal } from '#platform/errors.ts'
import { attempt, typed } from '#web/fields.ts'
import { type Outcome, type PageRoute, type SignedIn, submitOwn } from '#web/page.ts'
import { loadReviewComment } from './comments/comments.ts'
import { createReviewComment, deleteReviewComment, replyToReviewComment, updateReviewComment } from './comments/update.ts'
import { commitSuggestion } from './commit-suggestion.ts'
import { addPendingComment } from './pending.ts'
import { type Reviewers, requestReviews, withdrawRequests } from './requests/requests.ts'
import { setResolved } from './resolved-threads.ts'
import { piecesOf } from './suggestions.ts'
import { createReview, deletePendingReview, dismissReview, submitReview, updateReview, type Verdict } from './update.ts'
import type { TypedReview } from './views/thread-box.ts'

const place = '/:owner/:repo/pull/:number'

export const pages: PageRoute[] = [
  submitOwn(`${place}/review-comments`, comment),
  submitOwn(`${place}/review-comments/:id`, changeComment),
  submitOwn(`${place}/threads/:id`, reply),
  submitOwn(`${place}/threads/:id/resolution`, resolve),
  submitOwn(`${place}/suggestions/:id`, suggest),
  submitOwn(`${place}/reviews`, review),
  submitOwn(`${place}/reviews/:id`, changeReview),
  submitOwn(`${place}/reviews/:id/dismissal`, dismiss),
  submitOwn(`${place}/reviewers`, request),
]

/** The page that a form was on. */
const pageIn = ({ form }: SignedIn) => (form.get('page') === 'conversation' ? 'conversation' : 'files')
const addressOn = (visit: SignedIn, { path }: PullPage, anchor = '') =>
  `${path}${pageIn(visit) === 'files' ? '/files' : ''}${anchor}`

/** Does what a form asks. If that is refused, or a preview is asked for, the page is shown again with the text of that form. */
async function act(visit: SignedIn, form: string, work: (page: PullPage) => Promise<Outcome>): Promise<Outcome> {
  const page = await loadPullPage(visit)
  const body = visit.form.get('body') ?? ''
  const again = (asked: TypedReview) => {
    if (pageIn(visit) === 'files') return filesPage(visit, page, asked)
    // A form without a text of its own has its message at the comment box.
    const typed = asked.problem && !visit.form.has('body') ? { body: '', problem: asked.problem } : undefined
    return talkPage(visit, page, typed, asked)
  }
  if (visit.form.has('preview')) return again({ form, body, preview: await previewOf(visit, page.repo, body) })
  return attempt(
    async () => {
      checkWritable(page.repo)
      return work(page)
    },
    (problem) => again({ form, body, problem }),
  )
}

/** A line number; other text is none. */
const lineIn = (form: URLSearchParams, name: string) => {
  const text = /^[1-9]\d{0,8}$/.exec(typed(form, name))?.[0]
  return text === undefined ? null : Number(text)
}

/** A comment on lines, by itself or in a review that is submitted later. */
function comment(visit: SignedIn): Promise<Outcome> {
  const { form, db, visitor } = visit
  return act(visit, form.get('anchor') ?? '', async (page) => {
    const { repo, pull } = page
    const side = form.get('side') === 'L' ? ('LEFT' as const) : ('RIGHT' as const)
    const [line, start_line] = [lineIn(form, 'line'), lineIn(form, 'start_line')]
    const wanted = {
      path: (form.get('path') ?? '').replaceAll('\0', ''),
      body: written(form, 'body'),
      commit_id: form.get('commit') ?? '',
      ...(line === null ? { subject_type: 'file' as const } : { line, side }),
      ...(line !== null && start_line !== null && start_line !== line && { start_line }),
    }
    const make = form.get('how') === 'single' ? createReviewComment : addPendingComment
    const { id } = await make(db, visit.belfry.storage, repo, visitor, pull.number, wanted)
    return { to: addressOn(visit, page, `#discussion_r${id}`) }
  })
}

function reply(visit: SignedIn): Promise<Outcome> {
  const id = numberIn(visit.params.id)
  return act(visit, `thread-${id}`, async (page) => {
    const body = written(visit.form, 'body')
    const made = await visit.db.transaction((db) =>
      replyToReviewComment(db, page.repo, visit.visitor, page.pull.number, id, body),
    )
    return { to: addressOn(visit, page, `#discussion_r${made.id}`) }
  })
}

function resolve(visit: SignedIn): Promise<Outcome> {
  const id = numberIn(visit.params.id)
  return act(visit, `thread-${id}`, async (page) => {
    const resolved = visit.form.get('resolved') === 'yes'
    await visit.db.transaction((db) => setResolved(db, page.repo, page.pull, visit.visitor, id, resolved))
    return { to: addressOn(visit, page, `#thread-${id}`) }
  })
}

function changeComment(visit: SignedIn): Promise<Outcome> {
  const id = numberIn(visit.params.id)
  return act(visit, `discussion_r${id}`, async (page) => {
    const { repo, pull } = page
    const removes = visit.form.get('delete') === 'yes'
    const body = removes ? '' : written(visit.form, 'body')
    await visit.db.transaction(async (db) => {
      if ((await loadReviewComment(db, repo, visit.visitor, id)).pull_number !== pull.number) throw missing()
      await (removes ? deleteReviewComment(db, repo, visit.visitor, id) : updateReviewComment(db, repo, visit.visitor, id, body))
    })
    return removes
      ? { to: addressOn(visit, page), flash: { done: 'The comment is deleted.' } }
      : { to: addressOn(visit, page, `#discussion_r${id}`) }
  })
}

/** Commits one of the suggestions of a comment. */
function suggest(visit: SignedIn): Promise<Outcome> {
  const id = numberIn(visit.params.id)
  visit.form.set('page', 'conversation')
  return act(visit, 'suggestion', async ({ repo, pull, path }) => {
    const found = await loadReviewComment(visit.db, repo, visit.visitor, id)
    if (found.pull_number !== pull.number) throw missing()
    const asked = (visit.form.get('suggestion') ?? '').replaceAll(/\r\n?/g, '\n')
    const suggestion = piecesOf(found.body).find((piece) => piece.suggestion?.replaceAll(/\r\n?/g, '\n') === asked)?.suggestion
    if (suggestion === undefined) throw new Refusal('invalid', 'The comment does not suggest this any more.')
    await commitSuggestion(visit.db, visit.belfry.storage, { repo, pull }, visit.visitor, found, suggestion)
    return { to: path, flash: { done: 'The suggestion is committed.' } }
  })
}

const verdicts: Verdict[] = ['APPROVE', 'REQUEST_CHANGES', 'COMMENT']

/** Submits or discards the pending review, or makes one. */
function review(visit: SignedIn): Promise<Outcome> {
  const { form, db, visitor } = visit
  return act(visit, 'review', async ({ repo, pull, path }) => {
    const pending = form.has('pending') ? numberIn(form.get('pending') ?? '') : undefined
    if (form.get('discard') === 'yes') {
      if (pending === undefined) throw missing()
      await db.transaction((transaction) => deletePendingReview(transaction, repo, visitor, pull.number, pending))
      return { to: `${path}/files`, flash: { done: 'The review is discarded.' } }
    }
    const event = verdicts.find((one) => one === form.get('event')) ?? 'COMMENT'
    const body = written(form, 'body')
    if (pending === undefined) {
      const wanted = { body, event, commit_id: form.get('commit') ?? '', comments: [] }
      await createReview(db, visit.belfry.storage, repo, visitor, pull.number, wanted)
    } else {
      await db.transaction((transaction) => submitReview(transaction, repo, visitor, pull.number, pending, event, body))
    }
    return { to: path, flash: { done: 'Your review is submitted.' } }
  })
}

/** Forms below the conversation. */
function changeReview(visit: SignedIn): Promise<Outcome> {
  const id = numberIn(visit.params.id)
  visit.form.set('page', 'conversation')
  return act(visit, `pullrequestreview-${id}`, async ({ repo, pull, path }) => {
    const body = written(visit.form, 'body')
    await visit.db.transaction((db) => updateReview(db, repo, visit.visitor, pull.number, id, body))
    return { to: `${path}#pullrequestreview-${id}` }
  })
}

function dismiss(visit: SignedIn): Promise<Outcome> {
  const id = numberIn(visit.params.id)
  visit.form.set('page', 'conversation')
  return act(visit, `dismissal-${id}`, async ({ repo, pull, path }) => {
    checkAccess(repo.access, 'push')
    const message = typed(visit.form, 'message').slice(0, 1000)
    await visit.db.transaction((db) => dismissReview(db, repo, visit.visitor, pull.number, id, message))
    return { to: path, flash: { done: 'The review is dismissed.' } }
  })
}

const mostNames = 100
const namesIn = (form: URLSearchParams, name: string) =>
  [...new Set(form.getAll(name).map((one) => one.replaceAll('\0', '').trim()))].filter(Boolean).slice(0, mostNames)

/** A name with a slash is a team: `owner/slug`. With another owner it is not found. */
function reviewersIn({ owner_login }: { owner_login: string }, names: string[]): Reviewers {
  const { users = [], teams = [] } = Object.groupBy(names, (name) => (name.includes('/') ? 'teams' : 'users'))
  const prefix = `${owner_login}/`.toLowerCase()
  const slugOf = (name: string) => (name.toLowerCase().startsWith(prefix) ? name.slice(prefix.length) : name)
  return { reviewers: users, team_reviewers: teams.map(slugOf) }
}

/** Requests and withdraws what the form changed, and nothing that others changed meanwhile. */
function request(visit: SignedIn): Promise<Outcome> {
  visit.form.set('page', 'conversation')
  return act(visit, 'reviewers', async ({ repo, pull, path }) => {
    checkAccess(repo.access, 'triage')
    const [chosen, had] = [namesIn(visit.form, 'reviewer'), namesIn(visit.form, 'had')]
    const added = chosen.filter((login) => !had.includes(login))
    const removed = had.filter((login) => !chosen.includes(login))
    const viewer = viewerOf(visit)
    await visit.db.transaction(async (db) => {
      if (removed.length) await withdrawRequests(db, viewer, repo, visit.visitor, pull.number, reviewersIn(repo, removed))
      if (added.length) await requestReviews(db, viewer, repo, visit.visitor, pull.number, reviewersIn(repo, added))
    })
    return { to: path }
  })
}
