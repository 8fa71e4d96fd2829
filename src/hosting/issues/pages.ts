import { join } from 'node:path'
import { Readable } from 'node:stream'
import { changeSelected } from '#hosting/issues/views/bulk.ts'
import { addressOf, type Conversation } from '#hosting/issues/views/conversation.ts'
import { conversationPage } from '#hosting/issues/views/conversation-page.ts'
import { conversationRoutes } from '#hosting/issues/views/conversation-routes.ts'
import { listPage } from '#hosting/issues/views/issue-list.ts'
import { newIssuePage, openIssue } from '#hosting/issues/views/new-issue.ts'
import { previewOf } from '#hosting/mentions/views/composer.ts'
import { written } from '#hosting/mentions/views/render-texts.ts'
import { loadVisibleRepository, numberIn, pathOf } from '#hosting/repositories/views/repository-page.ts'
import { changeSubscription, markConversationShown, subscriptionBox } from '#parts/notifications/views/thread-subscription.ts'
import { missing } from '#platform/errors.ts'
import { buttonLink } from '#web/components/button.ts'
import { type Outcome, type PageRoute, type SignedIn, show, showOwn, submitOwn, type Visit } from '#web/page.ts'
import { liveAttributes } from './conversation-stream.ts'
import { loadIssue } from './issues.ts'
import { checkEnabled } from './rights.ts'

export const assets = join(import.meta.dirname, 'assets')

const place = '/:owner/:repo/issues'

export const pages: PageRoute[] = [
  show(place, async (visit) => {
    const repo = await loadVisibleRepository(visit)
    checkEnabled(repo)
    const create = repo.archived ? undefined : buttonLink('New issue', `${pathOf(repo)}/issues/new`, { kind: 'primary' })
    return listPage(visit, 'issues', { create })
  }),
  submitOwn(`${place}/bulk`, changeSelected),
  showOwn(`${place}/new`, (visit) => newIssuePage(visit)),
  submitOwn(`${place}/new`, openIssue),
  show(`${place}/:number`, async (visit) => {
    const conversation = await loadConversation(visit)
    return conversation.kind === 'pull' ? { to: addressOf(conversation) } : conversationPage(visit, conversation)
  }),
  ...conversationRoutes(`${place}/:number`, loadOwnConversation),
  submitOwn(`${place}/:number/subscription`, async (visit) => {
    const conversation = await loadOwnConversation(visit)
    return changeSubscription(visit, conversation.issue, addressOf(conversation))
  }),
  submitOwn('/:owner/:repo/preview', preview),
]

/** What a text would look like, for the tab of a text box. */
async function preview(visit: SignedIn): Promise<Outcome> {
  const repo = await loadVisibleRepository(visit)
  const shown = await previewOf(visit, repo, written(visit.form, 'body'))
  return { file: Readable.from([shown.text]), headers: { 'Content-Type': 'text/html; charset=utf-8' } }
}

async function loadConversation(visit: Visit): Promise<Conversation> {
  const repo = await loadVisibleRepository(visit)
  const number = numberIn(visit.params.number)
  await markConversationShown(visit, repo, number)
  const live = await liveAttributes(visit, repo, number)
  const issue = await loadIssue(visit.db, repo, number)
  const kind = issue.pull_id === null ? 'issues' : 'pull'
  const path = addressOf({ repo, issue, kind })
  return { repo, issue, kind, live, subscription: await subscriptionBox(visit, { issue, path }) }
}

/** A form that is sent to the page of an issue must not change a pull request. */
async function loadOwnConversation(visit: Visit): Promise<Conversation> {
  const conversation = await loadConversation(visit)
  if (conversation.kind === 'pull') throw missing()
  return conversation
}
