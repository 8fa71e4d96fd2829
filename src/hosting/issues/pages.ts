import { join } from 'node:path'
import { Readable } from 'node:stream'
import { addressOf, type Conversation } from '#hosting/issues/views/conversation.ts'
import { conversationPage } from '#hosting/issues/views/conversation-page.ts'
import { conversationRoutes } from '#hosting/issues/views/conversation-routes.ts'
import { listPage } from '#hosting/issues/views/issue-list.ts'
import { previewOf } from '#hosting/mentions/views/composer.ts'
import { textArea, written } from '#hosting/mentions/views/render-texts.ts'
import { repositoryHeader } from '#hosting/repositories/views/repository-header.ts'
import { loadVisibleRepository, numberIn, pathOf } from '#hosting/repositories/views/repository-page.ts'
import { changeSubscription, markConversationShown, subscriptionBox } from '#parts/notifications/views/thread-subscription.ts'
import { missing } from '#platform/errors.ts'
import { alert, attempt, field, type Problem } from '#web/fields.ts'
import { html } from '#web/html.ts'
import { form, type Outcome, type PageRoute, type SignedIn, show, showOwn, submitOwn, type Visit } from '#web/page.ts'
import { loadIssue } from './issues.ts'
import { checkChangeable, checkEnabled } from './rights.ts'
import { createIssue } from './update.ts'

export const assets = join(import.meta.dirname, 'assets')

const place = '/:owner/:repo/issues'

export const pages: PageRoute[] = [
  show('/:owner/:repo/milestone/:number', async (visit) => {
    const repo = await loadVisibleRepository(visit)
    return { to: `${pathOf(repo)}/issues?milestone=${numberIn(visit.params.number)}` }
  }),
  show(place, async (visit) => {
    checkEnabled(await loadVisibleRepository(visit))
    return listPage(visit, 'issues')
  }),
  showOwn(`${place}/new`, (visit) => newPage(visit)),
  submitOwn(`${place}/new`, open),
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
  const issue = await loadIssue(visit.db, repo, number)
  const kind = issue.pull_id === null ? 'issues' : 'pull'
  const path = addressOf({ repo, issue, kind })
  return { repo, issue, kind, subscription: await subscriptionBox(visit, { issue, path }) }
}

/** A form that is sent to the page of an issue must not change a pull request. */
async function loadOwnConversation(visit: Visit): Promise<Conversation> {
  const conversation = await loadConversation(visit)
  if (conversation.kind === 'pull') throw missing()
  return conversation
}

async function newPage(visit: SignedIn, problem?: Problem): Promise<Outcome> {
  const repo = await loadVisibleRepository(visit)
  checkEnabled(repo)
  const path = `${pathOf(repo)}/issues/new`
  const inputs = html`${alert(problem)}${field({ label: 'Title', name: 'title', value: visit.form.get('title'), required: true, longest: 256 })}
${textArea('body', 'Description', visit.form.get('body') ?? '')}<button class="primary">Open issue</button>`
  const body = html`<main class="conversation"><h1>New issue</h1>${form(visit, path, inputs, { class: 'form reply' })}</main>`
  return {
    title: `New issue · ${repo.owner_login}/${repo.name}`,
    body,
    above: repositoryHeader(repo, 'issues'),
    ...(problem && { status: problem.status }),
  }
}

async function open(visit: SignedIn): Promise<Outcome> {
  const repo = await loadVisibleRepository(visit)
  return attempt(
    async () => {
      const wanted = { title: written(visit.form, 'title'), body: written(visit.form, 'body') || null }
      const issue = await visit.db.transaction(async (db) => {
        checkChangeable(repo)
        return createIssue(db, repo, visit.visitor, wanted)
      })
      return { to: addressOf({ repo, issue, kind: 'issues' }) }
    },
    (problem) => newPage(visit, problem),
  )
}
