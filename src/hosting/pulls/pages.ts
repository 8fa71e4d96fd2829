import { join } from 'node:path'
import { loadIssue } from '#hosting/issues/issues.ts'
import { mayPush } from '#hosting/issues/rights.ts'
import { addressOf, type Conversation, nameOf, post, stateMark } from '#hosting/issues/views/conversation.ts'
import { conversationPage } from '#hosting/issues/views/conversation-page.ts'
import { conversationRoutes } from '#hosting/issues/views/conversation-routes.ts'
import { listPage } from '#hosting/issues/views/issue-list.ts'
import { renderTexts } from '#hosting/mentions/views/render-texts.ts'
import { commitList, diffView } from '#hosting/pulls/views/diff.ts'
import { repositoryHeader } from '#hosting/repositories/views/repository-header.ts'
import { loadVisibleRepository, numberIn, pathOf, viewerOf } from '#hosting/repositories/views/repository-page.ts'
import { listReviewComments, type ReviewComment } from '#hosting/reviews/comments/comments.ts'
import { listReviews, type Review } from '#hosting/reviews/reviews.ts'
import { checkAccess, checkWritable } from '#identity/access.ts'
import { changeSubscription, markConversationShown, subscriptionBox } from '#parts/notifications/views/thread-subscription.ts'
import { attempt, select } from '#web/fields.ts'
import { type Html, html } from '#web/html.ts'
import { form, type Outcome, type PageRoute, plainText, type SignedIn, show, submitOwn, type Visit } from '#web/page.ts'
import { comparePull, openPullText, refreshMergeability } from './mergeability.ts'
import { type MergeMethod, mergePull } from './merging.ts'
import { loadPull, type Pull } from './pulls.ts'

export const assets = join(import.meta.dirname, 'assets')

const place = '/:owner/:repo/pull/:number'

export const pages: PageRoute[] = [
  show('/:owner/:repo/pulls', (visit) => listPage(visit, 'pulls')),
  show(place, async (visit) => {
    const [, number, medium] = /^(\d+)\.(diff|patch)$/.exec(visit.params.number ?? '') ?? []
    if (medium) return pullText(visit, numberIn(number), medium as 'diff' | 'patch')
    const found = await findConversation(visit)
    return 'to' in found ? found : conversationPage(visit, found)
  }),
  show(`${place}/commits`, (visit) => comparisonPage(visit, 'Commits')),
  show(`${place}/files`, (visit) => comparisonPage(visit, 'Files')),
  ...conversationRoutes(place, loadConversation),
  submitOwn(`${place}/subscription`, async (visit) => {
    const conversation = await loadConversation(visit)
    return changeSubscription(visit, conversation.issue, addressOf(conversation))
  }),
  submitOwn(`${place}/merge`, merge),
]

async function pullText(visit: Visit, number: number, medium: 'diff' | 'patch'): Promise<Outcome> {
  const repo = await loadVisibleRepository(visit)
  const pull = await loadPull(visit.db, repo, number, viewerOf(visit))
  return plainText(await openPullText(visit.belfry.storage, pull, medium))
}

/** The number of an issue redirects to the issue. */
async function findConversation(visit: Visit): Promise<Conversation | { to: string }> {
  const repo = await loadVisibleRepository(visit)
  const issue = await loadIssue(visit.db, repo, numberIn(visit.params.number))
  return issue.pull_id === null ? { to: addressOf({ repo, issue, kind: 'issues' }) } : loadConversation(visit)
}

async function loadConversation(visit: Visit): Promise<Conversation> {
  const { repo, pull } = await load(visit)
  const issue = { ...pull, id: pull.issue_id, pull_id: pull.id }
  const path = addressOf({ repo, issue, kind: 'pull' })
  const subscription = await subscriptionBox(visit, { issue, path })
  const conversation: Conversation = { repo, issue, kind: 'pull', subscription }
  const summary = html`${nameOf(pull.author)} wants to merge <code>${headOf(pull)}</code> into <code>${pull.base_ref}</code>`
  const [below, side] = [
    html`${await showReviews(visit, conversation, pull)}${mergeBox(visit, conversation, pull)}`,
    reviewers(pull),
  ]
  return { ...conversation, summary, tabs: tabs(path, pull, 'Conversation'), below, side }
}

async function load(visit: Visit) {
  const repo = await loadVisibleRepository(visit)
  const number = numberIn(visit.params.number)
  await markConversationShown(visit, repo, number)
  const pull = await loadPull(visit.db, repo, number, viewerOf(visit))
  return { repo, pull: await refreshMergeability(visit.db, visit.belfry.storage, pull) }
}

/** With the owner when the head is in another repository. */
const headOf = ({ head_repo_id, repo_id, head_owner, head_ref }: Pull) =>
  head_repo_id === repo_id ? head_ref : `${head_owner?.login ?? 'a deleted user'}:${head_ref}`

type Tab = 'Conversation' | 'Commits' | 'Files'

function tabs(path: string, { commits, changed_files, additions, deletions }: Pull, current: Tab): Html {
  const tab = (title: Tab, address: string, number?: number) =>
    html`<a href="${address}"${title === current && html` aria-current="page"`}>${title}${number !== undefined && ` (${number})`}</a> `
  return html`<nav class="views" aria-label="Pull request">${tab('Conversation', path)}${tab('Commits', `${path}/commits`, commits)}${tab('Files', `${path}/files`, changed_files)}
<span class="added">+${additions}</span> <span class="removed">−${deletions}</span></nav>`
}

async function comparisonPage(visit: Visit, tab: 'Commits' | 'Files'): Promise<Outcome> {
  const { repo, pull } = await load(visit)
  const comparison = await comparePull(visit.belfry.storage, pull)
  const path = `${pathOf(repo)}/pull/${pull.number}`
  const shown = tab === 'Commits' ? commitList(comparison, pathOf(repo)) : diffView(visit, comparison)
  const body = html`<main class="conversation"><h1>${pull.title} <span class="muted">#${pull.number}</span></h1>
<p class="summary">${stateMark(pull)}</p>${tabs(path, pull, tab)}${shown}</main>`
  const title = `${tab} · ${pull.title} · Pull request #${pull.number} · ${repo.owner_login}/${repo.name}`
  return { title, body, above: repositoryHeader(repo, 'pulls') }
}

/** How many reviews, and how many review comments, a page shows: the newest. */
const most = 100

async function showReviews(visit: Visit, { repo }: Conversation, pull: Pull): Promise<Html> {
  const { db, visitor } = visit
  const newest = { sort: 'created', direction: 'desc', since: '' } as const
  const { rows: comments } = await listReviewComments(db, { pull }, visitor, newest, { limit: most, offset: 0 })
  const { rows: first, total } = await listReviews(db, pull, visitor, { limit: most, offset: 0 })
  const reviews = total > most ? (await listReviews(db, pull, visitor, { limit: most, offset: total - most })).rows : first
  if (!reviews.length) return html``
  const shown = comments.toReversed()
  const texts = await renderTexts(
    visit,
    repo,
    [...reviews, ...shown].map(({ body }) => body),
  )
  const written = new Map([...reviews, ...shown].map((one, index) => [one, texts[index]]))
  const posts = reviews.map((review) => {
    const own = shown.filter(({ review_id }) => review_id === review.id)
    return html`${showReview(review, written.get(review))}${own.map((comment) => showComment(comment, written.get(comment)))}`
  })
  return html`<h2>Reviews</h2>${total > most && html`<p class="muted">The newest ${most} of ${total}.</p>`}${posts}`
}

const verdicts: Record<Review['state'], string> = {
  PENDING: 'has not submitted this yet, begun',
  APPROVED: 'approved',
  CHANGES_REQUESTED: 'requested changes',
  COMMENTED: 'reviewed',
  DISMISSED: 'had a review dismissed, made',
}

const showReview = (review: Review, text = html``) =>
  post(
    {
      ...review,
      id: `pullrequestreview-${review.id}`,
      did: verdicts[review.state],
      created_at: review.submitted_at ?? review.created_at,
    },
    text,
  )

function showComment(comment: ReviewComment, text = html``): Html {
  const { path, line, diff_hunk } = comment
  const about = html`<p class="muted"><code>${path}${line !== null && `:${line}`}</code></p>${diff_hunk && html`<pre class="patch" tabindex="0">${diff_hunk.slice(-2000)}</pre>`}`
  return post({ ...comment, id: `discussion_r${comment.id}` }, html`${about}${text}`)
}

function reviewers({ requested_reviewers, requested_teams }: Pull): Html {
  const asked = [
    ...requested_reviewers.map((person) => html`<li>${nameOf(person)}</li>`),
    ...requested_teams.map(
      ({ org_login, slug }) => html`<li><a href="/orgs/${org_login}/teams/${slug}">${org_login}/${slug}</a></li>`,
    ),
  ]
  return html`<section><h2>Reviewers</h2>${asked.length ? html`<ul class="plain">${asked}</ul>` : html`<p class="muted">None</p>`}</section>`
}

const findings = {
  clean: 'This can be merged without conflicts.',
  dirty: 'This conflicts with the base, and cannot be merged as it is.',
  nothing: 'The base has all of this already.',
  unknown: 'Whether this can be merged is not known yet.',
}

const obstacles = {
  blocked: 'This cannot be merged yet: a required check or review is missing.',
  behind: 'This cannot be merged yet: the branch needs the latest commits of the base.',
  unstable: 'This can be merged without conflicts, but not all checks have passed.',
}

function findingOf({ draft, mergeable_state, obstacle }: Pull) {
  if (draft) return 'This is a draft, and not to be merged yet.'
  return mergeable_state === 'clean' && obstacle ? obstacles[obstacle] : findings[mergeable_state ?? 'unknown']
}

/** Merges the commit that is shown: a later push makes the merge fail. Users who may bypass a rule see the form too. */
function mergeBox(visit: Visit, conversation: Conversation, pull: Pull): Html {
  const { repo } = conversation
  if (pull.merged_at)
    return html`<section class="card"><p>${nameOf(pull.merged_by)} merged this into <code>${pull.base_ref}</code>.</p></section>`
  if (pull.state === 'closed') return html``
  const methods = methodsOf(repo)
  const may =
    visit.visitor && mayPush(repo) && !repo.archived && !pull.draft && pull.mergeable_state === 'clean' && methods.length
  const inputs = html`<input type="hidden" name="sha" value="${pull.head_sha}">${select('How', 'method', methods, '')}<button class="primary">Merge pull request</button>`
  return html`<section class="card" aria-label="Merging"><p>${findingOf(pull)}</p>${may && form(visit, `${addressOf(conversation)}/merge`, inputs)}</section>`
}

function methodsOf({
  allow_merge_commit,
  allow_squash_merge,
  allow_rebase_merge,
}: Conversation['repo']): [MergeMethod, string][] {
  return [
    ...(allow_merge_commit ? [['merge', 'With a merge commit'] as [MergeMethod, string]] : []),
    ...(allow_squash_merge ? [['squash', 'Squashed into one commit'] as [MergeMethod, string]] : []),
    ...(allow_rebase_merge ? [['rebase', 'Rebased onto the base'] as [MergeMethod, string]] : []),
  ]
}

async function merge(visit: SignedIn): Promise<Outcome> {
  const conversation = await loadConversation(visit)
  const { repo, issue } = conversation
  return attempt(
    async () => {
      checkWritable(repo)
      checkAccess(repo.access, 'push')
      const wanted = visit.form.get('method')
      const [merge_method] = methodsOf(repo).find(([name]) => name === wanted) ?? ['merge' as const]
      const asked = { merge_method, sha: visit.form.get('sha') ?? '' }
      await mergePull(visit.db, visit.belfry.storage, repo, visit.visitor, issue.number, asked)
      return { to: addressOf(conversation) }
    },
    (problem) => conversationPage(visit, conversation, { body: '', problem }),
  )
}
