import { join } from 'node:path'
import { commitHistory } from '#hosting/commits/views/history.ts'
import type { Conversation, Typed } from '#hosting/issues/views/conversation.ts'
import { conversationPage } from '#hosting/issues/views/conversation-page.ts'
import { conversationRoutes } from '#hosting/issues/views/conversation-routes.ts'
import { listPage } from '#hosting/issues/views/issue-list.ts'
import { createRef, deleteRef } from '#hosting/refs/refs.ts'
import { loadVisibleRepository, numberIn, pathOf, viewerOf } from '#hosting/repositories/views/repository-page.ts'
import { reviewEntries } from '#hosting/reviews/views/review-entries.ts'
import { reviewerStates, reviewersSection } from '#hosting/reviews/views/reviewers.ts'
import type { Shelf, TypedReview } from '#hosting/reviews/views/thread-box.ts'
import { loadTalk } from '#hosting/reviews/views/threads.ts'
import { checkAccess, checkWritable } from '#identity/access.ts'
import { changeSubscription, markConversationShown, subscriptionBox } from '#parts/notifications/views/thread-subscription.ts'
import { forbidden } from '#platform/errors.ts'
import { buttonLink } from '#web/components/button.ts'
import { attempt, typed } from '#web/fields.ts'
import { html } from '#web/html.ts'
import { type Outcome, type PageRoute, plainText, type SignedIn, show, submitOwn, type Visit } from '#web/page.ts'
import { comparePull, openPullText } from './mergeability.ts'
import { mergePull } from './merging.ts'
import { loadPull } from './pulls.ts'
import { updatePull } from './update.ts'
import { updateBranch } from './update-branch.ts'
import { branchesSection } from './views/branches.ts'
import { checksPage } from './views/checks-page.ts'
import { commitEntries } from './views/commit-entries.ts'
import { filesPage } from './views/files-page.ts'
import { describePulls } from './views/list-facts.ts'
import { mayDeleteHead, mergeBox, methodsOf } from './views/merge-box.ts'
import { findPullPage, issueOf, loadPullPage, type PullPage, pullConversation, pullPage } from './views/pull-page.ts'
import { recentBranches } from './views/recent-branches.ts'

export const assets = join(import.meta.dirname, 'assets')

const place = '/:owner/:repo/pull/:number'

export const pages: PageRoute[] = [
  show('/:owner/:repo/pulls', pullsPage),
  show(place, async (visit) => {
    const [, number, medium] = /^(\d+)\.(diff|patch)$/.exec(visit.params.number ?? '') ?? []
    if (medium) return pullText(visit, numberIn(number), medium as 'diff' | 'patch')
    const page = await findPullPage(visit)
    if ('to' in page) return page
    await markConversationShown(visit, page.repo, page.pull.number)
    return talkPage(visit, page)
  }),
  show(`${place}/commits`, async (visit) => {
    const page = await loadPullPage(visit)
    const comparison = await comparePull(visit.belfry.storage, page.pull)
    const { commits, total_commits } = comparison
    const more = total_commits - commits.length
    const earlier = more > 0 && html`<p class="muted">${more} earlier commits are not shown.</p>`
    return pullPage(visit, page, 'Commits', html`${earlier}${await commitHistory(visit.db, page.repo, commits)}`)
  }),
  show(`${place}/checks`, async (visit) => checksPage(visit, await loadPullPage(visit))),
  show(`${place}/files`, async (visit) => filesPage(visit, await loadPullPage(visit))),
  ...conversationRoutes(place, async (visit) => conversationOf(visit, await loadPullPage(visit))),
  submitOwn(`${place}/subscription`, async (visit) => {
    const page = await loadPullPage(visit)
    return changeSubscription(visit, issueOf(page.pull), page.path)
  }),
  submitOwn(`${place}/merge`, merge),
  submitOwn(`${place}/draft`, (visit) => change(visit, { draft: visit.form.get('draft') === 'yes' })),
  submitOwn(`${place}/base`, (visit) => change(visit, { base: typed(visit.form, 'base') })),
  submitOwn(`${place}/update-branch`, update),
  submitOwn(`${place}/branch`, changeBranch),
]

/** With what reviews and checks say about each of them, and the branches that the visitor could propose. */
async function pullsPage(visit: Visit): Promise<Outcome> {
  const repo = await loadVisibleRepository(visit)
  const create =
    !repo.archived && buttonLink('New pull request', `${pathOf(repo)}/compare`, { kind: 'primary', icon: 'git-pull-request' })
  return listPage(visit, 'pulls', {
    create: create || undefined,
    notice: await recentBranches(visit, repo),
    decorate: (issues) => describePulls(visit.db, repo, issues),
  })
}

async function pullText(visit: Visit, number: number, medium: 'diff' | 'patch'): Promise<Outcome> {
  const repo = await loadVisibleRepository(visit)
  const pull = await loadPull(visit.db, repo, number, viewerOf(visit))
  return plainText(await openPullText(visit.belfry.storage, pull, medium))
}

/** The conversation, also with a form of a review that was refused. */
export async function talkPage(visit: Visit, page: PullPage, typed?: Typed, review?: TypedReview): Promise<Outcome> {
  const shown = await conversationPage(visit, await conversationOf(visit, page, review), typed)
  return review?.problem ? { ...shown, status: review.problem.status } : shown
}

async function conversationOf(visit: Visit, page: PullPage, typed?: TypedReview): Promise<Conversation> {
  const { repo, pull, path } = page
  const head = pullConversation(page, 'Conversation')
  const talk = await loadTalk(visit, repo, pull)
  const shelf: Shelf = { repo, pull, path, page: 'conversation', talk, typed }
  const states = reviewerStates(pull, talk.reviews)
  return {
    ...head,
    subscription: await subscriptionBox(visit, { issue: head.issue, path }),
    entries: async (stretch) => [...(await commitEntries(visit, page, stretch)), ...reviewEntries(visit, shelf, stretch)],
    side: html`${await reviewersSection(visit, { repo, pull, path, states })}${await branchesSection(visit, page)}`,
    below: await mergeBox(visit, page, states),
  }
}

/** A refused form shows the conversation again, with the reason. */
function act(visit: SignedIn, work: (page: PullPage) => Promise<string>): Promise<Outcome> {
  return attempt(
    async () => {
      const page = await loadPullPage(visit)
      checkWritable(page.repo)
      return { to: page.path, flash: { done: await work(page) } }
    },
    async (problem) => talkPage(visit, await loadPullPage(visit), { body: '', problem }),
  )
}

/** Merges the commit that was shown: a later push makes the merge fail. */
function merge(visit: SignedIn): Promise<Outcome> {
  return act(visit, async ({ repo, pull }) => {
    checkAccess(repo.access, 'push')
    const { form, db, visitor } = visit
    const { storage } = visit.belfry
    const merge_method = methodsOf(repo).find((method) => method === form.get('method')) ?? 'merge'
    const [commit_title, commit_message] = [typed(form, 'commit_title'), form.get('commit_message')]
    const asked = {
      merge_method,
      sha: form.get('sha') ?? '',
      ...(commit_title && { commit_title }),
      ...(commit_title && commit_message !== null && { commit_message: withoutNulls(commit_message) }),
    }
    await mergePull(db, storage, repo, visitor, pull.number, asked)
    if (form.get('delete_branch') !== 'yes' || !mayDeleteHead(repo, pull)) return 'The pull request is merged.'
    await deleteRef(db, storage, repo, visitor, `heads/${pull.head_ref}`)
    return `The pull request is merged, and ${pull.head_ref} is deleted.`
  })
}

const withoutNulls = (text: string) => text.replaceAll('\0', '').replaceAll(/\r\n?/g, '\n')

const change = (visit: SignedIn, changes: { draft: boolean } | { base: string }): Promise<Outcome> =>
  act(visit, async ({ repo, pull }) => {
    await updatePull(visit.db, visit.belfry.storage, viewerOf(visit), repo, visit.visitor, pull.number, changes)
    if ('base' in changes) return `The base is ${changes.base} now.`
    return changes.draft ? 'The pull request is a draft now.' : 'The pull request is ready for review.'
  })

function update(visit: SignedIn): Promise<Outcome> {
  return act(visit, async ({ repo, pull }) => {
    const sha = visit.form.get('sha') ?? ''
    await updateBranch(visit.db, visit.belfry.storage, viewerOf(visit), repo, visit.visitor, pull.number, sha)
    return `New commits of ${pull.base_ref} are merged into ${pull.head_ref}.`
  })
}

/** Deletes the branch of a pull request that is over, or restores it at the last commit that is known. */
function changeBranch(visit: SignedIn): Promise<Outcome> {
  return act(visit, async ({ repo, pull }) => {
    const { storage } = visit.belfry
    if (pull.state === 'open' || !mayDeleteHead(repo, pull)) throw forbidden('You cannot delete or restore this branch.')
    if (visit.form.get('branch') === 'restore') {
      await createRef(visit.db, storage, repo, visit.visitor, { ref: `refs/heads/${pull.head_ref}`, sha: pull.head_sha })
      return `${pull.head_ref} is restored.`
    }
    await deleteRef(visit.db, storage, repo, visit.visitor, `heads/${pull.head_ref}`)
    return `${pull.head_ref} is deleted.`
  })
}
